"""The starts of a split: names, and the random numbers that each is drawn from."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from agentrl.core.seeding import uniform

COUNTS = {"train": 2000, "dev": 200, "test": 200}  # of each task


class Start(NamedTuple):
    """One drawn start of a task."""

    task: str
    split: str
    number: int

    @property
    def name(self) -> str:
        """Its id: "reach:test:3"."""
        return f"{self.task}:{self.split}:{self.number}"


class StartNames(Sequence[str]):
    """The ids of a split, spelled only when looked at. Tasks take turns, so that the first ids show all of them."""

    def __init__(self, tasks: Sequence[str], split: str) -> None:
        self._tasks, self._split = tuple(tasks), split

    def __len__(self) -> int:
        return len(self._tasks) * COUNTS[self._split]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return self.at(range(len(self))[index]).name

    def at(self, index: int) -> Start:
        """The start at a place."""
        number, task = divmod(index, len(self._tasks))
        return Start(self._tasks[task], self._split, number)

    def find(self, name: str) -> Start | None:
        """The start of this id; None if this split has none."""
        task, _, rest = name.partition(":")
        number = rest.removeprefix(f"{self._split}:")
        if task not in self._tasks or not (number.isascii() and number.isdecimal() and len(number) <= 9):
            return None
        start = Start(task, self._split, int(number))
        return start if start.number < COUNTS[self._split] and start.name == name else None


class Draws:
    """The random numbers of one start, in place of numpy's generator: the same in every process and version. Meta-World
    draws again until a start fits, so there may be many."""

    def __init__(self, start: Start) -> None:
        self._key = int.from_bytes(
            hashlib.blake2b(f"metaworld/{start.name}".encode(), digest_size=8).digest(), "little"
        )
        self._count = 0

    def uniform(self, low: np.ndarray, high: np.ndarray, size: int) -> np.ndarray:
        """The next `size` numbers between the bounds."""
        values = uniform(self._key, self._count, (size,))
        self._count += size
        return low + (high - low) * values
