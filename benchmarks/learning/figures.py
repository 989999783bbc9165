"""The figures of an experiment, drawn from its kept results: success while training, success and score at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from agentrl.rollout.statistics import wilson_interval
from agentrl.viewer.canvas import COLOURS, Look, standalone
from agentrl.viewer.charts import Series, line_chart
from benchmarks.learning.compare import MODES, AnyPool, Results, pools, score_pools
from benchmarks.learning.dots import Dot, DotRow, dot_chart

WIDTH = 760


def figures(results: Results, *, graded: bool = False) -> dict[str, str]:
    """Whole .svg files by the ending of their names; only those that there is something to show in."""
    name, cells = results["experiment"], results["cells"]
    look = Look(f"{name}: held-out success, sampled", WIDTH, 380, "training episodes", (0.0, 1.0), percent=True)
    drawn = {"": line_chart(curves(cells), look)}
    if len(end_rows(cells)) > 1:  # a single label would have nothing beside it
        ends = Look(f"{name}: held-out success at the end", WIDTH, x_name="held-out success", percent=True)
        drawn["_ends"] = _dots(end_rows(cells), ends)
        if graded:
            scores = Look(f"{name}: held-out score at the end", WIDTH, x_name="held-out score")
            drawn["_scores"] = _dots(end_rows(cells, score_pools), scores)
    return {ending: standalone(chart) for ending, chart in drawn.items() if chart}


def _dots(rows: Sequence[DotRow], look: Look) -> str:
    kinds = [f"{mode}, 95 % interval" for mode in MODES]
    return dot_chart(rows, kinds, look, single="single seeds", start="start after imitation")


def curves(cells: Sequence[Results]) -> list[Series]:
    """One line a label, its seeds as a mean with a band from the lowest to the highest.

    More labels than colours: dashed ones, and no bands, which would hide each other.
    """
    labels = list(dict.fromkeys(cell["label"] for cell in cells))
    found = [
        _curve(label, [cell for cell in cells if cell["label"] == label], colour) for colour, label in enumerate(labels)
    ]
    if len(found) <= COLOURS:
        return found
    return [replace(one, band=(), dashed=one.colour >= COLOURS) for one in found]


def _curve(label: str, seeds: Sequence[Results], colour: int) -> Series:
    tables = [table for cell in seeds if (table := _by_iteration(cell))]
    # Where a seed has stopped early, a mean without it would jump: the line ends where the first seed ends.
    shared = sorted(set.intersection(*(set(table) for table in tables))) if tables else []
    points, band = [], []
    for at in shared:
        values = [table[at][1] for table in tables]
        episodes = sum(table[at][0] for table in tables) / len(tables)
        points.append((episodes, sum(values) / len(values)))
        tested = seeds[0]["end"]["sampled"]["episodes"]
        own = wilson_interval(round(values[0] * tested), tested)  # a single seed has an interval of its own
        low, high = own if len(values) == 1 and own else (min(values), max(values))
        band.append((episodes, low, high))
    return Series(label, points, band, colour, marks=len(points) <= 25)


def _by_iteration(cell: Results) -> dict[float, tuple[float, float]]:
    """Training episodes and success at each iteration; several environments of one evaluation count alike."""
    held: dict[float, list[tuple[float, float]]] = {}
    for iteration, episodes, success in cell["curve"]["sampled"]:
        held.setdefault(iteration, []).append((episodes, success))
    return {at: (pairs[0][0], sum(value for _, value in pairs) / len(pairs)) for at, pairs in held.items()}


def end_rows(cells: Sequence[Results], pooled: Callable[..., Mapping[str, AnyPool]] = pools) -> list[DotRow]:
    """One for each finished label, sampled play's best first; those without such a measurement come last."""
    rows: dict[str, dict[str, Dot]] = {}
    for mode in MODES:
        before = pooled(cells, mode, "start")
        for label, pool in pooled(cells, mode).items():
            singles = pool.rates if len(pool.seeds) > 1 else ()  # a single seed is the dot itself
            start = before[label].rate if label in before else None
            rows.setdefault(label, {})[f"{mode}, 95 % interval"] = Dot(pool.rate, pool.interval, tuple(singles), start)
    sampled = "sampled, 95 % interval"
    order = sorted(rows, key=lambda label: -rows[label][sampled].value if sampled in rows[label] else 1.0)
    return [DotRow(label, rows[label]) for label in order]
