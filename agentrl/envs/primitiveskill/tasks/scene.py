"""What a task looks at: where everything is, with the questions that stages are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import hypot

import numpy as np

from agentrl.envs.primitiveskill.backend import WORKSPACE, Action, Backend, Point, Start, Thing, pick, place, push

AREA = ((-120.0, 100.0), (-180.0, 180.0))  # where starts put things: the arm reaches all of it from above
APART = 95.0  # mm between things: the open fingers fit between them
TURNED = 0.25  # radians either way that a cube may be turned
Place = tuple[float, float, float]


def cube(name: str, colour: tuple[float, float, float]) -> Thing:
    """A cube of 40 mm."""
    return Thing(name, "cube", 20.0, colour)


RED, GREEN, YELLOW = (0.84, 0.12, 0.12), (0.13, 0.58, 0.20), (0.95, 0.78, 0.10)


def scatter(
    random: np.random.Generator,
    count: int,
    taken: Sequence[Place] = (),
    area: tuple[tuple[float, float], tuple[float, float]] = AREA,
) -> list[Place]:
    """Random places with random turns, apart from each other and from those taken."""
    found: list[Place] = []
    while len(found) < count:
        x, y = (float(round(random.uniform(low, high))) for low, high in area)
        if free((x, y), [*taken, *found]):
            found.append((x, y, float(random.uniform(-TURNED, TURNED))))
    return found


def free(spot: tuple[float, float], taken: Iterable[Sequence[float]], apart: float = APART) -> bool:
    """Is there room around a spot?"""
    return all(hypot(spot[0] - other[0], spot[1] - other[1]) >= apart for other in taken)


CLOSE = 20.0  # mm in x and in y between the middles of two things of which one is on the other
RESTING = 10.0  # mm in z that a resting thing may be off: the solver lets things sink in a little, a tilt lifts them
ROOM = 60.0  # mm between the middles of two cubes that stand side by side and can still be grasped


@dataclass(frozen=True)
class Scene:
    """One moment on the table, in millimetres."""

    things: dict[str, Thing]
    positions: dict[str, Point]
    values: dict[str, float]
    held: str | None

    @classmethod
    def of(cls, start: Start, backend: Backend) -> Scene:
        """What a backend shows now."""
        things = {thing.name: thing for thing in start.things}
        return cls(things, backend.positions(), backend.values(), backend.held())

    def loose(self, name: str) -> bool:
        """Has the gripper let go of it?"""
        return self.held != name

    def above(self, upper: str, lower: str, within: float = CLOSE) -> bool:
        """Is one thing over another, at whatever height?"""
        (ux, uy, uz), (lx, ly, lz) = self.positions[upper], self.positions[lower]
        return abs(ux - lx) <= within and abs(uy - ly) <= within and uz > lz

    def on(self, upper: str, lower: str) -> bool:
        """Does one thing rest on another, and has the gripper let go of both? Marks on the table have no height."""
        gap = self.positions[upper][2] - self.positions[lower][2]
        height = self.things[upper].size + (0.0 if self.things[lower].shape == "disc" else self.things[lower].size)
        resting = abs(gap - height) <= RESTING
        return resting and self.above(upper, lower) and self.loose(upper) and self.loose(lower)

    def inside(self, name: str, drawer: str) -> bool:
        """Is a thing in a drawer, not on its rim, and has the gripper let go of it?"""
        box = self.things[drawer]
        (x, y, z), (dx, dy, dz) = self.positions[name], self.positions[drawer]
        within = max(abs(x - dx), abs(y - dy)) < box.size and abs(z - dz) < box.size / 2
        return box.shape == "drawer" and within and self.loose(name)

    def carried_by(self, name: str) -> str | None:
        """What lies on a thing, so that it must be moved first."""
        return next((other for other in self._movable(name) if self.on(other, name)), None)

    def blocking(self, name: str, target: str) -> list[str]:
        """What stands so near a target that another thing would hit it there."""
        x, y, _ = self.positions[target]
        others = [other for other in self._movable(name) if self.loose(other)]
        return [other for other in others if hypot(self.positions[other][0] - x, self.positions[other][1] - y) < ROOM]

    def _movable(self, besides: str) -> list[str]:
        return [name for name, thing in self.things.items() if thing.shape in ("cube", "sphere") and name != besides]


class Plan:
    """Grows action by action; every action is planned in the scene that those before it leave."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.actions: list[Action] = []

    def carry(self, name: str, to: Point) -> None:
        """Bring a thing to a place, from under whatever lies on it."""
        if self.scene.held != name:
            self.put_aside()
            self.clear(name)
            self.actions.append(pick(self.scene.positions[name]))
        self._put(name, to)

    def put_aside(self) -> None:
        """Empty the gripper."""
        if (name := self.scene.held) is not None:
            self._put(name, self._spare(name))

    def clear(self, name: str) -> None:
        """Move away what lies on a thing."""
        while (burden := self.scene.carried_by(name)) is not None:
            self.carry(burden, self._spare(burden))

    def make_room(self, name: str, target: str) -> None:
        """Move away what stands where a thing shall go."""
        if self.scene.blocking(name, target):
            self.put_aside()
        for other in self.scene.blocking(name, target):
            self.carry(other, self._spare(other))

    def push(self, start: Point, end: Point) -> None:
        """Move the closed gripper from one point to another; what that moves is not foreseen here."""
        self.put_aside()
        self.actions.append(push(start, end))

    def _put(self, name: str, to: Point) -> None:
        self.actions.append(place(to))
        self.scene = replace(self.scene, positions={**self.scene.positions, name: to}, held=None)

    def _spare(self, name: str) -> Point:
        """The nearest free place on the table."""
        taken = [position for other, position in self.scene.positions.items() if other != name]
        here = self.scene.positions[name]
        spots = [(float(x), float(y)) for x in range(-120, 101, 20) for y in range(-200, 201, 20)]
        spots.sort(key=lambda spot: hypot(spot[0] - here[0], spot[1] - here[1]))
        x, y = next((spot for spot in spots if free(spot, taken)), spots[-1])
        return x, y, self.scene.things[name].size


def within_reach(scene: Scene, *names: str) -> bool:
    """Are these things where actions may point to?"""
    points = [scene.positions[name][:2] for name in names if scene.loose(name)]
    return all(low <= value <= high for point in points for value, (low, high) in zip(point, WORKSPACE, strict=False))
