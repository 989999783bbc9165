"""The table of all tasks: what is made, drawn and solved, and what is not."""

from __future__ import annotations

import json

import pytest

from agentrl.core.errors import ConfigError
from benchmarks.survey import Arguments, run, starts_by_task, survey


def test_ids_are_grouped_by_the_task_before_the_split() -> None:
    ids = ["reach:test:0", "reach:test:1", "push:test:0", "reach:test:2"]
    assert starts_by_task(ids, "test", 2) == {"reach": ["reach:test:0", "reach:test:1"], "push": ["push:test:0"]}
    assert starts_by_task(["a", "b"], "test", 1) == {"": ["a"]}


def test_a_survey_plays_the_oracle() -> None:
    (row,) = survey("agentrl/FrozenLake-Visual-v0", starts=3)
    assert row.made and row.drawn and (row.solved, row.played) == (3, 3) and row.turns and not row.problem


def test_a_task_without_a_script_is_made_all_the_same(monkeypatch) -> None:
    monkeypatch.setattr("agentrl.envs.grid.frozenlake.FrozenLakeEnv.oracle", lambda env: None)
    (row,) = survey("agentrl/FrozenLake-Visual-v0", starts=2)
    assert row.made and row.drawn and (row.solved, row.played) == (0, 0) and not row.problem


def test_what_cannot_be_made_is_a_row_with_its_reason() -> None:
    (row,) = survey("agentrl/FrozenLake-Text-v0", size=-1)
    assert not row.made and "size must be" in row.problem


def test_the_command_prints_the_table(capsys) -> None:
    assert run(Arguments(name="agentrl/FrozenLake-Text-v0", starts=1, json=True)) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["pass"] and len(printed["tasks"]) == 1
    assert run(Arguments(name="*/FrozenLake-Text*", starts=1)) == 0
    assert "1 made, 1 drawn; the oracle solved 1 of 1" in capsys.readouterr().out
    with pytest.raises(ConfigError, match='Did you mean "grid"'):
        run(Arguments(name="gird"))
