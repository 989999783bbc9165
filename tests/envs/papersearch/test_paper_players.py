"""Players: the oracle solves every task, the words of the question do not, and finding answers pays best."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest

from agentrl.core.errors import ConfigError
from agentrl.envs.papersearch.env import PaperSearchEnv
from agentrl.policies import load_policy
from agentrl.rollout.evaluate import evaluate

SMALL: dict[str, Any] = {"papers": 10_000}
ID = "agentrl/PaperSearch-Text-v0"


def check_oracle(env: PaperSearchEnv, tasks: list[str]) -> int:
    """The most turns that it takes."""
    most = 0
    for task in tasks:
        _, info = env.reset(options={"task": task})
        while (turn := env.oracle()) is not None:
            _, _, _, _, info = env.step(turn)
        assert info["success"] and info["metrics"]["recall@all"] == 1 and info["metrics"]["repeated_calls"] == 0, task
        most = max(most, info["turn"])
    return most


def test_the_oracle_solves_every_twentieth_task_of_every_split() -> None:
    for split in ("train", "dev", "test"):
        env = PaperSearchEnv(**SMALL, split=split)
        assert check_oracle(env, list(env.tasks())[::20]) <= 5


@pytest.mark.long
def test_the_oracle_solves_every_tenth_task_of_the_whole_library() -> None:
    for split in ("train", "dev", "test"):
        env = PaperSearchEnv(split=split)
        assert check_oracle(env, list(env.tasks())[::10]) <= 5


def test_the_words_of_the_question_are_not_enough_and_answers_pay_best() -> None:
    names = ("oracle", "papersearch-words", "papersearch-expand", "papersearch-scout")
    found = {name: evaluate(ID, name, 20, env_kwargs=SMALL) for name in names}
    assert found["oracle"].success == 1 and (found["papersearch-words"].success or 0) < 0.2
    assert all((found["oracle"].reward_mean or 0) > (found[name].reward_mean or 0) for name in names[1:])
    assert found["papersearch-expand"].metrics["expand_calls"] > 10
    assert found["papersearch-words"].metrics["repeated_calls"] == 0


def test_players_refuse_other_environments() -> None:
    with gym.make("agentrl/FrozenLake-Text-v0") as env, pytest.raises(ConfigError, match="needs PaperSearch"):
        env.reset(seed=0)
        load_policy("papersearch-words").act([[]], [env])
