"""Primitives as loops over the oracle's skills: each action of the arm looks at where everything is now."""

from __future__ import annotations

from collections.abc import Callable
from math import radians

import numpy as np

from agentrl.envs.common.gripper import pointing_down
from agentrl.envs.common.primitives import Action, Point, Result
from agentrl.envs.libero.controller import Controller
from agentrl.envs.libero.oracle import direction_of, goal_of, is_open, ordered, problem, region_is_hollow, region_joint
from agentrl.envs.libero.oracle.carrying import CLOSE, OPEN, clearance, highest, holds, pick, place, squared, towards
from agentrl.envs.libero.oracle.operating import handle_path, operate
from agentrl.envs.libero.text.words import GRAMMAR, Told
from agentrl.envs.libero.world import World

MAX_LENGTH = 300  # control steps of a primitive: 15 seconds
AT = 0.05  # metres from a point within which something is meant by it
SLID = 0.03  # metres from where it was placed: it slid or fell
REST = 0.25  # metres over the table where the hand waits
LOWEST = 0.012  # metres of the hand over the table, when it pushes


class Primitives:
    """What a language model may ask of the arm. Millimetres, over the table; `settle` is called after each motion."""

    def __init__(self, world: World, controller: Controller, settle: Callable[[World], None]) -> None:
        self._world, self._controller, self._settle = world, controller, settle
        self.origin = np.array([0.0, 0.0, world.height])

    def run(self, action: Action) -> Result:
        """Do one primitive; `EnvFault` if the simulation diverges."""
        return getattr(self, f"_{action.verb}")(action)

    def told(self, place: np.ndarray) -> tuple[int, int, int]:
        """A position of the simulation in whole millimetres over the table."""
        x, y, z = (round(1000 * float(value)) for value in place - self.origin)
        return x, y, z

    # ---------------------------------------------------------------- objects

    def _pick(self, action: Action) -> Result:
        world, point = self._world, self._metres(action.points()[0])
        if world.held():
            return Result(False, "The gripper already holds something; place it first.")
        name = _nearest({name: world.position(name) for name in world.objects}, point)
        if name is None:
            return Result(False, f"There is no object at {_said(action.points()[0])}.")
        if not self._repeat(lambda: pick(world, name), lambda: holds(world, name)):
            self._withdraw()
            return Result(False, f"The gripper could not grasp what is at {_said(action.points()[0])}.")
        self._rise(CLOSE)
        if world.held() != name:
            return Result(False, "What was grasped slipped out of the gripper.")
        return Result(True, f"The gripper holds what was at {_said(action.points()[0])}.")

    def _place(self, action: Action) -> Result:
        world, goal = self._world, self._metres(action.points()[0])
        name = world.held()
        if name is None:
            return Result(False, "The gripper holds nothing to place.")
        space = None  # the hollow part of a fixture that the goal is in: a compartment, a drawer
        for region, where in world.problem.regions.items():
            if where.target in world.fixtures and not where.rectangles and region_is_hollow(world, region):
                middle, rotation = world.pose(region)
                if bool((np.abs(rotation.T @ (goal - middle))[:2] <= world.size(region)[:2]).all()):
                    space = region
                    break

        def put() -> np.ndarray:
            return place(world, name, goal, depth=1.0, turned=squared(world, name, space) if space else None)

        self._repeat(put, lambda: world.held() is None)
        self._withdraw()
        found = world.position(name)
        if float(np.hypot(*(found - goal)[:2])) > SLID:
            return Result(False, f"What was placed did not stay there; it is at {_said(self.told(found))}.")
        return Result(True, f"The gripper put what it held at {_said(self.told(found))}.")

    def _push(self, action: Action) -> Result:
        start, end = (self._metres(point) for point in action.points())
        if self._world.held():
            return Result(False, "The gripper holds something; place it before pushing.")
        low = self.origin[2] + LOWEST
        start[2], end[2] = max(start[2], low), max(end[2], low)
        above = start.copy()
        above[2] = max(clearance(self._world, self._hand(), start, 0.01), start[2] + 0.05)
        self._rise(CLOSE)
        down = self._line(above, 1.0) and self._line(start, 0.5)
        through = down and self._line(end, 0.35)
        reached = _said(self.told(self._hand()))
        self._withdraw()
        if not down:
            return Result(False, f"The gripper hit something on its way down to {_said(action.points()[0])}.")
        return Result(through, f"The gripper pushed {'to' if through else 'but was blocked at'} {reached}.")

    # ---------------------------------------------------------------- joints

    def _pull(self, action: Action) -> Result:
        start, end = (self._metres(point) for point in action.points())
        joint = self._handle_at(start)
        if joint is None or self._world.held():
            return self._no_handle(joint, action)
        path = handle_path(self._world, joint)
        wanted = float((end - start) @ path) / max(float(path @ path), 1e-9)
        return self._lead(joint, wanted, "pulled")

    def _turn(self, action: Action) -> Result:
        joint = self._handle_at(self._metres(action.points()[0]))
        if joint is None or self._world.held():
            return self._no_handle(joint, action)
        return self._lead(joint, radians(action.numbers[3]), "turned")

    def _lead(self, joint: str, change: float, verb: str) -> Result:
        world, low, high = self._world, *self._world.handle(joint).limits
        goal = min(max(world.joint(joint) + change, low + 0.002), high - 0.002)
        direction = 1.0 if change > 0 else -1.0

        def there() -> bool:
            return direction * (world.joint(joint) - goal) >= 0

        reached = self._repeat(lambda: operate(world, joint, direction), there)
        self._withdraw()
        if reached:
            return Result(True, f"The gripper {verb} the handle, which is now at {self._at_handle(joint)}.")
        return Result(False, f"The gripper could not move the handle on; it is at {self._at_handle(joint)}.")

    def _no_handle(self, joint: str | None, action: Action) -> Result:
        if joint is None:
            return Result(False, f"There is no handle or knob at {_said(action.points()[0])}.")
        return Result(False, "The gripper holds something; place it first.")

    def _handle_at(self, point: np.ndarray) -> str | None:
        return _nearest({joint: self._world.handle(joint).position for joint in self._world.joints}, point)

    def _at_handle(self, joint: str) -> str:
        return _said(self.told(self._world.handle(joint).position))

    # ---------------------------------------------------------------- motion

    def _repeat(self, act: Callable[[], np.ndarray], done: Callable[[], bool], longest: int = MAX_LENGTH) -> bool:
        """Act until something holds; False if it never does."""
        for _ in range(longest):
            if done():
                return True
            self._controller.step(np.clip(act(), -1.0, 1.0))
            self._settle(self._world)
        return done()

    def _line(self, goal: np.ndarray, speed: float) -> bool:
        """Move the closed hand straight to a point; False if it is stopped."""
        steps = 20 + int(float(np.linalg.norm(goal - self._hand())) / (0.012 * speed))
        down = pointing_down(0.0)
        return self._repeat(
            lambda: towards(self._world, goal, down, CLOSE, speed),
            lambda: bool(np.linalg.norm(goal - self._hand()) < 0.006),
            steps,
        )

    def _withdraw(self) -> None:
        """Let go, back off, and wait above the table."""
        world = self._world
        self._repeat(lambda: np.array([0, 0, 0, 0, 0, 0, OPEN], dtype=float), lambda: world.arm.opening() > 0.035, 15)
        at, facing = world.arm.pose()
        back = at - 0.08 * facing[:, 2]
        self._repeat(
            lambda: towards(world, back, facing, OPEN), lambda: bool(np.linalg.norm(back - self._hand()) < 0.01), 30
        )
        self._rise(OPEN)

    def _rise(self, grip: float) -> None:
        at, facing = self._world.arm.pose()
        goal = np.array([at[0], at[1], max(at[2], min(self.origin[2] + REST, highest(self._world, at)))])
        yaw = float(np.arctan2(facing[1, 0], facing[0, 0]))
        self._repeat(
            lambda: towards(self._world, goal, pointing_down(yaw), grip),
            lambda: bool(np.linalg.norm(goal - self._hand()) < 0.01),
            60,
        )

    def _hand(self) -> np.ndarray:
        return self._world.arm.pose()[0]

    def _metres(self, point: Point) -> np.ndarray:
        return np.array(point) / 1000 + self.origin


def _nearest(places: dict[str, np.ndarray], point: np.ndarray) -> str | None:
    """The name of the place nearest to a point; None if none is near."""
    away = {name: float(np.linalg.norm(place - point)) for name, place in places.items()}
    name = min(away, key=away.__getitem__, default=None)
    return name if name is not None and away[name] < AT else None


def _said(at: Point | tuple[int, int, int]) -> str:
    return "(" + ", ".join(f"{value:.0f}" for value in at) + ")"


# ---------------------------------------------------------------------- the oracle


def plan(world: World, told: Told) -> list[Action] | None:
    """What to do for the first condition that does not hold; None where no primitive leads to the goal."""
    if problem(world):
        return None
    now = world.conditions()
    fact = next((fact for fact in ordered(world) if not now[str(fact)]), None)
    if fact is None:
        return None
    held, carries = world.held(), fact.predicate in ("on", "in")
    name = fact.arguments[0]
    if held is not None and not (carries and held == name):  # it is in the way
        at = world.arm.pose()[0].copy()
        at[2] = world.height
        return [Action("place", GRAMMAR.rounded(told(at)))]
    if not carries:
        return [_lead(world, told, world.handle(name).joint, fact.predicate)]
    region = fact.arguments[1]
    joint = region_joint(world, region)
    if joint is not None and not is_open(world, joint) and held is None:
        return [_lead(world, told, joint, "open")]
    put = Action("place", GRAMMAR.rounded(told(goal_of(world, name, region))))
    return [put] if held == name else [Action("pick", GRAMMAR.rounded(told(world.position(name)))), put]


def _lead(world: World, told: Told, joint: str, predicate: str) -> Action:
    """Pull a handle or turn a knob as far as it goes; one that swings is pulled along its tangent."""
    handle = world.handle(joint)
    direction = direction_of(world, joint, predicate)
    way = (max(handle.limits) if direction > 0 else min(handle.limits)) - handle.value
    start = GRAMMAR.rounded(told(handle.position))
    if joint.endswith("_button"):
        return Action("turn", (*start, round(float(np.degrees(np.clip(way, -1.2, 1.2))))))
    end = GRAMMAR.rounded(told(handle.position + way * handle_path(world, joint)))
    return Action("pull", (*start, *end))
