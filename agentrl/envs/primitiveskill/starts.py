"""Starts that the oracle has solved.

A split is a row of numbers. Each number has candidates, drawn from seeds of its own; the first that the oracle solves
is the start of that number. Which one that is takes an episode to find out, so it is done when a number is first used,
and kept in the cache: a process never waits for starts that it does not play.
"""

from __future__ import annotations

import hashlib
import inspect
import platform
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from agentrl.core.cache import cached_arrays
from agentrl.core.errors import EnvFault
from agentrl.core.seeding import mixed_seed
from agentrl.envs.primitiveskill.backend import Start
from agentrl.envs.primitiveskill.table import Table
from agentrl.envs.primitiveskill.tasks import Task

COUNTS = {"train": 2000, "dev": 200, "test": 200}
TURNS, ACTIONS = 3, 2  # the default limits
CANDIDATES = 20  # of a number; the oracle solves nearly all, so that even a second one is rare
HERE = Path(__file__).parent
COMMON = HERE.parent / "common"
SOURCES = (HERE, COMMON / "mujoco")  # what decides how an episode goes
PACKAGES = ("mujoco", "numpy", "mani_skill", "sapien")


class StartNames(Sequence[str]):
    """The ids of a split: "place:train:0" and so on, spelled only when looked at."""

    def __init__(self, task: str, split: str) -> None:
        self._task, self._split = task, split

    def __len__(self) -> int:
        return COUNTS[self._split]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return f"{self._task}:{self._split}:{range(len(self))[index]}"

    def index_of(self, name: str) -> int | None:
        """The number in an id; None if it is not one of this split."""
        number = name.removeprefix(f"{self._task}:{self._split}:")
        fits = number.isascii() and number.isdecimal() and len(number) <= 9 and int(number) < len(self)
        return int(number) if fits and name == self[int(number)] else None


def candidate(task: Task, split: str, number: int, attempt: int) -> Start:
    """One start; no two splits, numbers or attempts share a seed."""
    name = crc32(type(task).__name__.encode())
    return task.draw(np.random.default_rng(mixed_seed(name, list(COUNTS).index(split), number, attempt)))


def solved_attempt(task: Task, table: Table, name: str, draw: Callable[[int], Start]) -> int:
    """Which candidate of a start of this name the oracle solves first, as the cache says or as is tried out now on the
    table. `draw` makes the start of each."""

    def search() -> dict[str, np.ndarray]:
        for attempt in range(CANDIDATES):
            if solves(task, table, draw(attempt)):
                return {"attempt": np.array([attempt])}
        raise EnvFault(f"the oracle of {type(task).__name__} solves none of {CANDIDATES} starts")

    path = f"primitiveskill/{fingerprint(type(task), table.backend)}/{name}"
    return int(cached_arrays(path, search, _usable)["attempt"][0])


def solves(task: Task, table: Table, start: Start) -> bool:
    """Does the oracle reach success within the default limits?"""
    table.begin(start)
    for _ in range(TURNS):
        for action in (task.plan(table.scene) or ())[:ACTIONS]:
            table.run(action)
        if task.solved(table.scene):
            return True
    return False


def _usable(arrays: dict[str, np.ndarray]) -> bool:
    attempt = arrays.get("attempt")
    return attempt is not None and attempt.shape == (1,) and attempt.dtype.kind == "i" and 0 <= attempt[0] < CANDIDATES


@cache
def fingerprint(task: type[Task], backend: str) -> str:
    """Differs where an episode might go differently: other sources, versions or processors."""
    digest = hashlib.blake2b(f"{task.__qualname__} {backend} {platform.machine()}".encode(), digest_size=12)
    files = [path for folder in SOURCES for path in sorted(folder.rglob("*.py"))]
    for path in [*files, COMMON / "perturb.py", Path(inspect.getfile(task))]:
        digest.update(path.read_bytes())
    for package in PACKAGES:
        try:
            digest.update(f"{package} {version(package)}".encode())
        except PackageNotFoundError:
            continue
    return digest.hexdigest()
