"""The oracle of a language model: the primitives that lead to the goal, from wherever the episode is."""

from __future__ import annotations

import numpy as np

from agentrl.envs.common.primitives import Action
from agentrl.envs.libero.bddl import Fact
from agentrl.envs.libero.oracle.operating import handle_path
from agentrl.envs.libero.oracle.plan import direction_of, goal_of, is_open, ordered, problem, region_joint
from agentrl.envs.libero.text.actions import GRAMMAR
from agentrl.envs.libero.text.words import Told
from agentrl.envs.libero.world import World


def plan(world: World, told: Told) -> list[Action] | None:
    """What to do for the first condition that does not hold; None where no primitive leads to the goal."""
    if problem(world):
        return None
    now = world.conditions()
    fact = next((fact for fact in ordered(world) if not now[str(fact)]), None)
    if fact is None:
        return None
    return _carry(world, told, fact) if fact.predicate in ("on", "in") else [_move(world, told, fact)]


def _carry(world: World, told: Told, fact: Fact) -> list[Action]:
    name, region = fact.arguments
    joint = region_joint(world, region)
    if joint is not None and not is_open(world, joint) and world.held() is None:
        return [_lead(world, told, joint, "open")]
    put = Action("place", GRAMMAR.rounded(told(goal_of(world, name, region))))
    if world.held() == name:
        return [put]
    take = Action("pick", GRAMMAR.rounded(told(world.position(name))))
    return [take, put] if world.held() is None else [_drop(world, told)]


def _drop(world: World, told: Told) -> Action:
    """Put down what is in the way of picking something else up."""
    at = world.arm.pose()[0].copy()
    at[2] = world.height
    return Action("place", GRAMMAR.rounded(told(at)))


def _move(world: World, told: Told, fact: Fact) -> Action:
    if world.held():
        return _drop(world, told)
    return _lead(world, told, world.handle(fact.arguments[0]).joint, fact.predicate)


def _lead(world: World, told: Told, joint: str, predicate: str) -> Action:
    """Pull a handle or turn a knob as far as it goes; one that swings is pulled along its tangent."""
    handle = world.handle(joint)
    direction = direction_of(world, joint, predicate)
    way = (max(handle.limits) if direction > 0 else min(handle.limits)) - handle.value
    start = GRAMMAR.rounded(told(handle.position))
    if joint.endswith("_button"):
        return Action("turn", (*start, round(float(np.degrees(np.clip(way, -1.2, 1.2))))))
    end = GRAMMAR.rounded(told(handle.position + way * handle_path(world, joint)))
    return Action("pull", (*start, *end))
