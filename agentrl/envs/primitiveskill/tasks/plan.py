"""`Plan`: actions, and the scene that they are expected to lead to."""

from __future__ import annotations

from dataclasses import replace
from math import hypot

from agentrl.envs.primitiveskill.actions import Action, pick, place, push
from agentrl.envs.primitiveskill.backend import WORKSPACE, Point
from agentrl.envs.primitiveskill.tasks.places import free
from agentrl.envs.primitiveskill.tasks.scene import Scene


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
