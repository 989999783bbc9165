"""Pick, place and push as scripts, whatever simulates the arm: straight lines with the gripper down.

Each looks at what it touches and ends early when something is in the way. A failed one says so and leaves its effect.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Real

import numpy as np

from agentrl.envs.common.gripper import OPENING
from agentrl.envs.primitiveskill.backend import WORKSPACE, Action, Point, Result
from agentrl.envs.primitiveskill.motion import CAREFUL, FAST, LOWEST, UP, Grip, Motion, Move, Script, Wait

HOME = np.array([-0.26, 0.0, 0.26])  # where the arm waits: behind the workspace, out of the viewer's sight
RELEASE = 0.008  # metres by which each finger opens to let go
SLID = 15.0  # millimetres from where it was placed: it slid or fell


class Primitives(ABC):
    """What the agent may ask of the arm."""

    _motion: Motion

    @abstractmethod
    def _finish(self) -> None:
        """Called when a primitive has moved something."""

    def positions(self) -> dict[str, Point]:
        """The centres of all things, by name."""
        return {name: point(1000 * self._motion.at(name)) for name in self._motion.things}

    def held(self) -> str | None:
        """What the gripper holds."""
        return self._motion.held()

    def script(self, action: Action) -> Script:
        """What the arm must do for an action."""
        return {"pick": self._pick, "place": self._place, "push": self._push}[action.verb](*action.points())

    # ---------------------------------------------------------------- pick

    def pick(self, at: Point) -> Result:
        """Grasp what is at a point and lift it."""
        return self._motion.carry_out(self._pick(at))

    def _pick(self, at: Point) -> Script:
        if problem := _problem(at):
            return Result(False, problem)
        if self.held():
            return Result(False, "The gripper already holds something; place it first.")
        goal = _lowered(at)
        yaw = self._motion.yaw_for_picking(goal)
        if not self._motion.reaches(goal, yaw):
            return Result(False, f"The arm cannot reach {_said(at)}.")
        result = yield from self._grasp(goal, yaw, _said(at))
        self._finish()
        return result

    def _grasp(self, goal: np.ndarray, yaw: float, said: str) -> Script:
        above = self._motion.above(goal)
        yield Grip(OPENING)
        yield Move(above, yaw, FAST)
        free = yield Move(goal + 0.02 * UP, yaw, FAST, until="blocked")
        if free:
            free = yield Move(goal, yaw, CAREFUL, until="blocked")
        if not free:
            yield Move(above, yaw, CAREFUL)
            return Result(False, f"The gripper hit something on its way down to {said}.")
        yield Grip(0.0)
        yield Wait(12)
        caught = self.held()
        yield Move(above, yaw, FAST)
        if caught and self.held():
            return Result(True, f"The gripper holds what was at {said}.")
        yield Grip(OPENING)
        yield Wait(12)
        slipped = f"What was grasped at {said} slipped out of the gripper."
        return Result(False, slipped if caught else f"The gripper closed on nothing at {said}.")

    # ---------------------------------------------------------------- place

    def place(self, at: Point) -> Result:
        """Lower what the gripper holds over a point, to z and on until it touches something, and let go."""
        return self._motion.carry_out(self._place(at))

    def _place(self, at: Point) -> Script:
        if problem := _problem(at):
            return Result(False, problem)
        name = self.held()
        if name is None:
            return Result(False, "The gripper holds nothing to place.")
        if not self._motion.reaches(_lowered(at)):
            return Result(False, f"The arm cannot reach {_said(at)}.")
        return (yield from self._put_down(name, at))

    def _put_down(self, name: str, at: Point) -> Script:
        motion, arm, goal = self._motion, self._motion.arm, np.array(at) / 1000
        opening = min(arm.opening() + RELEASE, OPENING)
        yaw = motion.yaw_for_placing(goal, name, opening)
        yield Move(motion.above(goal), yaw, FAST)
        goal = goal - motion.at(name) + arm.pose()[0]  # the thing may be off the middle of the gripper
        yield Move(motion.above(goal), yaw, FAST)
        if (yield Move(goal, yaw, FAST / 2, until="landed", held=name)):
            floor = np.array([goal[0], goal[1], LOWEST])
            yield Move(floor, yaw, CAREFUL / 2, until="landed", held=name)
        yield Grip(opening)
        yield Wait(8)
        yield Move(arm.pose()[0] + 0.04 * UP, yaw, CAREFUL)
        yield Grip(OPENING)
        yield Move(motion.above(arm.pose()[0]), yaw, FAST)
        yield Move(HOME, 0.0, FAST)
        self._finish()
        found = self.positions()[name]
        if max(abs(found[0] - at[0]), abs(found[1] - at[1])) > SLID:
            return Result(False, f"What was placed at {_said(at)} did not stay there; it is at {_said(found)}.")
        return Result(True, f"The gripper put what it held at {_said(found)}.")

    # ---------------------------------------------------------------- push

    def push(self, start: Point, end: Point) -> Result:
        """Move the closed gripper from one point to another, and retreat."""
        return self._motion.carry_out(self._push(start, end))

    def _push(self, start: Point, end: Point) -> Script:
        if problem := _problem(start) or _problem(end):
            return Result(False, problem)
        if self.held():
            return Result(False, "The gripper holds something; place it before pushing.")
        for point in (start, end):
            if not self._motion.reaches(_lowered(point)):
                return Result(False, f"The arm cannot reach {_said(point)}.")
        result = yield from self._sweep(_lowered(start), _lowered(end), _said(start))
        self._finish()
        return result

    def _sweep(self, first: np.ndarray, last: np.ndarray, said: str) -> Script:
        motion, arm = self._motion, self._motion.arm
        yield Grip(0.0)
        yield Move(motion.above(first), 0.0, FAST)
        if (yield Move(first, 0.0, FAST / 2, until="blocked")):
            through = yield Move(last, 0.0, CAREFUL, until="behind")
            stopped = _said(1000 * arm.pose()[0])
            result = Result(bool(through), f"The gripper pushed {'to' if through else 'but was blocked at'} {stopped}.")
        else:
            result = Result(False, f"The gripper hit something on its way down to {said}.")
        yield Move(motion.above(arm.pose()[0]), 0.0, FAST)
        yield Grip(OPENING)
        yield Move(HOME, 0.0, FAST)
        return result


def _problem(at: Point) -> str | None:
    """Why something cannot be an argument."""
    if len(at) != 3 or not all(isinstance(value, Real) and abs(value) < 1e308 for value in at):
        return "Coordinates must be three finite numbers in millimetres."
    for axis, value, (low, high) in zip("xyz", at, WORKSPACE, strict=True):
        if not low <= value <= high:
            return f"{axis} must be between {low:.0f} and {high:.0f}; got {value:g}."
    return None


def _lowered(at: Point) -> np.ndarray:
    """A point in metres, where the gripper's tips clear the table."""
    return np.array([at[0] / 1000, at[1] / 1000, max(at[2] / 1000, LOWEST)])


def point(values: np.ndarray) -> Point:
    """Three numbers as a point."""
    return float(values[0]), float(values[1]), float(values[2])


def _said(at: Point | np.ndarray) -> str:
    return "(" + ", ".join(f"{value:.0f}" for value in at) + ")"
