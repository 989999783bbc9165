"""What moves the arms: a law of control as kernels, one thread for each world.

`SpringServos` is the law of `Arm.drive`: the gripper is drawn to a goal like a critically damped spring, joint
velocities that give it this motion come from damped least squares, and servos of the joints follow them.
"""

# pyright: reportInvalidTypeForm=false, reportIndexIssue=false, reportOperatorIssue=false

from typing import Any, NamedTuple

from agentrl.envs.common.gripper import OPENING, READY
from agentrl.envs.common.mujoco.arm import DAMPING, POSTURE
from agentrl.envs.common.mujoco.panda import FINGERS, GRIPPER, JOINTS, LAG, SITE
from agentrl.envs.common.warp.loading import torch, wp

vec6 = wp.types.vector(6, wp.float32)
vec7 = wp.types.vector(7, wp.float32)
mat66 = wp.types.matrix((6, 6), wp.float32)
mat67 = wp.types.matrix((6, 7), wp.float32)


class ArmPlace(NamedTuple):
    """Where the only Panda of a model lies in its arrays; its joints, fingers and servos lie side by side."""

    joint: int
    qpos: int
    dof: int
    servo: int
    gripper: int  # servo of both fingers
    site: int
    hand: int  # body

    @classmethod
    def of(cls, model: Any) -> "ArmPlace":
        """In this model."""
        joints = [model.joint(name) for name in (*JOINTS, *FINGERS)]
        servos = [model.actuator(name).id for name in JOINTS]
        first = joints[0]
        for number, joint in enumerate(joints):
            assert (joint.qposadr[0], joint.dofadr[0]) == (first.qposadr[0] + number, first.dofadr[0] + number)
        assert servos == list(range(servos[0], servos[0] + 7))
        place = first.id, int(first.qposadr[0]), int(first.dofadr[0]), servos[0], model.actuator(GRIPPER).id
        return cls(*place, model.site(SITE).id, model.body("panda_hand").id)


class Gains(NamedTuple):
    """How an action of seven numbers moves the gripper."""

    metres: float  # that a coordinate of 1 means
    radians: float
    stiffness: float
    damping: float
    finger_speed: float  # metres a second
    ticks: int  # of the controller in an action
    seconds: float  # of an action


class SpringServos:
    """The law for `count` worlds of a model. It remembers nothing between actions."""

    def __init__(self, model: Any, count: int, gains: Gains) -> None:
        self.gains, self.steps = gains, round(gains.seconds / model.opt.timestep)
        self._place = ArmPlace.of(model)
        self._actions, self._aims = wp.zeros((count, 7), dtype=float), wp.zeros(count, dtype=wp.vec3)
        self._turns = wp.zeros(count, dtype=wp.mat33)
        self.actions: torch.Tensor = wp.to_torch(self._actions)  # what is done next
        self.memory: dict[str, torch.Tensor] = {}
        self._ready = vec7(*READY)
        limits = model.jnt_range[self._place.joint : self._place.joint + 7]
        self._low, self._high = vec7(*limits[:, 0]), vec7(*limits[:, 1])

    def begin(self, data: Any) -> None:
        """Nothing to remember."""

    def __call__(self, number: Any, data: Any) -> None:
        """Set the controls of step `number[0]` of an action; `data` knows the poses of this moment."""
        place, gains, seconds = self._place, self.gains, self.gains.seconds / self.gains.ticks
        wp.launch(
            aim,
            dim=data.nworld,
            inputs=[number, self._actions, data.site_xpos, data.site_xmat, place.site, gains.metres, gains.radians],
            outputs=[self._aims, self._turns],
        )
        wp.launch(
            spring_servos,
            dim=data.nworld,
            inputs=[
                number, self.steps // gains.ticks, self._actions, self._aims, self._turns, data.qpos, data.qvel,
                data.xanchor, data.xaxis, data.site_xpos, data.site_xmat, place.joint, place.qpos, place.dof,
                place.servo, place.gripper, place.site, gains.stiffness, gains.damping, seconds,
                gains.finger_speed * seconds, self._ready, self._low, self._high,
            ],
            outputs=[data.ctrl],
        )  # fmt: skip


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
    turns: wp.array[wp.mat33],
) -> None:
    """The pose that each action asks for, at its first step: the present one, moved and turned in the world's frame."""
    world = wp.tid()
    if number[0] > 0:
        return
    move = wp.vec3(actions[world, 0], actions[world, 1], actions[world, 2])
    about = wp.vec3(actions[world, 3], actions[world, 4], actions[world, 5]) * radians
    aims[world] = site_xpos[world, site] + metres * move
    turns[world] = turn_of(about) * site_xmat[world, site]


@wp.kernel
def spring_servos(
    number: wp.array[int],
    steps: int,
    actions: wp.array2d[float],
    aims: wp.array[wp.vec3],
    turns: wp.array[wp.mat33],
    qpos: wp.array2d[float],
    qvel: wp.array2d[float],
    xanchor: wp.array2d[wp.vec3],
    xaxis: wp.array2d[wp.vec3],
    site_xpos: wp.array2d[wp.vec3],
    site_xmat: wp.array2d[wp.mat33],
    joint: int,
    first: int,
    dof: int,
    servo: int,
    gripper: int,
    site: int,
    stiffness: float,
    damping: float,
    seconds: float,
    finger_way: float,
    ready: vec7,
    low: vec7,
    high: vec7,
    ctrl: wp.array2d[float],
) -> None:
    """Targets of the servos for one tick of the controller, at its first step."""
    world = wp.tid()
    if number[0] % steps > 0:
        return
    at = site_xpos[world, site]
    jacobian = jacobian_of(at, xanchor, xaxis, world, joint)
    moving, relaxed = vec7(), vec7()
    for k in range(7):
        moving[k] = qvel[world, dof + k]
        relaxed[k] = POSTURE / seconds * (ready[k] - qpos[world, first + k])
    present = jacobian * moving
    error = rotation_between(site_xmat[world, site], turns[world])
    way = aims[world] - at
    pull = vec6(way[0], way[1], way[2], error[0], error[1], error[2])
    wanted = present + seconds * (stiffness * pull - damping * present)
    speeds = least_squares(jacobian, wanted, relaxed)
    for k in range(7):
        target = qpos[world, first + k] + (LAG + 0.5 * seconds) * speeds[k]
        ctrl[world, servo + k] = wp.clamp(target, low[k], high[k])
    opening = ctrl[world, gripper] - wp.sign(actions[world, 6]) * finger_way
    if actions[world, 6] == 0.0:
        opening = ctrl[world, gripper]
    ctrl[world, gripper] = wp.clamp(opening, 0.0, OPENING)


@wp.func
def jacobian_of(at: wp.vec3, xanchor: wp.array2d[wp.vec3], xaxis: wp.array2d[wp.vec3], world: int, joint: int) -> mat67:
    """How seven joints, of which `joint` is the first, move and turn what is at a point."""
    found = mat67()
    for k in range(7):
        axis = xaxis[world, joint + k]
        sweep = wp.cross(axis, at - xanchor[world, joint + k])
        for row in range(3):
            found[row, k] = sweep[row]
            found[row + 3, k] = axis[row]
    return found


@wp.func
def least_squares(jacobian: mat67, wanted: vec6, relaxed: vec7) -> vec7:
    """The change of the joints, nearest to `relaxed`, that gives the gripper the wanted change."""
    square = jacobian * wp.transpose(jacobian)
    for k in range(6):
        square[k, k] += DAMPING
    return relaxed + wp.transpose(jacobian) * solve(square, wanted - jacobian * relaxed)


@wp.func
def turn_of(axis_angle: wp.vec3) -> wp.mat33:
    """The rotation of an axis-angle vector."""
    angle = wp.length(axis_angle)
    turned = wp.identity(n=3, dtype=float)
    if angle > 0.0:
        turned = wp.quat_to_matrix(wp.quat_from_axis_angle(axis_angle / angle, angle))
    return turned


@wp.func
def rotation_between(present: wp.mat33, wanted: wp.mat33) -> wp.vec3:
    """The axis of the rotation that turns one frame into another, times the sine of its angle."""
    turn = wanted * wp.transpose(present)
    return 0.5 * wp.vec3(turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1])


@wp.func
def solve(matrix: mat66, right: vec6) -> vec6:
    """The solution of a positive definite system, by Cholesky."""
    lower, found = mat66(), vec6()
    for i in range(6):
        for j in range(i + 1):
            rest = float(matrix[i, j])
            for k in range(j):
                rest -= lower[i, k] * lower[j, k]
            if i == j:
                lower[i, i] = wp.sqrt(rest)
            else:
                lower[i, j] = rest / lower[j, j]
    for i in range(6):
        rest = float(right[i])
        for k in range(i):
            rest -= lower[i, k] * found[k]
        found[i] = rest / lower[i, i]
    for back in range(6):
        i = 5 - back
        rest = float(found[i])
        for k in range(i + 1, 6):
            rest -= lower[k, i] * found[k]
        found[i] = rest / lower[i, i]
    return found
