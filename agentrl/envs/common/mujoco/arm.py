"""Moving a Panda: where its joints must go for the gripper to be at a pose, and what the gripper touches.

The controller has no memory. Each tick computes joint targets from the present joints and the pose that is wanted, and
leaves them in `data.ctrl`, which `physics.save` keeps: a saved simulation continues bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
TRIES, ANSWERS = 60, 256  # steps of a search for joints; answers that are kept
EXACT = 5e-4  # metres and radians within which a pose counts as reached
_READY = np.array(READY)


class Arm:
    """The only Panda of a simulation. Positions in metres in the world's frame, rotations as 3 x 3 matrices."""

    def __init__(self, model: Any, data: Any) -> None:
        self.model, self.data = model, data
        joints = [model.joint(name) for name in (*JOINTS, *FINGERS)]
        self._qpos = np.array([joint.qposadr[0] for joint in joints])
        self._qvel = np.array([joint.dofadr[0] for joint in joints])
        self._dofs = self._qvel[:7]
        self._servos = np.array([model.actuator(name).id for name in JOINTS])
        self._gripper, self._site = model.actuator(GRIPPER).id, model.site(SITE).id
        self._limits = model.jnt_range[[joint.id for joint in joints[:7]]].T
        self._jacobian = np.zeros((6, model.nv))
        bodies = [model.body(body).name for body in model.geom_bodyid]
        self._owner: list[int] = model.geom_bodyid.tolist()
        self._of_arm = [name.startswith("panda_") for name in bodies]
        self._finger_of = [FINGERS.index(name) if name in FINGERS else None for name in bodies]
        self._scratch: Any = None
        self._solved: dict[bytes, np.ndarray | None] = {}

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

    def advance(self, steps: int = STEPS) -> None:
        """Simulate one tick; `EnvFault` if the simulation diverges."""
        mujoco.mj_step(self.model, self.data, steps)
        self.check_speeds()

    def check_speeds(self) -> None:
        """`EnvFault` if the simulation has diverged."""
        if not self.data.qvel @ self.data.qvel < FASTEST**2:
            raise EnvFault("the simulation diverged: speeds are not finite or absurd")

    def pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the gripper is now: the point between the finger pads, and its rotation."""
        mujoco.mj_kinematics(self.model, self.data)
        return self.data.site_xpos[self._site].copy(), self.data.site_xmat[self._site].reshape(3, 3).copy()

    @property
    def addresses(self) -> np.ndarray:
        """Where in `data.qpos` its joints and fingers are."""
        return self._qpos

    def joints(self) -> np.ndarray:
        """The seven angles, then how far each finger is from the middle."""
        return self.data.qpos[self._qpos]

    def speeds(self) -> np.ndarray:
        """How fast each of them changes."""
        return self.data.qvel[self._qvel]

    def opening(self) -> float:
        """How far the fingers are from the middle, on average."""
        return float(self.data.qpos[self._qpos[7:]].mean())

    def wanted_opening(self) -> float:
        """How far from the middle the fingers are told to be."""
        return float(self.data.ctrl[self._gripper])

    def solve(self, position: np.ndarray, rotation: np.ndarray) -> np.ndarray | None:
        """Joints at which the gripper has a pose, searched from the ready posture; None if it is out of reach.

        They depend on nothing but the pose, so that the last answers are kept.
        """
        key = position.tobytes() + rotation.tobytes()
        if key not in self._solved:
            while len(self._solved) >= ANSWERS:
                del self._solved[next(iter(self._solved))]
            found, scratch = None, self.imagine(READY)
            for _ in range(TRIES):
                joints, error = self._towards(scratch, position, rotation)
                if error < EXACT:
                    found = scratch.qpos[self._qpos[:7]].copy()
                    break
                scratch.qpos[self._qpos[:7]] = joints
            self._solved[key] = found
        return self._solved[key]

    def imagine(self, joints: Sequence[float] | np.ndarray, opening: float = OPENING) -> Any:
        """The present simulation with the arm elsewhere, for questions, until the next call; `touched` says what it
        would touch after `mj_fwdPosition`."""
        if self._scratch is None:
            self._scratch = mujoco.MjData(self.model)
        self._scratch.qpos[:], self._scratch.mocap_pos[:] = self.data.qpos, self.data.mocap_pos
        self._scratch.mocap_quat[:] = self.data.mocap_quat
        self._scratch.qpos[self._qpos] = [*joints, opening, opening]
        return self._scratch

    def _towards(self, data: Any, position: np.ndarray, rotation: np.ndarray) -> tuple[np.ndarray, float]:
        """One step of damped least squares to a pose, and how far from it the gripper is."""
        jacobian, joints = self._look(data), data.qpos[self._qpos[:7]]
        error = np.empty(6)
        np.subtract(position, data.site_xpos[self._site], out=error[:3])
        error[3:] = rotation_between(data.site_xmat[self._site].reshape(3, 3), rotation)
        change = _least_squares(jacobian, error, POSTURE * (_READY - joints))
        return np.minimum(np.maximum(joints + change, self._limits[0]), self._limits[1]), float(np.abs(error).max())

    def _look(self, data: Any) -> np.ndarray:
        """Find the gripper's pose, and how the seven joints move it."""
        mujoco.mj_kinematics(self.model, data)
        mujoco.mj_comPos(self.model, data)
        mujoco.mj_jacSite(self.model, data, self._jacobian[:3], self._jacobian[3:], self._site)
        return self._jacobian[:, self._dofs]

    # ---------------------------------------------------------------- touching

    def touched(self, data: Any = None) -> set[int]:
        """The bodies that the arm touches."""
        return {body for _, body in self._contacts(self.data if data is None else data)}

    def pressure(self, ignored: int = -1) -> float:
        """Newtons with which the arm presses against everything but one body."""
        total, force = 0.0, np.empty(6)
        for index, body in self._contacts(self.data):
            if body != ignored:
                mujoco.mj_contactForce(self.model, self.data, index, force)
                total += float(force[0])
        return total

    def grasped(self) -> int | None:
        """The body that both fingers touch."""
        sides: tuple[set[int], ...] = set(), set()
        for a, b in self.data.contact.geom.tolist():
            for mine, other in ((a, b), (b, a)):
                if self._finger_of[mine] is not None:
                    sides[self._finger_of[mine]].add(self._owner[other])
        return min(sides[0] & sides[1], default=None)

    def _contacts(self, data: Any) -> Iterator[tuple[int, int]]:
        """Where the arm touches something: the number of the contact, and the other body."""
        for index, (a, b) in enumerate(data.contact.geom.tolist()):
            if self._of_arm[a] != self._of_arm[b]:
                yield index, self._owner[b if self._of_arm[a] else a]


def _least_squares(jacobian: np.ndarray, wanted: np.ndarray, relaxed: np.ndarray) -> np.ndarray:
    """The change of the joints, nearest to `relaxed`, that gives the gripper the wanted change."""
    square = jacobian @ jacobian.T
    square.flat[::7] += DAMPING
    return relaxed + jacobian.T @ np.linalg.solve(square, wanted - jacobian @ relaxed)


def rotation_between(present: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The axis of the rotation that turns one frame into another, times the sine of its angle."""
    turn = wanted @ present.T
    return np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / 2
