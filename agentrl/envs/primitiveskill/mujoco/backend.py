"""The table simulated by MuJoCo: the default, on every machine.

Sizes that tasks may rely on: a `drawer` of size s is a box of 2s x 2s whose position is its own middle, so it moves
when the drawer is pushed; its place in `Start` is where that middle is when the drawer is closed, and its angle turns
the direction in which it opens (0: towards the viewer). The handle sticks out of the front by 0.16 s.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agentrl.envs.common.gripper import pointing_down
from agentrl.envs.common.mujoco import physics, pictures
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.primitiveskill.backend import Start, Thing
from agentrl.envs.primitiveskill.motion import UP
from agentrl.envs.primitiveskill.mujoco.motion import MujocoMotion
from agentrl.envs.primitiveskill.mujoco.scene import CAMERA, compile_scene
from agentrl.envs.primitiveskill.primitives import HOME, Primitives
from agentrl.envs.primitiveskill.shapes import MOVABLE, opening_of

mujoco = load()


class MujocoBackend(Primitives):
    """A Panda arm, and things on a table."""

    _motion: MujocoMotion

    def begin(self, start: Start) -> None:
        """Set the table; the arm is at rest above it."""
        things = {thing.name: thing for thing in start.things}
        self.model = compile_scene(start.things)
        self.data = mujoco.MjData(self.model)
        self._motion = MujocoMotion(self.model, self.data, things)
        for name, (x, y, angle) in start.places.items():
            quaternion, shape = np.empty(4), things[name].shape
            mujoco.mju_axisAngle2Quat(quaternion, UP, angle)
            if shape in MOVABLE:
                at = self.model.joint(name).qposadr[0]
                self.data.qpos[at : at + 7] = [x / 1000, y / 1000, things[name].size / 1000, *quaternion]
            else:
                at = self.model.body_mocapid[self.model.body(f"{name}_cabinet" if shape == "drawer" else name).id]
                self.data.mocap_pos[at], self.data.mocap_quat[at] = (x / 1000, y / 1000, 0.0), quaternion
        for thing in self._drawers():
            self.data.qpos[self.model.joint(thing.name).qposadr[0]] = opening_of(thing, start.values)
        joints = self._motion.arm.solve(HOME, pointing_down(0.0))
        assert joints is not None, "the arm reaches its own home"
        self._motion.arm.rest(joints)
        self._motion.wait(5)
        self._finish()

    def _drawers(self) -> list[Thing]:
        return [thing for thing in self._motion.things.values() if thing.shape == "drawer"]

    def _finish(self) -> None:
        """Make poses and contacts those of the last instant, as they are after `load`."""
        mujoco.mj_forward(self.model, self.data)
        self._drawn: dict[int, np.ndarray] = {}

    # ---------------------------------------------------------------- looking

    def values(self) -> dict[str, float]:
        """How far each drawer is open, in mm."""
        joints = {thing.name: self.data.joint(thing.name).qpos[0] for thing in self._drawers()}
        return {f"{name}_open_value": 1000 * float(value) for name, value in joints.items()}

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
