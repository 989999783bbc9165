"""Moving a Panda: where its joints must go for the gripper to be at a pose, and what the gripper touches.

The controller has no memory. Each tick computes joint targets from the present joints and the pose that is wanted, and
leaves them in `data.ctrl`, which `physics.save` keeps: a saved simulation continues bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agentrl.core.errors import EnvFault
from agentrl.envs.common.gripper import OPENING, READY
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.common.mujoco.panda import FINGERS, GRIPPER, JOINTS, SITE

mujoco = load()
STEPS = 10  # of the simulator in a tick of the controller
DAMPING = 1e-4  # of the least squares, squared: near the arm's full stretch joints stay slow
POSTURE = 0.02  # share of the way back to the ready posture in each tick, as far as the gripper's pose allows
FASTEST = 1e3  # metres or radians a second; more, or no number at all, is a broken simulation
EXACT = 5e-4  # metres and radians within which a pose counts as reached
_READY = np.array(READY)


class Arm:
    """The only Panda of a simulation. Positions in metres in the world's frame, rotations as 3 x 3 matrices."""

    def __init__(self, model: Any, data: Any) -> None:
        self.model, self.data = model, data
        joints = [model.joint(name) for name in (*JOINTS, *FINGERS)]
        self._qpos = np.array([joint.qposadr[0] for joint in joints])
        self._dofs = np.array([joint.dofadr[0] for joint in joints])[:7]
        self._servos = np.array([model.actuator(name).id for name in JOINTS])
        self._gripper, self._site = model.actuator(GRIPPER).id, model.site(SITE).id
        self._limits = model.jnt_range[[joint.id for joint in joints[:7]]].T
        self._jacobian = np.zeros((6, model.nv))
        bodies = [model.body(body).name for body in model.geom_bodyid]
        self._of_arm = np.array([name.startswith("panda_") for name in bodies])
        self._of_finger = [np.array([name == finger for name in bodies]) for finger in FINGERS]

    # ---------------------------------------------------------------- moving

    def rest(self, joints: Sequence[float] | np.ndarray, opening: float = OPENING) -> None:
        """Put the arm somewhere at once, at rest; for the beginning of an episode."""
        self.data.qpos[self._qpos] = [*joints, opening, opening]
        self.data.ctrl[self._servos], self.data.ctrl[self._gripper] = joints, opening

    def grip(self, opening: float) -> None:
        """Tell each finger how far from the middle to go; 0 grasps."""
        self.data.ctrl[self._gripper] = opening

    def steer(self, position: np.ndarray, rotation: np.ndarray) -> None:
        """Aim the servos at a pose that is near the present one."""
        self.data.ctrl[self._servos] = self._towards(self.data, position, rotation)[0]

    def advance(self) -> None:
        """Simulate one tick; `EnvFault` if the simulation diverges."""
        mujoco.mj_step(self.model, self.data, STEPS)
        if not (np.abs(self.data.qvel) < FASTEST).all():
            raise EnvFault("the simulation diverged: speeds are not finite or absurd")

    def pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the gripper is now: the point between the finger pads, and its rotation."""
        mujoco.mj_kinematics(self.model, self.data)
        return self.data.site_xpos[self._site].copy(), self.data.site_xmat[self._site].reshape(3, 3).copy()

    def opening(self) -> float:
        """How far the fingers are from the middle, on average."""
        return float(self.data.qpos[self._qpos[7:]].mean())

    def solve(self, position: np.ndarray, rotation: np.ndarray, tries: int = 60) -> np.ndarray | None:
        """Joints at which the gripper has a pose, searched from the ready posture; None if it is out of reach."""
        scratch = self.imagine(READY)
        for _ in range(tries):
            joints, error = self._towards(scratch, position, rotation)
            if error < EXACT:
                return scratch.qpos[self._qpos[:7]].copy()
            scratch.qpos[self._qpos[:7]] = joints
        return None

    def imagine(self, joints: Sequence[float] | np.ndarray, opening: float = OPENING) -> Any:
        """The present simulation with the arm elsewhere, for questions; `touched` says what it would touch."""
        scratch = mujoco.MjData(self.model)
        scratch.qpos[:], scratch.mocap_pos[:] = self.data.qpos, self.data.mocap_pos
        scratch.mocap_quat[:] = self.data.mocap_quat
        scratch.qpos[self._qpos] = [*joints, opening, opening]
        return scratch

    def _towards(self, data: Any, position: np.ndarray, rotation: np.ndarray) -> tuple[np.ndarray, float]:
        """One step of damped least squares to a pose, and how far from it the gripper is."""
        mujoco.mj_kinematics(self.model, data)
        mujoco.mj_comPos(self.model, data)
        mujoco.mj_jacSite(self.model, data, self._jacobian[:3], self._jacobian[3:], self._site)
        error = np.empty(6)
        np.subtract(position, data.site_xpos[self._site], out=error[:3])
        error[3:] = _rotation_between(data.site_xmat[self._site].reshape(3, 3), rotation)
        jacobian, joints = self._jacobian[:, self._dofs], data.qpos[self._qpos[:7]]
        relax = POSTURE * (_READY - joints)
        square = jacobian @ jacobian.T
        square.flat[::7] += DAMPING
        change = relax + jacobian.T @ np.linalg.solve(square, error - jacobian @ relax)
        return np.minimum(np.maximum(joints + change, self._limits[0]), self._limits[1]), float(np.abs(error).max())

    # ---------------------------------------------------------------- touching

    def touched(self, data: Any = None) -> list[tuple[int, float]]:
        """What the arm touches: the body of each contact and its force in newtons."""
        data = data or self.data
        geoms = data.contact.geom
        arm = self._of_arm[geoms] if len(geoms) else np.zeros((0, 2), bool)
        found, force = [], np.empty(6)
        for index in np.flatnonzero(arm.any(axis=1)):
            mujoco.mj_contactForce(self.model, data, index, force)
            found.append((int(self.model.geom_bodyid[geoms[index][~arm[index]][0]]), float(force[0])))
        return found

    def grasped(self) -> int | None:
        """The body that both fingers touch."""
        geoms, owner = self.data.contact.geom, self.model.geom_bodyid
        if not len(geoms):
            return None
        sides = []
        for finger in self._of_finger:
            mine = finger[geoms]
            sides.append(set(owner[geoms[mine.any(axis=1)][~mine[mine.any(axis=1)]]].tolist()))
        return min(sides[0] & sides[1], default=None)


def _rotation_between(present: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The axis of the rotation that turns one frame into another, times the sine of its angle."""
    turn = wanted @ present.T
    return np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / 2
