"""`agentrl orm`: judges of outcomes beside the true evaluator, on played episodes and on files."""

from __future__ import annotations

import json

import pytest

LAKE = "agentrl/FrozenLake-Text-v0"
PERFECT = '{"kind": "tests.cli.test_orm_verb:Reads"}'
HALF = '{"kind": "tests.toy_judges:Constant", "value": 0.5}'
DOWN = '{"kind": "tests.toy_judges:Down"}'


class Reads:
    """Sees who stands on the goal."""

    def score_sync(self, requests):
        from agentrl.core.judging import Verdict

        return [Verdict(0.9 if "*" in request.state["page"] else 0.2, "reads") for request in requests]

    async def score(self, requests):
        return self.score_sync(requests)


def test_a_judge_and_another_are_measured_on_the_episodes_of_several_players(agentrl_cli, tmp_path):
    saved = tmp_path / "episodes.jsonl"
    words = ("--judge", PERFECT, "--against", HALF, "--episodes", "12", "--players", "oracle", "random", "--json")
    done = agentrl_cli("orm", LAKE, *words, "--output", str(saved))
    assert done.status == 0 and done.json["episodes"] == 24 and done.json["split"] == "test"
    good, half = (one["players"] for one in done.json["judges"])
    assert set(good) == {"all", "oracle", "random"} and good["oracle"]["success"] == 1.0
    assert good["all"]["accuracy"] == 1.0 == good["all"]["balanced_accuracy"] > good["all"]["base_rate"]
    assert half["all"]["accuracy"] == 1 - good["all"]["success"] and half["all"]["auc"] == 0.5
    assert sum(each["count"] for each in half["all"]["bins"]) == sum(half["all"]["confusion"].values()) == 24
    again = agentrl_cli("orm", "--data", str(saved), "--judge", PERFECT, "--json")
    assert again.json["judges"][0]["players"] == good and again.json["id"] is None
    shown = agentrl_cli("orm", "--data", str(saved), "--judge", PERFECT).out
    assert "Reliability" in shown and "Confusion" in shown and "not done" in shown


def test_a_judge_that_never_answers_fails_and_is_not_scored(agentrl_cli):
    done = agentrl_cli("orm", LAKE, "--judge", DOWN, "--episodes", "2", "--players", "oracle", "--json")
    figures = done.json["judges"][0]["players"]["all"]
    assert done.status == 1 and figures["unanswered"] == 2 and figures["accuracy"] is None
    assert done.json["judges"][0]["first_fault"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--judge", "outcom"), "or --data"),
        ((LAKE, "--judge", "outcom"), "unknown judge"),
        ((LAKE, "--judge", HALF, "--players", "nobody"), "unknown policy"),
        ((LAKE, "--judge", HALF, "--threshold", "2"), "--threshold must be"),
        ((LAKE, "--judge", HALF, "--episodes", "0"), "--episodes"),
    ],
)
def test_what_cannot_be_measured_is_said(words, says, agentrl_cli):
    done = agentrl_cli("orm", *words, "--json")
    assert done.status != 0 and says in json.dumps(done.json)
