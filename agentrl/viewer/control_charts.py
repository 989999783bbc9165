"""Episodes of continuous control in a report: the course of the actions and of the robot's own state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from agentrl.rollout.trajectory import Trajectory
from agentrl.viewer.canvas import COLOURS, Look
from agentrl.viewer.charts import Series, line_chart


def is_control(trajectory: Trajectory) -> bool:
    """Are the actions of this episode arrays?"""
    return any(isinstance(step.action, list) for step in trajectory.steps)


def spread(count: int, most: int) -> list[int]:
    """At most `most` of `count` places, evenly spread, the first among them."""
    return list(range(count)) if count <= most else [round(place * count / most) for place in range(most)]


def control_charts(trajectory: Trajectory) -> str:
    """Two charts over the control steps; empty where a record has nothing that can be drawn."""
    actions = [row for step in trajectory.steps for row in _rows(step.action, step.info.get("ran"))]
    proprio = [*(step.proprio for step in trajectory.steps), trajectory.final_proprio]
    charts = [_chart("Actions", "control step", actions), _chart("Proprioception", "turn", proprio)]
    drawn = "".join(chart for chart in charts if chart)
    return f'<div class="charts">{drawn}</div>' if drawn else ""


def _rows(action: Any, ran: Any) -> list[Any]:
    """The control steps of a turn: its action, or the rows of a chunk that ran."""
    if isinstance(action, list) and action and isinstance(action[0], list):
        return action[: ran if isinstance(ran, int) else None]
    return [action]


def _chart(title: str, over: str, rows: Sequence[Any]) -> str:
    """A line for each of the numbers, as far as there are colours; rows that are not numbers leave a gap."""
    kept = [(place, row) for place, row in enumerate(rows) if isinstance(row, list) and all(map(_is_number, row))]
    width = max((len(row) for _, row in kept), default=0)
    lines = [
        Series(f"{number}", [(place, float(row[number])) for place, row in kept if number < len(row)], colour=number)
        for number in range(min(width, COLOURS))
    ]
    said = title if width <= COLOURS else f"{title} (the first {COLOURS} of {width} numbers)"
    return line_chart(lines, Look(said, height=240, x_name=over))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)
