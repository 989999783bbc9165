"""`agentrl tasks`: proposals in a table or as JSON, and clear words about what is no task."""

from __future__ import annotations

import json

import pytest

from agentrl.cli.main import main
from agentrl.core.task_generator import KINDS

LAKE = "agentrl/FrozenLake-Text-v0"


def test_proposals_are_printed_with_kind_and_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["tasks", LAKE, "--count", "12", "--env-kwargs", '{"size": 3}']
    assert main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["tasks"]) == 12 and {task["kind"] for task in told["tasks"]} <= set(KINDS)
    assert main(words) == 0
    assert all(task["id"] in capsys.readouterr().out for task in told["tasks"][:1])
    like = told["seeds"][0]
    assert main([*words, "--like", like, "--seed", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["seeds"] == [like]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--like", "nonsense"], "a level must be"),
        (["--count", "0"], "count must be"),
        (["--generator", "nobody"], "JSON object"),
        (["--generator", '{"kind": "llm", "model": "m"}'], "built-in tasks only"),
    ],
)
def test_what_cannot_work_is_said_in_one_line(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tasks", LAKE, "--env-kwargs", '{"size": 3}', *words]) != 0
    error = capsys.readouterr().err
    assert said in error and "Traceback" not in error
