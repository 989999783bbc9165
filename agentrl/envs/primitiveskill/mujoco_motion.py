"""The arm among the things on the table, in MuJoCo."""

from __future__ import annotations

from typing import Any

import numpy as np

from agentrl.envs.common.gripper import pointing_down
from agentrl.envs.common.mujoco.arm import STEPS, Arm
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.primitiveskill.backend import Thing
from agentrl.envs.primitiveskill.motion import HARD, Motion
from agentrl.envs.primitiveskill.shapes import MOVABLE

mujoco = load()


class MujocoMotion(Motion):
    """Reads contacts and poses from a simulation."""

    arm: Arm
    settling, slack = 15, 0.03

    def __init__(self, model: Any, data: Any, things: dict[str, Thing]) -> None:
        self.model, self.data, self.things = model, data, things
        self.arm = Arm(model, data)
        self._movable = {model.body(name).id: name for name, thing in things.items() if thing.shape in MOVABLE}
        self._of_arm = np.array([model.body(body).name.startswith("panda_") for body in range(model.nbody)])
        self.tick = STEPS * model.opt.timestep

    def held(self) -> str | None:
        """The thing between the fingers."""
        body = self.arm.grasped()
        return None if body is None else self._movable.get(body)

    def at(self, name: str) -> np.ndarray:
        """The middle of a thing."""
        return self.data.body(name).xpos.copy()

    def side(self, name: str) -> np.ndarray:
        """The direction of a cube's x axis."""
        return self.data.body(name).xmat.reshape(3, 3)[:, 0]

    def blocked(self) -> bool:
        """Does the arm press against anything?"""
        return sum(force for _, force in self.arm.touched()) > HARD

    def landed(self, name: str) -> bool:
        """Does a held thing touch anything but the arm, or the arm press against anything else?"""
        body = self.model.body(name).id
        owners = self.model.geom_bodyid[self.data.contact.geom]
        mine = (owners == body).any(axis=1) & ~self._of_arm[owners].any(axis=1)
        return bool(mine.any()) or sum(force for other, force in self.arm.touched() if other != body) > HARD

    def fits(self, point: np.ndarray, yaw: float, opening: float, held: str | None) -> bool:
        """Would the gripper, opened that far, touch nothing at a point but what it holds?"""
        joints = self.arm.solve(point, pointing_down(yaw))
        if joints is None:
            return False
        scratch = self.arm.imagine(joints, opening)
        mujoco.mj_forward(self.model, scratch)
        ignored = self.model.body(held).id if held else -1
        return all(body == ignored for body, _ in self.arm.touched(scratch))
