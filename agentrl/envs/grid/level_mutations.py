"""New levels out of old ones: what the generators of the grid games share.

A level belongs to the split that owns its layout (see `levels.split_of`), so a changed level is kept only if the
training split owns it. How hard a level is, is known exactly: its shortest solution first.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from agentrl.core.errors import ConfigError
from agentrl.core.task_generator import Mutations, Task
from agentrl.envs.grid.levels import owned, spelled
from agentrl.envs.grid.world import GridWorld

MAX_KNOWN = 10_000  # levels that are kept in memory: a curriculum asks for the same seeds again and again
TRIES = 12  # changes tried before a mutation counts as failed
CHANGES = 3  # at most, from one level to the next
GROWTH = 2  # how many rows and columns larger than the run's own a level may be
Level = TypeVar("Level")


class LevelMutations(Mutations, Generic[Level]):
    """Changes levels of a grid game. A game adds how to read, write, measure and change one.

    - nearby: the same size, a shortest solution at most one move longer or shorter;
    - easier and harder: by the length of the shortest solution, then boxes, size and holes (in this order);
    - recombined: parts of two levels of the same size.

    Every level can be solved in `max_turns` x `max_actions_per_turn` moves. A larger room has `kwargs["size"]`, and
    `levels=1`, so that no pool of that size is made for it.
    """

    names: tuple[str, ...] = ("size",)  # arguments that a level may change

    def __init__(self, env: GridWorld) -> None:
        self.env = env
        self.longest = env.max_turns * env.max_actions_per_turn
        self._games: dict[str, GridWorld | None] = {}
        self._levels: dict[tuple[int, str], Level | None] = {}  # read before, by game and id

    # ------------------------------------------------------------------ tasks and levels

    def knows(self, task: Task) -> bool:
        """Is it a level of the training split?"""
        return self._read(task) is not None

    def feasible(self, task: Task) -> bool:
        """Can it be solved in the moves there are?"""
        level = self._read(task)
        return level is not None and self.length(level) is not None

    def new(self, rng: np.random.Generator) -> Task:
        """A level of the pool."""
        tasks = self.env.tasks()
        return Task(tasks[int(rng.integers(len(tasks)))], kind="new")

    def _read(self, task: Task) -> Level | None:
        game = self._game(task.kwargs)
        if game is None or not isinstance(task.id, str):
            return None
        key = (id(game), task.id)
        if key not in self._levels:
            if len(self._levels) >= MAX_KNOWN:
                self._levels.clear()
            try:
                level = self.from_codes(game._find_task(task.id)[1])
                self._levels[key] = level if self._trained(level) else None
            except ConfigError:
                self._levels[key] = None
        return self._levels[key]

    def _game(self, kwargs: Any) -> GridWorld | None:
        """The game with these arguments; None where there is none, or they change more than a level may."""
        if not isinstance(kwargs, Mapping) or not set(kwargs) <= {*self.names, "levels"}:
            return None
        if any(type(value) is not int for value in kwargs.values()):
            return None
        if any(kwargs.get(name, 0) > most for name, most in self.most().items()):
            return None
        key = json.dumps(dict(kwargs), sort_keys=True)
        if key not in self._games:
            try:
                self._games[key] = type(self.env)(**{**self.env.parameters, **kwargs}) if kwargs else self.env
            except ConfigError:  # no level has these properties
                self._games[key] = None
        return self._games[key]

    def most(self) -> dict[str, int]:
        """How far the arguments may go."""
        return {"size": self.env.size + GROWTH}

    def _trained(self, level: Level) -> bool:
        return bool(owned(self.layout(level)[None], "train")[0])

    # ------------------------------------------------------------------ changes

    def mutate(self, kind: str, seed: Task, seeds: Sequence[Task], rng: np.random.Generator) -> Task | None:
        """A level that differs from the seed as the kind says; None if some tries found none."""
        level = self._read(seed)
        if level is None:
            return None
        other = self._partner(level, seeds, rng) if kind == "recombined" else None
        for _ in range(TRIES):
            if kind == "recombined":
                changed = None if other is None else self.combined(level, other, rng)
            else:
                changed = level
                for _ in range(rng.integers(1, CHANGES + 1)):
                    changed = None if changed is None else self.changed(kind, changed, rng)
            if changed is not None and self._trained(changed) and self._is(kind, changed, level):
                own = {name: getattr(self.env, name) for name in self.names}
                given = {name: value for name, value in self.properties(changed).items() if value != own[name]}
                rows = spelled(self.to_codes(changed), self.env.symbols)
                return Task("/".join(rows), {**given, "levels": 1} if given else {}, kind=kind)
        return None

    def _partner(self, level: Level, seeds: Sequence[Task], rng: np.random.Generator) -> Level | None:
        """Another seed of the same size, or else a level of the pool."""
        others = [found for seed in seeds if (found := self._read(seed)) is not None]
        others = [other for other in others if self.properties(other) == self.properties(level)]
        if len(others) > 1:
            return others[rng.integers(len(others))]
        drawn = self._read(self.new(rng))
        return drawn if drawn is not None and self.properties(drawn) == self.properties(level) else None

    def _is(self, kind: str, new: Level, old: Level) -> bool:
        """Does the new level stand to the old one as the kind says?"""
        before, after = self._difficulty(old), self._difficulty(new)
        if after is None or before is None:
            return after is not None and kind in ("easier", "recombined")
        if kind == "nearby":
            return abs(after[0] - before[0]) <= 1 and self.properties(new) == self.properties(old)
        return {"easier": after < before, "harder": after > before}.get(kind, True)

    def _difficulty(self, level: Level) -> tuple[int, ...] | None:
        length = self.length(level)
        return None if length is None else (length, *self.burden(level))

    # ------------------------------------------------------------------ what a game fills in

    @abstractmethod
    def from_codes(self, codes: np.ndarray) -> Level:
        """The level of a board that the game accepts."""

    @abstractmethod
    def to_codes(self, level: Level) -> np.ndarray:
        """The board of a level."""

    @abstractmethod
    def layout(self, level: Level) -> np.ndarray:
        """The board without what may stand anywhere: what splits are made by."""

    @abstractmethod
    def properties(self, level: Level) -> dict[str, int]:
        """The arguments in `names` that it needs."""

    @abstractmethod
    def burden(self, level: Level) -> tuple[int, ...]:
        """What makes one of two levels with equally long solutions the harder one."""

    @abstractmethod
    def length(self, level: Level) -> int | None:
        """Moves of a shortest solution; None if there is none of at most `longest` moves, or it is solved already."""

    @abstractmethod
    def changed(self, kind: str, level: Level, rng: np.random.Generator) -> Level | None:
        """One random change that may make it as the kind says; None if it cannot be made."""

    @abstractmethod
    def combined(self, one: Level, other: Level, rng: np.random.Generator) -> Level | None:
        """A level made of two."""


def chosen(rng: np.random.Generator, items: Sequence[Any]) -> Any:
    """One of some things, each as likely as any other (`rng.choice` would make an array of them)."""
    return items[int(rng.integers(len(items)))]
