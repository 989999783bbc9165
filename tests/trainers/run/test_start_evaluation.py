"""A run whose model is another run's checkpoint begins with what that run measured of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentrl.trainers.algorithms import grpo, sft
from agentrl.trainers.run.folder import evaluations_before
from agentrl.trainers.run.prompting import further_arguments

SMALL: dict[str, Any] = {
    "iterations": 1,
    "num_envs": 8,
    "eval_every": 5,
    "eval_at_start": False,
    "eval_episodes": 6,
    "save_trajectories": 0,
    "device": "cpu",
    "threads": 1,
}
LEARN: dict[str, Any] = {"episodes": 4, "group_size": 2, "minibatches": 1}


def evaluations(folder: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [line for line in lines if line["kind"] == "eval"]


@pytest.fixture(scope="module")
def imitation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("recipe") / "imitation"
    further = {"demonstrations": 8, "steps_per_iteration": 2, "batch_size": 8, "max_new_tokens": 6, "report": False}
    env = {"env": ("agentrl/FrozenLake-Text-v0",), "env_kwargs": {"max_turns": 2}, "prompt_style": "step"}
    return sft.train(sft.SFT(**SMALL, **env, **further, output=str(output)))


def begun(imitation: Path, **changes: Any) -> grpo.GRPO:
    model = str(imitation / "checkpoints" / "step_1" / "policy")
    return further_arguments(grpo.GRPO, model, **{**SMALL, **LEARN, **changes})


def test_a_stage_begins_with_its_parents_last_evaluation(imitation: Path) -> None:
    folder = grpo.train(begun(imitation, output=str(imitation.parent / "rl")))
    parents, own = evaluations(imitation), evaluations(folder)
    assert [line["iteration"] for line in parents] == [1, 1] and [line["iteration"] for line in own] == [0, 0, 1, 1]
    for before, start in zip(parents, own, strict=False):
        assert start["from"] == {"run": "imitation", "iteration": 1} and "seconds_total" not in start
        for name in ("success", "success_ci", "by_task", "greedy", "env_kwargs", "temperature", "split"):
            assert start[name] == before[name], name
    assert own[2]["env_kwargs"] == {"max_turns": 2} and own[2]["temperature"] == 1.0 and own[3]["temperature"] is None
    text = (folder / "report.html").read_text()
    assert text.count("after iteration 1 of imitation") >= 2 and "6 tasks, 6 episodes" in text


@pytest.mark.parametrize(
    "change",
    [
        {"eval_episodes": 5},
        {"eval_split": "dev"},
        {"env_kwargs": {"max_turns": 3}},
        {"eval_env_kwargs": {"max_turns": 3}},
        {"env": ("agentrl/Sokoban-Text-v0",)},
    ],
)
def test_what_would_be_measured_otherwise_is_not_taken_over(imitation: Path, change: dict[str, Any]) -> None:
    assert len(evaluations_before(begun(imitation))) == 2
    assert evaluations_before(begun(imitation, **change)) == []


def test_only_the_checkpoint_that_was_measured_has_a_start(imitation: Path) -> None:
    (greedy,) = evaluations_before(begun(imitation, eval_modes=("greedy",)))
    assert greedy["greedy"]
    assert [line["greedy"] for line in evaluations_before(begun(imitation, temperature=0.5))] == [True]
    model = str(imitation / "checkpoints" / "step_0" / "policy")
    assert evaluations_before(further_arguments(grpo.GRPO, model, **SMALL)) == []
    assert evaluations_before(grpo.GRPO(model="tiny-text", env=("agentrl/FrozenLake-Text-v0",))) == []
