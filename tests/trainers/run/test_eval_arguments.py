"""Evaluations may have arguments of their own: what training is limited to, they need not be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentrl.core.errors import ConfigError
from agentrl.rollout.error_types import from_columns
from agentrl.trainers.algorithms import grpo

FEW: dict[str, Any] = {
    "env": ("agentrl/FrozenLake-Text-v0",),
    "env_kwargs": {"levels": 2},
    "iterations": 1,
    "episodes": 8,
    "num_envs": 8,
    "max_new_tokens": 4,
    "eval_every": 1,
    "eval_episodes": 12,
    "eval_modes": ("greedy",),
    "eval_at_start": False,
    "save_trajectories": -1,
    "device": "cpu",
    "threads": 1,
}


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def test_evaluations_see_other_levels_than_training_where_they_are_told_to(tmp_path) -> None:
    args = grpo.GRPO(**FEW, eval_env_kwargs={"levels": None}, output=str(tmp_path / "run"))
    assert args.from_json(args.to_json()) == args
    (line,) = [line for line in lines(grpo.train(args)) if line["kind"] == "eval"]
    assert len({one.task for one in from_columns(line["by_task"]) if one}) == 12
    assert line["env_kwargs"] == {"levels": None}
    assert "FrozenLake" in (tmp_path / "run" / "report.html").read_text()  # which plays levels of the evaluation again


def test_training_keeps_its_own_arguments() -> None:
    args = grpo.GRPO(**FEW, eval_env_kwargs={"levels": None, "max_turns": 4})
    assert args.specs()[0].kwargs == FEW["env_kwargs"]
    assert args.eval_specs()[0].kwargs == {"levels": None, "max_turns": 4}


def test_environments_that_differ_only_in_what_measurements_replace_are_measured_once() -> None:
    lakes = [{"id": FEW["env"][0], "kwargs": {"levels": levels}, "weight": levels} for levels in (2, 3)]
    both = grpo.GRPO(**FEW | {"env": lakes})
    one = grpo.GRPO(**FEW | {"env": lakes}, eval_env_kwargs={"levels": None})
    assert [spec.kwargs for spec in both.eval_specs()] == [{"levels": 2}, {"levels": 3}]
    assert [spec.kwargs for spec in one.eval_specs()] == [{"levels": None}] and len(one.specs()) == 2


@pytest.mark.parametrize(
    ("given", "said"), [([1], "eval_env_kwargs must be a dict"), ({"split": "dev"}, "choose the split")]
)
def test_wrong_ones_are_refused(given, said) -> None:
    with pytest.raises(ConfigError, match=said):
        grpo.GRPO(eval_env_kwargs=given)
