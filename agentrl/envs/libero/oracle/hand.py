"""The next action of the hand: towards a pose, or high enough over things towards a place."""

from __future__ import annotations

import numpy as np

from agentrl.envs.common.gripper import TIP
from agentrl.envs.libero.controller import METRES, RADIANS, axis_angle
from agentrl.envs.libero.world import World

OPEN, CLOSE = -1.0, 1.0
GAIN = 2.2  # a step covers about a quarter of what it is told, and more once the hand moves
CLEAR = 0.03  # metres over everything that is passed
DRAWER = 0.09  # metres from the middle of a drawer to its sides
REACH = 0.13  # metres to each side that the hand takes up


def towards(world: World, position: np.ndarray, rotation: np.ndarray, grip: float, speed: float = 1.0) -> np.ndarray:
    """The action that brings the hand nearest to a pose. `speed` is the largest share of a full action."""
    at, facing = world.arm.pose()
    action = np.empty(7)
    action[:3] = _limited(GAIN * (position - at) / METRES, speed)
    action[3:6] = _limited(GAIN * axis_angle(rotation @ facing.T) / RADIANS, 0.5)
    action[6] = grip
    return action


def over(world: World, place: np.ndarray, rotation: np.ndarray, grip: float, hanging: float = TIP) -> np.ndarray:
    """The action on the way to a place that leads over everything: up, across, and then down to its height."""
    at, _ = world.arm.pose()
    height = max(clearance(world, at, place) + hanging, place[2])
    across = float(np.hypot(*(place - at)[:2]))
    if at[2] < height - 0.03 and across > 0.02:
        goal = np.array([at[0], at[1], height + 0.01])
    elif across > 0.02:
        goal = np.array([place[0], place[1], height])
    else:
        goal = place
    return towards(world, goal, rotation, grip)


def clearance(world: World, start: np.ndarray, end: np.ndarray) -> float:
    """The height over all things that the hand passes between two places, without what it holds."""
    held, heights = world.held(), [0.0]
    for name in (*world.objects, *world.fixtures):
        if name != held:
            middle, reach = world.position(name), world.size(name)
            if _distance(middle[:2], start[:2], end[:2]) < REACH + float(max(reach[:2])):
                heights.append(float(middle[2] + reach[2]))
    for joint in world.joints:  # drawers may stand open far beyond their cabinets
        front = world.handle(joint).position
        if _distance(front[:2], start[:2], end[:2]) < REACH + DRAWER:
            heights.append(float(front[2]) + DRAWER / 2)
    return max(heights) + CLEAR


def hanging_below(world: World, name: str) -> float:
    """How far a held object reaches below the hand."""
    return float(world.arm.pose()[0][2] - world.position(name)[2] + world.size(name)[2])


def _limited(vector: np.ndarray, longest: float) -> np.ndarray:
    length = float(np.linalg.norm(vector))
    return vector * (longest / length) if length > longest else vector


def _distance(point: np.ndarray, start: np.ndarray, end: np.ndarray) -> float:
    """From a point to a line between two others, in the plane."""
    way = end - start
    share = np.clip((point - start) @ way / max(float(way @ way), 1e-9), 0.0, 1.0)
    return float(np.linalg.norm(start + share * way - point))
