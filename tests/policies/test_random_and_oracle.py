"""The floor and the ceiling."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

import agentrl  # noqa: F401
from agentrl.core.errors import ConfigError
from agentrl.policies.oracle import OraclePolicy, gold_action
from agentrl.policies.random import RandomPolicy


@pytest.fixture
def lake():
    env = gym.make("agentrl/FrozenLake-Text-v0")
    yield env
    env.close()


def actions(policy, env, seed, count=8):
    env.reset(seed=seed)
    return [policy.act([[]], [env])[0].action for _ in range(count)]


def test_random_actions_follow_from_the_two_seeds_alone(lake):
    first = actions(RandomPolicy(seed=1), lake, 7)
    policy = RandomPolicy(seed=1)
    actions(policy, lake, 99)  # another episode before it changes nothing
    assert actions(policy, lake, 7) == first
    assert actions(policy, lake, 7) == first  # the same seed twice in a row, too
    assert actions(policy, gym.make("agentrl/FrozenLake-Text-v0"), 7) == first
    assert actions(RandomPolicy(seed=2), lake, 7) != first
    assert actions(policy, lake, 8) != first


def test_random_actions_do_not_depend_on_the_batch(lake):
    other = gym.make("agentrl/FrozenLake-Text-v0")
    alone = actions(RandomPolicy(), lake, 7)
    policy = RandomPolicy()
    lake.reset(seed=7)
    other.reset(seed=8)
    together = [policy.act([[], []], [other, lake]) for _ in alone]
    assert [answers[1].action for answers in together] == alone


def test_an_unseeded_reset_goes_on_with_the_stream(lake):
    policy = RandomPolicy()
    first = actions(policy, lake, 7)
    lake.reset()
    assert [policy.act([[]], [lake])[0].action for _ in first] != first


def test_random_play_leaves_the_environment_and_the_global_rng_alone(lake):
    lake.reset(seed=7)
    before, stream = np.random.get_state()[1].tolist(), lake.action_space.np_random.bit_generator.state
    world = lake.unwrapped.snapshot()
    RandomPolicy().act([[]], [lake])
    assert np.random.get_state()[1].tolist() == before
    assert lake.action_space.np_random.bit_generator.state == stream
    assert lake.unwrapped.snapshot() == world


@pytest.mark.parametrize("kind", ["Grid", "Text", "Visual"])
def test_random_actions_are_legal(kind):
    env = gym.make(f"agentrl/FrozenLake-{kind}-v0")
    for action in actions(RandomPolicy(), env, 3, count=50):
        assert env.action_space.contains(action)


@pytest.mark.parametrize("policy", [RandomPolicy(), OraclePolicy()])
def test_policies_that_look_at_environments_say_so_when_they_get_none(policy, lake):
    with pytest.raises(ConfigError, match="looks at the environments"):
        policy.act([[]])
    with pytest.raises(ConfigError, match="one for each"):
        policy.act([[], []], [lake])


@pytest.mark.parametrize("kind", ["Grid", "Text", "Visual"])
def test_the_oracle_solves_every_level(kind):
    env, policy = gym.make(f"agentrl/FrozenLake-{kind}-v0"), OraclePolicy()
    for seed in range(20):
        env.reset(seed=seed)
        over = False
        while not over:
            _, _, terminated, truncated, info = env.step(policy.act([[]], [env])[0].action)
            over = terminated or truncated
        assert info["success"]


def test_where_the_oracle_knows_no_way_a_legal_action_keeps_the_episode_going(lake):
    lake.reset(options={"task": "PO__/OO__/__G_/____"})
    assert lake.unwrapped.oracle() is None
    (answer,) = OraclePolicy().act([[]], [lake])
    assert lake.action_space.contains(answer.action)
    assert lake.step(answer.action)[4]["valid"]


class Quoting(gym.Wrapper):
    """Asks for a format and offers the gold turn in it."""

    def gold(self):
        return f"<answer>{self.unwrapped.oracle()}</answer>"


def test_the_oracle_uses_the_format_a_wrapper_asks_for(lake):
    env = gym.wrappers.TimeLimit(Quoting(lake), 100)
    env.reset(seed=1)
    assert OraclePolicy().act([[]], [env])[0].text == f"<answer>{lake.unwrapped.oracle()}</answer>"


def test_an_environment_without_an_oracle_is_refused_in_words():
    with pytest.raises(ConfigError, match="CartPoleEnv has no oracle"):
        gold_action(gym.make("CartPole-v1"))


def test_an_oracle_that_does_not_fit_the_wrappers_is_refused(lake):
    env = gym.wrappers.TransformAction(lake, lambda number: "Up", gym.spaces.Discrete(4))
    env.reset(seed=1)
    with pytest.raises(ConfigError, match="wrappers do not accept"):
        gold_action(env)
