"""What the laws of control share: where an arm lies in a model, and how far a gripper is turned away from a goal.

A law is a few kernels with one thread for each world: `steering.Steering` or `torques.SpringTorques`.
"""

# pyright: reportInvalidTypeForm=false, reportIndexIssue=false, reportOperatorIssue=false

from typing import Any, NamedTuple

from agentrl.envs.common.mujoco.panda import FINGERS, GRIPPER, JOINTS, SITE
from agentrl.envs.common.warp.loading import wp


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


@wp.func
def rotation_between(present: wp.mat33, wanted: wp.mat33) -> wp.vec3:
    """The axis of the rotation that turns one frame into another, times the sine of its angle."""
    turn = wanted * wp.transpose(present)
    return 0.5 * wp.vec3(turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1])
