"""The critic's explained variance beside the most that any critic could explain (`critic_ceiling_every`)."""

from __future__ import annotations

from agentrl.viewer.canvas import Look
from agentrl.viewer.charts import Series, line_chart
from agentrl.viewer.run_data import RunData, figure, points

CRITIC, CEILING = "explained_variance_at_turns", "explained_variance_ceiling"
IN_THE_CHART = (CRITIC, CEILING, f"{CRITIC}_error", f"{CEILING}_error")


def ceiling_chart(run: RunData, look: Look) -> str:
    """Both with 95 % intervals; empty where the ceiling was never measured."""
    lines = [_measured(run, CRITIC, "critic", 0), _measured(run, CEILING, "best critic possible", 7)]
    return line_chart(lines, look) if lines[1].points else ""


def _measured(run: RunData, name: str, label: str, colour: int) -> Series:
    known = [
        (line["iteration"], value - 1.96 * error, value + 1.96 * error)
        for line in run.train
        if (value := figure(line, "loss", name)) is not None
        and (error := figure(line, "loss", f"{name}_error")) is not None
    ]
    return Series(label, points(run.train, "loss", name), known, colour=colour, dashed=name == CEILING, marks=True)
