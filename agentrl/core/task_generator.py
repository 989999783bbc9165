"""New tasks for a policy that failed at old ones: the protocol of generators, and what generators by mutation share.

A curriculum asks `env.unwrapped.task_generator()` for tasks like those that failed: nearby ones, easier ones, harder
ones and mixtures of two. Every environment has a generator; `OtherTasks` is the one of those that have none of their
own. A generator proposes tasks of the training split's data only, whatever it is given.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError

if TYPE_CHECKING:
    from agentrl.core.env import AgentEnv

KINDS = ("nearby", "easier", "harder", "recombined")
PATIENCE = 20  # draws for each task that is wanted: where tasks are few, most draws are known already


@dataclass(frozen=True)
class Task:
    """A task to play: `gym.make(id, **{**arguments, **task.kwargs})`, then `reset(options={"task": task.id})`.

    Two tasks are equal when they are played alike: instruction and kind do not count.
    """

    id: str
    kwargs: Mapping[str, Any] = field(default_factory=dict, hash=False)  # arguments that differ from the run's
    instruction: str = field(default="", compare=False)  # what the agent is told, where tasks differ in it
    kind: str = field(default="", compare=False)  # how it was made from another task: one of KINDS, or "new"

    def to_json(self) -> dict[str, Any]:
        """The task for a file."""
        return {"id": self.id, "kwargs": dict(self.kwargs), "instruction": self.instruction, "kind": self.kind}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Inverse of `to_json`; `ConfigError` for what is no task."""
        task = cls(data.get("id", None), data.get("kwargs", {}), data.get("instruction", ""), data.get("kind", ""))
        texts = (task.id, task.instruction, task.kind)
        if not all(isinstance(text, str) for text in texts) or not isinstance(task.kwargs, Mapping):
            raise ConfigError("a task must have a text as id and an object as kwargs")
        return task


@runtime_checkable
class TaskGenerator(Protocol):
    """Makes tasks out of tasks that failed.

    `propose` returns up to `count` tasks that differ from each other and from the seeds; fewer where no more could be
    made. The same seeds and the same state of `rng` give the same tasks, in every process. Seeds that the generator
    does not know are left out; without any it proposes tasks of the training split. `feasible` says whether the task
    can be solved within its limits.
    """

    def propose(self, seeds: Sequence[Task], count: int, rng: np.random.Generator) -> list[Task]: ...

    def feasible(self, task: Task) -> bool: ...


class Mutations:
    """Base of generators that change one task into another: fills `count` places with distinct feasible tasks."""

    kinds: ClassVar[tuple[str, ...]] = KINDS

    def propose(self, seeds: Sequence[Task], count: int, rng: np.random.Generator) -> list[Task]:
        """Up to `count` new tasks; each kind is as likely as any other, and so is each seed."""
        count = whole_number("count", count, at_least=0)
        known = [seed for seed in seeds if isinstance(seed, Task) and self.knows(seed)]
        taken, found = set(known), []
        for _ in range(PATIENCE * count):
            if len(found) == count:
                break
            if known:
                kind = self.kinds[rng.integers(len(self.kinds))]
                task = self.mutate(kind, known[rng.integers(len(known))], known, rng)
            else:
                task = self.new(rng)
            if task is not None and task not in taken and self.feasible(task):
                taken.add(task)
                found.append(task)
        return found

    @abstractmethod
    def knows(self, task: Task) -> bool:
        """Can this task be a seed? Total: a seed may come out of a file."""

    @abstractmethod
    def new(self, rng: np.random.Generator) -> Task | None:
        """A task of the training split, made from no other."""

    @abstractmethod
    def mutate(self, kind: str, seed: Task, seeds: Sequence[Task], rng: np.random.Generator) -> Task | None:
        """One try to change a seed (and another of the seeds, where they are recombined); None if it failed."""

    @abstractmethod
    def feasible(self, task: Task) -> bool:
        """Can it be solved within its limits?"""


class OtherTasks(Mutations):
    """The other tasks of an environment's training split: those near the seed in the list, and any.

    It knows nothing about a task but its place. All tasks of a split can be solved, so all known ones are feasible.
    """

    kinds = ("nearby", "new")
    reach = 16  # how far from its seed a nearby task may be in the list

    def __init__(self, env: AgentEnv[Any, Any]) -> None:
        self._env = env
        self._places: dict[str, int] | None = None  # made when a seed is first looked for

    def knows(self, task: Task) -> bool:
        """Is it in the list, with the environment's own arguments?"""
        return not task.kwargs and self._place(task.id) is not None

    def feasible(self, task: Task) -> bool:
        """Every task of the list is."""
        return self.knows(task)

    def new(self, rng: np.random.Generator) -> Task:
        """Any task."""
        tasks = self._env.tasks()
        return Task(tasks[int(rng.integers(len(tasks)))], kind="new")

    def mutate(self, kind: str, seed: Task, seeds: Sequence[Task], rng: np.random.Generator) -> Task | None:
        """A neighbour in the list, or any task."""
        place = self._place(seed.id)
        if kind != "nearby" or place is None:
            return self.new(rng)
        tasks = self._env.tasks()
        step = int(rng.integers(1, self.reach + 1)) * (1 if rng.integers(2) else -1)
        return Task(tasks[(place + step) % len(tasks)], kind=kind)

    def _place(self, task_id: Any) -> int | None:
        if self._places is None:
            self._places = {name: place for place, name in enumerate(self._env.tasks())}
        return self._places.get(task_id) if isinstance(task_id, str) else None
