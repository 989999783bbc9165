"""`Steering`: `Arm.steer` and `Arm.grip` in all worlds of a batch, one thread for each.

An action is a tick of the controller: one step of damped least squares from the present joints to a pose near them.
"""

# pyright: reportInvalidTypeForm=false, reportIndexIssue=false, reportOperatorIssue=false

from typing import Any

from agentrl.envs.common.gripper import READY
from agentrl.envs.common.mujoco.arm import DAMPING, POSTURE, STEPS
from agentrl.envs.common.warp.law import ArmPlace, rotation_between
from agentrl.envs.common.warp.loading import torch, wp

vec6 = wp.types.vector(6, wp.float32)
vec7 = wp.types.vector(7, wp.float32)
mat66 = wp.types.matrix((6, 6), wp.float32)
mat67 = wp.types.matrix((6, 7), wp.float32)


class Steering:
    """The law for `count` worlds of a model. It remembers nothing between actions, which are rows of six numbers: x, y,
    z and yaw of a gripper that points down, how far each finger shall be from the middle, and 1 where the arm is
    steered to that pose, or 0 where its servos keep their targets."""

    def __init__(self, model: Any, count: int) -> None:
        self.steps, self._place = STEPS, ArmPlace.of(model)
        self._actions = wp.zeros((count, 6), dtype=float)
        self.actions: torch.Tensor = wp.to_torch(self._actions)
        self.memory: dict[str, torch.Tensor] = {}
        limits = model.jnt_range[self._place.joint : self._place.joint + 7]
        self._low, self._high = vec7(*limits[:, 0]), vec7(*limits[:, 1])

    def begin(self, data: Any) -> None:
        """Nothing to remember."""

    def __call__(self, number: Any, data: Any) -> None:
        """Set the controls at the first step of a tick."""
        place = self._place
        wp.launch(
            steer,
            dim=data.nworld,
            inputs=[
                number, self._actions, data.qpos, data.xanchor, data.xaxis, data.site_xpos, data.site_xmat, place.joint,
                place.qpos, place.servo, place.gripper, place.site, vec7(*READY), self._low, self._high,
            ],
            outputs=[data.ctrl],
        )  # fmt: skip


@wp.kernel
def steer(
    number: wp.array[int],
    actions: wp.array2d[float],
    qpos: wp.array2d[float],
    xanchor: wp.array2d[wp.vec3],
    xaxis: wp.array2d[wp.vec3],
    site_xpos: wp.array2d[wp.vec3],
    site_xmat: wp.array2d[wp.mat33],
    joint: int,
    first: int,
    servo: int,
    gripper: int,
    site: int,
    ready: vec7,
    low: vec7,
    high: vec7,
    ctrl: wp.array2d[float],
) -> None:
    """Targets of the servos."""
    world = wp.tid()
    if number[0] > 0:
        return
    ctrl[world, gripper] = actions[world, 4]
    if actions[world, 5] == 0.0:
        return
    at = site_xpos[world, site]
    way = wp.vec3(actions[world, 0], actions[world, 1], actions[world, 2]) - at
    c, s = wp.cos(actions[world, 3]), wp.sin(actions[world, 3])
    down = wp.mat33(c, s, 0.0, s, -c, 0.0, 0.0, 0.0, -1.0)
    turn = rotation_between(site_xmat[world, site], down)
    relaxed = vec7()
    for k in range(7):
        relaxed[k] = POSTURE * (ready[k] - qpos[world, first + k])
    jacobian = jacobian_of(at, xanchor, xaxis, world, joint)
    change = least_squares(jacobian, vec6(way[0], way[1], way[2], turn[0], turn[1], turn[2]), relaxed)
    for k in range(7):
        ctrl[world, servo + k] = wp.clamp(qpos[world, first + k] + change[k], low[k], high[k])


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
