"""Errands and questions: a tiny model has words for them, whole replies fit, and all four algorithms run to a page."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from importlib.resources import files

import pytest

from agentrl.algorithms import Stage, arguments_class
from agentrl.models.loading import load_model
from agentrl.rollout.collect import Collector, EnvSpec, Start
from agentrl.rollout.demonstrations import Demonstrator
from agentrl.rollout.error_types import EpisodeFacts, to_columns
from benchmarks.learning.command import run_learning
from benchmarks.learning.conditions import run_options
from benchmarks.learning.experiment import over_seeds
from benchmarks.learning.golden import by_golden_steps, golden_rows
from benchmarks.learning.table import EXPERIMENTS

NAMES = ("alfworld", "multihop")
SMALL = {"iterations": 1, "eval_episodes": 4, "num_envs": 8, "save_trajectories": 1, "device": "cpu"}
SMALL |= {"token_budget": 4096}  # of a GPU it is larger, which pads rows of unlike lengths more
START = {"demonstrations": 8, "steps_per_iteration": 2, "batch_size": 4}


def demonstrated(name, count, split="train"):
    """Episodes of the demonstrations that an experiment begins with, in the tokens of its model."""
    options = EXPERIMENTS[name].cells[0].stages[0].options
    chosen = {key: options[key] for key in ("player", "mistake_rate", "mistake_kind") if key in options}
    loaded = load_model(options["model"], "cpu", "float32")
    spec = EnvSpec(options["env"][0], json.loads(options["env_kwargs"]))
    style = {"prompt_style": options["prompt_style"], "history": options["history"]}
    collector = Collector([spec], Demonstrator(loaded, **chosen), split=split, num_envs=8, **style)
    played = collector.collect([Start(seed) for seed in range(count)]).trajectories
    collector.close()
    return options, loaded, played


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.long) for name in NAMES])
def test_demonstrations_fit_into_replies_and_are_good_enough_to_learn_from(name):
    options, loaded, played = demonstrated(name, 60)
    steps = [step for trajectory in played for step in trajectory.steps]
    assert max(len(step.response_ids or ()) for step in steps) <= options["max_new_tokens"]
    assert max(len(step.prompt_ids or ()) for step in steps) + options["max_new_tokens"] <= loaded.context
    assert sum(trajectory.success for trajectory in played) > 0.2 * len(played)


def test_questions_are_imitated_in_other_worlds_than_those_of_reinforcement_and_measured_there():
    start, run = EXPERIMENTS["multihop"].cells[0].stages
    imitation, learning = (
        arguments_class(one.algorithm)(**run_options(one.algorithm, one.options)) for one in (start, run)
    )
    demonstrated = [spec.kwargs["world_seed"] for spec in imitation.specs()]
    (played,), (measured,) = learning.specs(), imitation.eval_specs()
    assert len(set(demonstrated)) == 8 and played.kwargs["world_seed"] not in demonstrated
    assert measured.kwargs == played.kwargs == learning.eval_specs()[0].kwargs


def test_errands_are_demonstrated_without_the_truth():
    start = EXPERIMENTS["alfworld"].cells[0].stages[0]
    assert arguments_class("sft")(**run_options("sft", start.options)).player == "alfworld-search"


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.long) for name in NAMES])
def test_the_vocabulary_has_the_words_of_tasks_nobody_has_seen(name):
    stored = json.loads(files("agentrl.models").joinpath("tiny_words_vocabulary.json").read_text())
    known, pattern = set(stored["tokens"]), re.compile(stored["pattern"])
    _, _, played = demonstrated(name, 20, split="test")
    texts = [step.observation for trajectory in played for step in trajectory.steps]
    pieces = [piece for text in texts for piece in pattern.findall(text)]
    assert "".join(pattern.findall(texts[0])) == texts[0]
    assert sum(piece not in known for piece in pieces) < 0.03 * len(pieces)


def shortened(name):
    """The experiment with hardly any training, of which nothing else is changed."""
    experiment = EXPERIMENTS[name]
    conditions = {}
    for cell in experiment.cells[: len(experiment.labels)]:
        start, run = cell.stages
        episodes = {"episodes": run.options.get("group_size", 8), "eval_every": 1}
        conditions[cell.label] = (
            Stage("sft", {**start.options, **SMALL, **START, "env": start.options["env"][:1]}),  # one world is enough
            Stage(run.algorithm, {**run.options, **SMALL, **episodes}),
        )
    return replace(experiment, cells=over_seeds(conditions, [0]))


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("name", "cells"), [("alfworld", 4), ("multihop", 1)])
def test_algorithms_run_from_the_start_to_a_page_with_golden_steps(name, cells, tmp_path, monkeypatch):
    for size, small in (("EPISODES", 8), ("ROUNDS", 1), ("PASSES", 1), ("MINIBATCHES", 1)):
        monkeypatch.setattr(f"benchmarks.learning.separation.{size}", small)
    experiment = shortened(name)
    chosen = "*" if cells == len(experiment.cells) else experiment.cells[0].title
    result = run_learning(name, cells=chosen, output=tmp_path, known={name: experiment}, force=True)
    assert len(result["finished"]) == cells and not result["failed"]
    assert {frozenset((row["first"], row["second"])) for row in result["separation"][name]["pairs"]} == {
        frozenset(("StepPO", "token PPO")),
        frozenset(("GRPO", "GiGPO")),
    }
    page = (tmp_path / "pages" / f"{name}.md").read_text()
    assert "By the actions that a task takes at least" in page
    assert ("StepPO above GiGPO" in page) == (cells == 4)


def test_golden_steps_are_counted_over_all_seeds():
    facts = [EpisodeFacts(True, 5, steps=4), EpisodeFacts(False, 12, steps=4), EpisodeFacts(True, 6, steps=6), None]
    rows = by_golden_steps({"by_task": to_columns(facts)})
    assert rows == [[4, 2, 1, 17], [6, 1, 1, 6]] and by_golden_steps({}) == []
    ends = {"start": {"sampled": {"golden": rows[:1]}}, "end": {"sampled": {"golden": rows}}}
    cells = [{"label": "one", **ends}, {"label": "one", **ends}]
    assert golden_rows(cells, ["sampled"]) == [
        ("imitation", "sampled", "4", "2", "0.500", "+4.5"),
        ("one", "sampled", "4", "4", "0.500", "+4.5"),
        ("one", "sampled", "6", "2", "1.000", "+0.0"),
    ]
