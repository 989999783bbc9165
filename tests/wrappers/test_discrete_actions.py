"""DiscreteActions and ImageObservation: what classic RL libraries need."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

from agentrl.core.errors import ConfigError
from agentrl.wrappers import DiscreteActions, ImageObservation, Reasoning

SINGLE = {"max_turns": 9, "max_actions_per_turn": 1}


def make(game: str = "Sokoban", kind: str = "Visual", **options: Any) -> DiscreteActions:
    return DiscreteActions(gym.make(f"agentrl/{game}-{kind}-v0", **(SINGLE | options)))


@pytest.mark.parametrize("number", range(4))
def test_numbers_are_the_actions_of_the_grid_kind(number: int) -> None:
    env, grid = make(), gym.make("agentrl/Sokoban-Grid-v0")
    assert env.action_space == grid.action_space == spaces.Discrete(4)
    _, info = env.reset(seed=3)
    grid.reset(options={"task": info["task"]})
    mine, theirs = env.step(number), grid.step(number)
    assert mine[1] == theirs[1]
    assert mine[4]["state"] == theirs[4]["state"]
    assert mine[4]["actions"] == theirs[4]["actions"]


@pytest.mark.parametrize("one", [np.int64(1), np.array(1), np.array([1])])
def test_what_libraries_pass_for_a_number_is_one(one: Any) -> None:
    env = make()
    env.reset(seed=0)
    assert env.step(one)[4]["actions"] == ["Down"]


@pytest.mark.parametrize("bad", [-1, 4, 10**30, 1.0, True, None, "Up", "1", float("nan"), np.array([1, 2]), [], {}])
def test_anything_else_is_an_invalid_turn(bad: Any) -> None:
    env = make()
    env.reset(seed=0)
    obs, reward, _, _, info = env.step(bad)
    assert (info["valid"], info["fault"], reward) == (False, "unparsed", -0.1)
    assert info["feedback"] == "Invalid: an action is a whole number from 0 to 3."
    assert info["feedback"] in obs["text"]


@pytest.mark.parametrize("game", ["Sokoban", "FrozenLake"])
def test_every_level_can_be_solved_one_action_a_turn(game: str) -> None:
    env = make(game, "Text")
    for seed in range(50):
        env.reset(seed=seed)
        over, info = False, {}
        while not over:
            _, _, terminated, truncated, info = env.step(env.oracle())
            over = terminated or truncated
        assert info["success"]
        assert env.oracle() is None


def test_limits_that_no_level_fits_are_refused_with_the_fix() -> None:
    with pytest.raises(ConfigError, match=r"max_turns=9, max_actions_per_turn=1"):
        make(max_turns=3, max_actions_per_turn=3)


def test_limits_that_only_some_levels_fit_are_warned_about() -> None:
    with pytest.warns(UserWarning, match="cannot be solved"):
        make(max_turns=6, max_actions_per_turn=3, max_solution=9)


def test_wrong_stacks_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="whole numbers already"):
        DiscreteActions(gym.make("agentrl/Sokoban-Grid-v0"))
    env = gym.make("agentrl/Sokoban-Text-v0", **SINGLE)
    with pytest.raises(ConfigError, match="numbers have no form: leave one of the two out"):
        DiscreteActions(Reasoning(env))
    monkeypatch.setattr(type(env.unwrapped), "action_names", ())
    with pytest.raises(ConfigError, match="no finite list"):
        DiscreteActions(env)


# ---------------------------------------------------------------------- pictures alone


def test_the_observation_is_the_picture() -> None:
    inner = gym.make("agentrl/Sokoban-Visual-v0", image_size=64)
    env = ImageObservation(inner)
    obs, info = env.reset(seed=1)
    assert env.observation_space == spaces.Box(0, 255, (64, 64, 3), np.uint8)
    assert obs in env.observation_space
    inner.reset(options={"task": info["task"]})
    after, *_ = env.step("Up, Left, Down")
    inner.reset(options={"task": info["task"]})
    assert np.array_equal(after, inner.step("Up, Left, Down")[0]["image"])


@pytest.mark.parametrize(
    ("kind", "key"), [("Text", "image"), ("Grid", "image"), ("Visual", "depth"), ("Visual", "text")]
)
def test_what_has_no_such_picture_is_refused(kind: str, key: str) -> None:
    with pytest.raises(ConfigError, match=key):
        ImageObservation(gym.make(f"agentrl/Sokoban-{kind}-v0"), key)


def test_together_they_pass_gymnasiums_checker() -> None:
    env = ImageObservation(make(image_size=48))
    with pytest.warns(UserWarning, match="different from the unwrapped"):  # it prefers bare environments
        check_env(env, skip_render_check=True)
