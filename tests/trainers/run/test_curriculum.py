"""What a phase plays: which proposals pass the filters, and what fills the places of those that do not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from agentrl.core.errors import EngineFault
from agentrl.core.task_generator import Task
from agentrl.policies.random import RandomPolicy
from agentrl.rollout.collect import Collector
from agentrl.trainers.algorithms.webrl import WebRL
from agentrl.trainers.parallel.ranks import ProcessGroup
from agentrl.trainers.run import curriculum
from agentrl.trainers.run.curriculum import Curriculum
from agentrl.trainers.run.replay import Played, TaskSet
from tests.trainers.arms import ARMS

LAKE = "agentrl/FrozenLake-Text-v0"


class Scripted:
    """Proposes what it is told to, round by round; then nothing more."""

    def __init__(self, *rounds: Any, impossible: Sequence[str] = ()) -> None:
        self.rounds, self.impossible, self.asked = list(rounds), impossible, list[list[Task]]()

    def propose(self, seeds: Sequence[Task], count: int, rng: np.random.Generator) -> list[Task]:
        self.asked.append(list(seeds))
        found = self.rounds.pop(0) if self.rounds else []
        if isinstance(found, Exception):
            raise found
        return found

    def feasible(self, task: Task) -> bool:
        return task.id not in self.impossible


@pytest.fixture
def made(monkeypatch) -> Callable[..., tuple[Curriculum, list[str]]]:
    """A curriculum with a generator of the test, and what it reports; `value_of` is the critic's word on a prompt."""

    def make(generator: Any = None, value_of: Callable[[str], Any] | None = None, env: str = LAKE, **options: Any):
        said: list[str] = []
        learner = SimpleNamespace(
            critic=None if value_of is None else object(), engine=SimpleNamespace(encoder=SimpleNamespace(encode=str))
        )
        if value_of is not None:
            judge = value_of
            monkeypatch.setattr(
                curriculum,
                "values_at_starts",
                lambda _, prompts: torch.tensor([judge(one) for one in prompts]).view(len(prompts), -1),
            )
        run: Any = SimpleNamespace(
            report=said.append,
            log=lambda kind, line: said.append(f"{kind} {line['warning']}"),
            iteration=0,
            memory={},
            learner=learner,
            processes=ProcessGroup(),
            policy=RandomPolicy(seed=0),
            make_collector=lambda policy, split, specs: Collector(specs, policy, split=split, num_envs=2),
        )
        found = Curriculum(WebRL(env=(env,), **options), run)
        if generator is not None:
            found.sources[0].generator = generator
        return found, said

    return make


def tasks_of(*tasks: Task) -> TaskSet:
    found = TaskSet()
    for task in tasks:
        found.add(Played(0, task))
    return found


def test_duplicates_garbage_and_impossible_tasks_are_dropped_with_counts(made) -> None:
    names = [str(one) for one in made()[0].sources[0].tasks[:6]]
    a, b, c, seed = (Task(name) for name in names[:4])
    garbage: Any = [a, a, "no task", None, b, Task("no such level"), c, seed]
    found, counts = made(Scripted(garbage, impossible=[names[1]]))[0].new_tasks(1, 2, tasks_of(seed), tasks_of(seed))
    assert found == [Played(0, a), Played(0, c)]
    assert counts == {
        "proposed": 6,
        "duplicates": 2,  # one proposed twice, and the seed itself
        "infeasible": 1,
        "unplayable": 1,
        "too_hard": 0,
        "too_easy": 0,
        "kept": 2,
        "filled": 0,
    }


def test_the_critics_window_keeps_what_is_neither_hopeless_nor_easy(made) -> None:
    values = [0.01, 0.0499, 0.05, 0.4, 0.75, 0.76, 1.0]
    asked = iter(values)
    tasks = [Task(str(name)) for name in made()[0].sources[0].tasks[: len(values)]]
    found, counts = made(Scripted(tasks), lambda prompt: next(asked))[0].new_tasks(1, 3, tasks_of(), tasks_of())
    assert [one.task for one in found] == tasks[2:5]
    assert (counts["too_hard"], counts["too_easy"], counts["kept"]) == (2, 2, 3)


@pytest.mark.parametrize(("heads", "passed", "hard", "easy"), [("lowest", [0, 3], 2, 1), ("any", [0, 1, 3], 1, 1)])
def test_a_task_passes_by_the_lowest_head_or_by_any(made, heads: str, passed: list[int], hard: int, easy: int) -> None:
    values = [(0.5, 0.9), (0.01, 0.4), (0.01, 0.9), (0.3, 0.4), (0.8, 0.9)]
    asked = iter(values)
    tasks = [Task(str(name)) for name in made()[0].sources[0].tasks[: len(values)]]
    chosen, _ = made(Scripted(tasks), lambda prompt: next(asked), window_heads=heads, critic_heads=2)
    found, counts = chosen.new_tasks(1, len(passed), tasks_of(), tasks_of())
    assert [one.task for one in found] == [tasks[place] for place in passed]
    assert (counts["too_hard"], counts["too_easy"], counts["kept"]) == (hard, easy, len(passed))


def test_a_task_that_is_known_is_no_new_one_and_is_no_seed_either(made) -> None:
    seed, solved, fresh = (Task(str(name)) for name in made()[0].sources[0].tasks[:3])
    for known, wanted in (([seed], solved), ([seed, solved], fresh)):
        generator = Scripted([solved, seed, fresh])
        found, counts = made(generator)[0].new_tasks(1, 1, tasks_of(seed), tasks_of(*known))
        assert found == [Played(0, wanted)] and counts["duplicates"] == len(known) and generator.asked == [[seed]]


def test_a_generator_with_nothing_new_ends_the_search_and_failed_tasks_fill_in(made) -> None:
    names = [str(one) for one in made()[0].sources[0].tasks[:3]]
    one, *seeds = (Task(name) for name in names)
    for rounds in ([[one]] * 50, [[one], []], [[one], EngineFault("the endpoint is away")]):
        generator = Scripted(*rounds)
        chosen, said = made(generator, proposal_rounds=4)
        found, counts = chosen.new_tasks(1, 5, tasks_of(*seeds), tasks_of(*seeds))
        assert len(generator.asked) <= 4 and counts["kept"] == 1 and counts["filled"] == 4
        assert found[0].task == one and {item.task.id for item in found[1:3]} == set(names[1:])
        assert all(item.task is not None for item in found) and "1 new tasks of 5, out of" in said[-1]
    assert "the endpoint is away" in said[-2]


def test_a_phase_without_any_new_task_is_a_warning_that_says_why(made) -> None:
    names = [str(one) for one in made()[0].sources[0].tasks[:2]]
    chosen, said = made(Scripted([Task(name) for name in names], impossible=names))
    found, counts = chosen.new_tasks(2, 3, *[tasks_of(Task(names[0]))] * 2)
    assert len(found) == 3 and counts["kept"] == 0
    assert "phase 2 has no new task, out of 2 proposals (1 duplicates, 1 infeasible)" in said[-2]
    assert said[-1] == "warning no_new_tasks"


def test_a_task_with_arguments_of_its_own_gets_its_own_environment(made) -> None:
    chosen, _ = made(env_kwargs={"size": 4})
    wide = Task("any", {"size": 5, "levels": 1})
    collector, starts = chosen.collector(3, [Played(0, Task("a")), Played(0, wide), Played(0, wide), Played()])
    assert [start.env for start in starts] == [0, 1, 1, 0] and starts[3].task is None
    assert [spec.kwargs for spec in collector.envs] == [{"size": 4}, {"size": 5, "levels": 1}]
    assert [start.id for start in starts] == ["3-0", "3-1", "3-2", "3-3"]
    assert len({start.seed for start in starts}) == 4
    collector.close()


def test_training_tasks_repeat_only_after_all_have_come_and_follow_from_the_seed(made) -> None:
    chosen, _ = made(env_kwargs={"size": 3})
    all_of_them = len(chosen.sources[0].tasks)
    played = chosen.training_tasks(0, all_of_them + 2)
    assert len({one.task.id for one in played[:all_of_them]}) == all_of_them
    assert played == made(env_kwargs={"size": 3})[0].training_tasks(0, all_of_them + 2)
    assert played != chosen.training_tasks(1, all_of_them + 2)


def test_an_environment_without_a_list_of_tasks_plays_seeds(made) -> None:
    chosen, said = made(env=ARMS)
    assert "no list of tasks" in said[0]
    found, counts = chosen.new_tasks(1, 3, tasks_of(), tasks_of())
    assert found == [Played()] * 3 and counts["filled"] == 3
    assert not any("no_new_tasks" in line for line in said)  # there is no generator to blame
