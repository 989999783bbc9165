"""A table of all tasks that environments have: is each made, drawn, and solved by the oracle?

Ids of tasks such as "reach:test:3" name a task, a split and one of its starts. A row of the table is one task, and the
first starts of a split are played.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import gymnasium as gym
import numpy as np

LOOKED_AT = 100_000  # ids of an environment; of worlds with more, these show every task


@dataclass(frozen=True)
class Row:
    """What became of one task."""

    id: str
    task: str
    made: bool = False  # reset and stepped
    drawn: bool = False  # a picture that shows something
    solved: int = 0  # starts
    played: int = 0  # starts for which the oracle had a first action
    turns: float | None = None  # of the solved ones, on average
    problem: str = ""
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Every field."""
        return asdict(self)


def survey(env_id: str, *, split: str = "test", starts: int = 5, **kwargs: Any) -> Iterator[Row]:
    """One row for each task of an environment; a failure is a row as well."""
    began = time.perf_counter()
    try:
        env = gym.make(env_id, split=split, render_mode="rgb_array", **kwargs)
        chosen = starts_by_task(env.unwrapped.tasks(), split, starts)  # pyright: ignore[reportAttributeAccessIssue]
    except Exception as error:  # what is wrong with one environment must not hide the others
        yield Row(env_id, "", problem=_one_line(error), seconds=time.perf_counter() - began)
        return
    with env:
        for task, ids in chosen.items():
            began = time.perf_counter()
            row = _play(env, env_id, task, ids)
            yield Row(**{**row.to_json(), "seconds": time.perf_counter() - began})


def starts_by_task(ids: Iterable[str], split: str, starts: int) -> dict[str, list[str]]:
    """The first ids of each task; ids of another form are all one task, without a name."""
    found: dict[str, list[str]] = {}
    for name in itertools.islice(ids, LOOKED_AT):
        task, separator, _ = name.partition(f":{split}:")
        found.setdefault(task if separator else "", []).append(name)
    return {task: names[:starts] for task, names in found.items()}


def _play(env: gym.Env, env_id: str, task: str, ids: list[str]) -> Row:
    made = drawn = False
    turns: list[int] = []
    played = 0
    problem = ""
    try:
        for name in ids:
            env.reset(options={"task": name})
            picture: Any = env.render()
            drawn = drawn or (isinstance(picture, np.ndarray) and picture.size > 0 and bool(picture.std() > 1.0))
            stepped, script, needed = _follow_oracle(env, may_sample=not made)
            made = made or stepped
            played += script
            turns += [needed] if needed else []
    except Exception as error:
        problem = _one_line(error)
    mean = float(np.mean(turns)) if turns else None
    return Row(env_id, task, made, drawn, len(turns), played, mean, problem)


def _follow_oracle(env: gym.Env, may_sample: bool) -> tuple[bool, bool, int]:
    """Play an episode: (was a step taken, has the oracle a script, turns to success or 0)."""
    base: Any = env.unwrapped
    for turn in itertools.count(1):
        action = base.oracle()
        if action is None:
            if turn == 1 and may_sample:
                env.step(env.action_space.sample())
            return turn > 1 or may_sample, turn > 1, 0
        _, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            return True, True, turn if info["success"] else 0
    raise AssertionError("unreachable")


def _one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]
