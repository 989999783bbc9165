"""Scarce tasks: who may see which lakes, that all play as much, and that nothing is chosen on the test split."""

from __future__ import annotations

import json

import gymnasium as gym
import numpy as np
import pytest

import agentrl  # noqa: F401
from agentrl.core.task_generator import Task
from benchmarks.learning.chains import LAKE
from benchmarks.learning.results import KEPT, read_results
from benchmarks.learning.scarce import LONG, METHODS, NAME, SCARCE, SWEEP
from benchmarks.learning.table import EXPERIMENTS, SWEEPS
from benchmarks.learning.tuned import PATH, best

EXPERIMENT = EXPERIMENTS[NAME]
LAST = {cell.label: cell.stages[-1] for cell in EXPERIMENT.cells}
LEARNED = {label: stage for label, stage in LAST.items() if stage.algorithm != "sft"}


def lakes(kwargs, split):
    env = gym.make(LAKE, split=split, **kwargs).unwrapped
    return env, list(env.tasks()[:500]), env._pool.lengths


@pytest.mark.long
def test_the_start_sees_short_lakes_and_the_others_64_long_ones_and_are_measured_on_all():
    start = EXPERIMENT.cells[0].stages[0].options
    *_, short = lakes(start["env_kwargs"], "train")
    assert len(short) > 10_000 and short.max() == 4
    for stage in LEARNED.values():
        assert stage.options["env_kwargs"] == {**LONG, "levels": 64}
        assert stage.options["eval_env_kwargs"] == start["eval_env_kwargs"] and stage.options["eval_episodes"] == 400
    env, own, lengths = lakes(SCARCE.learning["env_kwargs"], "train")
    assert len(own) == 64 and lengths.min() >= 6
    _, tested, lengths = lakes(SCARCE.task["eval_env_kwargs"], "test")
    assert len(lengths) > 400 and lengths.min() >= 6 and not set(own) & set(tested)
    made = env.task_generator().propose([Task(own[0])], 40, np.random.default_rng(0))
    assert len(made) == 40 and not {task.id for task in made} & {*own, *tested}  # the curriculum has others


def test_every_condition_plays_as_many_episodes():
    for label, stage in LEARNED.items():
        options = stage.options
        rounds = 1 if stage.algorithm in ("filtered_bc", "awr") else options["iterations"]
        assert options["start_tasks"] + rounds * options["tasks_per_phase"] == 2304, label
    assert LAST["ceiling"].options["demonstrations"] == 2304
    assert LAST["ceiling"].options["env_kwargs"] == LONG


def test_only_the_curriculum_makes_tasks():
    made = {label for label, stage in LEARNED.items() if stage.options.get("curriculum", stage.algorithm == "webrl")}
    assert made == {label for label in LEARNED if "curriculum" in label and "no curriculum" not in label}
    rest = [stage.options for label, stage in LEARNED.items() if label not in made]
    assert all(options["first_tasks"] == "training" for options in rest)


def test_the_sweep_has_as_many_values_for_each_method_and_looks_at_the_dev_split():
    assert {len(values) for *_, values in METHODS.values()} == {4}
    options = [cell.stages[-1].options for cell in EXPERIMENTS[SWEEP].cells]
    assert {one["eval_split"] for one in options} == {"dev"}
    steps = EXPERIMENTS["one-move-clips"].cells
    counts = [sum(cell.label.startswith(label) for cell in steps) for label in ("StepPO", "token PPO")]
    assert counts == [4, 4] and {cell.stages[-1].options["eval_split"] for cell in steps} == {"dev"}


def swept(label: str, wins: int, **options) -> dict:
    end = {"sampled": {"wins": wins, "episodes": 100, "outcomes": ""}}
    return {"label": label, "seed": 0, "finished": True, "end": end, "stages": [{}, {"options": options}]}


def test_the_best_of_a_sweep_is_chosen_method_by_method():
    cells = [
        swept("A, lr 1", 30, lr=1.0, beta=2),
        swept("A, lr 2", 40, lr=2.0, beta=2),
        swept("B, beta 1", 50, beta=1),
    ]
    assert best(cells, {"A": ["lr"], "B": ["beta"], "C": ["lr"]}) == {"A": {"lr": 2.0}, "B": {"beta": 1}}


@pytest.mark.parametrize("name", SWEEPS)
def test_what_is_chosen_is_the_best_of_the_kept_sweep(name):
    chosen = json.loads(PATH.read_text())
    assert set(SWEEPS[name]) <= set(chosen)
    results = read_results(KEPT, EXPERIMENTS[name])
    found = best(results["cells"], SWEEPS[name]) if results else {}
    assert {method: chosen[method] for method in found} == found
    if name == SWEEP and results:  # the gate: neither hopeless nor easy before it is learned
        starts = [cell["start"]["sampled"]["success"] for cell in results["cells"]]
        assert 0.05 <= sum(starts) / len(starts) <= 0.2
