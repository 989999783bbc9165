"""The data of the trainers that learn offline: a file of trajectories, or what the first policy plays itself."""

from __future__ import annotations

from dataclasses import dataclass

from agentrl.core.errors import ConfigError
from agentrl.rollout.demonstrations import Demonstrator
from agentrl.rollout.trajectory import Trajectory
from agentrl.rollout.trajectory_file import with_pictures
from agentrl.trainers.phase_arguments import PhaseArguments
from agentrl.trainers.phases import Phases
from agentrl.trainers.replay import LABEL, Label, Record, record_of
from agentrl.trainers.run import Run


@dataclass(kw_only=True)
class OfflineArguments(PhaseArguments):
    """Options of the trainers that play once, or never, and then learn."""

    iterations: int = 1
    """Number of iterations: each goes over all the data."""
    data: str = ""
    """Learn from this trajectory file (JSON lines or parquet, with token ids of the same tokenizer), for example
    RUN/replay/phase_000001.jsonl of a WebRL run, which holds what its first phase played. Without one, the run plays
    the training tasks and a first phase itself, as WebRL does."""


def offline_records(args: OfflineArguments, run: Run) -> list[Record]:
    """The same ones every time, also after a resume. To be called in an iteration: the first may have to play them."""
    if args.data:
        return _read(args, run)
    phases = Phases(args, run, keep_failures=True)
    if len(phases.buffer.state["files"]) < 2:  # neither the training tasks nor the first phase, or not the latter
        phases.remember(phases.play())
    return phases.buffer.records


def plays(args: OfflineArguments, iteration: int) -> bool:
    """Are there episodes in the metrics of this iteration (from 1)?"""
    return not args.data and iteration == 1


def _read(args: OfflineArguments, run: Run) -> list[Record]:
    found = [_labelled(one) for one in with_pictures(args.data) if one.fault is None and one.steps]
    own = Demonstrator(run.learner.engine).tokenizer_hash
    if any(record.trajectory.tokenizer != own for record in found):
        raise ConfigError(f"{args.data} was written with another tokenizer than the model's")
    if not found:
        raise ConfigError(f"{args.data} holds no trajectories to learn from")
    run.report(f"learning from {len(found)} trajectories of {args.data}")
    return found


def _labelled(trajectory: Trajectory) -> Record:
    """With the label that the file has, or else with what the environment said."""
    if LABEL in trajectory.steps[-1].info:
        return record_of(trajectory)
    return Record(trajectory, Label(float(trajectory.success), "truth", 0, truth=trajectory.success))
