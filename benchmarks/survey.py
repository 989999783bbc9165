"""`python -m benchmarks.survey PATTERN`: all tasks that environments have: is each made, drawn, solved by the oracle?

Ids of tasks such as "reach:test:3" name a task, a split and one of its starts. A row of the table is one task, and the
first starts of a split are played.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import Annotated, Any

import gymnasium as gym
import numpy as np
import tyro

from agentrl.cli.arguments import Common, JsonText, Split, json_object
from agentrl.cli.output import number, print_json, print_table, progress, verdict
from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError, did_you_mean, install_command
from agentrl.registry import FAMILIES, Entry, is_available, known


@dataclass(kw_only=True)
class Arguments(Common):
    """Make every task of environments, draw it, and let the oracle play some of its starts.

    Fails if a task cannot be made or drawn. What the oracle does not solve is shown, and is no failure.
    """

    name: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="ID|PATTERN|FAMILY")]
    """Which environments: an id, a pattern of ids such as 'agentrl/*-Text-v0', or a folder of agentrl/envs."""
    starts: int = 5
    """How many starts of each task are played."""
    split: Split = "test"
    """Of which split."""
    env_kwargs: JsonText = "{}"
    """Arguments of the environments, for example '{"max_turns": 500}'."""


def run(arguments: Arguments) -> int:
    """Go through the tasks and print the table."""
    starts = whole_number("starts", arguments.starts, at_least=1)
    kwargs = json_object("--env-kwargs", arguments.env_kwargs)
    rows = []
    entries = chosen(arguments.name)
    with progress("survey", len(entries)) as advance:
        for entry in entries:
            rows += survey(entry.id, split=arguments.split, starts=starts, **kwargs)
            advance()
    good = all(row.made and row.drawn for row in rows)
    if arguments.json:
        found = [row.to_json() for row in rows]
        print_json({"schema": 1, "pass": good, "split": arguments.split, "starts": starts, "tasks": found})
    else:
        show(rows)
    return 0 if good else 1


def chosen(name: str) -> list[Entry]:
    """The environments of a family, or those that fit a pattern."""
    family = next((family for family in FAMILIES if family.name == name), None)
    entries = list(family.envs) if family else [entry for entry in known() if fnmatchcase(entry.id, name)]
    if not entries:
        names = [*(entry.id for entry in known()), *(family.name for family in FAMILIES)]
        raise ConfigError(f"no environment or family is called {name!a}.{did_you_mean(name, names)}")
    for entry in entries:
        if not is_available(entry):
            raise ConfigError(f"{entry.id} is not available here: {install_command(entry.extra or '')}")
    return entries


def show(rows: list[Any]) -> None:
    """One line for each task, and sums."""
    lines = [
        (
            row.id,
            row.task,
            verdict(row.made, "yes" if row.made else "NO"),
            verdict(row.drawn, "yes" if row.drawn else "NO"),
            f"{row.solved}/{row.played}" if row.played else "-",
            number(row.turns, 0),
            f"{row.seconds:.1f}",
            row.problem,
        )
        for row in rows
    ]
    print_table(("id", "task", "made", "drawn", "oracle", "turns", "seconds", "problem"), lines)
    made, drawn = sum(row.made for row in rows), sum(row.drawn for row in rows)
    solved, played = sum(row.solved for row in rows), sum(row.played for row in rows)
    print(f"{len(rows)} tasks: {made} made, {drawn} drawn; the oracle solved {solved} of {played} starts")


# ---------------------------------------------------------------------- playing the tasks

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


if __name__ == "__main__":
    try:
        sys.exit(run(tyro.cli(Arguments)))
    except ConfigError as error:
        sys.exit(f"error: {error}")
