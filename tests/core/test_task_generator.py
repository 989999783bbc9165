"""Generators of tasks: what every environment gets without one of its own, and what hostile seeds cannot break."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from counter_env import CounterEnv

from agentrl.core.errors import ConfigError
from agentrl.core.task_generator import OtherTasks, Task, TaskGenerator

HOSTILE: list[Any] = [
    Task("no such task"),
    Task("1", {"size": 10**9}),
    Task(7),  # pyright: ignore[reportArgumentType]
    Task(["a"]),  # pyright: ignore[reportArgumentType]
    Task("\udcff\x00" * 1000),
    None,
    "1",
    {"id": "1"},
]


class ManyCounts(CounterEnv):
    """A counter with enough tasks to choose among."""

    def tasks(self) -> list[str]:
        return [str(number) for number in range(100)]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_every_environment_proposes_other_tasks_of_its_training_split() -> None:
    generator = ManyCounts().task_generator()
    assert isinstance(generator, TaskGenerator)
    seeds = [Task("50")]
    found = generator.propose(seeds, 20, rng())
    assert len(found) == len(set(found)) == 20
    assert {task.kind for task in found} == {"nearby", "new"}
    assert all(task.id in ManyCounts().tasks() and generator.feasible(task) for task in found)
    assert all(0 < abs(int(task.id) - 50) <= OtherTasks.reach for task in found if task.kind == "nearby")
    assert found == generator.propose(seeds, 20, rng()) == ManyCounts().task_generator().propose(seeds, 20, rng())
    assert found != generator.propose(seeds, 20, rng(1))


def test_a_generator_gives_fewer_tasks_where_there_are_no_more() -> None:
    generator = CounterEnv().task_generator()
    assert {task.id for task in generator.propose([Task("0")], 50, rng())} == {"1", "2"}
    assert generator.propose([Task("0")], 0, rng()) == []
    with pytest.raises(ConfigError, match="count must be a whole number"):
        generator.propose([], -1, rng())


def test_seeds_that_are_no_tasks_are_left_out() -> None:
    generator = ManyCounts().task_generator()
    assert all(task.kind == "new" for task in generator.propose(HOSTILE, 5, rng()))
    assert len(generator.propose([*HOSTILE, Task("3")], 5, rng())) == 5
    assert not any(generator.feasible(task) for task in HOSTILE if isinstance(task, Task))


def test_tasks_are_made_for_training_only() -> None:
    with pytest.raises(ConfigError, match='split must be "train"'):
        ManyCounts(split="test").task_generator()


def test_a_task_is_equal_by_how_it_is_played_and_goes_through_json() -> None:
    task = Task("a", {"size": 5}, "Go.", "harder")
    assert task == Task("a", {"size": 5}) != Task("a", {"size": 6})
    again = Task.from_json(task.to_json())
    assert (again, again.instruction, again.kind) == (task, "Go.", "harder")
    for bad in ({"id": 5}, {"id": "a", "kwargs": []}, {"id": "a", "kind": None}):
        with pytest.raises(ConfigError, match="a task must have"):
            Task.from_json(bad)
