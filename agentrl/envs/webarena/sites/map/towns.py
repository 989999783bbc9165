"""The towns around the city, the motorways and the country roads between them."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

from agentrl.envs.webarena.sites.map.geo import Point
from agentrl.envs.webarena.sites.map.network import Network
from agentrl.envs.webarena.sites.map.words import CITY, REGION, TOWNS

COLUMNS, ROWS, BLOCK = 8, 7, 185.0
CENTRES: dict[str, Point] = {name: (1000 * east, 1000 * north) for name, _, east, north, _ in TOWNS}
# From the city outwards; the last one joins two towns.
MOTORWAYS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("M1 Eastern Motorway", (CITY, "Ashgrove", "Elderfield")),
    ("M2 Coast Motorway", (CITY, "Selwyn Wells", "Kestrel Bay", "Whitlock Sands")),
    ("M3 Highfell Motorway", (CITY, "Bramley Cross", "Oldcastle", "Windermoor")),
    ("M4 Northern Motorway", (CITY, "Hartwell Springs", "Northgate")),
    ("M5 Western Motorway", (CITY, "Millbrook", "Dunmore", "Grayling")),
)
COUNTRY_ROADS: tuple[tuple[str, str], ...] = (
    (CITY, "Ashgrove"), (CITY, "Bramley Cross"), (CITY, "Thornbury Hill"), (CITY, "Selwyn Wells"), (CITY, "Millbrook"),
    ("Selwyn Wells", "Kestrel Bay"), ("Selwyn Wells", "Sandiford"), ("Sandiford", "Kestrel Bay"),
    ("Kestrel Bay", "Whitlock Sands"), ("Kestrel Bay", "Elderfield"), ("Ashgrove", "Elderfield"),
    ("Ashgrove", "Hartwell Springs"), ("Thornbury Hill", "Hartwell Springs"), ("Thornbury Hill", "Oldcastle"),
    ("Bramley Cross", "Oldcastle"), ("Oldcastle", "Windermoor"), ("Hartwell Springs", "Northgate"),
    ("Millbrook", "Dunmore"), ("Millbrook", "Fenwick Abbey"), ("Dunmore", "Fenwick Abbey"), ("Dunmore", "Grayling"),
    ("Windermoor", "Grayling"), ("Elderfield", "Whitlock Sands"),
)  # fmt: skip


def build_town(network: Network, town: str, rng: Random, name: Callable[[str], str]) -> list[int]:
    """Add a town's streets to the network: a small grid, turned and bent; its junctions."""
    turn, bow = rng.uniform(0, math.pi / 2), rng.uniform(150, 320)
    numbers = {
        (column, row): network.junction(_spot(CENTRES[town], column, row, turn, bow, rng))
        for column in range(COLUMNS)
        for row in range(ROWS)
        if (column, row) not in ((0, 0), (COLUMNS - 1, 0), (0, ROWS - 1), (COLUMNS - 1, ROWS - 1))
    }
    lines = [[(column, row) for row in range(ROWS)] for column in range(COLUMNS)]
    lines += [[(column, row) for column in range(COLUMNS)] for row in range(ROWS)]
    for index, cells in enumerate(lines):
        junctions = [numbers[cell] for cell in cells if cell in numbers]
        main = index in (COLUMNS // 2, COLUMNS + ROWS // 2)
        kind = "primary" if main else "residential"
        label = "High Street" if index == COLUMNS // 2 else name(kind)
        oneway = not main and rng.random() < 0.12
        network.street(label, kind, town, junctions, oneway=oneway)
    return list(numbers.values())


def _spot(centre: Point, column: int, row: int, turn: float, bow: float, rng: Random) -> Point:
    u, v = (column - (COLUMNS - 1) / 2) * BLOCK, (row - (ROWS - 1) / 2) * BLOCK
    v += bow * (u / (COLUMNS * BLOCK)) ** 2
    u, v = u + rng.uniform(-24, 24), v + rng.uniform(-24, 24)
    return (
        centre[0] + u * math.cos(turn) - v * math.sin(turn),
        centre[1] + u * math.sin(turn) + v * math.cos(turn),
    )


def build_highways(network: Network, gates: list[int], towns: dict[str, list[int]], rng: Random) -> None:
    """Join the towns: motorways pass them at some distance, country roads run from one to the other."""
    for name, stops in MOTORWAYS:
        begin = network.nearest(CENTRES[stops[1]], gates)
        for stop in stops[1:]:
            exit_ = network.junction(_beside(network.points[begin], CENTRES[stop]))
            network.street(name, "motorway", REGION, _bent(network, begin, exit_, 0.05, 4000, rng))
            target = network.nearest(network.points[exit_], towns[stop])
            network.street(f"{stop} Link Road", "primary", REGION, [exit_, target], maxspeed=70)
            begin = exit_
    for start, end in COUNTRY_ROADS:
        begin = network.nearest(CENTRES[end], gates if start == CITY else towns[start])
        finish = network.nearest(network.points[begin], towns[end])
        label = f"Old {end} Road" if start == CITY else f"{start} to {end} Road"
        network.street(label, "primary", REGION, _bent(network, begin, finish, 0.1, 2500, rng), maxspeed=80)


def _beside(start: Point, town: Point) -> Point:
    """A point 1.8 km to the left of the town, as seen from where the motorway comes."""
    length = math.dist(start, town)
    east, north = (town[0] - start[0]) / length, (town[1] - start[1]) / length
    return town[0] - 1800 * north, town[1] + 1800 * east


def _bent(network: Network, start: int, end: int, bow: float, step: float, rng: Random) -> list[int]:
    """Junctions on a bent line, about `step` metres apart."""
    a, b = network.points[start], network.points[end]
    length = math.dist(a, b)
    count, side, waves = max(2, round(length / step)), rng.choice((-1, 1)), rng.choice((1, 2))
    east, north = (b[0] - a[0]) / length, (b[1] - a[1]) / length
    between = []
    for index in range(1, count):
        part = index / count
        off = side * bow * length * 0.5 * math.sin(math.pi * waves * part)
        along = part * length
        between.append(network.junction((a[0] + east * along - north * off, a[1] + north * along + east * off)))
    return [start, *between, end]
