"""Players that do no work: what they reply, and what they refuse."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import agentrl  # noqa: F401  (registers the environments)
from agentrl.core.errors import ConfigError
from agentrl.policies import load_policy
from agentrl.policies.blind import PriorPolicy, commonest_plans
from agentrl.rollout.episode import play_episode
from agentrl.wrappers import Reasoning

LAKE, GRID = "agentrl/FrozenLake-Text-v0", "agentrl/FrozenLake-Grid-v0"
TOLD = [{"role": "system", "content": "Rules."}, {"role": "user", "content": "P__G <answer>Up</answer>"}]


def reply(name: str, env: gym.Env, *, seed: int = 0, conversation: Any = ()) -> Any:
    return load_policy(name, seed=seed).act([list(conversation)], [env])[0].action


def test_a_constant_player_repeats_what_it_was_given_or_the_first_action() -> None:
    text, grid = gym.make(LAKE), gym.make(GRID)
    assert reply("constant:Up, Down", text) == "Up, Down"
    assert reply("constant", text) == "Left, Left, Left"
    assert reply("constant", grid) == 0 and reply("constant:2", grid) == 2
    box = gym.wrappers.TransformAction(grid, lambda numbers: 0, gym.spaces.Box(-1, 1, (3,), np.float32))
    assert reply("constant", box).tolist() == [0, 0, 0]
    assert reply("constant:[1, 0, -1]", box) in box.action_space


@pytest.mark.parametrize("spec", ["constant:7", "constant:Up", "constant:[0, 1]", "constant:null"])
def test_a_constant_reply_that_is_no_action_is_refused(spec: str) -> None:
    with pytest.raises(ConfigError, match="must be an action"):
        reply(spec, gym.make(GRID))


def test_a_constant_reply_is_never_empty_after_its_colon() -> None:
    with pytest.raises(ConfigError, match="needs its reply"):
        load_policy("constant:")


def test_a_random_constant_follows_from_its_seed_alone() -> None:
    first, other = gym.make(LAKE), gym.make(LAKE, size=6)
    other.reset(seed=5)
    drawn = [reply("random-constant", env, seed=seed) for seed in range(20) for env in (first, other)]
    assert drawn[::2] == drawn[1::2] and len(set(drawn)) > 10
    assert all(first.action_space.contains(each) for each in drawn)


def test_a_copying_player_says_what_it_was_told() -> None:
    assert reply("copy", gym.make(LAKE), conversation=TOLD) == TOLD[-1]["content"]
    assert reply("copy", gym.make(LAKE)) == ""
    with pytest.raises(ConfigError, match="writes text"):
        reply("copy", gym.make(GRID))


def test_a_copying_player_keeps_the_form_that_is_asked_for() -> None:
    env = Reasoning(gym.make(LAKE), "grounding_worldmodeling")
    env.reset(seed=3)
    *_, info = env.step(reply("copy", env, conversation=TOLD))
    assert info["format"] and info["valid"] and info["actions"]
    assert info["observation"] == info["prediction"] == "P__G [answer]Up[/answer]"


def test_the_prior_plays_a_training_plan_turn_by_turn_and_never_looks() -> None:
    env, policy = gym.make(LAKE, split="test"), PriorPolicy(tasks=5)
    played = [[step.action for step in play_episode(env, policy, seed=seed).steps] for seed in range(4)]
    with gym.make(LAKE, split="train") as training:
        plan = policy._learned(env.unwrapped)[None]
        assert training.unwrapped.tasks() != env.unwrapped.tasks()
    whole = plan + plan[-1:] * 3
    assert all(actions == whole[: len(actions)] for actions in played)


def test_plans_are_counted_by_the_group_of_their_task() -> None:
    class Corridor(gym.Env):
        """Two kinds of tasks; the seed says which, and two of three tasks of a kind share their plan."""

        def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
            self.group, self.turn = ("east", "west")[seed % 2], f"go {'far' if seed % 6 > 3 else self_side(seed)}"
            return None, {}

        def oracle(self) -> str:
            return self.turn

        def about_task(self) -> dict[str, Any]:
            return {"group": self.group}

        def step(self, action: Any) -> Any:
            return None, 0.0, True, False, {"success": action == self.turn}

    def self_side(seed: int) -> str:
        return ("right", "left")[seed % 2]

    plans = commonest_plans(Corridor(), range(12))
    assert plans["east"] == ["go right"] and plans["west"] == ["go left"] and plans[None] in (["go right"], ["go left"])


def test_a_prior_without_an_oracle_is_refused() -> None:
    with pytest.raises(ConfigError, match="with an oracle; got CartPoleEnv"):
        reply("prior", gym.make("CartPole-v1"))
