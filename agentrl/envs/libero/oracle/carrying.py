"""Pick and place, one action at a time: each looks at the present state alone, so it goes on from wherever it is."""

from __future__ import annotations

from math import pi
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from agentrl.envs.common.gripper import OPENING, TIP, pointing_down
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.libero.arm import READY
from agentrl.envs.libero.controller import METRES, RADIANS, axis_angle, turn
from agentrl.envs.libero.world import World

mujoco = load()

OPEN, CLOSE = -1.0, 1.0
GAIN = 2.2  # a step covers about a quarter of what it is told, and more once the hand moves
LOWER = 0.05  # metres that the hand is told to go down at once
UPRIGHT = 0.98  # cosine of the angle within which the hand points where it shall
ASIDE = 0.025  # metres by which a quick way down may lead aside
CLEAR = 0.03  # metres over everything that is passed
DRAWER = 0.09  # metres from the middle of a drawer to its sides
REACH = 0.13  # metres to each side that the hand takes up
SHOULDER, WRIST, FOREARM = 0.333, 0.2035, 0.088  # metres: over the base; over the fingers and behind them
STRAIGHT, REIN = -0.9, 1.5  # radians of the elbow, straight at -0.47; shares of a full action for each before that
SOON = 0.15  # seconds by which it brakes ahead
STRETCH, BENT = 0.69, 0.66  # metres between shoulder and wrist, of 0.72


def towards(world: World, position: np.ndarray, rotation: np.ndarray, grip: float, speed: float = 1.0) -> np.ndarray:
    """The action that brings the hand nearest to a pose. `speed` is the largest share of a full action. The more
    the arm is stretched, the slower it goes outward: its elbow would bend to the wrong side, and lock."""
    at, facing = world.arm.pose()
    action = np.empty(7)
    action[:3] = _limited(GAIN * (position - at) / METRES, speed)
    outward = _from_shoulder(world, at)
    outward /= np.linalg.norm(outward)
    bent = STRAIGHT - float(world.arm.joints()[3] + SOON * world.arm.speeds()[3])
    action[:3] -= max(float(action[:3] @ outward) - max(REIN * bent, 0.0), 0.0) * outward
    action[3:6] = _limited(GAIN * axis_angle(rotation @ facing.T) / RADIANS, 0.5)
    action[6] = grip
    return action


def over(world: World, place: np.ndarray, rotation: np.ndarray, grip: float, hanging: float = TIP) -> np.ndarray:
    """The action on the way to a place that leads over everything: up, across, and then down to its height."""
    at, facing = world.arm.pose()
    height = max(clearance(world, at, place, hanging), place[2])
    across = float(np.hypot(*(place - at)[:2]))
    low = at[2] < height - 0.03
    tilted = float(facing[:, 2] @ rotation[:, 2]) < UPRIGHT  # on its way down it would hit what is beside
    if tilted or across > (ASIDE if low else 0.02):
        goal = np.array([at[0], at[1], height + 0.01]) if low else np.array([place[0], place[1], height])
    else:
        goal = _lowering(at, place)
    return towards(world, goal, rotation, grip)


def _lowering(at: np.ndarray, place: np.ndarray) -> np.ndarray:
    """A place, or one over it: told to go further down, a limited action would hardly correct what is beside."""
    return np.array([place[0], place[1], max(place[2], at[2] - LOWER)])


def clearance(world: World, start: np.ndarray, end: np.ndarray, hanging: float) -> float:
    """The height over all things that the hand passes between two places, with something that hangs below it; no
    higher than the arm reaches with a bent elbow, since a stretched one locks."""
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
    return min(max(heights) + CLEAR + hanging, highest(world, start), highest(world, end))


def highest(world: World, place: np.ndarray) -> float:
    """How high the hand, pointing down, can be over a place."""
    x, y, z = _from_shoulder(world, place)
    return float(place[2] - z + np.sqrt(max(STRETCH**2 - np.hypot(x, y) ** 2, 0.0)))


def _from_shoulder(world: World, place: np.ndarray) -> np.ndarray:
    """From the shoulder to the wrist of a hand that points down at a place."""
    way = place + np.array([0.0, 0.0, WRIST - SHOULDER]) - world.model.body("panda_base").pos
    level = float(np.hypot(*way[:2]))
    return way * np.array([1 - FOREARM / level, 1 - FOREARM / level, 1.0])


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


# ---------------------------------------------------------------------- pick and place

NEAR = 0.008  # metres: the hand is where it shall be
OVER = 0.015  # metres: it is straight above
ALIGNED = 0.12  # radians
BEFORE, LEANING = 0.06, 0.15  # metres from which a grasp is approached, and one with a leaning hand
SQUEEZE = 0.010  # metres that the fingers are told to go on closing before something is lifted
CAREFUL = 0.35  # share of a full action, near things
LEANS = (0.0, 0.5, -0.5)  # radians by which the hand may lean across the fingers, to pass what is beside it
NARROW = 0.012  # metres beside what is grasped, for each finger, where there is no room for open ones


class Way(NamedTuple):
    """One of the ways to take an object."""

    grasp: int  # which one of the object's
    lean: float
    narrow: bool  # with fingers that are open just far enough
    flipped: bool = False  # by half a turn


class Hold(NamedTuple):
    """A pose of the hand in which it takes something."""

    position: np.ndarray
    rotation: np.ndarray
    width: float  # between the fingers
    opening: float  # of each finger on the way


_best: WeakKeyDictionary[World, dict[tuple[str, bytes], Way]] = WeakKeyDictionary()  # the last answer of each world


def pick(world: World, name: str) -> np.ndarray:
    """The next action to hold an object; call it until `holds` says so."""
    hold = choose_hold(world, name)
    at, facing = world.arm.pose()
    off, approach = at - hold.position, hold.rotation[:, 2]
    back = -float(off @ approach)  # how far the hand is before the grasp
    beside = float(np.linalg.norm(off + back * approach))
    turned = float(np.linalg.norm(axis_angle(hold.rotation @ facing.T))) < ALIGNED
    before = hold.position - (BEFORE if approach[2] < -0.99 else LEANING) * approach
    if turned and beside < NEAR and abs(back) < NEAR:
        return towards(world, hold.position, hold.rotation, CLOSE, CAREFUL)
    if turned and beside < OVER and -NEAR < back < 0.2:
        ready = abs(world.arm.opening() - hold.opening) < 0.005
        deeper = LOWER if beside < NEAR else 0.0  # not far, so that what is beside is corrected
        ahead = hold.position - max(back - deeper, 0.0) * approach
        goal = ahead if ready or back < 0.03 else before
        return towards(world, goal, hold.rotation, _to_opening(world, hold.opening), CAREFUL if back < 0.05 else 1.0)
    return over(world, before, hold.rotation, _to_opening(world, hold.opening))


def _to_opening(world: World, opening: float) -> float:
    """The action of the fingers that brings them nearer to an opening."""
    off = world.arm.wanted_opening() - opening
    return OPEN if off < -0.003 else CLOSE if off > 0.003 else 0.0


def holds(world: World, name: str) -> bool:
    """Is an object between the fingers, and pressed?"""
    return world.held() == name and pressed(world, SQUEEZE)


def pressed(world: World, squeeze: float) -> bool:
    """Are the fingers told to close further than they can, by that much or all the way?"""
    wanted = world.arm.wanted_opening()
    return world.arm.opening() - wanted > squeeze or wanted < 0.001


def place(world: World, name: str, goal: np.ndarray, depth: float = 0.0, turned: float | None = None) -> np.ndarray:
    """The next action to put a held object down with its middle over or at a point. It is lowered until it stands on
    something, or its middle is `depth` below the point. Where it must fit between walls, it is turned by `turned`
    radians (see `squared`) and right above before it goes down."""
    at, facing = world.arm.pose()
    middle = world.position(name)
    offset = at - middle  # from the object to the hand
    upright = pointing_down(float(np.arctan2(facing[1, 0], facing[0, 0])) + (turned or 0.0))
    leaning = turn(np.array([0.0, 0.0, turned or 0.0])) @ facing  # it goes on leaning
    rotation = upright if float(facing[2, 2]) < -0.95 else leaning
    hanging, above = hanging_below(world, name), goal + offset + np.array([0.0, 0.0, 0.05])
    near, aligned = OVER, True
    if turned is not None:
        above[2] = max(clearance(world, at, above, hanging), above[2])
        if at[2] > above[2] - 0.03:
            near, aligned = NEAR, abs(turned) < ALIGNED
    if float(np.hypot(*(goal - middle)[:2])) > near or not aligned:
        return over(world, above, rotation, CLOSE, hanging)
    if is_down(world, name, goal, depth):
        return np.array([0, 0, 0, 0, 0, 0, OPEN], dtype=float)
    low = _lowering(at, goal + offset - np.array([0.0, 0.0, depth + 0.02]))
    return towards(world, low, rotation, CLOSE, CAREFUL if middle[2] - goal[2] < 0.04 else 0.8)


def is_down(world: World, name: str, goal: np.ndarray, depth: float = 0.0) -> bool:
    """Is an object low enough to be let go at a place?"""
    return stands(world, name) or bool(world.position(name)[2] < goal[2] - depth - 0.01)


def squared(world: World, name: str, region: str) -> float | None:
    """By how much an object must be turned so that its longer side lies along that of the space it is put into: at most
    a quarter of a turn; None where it fits in any direction."""
    if float(np.hypot(*world.size(name)[:2])) < float(min(world.size(region)[:2])):
        return None
    return (_long_side(world, region) - _long_side(world, name) + pi / 2) % pi - pi / 2


def _long_side(world: World, name: str) -> float:
    """The direction of the longer side of something, in the plane."""
    side = world.pose(name)[1][:, int(np.argmax(world.size(name)[:2]))]
    return float(np.arctan2(side[1], side[0]))


def stands(world: World, name: str) -> bool:
    """Does something other than the arm hold an object up?"""
    for (first, second), frame in zip(world.data.contact.geom.tolist(), world.data.contact.frame, strict=True):
        owners = world.owner(first), world.owner(second)
        if name in owners and "panda_base" not in owners:
            upward = frame[2] if owners[1] == name else -frame[2]
            if upward > 0.5:
                return True
    return False


def choose_hold(world: World, name: str) -> Hold:
    """The best way to take an object where it is. Which one that is does not depend on the arm, and is looked for again
    when something else has moved by more than a millimetre."""
    key = name, np.delete(world.data.qpos, world.arm.addresses).round(3).tobytes()
    known = _best.setdefault(world, {})
    if key not in known:
        known.clear()
        known[key] = _find_best(world, name)
    return _way(world, name, known[key])


def _find_best(world: World, name: str) -> Way:
    """The first way on which the gripper, coming, open and closed, touches nothing but the object; else the first where
    it does so once it is there; else the first of all. Of a hand and one turned by half, it is that for which the
    arm's last joint turns less."""

    def turned_last(way: Way) -> float:
        hold = _way(world, name, way)
        joints = world.arm.solve(hold.position, hold.rotation)
        return np.inf if joints is None else abs(float(joints[6]) - READY[6])

    grasps, there = world.grasps(name), None

    def effort(number: int) -> tuple[float, ...]:  # arm bent, little room for fingers, little turning
        grasp = grasps[number]
        stretch = float(np.linalg.norm(_from_shoulder(world, grasp.position)))
        return max(round(stretch, 2), BENT), round(grasp.width, 2), round(abs(grasp.yaw), 1), stretch

    for lean in LEANS:
        for narrow in (False, True):
            for number in sorted(range(len(grasps)), key=effort):
                way = min((Way(number, lean, narrow, flipped) for flipped in (False, True)), key=turned_last)
                if _is_free(world, name, way):
                    if _is_free(world, name, way, back=0.1):
                        return way
                    there = there or way
    return there or Way(0, 0.0, False)


def _way(world: World, name: str, way: Way) -> Hold:
    grasp = world.grasps(name)[way.grasp]
    down = pointing_down(grasp.yaw + (pi if way.flipped else 0.0))
    opening = min(grasp.width / 2 + NARROW, OPENING) if way.narrow else OPENING
    return Hold(grasp.position, turn(way.lean * down[:, 1]) @ down, grasp.width, opening)


def _is_free(world: World, name: str, way: Way, back: float = 0.0) -> bool:
    """Does the gripper touch nothing else, that far before a grasp? Once there, it must be able to close, too."""
    hold = _way(world, name, way)
    joints = world.arm.solve(hold.position - back * hold.rotation[:, 2], hold.rotation)
    if joints is None:
        return False
    closed = hold.opening if back else min(hold.width / 2 + 0.003, OPENING)
    for opening in np.linspace(hold.opening, closed, 1 if back else 4):  # nothing else may get between the fingers
        scratch = world.arm.imagine(joints, opening)
        mujoco.mj_fwdPosition(world.model, scratch)
        if not world.arm.touched(scratch) <= {world.model.body(name).id}:
            return False
    return True
