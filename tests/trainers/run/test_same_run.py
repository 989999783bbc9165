"""A run goes on as what it was."""

from __future__ import annotations

import pytest

from agentrl.core.errors import ConfigError
from agentrl.trainers.algorithms.ppo import PPO
from agentrl.trainers.run.folder import check_same_run


def config(**changed):
    """What a run folder says, with some arguments changed."""
    return {"algorithm": "ppo", "arguments": {**PPO(lr=1e-4).to_json(), **changed}}


def test_the_rule_of_a_run_holds_for_every_layer_that_names_none():
    layers = [{"wrapper": "Reasoning"}, {"wrapper": "Reasoning", "format_rule": "paper"}, {"wrapper": "History"}]
    (spec,) = PPO(strategy="grounding", judge="rule", wrap=layers).specs()
    rules = [layer.get("format_rule") for layer in spec.wrappers]
    assert rules == ["effective", None, "effective", "paper", None]
    (spec,) = PPO(env=({"id": "agentrl/FrozenLake-Text-v0", "wrappers": layers},), format_rule="paper").specs()
    assert [layer.get("format_rule") for layer in spec.wrappers] == ["paper", "paper", None]


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
    with pytest.raises(ConfigError, match="embedding_lr"):
        PPO(embedding_lr=share)
