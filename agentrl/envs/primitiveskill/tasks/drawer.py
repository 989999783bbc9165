"""Drawer: the apple goes in, and the drawer is closed."""

from __future__ import annotations

import numpy as np

from agentrl.envs.primitiveskill.actions import Action
from agentrl.envs.primitiveskill.backend import Start, Thing
from agentrl.envs.primitiveskill.tasks.places import scatter
from agentrl.envs.primitiveskill.tasks.plan import Plan, within_reach
from agentrl.envs.primitiveskill.tasks.scene import Scene
from agentrl.envs.primitiveskill.tasks.task import Task

SIZE = 65.0  # half the side of the drawer
CLOSED = 10.0  # mm
APPLE, WOOD = (0.78, 0.10, 0.14), (0.62, 0.42, 0.24)


class Drawer(Task):
    """An apple and an open drawer."""

    instruction = "Put the apple into the drawer and close the drawer."
    stage_names = (
        "the apple is in the gripper",
        "the apple is in the drawer",
        "the apple is in the drawer and the drawer is closed",
    )

    def draw(self, random: np.random.Generator) -> Start:
        """The drawer on the left, open by 80 to 110 mm; the apple on the right."""
        things = Thing("apple", "sphere", 30.0, APPLE), Thing("drawer", "drawer", SIZE, WOOD)
        (apple,) = scatter(random, 1, area=((-100.0, 100.0), (20.0, 180.0)))
        drawer = float(random.integers(-140, -119)), float(random.integers(-200, -159)), 0.0
        opening = float(random.integers(80, 111))
        return Start(things, {"apple": apple, "drawer": drawer}, {"drawer_open_value": opening})

    def stages(self, scene: Scene) -> tuple[bool, ...]:
        """In: the middle of the apple is within the box of the drawer. Closed: it is open by no more than 10 mm."""
        inside = scene.inside("apple", "drawer")
        return scene.held == "apple", inside, inside and scene.values["drawer_open_value"] <= CLOSED

    def plan(self, scene: Scene) -> list[Action] | None:
        """Carry the apple over the drawer, then push the front in."""
        plan, (x, y, z) = Plan(scene), scene.positions["drawer"]
        opening = scene.values["drawer_open_value"]
        if not scene.inside("apple", "drawer"):
            if opening < SIZE or not within_reach(scene, "apple"):
                return None  # nothing opens it again
            plan.carry("apple", (x, y, z + 60.0))
        front = x + SIZE + 25.0
        plan.push((front, y, z), (front - opening - 10.0, y, z))
        return plan.actions
