"""The table simulated by MuJoCo: the default, on every machine."""

from __future__ import annotations

from collections.abc import Callable
from math import atan2, ceil, isfinite, pi
from typing import Any

import numpy as np

from agentrl.envs.common.mujoco import physics, pictures
from agentrl.envs.common.mujoco.arm import Arm, pointing_down
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.common.mujoco.panda import OPENING, TIP
from agentrl.envs.primitiveskill.backend import WORKSPACE, Point, Result, Start, Thing
from agentrl.envs.primitiveskill.mujoco_scene import CAMERA, compile_scene

mujoco = load()
HOME = np.array([-0.26, 0.0, 0.32])  # where the arm waits: behind the workspace, out of the viewer's sight
UP = np.array([0.0, 0.0, 1.0])
TICK = 0.02  # seconds of simulation between two commands to the arm
FAST, CAREFUL = 0.6, 0.15  # metres a second
LOWEST = TIP + 0.002  # of the gripper: its tips just clear the table
HARD = 15.0  # newtons: a contact that means the way is blocked


class MujocoBackend:
    """A Panda arm, and things on a table."""

    def begin(self, start: Start) -> None:
        self._things: dict[str, Thing] = {thing.name: thing for thing in start.things}
        self.model = compile_scene(start.things)
        self.data = mujoco.MjData(self.model)
        self.arm = Arm(self.model, self.data)
        self._bodies = {self.model.body(name).id: name for name in self._things}
        for name, (x, y, angle) in start.places.items():
            self._put(self._things[name], x / 1000, y / 1000, angle)
        joints = self.arm.solve(HOME, pointing_down(0.0))
        assert joints is not None
        self.arm.rest(joints)
        for _ in range(5):
            self.arm.advance()
        self._finish()

    def _put(self, thing: Thing, x: float, y: float, angle: float) -> None:
        quaternion = np.empty(4)
        mujoco.mju_axisAngle2Quat(quaternion, np.array([0.0, 0.0, 1.0]), angle)
        if thing.shape in ("cube", "sphere"):
            at = self.model.joint(thing.name).qposadr[0]
            self.data.qpos[at : at + 7] = [x, y, thing.size / 1000, *quaternion]
        else:
            at = self.model.body_mocapid[self.model.body(thing.name).id]
            self.data.mocap_pos[at], self.data.mocap_quat[at] = (x, y, 0.0), quaternion

    # ---------------------------------------------------------------- primitives

    def pick(self, at: Point) -> Result:
        if problem := self._problem(at):
            return Result(False, problem)
        if self.held():
            return Result(False, "The gripper already holds something; place it first.")
        goal = np.array(at) / 1000
        goal[2] = max(goal[2], LOWEST)
        yaw = self._yaw_for(goal)
        if yaw is None:
            return Result(False, f"The arm cannot reach {_said(at)}.")
        result = self._grasp(goal, yaw, at)
        self._finish()
        return result

    def _grasp(self, goal: np.ndarray, yaw: float, at: Point) -> Result:
        self.arm.grip(OPENING)
        above = self._above(goal)
        self._move(above, yaw, FAST)
        if not self._move(goal + UP * 0.04, yaw, FAST, self._blocked) or not self._move(
            goal, yaw, CAREFUL, self._blocked
        ):
            self._move(above, yaw, FAST)
            return Result(False, f"The gripper hit something on its way down to {_said(at)}.")
        self._close()
        caught = self.arm.grasped() in self._bodies
        self._move(above, yaw, FAST / 2)
        if not caught:
            self.arm.grip(OPENING)
            self._wait(10)
            return Result(False, f"The gripper closed on nothing at {_said(at)}.")
        if self.arm.grasped() not in self._bodies:
            return Result(False, f"What was grasped at {_said(at)} slipped out of the gripper.")
        return Result(True, f"The gripper holds what was at {_said(at)}.")

    def place(self, at: Point) -> Result:
        if problem := self._problem(at):
            return Result(False, problem)
        name = self.held()
        if name is None:
            return Result(False, "The gripper holds nothing to place.")
        goal = np.array(at) / 1000 - self._offset(name)
        if self.arm.solve(goal, pointing_down(0.0)) is None:
            return Result(False, f"The arm cannot reach {_said(at)}.")
        result = self._put_down(name, at)
        self._finish()
        return result

    def _offset(self, name: str) -> np.ndarray:
        return self.data.body(name).xpos - self.arm.pose()[0]

    def _put_down(self, name: str, at: Point) -> Result:
        goal = np.array(at) / 1000
        self._move(self._above(goal), 0.0, FAST)
        goal -= self._offset(name)
        above = self._above(goal)
        self._move(above, 0.0, FAST)
        touched = not self._move(goal, 0.0, FAST / 2, lambda: self._rests(name))
        if not touched:
            floor = np.array([goal[0], goal[1], LOWEST])
            self._move(floor, 0.0, CAREFUL, lambda: self._rests(name))
        self.arm.grip(min(self.arm.opening() + 0.012, OPENING))
        self._wait(12)
        position = self.arm.pose()[0]
        self._move(position + UP * 0.05, 0.0, CAREFUL)
        self.arm.grip(OPENING)
        self._move(self._above(position), 0.0, FAST)
        self._move(HOME, 0.0, FAST)
        return Result(True, f"The gripper released what it held at {_said(at)}.")

    def push(self, start: Point, end: Point) -> Result:
        if problem := self._problem(start) or self._problem(end):
            return Result(False, problem)
        if self.held():
            return Result(False, "The gripper holds something; place it before pushing.")
        first, last = (np.maximum(np.array(point) / 1000, (-np.inf, -np.inf, LOWEST)) for point in (start, end))
        for point, said in ((first, start), (last, end)):
            if self.arm.solve(point, pointing_down(0.0)) is None:
                return Result(False, f"The arm cannot reach {_said(said)}.")
        result = self._sweep(first, last, start)
        self._finish()
        return result

    def _sweep(self, first: np.ndarray, last: np.ndarray, start: Point) -> Result:
        self.arm.grip(0.0)
        self._move(self._above(first), 0.0, FAST)
        if not self._move(first, 0.0, FAST / 2, self._blocked):
            result = Result(False, f"The gripper hit something on its way down to {_said(start)}.")
        else:
            self._move(last, 0.0, CAREFUL)
            stopped = self.arm.pose()[0]
            arrived = np.linalg.norm(stopped - last) < 0.015
            at = _said(tuple(1000 * stopped))
            result = (
                Result(True, f"The gripper pushed to {at}.")
                if arrived
                else Result(False, f"The push was blocked at {at}.")
            )
        self._move(self._above(self.arm.pose()[0]), 0.0, FAST / 2)
        self._move(HOME, 0.0, FAST)
        self.arm.grip(OPENING)
        self._wait(10)
        return result

    def _problem(self, at: Point) -> str | None:
        """Why a point cannot be an argument."""
        if len(at) != 3 or not all(isinstance(value, (int, float)) and isfinite(value) for value in at):
            return "Coordinates must be three finite numbers in millimetres."
        for axis, value, (low, high) in zip("xyz", at, WORKSPACE, strict=True):
            if not low <= value <= high:
                return f"{axis} must be between {low:.0f} and {high:.0f}; got {value:.0f}."
        return None

    def _yaw_for(self, goal: np.ndarray) -> float | None:
        """A yaw at which the open gripper fits around what stands at a point."""
        turned = self._angle_at(goal)
        candidates = [turned, turned - pi / 2 if turned > 0 else turned + pi / 2]
        reached = []
        for yaw in candidates:
            joints = self.arm.solve(goal, pointing_down(yaw))
            if joints is None:
                continue
            reached.append(yaw)
            scratch = self.arm.imagine(joints)
            mujoco.mj_forward(self.model, scratch)
            if not self.arm.touched(scratch):
                return yaw
        return reached[0] if reached else None

    def _angle_at(self, goal: np.ndarray) -> float:
        """The angle of the cube nearest to a point, between -45 and 45 degrees; 0 if none is near."""
        cubes = [name for name, thing in self._things.items() if thing.shape == "cube"]
        near = {name: float(np.linalg.norm(self.data.body(name).xpos - goal)) for name in cubes}
        name = min(near, key=near.__getitem__, default=None)
        if name is None or near[name] > 1.5 * self._things[name].size / 1000:
            return 0.0
        across = self.data.body(name).xmat.reshape(3, 3)[:, 0]
        return (atan2(across[1], across[0]) + pi / 4) % (pi / 2) - pi / 4

    # ---------------------------------------------------------------- moving

    def _above(self, goal: np.ndarray) -> np.ndarray:
        """Over a point, high enough for what is held to pass over everything else."""
        held = self.held()
        tops = [self.data.body(n).xpos[2] + t.size / 1000 for n, t in self._things.items() if n != held]
        hanging = self._things[held].size / 1000 if held else TIP
        return np.array([goal[0], goal[1], max(goal[2] + 0.03, max(tops, default=0.0) + hanging + 0.04, 0.15)])

    def _move(self, to: np.ndarray, yaw: float, speed: float, until: Callable[[], bool] | None = None) -> bool:
        """Take the gripper straight to a point; False if `until` became true on the way."""
        start, rotation = self.arm.pose()
        turned = atan2(rotation[1, 0], rotation[0, 0])
        ticks = ceil(max(1.5 * float(np.linalg.norm(to - start)) / speed, abs(yaw - turned) / 2.0, TICK) / TICK)
        for tick in range(1, ticks + 15):
            share = min(tick / ticks, 1.0)
            share = share * share * (3 - 2 * share)
            self.arm.steer(start + share * (to - start), pointing_down(turned + share * (yaw - turned)))
            self.arm.advance()
            if until and until():
                return False
            if tick >= ticks and np.linalg.norm(self.arm.pose()[0] - to) < 0.001:
                break
        return True

    def _wait(self, ticks: int) -> None:
        for _ in range(ticks):
            self.arm.advance()

    def _close(self) -> None:
        self.arm.grip(0.0)
        self._wait(15)

    def _blocked(self) -> bool:
        return any(force > HARD for _, force in self.arm.touched())

    def _rests(self, name: str) -> bool:
        """Does a held thing touch anything but the gripper?"""
        body = self.model.body(name).id
        owner = self.model.geom_bodyid[self.data.contact.geom]
        return any(
            body in pair and not all(p == body or self.model.body(p).name.startswith("panda_") for p in pair)
            for pair in owner.tolist()
        )

    def _finish(self) -> None:
        mujoco.mj_forward(self.model, self.data)
        self._drawn: dict[int, np.ndarray] = {}

    # ---------------------------------------------------------------- looking

    def positions(self) -> dict[str, Point]:
        return {name: tuple(float(v) * 1000 for v in self.data.body(name).xpos) for name in self._things}  # type: ignore[misc]

    def values(self) -> dict[str, float]:
        return {}

    def held(self) -> str | None:
        body = self.arm.grasped()
        return None if body is None else self._bodies.get(body)

    def picture(self, size: int) -> np.ndarray:
        if size not in self._drawn:
            self._drawn[size] = pictures.draw(self.model, self.data, CAMERA, size)
        return self._drawn[size].copy()

    def save(self) -> dict[str, Any]:
        return {"physics": physics.save(self.model, self.data)}

    def load(self, data: dict[str, Any]) -> None:
        physics.load_into(self.model, self.data, data["physics"])
        self._drawn = {}

    def close(self) -> None:
        pass


def _said(at: Point) -> str:
    return "(" + ", ".join(f"{value:.0f}" for value in at) + ")"
