"""Align: two cubes on the line x = 0."""

from __future__ import annotations

import numpy as np

from agentrl.envs.primitiveskill.actions import Action
from agentrl.envs.primitiveskill.backend import Point, Start
from agentrl.envs.primitiveskill.tasks.places import GREEN, RED, cube, free, scatter
from agentrl.envs.primitiveskill.tasks.plan import Plan, within_reach
from agentrl.envs.primitiveskill.tasks.scene import Scene
from agentrl.envs.primitiveskill.tasks.task import Task

CUBES = ("red_cube", "green_cube")
TOLERANCE = 10.0  # mm
OFF = 45.0  # mm from the line, at least, when a task begins


class Align(Task):
    """Two cubes; where they are along the line does not matter."""

    instruction = "Move the red cube and the green cube so that both have x = 0, to within 10 mm."
    stage_names = ("one cube is on the line x = 0", "both cubes are on the line x = 0")

    def draw(self, random: np.random.Generator) -> Start:
        """Both cubes off the line, and not behind each other."""
        while True:
            red, green = scatter(random, 2)
            if min(abs(red[0]), abs(green[0])) >= OFF and abs(red[1] - green[1]) >= 100.0:
                cubes = cube("red_cube", RED), cube("green_cube", GREEN)
                return Start(cubes, {"red_cube": red, "green_cube": green}, {})

    def stages(self, scene: Scene) -> tuple[bool, ...]:
        """A cube is on the line when its middle is within 10 mm of it and the gripper has let go."""
        there = [self._there(scene, name) for name in CUBES]
        return any(there), all(there)

    def _there(self, scene: Scene, name: str) -> bool:
        return scene.loose(name) and abs(scene.positions[name][0]) <= TOLERANCE

    def plan(self, scene: Scene) -> list[Action] | None:
        """Carry each cube straight to the line, what is held first."""
        todo = sorted((n for n in CUBES if not self._there(scene, n)), key=lambda name: name != scene.held)
        if not within_reach(scene, *todo):
            return None
        plan = Plan(scene)
        for name in todo:
            plan.carry(name, self._spot(plan.scene, name))
        return plan.actions

    def _spot(self, scene: Scene, name: str) -> Point:
        """The nearest place of the line that no other thing, or its own place there, takes."""
        y = scene.positions[name][1]
        others = [(0.0, at[1]) for other, at in scene.positions.items() if other != name]
        spots = sorted((float(spot) for spot in range(-200, 201, 10)), key=lambda spot: abs(spot - y))
        return 0.0, next(spot for spot in [y, *spots] if free((0.0, spot), others)), scene.things[name].size
