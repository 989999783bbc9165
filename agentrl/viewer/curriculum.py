"""What a run of phases played and remembered: where its tasks came from, who labelled them, what was replayed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from agentrl.core.html import percent, safe, section
from agentrl.viewer.canvas import Look
from agentrl.viewer.charts import Series, line_chart, stacked_bars
from agentrl.viewer.layout import charts, in_two_sizes
from agentrl.viewer.phase_files import Attempt, phase_attempts
from agentrl.viewer.run_data import Line, RunData, figure, points
from agentrl.viewer.tables import table

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
    attempts = phase_attempts(run.folder)
    return section(
        "Phases",
        f'<p class="soft">{_intro(run)}</p>',
        charts([labels_chart(lines, judged=bool(_judge(run))), proposals_chart(lines)]),
        phases_table(lines, judged=bool(_judge(run))),
        _under("The tasks that were played, by how they were made", kinds_table(attempts)),
        _under("Examples of new instructions", examples_table(attempts)),
    )


def _under(title: str, content: str) -> str:
    return f"<h3>{title}</h3>{content}" if content else ""


def _judge(run: RunData) -> str:
    arguments = run.config.get("arguments")
    return str(arguments.get("orm") or "") if isinstance(arguments, Mapping) else ""


def _intro(run: RunData) -> str:
    who = "an outcome reward model" if _judge(run) else "the environment's own evaluator"
    return (
        f"An iteration is a phase: tasks are played, {who} says which episodes succeeded, and the policy learns from "
        "them and from replayed successes. New tasks are made from those that failed."
    )


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
    shown = {name: path for name, path in columns.items() if any(_known(line, path) for line in lines)}
    rates: dict[str, str] = {"called a success": "success"}
    if judged:
        rates |= {"right labels": "accuracy", "precision": "precision", "recall": "recall"}
    rows = [
        [
            f"{line['iteration']:g}",
            *(_whole(figure(line, "phase", *path)) for path in shown.values()),
            *(percent(figure(line, "phase", "labels", name)) for name in rates.values()),
        ]
        for line in lines
    ]
    return table(["phase", *shown, *rates], rows, texts=0)


def _known(line: Line, path: Sequence[str]) -> bool:
    return figure(line, "phase", *path) is not None


def _whole(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def kinds_table(attempts: Mapping[int, Sequence[Attempt]]) -> str:
    """What the tasks of each phase were like, and how many of which kind were solved."""
    kinds = sorted({one.kind for held in attempts.values() for one in held})
    rows = [
        [
            str(phase),
            str(len(held)),
            *(_mean(one.about.get(name) for one in held) for name in ("steps", "complexity")),
            *(_solved([one for one in held if one.kind == kind]) for kind in kinds),
        ]
        for phase, held in attempts.items()
    ]
    names = [f"{kind or 'training split'}, solved" for kind in kinds]
    return table(["phase", "episodes", "mean required steps", "mean complexity", *names], rows, texts=0)


def _solved(held: Sequence[Attempt]) -> str:
    known = [one.success for one in held if one.success is not None]
    return f"{sum(known)} of {len(known)}" if known else "-"


def _mean(values: Any) -> str:
    known = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    return f"{sum(known) / len(known):.1f}" if known else "-"


def examples_table(attempts: Mapping[int, Sequence[Attempt]]) -> str:
    """Some instructions of each phase, of every kind in turn."""
    rows = []
    for phase, held in attempts.items():
        for one in examples(held):
            texts = one.kind or "training split", str(one.about.get("group") or ""), one.instruction
            rows.append([str(phase), *(safe(text, MAX_EXAMPLE) for text in texts), _ended(one)])
    return table(["phase", "made as", "group", "instruction", "first try"], rows, texts=5, kind="wrapped")


def _ended(one: Attempt) -> str:
    called, truth = ("solved" if won else "failed" for won in (one.labelled, one.success))
    if one.success is None:
        return f"called {called}"
    return truth if called == truth else f"{truth}, called {called}"


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
