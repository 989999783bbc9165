"""Stack: a tower of three cubes."""

from __future__ import annotations

import numpy as np

from agentrl.envs.primitiveskill.actions import Action
from agentrl.envs.primitiveskill.backend import Point, Start
from agentrl.envs.primitiveskill.tasks.places import GREEN, RED, YELLOW, cube, scatter
from agentrl.envs.primitiveskill.tasks.plan import Plan, within_reach
from agentrl.envs.primitiveskill.tasks.scene import Scene
from agentrl.envs.primitiveskill.tasks.task import Task


class Stack(Task):
    """Three cubes; the order of the tower is given."""

    instruction = "Stack the cubes: the red cube on the green cube, and the yellow cube on the red cube."
    stage_names = (
        "the red cube is in the gripper",
        "the red cube is on the green cube",
        "the red cube is on the green cube and the yellow cube is in the gripper",
        "the yellow cube is on the red cube, which is on the green cube",
    )

    def draw(self, random: np.random.Generator) -> Start:
        """All three anywhere, with room for the fingers between them."""
        cubes = cube("red_cube", RED), cube("green_cube", GREEN), cube("yellow_cube", YELLOW)
        places = scatter(random, 3)
        return Start(cubes, {thing.name: place for thing, place in zip(cubes, places, strict=True)}, {})

    def stages(self, scene: Scene) -> tuple[bool, ...]:
        """A cube is on another when it rests there with its middle within 20 mm in x and in y."""
        two = scene.on("red_cube", "green_cube")
        holds_yellow = scene.held == "yellow_cube"
        return scene.held == "red_cube", two, two and holds_yellow, two and scene.on("yellow_cube", "red_cube")

    def plan(self, scene: Scene) -> list[Action] | None:
        """From the bottom up. What lies on the green or the red cube goes away first."""
        if not within_reach(scene, "red_cube", "green_cube", "yellow_cube"):
            return None
        plan = Plan(scene)
        if not scene.on("red_cube", "green_cube"):
            if plan.scene.carried_by("green_cube") is not None:
                plan.put_aside()
                plan.clear("green_cube")
            plan.carry("red_cube", self._over_green(plan.scene, 1))
        plan.carry("yellow_cube", self._over_green(plan.scene, 2))
        return plan.actions

    def _over_green(self, scene: Scene, floors: int) -> Point:
        x, y, z = scene.positions["green_cube"]
        return x, y, z + 40.0 * floors
