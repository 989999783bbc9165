"""The figures of an experiment: success while training, from its runs, and success at the end, from what is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from agentrl.core.html import write_page
from agentrl.viewer.canvas import Look, standalone
from benchmarks.learning.compare import MODES, AnyPool, Results, pools, score_pools
from benchmarks.learning.curves import write_curves
from benchmarks.learning.dots import Dot, DotRow, dot_chart
from benchmarks.learning.experiment import Experiment

WIDTH = 760


def curves_figure(runs: Path, experiment: Experiment, results: Results, target: Path) -> Path:
    """Write `learning_NAME.svg`: held-out success while training."""
    measured = {(cell["label"], cell["seed"]) for cell in results["cells"]}
    folders: dict[str, list[Path]] = {}
    starts: dict[Path, Path] = {}
    for cell in experiment.cells:
        if (cell.label, cell.seed) in measured:
            *before, last = (runs / planned.name for planned in cell.runs())
            folders.setdefault(cell.label, []).append(last)
            starts |= {last: before[-1]} if before else {}
    path, title = target / f"learning_{experiment.name}.svg", f"{experiment.name}: held-out success, sampled"
    return write_curves(folders, path, title, WIDTH, starts)


def ends_figure(results: Results, target: Path) -> list[Path]:
    """Write `learning_NAME_ends.svg`: success at the end, from the kept results alone; [] where there is none."""
    look = Look(f"{results['experiment']}: held-out success at the end", WIDTH, x_name="held-out success", percent=True)
    return _dots(results, end_rows(results["cells"]), look, target, "ends")


def scores_figure(results: Results, target: Path) -> list[Path]:
    """Write `learning_NAME_scores.svg`: the same of scores."""
    look = Look(f"{results['experiment']}: held-out score at the end", WIDTH, x_name="held-out score")
    return _dots(results, end_rows(results["cells"], score_pools), look, target, "scores")


def _dots(results: Results, rows: Sequence[DotRow], look: Look, target: Path, name: str) -> list[Path]:
    if not shows_ends(results["cells"]):
        return []
    chart = dot_chart(rows, [_kind(mode) for mode in MODES], look, single="single seeds", start="start after imitation")
    path = target / f"learning_{results['experiment']}_{name}.svg"
    write_page(path, standalone(chart))
    return [path]


def shows_ends(cells: Sequence[Results]) -> bool:
    """With a single finished label there is nothing to compare it with."""
    return len(end_rows(cells)) > 1


def end_rows(cells: Sequence[Results], pooled: Callable[..., Mapping[str, AnyPool]] = pools) -> list[DotRow]:
    """One for each finished label, sampled play's best first; those without such a measurement come last."""
    rows: dict[str, dict[str, Dot]] = {}
    for mode in MODES:
        before = pooled(cells, mode, "start")
        for label, pool in pooled(cells, mode).items():
            rows.setdefault(label, {})[_kind(mode)] = _dot(pool, before)
    sampled = _kind("sampled")
    order = sorted(rows, key=lambda label: -rows[label][sampled].value if sampled in rows[label] else 1.0)
    return [DotRow(label, rows[label]) for label in order]


def _kind(mode: str) -> str:
    return f"{mode}, 95 % interval"


def _dot(pool: AnyPool, before: Mapping[str, AnyPool]) -> Dot:
    singles = pool.rates if len(pool.seeds) > 1 else ()  # a single seed is the dot itself
    start = before[pool.label].rate if pool.label in before else None
    return Dot(pool.rate, pool.interval, tuple(singles), start)
