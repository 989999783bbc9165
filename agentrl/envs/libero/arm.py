"""The Panda with the masses, motors and frictions that it has in robosuite, so that the same torques move it alike.

Shapes stay ours. Numbers are those of robosuite's model, whose joints have far more inertia than Franka's links: their
motors are counted in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi
from typing import Any, NamedTuple

import numpy as np

from agentrl.envs.common.gripper import OPENING
from agentrl.envs.common.mujoco.arm import Arm
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.common.mujoco.panda import FINGERS, JOINTS, Vector, set_damping

mujoco = load()
READY = (0.0, -0.161037389, 0.0, -2.44459747, 0.0, 2.2267522, pi / 4)  # joints at the start, in LIBERO
HAND = "panda_hand"
# Our hand is moved to where its grip site is robosuite's, 203.5 mm from the last joint, and turned as robosuite's is.
HAND_AT, HAND_TURNED = (0.0, 0.0, 0.1001), (0.924, 0.0, 0.0, -0.383)
WRIST_AT = 0.0064  # metres from there to robosuite's hand, along z


class Body(NamedTuple):
    """How something weighs: kilograms, where its middle is, and its inertia about its own axes."""

    mass: float
    middle: Vector
    inertia: Vector


BODIES = {
    "panda_link1": Body(3.0, (0.0, 0.0, -0.07), (0.3, 0.3, 0.3)),
    "panda_link2": Body(3.0, (0.0, -0.1, 0.0), (0.3, 0.3, 0.3)),
    "panda_link3": Body(2.0, (0.04, 0.0, -0.05), (0.2, 0.2, 0.2)),
    "panda_link4": Body(2.0, (-0.04, 0.05, 0.0), (0.2, 0.2, 0.2)),
    "panda_link5": Body(2.0, (0.0, 0.0, -0.15), (0.2, 0.2, 0.2)),
    "panda_link6": Body(1.5, (0.06, 0.0, 0.0), (0.1, 0.1, 0.1)),
    "panda_link7": Body(0.5, (0.0, 0.0, 0.08), (0.05, 0.05, 0.05)),
    HAND: Body(0.5, (0.0, 0.0, WRIST_AT), (0.05, 0.05, 0.05)),
    **{finger: Body(0.1, (0.0, 0.0, 0.05), (0.01, 0.01, 0.005)) for finger in FINGERS},
}
# What robosuite has as bodies of their own, each welded to one of ours: the air pulls at each by its inertia.
GRIPPER = Body(0.3, (0.0, 0.0, WRIST_AT + 0.17), (0.05, 0.09, 0.07))
FINGER_TIP = Body(0.01, (0.0, 0.0085, 0.056), (0.01, 0.01, 0.01))
AIR = (1.2, 0.00002)  # density and viscosity: inertias are so large that it brakes fast turns of the hand
TORQUES = (80.0, 80.0, 80.0, 80.0, 80.0, 12.0, 12.0)  # newton metres, what the arm weighs included
ARMATURE = 5.0  # of the first joint; of the n-th it is the n-th part
DAMPING = (0.1, 0.1, 0.1, 0.1, 0.1, 0.01, 0.01)
FRICTION = 0.1


def use_torques(spec: Any) -> None:
    """Give the Panda of a scene motors in place of its servos, and robosuite's weights."""
    hand = spec.body(HAND)
    hand.pos, hand.quat = HAND_AT, HAND_TURNED
    spec.option.density, spec.option.viscosity = AIR
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER  # as there; an implicit one takes long about the air
    for name, weight in BODIES.items():
        _weigh(spec.body(name), weight)
    _weigh(hand.add_body(gravcomp=1.0), GRIPPER)
    for finger in FINGERS:
        _weigh(spec.body(finger).add_body(gravcomp=1.0), FINGER_TIP)
    for number, (name, torque, damping) in enumerate(zip(JOINTS, TORQUES, DAMPING, strict=True), start=1):
        joint, motor = spec.joint(name), spec.actuator(name)
        joint.armature, joint.frictionloss = ARMATURE / number, FRICTION
        set_damping(joint, damping)
        joint.actfrclimited, joint.actfrcrange, joint.actgravcomp = True, (-torque, torque), True
        motor.biastype = mujoco.mjtBias.mjBIAS_NONE
        motor.gainprm[0], motor.biasprm[1], motor.biasprm[2] = 1.0, 0.0, 0.0
        motor.ctrllimited, motor.forcelimited = False, False


def _weigh(body: Any, weight: Body) -> None:
    body.mass, body.ipos, body.inertia = weight
    body.explicitinertial = True


class Torques(NamedTuple):
    """Torques as a function of the joints, near where they were found: constant - angles q - speeds qdot."""

    constant: np.ndarray
    angles: np.ndarray
    speeds: np.ndarray


class Moment(NamedTuple):
    """How an arm stands: views of the simulation, good until it goes on."""

    joints: np.ndarray  # [7]
    mass: np.ndarray  # inertia of the joints, [7, 7]
    jacobian: np.ndarray  # how they move the gripper, [6, 7]
    position: np.ndarray  # of the gripper
    rotation: np.ndarray  # [3, 3]


class TorqueArm(Arm):
    """A Panda that is moved by torques."""

    def __init__(self, model: Any, data: Any) -> None:
        super().__init__(model, data)
        first, dof, motor = int(self._qpos[0]), int(self._dofs[0]), int(self._servos[0])
        self._angles, self._speeds = data.qpos[first : first + 7], data.qvel[dof : dof + 7]  # views: the joints lie
        self._torques = data.ctrl[motor : motor + 7]  # side by side
        self._bias, self._weight = data.qfrc_bias[dof : dof + 7], data.qfrc_gravcomp[dof : dof + 7]
        self._inertia = np.zeros((model.nv, model.nv))
        self._span = slice(dof, dof + 7)

    def rest(self, joints: Sequence[float] | np.ndarray, opening: float = OPENING) -> None:
        """Put the arm somewhere at once, at rest and without torques."""
        super().rest(joints, opening)
        self._torques[:] = 0.0

    def push(self, law: Callable[[Moment], Torques], steps: int) -> None:
        """Simulate some steps with the torques of a law, which is asked at the first of them, and with those that
        balance Coriolis forces then; `EnvFault` if the simulation diverges."""
        mujoco.mj_step1(self.model, self.data)  # finds poses, inertia and forces of motion; torques come after it
        constant, angles, speeds = law(self._look_at_joints())
        constant = constant + self._bias - self._weight
        for step in range(steps):
            if step:
                mujoco.mj_step1(self.model, self.data)
            self._torques[:] = constant - angles @ self._angles - speeds @ self._speeds
            mujoco.mj_step2(self.model, self.data)
        self.check_speeds()

    def _look_at_joints(self) -> Moment:
        """How the arm stands in the middle of a step, where the simulator knows its poses and inertia."""
        mujoco.mj_jacSite(self.model, self.data, self._jacobian[:3], self._jacobian[3:], self._site)
        if hasattr(self.data, "qM"):
            mujoco.mj_fullM(self.model, self._inertia, self.data.qM)
        else:  # in newer versions of MuJoCo
            mujoco.mj_fullM(self.model, self.data, self._inertia)
        position, rotation = self.data.site_xpos[self._site], self.data.site_xmat[self._site].reshape(3, 3)
        mass, jacobian = self._inertia[self._span, self._span], self._jacobian[:, self._span]
        return Moment(self._angles, mass, jacobian, position, rotation)
