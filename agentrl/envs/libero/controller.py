"""How an action moves the arm: robosuite's `OSC_POSE` as LIBERO sets it, by torques on our own Panda.

An action is held for 0.05 s. Its goal is the gripper's present position, moved by up to 0.05 m along each axis of the
world, and its present orientation, turned by up to 0.5 rad about each. An action without a rotation keeps the
orientation that an earlier one asked for. The gripper is pulled to the goal like a critically damped spring,
acceleration = 150 (goal - pose) - 2 sqrt(150) velocity, for position and orientation apart; torques follow from the
arm's inertia as the gripper feels it. Beside that, joints are drawn to the ready posture as far as the pose allows.

The law is found anew every 0.01 s and in between applied to the joints' true angles and speeds in every step of the
simulator, 0.002 s; robosuite finds it in every step. Motions of a second end within 1 mm of robosuite's, and within
0.02 mm if it is found in every step, which takes up to twice as long.
"""

from __future__ import annotations

from math import acos, sqrt

import numpy as np

from agentrl.envs.common.gripper import OPENING
from agentrl.envs.common.mujoco.arm import rotation_between
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.common.mujoco.panda import SITE
from agentrl.envs.libero.arm import READY, Moment, TorqueArm, Torques

mujoco = load()
RATE = 20  # actions a second
TICKS = 5  # of the controller in an action
METRES, RADIANS = 0.05, 0.5  # that a coordinate of 1 means
STIFFNESS = 150.0
DAMPING = 2 * sqrt(STIFFNESS)
POSTURE = 10.0  # stiffness with which joints are drawn to the ready posture, as far as the gripper's pose allows
POSTURE_DAMPING = 2 * sqrt(POSTURE)
TINY = 1e-9  # keeps the inertia of a stretched arm finite
FINGER_SPEED = 0.1  # metres a second: eight actions open or close the gripper
APART = np.kron(np.eye(2), np.ones((3, 3)))  # the blocks of position and rotation in a matrix of six
_READY = np.array(READY)


def osc_torques(now: Moment, position: np.ndarray, rotation: np.ndarray) -> Torques:
    """Operational space control of a gripper that shall have a pose."""
    mass, jacobian = now.mass, now.jacobian
    mobility = jacobian @ np.linalg.solve(mass, jacobian.T)  # how the gripper gives way to forces and torques
    mobility.flat[::7] += TINY
    both = np.stack([mobility * APART, mobility])
    apart, felt = np.linalg.inv(both)  # the inertia that the gripper feels, for position and rotation apart and at once
    pull = jacobian.T @ apart
    driven = pull @ jacobian
    free = mass - jacobian.T @ felt @ jacobian  # the inertia of motions that leave the gripper in its place
    error = np.concatenate([position - now.position, rotation_between(now.rotation, rotation)])
    constant = STIFFNESS * (pull @ error + driven @ now.joints) + POSTURE * (free @ _READY)
    return Torques(constant, STIFFNESS * driven + POSTURE * free, DAMPING * driven + POSTURE_DAMPING * free)


class Controller:
    """Moves an arm by actions of seven numbers between -1 and 1: position, rotation (axis-angle), gripper."""

    def __init__(self, arm: TorqueArm) -> None:
        self.arm = arm
        self.steps = round(1 / (RATE * TICKS * arm.model.opt.timestep))  # of the simulator in a tick
        self.orientation = np.eye(3)  # that the gripper keeps, as a rotation matrix

    def begin(self) -> None:
        """Keep the present orientation: an episode begins."""
        self.orientation = self.arm.pose()[1]

    def step(self, action: np.ndarray) -> None:
        """Run one action, 0.05 s; `EnvFault` if the simulation diverges."""
        position, rotation = self.arm.pose()
        goal = position + METRES * action[:3]
        if action[3:6].any():
            self.orientation = turn(RADIANS * action[3:6]) @ rotation
        closing = np.sign(float(action[6])) * FINGER_SPEED / (RATE * TICKS)  # the fingers open below 0 and close above
        for _ in range(TICKS):
            self.arm.grip(min(max(self.arm.wanted_opening() - closing, 0.0), OPENING))
            self.arm.push(lambda now: osc_torques(now, goal, self.orientation), self.steps)


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


def robot_state(arm: TorqueArm) -> dict[str, np.ndarray]:
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
