"""The network of streets while it is being built: junctions, streets and the pieces of road between junctions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from agentrl.envs.webarena.sites.map.geo import Point

CARS = frozenset({"motorway", "primary", "secondary", "residential"})
SPEED_LIMITS = {
    "motorway": 110, "primary": 50, "secondary": 50, "residential": 30, "pedestrian": 7, "path": 0, "cycleway": 0,
}  # fmt: skip


@dataclass
class Street:
    """A named street: the junctions it runs through, in order. One-way streets lead from the first to the last."""

    name: str
    kind: str
    settlement: str
    junctions: list[int]
    oneway: bool = False
    bridge: bool = False
    maxspeed: int = 0
    id: int = 0

    @property
    def pieces(self) -> Iterator[tuple[int, int]]:
        """Neighbouring junctions."""
        return pairwise(self.junctions)


@dataclass
class Network:
    """Everything that is built so far."""

    points: list[Point] = field(default_factory=list)
    streets: list[Street] = field(default_factory=list)

    def junction(self, point: Point) -> int:
        """A new junction; its number."""
        self.points.append(point)
        return len(self.points) - 1

    def street(self, name: str, kind: str, settlement: str, junctions: Sequence[int], **more: bool | int) -> Street:
        """A new street."""
        street = Street(name, kind, settlement, list(junctions), **more)  # pyright: ignore[reportArgumentType]
        street.maxspeed = street.maxspeed or SPEED_LIMITS[kind]
        self.streets.append(street)
        return street

    def length(self, street: Street) -> float:
        """Metres from end to end."""
        return sum(math.dist(self.points[a], self.points[b]) for a, b in street.pieces)

    def along(self, street: Street, metres: float) -> tuple[Point, Point]:
        """The point that many metres from the street's beginning, and the direction there (a unit vector)."""
        for a, b in street.pieces:
            start, end = self.points[a], self.points[b]
            length = math.dist(start, end)
            if metres <= length or (a, b) == (street.junctions[-2], street.junctions[-1]):
                east, north = (end[0] - start[0]) / length, (end[1] - start[1]) / length
                return (start[0] + east * metres, start[1] + north * metres), (east, north)
            metres -= length
        raise ValueError("a street has at least two junctions")

    def nearest(self, point: Point, junctions: Iterable[int]) -> int:
        """The nearest of these junctions."""
        return min(junctions, key=lambda number: math.dist(point, self.points[number]))

    def stranded(self) -> set[int]:
        """Junctions on streets for cars from which a car cannot reach the first one, or which it cannot reach."""
        forward: dict[int, list[int]] = {}
        backward: dict[int, list[int]] = {}
        for street in self.streets:
            for a, b in street.pieces if street.kind in CARS else ():
                for start, end in ((a, b),) if street.oneway else ((a, b), (b, a)):
                    forward.setdefault(start, []).append(end)
                    backward.setdefault(end, []).append(start)
        everywhere = forward.keys() | backward.keys()
        first = self.streets[0].junctions[0]
        return set(everywhere) - (_reached(forward, first) & _reached(backward, first))

    def open_up(self) -> None:
        """Make one-way streets that lead into or out of dead ends two-way, until a car gets everywhere."""
        while stranded := self.stranded():
            closed = [street for street in self.streets if street.oneway and stranded & set(street.junctions)]
            if not closed:
                raise ValueError(f"{len(stranded)} junctions are not connected")
            for street in closed:
                street.oneway = False


def _reached(edges: dict[int, list[int]], start: int) -> set[int]:
    seen, waiting = {start}, [start]
    while waiting:
        for number in edges.get(waiting.pop(), ()):
            if number not in seen:
                seen.add(number)
                waiting.append(number)
    return seen
