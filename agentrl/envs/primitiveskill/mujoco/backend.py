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
from agentrl.envs.common.mujoco.arm import STEPS, Arm
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.primitiveskill.backend import Start, Thing
from agentrl.envs.primitiveskill.motion import HARD, UP, Motion
from agentrl.envs.primitiveskill.mujoco.scene import CAMERA, compile_scene
from agentrl.envs.primitiveskill.primitives import HOME, Primitives
from agentrl.envs.primitiveskill.shapes import MOVABLE, opening_of

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


class MujocoBackend(Primitives):
    """A Panda arm, and things on a table."""

    _motion: MujocoMotion

    def begin(self, start: Start) -> None:
        """Set the table; the arm is at rest above it."""
        things = {thing.name: thing for thing in start.things}
        self.model = compile_scene(start.things, start.look)
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
