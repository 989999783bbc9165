"""Success against golden steps: how often tasks are solved that take so many actions at least, and with how many more.

The analysis of difficulty of StepPO's paper, from the episodes of an evaluation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from agentrl.rollout.error_types import from_columns
from agentrl.viewer.run_data import Line

HEAD = ("label", "actions", "golden steps", "episodes", "success", "steps beyond the golden ones")
Row = list[int]  # golden steps, episodes, successes, turns of all episodes


def by_golden_steps(line: Line) -> list[Row]:
    """Of a line of metrics; episodes of tasks without known steps are left out."""
    found: dict[int, Row] = {}
    for one in from_columns(line.get("by_task")):
        if one is not None and one.steps is not None:
            row = found.setdefault(one.steps, [one.steps, 0, 0, 0])
            row[1:] = [row[1] + 1, row[2] + one.success, row[3] + one.turns]
    return [found[steps] for steps in sorted(found)]


def golden_rows(cells: Sequence[dict[str, Any]], modes: Sequence[str]) -> list[tuple[str, ...]]:
    """All seeds of a label together, after what they all begin with."""
    rows = []
    for mode in modes:
        held: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0, 0]))
        for number, cell in enumerate(cells):
            moments = [("imitation", "start")] * (number == 0) + [(cell["label"], "end")]
            for label, moment in moments:
                for steps, *counts in (cell[moment][mode] or {}).get("golden") or ():
                    held[label][steps] = [old + new for old, new in zip(held[label][steps], counts, strict=True)]
        for label, groups in held.items():
            for steps, (episodes, wins, turns) in sorted(groups.items()):
                more = f"{turns / episodes - steps:+.1f}"
                rows.append((label, mode, str(steps), str(episodes), f"{wins / episodes:.3f}", more))
    return rows
