"""New tasks of the embedded sites out of old ones: other instances, other templates, other wordings, two tasks in one.

All of them have an exact evaluator, and all are about data of the training split (see `generated.split_of`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from agentrl.core.task_generator import Mutations, Task
from agentrl.envs.webarena.tasks.generated import (
    Instance,
    Joined,
    find_generated,
    find_task_or_joined,
    instances_of,
    joined,
    split_of,
    templates,
)

TRIES = 8  # instances and partners that are looked at before a mutation counts as failed
SCROLLS = 4  # turns that are enough for scrolling, beside the actions of a solution
Some = Instance | Joined


class WebTaskMutations(Mutations):
    """Proposes generated tasks of the training split.

    - nearby: the same template about something else;
    - easier: another instance or template of the same skill or site whose solution has fewer steps; of a task in two
      parts, one of them;
    - harder: the same with more steps, or the task and another one on another site in one;
    - recombined: the same task in other words, the template of one seed about the subject of another, or two seeds in
      one.
    """

    def __init__(
        self,
        sites: tuple[str, ...] = (),
        only: tuple[str, ...] = (),
        max_turns: int = 30,
        solvable: Callable[[str], bool] = lambda task: False,
    ) -> None:
        """`sites` and `only` (templates) are the environment's; empty ones leave nothing out. `solvable` tries whether
        a task can be done in `max_turns`; it is asked only where the length of the solution does not tell."""
        self._max_turns, self._solvable = max_turns, lru_cache(maxsize=8_192)(solvable)
        known = [name for name in instances_of("train") if not only or name in only]
        self._names = {name: None for name in known if not sites or set(templates()[name].sites) <= set(sites)}

    def knows(self, task: Task) -> bool:
        """Is it a generated task of the training split, on these sites and of these templates?"""
        return self._read(task) is not None

    def feasible(self, task: Task) -> bool:
        """Does its solution fit into the turns, with the scrolling it takes?"""
        found = self._read(task)
        if found is None or found.steps > self._max_turns:
            return False
        return found.steps + SCROLLS <= self._max_turns or self._solvable(task.id)

    def new(self, rng: np.random.Generator) -> Task:
        """An instance of any template."""
        return _written(_instance(_chosen(rng, list(self._names)), rng), "new")

    def mutate(self, kind: str, seed: Task, seeds: Sequence[Task], rng: np.random.Generator) -> Task | None:
        """A task that stands to the seed as the kind says."""
        old = self._read(seed)
        if old is None:
            return None
        others = [found for other in seeds if other != seed and (found := self._read(other)) is not None]
        new = self._changed(kind, old, others, rng)
        return None if new is None else _written(new, kind)

    def _read(self, task: Task) -> Some | None:
        if not isinstance(task.id, str) or task.kwargs:
            return None
        found = _find(task.id[:200])  # no id is longer
        mine = found is not None and all(part.template.name in self._names for part in found.parts)
        return found if mine else None

    # ------------------------------------------------------------------ changes

    def _changed(self, kind: str, old: Some, others: list[Some], rng: np.random.Generator) -> Some | None:
        if isinstance(old, Joined):
            place = int(rng.integers(2))
            if kind == "easier":
                return old.parts[place]
            if kind == "recombined":
                part = _chosen(rng, [part for other in others for part in other.parts] or [None])
            else:
                part = self._changed(kind, old.parts[place], [], rng)
            if not isinstance(part, Instance):
                return None
            return joined(part, old.second) if place == 0 else joined(old.first, part)
        if kind == "nearby":
            return _instance(old.template.name, rng)
        if kind == "easier":
            return self._with_steps(old, rng, below=old.steps)
        if kind == "harder":
            more = self._with_steps(old, rng, above=old.steps) if rng.integers(2) else None
            any_template = (_instance(_chosen(rng, list(self._names)), rng) for _ in range(TRIES))
            return more or _first_joined(old, any_template)
        return self._recombined(old, [part for other in others for part in other.parts], rng)

    def _recombined(self, old: Instance, others: list[Instance], rng: np.random.Generator) -> Some | None:
        """In other words, about what another one is about, or with another one as two tasks in one."""
        way, name = int(rng.integers(3)), old.template.name
        if way == 0:
            plain = old.id.partition("~")[0]
            return find_generated(f"{plain}~{rng.integers(len(old.template.intents))}")
        if not others:
            return None
        if way == 2:
            return _first_joined(old, (_chosen(rng, others) for _ in range(TRIES)))
        wanted = _subject(_chosen(rng, others))
        same = [find_generated(f"{name}.{number}") for number in instances_of("train")[name]]
        fitting = [found for found in same if found is not None and _subject(found) == wanted]
        return _chosen(rng, fitting) if fitting else None

    def _with_steps(self, old: Instance, rng: np.random.Generator, below: int = 10**9, above: int = 0) -> Some | None:
        """An instance of a related template whose solution has fewer steps than `below` and more than `above`."""
        skill, sites = old.template.skill, old.template.sites
        related = [name for name in self._names if skill == templates()[name].skill or sites == templates()[name].sites]
        drawn = (_instance(_chosen(rng, related), rng) for _ in range(TRIES)) if related else ()
        return next((instance for instance in drawn if above < instance.steps < below), None)


def _first_joined(old: Instance, partners: Iterator[Instance]) -> Joined | None:
    """The task and the first partner that can be put together with it, in the order that can be evaluated."""
    for partner in partners:
        if (both := joined(old, partner) or joined(partner, old)) is not None:
            return both
    return None


# ---------------------------------------------------------------------- instances


@lru_cache(maxsize=8_192)
def _find(task_id: str) -> Some | None:
    """A generated task all of whose parts belong to the training split."""
    found = find_task_or_joined(task_id)
    mine = found is not None and all(split_of(part.template, part.parameters) == "train" for part in found.parts)
    return found if mine else None


def _instance(name: str, rng: np.random.Generator) -> Instance:
    """Any instance of a template that belongs to the training split."""
    found = find_generated(f"{name}.{_chosen(rng, instances_of('train')[name])}")
    assert found is not None
    return found


def _written(task: Some, kind: str) -> Task:
    return Task(task.id, instruction=task.official()["intent"], kind=kind)


def _subject(instance: Instance) -> tuple[str, str]:
    """The kind of thing it is about (the name of the parameter), and which."""
    name, value = next(iter(instance.parameters.items()))
    return name, str(value)


def _chosen(rng: np.random.Generator, items: Sequence[Any]) -> Any:
    return items[int(rng.integers(len(items)))]
