"""Place: each cube on its own target."""

from __future__ import annotations

import numpy as np

from agentrl.envs.primitiveskill.actions import Action
from agentrl.envs.primitiveskill.backend import Start, Thing
from agentrl.envs.primitiveskill.tasks.places import GREEN, RED, cube, scatter
from agentrl.envs.primitiveskill.tasks.plan import Plan, within_reach
from agentrl.envs.primitiveskill.tasks.scene import Scene
from agentrl.envs.primitiveskill.tasks.task import Task

GOALS = {"red_cube": "left_target", "green_cube": "right_target"}
MARK = (0.20, 0.36, 0.80)


class Place(Task):
    """Two cubes and two round marks."""

    instruction = "Put the red cube on the left target and the green cube on the right target."
    stage_names = (
        "a cube is in the gripper",
        "one cube is on its target",
        "one cube is on its target and the other one is in the gripper",
        "both cubes are on their targets",
    )

    def draw(self, random: np.random.Generator) -> Start:
        """The targets to the left and to the right, near the viewer; the cubes anywhere beside them."""
        left, right = (
            (float(random.integers(20, 91)), side * float(random.integers(70, 161)), 0.0) for side in (-1, 1)
        )
        red, green = scatter(random, 2, taken=(left, right))
        marks = tuple(Thing(name, "disc", 35.0, MARK) for name in ("left_target", "right_target"))
        places = {"red_cube": red, "green_cube": green, "left_target": left, "right_target": right}
        return Start((cube("red_cube", RED), cube("green_cube", GREEN), *marks), places, {})

    def stages(self, scene: Scene) -> tuple[bool, ...]:
        """A cube is on its target when it stands on the table with its middle within 20 mm in x and in y."""
        stored = [scene.on(name, target) for name, target in GOALS.items()]
        return scene.held is not None, any(stored), any(stored) and scene.held is not None, all(stored)

    def plan(self, scene: Scene) -> list[Action] | None:
        """Bring each cube that is not there yet: first those whose target is free, of these first what is held."""
        todo = [name for name, target in GOALS.items() if not scene.on(name, target)]
        if not within_reach(scene, *todo):
            return None
        plan = Plan(scene)
        for name in sorted(todo, key=lambda name: (bool(scene.blocking(name, GOALS[name])), name != scene.held)):
            plan.make_room(name, GOALS[name])
            x, y, _ = scene.positions[GOALS[name]]
            plan.carry(name, (x, y, scene.things[name].size))
        return plan.actions
