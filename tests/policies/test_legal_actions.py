"""Random play asks the environment what makes sense at the moment, unless a wrapper has changed what an action is."""

from __future__ import annotations

import gymnasium as gym
import pytest

import agentrl  # noqa: F401  (registers the environments)
from agentrl.policies.random import RandomPolicy, legal_actions
from agentrl.rollout.demonstrations import hasty
from agentrl.wrappers import ToolCalls


class Other(gym.ActionWrapper):
    """Numbers instead of words."""

    def __init__(self, env: gym.Env) -> None:
        super().__init__(env)
        self.action_space = gym.spaces.Discrete(2)

    def action(self, action: int) -> str:
        return ("search[lamp]", "click[buy now]")[action]


def shop() -> gym.Env:
    env = gym.make("agentrl/WebShop-Text-v0", catalogue_size=1_000)
    env.reset(seed=0)
    return env


def test_random_play_takes_what_the_page_offers() -> None:
    env = shop()
    policy = RandomPolicy(seed=0)
    for _ in range(8):
        legal = env.unwrapped.legal_actions()  # type: ignore[attr-defined]
        action = policy.sample(env)
        assert action in legal
        if env.step(action)[2]:
            break


def test_a_wrapper_that_changes_actions_is_respected() -> None:
    env = Other(shop())
    assert legal_actions(env) == ()
    assert RandomPolicy(seed=0).sample(env) in (0, 1)


def test_environments_that_offer_nothing_are_sampled_as_before() -> None:
    env = gym.make("agentrl/FrozenLake-Text-v0")
    env.reset(seed=0)
    assert legal_actions(env) == () and RandomPolicy(seed=0).sample(env)


def test_the_hasty_take_the_environments_shortcut() -> None:
    env = shop()
    base = env.unwrapped
    assert hasty(base, "search[a, b]") == "search[a, b]"  # nothing to be hasty about; the comma is part of the words
    env.step("search[lamp]")
    first = base.state().results[0].lower()  # type: ignore[attr-defined]
    assert hasty(base, "click[next >]") == f"click[{first}]"
    env.step(f"click[{first}]")
    assert hasty(base, "click[large]") == "click[buy now]"


@pytest.mark.parametrize("action_format", ["webrl", "webarena", "browsergym"])
def test_the_hasty_end_a_web_task_without_an_answer(action_format: str) -> None:
    env = gym.make("agentrl/WebArenaLite-Text-v0", sites=["map"], action_format=action_format)
    for seed in range(5):
        env.reset(seed=seed)
        base = env.unwrapped
        right = base.oracle()  # type: ignore[attr-defined]
        _, reward, terminated, _, info = env.step(hasty(base, right))
        assert info["valid"] and terminated and reward == 0 and not info["success"]
        assert base.hasty_action() is None  # type: ignore[attr-defined]
    env.close()


def test_tool_calls_drive_the_shop() -> None:
    env = ToolCalls(shop())
    env.reset(seed=1)
    reward, over = 0.0, False
    while not over:
        _, reward, terminated, truncated, info = env.step(env.get_wrapper_attr("oracle")())
        over = terminated or truncated
        assert info["valid"], info["feedback"]
    assert reward >= 1.0
