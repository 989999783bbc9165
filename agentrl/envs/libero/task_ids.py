"""The ids of tasks: `libero_spatial/3:test:17` is start 17 of the test split of task 3."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.envs.libero.world import suites

STARTS = {"train": 1000, "dev": 50, "test": 50}  # of each task


class Chosen(NamedTuple):
    """One start of one task."""

    suite: str
    task: int  # its number in LIBERO's order
    split: str
    start: int

    def __str__(self) -> str:
        return f"{self.suite}/{self.task}:{self.split}:{self.start}"

    @property
    def instruction(self) -> str:
        """What the task asks for: LIBERO takes it from the task's name, without the scene in front."""
        name = suites()[self.suite][self.task]
        return re.sub(r"^[A-Z_]+SCENE\d+_", "", name).replace("_", " ")


class TaskIds(Sequence[str]):
    """All starts of some tasks of a suite in one split, the tasks in turn; spelled only when looked at."""

    def __init__(self, suite: str, tasks: Sequence[int], split: str) -> None:
        self.suite, self.numbers, self.split = suite, tuple(tasks), split

    def __len__(self) -> int:
        return len(self.numbers) * STARTS[self.split]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        start, place = divmod(range(len(self))[index], len(self.numbers))
        return str(Chosen(self.suite, self.numbers[place], self.split, start))

    def find(self, name: str) -> Chosen | None:
        """The start with this id; None if it is not one of these."""
        suite, _, rest = name.partition("/")
        task, _, start = rest.partition(":")
        split, _, number = start.partition(":")
        if not (_is_number(task) and _is_number(number)):
            return None
        found = Chosen(suite, int(task), split, int(number))
        known = found.suite == self.suite and found.task in self.numbers and found.split == self.split
        return found if known and found.start < STARTS[self.split] and str(found) == name else None


def find_suite(name: Any) -> str:
    """The name of a suite, if it is one."""
    if not isinstance(name, str) or name not in suites():
        raise ConfigError(
            f"suite must be one of {', '.join(suites())}; got {name!r}.{did_you_mean(str(name), suites())}"
        )
    return name


def find_numbers(suite: str, task: Any) -> tuple[int, ...]:
    """The numbers of the tasks that an argument `task` means: all for None, else the one of that name or number."""
    names = suites()[suite]
    if task is None:
        return tuple(range(len(names)))
    if isinstance(task, int) and not isinstance(task, bool) and 0 <= task < len(names):
        return (task,)
    if isinstance(task, str) and task in names:
        return (names.index(task),)
    hint = did_you_mean(task, names) if isinstance(task, str) else ""
    raise ConfigError(f"task must be a number from 0 to {len(names) - 1} or the name of a task; got {task!r}.{hint}")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 9
