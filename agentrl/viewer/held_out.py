"""Held-out success in parts: by group of tasks, by the actions they take, by complexity; and how episodes fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from agentrl.core.html import safe, section
from agentrl.rollout.error_types import EpisodeFacts
from agentrl.rollout.evaluate import split_word
from agentrl.viewer.canvas import COLOURS, Look
from agentrl.viewer.charts import Bar, Bars, Series, grouped_bars, line_chart, stacked_bars
from agentrl.viewer.layout import change_cell, charts, in_two_sizes, share_cell, table, wide
from agentrl.viewer.run_data import RunData
from agentrl.viewer.task_groups import (
    Bin,
    Measured,
    Share,
    bins,
    error_names,
    error_shares,
    measured,
    success,
    success_by_group,
    success_in,
    with_steps,
)

Number = Callable[[EpisodeFacts], int | None]
BARS_COLOURS = (7, 0)  # of the first and the last evaluation
HOW_THEY_FAIL = (
    "Every failed episode has one type: no reasonable attempt (less than a quarter of the actions that the task takes, "
    "or none that worked), stuck midway (it ends in a loop), failed to recover (an action failed and nothing new "
    "worked after it), stopped at the wrong place (it ended by itself, without success; or what the environment calls "
    "that end), ran out of turns (none of these)."
)
ESTIMATED_STEPS = (
    '<p class="soft">The environment does not tell how many actions a task takes: it is the fewest turns in which '
    "any of these evaluations solved it. Tasks that were never solved are left out there.</p>"
)


def held_out_section(run: RunData) -> str:
    """The section, or nothing where evaluations do not tell what their tasks are like."""
    setting, found = measured(run)
    if setting is None:
        return ""
    tables, estimated = with_steps([one.places for one in found])
    found = [replace(one, places=tuple(places)) for one, places in zip(found, tables, strict=True)]
    told = "Every evaluation plays the same tasks" if len({len(one.places) for one in found}) == 1 else "Evaluations"
    told += f" of the {setting.split} split, here with replies that are {setting.mode}"
    intro = f"{told}. Ranges are 95 % intervals, plays of one task taken together; groups of a few tasks say little."
    word = split_word(setting.split)
    parts = charts([steps_chart(found), complexity_chart(found)], across=group_chart(found, word))
    errors = errors_table(found)
    return section(
        f"Which {word} tasks succeed",
        f'<p class="soft">{safe(intro)}</p>',
        parts,
        parts_table(found),
        ESTIMATED_STEPS if estimated and len(bins(one.steps for one in found[-1].episodes)) > 1 else "",
        errors and f'<p class="soft">{HOW_THEY_FAIL}</p>{charts([], across=errors_chart(found, word))}{errors}',
    )


# ---------------------------------------------------------------------- charts


def group_chart(found: Sequence[Measured], word: str) -> str:
    """Success in each group over the run; nothing where there is one group only."""
    sizes = success_by_group(found[-1].episodes)
    if len(sizes) < 2:
        return ""
    lines = []
    for colour, (name, share) in enumerate(list(sizes.items())[: COLOURS - 1]):
        known = ((one.iteration, success_by_group(one.episodes).get(name)) for one in found)
        course = [(at, then.rate) for at, then in known if then is not None]
        lines.append(Series(f"{name} ({share.of})", course, colour=colour, marks=True))
    overall = [(one.iteration, success(one.episodes).rate) for one in found]
    lines.append(Series("all", overall, colour=7, dashed=True))
    look = wide(f"{word[:1].upper()}{word[1:]} success by group (number of episodes)", limits=(0.0, 1.0), percent=True)
    return in_two_sizes(partial(line_chart, lines), look)


def steps_chart(found: Sequence[Measured]) -> str:
    """Success by the actions that right play takes."""
    look = Look("Success by required steps", x_name="actions that right play takes", percent=True, limits=(0.0, 1.0))
    return _binned_chart(found, lambda one: one.steps, look)


def complexity_chart(found: Sequence[Measured]) -> str:
    """Success by the number of requirements."""
    look = Look(
        "Success by complexity", x_name="requirements or obstacles of the task", percent=True, limits=(0.0, 1.0)
    )
    return _binned_chart(found, lambda one: one.complexity, look)


def _binned_chart(found: Sequence[Measured], number: Number, look: Look) -> str:
    columns = bins(number(one) for measurement in found for one in measurement.episodes)
    if len(columns) < 2:
        return ""
    series = [
        Bars(one.when, [bar_of(success_in(one.episodes, column, number)) for column in columns], colour)
        for one, colour in zip(_ends(found), BARS_COLOURS[-len(_ends(found)) :], strict=True)
    ]
    return in_two_sizes(partial(grouped_bars, [column.label for column in columns], series), look)


def bar_of(share: Share) -> Bar | None:
    """A bar with its interval; None where there is nothing to count."""
    return Bar(share.rate, share.interval, f"{share.part} of {share.of}") if share.of else None


def errors_chart(found: Sequence[Measured], word: str) -> str:
    """How the episodes of each evaluation failed, as shares of all of them; nothing where there is one evaluation."""
    if len(found) < 2:
        return ""
    names = error_names([facts for one in found for facts in one.episodes])
    shares = [error_shares(one.episodes, names) for one in found]
    layers = {name: [held[name].rate for held in shares] for name in names}
    look = wide(f"How {word} episodes fail (share of all)", percent=True)
    return in_two_sizes(partial(stacked_bars, [one.iteration for one in found], layers), look)


# ---------------------------------------------------------------------- tables


def _ends(found: Sequence[Measured]) -> list[Measured]:
    return [found[0], found[-1]] if len(found) > 1 else [found[0]]


def parts_table(found: Sequence[Measured]) -> str:
    """The figures of the charts, and what the first and the last evaluation were."""
    ends = _ends(found)
    rows = [_row("all", [success(one.episodes) for one in ends])]
    groups = success_by_group(ends[-1].episodes)
    for name in groups if len(groups) > 1 else ():
        rows.append(_row(safe(name), [success_by_group(one.episodes).get(name, Share(0, 0)) for one in ends]))
    for title, number in NUMBERS.items():
        columns: Sequence[Bin] = bins(number(one) for measurement in ends for one in measurement.episodes)
        for column in columns if len(columns) > 1 else ():
            label = f"{title} {column.label}"
            rows.append(_row(label, [success_in(one.episodes, column, number) for one in ends]))
    head = ["tasks", "episodes", *(one.when for one in ends), *(["points"] if len(ends) > 1 else [])]
    return table(head, rows) if len(rows) > 1 else ""


NUMBERS: dict[str, Number] = {"required steps": lambda one: one.steps, "complexity": lambda one: one.complexity}


def _row(name: str, shares: Sequence[Share]) -> list[str]:
    change = [change_cell(*shares)] if len(shares) == 2 else []
    return [name, str(shares[-1].of), *map(share_cell, shares), *change]


def errors_table(found: Sequence[Measured]) -> str:
    """Shares of all episodes that failed in each way; nothing where none did."""
    ends = _ends(found)
    if all(facts.error is None for one in ends for facts in one.episodes):
        return ""
    names = error_names([facts for one in ends for facts in one.episodes])
    held = [error_shares(one.episodes, names) for one in ends]
    rows = [[safe(name, 80), *(share_cell(one[name]) for one in held)] for name in names]
    if len(ends) == 2:
        rows = [[*row, change_cell(held[0][name], held[1][name])] for row, name in zip(rows, names, strict=True)]
    return table(["type of error", *(one.when for one in ends), *(["points"] if len(ends) > 1 else [])], rows)
