"""Drawers, doors and knobs: take the handle, and lead it along the path that its joint allows."""

from __future__ import annotations

from math import cos, radians, sin

import numpy as np

from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.libero.controller import axis_angle, turn
from agentrl.envs.libero.oracle.carrying import CLOSE, OPEN, clearance, pressed, towards
from agentrl.envs.libero.world import Handle, World

mujoco = load()
UP = np.array([0.0, 0.0, 1.0])
RELAXED = np.array([1.0, -1.0, 0.0])  # where the hand's y axis points when the arm's last joint is in its middle
LEAN = radians(50)  # of the hand away from an upright front, so that it passes the handles above
BEFORE = 0.07  # metres in front of the handle from where it is approached
NEAR, ALIGNED = 0.012, 0.15  # metres and radians: the fingers are around the handle
LEAD = 0.05, 0.25  # metres or radians by which the hand goes ahead of a slide or a hinge
SQUEEZE = 0.006  # metres that the fingers are told to go on closing before the handle is moved


def operate(world: World, joint: str, direction: float) -> np.ndarray:
    """The next action that moves a joint up (1) or down (-1)."""
    handle = world.handle(joint)
    rotation = grip_rotation(world, handle)
    if takes(world, joint):  # a little further along the joint's path
        number = world.model.joint(handle.joint).id
        axis, anchor = world.data.xaxis[number], world.data.xanchor[number]
        if world.model.jnt_type[number] == mujoco.mjtJoint.mjJNT_SLIDE:
            return towards(world, handle.position + direction * LEAD[0] * axis, rotation, CLOSE, 0.7)
        onward = turn(direction * LEAD[1] * axis)
        return towards(world, anchor + onward @ (handle.position - anchor), onward @ rotation, CLOSE, 0.7)
    at, facing = world.arm.pose()
    off, turned = at - handle.position, float(np.linalg.norm(axis_angle(rotation @ facing.T)))
    if float(np.linalg.norm(off)) < NEAR and turned < ALIGNED:
        return towards(world, handle.position, rotation, CLOSE, 0.3)
    approach = rotation[:, 2]
    beside = float(np.linalg.norm(off - (off @ approach) * approach))
    if beside < 0.015 and turned < ALIGNED and world.arm.opening() > 0.02:
        return towards(world, handle.position, rotation, OPEN, 0.35)
    goal = handle.position - BEFORE * approach  # a place in front of it, over things as long as it is far away
    if float(np.hypot(*(goal - at)[:2])) < 0.06:
        return towards(world, goal, rotation, OPEN, 0.6)
    height = max(goal[2], clearance(world, at, goal, 0.03))
    place = at if at[2] < height - 0.04 else goal
    return towards(world, np.array([place[0], place[1], height + 0.01]), facing if place is at else rotation, OPEN)


def takes(world: World, joint: str) -> bool:
    """Are the fingers closed on the part that a joint moves?"""
    part = int(world.model.jnt_bodyid[world.model.joint(joint).id])
    return world.arm.grasped() == part and pressed(world, SQUEEZE)


def grip_rotation(world: World, handle: Handle) -> np.ndarray:
    """How the hand takes a handle: leaning away from its fixture, fingers on both sides of the bar."""
    level = handle.outward - (handle.outward @ UP) * UP
    leans = float(np.linalg.norm(level)) > 0.5
    approach = -sin(LEAN) * level - cos(LEAN) * UP if leans else -UP
    side = np.cross(handle.outward, handle.along)
    y = side if side @ RELAXED >= 0 else -side
    return np.column_stack([np.cross(y, approach), y, approach])


def handle_path(world: World, joint: str) -> np.ndarray:
    """How the handle moves, in metres, while its joint changes by 1."""
    number = world.model.joint(joint).id
    axis = world.data.xaxis[number]
    if world.model.jnt_type[number] == mujoco.mjtJoint.mjJNT_SLIDE:
        return axis.copy()
    return np.cross(axis, world.handle(joint).position - world.data.xanchor[number])
