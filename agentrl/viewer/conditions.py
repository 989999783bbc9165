"""What a comparison compares: sources, their evaluations, and which of these may stand beside each other."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import comb
from pathlib import Path

from agentrl.core.errors import ConfigError
from agentrl.rollout.error_types import EpisodeFacts
from agentrl.rollout.trajectory_file import TrajectoryReader
from agentrl.viewer.canvas import COLOURS
from agentrl.viewer.run_data import read_run
from agentrl.viewer.setting import Setting, of_episode, options_of
from agentrl.viewer.task_groups import Measured, evaluations, named_task, with_steps


@dataclass(frozen=True)
class Source:
    """A run, or a file of trajectories, and what was measured there."""

    name: str  # of the condition
    path: Path
    evaluations: dict[Setting, list[Measured]]
    algorithm: str = ""
    model: str = ""


@dataclass
class Condition:
    """The evaluations of one or several runs, the last of each being its result."""

    name: str
    colour: int = 0
    runs: list[list[Measured]] = field(default_factory=list)
    paths: set[Path] = field(default_factory=set)

    @property
    def results(self) -> list[Measured]:
        """The last evaluation of each run."""
        return [found[-1] for found in self.runs]

    @property
    def episodes(self) -> list[EpisodeFacts]:
        """Those of all results."""
        return [one for result in self.results for one in result.episodes]


@dataclass
class Group:
    """Conditions that were measured in the same setting on the same tasks."""

    setting: Setting
    tasks: frozenset[str | None]
    faults: int = 0  # of the first: each hides a task
    conditions: list[Condition] = field(default_factory=list)

    def takes(self, setting: Setting, result: Measured) -> bool:
        """Was this measured in the same way, on the same tasks as far as faults leave them known?"""
        fits = len(self.tasks - result.tasks) <= result.faults and len(result.tasks - self.tasks) <= self.faults
        return setting == self.setting and fits

    def left_out(self, groups: Sequence[Group]) -> list[str]:
        """Why there is no test of a condition here."""
        base, found = self.conditions[0], []
        for other in self.conditions[1:]:
            if other.paths == base.paths:
                found.append(f"No test of {other.name} against {base.name}: they are the same record.")
        here = {one.name for one in self.conditions}
        for name in dict.fromkeys(one.name for group in groups for one in group.conditions):
            if name not in here:
                others = (group for group in groups if name in {one.name for one in group.conditions})
                nearest = min((self.differences(other) for other in others), key=len)
                found.append(f"No test of {name}, which was measured otherwise: {'; '.join(nearest)}.")
        return found

    def differences(self, other: Group) -> list[str]:
        """In words: what another group has otherwise."""
        same = len(self.tasks & other.tasks)
        tasks = f"{len(other.tasks):,} tasks, of which {same:,} are among the {len(self.tasks):,} here"
        return self.setting.differences(other.setting) + ([tasks] if self.tasks != other.tasks else [])


def read_sources(sources: Sequence[tuple[str, str | os.PathLike[str]]]) -> list[Source]:
    """Each `(name, run folder or file)`; `ConfigError` where one tells nothing about its tasks."""
    found = []
    for name, given in sources:
        path = Path(given)
        if path.is_dir():
            run = read_run(path)
            facts = str(run.config.get("algorithm") or ""), str(options_of(run.config).get("model") or "")
            one = Source(name, path.resolve(), evaluations(run), *facts)
        elif path.exists():
            one = read_file(name, path)
        else:
            raise ConfigError(f"{str(given)!r} does not exist; name run folders or files of trajectories")
        if not any(held[-1].episodes for held in one.evaluations.values()):
            raise ConfigError(f"{str(given)!r} has no evaluation with results by task (see eval_every)")
        found.append(one)
    return found


def read_file(name: str, path: Path) -> Source:
    """A file of trajectories; episodes that were played in different ways are told apart."""
    held: dict[Setting, list[EpisodeFacts | None]] = {}
    players: dict[str, None] = {}
    for one in TrajectoryReader(path):
        places = held.setdefault(of_episode(one), [])
        places.append(None if one.fault is not None else named_task(EpisodeFacts.of(one), len(places)))
        players[one.policy] = None
    measured = {setting: [Measured(0, tuple(places))] for setting, places in held.items()}
    return Source(name, path.resolve(), measured, model=", ".join(filter(None, players)))


def read_groups(sources: Sequence[Source]) -> list[Group]:
    """Evaluations that may be compared, together; conditions in the order of their names, each with a colour."""
    colours = {name: place % COLOURS for place, name in enumerate(dict.fromkeys(one.name for one in sources))}
    groups: list[Group] = []
    for source in sources:
        for setting, held in source.evaluations.items():
            result = held[-1]
            group = next((one for one in groups if one.takes(setting, result)), None)
            if group is None:
                groups.append(group := Group(setting, result.tasks, result.faults))
            known = {one.name: one for one in group.conditions}
            if source.name not in known:
                known[source.name] = Condition(source.name, colours[source.name])
                group.conditions.append(known[source.name])
            known[source.name].runs.append(held)
            known[source.name].paths.add(source.path)
    for group in groups:  # required steps are estimated over all results, where no environment tells them
        tables = iter(with_steps([result.places for one in group.conditions for result in one.results])[0])
        for condition in group.conditions:
            runs = condition.runs
            condition.runs = [[*run[:-1], replace(run[-1], places=tuple(next(tables)))] for run in runs]
    return groups


# ---------------------------------------------------------------------- task by task


def solved_by_one(first: Condition, second: Condition) -> tuple[int, int, int]:
    """Tasks that the first solved in more of its plays, that the second did, and how many both played."""
    one, other = (solved(condition) for condition in (first, second))
    both = one.keys() & other.keys()
    leads = [one[task] - other[task] for task in both]
    return sum(lead > 0 for lead in leads), sum(lead < 0 for lead in leads), len(both)


def solved(condition: Condition) -> dict[str | None, float]:
    """The share of its plays in which each task was solved."""
    plays: dict[str | None, list[bool]] = {}
    for one in condition.episodes:
        plays.setdefault(one.task, []).append(one.success)
    return {task: sum(held) / len(held) for task, held in plays.items()}


def sign_test(first: int, second: int) -> float:
    """The two-sided chance of counts as unequal as these if both were equally likely."""
    total, fewer = first + second, min(first, second)
    if not total:
        return 1.0
    return min(1.0, 2 * sum(comb(total, count) for count in range(fewer + 1)) / 2**total)
