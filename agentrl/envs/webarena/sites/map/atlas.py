"""`Atlas`: the map as a process keeps it: features, search index and road graph. No episode ever changes them, so all
episodes share one."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.map.geo import Point, distance, to_metres
from agentrl.envs.webarena.sites.map.graph import Graph, Road, Way
from agentrl.envs.webarena.sites.map.words import CATEGORIES, CITY, CITY_COUNTY, COUNTRY, REGION, TOWNS

COUNTIES = {name: county for name, county, *_ in TOWNS} | {CITY: CITY_COUNTY}
STREET_LABELS = {
    "motorway": "Motorway", "primary": "Primary Road", "secondary": "Secondary Road", "residential": "Residential Road",
    "pedestrian": "Pedestrian Street", "path": "Path", "cycleway": "Cycle Path",
}  # fmt: skip
STREET_TAGS = {"path": "footway"}  # class -> value of the tag "highway", where they differ


@dataclass(frozen=True)
class Feature:
    """Anything that can be found: a place, an address, a street, a town."""

    id: int
    element: str  # node or way
    kind: str  # place, street, settlement
    name: str
    label: str  # what it is, in words: "Restaurant"
    category: str  # of a place: the name of its category
    street: str
    number: str
    postcode: str
    district: str
    settlement: str
    lat: float
    lon: float
    tags: dict[str, str] = field(hash=False, compare=False)

    @property
    def path(self) -> str:
        """The address of its page."""
        return f"/{self.element}/{self.id}"

    @property
    def title(self) -> str:
        """Its name, or the address of what has none."""
        return self.name or f"{self.number} {self.street}".strip() or self.label

    @cached_property
    def display_name(self) -> str:
        """Name and whole address, as search results show it."""
        county = COUNTIES.get(self.settlement, "")
        city = "" if self.settlement == REGION else self.settlement
        parts = [self.name, self.number, self.street, self.district, city, county, REGION, self.postcode, COUNTRY]
        return ", ".join(dict.fromkeys(part for part in parts if part))

    @property
    def coordinates(self) -> str:
        """ "46.82000,-35.41000": how addresses of pages name the point."""
        return f"{self.lat:.5f},{self.lon:.5f}"

    def metres_to(self, lat: float, lon: float) -> float:
        """As the crow flies."""
        return distance(self.lat, self.lon, lat, lon)


class Atlas:
    """Everything on the map."""

    def __init__(self, path: Path) -> None:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        connection.row_factory = sqlite3.Row
        try:
            self.settlements = [_settlement(row) for row in connection.execute("SELECT * FROM settlement")]
            self.streets = [_street(row) for row in connection.execute("SELECT * FROM street WHERE name <> ''")]
            self.places = [_place(row) for row in connection.execute("SELECT * FROM place")]
            self.areas: list[tuple[str, list[Point]]] = []
            for row in connection.execute("SELECT * FROM area ORDER BY id"):
                pairs = (pair.split(",") for pair in row["outline"].split())
                self.areas.append((row["kind"], [to_metres(float(lat), float(lon)) for lat, lon in pairs]))
            self.graph = _graph(connection)
        finally:
            connection.close()
        self._spots = np.array([to_metres(place.lat, place.lon) for place in self.places])
        self.features: list[Feature] = [*self.settlements, *self.streets, *self.places]
        self.by_category: dict[str, list[Feature]] = {}
        for place in self.places:
            self.by_category.setdefault(place.category, []).append(place)
        self.by_id = {feature.id: feature for feature in self.features}
        self.at = {feature.coordinates: feature for feature in reversed(self.features)}

    def named(self, lat: float, lon: float) -> str:
        """What a field of the directions form shows for a point: the feature there, or the coordinates."""
        feature = self.at.get(f"{lat:.5f},{lon:.5f}")
        return feature.display_name if feature else f"{lat:.5f}, {lon:.5f}"

    def nearest(self, lat: float, lon: float, limit: int = 10) -> list[tuple[float, Feature]]:
        """The places around a point, nearest first, with their distances."""
        gaps = ((self._spots - np.array(to_metres(lat, lon))) ** 2).sum(1)
        nearest = (self.places[number] for number in np.argsort(gaps, kind="stable")[:limit])
        return [(place.metres_to(lat, lon), place) for place in nearest]


def atlas(db: Database) -> Atlas:
    """The atlas of the map's data."""
    return _kept_atlas(db.path)


_kept_atlas = lru_cache(2)(Atlas)


def _settlement(row: sqlite3.Row) -> Feature:
    kind = {"city": "City", "town": "Town", "suburb": "District"}[row["kind"]]
    tags = {"place": row["kind"], "name": row["name"], "population": str(row["population"])}
    if row["kind"] != "suburb":
        tags["postal_code"] = row["postcode"]
    tags |= {"is_in": f"{row['county']}, {REGION}, {COUNTRY}"}
    inside = CITY if row["kind"] == "suburb" else row["name"]
    return Feature(
        row["id"], "node", "settlement", row["name"], kind, "", "", "", row["postcode"], "", inside, row["lat"],
        row["lon"], tags,
    )  # fmt: skip


def _street(row: sqlite3.Row) -> Feature:
    label = "Bridge" if row["bridge"] else STREET_LABELS[row["class"]]
    tags = {"highway": STREET_TAGS.get(row["class"], row["class"]), "name": row["name"], "surface": row["surface"]}
    if row["maxspeed"]:
        tags["maxspeed"] = str(row["maxspeed"])
    if row["oneway"]:
        tags["oneway"] = "yes"
    if row["bridge"]:
        tags["bridge"] = "yes"
    tags["length"] = f"{row['length']} m"
    return Feature(
        row["id"], "way", "street", row["name"], label, "", "", "", row["postcode"], row["district"],
        row["settlement"], row["lat"], row["lon"], tags,
    )  # fmt: skip


def _place(row: sqlite3.Row) -> Feature:
    category = CATEGORIES[row["category"]]
    tags = {category.key: category.value, "name": row["name"]}
    if row["street"]:
        tags |= {"addr:housenumber": row["number"], "addr:street": row["street"]}
    city = "" if row["settlement"] == REGION else row["settlement"]
    tags |= {"addr:suburb": row["district"], "addr:city": city, "addr:postcode": row["postcode"]}
    tags |= {name: row[name] for name in ("phone", "website", "opening_hours", "wheelchair", "cuisine")}
    tags |= json.loads(row["tags"])
    return Feature(
        row["id"], row["element"], "place", row["name"], category.label, category.value, row["street"], row["number"],
        row["postcode"], row["district"], row["settlement"], row["lat"], row["lon"],
        {name: value for name, value in sorted(tags.items()) if value},
    )  # fmt: skip


def _graph(connection: sqlite3.Connection) -> Graph:
    numbers: dict[int, int] = {}
    junctions: list[Point] = []
    for row in connection.execute("SELECT id, lat, lon FROM junction ORDER BY id"):
        numbers[row["id"]] = len(junctions)
        junctions.append(to_metres(row["lat"], row["lon"]))
    ways = {
        row["id"]: Way(row["id"], row["name"], row["class"], row["maxspeed"], bool(row["oneway"]), bool(row["bridge"]))
        for row in connection.execute("SELECT * FROM street")
    }
    roads = [
        Road(ways[row["street_id"]], numbers[row["start_id"]], numbers[row["end_id"]], row["length"])
        for row in connection.execute("SELECT * FROM road ORDER BY id")
    ]
    return Graph(junctions, roads)
