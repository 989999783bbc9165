"""What a run of phases remembers of what was played: labelled trajectories, a replay buffer and the tasks that failed.

`RUN/replay/phase_000001.jsonl` holds every trajectory that was labelled in phase 1, `phase_000000.jsonl` what the first
policy played before anything was learned, and `waiting_000001.jsonl` the trajectories that had no label yet when phase
1 ended. These are ordinary trajectory files; the label is in the last step's info, under `label`. The buffer and the
failure set follow from them.

A checkpoint lists the files that belong to it, with their hashes: what a run wrote after its last checkpoint is removed
when it resumes, and written again.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch

from agentrl.core.errors import ConfigError
from agentrl.core.files import sha256_of
from agentrl.core.task_generator import Task
from agentrl.rollout.trajectory import Trajectory
from agentrl.rollout.trajectory_file import TrajectoryWriter, with_pictures
from agentrl.trainers.parallel.ranks import ProcessGroup
from agentrl.trainers.update.off_policy import Experience

FOLDER, LABEL = "replay", "label"


@dataclass(frozen=True)
class Played:
    """A task in one of the run's environments; without a task, an environment's own choice by the seed."""

    env: int = 0
    task: Task | None = None


class Label(msgspec.Struct, forbid_unknown_fields=True):
    """How an episode ended, who says so, and what was played."""

    score: float  # 0 or 1, or a reward model's probability of success
    by: str  # "truth" or "orm"
    phase: int
    env: int = 0
    task: dict[str, Any] | None = None
    truth: bool | None = None  # for metrics only: nothing that learns looks at it; None where nobody knows


@dataclass
class Record:
    """A trajectory with its label."""

    trajectory: Trajectory
    label: Label

    @property
    def success(self) -> bool:
        """Is success likelier than failure?"""
        return self.label.score > 0.5

    @property
    def outcome(self) -> float:
        """As a number."""
        return float(self.success)

    @property
    def played(self) -> Played:
        """Which task this was."""
        return Played(self.label.env, None if self.label.task is None else Task.from_json(self.label.task))

    @property
    def actions(self) -> int:
        """Replies that hold a token: what can be learned from."""
        return sum(bool(step.response_ids) for step in self.trajectory.steps)


def labelled(trajectory: Trajectory, label: Label) -> Record:
    """The record; the label is written into the trajectory, too."""
    trajectory.steps[-1].info[LABEL] = msgspec.to_builtins(label)
    return Record(trajectory, label)


def record_of(trajectory: Trajectory) -> Record:
    """A labelled trajectory of a file; `ConfigError` for one without a label."""
    try:
        return Record(trajectory, msgspec.convert(trajectory.steps[-1].info[LABEL], Label))
    except (IndexError, KeyError, msgspec.ValidationError) as error:
        raise ConfigError(f"the trajectory {trajectory.id} has no label that can be read: {error!r}") from error


@dataclass
class TaskSet:
    """Tasks, each once, in the order in which they first came."""

    tasks: dict[int, dict[Task, None]] = field(default_factory=dict)  # by environment

    def add(self, played: Played) -> None:
        """Remember a task, where there is one."""
        if played.task is not None:
            self.tasks.setdefault(played.env, {}).setdefault(played.task)

    def of(self, env: int) -> list[Task]:
        """Those of one environment."""
        return list(self.tasks.get(env, ()))

    def __iter__(self) -> Iterator[Played]:
        return (Played(env, task) for env, tasks in self.tasks.items() for task in tasks)

    def __len__(self) -> int:
        return sum(map(len, self.tasks.values()))


class ReplayBuffer:
    """The labelled past of a run, in memory and in its folder.

    `records` are what may be replayed: `demonstrations`, successes (with `one_per_task` the newest one at each task),
    and failures too with `keep_failures`; of all these the newest `capacity` actions (0: all). `failures` are the tasks
    that failed, seeds for new ones; `played` are all tasks; `episodes` with `keep_all` all that was labelled. `state`
    is the part of the run's memory that the files are listed in; everything else follows from them.
    """

    def __init__(
        self,
        run_folder: Path,
        state: dict[str, Any],
        processes: ProcessGroup,
        *,
        keep_failures: bool = False,
        capacity: int = 0,
        one_per_task: bool = False,
        keep_all: bool = False,
        demonstrations: Sequence[Record] = (),
    ) -> None:
        self.folder, self.state, self.processes = run_folder / FOLDER, state, processes
        self.keep_failures, self.capacity = keep_failures, capacity
        self.one_per_task, self.keep_all = one_per_task, keep_all
        self.records = [record for record in demonstrations if record.success or keep_failures]
        self.episodes: list[Record] = []
        self.failures, self.played = TaskSet(), TaskSet()
        self.waiting: list[tuple[Trajectory, Played]] = []
        state.setdefault("files", [])
        state.setdefault("waiting", None)
        self._restore()

    def add(self, phase: int, records: Sequence[Record], waiting: Sequence[tuple[Trajectory, Played]] = ()) -> None:
        """The end of a phase: keep what was labelled, and what still waits for a label."""
        self.state["files"].append(self._write(f"phase_{phase:06d}.jsonl", [one.trajectory for one in records]))
        self.waiting, self.state["waiting"] = list(waiting), None
        if waiting:
            unknown = [labelled(one, _no_label(phase, played)).trajectory for one, played in waiting]
            self.state["waiting"] = self._write(f"waiting_{phase:06d}.jsonl", unknown)
        self._remember(records)
        for _, played in waiting:
            self.played.add(played)

    @property
    def actions(self) -> int:
        """How many actions may be replayed."""
        return sum(record.actions for record in self.records)

    def _remember(self, records: Sequence[Record]) -> None:
        for record in records:
            self.played.add(record.played)
            if not record.success:
                self.failures.add(record.played)
        self.episodes += records if self.keep_all else ()
        self.records += [record for record in records if record.success or self.keep_failures]
        if self.one_per_task:
            self.records = newest_successes(self.records)
        surplus = self.actions - self.capacity if self.capacity else 0
        while surplus > 0 and len(self.records) > 1:
            surplus -= self.records.pop(0).actions

    # ------------------------------------------------------------------ files

    def _write(self, name: str, trajectories: Sequence[Trajectory]) -> dict[str, Any]:
        """A file of its own; the main process writes, and all know what it holds."""

        def write() -> dict[str, Any]:
            path = self.folder / name
            path.unlink(missing_ok=True)  # of a run that was stopped in this phase
            with TrajectoryWriter(path) as writer:
                for trajectory in trajectories:
                    writer.write(trajectory)
            with open(path, "rb") as file:
                os.fsync(file.fileno())
            return {"name": name, "sha256": sha256_of(path)}

        return self.processes.on_main(write)

    def _restore(self) -> None:
        """Read the files that the state lists, and remove those that were written after it."""
        waiting = self.state["waiting"]
        listed = [*self.state["files"], *([waiting] if waiting else [])]
        self.processes.on_main(lambda: self._check(listed))
        for entry in self.state["files"]:
            self._remember([record_of(trajectory) for trajectory in with_pictures(self.folder / entry["name"])])
        if waiting:
            found = [record_of(trajectory) for trajectory in with_pictures(self.folder / waiting["name"])]
            self.waiting = [(record.trajectory, record.played) for record in found]
            for _, played in self.waiting:
                self.played.add(played)

    def _check(self, listed: Sequence[dict[str, Any]]) -> None:
        newest = max((_phase(entry["name"]) for entry in listed), default=-1)
        for path in self.folder.glob("*_*.jsonl"):
            if _phase(path.name) > newest:
                path.unlink()
        for entry in listed:
            path = self.folder / entry["name"]
            if not path.is_file() or sha256_of(path) != entry["sha256"]:
                raise ConfigError(f"{path} is damaged or missing; the run learns from it, so put it back to resume")


def _phase(name: str) -> int:
    """The phase whose file this is."""
    number = name.removesuffix(".jsonl").rpartition("_")[2]
    return int(number) if number.isdecimal() else -1


def _no_label(phase: int, played: Played) -> Label:
    """In the file of those that wait: which task it was."""
    return Label(0.0, "nobody", phase, played.env, None if played.task is None else played.task.to_json())


# ---------------------------------------------------------------------- what is replayed


def newest_successes(records: Sequence[Record]) -> list[Record]:
    """Without earlier successes at a task that was solved again; episodes without a task and failures all stay."""
    named = {place: one.played for place, one in enumerate(records) if one.success and one.label.task is not None}
    newest = {played: place for place, played in named.items()}
    return [one for place, one in enumerate(records) if place not in named or newest[named[place]] == place]


def quantile_window(perplexities: Sequence[Sequence[float]], low: float, high: float) -> tuple[float, float]:
    """Two quantiles of the perplexities of all actions; replies without a token, whose is infinite, do not count."""
    found = [value for each in perplexities for value in each if math.isfinite(value)]
    low, high = np.quantile(found, [low, high]).tolist() if found else (1.0, 1.0)
    return low, high


def in_window(perplexities: Sequence[Sequence[float]], low: float, high: float) -> list[list[bool]]:
    """Which actions the actor neither knows by heart (below `low`) nor finds too strange (above `high`)."""
    return [[low <= value <= high for value in each] for each in perplexities]


def drawn(eligible: Sequence[Sequence[bool]], most: int, rng: torch.Generator) -> list[list[bool]]:
    """At most `most` of the eligible actions: trajectories in random order, each with all of its own, until it is full.

    The last one gives its first actions only.
    """
    chosen = [[False] * len(each) for each in eligible]
    for index in torch.randperm(len(eligible), generator=rng).tolist():
        for place, wanted in enumerate(eligible[index]):
            if wanted and most > 0:
                chosen[index][place] = True
                most -= 1
    return chosen


def replayed(records: Sequence[Record], kept: Sequence[Sequence[bool]]) -> Experience:
    """The trajectories of which an action was drawn."""
    pairs = [(record, list(flags)) for record, flags in zip(records, kept, strict=True) if any(flags)]
    return Experience(
        [record.trajectory for record, _ in pairs],
        [record.outcome for record, _ in pairs],
        [flags for _, flags in pairs],
    )
