"""What a run of phases played and remembered: where its tasks came from, who labelled them, what was replayed."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from agentrl.core.files import open_regular
from agentrl.core.html import percent, safe, section
from agentrl.viewer.canvas import Look
from agentrl.viewer.charts import Series, line_chart, stacked_bars
from agentrl.viewer.layout import charts, in_two_sizes, table
from agentrl.viewer.run_data import Line, RunData, figure, points

# What becomes of a proposal, in the order of the filters.
FATES = {
    "kept": "kept",
    "duplicates": "seen before",
    "infeasible": "cannot be solved",
    "unplayable": "cannot be played",
    "too_hard": "too hard for the critic",
    "too_easy": "too easy for the critic",
}
EXAMPLES = 4  # instructions of each phase
MAX_EXAMPLE = 400  # characters of an instruction


def curriculum_section(run: RunData) -> str:
    """The section, or nothing for a run without phases."""
    lines = [line for line in run.train if isinstance(line.get("phase"), Mapping)]
    if not lines:
        return ""
    attempts, arguments = phase_attempts(run.folder), run.config.get("arguments")
    judged = isinstance(arguments, Mapping) and bool(str(arguments.get("orm") or ""))
    who = "an outcome reward model" if judged else "the environment's own evaluator"
    intro = (
        f"An iteration is a phase: tasks are played, {who} says which episodes succeeded, and the policy learns from "
        "them and from replayed successes. New tasks are made from those that failed."
    )
    return section(
        "Phases",
        f'<p class="soft">{intro}</p>',
        charts([labels_chart(lines, judged=judged), proposals_chart(lines)]),
        phases_table(lines, judged=judged),
        _under("The tasks that were played, by how they were made", kinds_table(attempts)),
        _under("Examples of new instructions", examples_table(attempts)),
    )


def _under(title: str, content: str) -> str:
    return f"<h3>{title}</h3>{content}" if content else ""


# ---------------------------------------------------------------------- charts


def labels_chart(lines: Sequence[Line], *, judged: bool) -> str:
    """How many training episodes succeeded; beside it, what a judge called them, and how often that was right."""
    series = [Series("true success", points(lines, "success"), colour=0, marks=True)]
    if judged:
        called, right = (points(lines, "phase", "labels", name) for name in ("success", "accuracy"))
        series.append(Series("called a success", called, colour=1, marks=True))
        series.append(Series("right labels", right, colour=7, dashed=True, marks=True))
    look = Look("Episodes of each phase, on its own tasks", x_name="phase", limits=(0.0, 1.0), percent=True)
    return in_two_sizes(partial(line_chart, series), look)


def proposals_chart(lines: Sequence[Line]) -> str:
    """What became of the tasks that were proposed."""
    known = [line for line in lines if figure(line, "phase", "tasks", "proposed")]
    layers = {label: [_count(line, "tasks", name) for line in known] for name, label in FATES.items()}
    proposed = [_count(line, "tasks", "proposed") for line in known]
    parts = zip(proposed, *layers.values(), strict=True)
    layers["more than needed"] = [max(0.0, whole - sum(filtered)) for whole, *filtered in parts]
    phases = [line["iteration"] for line in known]
    return in_two_sizes(partial(stacked_bars, phases, layers), Look("Proposed tasks", x_name="phase"))


def _count(line: Line, *path: str) -> float:
    return figure(line, "phase", *path) or 0.0


# ---------------------------------------------------------------------- tables


def phases_table(lines: Sequence[Line], *, judged: bool) -> str:
    """A row for each phase."""
    columns: dict[str, tuple[str, ...]] = {
        "proposed": ("tasks", "proposed"),
        "kept": ("tasks", "kept"),
        "filled up": ("tasks", "filled"),
        "played": ("tasks", "played"),
        "waiting": ("labels", "waiting"),
        "actions in the window": ("replay", "eligible"),
        "actions replayed": ("replay", "actions"),
        "in the buffer": ("buffer", "trajectories"),
        "failed tasks": ("buffer", "failed_tasks"),
    }
    known = {name for name, path in columns.items() for line in lines if figure(line, "phase", *path) is not None}
    shown = {name: path for name, path in columns.items() if name in known}
    rates: dict[str, str] = {"called a success": "success"}
    if judged:
        rates |= {"right labels": "accuracy", "precision": "precision", "recall": "recall"}
    rows = [
        [
            f"{line['iteration']:g}",
            *("-" if (n := figure(line, "phase", *path)) is None else f"{n:,.0f}" for path in shown.values()),
            *(percent(figure(line, "phase", "labels", name)) for name in rates.values()),
        ]
        for line in lines
    ]
    return table(["phase", *shown, *rates], rows, texts=0)


def kinds_table(attempts: Mapping[int, Sequence[Attempt]]) -> str:
    """What the tasks of each phase were like, and how many of which kind were solved."""
    kinds = sorted({one.kind for held in attempts.values() for one in held})
    rows = []
    for phase, held in attempts.items():
        row = [str(phase), str(len(held))]
        for name in ("steps", "complexity"):
            values = [one.about.get(name) for one in held]
            known = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
            row.append(f"{sum(known) / len(known):.1f}" if known else "-")
        for kind in kinds:
            ends = [one.success for one in held if one.kind == kind and one.success is not None]
            row.append(f"{sum(ends)} of {len(ends)}" if ends else "-")
        rows.append(row)
    names = [f"{kind or 'training split'}, solved" for kind in kinds]
    return table(["phase", "episodes", "mean required steps", "mean complexity", *names], rows, texts=0)


def examples_table(attempts: Mapping[int, Sequence[Attempt]]) -> str:
    """Some instructions of each phase, of every kind in turn."""
    rows = []
    for phase, held in attempts.items():
        for one in examples(held):
            texts = one.kind or "training split", str(one.about.get("group") or ""), one.instruction
            called, end = ("solved" if won else "failed" for won in (one.labelled, one.success))
            if one.success is None:
                end = f"called {called}"
            elif called != end:
                end = f"{end}, called {called}"
            rows.append([str(phase), *(safe(text, MAX_EXAMPLE) for text in texts), end])
    return table(["phase", "made as", "group", "instruction", "first try"], rows, texts=5, kind="wrapped")


def examples(held: Sequence[Attempt], most: int = EXAMPLES) -> list[Attempt]:
    """Different instructions: the first of each kind, then the second of each, as far as there is room."""
    by_kind: dict[str, dict[str, Attempt]] = {}
    for one in held:
        if one.instruction:
            by_kind.setdefault(one.kind, {}).setdefault(one.instruction, one)
    rounds = [list(found.values()) for _, found in sorted(by_kind.items())]
    longest = max(map(len, rounds), default=0)
    mixed = [found[place] for place in range(longest) for found in rounds if place < len(found)]
    return mixed[:most]


# ---------------------------------------------------------------------- the tasks that were played
#
# Read off the labelled trajectories, `RUN/replay/phase_*.jsonl`.

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
