"""Scarce web tasks: who may see which tasks, that all play as much, and that the start is chosen on the dev split."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from agentrl.core.task_generator import Task
from benchmarks.learning.scarce_web import CHANGING, NAME, PRACTISED, READING, SCARCE_WEB, STARTS, TESTED
from benchmarks.learning.table import EXPERIMENTS
from benchmarks.learning.webrl_worlds import WEB

CELLS = EXPERIMENTS[NAME].cells
LEARNED = {cell.label: cell.stages[-1].options for cell in CELLS if cell.label != "SFT"}


def tasks_of(options, split):
    env: Any = gym.make(WEB, split=split, **options).unwrapped
    return env, list(env.tasks())


def turns_of(env, task):
    """Of the oracle, which must solve it."""
    env.reset(options={"task": task})
    for turn in range(1, env.max_turns + 1):
        *_, terminated, truncated, info = env.step(env.oracle())
        if terminated or truncated:
            assert info["success"], task
            return turn
    raise AssertionError(task)


def test_the_start_knows_single_tasks_and_few_joined_ones_and_others_are_tested():
    single, few = (stage.options for stage in CELLS[0].stages)
    _, seen = tasks_of(single["env_kwargs"], "train")
    _, shown = tasks_of(few["env_kwargs"], "train")
    assert not any("+" in task for task in seen) and all("+" in task for task in shown)
    for options in (few, *LEARNED.values()):
        _, tested = tasks_of({**options["env_kwargs"], **options["eval_env_kwargs"]}, "test")
        assert len(tested) == TESTED == options["eval_episodes"] and all("+" in task for task in tested)
    for options in LEARNED.values():
        env, own = tasks_of(options["env_kwargs"], "train")
        assert len(own) == PRACTISED and set(shown) <= set(own) and not set(own) & set(tested)
        assert {tuple(part.partition(".")[0] for part in task.split("+")) for task in own} == {
            (change, reading) for change in CHANGING for reading in READING
        }
    made = env.task_generator().propose([Task(task) for task in own], 60, np.random.default_rng(0))
    assert len(made) == 60 and not {task.id for task in made} & {*own, *tested}
    assert {"+" in task.id for task in made} == {True, False}  # parts are easier
    assert all(env.instruction_of(task.id) == task.instruction for task in made)


@pytest.mark.long
@pytest.mark.parametrize(("split", "count"), [("train", PRACTISED), ("test", TESTED)])
def test_all_tasks_can_be_done_with_turns_to_spare(split, count):
    env, tasks = tasks_of({**SCARCE_WEB.learning["env_kwargs"], "joined": count}, split)
    assert {turns_of(env, task) for task in tasks} == {8, 9} and env.max_turns == 14


def test_every_condition_plays_as_many_episodes_of_its_start_and_seed():
    played = {
        options["start_tasks"] + options["iterations"] * options["tasks_per_phase"] for options in LEARNED.values()
    }
    assert len(played) == 1 and len({cell.runs()[1].name for cell in CELLS}) == 1
    assert LEARNED["DigiRL"]["curriculum"] is False and LEARNED["DigiRL"]["first_tasks"] == "training"
    assert {cell.label: sum(one.label == cell.label for one in CELLS) for cell in CELLS} == {"SFT": 1} | dict.fromkeys(
        LEARNED, 3
    )


def test_starts_are_chosen_on_the_dev_split_and_one_of_them_is_the_one_taken():
    taken = dict(CELLS[0].stages[-1].options)
    found = [dict(cell.stages[-1].options) for cell in EXPERIMENTS[STARTS].cells]
    assert {one["eval_split"] for one in found} == {"dev"} and "eval_split" not in taken
    assert taken | {"eval_split": "dev", "eval_modes": ["sampled"]} in found
