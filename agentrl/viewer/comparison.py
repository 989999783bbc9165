"""Several runs, or files of played episodes, side by side: as a whole, by group, by required steps, by complexity, by
types of error. Only what was measured in the same environment, split and mode, on the same tasks, is compared; the rest
stands in sections of its own. Runs under the same name (seeds of one condition) count together."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from agentrl.core.html import page, percent, safe, section, write_page
from agentrl.viewer.canvas import Look, chart_style
from agentrl.viewer.charts import Bars, Series, grouped_bars, line_chart
from agentrl.viewer.conditions import Condition, Group, Source, read_groups, read_sources, sign_test, solved_by_one
from agentrl.viewer.held_out import HOW_THEY_FAIL, NUMBERS, bar_of
from agentrl.viewer.layout import charts, in_two_sizes, share_cell, table, wide
from agentrl.viewer.task_groups import Share, bins, error_names, error_shares, success, success_by_group, success_in

AXES = {"required steps": "actions that right play takes", "complexity": "requirements or obstacles of the task"}
INTRO = (
    "The last evaluation of each run. Ranges are 95 % intervals over tasks: plays of one task are taken together, also "
    "those of several runs under one name. What differs in environment, split, mode or tasks stands in a section of "
    "its own."
)


def write_comparison(sources: Sequence[tuple[str, str | os.PathLike[str]]], output: str | os.PathLike[str]) -> Path:
    """Write the page about `(name, run folder or file of trajectories)` pairs; its path."""
    return write_page(output, build(read_sources(sources)))


def build(sources: Sequence[Source]) -> str:
    """The page as HTML."""
    groups = read_groups(sources)
    names = ", ".join(dict.fromkeys(one.name for one in sources))
    parts = [section("What is compared", sources_table(sources)), *(group_section(one, groups) for one in groups)]
    return page(f"Comparison of {names}", INTRO, parts, style=chart_style())


def sources_table(sources: Sequence[Source]) -> str:
    """What every run or file is about."""
    rows = [
        [safe(text, 200) for text in (one.name, one.path.name, one.algorithm or "-", one.model or "-")]
        + [safe(text, 200) for text in (setting.environment, setting.split, setting.mode)]
        + [f"{len(held[-1].tasks):,}", f"{len(held[-1].episodes):,}", safe(held[-1].when) or "-"]
        for one in sources
        for setting, held in one.evaluations.items()
    ]
    head = ["condition", "run or file", "algorithm", "model", "environment", "split", "mode and temperature"]
    return table([*head, "tasks", "episodes", "measured"], rows, texts=7, kind="wrapped")


def group_section(group: Group, groups: Sequence[Group]) -> str:
    """All that was measured in one way on the same tasks."""
    conditions = group.conditions
    content = [
        charts([], across=course_chart(conditions)),
        success_table(conditions),
        charts([number_chart(conditions, name) for name in NUMBERS]),
    ]
    if errors := errors_chart(conditions):
        content += [f'<p class="soft">{HOW_THEY_FAIL}</p>', charts([], across=errors)]
    content += [pairs_table(conditions)]
    content += [f'<p class="soft">{safe(reason)}</p>' for reason in group.left_out(groups)]
    return section(f"{group.setting.title}, {len(group.tasks):,} tasks", *(part for part in content if part))


# ---------------------------------------------------------------------- charts


def course_chart(conditions: Sequence[Condition]) -> str:
    """Success over the run, the mean of a condition's runs; nothing where all have one evaluation."""
    if all(len(found) < 2 for one in conditions for found in one.runs):
        return ""
    lines = []
    for condition in conditions:
        held: dict[float, list[float]] = {}
        for one in (one for found in condition.runs for one in found):
            held.setdefault(one.iteration, []).append(success(one.episodes).rate)
        means = [(at, sum(rates) / len(rates)) for at, rates in sorted(held.items())]  # over those evaluated then
        lines.append(Series(condition.name, means, colour=condition.colour, marks=True))
    look = wide("Success in evaluations", limits=(0.0, 1.0), percent=True, x_name="iteration or phase")
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
    names = error_names([facts for one in conditions for facts in one.episodes])
    rows = [_bars(one, list(error_shares(one.episodes, names).values())) for one in conditions]
    return in_two_sizes(partial(grouped_bars, names, rows), look)


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
        rates = [success(result.episodes).rate for result in one.results]
        spread = f"{percent(min(rates))} to {percent(max(rates))}" if len(rates) > 1 else "-"
        ends = ", ".join(f"{at:g}" for at in sorted({result.iteration for result in one.results if result.when})) or "-"
        rows.append([safe(one.name), str(len(rates)), ends, share_cell(success(one.episodes)), spread, *cells])
    shown = groups if len(groups) > 1 else []
    return table(["condition", "runs", "after iteration", "all tasks", "lowest to highest run", *shown], rows)


def pairs_table(conditions: Sequence[Condition]) -> str:
    """Every condition against the first, task by task: how many tasks each of the two solved more often."""
    base, rows = conditions[0], []
    for other in conditions[1:]:
        if other.paths != base.paths:
            first, second, tasks = solved_by_one(base, other)
            chance = sign_test(first, second)
            said = "below 0.001" if chance < 0.001 else f"{chance:.3f}"
            rows.append([safe(other.name), str(tasks), str(second), str(first), said])
    head = ["condition", "tasks", "solved more often by it", f"solved more often by {base.name}", "p"]
    told = (
        f"Task by task: each condition against {base.name}. A task counts once, however often it was played: for the "
        "condition that solved it in more of its plays. p is that of a two-sided sign test over these tasks."
    )
    return f'<p class="soft">{safe(told)}</p>{table(head, rows)}' if rows else ""
