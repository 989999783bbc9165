"""How an action moves the arm: the law of robosuite's `OSC_POSE` as LIBERO sets it, on our own Panda.

An action is held for 0.05 s. Its goal is the gripper's present pose, moved by up to 0.05 m and turned by up to 0.5 rad
along each axis of the world. The gripper follows it like a critically damped spring: acceleration = 150 (goal - pose) -
2 sqrt(150) velocity. Joint velocities that give it this motion are found every 0.01 s by damped least squares, and the
gravity-compensated servos of the joints follow them. A full action from rest moves the hand about 6 mm in its step,
and about 13 mm a step once it is under way.

Nothing is remembered between steps but what `data.ctrl` holds, so a saved simulation continues bit for bit.
"""

from __future__ import annotations

from math import acos, sqrt

import numpy as np

from agentrl.envs.common.gripper import OPENING
from agentrl.envs.common.mujoco.arm import Arm, rotation_between
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.common.mujoco.panda import SITE

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
    quaternion, vector = np.empty(4), np.empty(3)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(rotation).ravel())
    mujoco.mju_quat2Vel(vector, quaternion, 1.0)
    return vector


# ---------------------------------------------------------------------- what robosuite measures

ROBOT_STATE = {"eef_pos": 3, "eef_quat": 4, "gripper_qpos": 2, "gripper_qvel": 2, "joint_pos": 7, "joint_vel": 7}
BACKWARDS = np.array([1.0, -1.0])  # robosuite counts the second finger's way below zero


def robot_state(arm: Arm) -> dict[str, np.ndarray]:
    """The arm in robosuite's words: the gripper's position at its grip site and the hand's quaternion (x, y, z, w) in
    the world's frame, fingers and joints. The simulation must be forwarded."""
    joints, speeds = arm.joints(), arm.speeds()
    return {
        "eef_pos": arm.data.site(SITE).xpos.copy(),
        "eef_quat": arm.data.body("panda_hand").xquat[[1, 2, 3, 0]],
        "gripper_qpos": joints[7:] * BACKWARDS,
        "gripper_qvel": speeds[7:] * BACKWARDS,
        "joint_pos": joints[:7],
        "joint_vel": speeds[:7],
    }


def proprio(robot: dict[str, np.ndarray]) -> np.ndarray:
    """The eight numbers that policies for LIBERO read: position and axis-angle of the gripper, and its two fingers."""
    return np.concatenate([robot["eef_pos"], quat2axisangle(robot["eef_quat"]), robot["gripper_qpos"]])


def quat2axisangle(quaternion: np.ndarray) -> np.ndarray:
    """The axis-angle vector of a quaternion (x, y, z, w) as robosuite has it: 0 to 2 pi, by the quaternion's own sign.
    A gripper that points down is turned by about pi, where a vector of at most pi would jump to the other side."""
    w = min(max(float(quaternion[3]), -1.0), 1.0)
    sine = sqrt(1.0 - w * w)
    return np.zeros(3) if sine == 0.0 else quaternion[:3] * (2.0 * acos(w) / sine)
