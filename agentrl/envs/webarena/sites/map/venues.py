"""The places of the map: what there is at which house number, with names, phone numbers and opening hours."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from itertools import accumulate
from random import Random
from typing import Any

from agentrl.envs.webarena.sites.formats import slug
from agentrl.envs.webarena.sites.map.city import CENTRES, PARK_CELLS, bend, on_plan
from agentrl.envs.webarena.sites.map.geo import Point, to_degrees
from agentrl.envs.webarena.sites.map.network import Network, Street
from agentrl.envs.webarena.sites.map.words import CATEGORIES, CITY, DISTRICTS, REGION, WORDS, Category

PLOT = 11.0  # metres of street for each house number of one side
SETBACK = 16.0  # metres from the middle of the street to the door
AIRPORT_ROAD = "Old Bramley Cross Road"
COLUMNS = (
    "element", "name", "category", "street", "number", "postcode", "district", "settlement", "phone", "website",
    "opening_hours", "wheelchair", "cuisine", "tags", "lat", "lon",
)  # fmt: skip
Row = dict[str, Any]


@dataclass(frozen=True)
class Spot:
    """An address."""

    street: str
    number: str
    point: Point
    district: str
    settlement: str

    @property
    def postcode(self) -> str:
        """Five digits: region, settlement or district, quarter."""
        if self.settlement != CITY:
            order = list(CENTRES).index(self.settlement) if self.settlement in CENTRES else 89
            return f"42{10 + order}0"
        order = [name for name, _, _ in DISTRICTS].index(self.district)
        _, east, north = DISTRICTS[order]
        return f"41{10 + order}{1 + (self.point[0] > east) + 2 * (self.point[1] > north)}"


def district_of(point: Point) -> str:
    """The district of the city whose centre is nearest."""
    return min(DISTRICTS, key=lambda row: math.dist(point, row[1:]))[0]


class Builder:
    """Finds a free address and a new name for one place after the other."""

    def __init__(self, network: Network, rng: Random) -> None:
        self.network, self.rng = network, rng
        self.rows: list[Row] = []
        self._lengths = {street.id: network.length(street) for street in network.streets}
        self._taken: set[tuple[int, int]] = set()
        self._names: set[str] = set()
        self._points: set[Point] = set()
        self._choices: dict[tuple[str, float], tuple[list[Street], list[float]]] = {}

    def build(self) -> list[Row]:
        """All places of the region."""
        for name, (left, right, low, high) in PARK_CELLS.items():
            point = bend(*on_plan((left + right) / 2, (low + high) / 2))
            self._put(CATEGORIES["park"], name, Spot("", "", point, district_of(point), CITY))
        for category in CATEGORIES.values():
            if category.value not in ("park", "viewpoint", "aerodrome"):
                for _ in range(category.city):
                    self._add(category, CITY)
        road = next(street for street in self.network.streets if street.name == AIRPORT_ROAD)
        (x, y), (east, north) = self.network.along(road, 5200)
        spot = Spot(AIRPORT_ROAD, "1", (x + north * 200, y - east * 200), "", REGION)
        self._put(CATEGORIES["aerodrome"], CATEGORIES["aerodrome"].names[0], spot)
        for _ in range(CATEGORIES["viewpoint"].city):
            self._viewpoint()
        for town in CENTRES:
            for category in CATEGORIES.values():
                for _ in range(category.town):
                    self._add(category, town)
        return self.rows

    # ------------------------------------------------------------------ where

    def _spot(self, settlement: str, central: float) -> Spot:
        streets, weights = self._choice(settlement, central)
        while True:
            street = self.rng.choices(streets, cum_weights=weights)[0]
            plot = self.rng.randint(1, int(self._lengths[street.id] / PLOT) - 1)
            side = self.rng.randint(0, 1)
            if (street.id, 2 * plot + side) not in self._taken:
                self._taken.add((street.id, 2 * plot + side))
                (x, y), (east, north) = self.network.along(street, (plot + 0.5) * PLOT)
                off = SETBACK if side else -SETBACK
                point = (x + north * off, y - east * off)
                district = district_of(point) if street.settlement == CITY else ""
                return Spot(street.name, str(2 * plot - 1 + side), point, district, street.settlement)

    def _choice(self, settlement: str, central: float) -> tuple[list[Street], list[float]]:
        """Streets that may have house numbers, and how likely each is."""
        if (settlement, central) not in self._choices:
            streets = [
                street
                for street in self.network.streets
                if street.settlement == settlement
                and street.kind in ("primary", "secondary", "residential", "pedestrian")
                and not street.bridge
                and not street.name.endswith(" Link")
                and self._lengths[street.id] > 60
            ]
            weights = list(accumulate(self._weight(street, central) for street in streets))
            self._choices[settlement, central] = (streets, weights)
        return self._choices[settlement, central]

    def _weight(self, street: Street, central: float) -> float:
        centre = CENTRES.get(street.settlement, (0.0, 300.0))
        away = math.dist(self.network.along(street, self._lengths[street.id] / 2)[0], centre)
        busy = {"primary": 1.6, "secondary": 1.3, "pedestrian": 4.0}.get(street.kind, 1.0)
        crowd = 1 - central + central * 14 * math.exp(-((away / 1500) ** 2))
        return self._lengths[street.id] * crowd * (busy if central else 1.0)

    # ------------------------------------------------------------------ what

    def _add(self, category: Category, settlement: str) -> None:
        for _ in range(12):
            spot = self._spot(settlement, category.central)
            name, is_chain = self._name(category, spot)
            if is_chain or not name or name not in self._names or category.value == "bus_stop":
                break
        else:
            name = f"{name} {spot.street}"  # pyright: ignore[reportPossiblyUnboundVariable]
        self._put(category, name, spot)

    def _name(self, category: Category, spot: Spot) -> tuple[str, bool]:
        patterns = category.names + category.chains
        if not patterns:
            return "", False
        pattern = self.rng.choice(category.chains if category.chains and self.rng.random() < 0.6 else patterns)

        def pick(kind: str) -> str:
            return self.rng.choice(WORDS[kind])

        words = {
            "adj": pick("adjectives"), "noun": pick("nouns"), "noun2": pick("nouns"), "first": pick("first_names"),
            "first2": pick("first_names"), "sur": pick("surnames"), "sur2": pick("surnames"), "topic": pick("topics"),
            "street": spot.street, "district": spot.district or spot.settlement, "settlement": spot.settlement,
        }  # fmt: skip
        return pattern.format(**words), pattern in category.chains

    def _put(self, category: Category, name: str, spot: Spot) -> None:
        rng = self.rng
        self._names.add(name)
        has_hours = category.hours != ("",) and rng.random() < 0.93
        cuisine = rng.choice(WORDS["cuisines"]) if category.value in ("restaurant", "fast_food") else ""
        # Coordinates with five digits, as addresses of the site show them, that no other place has.
        lat, lon = (round(value, 5) for value in to_degrees(spot.point))
        while (lat, lon) in self._points:
            lon = round(lon + 0.00001, 5)
        self._points.add((lat, lon))
        phone = ""
        if category.contact:
            phone = f"+999 {rng.randint(20, 98)} {rng.randint(200, 999)} {rng.randint(0, 9999):04d}"
        row = {
            "element": "way" if category.area else "node", "name": name, "category": category.value,
            "street": spot.street, "number": spot.number, "postcode": spot.postcode, "district": spot.district,
            "settlement": spot.settlement, "phone": phone,
            "website": f"https://www.{slug(name)}.example" if category.contact and rng.random() < 0.8 else "",
            "opening_hours": rng.choice(category.hours) if has_hours else "",
            "wheelchair": rng.choice(("yes", "yes", "limited", "no")) if category.contact else "",
            "cuisine": cuisine, "tags": json.dumps(self._tags(category.value)), "lat": lat, "lon": lon,
        }  # fmt: skip
        self.rows.append(row)

    def _tags(self, value: str) -> dict[str, str]:
        rng = self.rng
        maybe = ("yes", "no")
        match value:
            case "restaurant" | "cafe" | "pub" | "fast_food":
                return {"outdoor_seating": rng.choice(maybe), "takeaway": rng.choice(maybe)}
            case "hotel":
                return {"stars": str(rng.randint(2, 5)), "rooms": str(rng.randint(18, 240))}
            case "hospital":
                return {"beds": str(rng.randint(80, 900)), "emergency": rng.choice(maybe)}
            case "parking":
                return {"capacity": str(10 * rng.randint(3, 60)), "fee": rng.choice(maybe)}
            case "museum" | "gallery" | "attraction":
                return {"fee": rng.choice(maybe)}
            case "bus_stop":
                lines = sorted(rng.sample(range(1, 48), rng.randint(1, 4)))
                return {"shelter": rng.choice(maybe), "route_ref": ";".join(map(str, lines))}
            case "station":
                return {"operator": "Estermark Railways", "platforms": str(rng.randint(2, 8))}
            case "charging_station":
                return {"capacity": str(rng.randint(2, 12)), "fee": "yes"}
            case "library":
                return {"internet_access": "wlan"}
            case "cinema":
                return {"screen": str(rng.randint(1, 12))}
            case _:
                return {}

    # ------------------------------------------------------------------ places without a house number

    def _viewpoint(self) -> None:
        category = CATEGORIES["viewpoint"]
        street = self.rng.choice([street for street in self.network.streets if street.kind in ("path", "cycleway")])
        point = self.network.along(street, self.rng.random() * self._lengths[street.id])[0]
        spot = Spot("", "", point, district_of(point), CITY)
        name = self._name(category, spot)[0]
        while name in self._names:
            name = self._name(category, spot)[0]
        self._put(category, name, spot)
