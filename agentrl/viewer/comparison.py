"""Several runs, or files of played episodes, side by side: as a whole, by group, by required steps, by complexity, by
types of error. Runs under the same name (seeds of one condition) count together."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from math import comb
from pathlib import Path

from agentrl.core.errors import ConfigError
from agentrl.core.html import page, percent, safe, section, write_page
from agentrl.rollout.error_types import EpisodeFacts
from agentrl.rollout.trajectory_file import TrajectoryReader
from agentrl.viewer.canvas import COLOURS, Look, chart_style
from agentrl.viewer.charts import Bars, Series, grouped_bars, line_chart
from agentrl.viewer.held_out import HOW_THEY_FAIL, NUMBERS, bar_of
from agentrl.viewer.layout import charts, in_two_sizes, share_cell, table, wide
from agentrl.viewer.run_data import read_run
from agentrl.viewer.task_groups import (
    Measured,
    Share,
    bins,
    error_shares,
    measured,
    success,
    success_by_group,
    success_in,
    with_steps,
)

AXES = {"required steps": "actions that right play takes", "complexity": "requirements or obstacles of the task"}
Places = tuple[EpisodeFacts | None, ...]


@dataclass
class Condition:
    """What is compared: the evaluations of one or several runs, the last of each being its result."""

    name: str
    colour: int = 0
    runs: list[list[Measured]] = field(default_factory=list)

    @property
    def results(self) -> list[Places]:
        """The last evaluation of each run, task by task."""
        return [found[-1].places for found in self.runs]

    @property
    def episodes(self) -> list[EpisodeFacts]:
        """Those of all results."""
        return [one for result in self.results for one in result if one is not None]


def write_comparison(sources: Sequence[tuple[str, str | os.PathLike[str]]], output: str | os.PathLike[str]) -> Path:
    """Write the page about `(name, run folder or file of trajectories)` pairs; its path."""
    return write_page(output, build(read_conditions(sources)))


def read_conditions(sources: Sequence[tuple[str, str | os.PathLike[str]]]) -> list[Condition]:
    """The conditions in the order of their names; `ConfigError` where a source tells nothing about its tasks."""
    found: dict[str, Condition] = {}
    for name, path in sources:
        source = Path(path)
        if source.is_dir():
            held = measured(read_run(source))[1]
        elif source.exists():
            played = [None if one.fault is not None else EpisodeFacts.of(one) for one in TrajectoryReader(source)]
            held = [Measured(0, tuple(played))]
        else:
            raise ConfigError(f"{str(path)!r} does not exist; name run folders or files of trajectories")
        if not held or not held[-1].episodes:
            raise ConfigError(f"{str(path)!r} has no evaluation with results by task (see eval_every)")
        found.setdefault(name, Condition(name, len(found) % COLOURS)).runs.append(held)
    # Required steps are estimated over all results, where no environment tells them.
    conditions = list(found.values())
    tables = iter(with_steps([result for one in conditions for result in one.results])[0])
    for condition in conditions:
        condition.runs = [[*run[:-1], Measured(run[-1].iteration, tuple(next(tables)))] for run in condition.runs]
    return conditions


def build(conditions: Sequence[Condition]) -> str:
    """The page as HTML."""
    names = ", ".join(one.name for one in conditions)
    sections = [
        section("Success", charts([], across=course_chart(conditions)), success_table(conditions)),
        _part("By required steps and complexity", charts([number_chart(conditions, name) for name in NUMBERS])),
        _part("Types of error", f'<p class="soft">{HOW_THEY_FAIL}</p>', charts([], across=errors_chart(conditions))),
        _part("Task by task", pairs_table(conditions)),
    ]
    intro = (
        "The last evaluation of each run, on held-out tasks. Ranges are 95 % intervals over episodes; several runs "
        "under one name are taken together, and the difference between them is not part of the intervals."
    )
    return page(f"Comparison of {names}", intro, [one for one in sections if one], style=chart_style())


def _part(title: str, *content: str) -> str:
    return section(title, *content) if content[-1] else ""


# ---------------------------------------------------------------------- charts


def course_chart(conditions: Sequence[Condition]) -> str:
    """Held-out success over the run, the mean of a condition's runs; nothing where all have one evaluation."""
    if all(len(found) < 2 for one in conditions for found in one.runs):
        return ""
    lines = []
    for condition in conditions:
        held: dict[float, list[float]] = {}
        for one in (one for found in condition.runs for one in found):
            held.setdefault(one.iteration, []).append(success(one.episodes).rate)
        means = [(at, sum(rates) / len(rates)) for at, rates in sorted(held.items())]  # over those evaluated then
        lines.append(Series(condition.name, means, colour=condition.colour, marks=True))
    look = wide("Held-out success", limits=(0.0, 1.0), percent=True, x_name="iteration or phase")
    return in_two_sizes(partial(line_chart, lines), look)


def number_chart(conditions: Sequence[Condition], name: str) -> str:
    """Success by one of the numbers that tasks have."""
    number = NUMBERS[name]
    columns = bins(number(one) for condition in conditions for one in condition.episodes)
    if len(columns) < 2:
        return ""
    look = Look(f"Success by {name}", height=320, x_name=AXES[name], percent=True, limits=(0.0, 1.0))
    rows = [_bars(one, [success_in(one.episodes, column, number) for column in columns]) for one in conditions]
    return in_two_sizes(partial(grouped_bars, [column.label for column in columns], rows), look)


def errors_chart(conditions: Sequence[Condition]) -> str:
    """How many of all episodes failed in which way."""
    look = wide("Failed episodes by type (share of all)", percent=True, x_name="type of error")
    rows = [_bars(one, list(error_shares(one.episodes).values())) for one in conditions]
    return in_two_sizes(partial(grouped_bars, list(error_shares([])), rows), look)


def _bars(condition: Condition, shares: Sequence[Share]) -> Bars:
    return Bars(condition.name, [bar_of(share) for share in shares], condition.colour)


# ---------------------------------------------------------------------- tables


def success_table(conditions: Sequence[Condition]) -> str:
    """A row for each condition, a column for each group."""
    groups = list(success_by_group([one for condition in conditions for one in condition.episodes]))
    rows = []
    for one in conditions:
        shares = success_by_group(one.episodes)
        cells = [share_cell(shares.get(group, Share(0, 0))) for group in groups if len(groups) > 1]
        rates = [success([facts for facts in result if facts is not None]).rate for result in one.results]
        spread = f"{percent(min(rates))} to {percent(max(rates))}" if len(rates) > 1 else "-"
        after = sorted({found[-1].iteration for found in one.runs})
        ends = ", ".join(f"{at:g}" for at in after)
        rows.append([safe(one.name), str(len(rates)), ends, share_cell(success(one.episodes)), spread, *cells])
    shown = groups if len(groups) > 1 else []
    return table(["condition", "runs", "after iteration", "all tasks", "lowest to highest run", *shown], rows)


def pairs_table(conditions: Sequence[Condition]) -> str:
    """Every condition against the first, on the same tasks: how many only one of the two solved."""
    if len(conditions) < 2:
        return ""
    base, rows = conditions[0], []
    for other in conditions[1:]:
        counts = paired(base, other)
        if counts is not None:
            first, second, tasks = counts
            chance = sign_test(first, second)
            said = "below 0.001" if chance < 0.001 else f"{chance:.3f}"
            rows.append([safe(other.name), str(tasks), str(second), str(first), said])
    head = ["condition", "pairs", "solved by it alone", f"solved by {base.name} alone", "p"]
    told = (
        f"Each condition against {base.name}, run by run in the order given, on the same tasks. p is that of a "
        "two-sided sign test over the tasks that only one of the two solved; it takes runs for independent."
    )
    return f'<p class="soft">{safe(told)}</p>{table(head, rows)}' if rows else ""


def paired(first: Condition, second: Condition) -> tuple[int, int, int] | None:
    """Tasks that only the first solved, that only the second solved, and how many both played; None where the tasks
    are not the same."""
    pairs = list(zip(first.results, second.results, strict=False))
    if not pairs:
        return None
    for one, other in pairs:  # as many, of the same groups and complexity, place by place, as far as can be told
        known = [(a, b) for a, b in zip(one, other, strict=False) if a and b]
        if len(one) != len(other) or any((a.group, a.complexity) != (b.group, b.complexity) for a, b in known):
            return None
    both = [(one.success, other.success) for pair in pairs for one, other in zip(*pair, strict=True) if one and other]
    return both.count((True, False)), both.count((False, True)), len(both)


def sign_test(first: int, second: int) -> float:
    """The two-sided chance of counts as unequal as these if both were equally likely."""
    total, fewer = first + second, min(first, second)
    if not total:
        return 1.0
    return min(1.0, 2 * sum(comb(total, count) for count in range(fewer + 1)) / 2**total)
