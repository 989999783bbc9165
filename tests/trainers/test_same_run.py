"""A run goes on as what it was, also when options have been added since it began."""

from __future__ import annotations

import pytest

from agentrl.core.errors import ConfigError
from agentrl.trainers.ppo import PPO
from agentrl.trainers.run_folder import check_same_run


def config(**changed):
    """What a run folder says, with some arguments changed and those set to None missing."""
    arguments = {**PPO(lr=1e-4).to_json(), **changed}
    return {"algorithm": "ppo", "arguments": {name: value for name, value in arguments.items() if value is not None}}


def test_an_option_that_was_added_since_had_its_default():
    check_same_run(config(word_lr=None), PPO(lr=1e-4), "ppo")
    with pytest.raises(ConfigError, match=r"word_lr=0\.25; it cannot be resumed with 0\.05"):
        check_same_run(config(word_lr=None), PPO(lr=1e-4, word_lr=0.05), "ppo")


def test_how_it_is_measured_may_change():
    check_same_run(config(), PPO(lr=1e-4, eval_every=5, eval_at_start=False, eval_episodes=7), "ppo")


def test_another_value_or_algorithm_is_another_run():
    check_same_run(config(), PPO(lr=1e-4), "ppo")
    with pytest.raises(ConfigError, match=r"lr=0\.0001"):
        check_same_run(config(), PPO(lr=2e-4), "ppo")
    with pytest.raises(ConfigError, match="not of steppo"):
        check_same_run(config(), PPO(lr=1e-4), "steppo")


@pytest.mark.parametrize("share", [0.0, -0.1, float("nan")])
def test_word_vectors_need_a_learning_rate(share):
    with pytest.raises(ConfigError, match="word_lr"):
        PPO(word_lr=share)
