"""The tasks, by name: what somebody wants done on the table.

A new one is a subclass of `Task` with three short methods; a task of another package is named "module:Class".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from typing import ClassVar

import numpy as np

from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.envs.primitiveskill.backend import Action, Point, Start, Thing
from agentrl.envs.primitiveskill.tasks.scene import GREEN, RED, YELLOW, Plan, Scene, cube, free, scatter, within_reach


class Task(ABC):
    """The things of a task, what is asked, how far it is done, and how to do it."""

    instruction: ClassVar[str]  # what the agent is told
    paraphrases: ClassVar[tuple[tuple[str, ...], ...]] = ()  # the same in other words, by level from 1
    stage_names: ClassVar[tuple[str, ...]]  # what each stage means, for people; the last one is success

    @abstractmethod
    def draw(self, random: np.random.Generator) -> Start:
        """A start; everything random comes from `random`."""

    @abstractmethod
    def stages(self, scene: Scene) -> tuple[bool, ...]:
        """Which stages hold now, in the order of `stage_names`."""

    @abstractmethod
    def plan(self, scene: Scene) -> list[Action] | None:
        """All actions from here to success, from wherever mistakes have led; None if there is no way."""

    def stage(self, scene: Scene) -> int:
        """The highest stage that holds now; -1 if none does."""
        return max((number for number, holds in enumerate(self.stages(scene)) if holds), default=-1)

    def solved(self, scene: Scene) -> bool:
        """Does the last stage hold?"""
        return self.stage(scene) == len(self.stage_names) - 1


class Stack(Task):
    """Three cubes; the order of the tower is given."""

    instruction = "Stack the cubes: the red cube on the green cube, and the yellow cube on the red cube."
    paraphrases = (
        (
            "Pile the cubes up: set the red cube on the green cube, and the yellow cube on the red cube.",
            "Build a stack: place the red cube on the green cube, then the yellow cube on the red cube.",
        ),
        (
            "On the green cube, put the red cube; on the red cube, put the yellow cube.",
            "The red cube should go on the green cube, and the yellow cube on the red cube.",
        ),
        (
            "I would like a tower: the green cube carries the red cube, and the red cube carries the yellow cube.",
            "Make a tower that has, from bottom to top, the green cube, the red cube and the yellow cube.",
        ),
    )
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


GOALS = {"red_cube": "left_target", "green_cube": "right_target"}
MARK = (0.20, 0.36, 0.80)


class Place(Task):
    """Two cubes and two round marks."""

    instruction = "Put the red cube on the left target and the green cube on the right target."
    paraphrases = (
        (
            "Set the red cube on the left target and the green cube on the right target.",
            "Move the red cube onto the left target, and the green cube onto the right target.",
        ),
        (
            "On the left target, place the red cube; on the right target, place the green cube.",
            "The red cube should go onto the left target, and the green cube onto the right target.",
        ),
        (
            "I would like the left target to be covered by the red cube, and the right target by the green cube.",
            "The left target is meant for the red cube, the right target for the green cube: bring them there.",
        ),
    )
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
        held = scene.held in GOALS
        return held, any(stored), any(stored) and held, all(stored)

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


SIZE = 65.0  # half the side of the drawer
CLOSED = 10.0  # mm
APPLE, WOOD = (0.78, 0.10, 0.14), (0.62, 0.42, 0.24)


class Drawer(Task):
    """An apple and an open drawer."""

    instruction = "Put the apple into the drawer and close the drawer."
    paraphrases = (
        (
            "Place the apple in the drawer and shut the drawer.",
            "Lay the apple into the drawer, then shut the drawer.",
        ),
        (
            "Into the drawer with the apple, and then the drawer should be shut.",
            "The apple should go into the drawer, which should be closed afterwards.",
        ),
        (
            "I would like the apple to be in the closed drawer when you are finished.",
            "Store the apple: the drawer is its place, and do not leave the drawer open.",
        ),
    )
    stage_names = (
        "the apple is in the gripper",
        "the apple is in the drawer",
        "the apple is in the drawer and the drawer is closed",
    )

    def draw(self, random: np.random.Generator) -> Start:
        """The drawer on the left, open by 80 to 110 mm; the apple on the right."""
        things = Thing("apple", "sphere", 30.0, APPLE), Thing("drawer", "drawer", SIZE, WOOD)
        (apple,) = scatter(random, 1, area=((-120.0, 100.0), (0.0, 180.0)))
        # Far enough apart that a plan remembered from another task drops the apple beside the drawer.
        drawer = float(random.integers(-150, -89)), float(random.integers(-210, -119)), 0.0
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


CUBES = ("red_cube", "green_cube")
TOLERANCE = 10.0  # mm
OFF = 45.0  # mm from the line, at least, when a task begins


class Align(Task):
    """Two cubes; where they are along the line does not matter."""

    instruction = "Move the red cube and the green cube so that both have x = 0, to within 10 mm."
    paraphrases = (
        (
            "Bring the red cube and the green cube to x = 0, each to within 10 mm.",
            "Shift the red cube and the green cube until both are at x = 0, give or take 10 mm.",
        ),
        (
            "To x = 0, within 10 mm, is where the red cube and the green cube should go.",
            "Within 10 mm of x = 0: there the red cube and the green cube should be put.",
        ),
        (
            "I would like the red cube and the green cube to stand on the line x = 0, no more than 10 mm off it.",
            "Line up the red cube and the green cube: neither may be more than 10 mm away from x = 0.",
        ),
    )
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
            # The nearest place of the line that no other thing, or its own place there, takes.
            y = plan.scene.positions[name][1]
            others = [
                (0.0, at[1]) if other in CUBES else at for other, at in plan.scene.positions.items() if other != name
            ]
            spots = sorted((float(spot) for spot in range(-200, 201, 10)), key=lambda spot, y=y: abs(spot - y))
            spot = next((spot for spot in [y, *spots] if free((0.0, spot), others)), y)
            plan.carry(name, (0.0, spot, plan.scene.things[name].size))
        return plan.actions


TASKS: dict[str, type[Task]] = {"place": Place, "stack": Stack, "drawer": Drawer, "align": Align}


def find_task(name: object) -> Task:
    """The task of a name; `ConfigError` if there is none."""
    if isinstance(name, str) and name in TASKS:
        return TASKS[name]()
    if isinstance(name, str) and ":" in name:
        module, _, member = name.partition(":")
        try:
            found = getattr(import_module(module), member)
        except (ImportError, AttributeError, TypeError, ValueError) as error:
            raise ConfigError(f"the task {name!r} cannot be imported: {error}") from error
        if not (isinstance(found, type) and issubclass(found, Task)):
            raise ConfigError(f"the task {name!r} must be a subclass of agentrl.envs.primitiveskill.tasks.Task")
        return found()
    raise ConfigError(
        f'task must be one of {", ".join(TASKS)}, or "module:Class" of a task of your own; got {name!r}.'
        f"{did_you_mean(str(name), TASKS)}"
    )
