"""The oracle solves everything from anywhere; the naive baseline earns about half; weakened oracles make mistakes."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

import agentrl
from agentrl.envs.webshop.env import WebShopEnv
from agentrl.envs.webshop.players import NaiveShopper
from agentrl.policies import load_policy
from agentrl.rollout.demonstrations import Demonstrator
from tests.envs.webshop.shop_kit import SMALL, small_shop

GOALS = 500
ENOUGH_PRODUCTS = 26_000  # fewer give fewer than 500 goals of the test split


@pytest.fixture(scope="module")
def shop() -> WebShopEnv:
    env = WebShopEnv(catalogue_size=ENOUGH_PRODUCTS, split="test")
    assert len(env.tasks()) >= GOALS - 2  # splits hold whole pairs of families
    return env


def test_the_oracle_buys_what_is_wanted_for_500_goals(shop: WebShopEnv, record_property: pytest.RecordProperty) -> None:
    rewards, turns = [], []
    for task in shop.tasks()[:GOALS]:
        shop.reset(options={"task": task})
        reward, needed = 0.0, []
        while (action := shop.oracle()) is not None:
            needed.append(shop.actions_needed())
            _, reward, *_, info = shop.step(action)
        assert needed == list(range(info["turn"], 0, -1))  # it knows how far it is
        rewards.append(reward)
        turns.append(info["turn"])
    record_property("figures", f"{len(rewards)} goals, mean reward {np.mean(rewards)}, {np.mean(turns):.2f} turns")
    assert rewards == [1.0] * len(rewards)
    assert max(turns) <= 10


def test_buying_the_first_result_earns_between_three_and_six_tenths(
    shop: WebShopEnv, record_property: pytest.RecordProperty
) -> None:
    rewards, solved = [], 0
    for task in shop.tasks()[:GOALS]:
        shop.reset(options={"task": task})
        over, reward = False, 0.0
        while not over:
            _, reward, over, truncated, info = shop.step(NaiveShopper().turn(shop.unwrapped))
            over = over or truncated
        rewards.append(reward)
        solved += info["success"]
    record_property("figures", f"mean reward {np.mean(rewards):.3f}, success {solved / len(rewards):.3f}")
    assert 0.3 <= np.mean(rewards) <= 0.6
    assert solved / len(rewards) < 0.2


def test_the_oracle_finds_the_way_from_wherever_somebody_got_lost() -> None:
    env, rng = small_shop(max_turns=60), np.random.default_rng(0)
    for seed in range(60):
        env.reset(seed=seed)
        for _ in range(int(rng.integers(1, 12))):
            choices = [action for action in env.legal_actions() if action != "click[buy now]"]
            env.step(choices[rng.integers(len(choices))])
        reward = 0.0
        while (action := env.oracle()) is not None:
            _, reward, *_, info = env.step(action)
            assert info["valid"]
        assert reward == 1.0, (seed, env.state())


def test_legal_actions_are_all_valid() -> None:
    env = small_shop(max_turns=1_000)
    for seed in range(5):
        env.reset(seed=seed)
        while (right := env.oracle()) is not None:
            blob = env.snapshot()
            for action in env.legal_actions():
                assert env.step(action)[4]["valid"], action
                env.restore(blob)
            env.step(right)
        assert env.legal_actions() == []


def played(policy, episodes: int = 60) -> tuple[float, float, list[list[str]]]:
    """Mean reward, share of invalid turns, and the actions of each episode."""
    env = gym.make("agentrl/WebShop-Text-v0", catalogue_size=SMALL, split="train")
    rewards, invalid, turns, actions = [], 0, 0, []
    for seed in range(episodes):
        env.reset(seed=seed)
        over, reward, ran = False, 0.0, []
        while not over:
            (answer,) = policy.act([[]], [env])
            _, reward, terminated, truncated, info = env.step(answer.action)
            over = terminated or truncated
            invalid, turns = invalid + (not info["valid"]), turns + 1
            ran += info["actions"]
        rewards.append(reward)
        actions.append(ran)
    return float(np.mean(rewards)), invalid / turns, actions


def test_mistakes_of_a_weakened_oracle_make_sense_in_a_shop() -> None:
    right, wrong_share, straight = played(Demonstrator(seed=0))
    assert (right, wrong_share) == (1.0, 0.0)
    rambling, wrong_share, detours = played(Demonstrator(mistake_rate=0.7, seed=0))
    assert wrong_share == 0.0 and 0.3 < rambling < 0.97  # random mistakes are things one can do on the page
    assert sum(map(len, detours)) > 1.3 * sum(map(len, straight))
    hasty, wrong_share, actions = played(Demonstrator(mistake_rate=0.5, mistake_kind="hasty", seed=0))
    assert wrong_share == 0.0 and 0.3 < hasty < 0.97
    assert min(map(len, actions)) == 3  # some searched, opened the first result and bought it as it was


def test_policies_are_found_by_name_and_repeat_with_their_seed() -> None:
    naive, _, actions = played(load_policy("webshop-naive"), 20)
    assert 0.2 < naive < 0.7 and all(len(ran) == 3 for ran in actions)
    assert played(load_policy("random", seed=3), 10) == played(load_policy("random", seed=3), 10)
    assert played(load_policy("random", seed=3), 10)[1] == 0.0


def test_the_naive_shopper_refuses_what_is_no_shop() -> None:
    env = gym.make("agentrl/FrozenLake-Text-v0")
    env.reset(seed=0)
    with pytest.raises(agentrl.core.errors.ConfigError, match="shop"):
        load_policy("webshop-naive").act([[]], [env])
