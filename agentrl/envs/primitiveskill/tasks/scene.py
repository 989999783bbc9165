"""What a task looks at: where everything is, with the questions that stages are made of."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot

from agentrl.envs.primitiveskill.backend import Backend, Point, Start, Thing

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
