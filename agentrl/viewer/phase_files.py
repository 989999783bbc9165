"""The tasks that a run of phases played, read off its labelled trajectories (`RUN/replay/phase_*.jsonl`)."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from agentrl.core.files import open_regular

log = logging.getLogger(__name__)
MAX_READ = 2_000  # trajectories of one phase
NAME = re.compile(r"phase_(\d{1,9})\.jsonl")


@dataclass(frozen=True)
class Attempt:
    """One labelled episode of a phase."""

    task: str
    instruction: str
    kind: (
        str  # how the task was made from one that failed: "nearby", "easier", ...; empty for one of the training split
    )
    labelled: bool  # was it called a success?
    success: bool | None  # by the environment's own evaluator; None where it has none for this task
    about: dict[str, Any]


class _Task(msgspec.Struct):
    id: str = ""
    instruction: str = ""
    kind: str = ""


class _Label(msgspec.Struct):
    score: float
    truth: bool | None = None
    task: _Task | None = None


class _Info(msgspec.Struct):
    label: _Label | None = None


class _Step(msgspec.Struct):
    info: _Info


class _Record(msgspec.Struct):  # only these fields are decoded: the tokens of a phase may fill gigabytes
    steps: list[_Step]
    about: dict[str, Any] = {}
    task: str | None = None


def phase_attempts(folder: Path) -> dict[int, list[Attempt]]:
    """The labelled episodes of each phase; what cannot be read is left out."""
    found: dict[int, list[Attempt]] = {}
    for path in sorted((folder / "replay").glob("phase_*.jsonl")):
        if match := NAME.fullmatch(path.name):
            try:
                found[int(match[1])] = list(_attempts(path))
            except OSError as error:
                log.warning("the tasks of a phase are not shown: %s", error)
    return dict(sorted(found.items()))


def _attempts(path: Path) -> Iterator[Attempt]:
    with open_regular(path) as file:
        for line in islice(file, MAX_READ):
            try:
                record = msgspec.json.decode(line, type=_Record)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                continue  # the half line of a run that was killed, or another file altogether
            label = record.steps[-1].info.label if record.steps else None
            if label is not None:
                task = label.task or _Task(record.task or "")
                won = label.score > 0.5
                yield Attempt(task.id, task.instruction, task.kind, won, label.truth, record.about)
