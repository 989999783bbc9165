"""robosuite's law of control as kernels, one thread for each world: torques that pull the gripper to a goal as a
critically damped spring would, by the inertia that it feels there, and draw the joints to a posture as far as that
leaves the gripper in its place.

An action without a rotation keeps the orientation that an earlier one asked for. The law is found anew in every tick of
the controller, Coriolis forces included; in between, the torques follow the joints' angles and speeds.
"""

# pyright: reportInvalidTypeForm=false, reportIndexIssue=false, reportOperatorIssue=false

from collections.abc import Sequence
from math import sqrt
from typing import Any, NamedTuple

from agentrl.envs.common.gripper import OPENING
from agentrl.envs.common.warp.law import ArmPlace, rotation_between
from agentrl.envs.common.warp.loading import torch, wp

vec7 = wp.types.vector(7, wp.float64)
mat77 = wp.types.matrix((7, 7), wp.float64)  # the gripper's six directions are the first rows, and the last is empty


class Gains(NamedTuple):
    """How an action of seven numbers moves the gripper."""

    metres: float  # that a coordinate of 1 means
    radians: float
    stiffness: float
    damping: float
    finger_speed: float  # metres a second
    ticks: int  # of the controller in an action
    seconds: float  # of an action


class Posture(NamedTuple):
    """What the joints are drawn to."""

    joints: Sequence[float]
    stiffness: float


class SpringTorques:
    """The law for `count` worlds of a model whose joints are moved by motors."""

    def __init__(self, model: Any, count: int, gains: Gains, posture: Posture) -> None:
        self.gains, self.steps = gains, round(gains.seconds / model.opt.timestep)
        self._place, self._posture = ArmPlace.of(model), posture
        self._actions, self._aims = wp.zeros((count, 7), dtype=float), wp.zeros(count, dtype=wp.vec3)
        self._orientations = wp.zeros(count, dtype=wp.mat33)
        self._constant = wp.zeros(count, dtype=vec7)
        self._angles, self._speeds = wp.zeros(count, dtype=mat77), wp.zeros(count, dtype=mat77)
        self._rows = wp.array(model.M_rowadr[self._place.dof : self._place.dof + 7], dtype=int)
        self.actions: torch.Tensor = wp.to_torch(self._actions)
        self.memory = {"orientation": wp.to_torch(self._orientations)}

    def begin(self, data: Any) -> None:
        """Keep the present orientations: episodes begin. `data` knows the poses of this moment."""
        wp.launch(keep, dim=data.nworld, inputs=[data.site_xmat, self._place.site], outputs=[self._orientations])

    def __call__(self, number: Any, data: Any) -> None:
        """Set the torques of step `number[0]` of an action; `data` knows poses, inertia and bias of this moment."""
        place, gains, posture = self._place, self.gains, self._posture
        wp.launch(
            aim,
            dim=data.nworld,
            inputs=[number, self._actions, data.site_xpos, data.site_xmat, place.site, gains.metres, gains.radians],
            outputs=[self._aims, self._orientations],
        )
        wp.launch(
            find_torques,
            dim=data.nworld,
            inputs=[
                number, self.steps // gains.ticks, self._actions, self._aims, self._orientations, data.qpos,
                data.xanchor, data.xaxis, data.site_xpos, data.site_xmat, data.M, self._rows, data.qfrc_bias,
                data.qfrc_gravcomp, place.joint, place.qpos, place.dof, place.gripper, place.site, gains.stiffness,
                gains.damping, posture.stiffness, 2.0 * sqrt(posture.stiffness),
                gains.finger_speed * gains.seconds / gains.ticks, vec7(*posture.joints),
            ],
            outputs=[self._constant, self._angles, self._speeds, data.ctrl],
        )  # fmt: skip
        wp.launch(
            push,
            dim=data.nworld,
            inputs=[
                self._constant, self._angles, self._speeds, data.qpos, data.qvel, place.qpos, place.dof, place.servo,
            ],
            outputs=[data.ctrl],
        )  # fmt: skip


@wp.kernel
def keep(site_xmat: wp.array2d[wp.mat33], site: int, orientations: wp.array[wp.mat33]) -> None:
    """Remember how each gripper is turned."""
    world = wp.tid()
    orientations[world] = site_xmat[world, site]


@wp.kernel
def aim(
    number: wp.array[int],
    actions: wp.array2d[float],
    site_xpos: wp.array2d[wp.vec3],
    site_xmat: wp.array2d[wp.mat33],
    site: int,
    metres: float,
    radians: float,
    aims: wp.array[wp.vec3],
    orientations: wp.array[wp.mat33],
) -> None:
    """The pose that each action asks for, at its first step; without a rotation, the orientation that is remembered."""
    world = wp.tid()
    if number[0] > 0:
        return
    aims[world] = site_xpos[world, site] + metres * wp.vec3(actions[world, 0], actions[world, 1], actions[world, 2])
    about = wp.vec3(actions[world, 3], actions[world, 4], actions[world, 5]) * radians
    if wp.length(about) > 0.0:
        orientations[world] = turn_of(about) * site_xmat[world, site]


@wp.kernel
def find_torques(
    number: wp.array[int],
    steps: int,
    actions: wp.array2d[float],
    aims: wp.array[wp.vec3],
    orientations: wp.array[wp.mat33],
    qpos: wp.array2d[float],
    xanchor: wp.array2d[wp.vec3],
    xaxis: wp.array2d[wp.vec3],
    site_xpos: wp.array2d[wp.vec3],
    site_xmat: wp.array2d[wp.mat33],
    inertia: wp.array2d[float],
    inertia_rows: wp.array[int],
    bias: wp.array2d[float],
    weight: wp.array2d[float],
    joint: int,
    first: int,
    dof: int,
    gripper: int,
    site: int,
    stiffness: wp.float64,
    damping: wp.float64,
    posture: wp.float64,
    posture_damping: wp.float64,
    finger_way: float,
    ready: vec7,
    constant: wp.array[vec7],
    angles: wp.array[mat77],
    speeds: wp.array[mat77],
    ctrl: wp.array2d[float],
) -> None:
    """Torques as a function of the joints near where they are at the first step of a tick: constant - angles q - speeds
    qdot."""
    world = wp.tid()
    if number[0] % steps > 0:
        return
    at = site_xpos[world, site]
    way = aims[world] - at
    turn = rotation_between(site_xmat[world, site], orientations[world])
    jacobian, mass, together, apart = mat77(), mat77(), mat77(), mat77()
    error, joints, coriolis = vec7(), vec7(), vec7()
    for k in range(7):
        axis = xaxis[world, joint + k]
        sweep = wp.cross(axis, at - xanchor[world, joint + k])
        joints[k] = wp.float64(qpos[world, first + k])
        coriolis[k] = wp.float64(bias[world, dof + k] - weight[world, dof + k])  # weight is balanced already
        for row in range(3):
            jacobian[row, k] = wp.float64(sweep[row])
            jacobian[row + 3, k] = wp.float64(axis[row])
        for other in range(k + 1):  # a row of the inertia is as long as the chain of joints up to it
            mass[k, other] = wp.float64(inertia[world, inertia_rows[k] + other])
            mass[other, k] = mass[k, other]
    for row in range(3):
        error[row] = wp.float64(way[row])
        error[row + 3] = wp.float64(turn[row])
    transposed = wp.transpose(jacobian)
    together = jacobian * (inverse(mass) * transposed)  # how the gripper gives way to forces and torques
    for row in range(7):
        together[row, row] += wp.float64(1.0e-9)  # keeps the inertia of a stretched arm finite
    together[6, 6] = wp.float64(1.0)
    for row in range(7):
        for column in range(7):
            if row // 3 == column // 3:  # position and rotation apart
                apart[row, column] = together[row, column]
    pull = transposed * inverse(apart)
    driven = pull * jacobian
    free = mass - transposed * (inverse(together) * jacobian)  # the inertia of motions that leave the gripper there
    constant[world] = stiffness * (pull * error + driven * joints) + posture * (free * ready) + coriolis
    angles[world] = stiffness * driven + posture * free
    speeds[world] = damping * driven + posture_damping * free
    opening = ctrl[world, gripper]
    if actions[world, 6] != 0.0:
        opening -= wp.sign(actions[world, 6]) * finger_way
    ctrl[world, gripper] = wp.clamp(opening, 0.0, OPENING)


@wp.kernel
def push(
    constant: wp.array[vec7],
    angles: wp.array[mat77],
    speeds: wp.array[mat77],
    qpos: wp.array2d[float],
    qvel: wp.array2d[float],
    first: int,
    dof: int,
    motor: int,
    ctrl: wp.array2d[float],
) -> None:
    """The torques of this step."""
    world = wp.tid()
    joints, moving = vec7(), vec7()
    for k in range(7):
        joints[k] = wp.float64(qpos[world, first + k])
        moving[k] = wp.float64(qvel[world, dof + k])
    torques = constant[world] - angles[world] * joints - speeds[world] * moving
    for k in range(7):
        ctrl[world, motor + k] = float(torques[k])


@wp.func
def turn_of(axis_angle: wp.vec3) -> wp.mat33:
    """The rotation of an axis-angle vector."""
    angle = wp.length(axis_angle)
    turned = wp.identity(n=3, dtype=float)
    if angle > 0.0:
        turned = wp.quat_to_matrix(wp.quat_from_axis_angle(axis_angle / angle, angle))
    return turned


@wp.func
def inverse(matrix: mat77) -> mat77:
    """The inverse of a positive definite matrix, by elimination."""
    size = int(7)  # noqa: RUF046, UP018  (a variable, so that the loops are not unrolled)
    left, right = matrix, wp.identity(n=7, dtype=wp.float64)
    for p in range(size):
        pivot = left[p, p]
        for column in range(size):
            left[p, column] = left[p, column] / pivot
            right[p, column] = right[p, column] / pivot
        for row in range(size):
            factor = left[row, p]
            if row != p:
                for column in range(size):
                    left[row, column] = left[row, column] - factor * left[p, column]
                    right[row, column] = right[row, column] - factor * right[p, column]
    return right
