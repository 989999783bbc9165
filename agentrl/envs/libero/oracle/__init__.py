"""A scripted player: the next action from the true state, whatever has happened before.

It has no memory. Conditions of the goal that do not hold are worked on in a fixed order; each by skills that look at
where the hand and the objects are now. So it goes on from any state, of a snapshot or after somebody else's mistakes.
"""

from __future__ import annotations

import numpy as np

from agentrl.envs.libero.bddl import Fact
from agentrl.envs.libero.oracle.carrying import OPEN, OVER, holds, is_down, pick, place, squared
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
            if fact.predicate in ("on", "in"):
                return _carry(world, fact.arguments[0], fact.arguments[1])
            joint = world.handle(fact.arguments[0]).joint
            if world.held():
                return RELEASE.copy()
            return operate(world, joint, direction_of(world, joint, fact.predicate))
    return None


def _carry(world: World, name: str, region: str) -> np.ndarray:
    """The next action to bring an object to its place."""
    joint = region_joint(world, region)
    if joint is not None and not is_open(world, joint) and world.held() is None:
        return operate(world, joint, direction_of(world, joint, "open"))
    if any(takes(world, handle) for handle in world.joints):
        return RELEASE.copy()
    goal = goal_of(world, name, region)
    beside = float(np.hypot(*(goal - world.position(name))[:2]))
    letting_go = world.held() == name and beside < OVER and is_down(world, name, goal)
    if holds(world, name) or letting_go:
        turned = squared(world, name, region) if region_is_hollow(world, region) else None
        return place(world, name, goal, turned=turned)
    if world.held() not in (None, name):
        return RELEASE.copy()
    return pick(world, name)


def problem(world: World) -> str | None:
    """Why there is no script for a task, if there is none."""
    for fact in ordered(world):
        if fact.predicate in ("on", "in"):
            if fact.arguments[1].endswith(("heating_region", "shelf_1_top_region", "shelf_1_bottom_region")):
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


def direction_of(world: World, joint: str, predicate: str) -> float:
    """Up or down: a joint is closed or switched off at zero."""
    low, high = world.handle(joint).limits
    opening = 1.0 if high > -low else -1.0
    return opening if predicate in ("open", "turnon") else -opening


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
    facts = [fact for fact in world.problem.goal.facts() if fact.predicate in ("on", "in")]
    guests = [fact.arguments[0] for fact in facts if fact.arguments[1] == region]
    offset, room = np.zeros(3), world.size(region)[:2]
    if len(guests) > 1:  # the goal puts several there: to the place that is left to this one
        offset[int(np.argmax(room))] = (guests.index(name) / (len(guests) - 1) - 0.5) * float(max(room))
    x, y, _ = middle + rotation @ offset
    return np.array([x, y, low + world.size(name)[2]])


def region_is_hollow(world: World, region: str) -> bool:
    """Is it a space to be in, not a thing to stand on?"""
    return region not in world.objects and region.endswith(("_region",)) and world.size(region)[2] > 0.01
