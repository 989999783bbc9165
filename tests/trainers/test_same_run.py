"""A run goes on as what it was, also when options have been added since it began."""

from __future__ import annotations

import json

import pytest

from agentrl.cli.plan import make_plan
from agentrl.cli.train_options import read_words
from agentrl.core.errors import ConfigError
from agentrl.trainers.ppo import PPO
from agentrl.trainers.run_folder import check_same_run, rules_of_before


def config(**changed):
    """What a run folder says, with some arguments changed and those set to None missing."""
    arguments = {**PPO(lr=1e-4).to_json(), **changed}
    return {"algorithm": "ppo", "arguments": {name: value for name, value in arguments.items() if value is not None}}


def test_an_option_that_was_added_since_had_its_default():
    check_same_run(config(embedding_lr=None), PPO(lr=1e-4), "ppo")
    with pytest.raises(ConfigError, match=r"embedding_lr=0\.25; it cannot be resumed with 0\.05"):
        check_same_run(config(embedding_lr=None), PPO(lr=1e-4, embedding_lr=0.05), "ppo")


def test_a_run_from_before_the_format_rule_has_the_paper_s(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(config(format_rule=None)))
    assert rules_of_before(tmp_path) == {"format_rule": "paper"}
    check_same_run(config(format_rule=None), PPO(lr=1e-4, format_rule="paper"), "ppo")
    with pytest.raises(ConfigError, match="format_rule='paper'; it cannot be resumed with 'effective'"):
        check_same_run(config(format_rule=None), PPO(lr=1e-4), "ppo")
    (plan,) = make_plan(read_words(["--resume", str(tmp_path)])).runs
    assert plan.arguments.format_rule == "paper"
    (tmp_path / "config.json").write_text(json.dumps(config()))
    assert rules_of_before(tmp_path) == {} == rules_of_before(tmp_path / "nothing")


def test_a_run_of_turns_from_before_they_had_forms_has_the_released_one(tmp_path):
    before = config(variant="turn", form="paper", critic_epochs=None)
    (tmp_path / "config.json").write_text(json.dumps(before))
    assert rules_of_before(tmp_path) == {"form": "released"}
    check_same_run(before, PPO(lr=1e-4, variant="turn", form="released"), "ppo")
    with pytest.raises(ConfigError, match="form='released'; it cannot be resumed with 'paper'"):
        check_same_run(before, PPO(lr=1e-4, variant="turn"), "ppo")
    (plan,) = make_plan(read_words(["--resume", str(tmp_path)])).runs
    assert getattr(plan.arguments, "form") == "released"  # noqa: B009
    check_same_run(config(variant="turn"), PPO(lr=1e-4, variant="turn"), "ppo")
    check_same_run(config(variant="bilevel", critic_epochs=None), PPO(lr=1e-4, variant="bilevel"), "ppo")


def test_the_rule_of_a_run_holds_for_every_layer_that_names_none():
    layers = [{"wrapper": "Reasoning"}, {"wrapper": "Reasoning", "format_rule": "paper"}, {"wrapper": "History"}]
    (spec,) = PPO(strategy="grounding", judge="rule", wrap=json.dumps(layers)).specs()
    rules = [layer.get("format_rule") for layer in spec.wrappers]
    assert rules == ["effective", None, "effective", "paper", None]
    (spec,) = PPO(
        env=(json.dumps({"id": "agentrl/FrozenLake-Text-v0", "wrappers": layers}),), format_rule="paper"
    ).specs()
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
