"""`GoldInfo`: what right play would do, beside observations that stay as they are."""

from __future__ import annotations

import gymnasium as gym
import pytest
from gymnasium.envs.registration import EnvSpec

import agentrl
from agentrl.core.errors import ConfigError
from agentrl.core.spaces import AnyText
from agentrl.wrappers import GoldInfo, History, Reasoning
from tests.trainers.arms import ARMS

LAKE = "agentrl/FrozenLake-Text-v0"
LEVEL = "P_O_/__O_/O___/OO_G"  # six moves; the search looks down before it looks right


def lake() -> gym.Env:
    return gym.make(LAKE)


def test_it_tells_the_way_and_what_is_left_of_the_turns() -> None:
    env = GoldInfo(lake())
    info = env.reset(options={"task": LEVEL})[1]
    limits = {"turns": 3, "turn_actions": 3}
    assert info["gold"] == {"reply": "Down, Right, Down", "actions": 6, "turns_left": 3, **limits}
    info = env.step("Down, Right, Down")[4]
    assert info["gold"] == {"reply": "Right, Down, Right", "actions": 3, "turns_left": 2, **limits}
    *_, terminated, _, info = env.step("Left")  # into a hole
    assert terminated and info["gold"] is None


def test_it_changes_nothing_else() -> None:
    plain, env = lake(), GoldInfo(lake())
    assert env.get_wrapper_attr("system_prompt") == plain.get_wrapper_attr("system_prompt")
    for one, two in ((plain.reset(seed=3), env.reset(seed=3)), (plain.step("Up"), env.step("Up"))):
        told = two[-1].pop("gold")
        assert one == two and set(told) == {"reply", "actions", "turns", "turns_left", "turn_actions"}


def test_a_reply_has_the_form_that_the_stack_asks_for() -> None:
    env = GoldInfo(History(Reasoning(lake(), "grounding")))
    gold = env.reset(options={"task": LEVEL})[1]["gold"]
    assert gold["reply"].startswith("<think>") and "<answer>Down, Right, Down</answer>" in gold["reply"]
    assert env.step(gold["reply"])[4]["format"] is True


def test_an_environment_of_another_package_tells_what_it_knows() -> None:
    env = GoldInfo(gym.make(ARMS))
    nothing = dict.fromkeys(("actions", "turns", "turns_left", "turn_actions"))
    assert env.reset(seed=1)[1]["gold"] == {"reply": "Right", **nothing}


def test_a_spec_and_a_snapshot() -> None:
    env = GoldInfo(lake())
    env.reset(seed=5)
    assert env.spec is not None
    copied = gym.make(EnvSpec.from_json(env.spec.to_json()))
    agentrl.restore(copied, agentrl.snapshot(env))
    assert copied.step("Down")[4]["gold"] == env.step("Down")[4]["gold"]


class Mute(gym.Env):
    """Text and no oracle."""

    action_space, observation_space = AnyText(("Left",)), gym.spaces.Dict({"text": AnyText()})


def test_without_an_oracle_it_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"needs an environment with an oracle; Mute has none"):
        GoldInfo(Mute())
    with pytest.raises(ConfigError, match="text"):
        GoldInfo(gym.make("agentrl/FrozenLake-Grid-v0"))
