"""The table simulated by MuJoCo: the default, on every machine.

Sizes that tasks may rely on: a `drawer` of size s is a box of 2s x 2s whose position is its own middle, so it moves
when the drawer is pushed; its place in `Start` is where that middle is when the drawer is closed, and its angle turns
the direction in which it opens (0: towards the viewer). The handle sticks out of the front by 0.16 s.
"""

from __future__ import annotations

from math import isfinite
from numbers import Real
from typing import Any

import numpy as np

from agentrl.envs.common.mujoco import physics, pictures
from agentrl.envs.common.mujoco.arm import pointing_down
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.common.mujoco.panda import OPENING
from agentrl.envs.primitiveskill.backend import WORKSPACE, Point, Result, Start, Thing
from agentrl.envs.primitiveskill.mujoco_motion import CAREFUL, FAST, LOWEST, UP, Motion
from agentrl.envs.primitiveskill.mujoco_scene import CAMERA, MOVABLE, TRAVEL, compile_scene

mujoco = load()
HOME = np.array([-0.26, 0.0, 0.26])  # where the arm waits: behind the workspace, out of the viewer's sight
RELEASE = 0.008  # metres by which each finger opens to let go
SLID = 15.0  # millimetres from where it was placed: it slid or fell


class MujocoBackend:
    """A Panda arm, and things on a table."""

    def begin(self, start: Start) -> None:
        """Set the table; the arm is at rest above it."""
        things = {thing.name: thing for thing in start.things}
        self.model = compile_scene(start.things)
        self.data = mujoco.MjData(self.model)
        self._motion = Motion(self.model, self.data, things)
        for name, (x, y, angle) in start.places.items():
            self._put(things[name], x / 1000, y / 1000, angle)
        for thing in self._drawers():
            self._open(thing, start.values[f"{thing.name}_open_value"])
        joints = self._motion.arm.solve(HOME, pointing_down(0.0))
        assert joints is not None, "the arm reaches its own home"
        self._motion.arm.rest(joints)
        self._motion.wait(5)
        self._finish()

    def _put(self, thing: Thing, x: float, y: float, angle: float) -> None:
        quaternion = np.empty(4)
        mujoco.mju_axisAngle2Quat(quaternion, UP, angle)
        if thing.shape in MOVABLE:
            at = self.model.joint(thing.name).qposadr[0]
            self.data.qpos[at : at + 7] = [x, y, thing.size / 1000, *quaternion]
        else:
            body = self.model.body(f"{thing.name}_cabinet" if thing.shape == "drawer" else thing.name)
            at = self.model.body_mocapid[body.id]
            self.data.mocap_pos[at], self.data.mocap_quat[at] = (x, y, 0.0), quaternion

    def _open(self, thing: Thing, value: float) -> None:
        if not 0 <= value <= TRAVEL * thing.size:
            raise ValueError(f"{thing.name}_open_value must be between 0 and {TRAVEL * thing.size:.0f}; got {value}")
        self.data.qpos[self.model.joint(thing.name).qposadr[0]] = value / 1000

    def _drawers(self) -> list[Thing]:
        return [thing for thing in self._motion.things.values() if thing.shape == "drawer"]

    # ---------------------------------------------------------------- primitives

    def pick(self, at: Point) -> Result:
        """Grasp what is at a point and lift it."""
        if problem := _problem(at):
            return Result(False, problem)
        if self.held():
            return Result(False, "The gripper already holds something; place it first.")
        goal = _lowered(at)
        yaw = self._motion.yaw_for_picking(goal)
        if not self._motion.reaches(goal, yaw):
            return Result(False, f"The arm cannot reach {_said(at)}.")
        result = self._grasp(goal, yaw, _said(at))
        self._finish()
        return result

    def _grasp(self, goal: np.ndarray, yaw: float, said: str) -> Result:
        motion, above = self._motion, self._motion.above(goal)
        motion.arm.grip(OPENING)
        motion.move(above, yaw, FAST)
        free = motion.move(goal + 0.02 * UP, yaw, FAST, motion.blocked) and motion.move(
            goal, yaw, CAREFUL, motion.blocked
        )
        if not free:
            motion.move(above, yaw, CAREFUL)
            return Result(False, f"The gripper hit something on its way down to {said}.")
        motion.arm.grip(0.0)
        motion.wait(12)
        caught = motion.held()
        motion.move(above, yaw, FAST)
        if caught and motion.held():
            return Result(True, f"The gripper holds what was at {said}.")
        motion.arm.grip(OPENING)
        motion.wait(12)
        slipped = f"What was grasped at {said} slipped out of the gripper."
        return Result(False, slipped if caught else f"The gripper closed on nothing at {said}.")

    def place(self, at: Point) -> Result:
        """Lower what the gripper holds over a point, to z and on until it touches something, and let go."""
        if problem := _problem(at):
            return Result(False, problem)
        name = self.held()
        if name is None:
            return Result(False, "The gripper holds nothing to place.")
        if not self._motion.reaches(_lowered(at)):
            return Result(False, f"The arm cannot reach {_said(at)}.")
        self._put_down(name, np.array(at) / 1000)
        self._finish()
        return self._where(name, at)

    def _put_down(self, name: str, goal: np.ndarray) -> None:
        motion, arm = self._motion, self._motion.arm
        opening = min(arm.opening() + RELEASE, OPENING)
        yaw = motion.yaw_for_placing(goal, name, opening)
        motion.move(motion.above(goal), yaw, FAST)
        goal = goal - motion.at(name) + arm.pose()[0]  # the thing may be off the middle of the gripper
        motion.move(motion.above(goal), yaw, FAST)
        if motion.move(goal, yaw, FAST / 2, lambda: motion.landed(name)):
            floor = np.array([goal[0], goal[1], LOWEST])
            motion.move(floor, yaw, CAREFUL / 2, lambda: motion.landed(name))
        arm.grip(opening)
        motion.wait(8)
        motion.move(arm.pose()[0] + 0.04 * UP, yaw, CAREFUL)
        arm.grip(OPENING)
        motion.move(motion.above(arm.pose()[0]), yaw, FAST)
        motion.move(HOME, 0.0, FAST)

    def _where(self, name: str, at: Point) -> Result:
        found = self.positions()[name]
        if max(abs(found[0] - at[0]), abs(found[1] - at[1])) > SLID:
            return Result(False, f"What was placed at {_said(at)} did not stay there; it is at {_said(found)}.")
        return Result(True, f"The gripper put what it held at {_said(found)}.")

    def push(self, start: Point, end: Point) -> Result:
        """Move the closed gripper from one point to another, and retreat."""
        if problem := _problem(start) or _problem(end):
            return Result(False, problem)
        if self.held():
            return Result(False, "The gripper holds something; place it before pushing.")
        for point in (start, end):
            if not self._motion.reaches(_lowered(point)):
                return Result(False, f"The arm cannot reach {_said(point)}.")
        result = self._sweep(_lowered(start), _lowered(end), _said(start))
        self._finish()
        return result

    def _sweep(self, first: np.ndarray, last: np.ndarray, said: str) -> Result:
        motion, arm = self._motion, self._motion.arm
        arm.grip(0.0)
        motion.move(motion.above(first), 0.0, FAST)
        if motion.move(first, 0.0, FAST / 2, motion.blocked):
            through = motion.move(last, 0.0, CAREFUL, motion.behind)
            stopped = _said(1000 * arm.pose()[0])
            result = Result(through, f"The gripper pushed {'to' if through else 'but was blocked at'} {stopped}.")
        else:
            result = Result(False, f"The gripper hit something on its way down to {said}.")
        motion.move(motion.above(arm.pose()[0]), 0.0, FAST)
        arm.grip(OPENING)
        motion.move(HOME, 0.0, FAST)
        return result

    def _finish(self) -> None:
        """Make poses and contacts those of the last instant, as they are after `load`."""
        mujoco.mj_forward(self.model, self.data)
        self._drawn: dict[int, np.ndarray] = {}

    # ---------------------------------------------------------------- looking

    def positions(self) -> dict[str, Point]:
        """The centres of all things, by name."""
        return {name: _point(1000 * self._motion.at(name)) for name in self._motion.things}

    def values(self) -> dict[str, float]:
        """How far each drawer is open, in mm."""
        joints = {thing.name: self.data.joint(thing.name).qpos[0] for thing in self._drawers()}
        return {f"{name}_open_value": 1000 * float(value) for name, value in joints.items()}

    def held(self) -> str | None:
        """What the gripper holds."""
        return self._motion.held()

    def picture(self, size: int) -> np.ndarray:
        """The table from the viewer's place; drawn once for each state."""
        if size not in self._drawn:
            self._drawn[size] = pictures.draw(self.model, self.data, CAMERA, size)
        return self._drawn[size].copy()

    # ---------------------------------------------------------------- saving

    def save(self) -> dict[str, Any]:
        """The simulation; the controller has no memory, and what is held follows from contacts."""
        return {"physics": physics.save(self.model, self.data)}

    def load(self, data: dict[str, Any]) -> None:
        """Inverse of `save`, after `begin` with the same start; ValueError if it does not fit."""
        if not isinstance(data.get("physics"), bytes):
            raise ValueError("the saved table has no physics")
        physics.load_into(self.model, self.data, data["physics"])
        self._drawn = {}

    def close(self) -> None:
        """Nothing to free: renderers belong to the process."""


def _problem(at: Point) -> str | None:
    """Why something cannot be an argument."""
    if len(at) != 3 or not all(isinstance(value, Real) and isfinite(value) for value in at):
        return "Coordinates must be three finite numbers in millimetres."
    for axis, value, (low, high) in zip("xyz", at, WORKSPACE, strict=True):
        if not low <= value <= high:
            return f"{axis} must be between {low:.0f} and {high:.0f}; got {value:g}."
    return None


def _lowered(at: Point) -> np.ndarray:
    """A point in metres, where the gripper's tips clear the table."""
    return np.array([at[0] / 1000, at[1] / 1000, max(at[2] / 1000, LOWEST)])


def _point(values: np.ndarray) -> Point:
    return float(values[0]), float(values[1]), float(values[2])


def _said(at: Point | np.ndarray) -> str:
    return "(" + ", ".join(f"{value:.0f}" for value in at) + ")"
