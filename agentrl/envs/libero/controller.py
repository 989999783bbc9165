"""How an action moves the arm: the law of robosuite's `OSC_POSE` as LIBERO sets it, on our own Panda.

An action is held for 0.05 s. Its goal is the gripper's present pose, moved by up to 0.05 m and turned by up to 0.5 rad
along each axis of the world. The gripper follows it like a critically damped spring: acceleration = 150 (goal - pose) -
2 sqrt(150) velocity. Joint velocities that give it this motion are found every 0.01 s by damped least squares, and the
gravity-compensated servos of the joints follow them. A full action from rest moves the hand about 6 mm in its step,
and about 13 mm a step once it is under way.

Nothing is remembered between steps but what `data.ctrl` holds, so a saved simulation continues bit for bit.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from agentrl.envs.common.gripper import OPENING
from agentrl.envs.common.mujoco.arm import Arm, rotation_between
from agentrl.envs.common.mujoco.loading import load

mujoco = load()
RATE = 20  # actions a second
TICKS = 5  # of the controller in an action
METRES, RADIANS = 0.05, 0.5  # that a coordinate of 1 means
STIFFNESS = 150.0
DAMPING = 2 * sqrt(STIFFNESS)
FINGER_SPEED = 0.1  # metres a second: eight actions open or close the gripper


class Controller:
    """Moves an arm by actions of seven numbers between -1 and 1: position, rotation (axis-angle), gripper."""

    def __init__(self, arm: Arm) -> None:
        self.arm = arm
        self.steps = round(1 / (RATE * TICKS * arm.model.opt.timestep))  # of the simulator in a tick
        self._gripper = arm.model.actuator("panda_gripper").id

    def step(self, action: np.ndarray) -> None:
        """Run one action, 0.05 s; `EnvFault` if the simulation diverges."""
        position, rotation = self.arm.pose()
        goal = position + METRES * action[:3]
        turned = turn(RADIANS * action[3:6]) @ rotation

        def law(at: np.ndarray, facing: np.ndarray, velocity: np.ndarray) -> np.ndarray:
            pull = np.concatenate([goal - at, rotation_between(facing, turned)])
            return STIFFNESS * pull - DAMPING * velocity

        for _ in range(TICKS):
            self.arm.drive(law, self.steps)
            # The fingers open (below 0), close (above 0) or stay.
            wanted = self.arm.data.ctrl[self._gripper] - np.sign(float(action[6])) * FINGER_SPEED / (RATE * TICKS)
            self.arm.grip(min(max(wanted, 0.0), OPENING))
            self.arm.advance(self.steps)


def turn(axis_angle: np.ndarray) -> np.ndarray:
    """The rotation matrix of an axis-angle vector."""
    quaternion, matrix, angle = np.empty(4), np.empty(9), float(np.linalg.norm(axis_angle))
    axis = axis_angle / angle if angle > 0 else np.array([0.0, 0.0, 1.0])
    mujoco.mju_axisAngle2Quat(quaternion, axis, angle)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)


def axis_angle(rotation: np.ndarray) -> np.ndarray:
    """The axis-angle vector of a rotation matrix, of at most pi."""
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(rotation).ravel())
    return axis_angle_of_quaternion(quaternion)


def axis_angle_of_quaternion(quaternion: np.ndarray) -> np.ndarray:
    """The axis-angle vector of a quaternion (w, x, y, z), of at most pi."""
    vector = np.empty(3)
    mujoco.mju_quat2Vel(vector, quaternion, 1.0)
    return vector


def proprio(arm: Any) -> np.ndarray:
    """Position (3) and axis-angle (3) of the gripper in the world's frame, and the joints of the two fingers (2), of
    which robosuite counts the second one backwards."""
    position, rotation = arm.pose()
    left, right = arm.fingers().tolist()
    return np.array([*position.tolist(), *axis_angle(rotation).tolist(), left, -right])
