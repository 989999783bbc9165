"""Which skill is next, from the conditions of the goal."""

from __future__ import annotations

import numpy as np

from agentrl.envs.libero.bddl.problem import Fact
from agentrl.envs.libero.oracle.carrying import holds, pick, place, squared
from agentrl.envs.libero.oracle.hand import OPEN
from agentrl.envs.libero.oracle.operating import operate, takes
from agentrl.envs.libero.world import World

RELEASE = np.array([0, 0, 0, 0, 0, 0, OPEN], dtype=float)
ORDER = ("turnon", "turnoff", "open", "on", "in", "close")  # what is put away is put away before a drawer closes


def next_action(world: World) -> np.ndarray | None:
    """One action towards the goal; None where no skill leads there, or the goal is reached."""
    if problem(world):
        return None
    held = world.conditions()
    for fact in ordered(world):
        if not held[str(fact)]:
            return _work_on(world, fact)
    return None


def problem(world: World) -> str | None:
    """Why there is no script for a task, if there is none."""
    for fact in ordered(world):
        if fact.predicate in ("on", "in"):
            if _unreachable(fact.arguments[1]):
                return f"the gripper points down and cannot reach into {fact.arguments[1]}"
        elif world.handle(fact.arguments[0]).joint.endswith("_microjoint"):
            return "there is no script for the door of a microwave"
    return None


def ordered(world: World) -> list[Fact]:
    """The conditions in the order in which they are worked on: what carries something else comes first."""
    facts = list(world.problem.goal.facts())
    moved = [fact.arguments[0] for fact in facts if fact.predicate in ("on", "in")]

    def rank(fact: Fact) -> tuple[int, int]:
        early = fact.predicate == "close" and not any(
            other.predicate == "in" and other.arguments[1] == fact.arguments[0] for other in facts
        )
        carried = fact.predicate in ("on", "in") and fact.arguments[1] in moved
        return (0 if early else ORDER.index(fact.predicate)), int(carried)

    return sorted(facts, key=rank)


def _unreachable(region: str) -> bool:
    return region.endswith(("heating_region", "shelf_1_top_region", "shelf_1_bottom_region"))


def _work_on(world: World, fact: Fact) -> np.ndarray:
    if fact.predicate in ("on", "in"):
        return _carry(world, fact.arguments[0], fact.arguments[1])
    joint = world.handle(fact.arguments[0]).joint
    if world.held():
        return RELEASE.copy()
    return operate(world, joint, direction_of(world, joint, fact.predicate))


def direction_of(world: World, joint: str, predicate: str) -> float:
    """Up or down: a joint is closed or switched off at zero."""
    low, high = world.handle(joint).limits
    opening = 1.0 if high > -low else -1.0
    return opening if predicate in ("open", "turnon") else -opening


def _carry(world: World, name: str, region: str) -> np.ndarray:
    joint = region_joint(world, region)
    if joint is not None and not is_open(world, joint) and world.held() is None:
        return operate(world, joint, direction_of(world, joint, "open"))
    if (free := _let_go(world)) is not None:
        return free
    if holds(world, name):
        turned = squared(world, name, region) if region_is_hollow(world, region) else None
        return place(world, name, goal_of(world, name, region), turned=turned)
    if world.held() not in (None, name):
        return RELEASE.copy()
    return pick(world, name)


def _let_go(world: World) -> np.ndarray | None:
    """Open the fingers around a handle, if they hold one."""
    return RELEASE.copy() if any(takes(world, joint) for joint in world.joints) else None


def region_joint(world: World, region: str) -> str | None:
    """The joint of the drawer that a region is in, if it is in one."""
    try:
        joint = world.handle(region).joint
    except (KeyError, ValueError):
        return None
    return joint if joint.endswith("_level") else None


def is_open(world: World, joint: str) -> bool:
    """Is a drawer open far enough to put something in?"""
    handle = world.handle(joint)
    return abs(handle.value) > 0.85 * max(map(abs, handle.limits))


def goal_of(world: World, name: str, region: str) -> np.ndarray:
    """Where the middle of an object shall be, once it stands on or in something."""
    middle, rotation = world.pose(region)
    half = np.abs(rotation) @ world.size(region)
    low = middle[2] - half[2] if region_is_hollow(world, region) else middle[2] + half[2]
    x, y, _ = middle + rotation @ _share(world, name, region)
    return np.array([x, y, low + world.size(name)[2]])


def _share(world: World, name: str, region: str) -> np.ndarray:
    """From the middle of a region to the place in it that is left to an object, where the goal puts several there."""
    facts = [fact for fact in world.problem.goal.facts() if fact.predicate in ("on", "in")]
    guests = [fact.arguments[0] for fact in facts if fact.arguments[1] == region]
    offset, half = np.zeros(3), world.size(region)[:2]
    if len(guests) > 1:
        offset[int(np.argmax(half))] = (guests.index(name) / (len(guests) - 1) - 0.5) * float(max(half))
    return offset


def region_is_hollow(world: World, region: str) -> bool:
    """Is it a space to be in, not a thing to stand on?"""
    return region not in world.objects and region.endswith(("_region",)) and world.size(region)[2] > 0.01
