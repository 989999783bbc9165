"""The road graph: the fastest way between two points by car, by bicycle and on foot (A* over junctions).

A route begins and ends at the point of a road that is nearest to where it was asked for, not at a junction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from agentrl.envs.webarena.sites.map.geo import Point, nearest_on_segment, to_degrees, to_metres

FARTHEST = 25_000.0  # metres to the nearest road; nothing beyond belongs to the map
# Kilometres per hour on streets of a class; a number below 1 is the part of the speed limit that traffic allows.
SPEEDS: dict[str, dict[str, float]] = {
    "car": {"motorway": 0.92, "primary": 0.78, "secondary": 0.7, "residential": 0.8},
    "bike": {"primary": 15, "secondary": 15.5, "residential": 15, "cycleway": 18, "pedestrian": 6, "path": 6},
    "foot": {"primary": 5, "secondary": 5, "residential": 5, "cycleway": 5, "pedestrian": 5, "path": 5},
}
MODES = tuple(SPEEDS)


class Way(NamedTuple):
    """A street as far as routes need it."""

    id: int
    name: str
    kind: str
    maxspeed: int
    oneway: bool
    bridge: bool


class Road(NamedTuple):
    """A straight piece of a street between two junctions."""

    way: Way
    start: int
    end: int
    length: float

    def seconds(self, mode: str) -> float | None:
        """The time from end to end; None where the mode may not go."""
        speed = SPEEDS[mode].get(self.way.kind)
        if speed is None:
            return None
        return self.length * 3.6 / (speed * self.way.maxspeed if speed < 1 else speed)

    def is_two_way(self, mode: str) -> bool:
        """May the mode go from the end to the start?"""
        return mode == "foot" or not self.way.oneway


class Snap(NamedTuple):
    """A point of a road: `part` is 0 at its start and 1 at its end."""

    road: int
    part: float


class Leg(NamedTuple):
    """Part of a route: along one road, from one point of it to another."""

    road: int
    begin: float
    end: float


@dataclass(frozen=True)
class Route:
    """The fastest way, with its points (metres) for drawing it."""

    mode: str
    metres: float
    seconds: float
    legs: tuple[Leg, ...]
    points: tuple[Point, ...]


class Graph:
    """All roads of the map, ready for searching. Junctions are numbered from 0."""

    def __init__(self, junctions: Sequence[Point], roads: Sequence[Road]) -> None:
        self.junctions, self.roads = list(junctions), list(roads)
        self._starts = np.array([self.junctions[road.start] for road in roads])
        self._spans = np.array([self.junctions[road.end] for road in roads]) - self._starts
        self._squares = np.maximum((self._spans**2).sum(1), 1e-9)
        self._allowed = {mode: np.array([road.seconds(mode) is not None for road in roads]) for mode in MODES}
        self._next = {mode: self._neighbours(mode) for mode in MODES}
        # Rounded coordinates make some roads a little shorter than the distance of their ends: 0.99 stays below.
        self._pace: dict[str, float] = {}
        for mode in MODES:
            times = ((road.seconds(mode), road.length) for road in roads)
            self._pace[mode] = 0.99 * min(seconds / length for seconds, length in times if seconds is not None)

    def _neighbours(self, mode: str) -> list[list[tuple[int, float, int]]]:
        found: list[list[tuple[int, float, int]]] = [[] for _ in self.junctions]
        for number, road in enumerate(self.roads):
            seconds = road.seconds(mode)
            if seconds is not None:
                found[road.start].append((road.end, seconds, number))
                if road.is_two_way(mode):
                    found[road.end].append((road.start, seconds, number))
        return found

    # ------------------------------------------------------------------ points

    def snap(self, lat: float, lon: float, mode: str) -> Snap | None:
        """The nearest point of a road that the mode may use; None far away from all roads."""
        point = np.array(to_metres(lat, lon))
        ahead = ((point - self._starts) * self._spans).sum(1) / self._squares
        ahead = np.clip(ahead, 0.0, 1.0)
        gaps = ((self._starts + ahead[:, None] * self._spans - point) ** 2).sum(1)
        gaps[~self._allowed[mode]] = np.inf
        number = int(gaps.argmin())
        if gaps[number] > FARTHEST**2:
            return None
        road = self.roads[number]
        part, _ = nearest_on_segment((point[0], point[1]), self.junctions[road.start], self.junctions[road.end])
        return Snap(number, part)

    def point(self, road: int, part: float) -> Point:
        """A point of a road in metres."""
        (x, y), (to_x, to_y) = self.junctions[self.roads[road].start], self.junctions[self.roads[road].end]
        return x + part * (to_x - x), y + part * (to_y - y)

    def place(self, snap: Snap) -> Point:
        """Latitude and longitude of a point of a road."""
        return to_degrees(self.point(*snap))

    # ------------------------------------------------------------------ routes

    def route(self, start: Snap, end: Snap, mode: str) -> Route | None:
        """The fastest way; None where there is none."""
        direct = self._direct(start, end, mode)
        came, last, seconds = self._search(start, end, mode, direct.seconds if direct else math.inf)
        if last is None:
            return direct
        junctions = [last]
        while came[junctions[-1]][0] >= 0:
            junctions.append(came[junctions[-1]][0])
        return self._written(start, end, mode, junctions[::-1], came, seconds)

    def _direct(self, start: Snap, end: Snap, mode: str) -> Route | None:
        """Along the road that both points are on."""
        road = self.roads[start.road]
        if start.road != end.road or (end.part < start.part and not road.is_two_way(mode)):
            return None
        share = abs(end.part - start.part)
        leg = Leg(start.road, start.part, end.part)
        points = (self.point(start.road, start.part), self.point(end.road, end.part))
        return Route(mode, share * road.length, share * (road.seconds(mode) or 0.0), (leg,), points)

    def _ends(self, snap: Snap, mode: str, arriving: bool) -> list[tuple[int, float]]:
        """The junctions that one can go to from a point of a road (or come from), with the time it takes."""
        road = self.roads[snap.road]
        seconds = road.seconds(mode) or 0.0
        to_start, to_end = (road.start, snap.part * seconds), (road.end, (1 - snap.part) * seconds)
        if road.is_two_way(mode):
            return [to_start, to_end]
        return [to_start] if arriving else [to_end]

    def _search(
        self, start: Snap, end: Snap, mode: str, best: float
    ) -> tuple[dict[int, tuple[int, int]], int | None, float]:
        """A*: from which junction and road each junction is reached, the last junction, the time; `best` is the time
        to beat."""
        goals = dict[int, float]()
        for junction, seconds in self._ends(end, mode, arriving=True):
            goals[junction] = min(seconds, goals.get(junction, math.inf))
        (goal_x, goal_y), pace = self.point(*end), self._pace[mode]
        neighbours, junctions, hypot = self._next[mode], self.junctions, math.hypot
        times: dict[int, float] = {}
        came: dict[int, tuple[int, int]] = {}
        done: set[int] = set()
        waiting: list[tuple[float, int]] = []
        for junction, seconds in self._ends(start, mode, arriving=False):
            if seconds < times.get(junction, math.inf):
                x, y = junctions[junction]
                times[junction], came[junction] = seconds, (-1, start.road)
                heappush(waiting, (seconds + pace * hypot(x - goal_x, y - goal_y), junction))
        last = None
        while waiting:
            least, junction = heappop(waiting)
            if least >= best:
                break
            if junction in done:
                continue
            done.add(junction)
            so_far = times[junction]
            if junction in goals and so_far + goals[junction] < best:
                best, last = so_far + goals[junction], junction
            for other, seconds, road in neighbours[junction]:
                total = so_far + seconds
                if total < times.get(other, math.inf):
                    x, y = junctions[other]
                    times[other], came[other] = total, (junction, road)
                    heappush(waiting, (total + pace * hypot(x - goal_x, y - goal_y), other))
        return came, last, best

    def _written(
        self, start: Snap, end: Snap, mode: str, junctions: list[int], came: dict[int, tuple[int, int]], seconds: float
    ) -> Route:
        """The route through these junctions."""
        legs = [Leg(start.road, start.part, self._side(start.road, junctions[0]))]
        for before, after in pairwise(junctions):
            road = came[after][1]
            forward = self.roads[road].start == before
            legs.append(Leg(road, 0.0, 1.0) if forward else Leg(road, 1.0, 0.0))
        legs.append(Leg(end.road, self._side(end.road, junctions[-1]), end.part))
        legs = [leg for leg in legs if leg.begin != leg.end]
        metres = sum(abs(leg.end - leg.begin) * self.roads[leg.road].length for leg in legs)
        points = (self.point(*start), *(self.junctions[number] for number in junctions), self.point(*end))
        return Route(mode, metres, seconds, tuple(legs), points)

    def _side(self, road: int, junction: int) -> float:
        """0 where the junction is the start of the road, 1 where it is its end."""
        return 0.0 if junction == self.roads[road].start else 1.0
