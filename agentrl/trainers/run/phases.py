"""Phases: an iteration that plays tasks, has the episodes labelled, and remembers them for the phases after it.

    phases = Phases(args, run)
    for _ in run.iterations():
        records = phases.play()          tasks -> episodes -> labels; before the first phase, the training tasks, too
        ...                              learn from the records and from phases.buffer
        phases.remember(records)         the end of the phase: replay buffer, failures, files

Before the first phase the policy plays tasks of the training split (phase 0). Their labels come from the environment's
own evaluator; those of later phases from the outcome reward model, where there is one. An episode that it could not
label yet waits for the next phase; it is never counted as a failure. Trainers that learn offline play one phase, or
none at all (`offline_records`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentrl.core.errors import ConfigError
from agentrl.core.judging import ChecksEnv
from agentrl.core.specs import resolve
from agentrl.core.task_generator import Task
from agentrl.rollout.collect import Collection
from agentrl.rollout.demonstrations import Demonstrator
from agentrl.rollout.outcomes import outcomes
from agentrl.rollout.trajectory import Trajectory
from agentrl.rollout.trajectory_file import with_pictures
from agentrl.trainers.arguments.phases import OfflineArguments, PhaseArguments
from agentrl.trainers.run.curriculum import Curriculum
from agentrl.trainers.run.metrics import episode_metrics, why_unknown
from agentrl.trainers.run.replay import LABEL, Label, Played, Record, ReplayBuffer, labelled, record_of
from agentrl.trainers.run.run import Run
from agentrl.trainers.update.learner import TrainingFault
from agentrl.trainers.update.off_policy import Experience, train_critic

FIRST = "first_tasks"  # in the run's memory: what the first phase played, for phases that play it again


@dataclass
class Labels:
    """What labelling a phase's episodes brought."""

    records: list[Record]
    waiting: list[tuple[Trajectory, Played]]

    def metrics(self) -> dict[str, Any]:
        """How many there are, and how they agree with the environment's own evaluator (nothing learns from that)."""
        pairs = [(one.success, one.label.truth) for one in self.records if one.label.truth is not None]
        both = sum(said and true for said, true in pairs)
        return {
            "labelled": len(self.records),
            "waiting": len(self.waiting),
            "success": _share(sum(record.success for record in self.records), len(self.records)),
            "accuracy": _share(sum(said == true for said, true in pairs), len(pairs)),
            "precision": _share(both, sum(said for said, _ in pairs)),
            "recall": _share(both, sum(true for _, true in pairs)),
        }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


class Phases:
    """Tasks, episodes, labels and memory of a run's phases."""

    def __init__(self, args: PhaseArguments, run: Run, **buffer: Any) -> None:
        """`buffer` are options of the `ReplayBuffer`: what it keeps for this algorithm."""
        self.args, self.run = args, run
        self.curriculum = Curriculum(args, run)
        state = run.memory.setdefault("replay", {})
        self.buffer = ReplayBuffer(run.folder, state, run.processes, keep_all=args.critic_on_all, **buffer)
        self.metrics: dict[str, Any] = {}  # of the phase, beside what is learned
        self._waiting: list[tuple[Trajectory, Played]] = []
        self._judge: Any = None
        run.processes.on_main(self._find_judge)  # a wrong one is refused before anything is played
        who = "the judge in orm" if args.orm else "the environment's own evaluator, as there is no orm"
        run.report(f"episodes are labelled by {who}")

    def _find_judge(self) -> None:
        if self.args.orm:
            self._judge = resolve("judge", self.args.orm)
            for spec in self.args.specs() if isinstance(self._judge, ChecksEnv) else ():
                self._judge.check_env(spec.id, None, "natural", ("outcome",))

    @property
    def number(self) -> int:
        """Of the phase that is being played, from 1."""
        return self.run.iteration + 1

    def play(self) -> list[Record]:
        """The labelled episodes of this phase, with those of earlier phases whose label has come."""
        if not self.buffer.state["files"]:
            self._play_training_tasks()
        played, counts = self._tasks()
        collection = self._episodes(self.number, played)
        self.run.collection = collection
        self.run.keep_some(collection.trajectories)
        labels = self._labels(self.number, collection, played)
        self._waiting = labels.waiting
        self.metrics = {"tasks": {**counts, "played": len(played)}, "labels": labels.metrics()}
        won, label = sum(record.success for record in labels.records), f"phase {self.number}"
        if labels.waiting:
            self.run.report(f"{label}: {len(labels.waiting)} episodes wait for their label")
        if not labels.records:
            self.run.report(f"{label}: no episode has a label yet; nothing is learned")
        elif not won:
            self.run.report(f"{label}: no success among {len(labels.records)} episodes")
        elif won == len(labels.records):
            self.run.report(f"{label}: no failure among {won} episodes")
        return labels.records

    def remember(self, records: Sequence[Record]) -> None:
        """The end of a phase."""
        with self.run.time("remember"):
            self.buffer.add(self.number, records, self._waiting)
        self.metrics["buffer"] = {
            "trajectories": len(self.buffer.records),
            "actions": self.buffer.actions,
            "failed_tasks": len(self.buffer.failures),
        }

    # ------------------------------------------------------------------ before the first phase

    def _play_training_tasks(self) -> None:
        """Phase 0: successes for the replay buffer, and failures for the curriculum to begin with.

        Where the critic learns from all episodes, it learns from these before it is asked about the first new tasks.
        """
        played = self.curriculum.training_tasks(0, self.args.start_tasks or self.args.tasks_per_phase)
        collection = self._episodes(0, played)
        labels = self._labels(0, collection, played)
        self.buffer.add(0, labels.records)
        metrics = {name: value for name, value in episode_metrics(collection).items() if name != "generated"}
        metrics["labels"] = labels.metrics()
        if self.args.critic_on_all and self.run.learner.critic is not None:
            with self.run.time("update"):
                metrics["loss"] = train_critic(self.args, self.run, self.run.learner, experience(labels.records))
        self.run.log("start", metrics)
        self.run.report(
            f"before the first phase: {len(self.buffer.records)} trajectories may be replayed, "
            f"{len(self.buffer.failures)} tasks failed"
        )

    # ------------------------------------------------------------------ a phase

    def _tasks(self) -> tuple[list[Played], dict[str, int]]:
        """What this phase plays: new tasks, those of the training split, or those of the first phase again."""
        args, memory, count = self.args, self.run.memory, self.args.tasks_per_phase
        if not args.curriculum and FIRST in memory:
            tasks = [None if one["task"] is None else Task.from_json(one["task"]) for one in memory[FIRST]]
            return [Played(one["env"], task) for one, task in zip(memory[FIRST], tasks, strict=True)], {}
        if self.number == 1 and args.first_tasks == "training":
            found, counts = self.curriculum.training_tasks(1, count), {}
        else:
            failures = self.buffer.failures
            known = failures if args.repeat_tasks else self.buffer.played
            found, counts = self.curriculum.new_tasks(self.number, count, failures, known)
        if not args.curriculum:
            tasks = [None if one.task is None else one.task.to_json() for one in found]
            memory[FIRST] = [{"env": one.env, "task": task} for one, task in zip(found, tasks, strict=True)]
        return found, counts

    def _episodes(self, phase: int, played: list[Played]) -> Collection:
        """Every task as often as it is to be tried; `played` becomes the task of each episode."""
        played[:] = [one for one in played for _ in range(self.args.attempts)]
        collector, starts = self.curriculum.collector(phase, played)
        try:
            collection = self.run.play(starts, collector)
        finally:
            collector.close()
        if all(trajectory.fault is not None for trajectory in collection.trajectories):
            raise TrainingFault(f"every episode of phase {phase} ended by a fault: {why_unknown(collection)}")
        return collection

    def _labels(self, phase: int, collection: Collection, played: Sequence[Played]) -> Labels:
        """Of the episodes, and of those that wait; an episode that a fault cut short has none and is left out."""
        pairs = list(zip(collection.trajectories, played, strict=True))
        pairs = self.buffer.waiting + [pair for pair in pairs if pair[0].fault is None and pair[0].steps]
        by = "orm" if phase and self.args.orm else "truth"
        found, played_ones = Labels([], []), [first for first, _ in pairs]
        scores: Sequence[float | None] = [float(trajectory.success) for trajectory in played_ones]
        if by == "orm":
            with self.run.time("judge"):
                scores = self.run.processes.on_main(lambda: outcomes(played_ones, self._judge))
        for (trajectory, one), score in zip(pairs, scores, strict=True):
            if score is None:
                found.waiting.append((trajectory, one))
            else:
                task = None if one.task is None else one.task.to_json()
                truth = None if trajectory.pending else trajectory.success  # a task in words has no evaluator
                label = Label(score, by, phase, one.env, task, truth)
                found.records.append(labelled(trajectory, label))
        return found


def experience(records: Sequence[Record]) -> Experience:
    """All actions of some records."""
    return Experience.of([one.trajectory for one in records], [one.outcome for one in records])


# ---------------------------------------------------------------------- learning offline


def offline_records(args: OfflineArguments, run: Run) -> list[Record]:
    """The same ones every time, also after a resume. To be called in an iteration: the first may have to play them."""
    if not args.data:
        phases = Phases(args, run, keep_failures=True)
        if len(phases.buffer.state["files"]) < 2:  # neither the training tasks nor the first phase, or not the latter
            phases.remember(phases.play())
        return phases.buffer.records
    found = read_records(args.data, run)
    run.report(f"learning from {len(found)} trajectories of {args.data}")
    return found


def read_records(path: str | Path, run: Run) -> list[Record]:
    """The labelled trajectories of a file; those without a label have the environment's word for one."""
    found = []
    for trajectory in with_pictures(path):
        if trajectory.fault is None and trajectory.steps:
            if LABEL in trajectory.steps[-1].info:
                found.append(record_of(trajectory))
            else:  # what the environment said
                label = Label(float(trajectory.success), "truth", 0, truth=trajectory.success)
                found.append(Record(trajectory, label))
    own = Demonstrator(run.learner.engine).tokenizer_hash
    if any(record.trajectory.tokenizer != own for record in found):
        raise ConfigError(f"{path} was written with another tokenizer than the model's")
    if not found:
        raise ConfigError(f"{path} holds no trajectories to learn from")
    return found


def plays(args: OfflineArguments, iteration: int) -> bool:
    """Are there episodes in the metrics of this iteration (from 1)?"""
    return not args.data and iteration == 1
