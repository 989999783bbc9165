"""The streets of the city (a bent grid cut by a river, with bridges, a ring road, parks) and of the towns around it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from random import Random

from agentrl.envs.webarena.sites.map.geo import Point
from agentrl.envs.webarena.sites.map.network import Network
from agentrl.envs.webarena.sites.map.words import CITY, REGION, TOWNS, WORDS

COLUMNS, ROWS, BLOCK = 50, 40, 232.0  # the grid; metres between streets
RADIUS = (5750.0, 4500.0)  # of the built-up area
RING = (6500.0, 5200.0)
BANK = 125.0  # nothing is built nearer to the middle of the river
BRIDGE_COLUMNS: dict[int, str] = dict(zip((6, 13, 19, 24, 27, 31, 36, 40, 44), WORDS["bridges"], strict=True))
PARK_CELLS = dict(
    zip(
        WORDS["parks"],
        ((22, 27, 28, 32), (32, 36, 24, 28), (15, 18, 22, 25), (10, 15, 31, 35), (38, 42, 7, 11), (29, 31, 12, 14),
         (13, 17, 5, 9), (6, 10, 9, 12), (40, 43, 28, 32)),
        strict=True,
    )
)  # fmt: skip
CENTRE_COLUMNS = range(20, 31)  # where one-way streets alternate
ARCADE = (22, 28, 21)  # columns and row of the street without cars
Cell = tuple[int, int]
Name = Callable[[str], str]  # a new name for a street of a class


def on_plan(column: float, row: float) -> Point:
    """Where a crossing of the grid is on the plan of the city, in which streets are straight."""
    return (column - COLUMNS / 2) * BLOCK, (row - ROWS / 2) * BLOCK


def bend(east: float, north: float) -> Point:
    """From the plan to the ground."""
    return (
        east + 190 * math.sin(north / 1900 + 0.5) + 90 * math.sin(east / 1300),
        north + 210 * math.sin(east / 2300) + 80 * math.sin(north / 1000 + 1),
    )


def river(east: float) -> float:
    """How far north the middle of the river is, on the plan."""
    return -560 + 620 * math.sin(east / 2100) + 240 * math.sin(east / 950 + 2)


def class_of(line: int) -> str:
    """The class of the streets on a line of the grid."""
    return "primary" if line % 8 == 4 else "secondary" if line % 4 == 0 else "residential"


class CityPlan:
    """Which junctions exist and which of their connections are streets, paths or bridges."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.cells: dict[Cell, Point] = {}
        for column in range(COLUMNS + 1):
            for row in range(ROWS + 1):
                east, north = on_plan(column, row)
                limit = 1 + 0.05 * math.sin(5 * math.atan2(north, east))
                if (east / RADIUS[0]) ** 2 + (north / RADIUS[1]) ** 2 > limit:
                    continue
                middle = river(east)
                if abs(north - middle) < BANK:
                    north = middle + (BANK if north > middle else -BANK)
                x, y = bend(east, north)
                self.cells[column, row] = (x + rng.uniform(-26, 26), y + rng.uniform(-26, 26))
        # Some blocks have no street between them.
        small = (edge for edge in self.edges() if class_of(self.line(edge)) == "residential")
        self.gone = {edge for edge in small if rng.random() < 0.13}

    def edges(self) -> Iterator[tuple[Cell, Cell]]:
        """All neighbours of the grid."""
        for column, row in self.cells:
            for other in ((column + 1, row), (column, row + 1)):
                if other in self.cells:
                    yield (column, row), other

    def kind(self, edge: tuple[Cell, Cell]) -> str:
        """street, bridge, path (in a park) or nothing."""
        (column, _), (other_column, _) = edge
        if self.is_north(edge[0]) != self.is_north(edge[1]):
            return "bridge" if column == other_column and column in BRIDGE_COLUMNS else "nothing"
        if any(_inside(edge[0], park) or _inside(edge[1], park) for park in PARK_CELLS.values()):
            return "path"
        return "nothing" if edge in self.gone else "street"

    def is_for_cars(self, edge: tuple[Cell, Cell]) -> bool:
        """Can a car drive here?"""
        kind = self.kind(edge)
        return (kind == "street" and not _is_arcade(edge)) or (kind == "bridge" and not _is_foot(edge[0][0]))

    def line(self, edge: tuple[Cell, Cell]) -> int:
        """The line of the grid that the edge is on."""
        (column, row), (other_column, _) = edge
        return column if column == other_column else row

    def is_north(self, cell: Cell) -> bool:
        """Is the cell on the northern bank?"""
        east, north = on_plan(*cell)
        return north > river(east)


def _inside(cell: Cell, park: tuple[int, int, int, int]) -> bool:
    left, right, low, high = park
    return left < cell[0] < right and low < cell[1] < high


def build_city(network: Network, rng: Random, name: Name) -> list[int]:
    """Add the city to the network; the junctions of the ring road with streets, where highways begin."""
    plan = CityPlan(rng)
    connected = _connected(plan)
    numbers = {cell: network.junction(plan.cells[cell]) for cell in sorted(connected)}
    _add_streets(network, plan, numbers, rng, name)
    _add_paths(network, numbers, name)
    gates = _add_ring(network, plan, numbers)
    _add_riverside(network, plan, numbers)
    return gates


def _connected(plan: CityPlan) -> set[Cell]:
    """The cells that cars can reach, and those inside of parks."""
    neighbours: dict[Cell, list[Cell]] = {}
    for edge in plan.edges():
        if plan.is_for_cars(edge):
            neighbours.setdefault(edge[0], []).append(edge[1])
            neighbours.setdefault(edge[1], []).append(edge[0])
    start: Cell = (COLUMNS // 2, ROWS // 2 + 4)
    seen, waiting = set[Cell]({start}), list[Cell]([start])
    while waiting:
        for cell in neighbours.get(waiting.pop(), ()):
            if cell not in seen:
                seen.add(cell)
                waiting.append(cell)
    return seen | {cell for cell in plan.cells if any(_inside(cell, park) for park in PARK_CELLS.values())}


def _lines() -> Iterator[tuple[int, bool, list[Cell]]]:
    """Every line of the grid: its number, whether it runs north, its cells."""
    for column in range(COLUMNS + 1):
        yield column, True, [(column, row) for row in range(ROWS + 1)]
    for row in range(ROWS + 1):
        yield row, False, [(column, row) for column in range(COLUMNS + 1)]


def _add_streets(network: Network, plan: CityPlan, numbers: dict[Cell, int], rng: Random, name: Name) -> None:
    for line, north, cells in _lines():
        kind, run = class_of(line), list[Cell]()
        longest = rng.randint(9, 15) if kind == "residential" else 22
        for cell, following in pairwise(cells):
            edge = (cell, following)
            usable = cell in numbers and following in numbers
            what = plan.kind(edge) if usable else "nothing"
            if what == "street" and not _is_arcade(edge):
                run = run or [cell]
                run.append(following)
            if run and (what != "street" or _is_arcade(edge) or len(run) > longest):
                _finish(network, run, numbers, kind, line, north, rng, name)
                run = []
            if what == "bridge":
                kind_of_bridge = "path" if _is_foot(line) else "primary"
                junctions = [numbers[cell], numbers[following]]
                network.street(BRIDGE_COLUMNS[line], kind_of_bridge, CITY, junctions, bridge=True)
        if run:
            _finish(network, run, numbers, kind, line, north, rng, name)
    left, right, row = ARCADE
    arcade = [numbers[column, row] for column in range(left, right + 1) if (column, row) in numbers]
    network.street(name("pedestrian"), "pedestrian", CITY, arcade)


def _finish(
    network: Network, run: list[Cell], numbers: dict[Cell, int], kind: str, line: int, north: bool, rng: Random,
    name: Name,
) -> None:  # fmt: skip
    junctions = [numbers[cell] for cell in run]
    central = north and line in CENTRE_COLUMNS and any(14 <= row <= 30 for _, row in run)
    oneway = kind == "residential" and len(run) > 2 and (central or rng.random() < 0.14)
    if oneway and (line % 2 if central else rng.random() < 0.5):
        junctions.reverse()
    network.street(name(kind), kind, CITY, junctions, oneway=oneway)


def _is_foot(column: int) -> bool:
    return "Footbridge" in BRIDGE_COLUMNS[column]


def _is_arcade(edge: tuple[Cell, Cell]) -> bool:
    left, right, row = ARCADE
    return edge[0][1] == edge[1][1] == row and left <= edge[0][0] < right


def _add_paths(network: Network, numbers: dict[Cell, int], name: Name) -> None:
    """Paths along the lines of the grid inside of parks, and one across for bicycles."""
    for left, right, low, high in PARK_CELLS.values():
        lines = [[(column, row) for row in range(low, high + 1)] for column in range(left + 1, right)]
        lines += [[(column, row) for column in range(left, right + 1)] for row in range(low + 1, high)]
        for cells in lines:
            junctions = [numbers[cell] for cell in cells if cell in numbers]
            network.street(name("path"), "path", CITY, junctions)
        steps = min(right - left, high - low)
        diagonal = [numbers[cell] for step in range(steps + 1) if (cell := (left + step, low + step)) in numbers]
        network.street(name("path").rsplit(" ", 1)[0] + " Cycleway", "cycleway", CITY, diagonal)


def _add_ring(network: Network, plan: CityPlan, numbers: dict[Cell, int]) -> list[int]:
    """The ring road, joined to the ends of the grid's primary streets; the junctions where it is."""
    ring = []
    for step in range(60):
        angle = 2 * math.pi * step / 60
        ring.append(network.junction(bend(RING[0] * math.cos(angle), RING[1] * math.sin(angle))))
    network.street("Ring Road", "motorway", CITY, [*ring, ring[0]], maxspeed=90)
    gates = []
    for line, _, cells in _lines():
        found = [cell for cell in cells if cell in numbers]
        if class_of(line) != "primary" or not found:
            continue
        for cell in (found[0], found[-1]):
            gates.append(network.nearest(plan.cells[cell], ring))
            street = next(street for street in network.streets if numbers[cell] in street.junctions)
            network.street(f"{street.name} Link", "primary", CITY, [numbers[cell], gates[-1]], maxspeed=70)
    return gates


def _add_riverside(network: Network, plan: CityPlan, numbers: dict[Cell, int]) -> None:
    """Cycleways along both banks, with nameless paths up to the streets."""
    for side, label in ((1, "North"), (-1, "South")):
        streets = [numbers[cell] for cell in numbers if plan.is_north(cell) == (side == 1)]
        path: list[int] = []
        for step in range(-20, 21):
            point = bend(step * 270.0, river(step * 270.0) + side * 75)
            nearest = network.nearest(point, streets)
            if math.dist(point, network.points[nearest]) > 330:
                continue
            path.append(network.junction(point))
            if step % 2 == 0:
                network.street("", "path", CITY, [path[-1], nearest])
        network.street(f"{label} Bank Cycleway", "cycleway", CITY, path)


# ---------------------------------------------------------------------- the towns and the roads between them

TOWN_COLUMNS, TOWN_ROWS, TOWN_BLOCK = 8, 7, 185.0
CENTRES: dict[str, Point] = {name: (1000 * east, 1000 * north) for name, _, east, north, _ in TOWNS}


def build_town(network: Network, town: str, rng: Random, name: Callable[[str], str]) -> list[int]:
    """Add a town's streets to the network: a small grid, turned and bent; its junctions."""
    turn, bow = rng.uniform(0, math.pi / 2), rng.uniform(150, 320)
    centre, numbers = CENTRES[town], dict[Cell, int]()
    for column in range(TOWN_COLUMNS):
        for row in range(TOWN_ROWS):
            if column in (0, TOWN_COLUMNS - 1) and row in (0, TOWN_ROWS - 1):
                continue  # no corners
            u, v = (column - (TOWN_COLUMNS - 1) / 2) * TOWN_BLOCK, (row - (TOWN_ROWS - 1) / 2) * TOWN_BLOCK
            v += bow * (u / (TOWN_COLUMNS * TOWN_BLOCK)) ** 2
            u, v = u + rng.uniform(-24, 24), v + rng.uniform(-24, 24)
            x = centre[0] + u * math.cos(turn) - v * math.sin(turn)
            y = centre[1] + u * math.sin(turn) + v * math.cos(turn)
            numbers[column, row] = network.junction((x, y))
    lines = [[(column, row) for row in range(TOWN_ROWS)] for column in range(TOWN_COLUMNS)]
    lines += [[(column, row) for column in range(TOWN_COLUMNS)] for row in range(TOWN_ROWS)]
    for index, cells in enumerate(lines):
        junctions = [numbers[cell] for cell in cells if cell in numbers]
        main = index in (TOWN_COLUMNS // 2, TOWN_COLUMNS + TOWN_ROWS // 2)
        kind = "primary" if main else "residential"
        label = "High Street" if index == TOWN_COLUMNS // 2 else name(kind)
        oneway = not main and rng.random() < 0.12
        network.street(label, kind, town, junctions, oneway=oneway)
    return list(numbers.values())


def build_highways(network: Network, gates: list[int], towns: dict[str, list[int]], rng: Random) -> None:
    """Join the towns: motorways pass them at some distance, country roads run from one to the other."""
    for name, *stops in WORDS["motorways"]:
        begin = network.nearest(CENTRES[stops[0]], gates)
        for stop in stops:
            # The exit is 1.8 km to the left of the town, as seen from where the motorway comes.
            (x, y), (town_x, town_y) = network.points[begin], CENTRES[stop]
            length = math.dist((x, y), (town_x, town_y))
            east, north = (town_x - x) / length, (town_y - y) / length
            exit_ = network.junction((town_x - 1800 * north, town_y + 1800 * east))
            network.street(name, "motorway", REGION, _bent(network, begin, exit_, 0.05, 4000, rng))
            target = network.nearest(network.points[exit_], towns[stop])
            network.street(f"{stop} Link Road", "primary", REGION, [exit_, target], maxspeed=70)
            begin = exit_
    for start, end in WORDS["country_roads"]:
        begin = network.nearest(CENTRES[end], gates if start == CITY else towns[start])
        finish = network.nearest(network.points[begin], towns[end])
        label = f"Old {end} Road" if start == CITY else f"{start} to {end} Road"
        network.street(label, "primary", REGION, _bent(network, begin, finish, 0.1, 2500, rng), maxspeed=80)


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
