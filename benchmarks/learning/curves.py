"""Success while training, of several runs in one figure: one colour a label, its seeds as a mean with a band."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agentrl.core.errors import ConfigError
from agentrl.core.html import write_page
from agentrl.rollout.statistics import Interval
from agentrl.viewer.canvas import COLOURS, Look, standalone
from agentrl.viewer.charts import Series, line_chart
from agentrl.viewer.run_data import RunData, figure, interval, read_run


def write_curves(
    run_folders: Mapping[str, Sequence[Path]],
    path: Path,
    title: str,
    width: int = 760,
    starts: Mapping[Path, Path] | None = None,
) -> Path:
    """Write held-out success over training episodes as an .svg file that stands alone and follows the reader's theme.

    `run_folders` maps labels to the folders of their seeds, `starts` these to those of the runs they began with.
    """
    before = starts or {}
    runs = {
        label: [begun_with(read_run(folder), before.get(folder)) for folder in folders]
        for label, folders in run_folders.items()
    }
    chart = line_chart(curves(runs), Look(title, width, 380, "training episodes", (0.0, 1.0), percent=True))
    if not chart:
        raise ConfigError(f"cannot draw {path.name}: no run was evaluated on held-out tasks")
    return write_page(path, standalone(chart))


def begun_with(run: RunData, start: Path | None) -> RunData:
    """A run that did not measure its beginning, with the last measurement of its start as that."""
    if start is None or not run.evals or any(line["iteration"] == 0 for line in run.evals):
        return run
    measured = read_run(start).evals
    last = [{**line, "iteration": 0} for line in measured if line["iteration"] == measured[-1]["iteration"]]
    return replace(run, evals=[*last, *run.evals])


def curves(runs: Mapping[str, Sequence[RunData]]) -> list[Series]:
    """One line for each label. More labels than colours: dashed ones, and no bands, which would hide each other."""
    found = [_curve(label, held, colour) for colour, (label, held) in enumerate(runs.items())]
    if len(found) <= COLOURS:
        return found
    return [replace(one, band=(), dashed=one.colour >= COLOURS) for one in found]


def _curve(label: str, runs: Sequence[RunData], colour: int) -> Series:
    tables = [table for run in runs if (table := _by_iteration(run))]
    if not tables:
        return Series(label, [])
    # Where a seed has stopped early, a mean without it would jump: the line ends where the first seed ends.
    shared = sorted(set.intersection(*(set(table) for table in tables)))
    episodes = {at: sum(run.episodes_at(at) for run in runs) / len(runs) for at in shared}
    points = [(episodes[at], sum(table[at][0] for table in tables) / len(tables)) for at in shared]
    bounds = {at: _bounds([table[at] for table in tables]) for at in shared}
    band = [(episodes[at], *pair) for at, pair in bounds.items() if pair is not None]
    return Series(label, points, band, colour, marks=len(points) <= 25)


def _by_iteration(run: RunData) -> dict[float, tuple[float, Interval | None]]:
    """Sampled success and its interval at each iteration; several environments of one evaluation count alike."""
    held: dict[float, list[tuple[float, Interval | None]]] = {}
    for line in run.evals:
        if not line.get("greedy") and (value := figure(line, "success")) is not None:
            held.setdefault(line["iteration"], []).append((value, interval(line, "success_ci")))
    return {
        at: pairs[0] if len(pairs) == 1 else (sum(value for value, _ in pairs) / len(pairs), None)
        for at, pairs in held.items()
    }


def _bounds(seeds: Sequence[tuple[float, Interval | None]]) -> Interval | None:
    """From the lowest to the highest seed; a single seed has its own 95 % interval."""
    if len(seeds) == 1:
        return seeds[0][1]
    return min(value for value, _ in seeds), max(value for value, _ in seeds)
