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
        self._of_arm = [model.body(body).name.startswith("panda_") for body in range(model.nbody)]
        self._owner: list[int] = model.geom_bodyid.tolist()
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
        return self.arm.pressure() > HARD

    def landed(self, name: str) -> bool:
        """Does a held thing touch anything but the arm, or the arm press against anything else?"""
        body = self.model.body(name).id
        for a, b in self.data.contact.geom.tolist():
            other = self._owner[b] if self._owner[a] == body else self._owner[a] if self._owner[b] == body else None
            if other is not None and not self._of_arm[other]:
                return True
        return self.arm.pressure(ignored=body) > HARD

    def fits(self, point: np.ndarray, yaw: float, opening: float, held: str | None) -> bool:
        """Would the gripper, opened that far, touch nothing at a point but what it holds?"""
        joints = self.arm.solve(point, pointing_down(yaw))
        if joints is None:
            return False
        scratch = self.arm.imagine(joints, opening)
        mujoco.mj_fwdPosition(self.model, scratch)
        ignored = {self.model.body(held).id} if held else set()
        return self.arm.touched(scratch) <= ignored
