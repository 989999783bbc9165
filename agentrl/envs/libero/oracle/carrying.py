"""Pick and place, one action at a time: each looks at the present state alone, so it goes on from wherever it is."""

from __future__ import annotations

import numpy as np

from agentrl.envs.common.gripper import OPENING, pointing_down
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.libero.oracle.hand import (
    CLOSE,
    OPEN,
    STRAIGHT,
    hanging_below,
    nearest_yaw,
    off_yaw,
    over,
    tilt,
    towards,
)
from agentrl.envs.libero.world import Grasp, World

mujoco = load()
NEAR = 0.008  # metres: the hand is where it shall be
OVER = 0.015  # metres: it is straight above
SQUEEZE = 0.010  # metres that the fingers are told to go on closing before something is lifted
CAREFUL = 0.35  # share of a full action, near things


def pick(world: World, name: str) -> np.ndarray:
    """The next action to hold an object; call it until `holds` says so."""
    grasp = choose_grasp(world, name)
    yaw = nearest_yaw(world, grasp.yaw)
    at, _ = world.arm.pose()
    off = at - grasp.position
    level, turned = float(np.hypot(off[0], off[1])), off_yaw(world, yaw) < 0.1 and tilt(world) < STRAIGHT
    if level < NEAR and abs(off[2]) < NEAR and turned:
        return towards(world, grasp.position, pointing_down(yaw), CLOSE, CAREFUL)
    above = grasp.position + np.array([0.0, 0.0, 0.06])
    if level < OVER and turned and off[2] > -NEAR:
        ready = world.arm.opening() > min(grasp.width / 2 + 0.012, OPENING - 0.004)
        goal = grasp.position if ready or off[2] < 0.03 else above
        return towards(world, goal, pointing_down(yaw), OPEN, CAREFUL if off[2] < 0.05 else 1.0)
    return over(world, above, yaw, OPEN)


def holds(world: World, name: str) -> bool:
    """Is an object between the fingers, and pressed?"""
    return world.held() == name and pressed(world, SQUEEZE)


def pressed(world: World, squeeze: float) -> bool:
    """Are the fingers told to close further than they can, by that much or all the way?"""
    wanted = world.arm.wanted_opening()
    return world.arm.opening() - wanted > squeeze or wanted < 0.001


def place(world: World, name: str, goal: np.ndarray, depth: float = 0.0) -> np.ndarray:
    """The next action to put a held object down with its middle over or at a point. It is lowered until it stands on
    something, or its middle is `depth` below the point."""
    at, facing = world.arm.pose()
    yaw = nearest_yaw(world, float(np.arctan2(facing[1, 0], facing[0, 0])))
    middle = world.position(name)
    offset = at - middle  # from the object to the hand
    level = float(np.hypot(*(goal - middle)[:2]))
    if level > OVER:
        above = np.array([goal[0] + offset[0], goal[1] + offset[1], goal[2] + offset[2] + 0.05])
        return over(world, above, yaw, CLOSE, hanging_below(world, name))
    if stands(world, name) or middle[2] < goal[2] - depth - 0.01:
        return np.array([0, 0, 0, 0, 0, 0, OPEN], dtype=float)
    low = goal + offset - np.array([0.0, 0.0, depth + 0.02])
    near = middle[2] - goal[2] < 0.04
    return towards(world, low, pointing_down(yaw), CLOSE, CAREFUL if near else 0.8)


def stands(world: World, name: str) -> bool:
    """Does something other than the arm hold an object up?"""
    model, data = world.model, world.data
    mine = model.body_rootid[model.body(name).id]
    arm = model.body_rootid[model.body("panda_base").id]
    roots = model.body_rootid[model.geom_bodyid[data.contact.geom]]
    for (first, second), frame in zip(roots, data.contact.frame, strict=True):
        other = second if first == mine else first if second == mine else arm
        upward = frame[2] if second == mine else -frame[2]
        if other != arm and upward > 0.5:
            return True
    return False


def choose_grasp(world: World, name: str) -> Grasp:
    """The first grasp at which the open gripper touches nothing but the object; else the first of all."""
    grasps = world.grasps(name)
    body = world.model.body(name).id
    for grasp in grasps:
        joints = world.arm.solve(grasp.position, pointing_down((grasp.yaw + np.pi / 2) % np.pi - np.pi / 2))
        if joints is None:
            continue
        scratch = world.arm.imagine(joints, OPENING)
        mujoco.mj_fwdPosition(world.model, scratch)
        if world.arm.touched(scratch) <= {body}:
            return grasp
    return grasps[0]
