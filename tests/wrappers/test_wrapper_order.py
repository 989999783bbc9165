"""Stacks that cannot work are refused when they are built, and the message names what is in the way."""

from __future__ import annotations

import itertools

import gymnasium as gym
import pytest

import agentrl  # noqa: F401  (registers the environments)
from agentrl.core.errors import ConfigError
from agentrl.wrappers.build import wrap

LAKE = "agentrl/FrozenLake-Visual-v0"
ENTRIES = {
    "DiscreteActions": {},
    "History": {"turns": 2},
    "ImageObservation": {},
    "Reasoning": {"strategy": "grounding"},
    "ReasoningReward": {},
    "RepetitionPenalty": {},
    "ToolCalls": {},
}


def stack(*names: str) -> gym.Env:
    """A stack, inside first, around an environment in which all of them could work."""
    env = gym.make(LAKE, max_turns=20, max_actions_per_turn=1)
    return wrap(env, [{"wrapper": name, **ENTRIES[name]} for name in names])


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (("ReasoningReward", "Reasoning"), "inside out: Reasoning must come before ReasoningReward"),
        (("Reasoning", "RepetitionPenalty", "ReasoningReward"), "ReasoningReward must come before RepetitionPenalty"),
        (("ReasoningReward",), "judges what Reasoning asks for"),
        (("ImageObservation", "Reasoning"), "ImageObservation inside it takes away: put ImageObservation around"),
        (("ImageObservation", "History"), "ImageObservation inside it takes away: put ImageObservation around"),
        (("ImageObservation", "RepetitionPenalty"), "needs the verdicts of a ReasoningReward"),
        (("ImageObservation", "ImageObservation"), "ImageObservation is in this stack already"),
        (("DiscreteActions", "History"), "DiscreteActions inside it takes away: put DiscreteActions around History"),
        (("DiscreteActions", "Reasoning"), "DiscreteActions inside it takes away: leave one of the two out"),
        (("Reasoning", "DiscreteActions"), "numbers have no form: leave one of the two out"),
        (("ToolCalls", "DiscreteActions"), "leave one of the two out"),
        (("Reasoning", "ToolCalls"), "put Reasoning around ToolCalls"),
        (("Reasoning", "Reasoning"), "Reasoning is in this stack already"),
        (("Reasoning", "History", "Reasoning"), "Reasoning is in this stack already"),
        (("ToolCalls", "ToolCalls"), "ToolCalls is in this stack already"),
    ],
)
def test_the_message_names_the_wrapper_in_the_way(names, says):
    with pytest.raises(ConfigError, match=says) as refused:
        stack(*names)
    assert "use a Text or Visual kind" not in str(refused.value)  # it is one


@pytest.mark.parametrize("pair", list(itertools.permutations(ENTRIES, 2)), ids="-in-".join)
def test_every_order_works_or_is_refused_with_an_order_that_does(pair):
    try:
        env = stack(*pair)
    except ConfigError as refused:
        if "around" not in str(refused) or "ReasoningReward" in pair or "RepetitionPenalty" in pair:
            return
        env = stack(*reversed(pair))
    env.reset(seed=0)
    env.step(env.action_space.sample())
    env.close()


def test_the_kind_is_named_where_it_is_the_cause():
    with pytest.raises(ConfigError, match=r"use a Text or Visual kind; got agentrl/FrozenLake-Grid-v0"):
        wrap(gym.make("agentrl/FrozenLake-Grid-v0"), [{"wrapper": "Reasoning"}])


@pytest.mark.parametrize("deferred", [False, True])
@pytest.mark.parametrize(
    ("judge", "says"),
    [
        ({"kind": "llm"}, "needs model"),
        ({"kind": "audited", "judge": "rule", "auditer": "rule"}, "has no argument 'auditer'"),
        ({"kind": "llm", "model": "m", "base_url": "nowhere"}, "base_url must look like"),
    ],
)
def test_a_judge_that_cannot_be_made_is_refused_with_the_wrapper(judge, says, deferred):
    env = gym.make("agentrl/FrozenLake-Text-v0")
    reward = {"wrapper": "ReasoningReward", "judge": judge, "deferred": deferred}
    with pytest.raises(ConfigError, match=says):
        wrap(env, [{"wrapper": "Reasoning", "strategy": "grounding"}, reward])
