"""Builds the region: streets, towns and highways, districts, areas, places. The same in every process."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Iterator
from importlib.resources import files
from random import Random

from agentrl.envs.webarena.sites.map.city import (
    CENTRES,
    PARK_CELLS,
    RADIUS,
    bend,
    build_city,
    build_highways,
    build_town,
    on_plan,
    river,
)
from agentrl.envs.webarena.sites.map.geo import Point, to_degrees
from agentrl.envs.webarena.sites.map.network import Network
from agentrl.envs.webarena.sites.map.venues import COLUMNS as PLACE_COLUMNS
from agentrl.envs.webarena.sites.map.venues import Builder, Spot, district_of
from agentrl.envs.webarena.sites.map.words import CITY, CITY_COUNTY, DISTRICTS, PACKAGE, TOWNS, WORDS

VERSION = "3"
SEED = 20250616
FIRST_SETTLEMENT, FIRST_STREET, FIRST_PLACE = 1001, 20001, 100001  # ids: one range for each kind of feature
SEA = (  # kilometres east and north of the city; far beyond what the map shows
    (-20, -400), (10, -92), (26, -56), (34, -49.5), (47, -39), (52, -25), (60, -30), (75, -40), (90, -45), (97, -44),
    (112, -50), (180, -48), (260, -20), (600, 10), (600, -400),
)  # fmt: skip
FORESTS = ((-30, 45, 9), (-52, 4, 7), (40, 25, 8), (5, -30, 6), (-75, -48, 10), (70, -6, 7), (-95, 10, 8), (20, 68, 9))


def build(connection: sqlite3.Connection) -> None:
    """Fill an empty database."""
    schema = files(PACKAGE).joinpath("schema.sql").read_text("utf-8")
    for statement in schema.split(";\n"):
        connection.execute(statement)
    network = build_network()
    _write_network(connection, network)
    _write_settlements(connection)
    _write_areas(connection)
    rows = Builder(network, Random(SEED + 2)).build()
    marks = ", ".join("?" * (1 + len(PLACE_COLUMNS)))
    connection.executemany(
        f"INSERT INTO place (id, {', '.join(PLACE_COLUMNS)}) VALUES ({marks})",
        [(FIRST_PLACE + index, *(row[name] for name in PLACE_COLUMNS)) for index, row in enumerate(rows)],
    )


def build_network() -> Network:
    """All streets of the region; a car gets from everywhere to everywhere."""
    network, rng = Network(), Random(SEED)
    gates = build_city(network, rng, namer(Random(SEED + 1)))
    towns = {town: build_town(network, town, rng, namer(Random(f"{SEED} {town}"))) for town in CENTRES}
    build_highways(network, gates, towns, rng)
    network.open_up()
    for index, street in enumerate(network.streets):
        street.id = FIRST_STREET + index
    return network


def namer(rng: Random) -> Callable[[str], str]:
    """A function that gives a new street name for a class, never the same twice."""
    waiting: dict[str, Iterator[str]] = {}
    used: set[str] = set()

    def names(kind: str) -> Iterator[str]:
        pairs = [f"{base} {ending}" for base in WORDS["street_bases"] for ending in WORDS["street_types"][kind]]
        yield from rng.sample(pairs, len(pairs))

    def name(kind: str) -> str:
        found = next(text for text in waiting.setdefault(kind, names(kind)) if text not in used)
        used.add(found)
        return found

    return name


def _write_network(connection: sqlite3.Connection, network: Network) -> None:
    spots = [to_degrees(point) for point in network.points]
    used = {number for street in network.streets for number in street.junctions}
    connection.executemany("INSERT INTO junction VALUES (?, ?, ?)", [(n + 1, *spots[n]) for n in sorted(used)])
    streets, roads = [], []
    for street in network.streets:
        middle = network.along(street, network.length(street) / 2)[0]
        district = district_of(middle) if street.settlement == CITY else ""
        spot = Spot(street.name, "", middle, district, street.settlement)
        surface = {"path": "gravel", "pedestrian": "paving_stones"}.get(street.kind, "asphalt")
        streets.append(
            (street.id, street.name, street.kind, street.settlement, district, spot.postcode, street.maxspeed,
             int(street.oneway), int(street.bridge), surface, round(network.length(street)), *_rounded(middle))
        )  # fmt: skip
        for a, b in street.pieces:
            roads.append((street.id, a + 1, b + 1, round(math.dist(network.points[a], network.points[b]), 2)))
    connection.executemany(f"INSERT INTO street VALUES ({', '.join('?' * 13)})", streets)
    connection.executemany("INSERT INTO road (street_id, start_id, end_id, length) VALUES (?, ?, ?, ?)", roads)


def _write_settlements(connection: sqlite3.Connection) -> None:
    rows: list[tuple[object, ...]] = [("city", CITY, CITY_COUNTY, "41100", 412_600, *_rounded((0.0, 0.0)))]
    for name, county, _, _, population in TOWNS:
        postcode = Spot("", "", CENTRES[name], "", name).postcode
        rows.append(("town", name, county, postcode, population, *_rounded(CENTRES[name])))
    for index, (name, east, north) in enumerate(DISTRICTS):
        population = 14_000 + (index * 7919) % 21_000
        rows.append(("suburb", name, CITY_COUNTY, f"41{10 + index}1", population, *_rounded((east, north))))
    connection.executemany(
        "INSERT INTO settlement VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [(FIRST_SETTLEMENT + index, *row) for index, row in enumerate(rows)],
    )


def _write_areas(connection: sqlite3.Connection) -> None:
    areas: list[tuple[str, list[Point]]] = [("water", [(1000.0 * east, 1000.0 * north) for east, north in SEA])]
    areas += [("forest", _blob((1000.0 * x, 1000.0 * y), 1000.0 * radius)) for x, y, radius in FORESTS]
    around = [2 * math.pi * step / 48 for step in range(48)]
    built_up = [bend(1.06 * RADIUS[0] * math.cos(angle), 1.06 * RADIUS[1] * math.sin(angle)) for angle in around]
    areas.append(("town", built_up))
    areas += [("town", _blob(centre, 950.0)) for centre in CENTRES.values()]
    areas += [("park", _park(cells)) for cells in PARK_CELLS.values()]
    steps = [*range(-400_000, -9_000, 1_500), *range(-9_000, 9_000, 200), *range(9_000, 400_001, 1_500)]
    banks = [bend(east, river(east) + 62) for east in steps] + [
        bend(east, river(east) - 62) for east in reversed(steps)
    ]
    areas.append(("water", banks))
    lines = [(kind, " ".join("{},{}".format(*to_degrees(point)) for point in outline)) for kind, outline in areas]
    connection.executemany("INSERT INTO area (kind, outline) VALUES (?, ?)", lines)


def _park(cells: tuple[int, int, int, int]) -> list[Point]:
    left, right, low, high = cells
    corners = [(left, low), (right, low), (right, high), (left, high)]
    outline = []
    for (column, row), (to_column, to_row) in zip(corners, corners[1:] + corners[:1], strict=True):
        for step in range(6):
            part = step / 6
            spot = on_plan(column + (to_column - column) * part, row + (to_row - row) * part)
            outline.append(bend(*spot))
    return outline


def _blob(centre: Point, radius: float) -> list[Point]:
    """A round shape that is not quite a circle."""
    return [
        (
            centre[0] + radius * (1 + 0.18 * math.sin(3 * angle + centre[0])) * math.cos(angle),
            centre[1] + radius * (0.85 + 0.12 * math.cos(2 * angle + centre[1])) * math.sin(angle),
        )
        for angle in (2 * math.pi * step / 40 for step in range(40))
    ]


def _rounded(point: Point) -> tuple[float, float]:
    lat, lon = to_degrees(point)
    return round(lat, 5), round(lon, 5)
