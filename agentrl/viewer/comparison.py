"""Several runs in one picture: one colour a label, the seeds of a label as a mean with a band."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.rollout.statistics import Interval, mean, wilson_interval
from agentrl.viewer.canvas import COLOURS, Look, standalone
from agentrl.viewer.charts import Series, line_chart
from agentrl.viewer.report import page, percent, safe, section
from agentrl.viewer.run_data import Line, RunData, figure, interval, read_run
from agentrl.viewer.run_report import write_page

Folder = str | os.PathLike[str]
Folders = Mapping[str, Sequence[Folder]] | Sequence[Folder]
Axis = Literal["iteration", "episodes"]
NOTE = (
    "Lines are means over the seeds of a label, bands reach from the lowest to the highest seed; a single seed shows "
    "its own 95 % interval."
)
TABLE_NOTE = (
    "Held-out success of the last evaluation. The interval is Wilson's over the episodes of all seeds together: what "
    "the evaluation leaves open, not what other seeds would have given. That is what the range over seeds hints at."
)


@dataclass(frozen=True)
class Metric:
    """What a figure shows: where its lines are and what stands on them."""

    title: str
    path: tuple[str, ...]
    lines: Callable[[RunData], list[Line]]
    bounds: str = ""  # the name of its interval
    percent: bool = False


def _train(run: RunData) -> list[Line]:
    return run.train


def _sampled(run: RunData) -> list[Line]:
    return [line for line in run.evals if not line.get("greedy")]


def _greedy(run: RunData) -> list[Line]:
    return [line for line in run.evals if line.get("greedy")]


METRICS: dict[str, Metric] = {
    "success": Metric("Held-out success, sampled", ("success",), _sampled, "success_ci", percent=True),
    "success_greedy": Metric("Held-out success, greedy", ("success",), _greedy, "success_ci", percent=True),
    "success_train": Metric("Training success", ("success",), _train, "success_ci", percent=True),
    "reward": Metric("Training reward", ("reward_mean",), _train, "reward_ci"),
    "valid": Metric("Valid turns", ("valid_rate",), _train, percent=True),
    "turns": Metric("Turns of an episode", ("turns_mean",), _train),
    "response_tokens": Metric("Tokens of a response", ("response_tokens_mean",), _train),
    "entropy": Metric("Entropy", ("loss", "entropy"), _train),
    "kl": Metric("KL to the reference", ("loss", "kl"), _train),
    "critic": Metric("Critic loss", ("loss", "critic"), _train),
    "nll": Metric("Negative log-likelihood", ("loss", "nll"), _train),
}


def write_comparison(run_folders: Folders, path: Folder, title: str, *, x: Axis = "iteration") -> Path:
    """Write a page that lays the runs over each other: a table of final success, one figure a metric.

    `run_folders` maps labels to the folders of their seeds; a plain list is labelled by the folders' names without
    the number of the seed.
    """
    runs, target = read_runs(run_folders), Path(path)
    charts = [line_chart(overlay(runs, metric, x), _look(metric, x)) for metric in METRICS.values()]
    cards = "".join(f'<div class="card">{chart}</div>' for chart in charts if chart)
    sections = [section("Held-out success", final_table(runs), f'<p class="soft">{safe(TABLE_NOTE)}</p>')]
    sections += [section("Curves", f'<div class="charts">{cards}</div>')] if cards else []
    count = sum(map(len, runs.values()))
    write_page(target, page(title, f"{count} runs under {len(runs)} labels. {NOTE}", sections))
    return target


def figure_svg(
    run_folders: Folders,
    path: Folder,
    *,
    metric: str = "success",
    title: str | None = None,
    x: Axis = "iteration",
    width: int = 760,
    height: int = 380,
) -> Path:
    """Write one figure as an .svg file that stands alone, for Markdown pages; it follows the reader's theme."""
    if metric not in METRICS:
        raise ConfigError(f"metric must be one of {', '.join(METRICS)}, not {metric!r}.{did_you_mean(metric, METRICS)}")
    chosen = METRICS[metric]
    look = _look(chosen, x, title, width, height)
    chart = line_chart(overlay(read_runs(run_folders), chosen, x), look)
    if not chart:
        raise ConfigError(f"no run has a figure for {metric!r}")
    write_page(Path(path), standalone(chart))
    return Path(path)


def _look(metric: Metric, x: Axis, title: str | None = None, width: int = 520, height: int = 300) -> Look:
    if x not in ("iteration", "episodes"):
        raise ConfigError(f'x must be "iteration" or "episodes", not {x!r}')
    limits = (0.0, 1.0) if metric.percent else None
    name = "training episodes" if x == "episodes" else "iteration"
    return Look(metric.title if title is None else title, width, height, name, limits, metric.percent)


# ---------------------------------------------------------------------- runs and their labels


def read_runs(run_folders: Folders) -> dict[str, list[RunData]]:
    """The runs of each label."""
    if isinstance(run_folders, (str, bytes)) or not run_folders:
        raise ConfigError("run_folders must be a list of folders, or a mapping from labels to such lists")
    if not isinstance(run_folders, Mapping):
        labelled: dict[str, list[Folder]] = {}
        for folder in run_folders:
            labelled.setdefault(label_of(folder), []).append(folder)
        run_folders = labelled
    return {str(label): [read_run(folder) for folder in folders] for label, folders in run_folders.items()}


def label_of(folder: Folder) -> str:
    """`runs/masked-seed2` and `runs/masked/seed_2` are both seeds of "masked"."""
    place = Path(folder).resolve()
    label = re.sub(r"(?i)(?:^|[-_. ])(?:seed|s)?[-_=]?\d+$", "", place.name)
    return label or place.parent.name


def overlay(runs: Mapping[str, Sequence[RunData]], metric: Metric, x: Axis = "iteration") -> list[Series]:
    """One line for each label that has the figure. More labels than colours: dashed ones, and no bands, which would
    hide each other."""
    found = [_joined(label, held, metric, colour, x) for colour, (label, held) in enumerate(runs.items())]
    if len(found) <= COLOURS:
        return found
    return [replace(one, band=(), dashed=one.colour >= COLOURS) for one in found]


def _joined(label: str, runs: Sequence[RunData], metric: Metric, colour: int, x: Axis) -> Series:
    tables = [table for run in runs if (table := _by_iteration(run, metric))]
    if not tables:
        return Series(label, [])
    # Where a seed has stopped early, a mean without it would jump: the line ends where the first seed ends.
    shared = sorted(set.intersection(*(set(table) for table in tables)))

    def place(at: float) -> float:
        return at if x == "iteration" else sum(run.episodes_at(at) for run in runs) / len(runs)

    points = [(place(at), sum(table[at][0] for table in tables) / len(tables)) for at in shared]
    band = [(place(at), *bounds) for at in shared if (bounds := _bounds([table[at] for table in tables])) is not None]
    few = len(points) <= 25
    return Series(label, points, band, colour, marks=few)


def _by_iteration(run: RunData, metric: Metric) -> dict[float, tuple[float, Interval | None]]:
    """Figure and interval of each iteration; several environments of one evaluation count alike."""
    held: dict[float, list[tuple[float, Interval | None]]] = {}
    for line in metric.lines(run):
        if (value := figure(line, *metric.path)) is not None:
            bounds = interval(line, metric.bounds) if metric.bounds else None
            held.setdefault(line["iteration"], []).append((value, bounds))
    return {
        at: pairs[0] if len(pairs) == 1 else (sum(value for value, _ in pairs) / len(pairs), None)
        for at, pairs in held.items()
    }


def _bounds(seeds: Sequence[tuple[float, Interval | None]]) -> Interval | None:
    if len(seeds) == 1:
        return seeds[0][1]
    return min(value for value, _ in seeds), max(value for value, _ in seeds)


# ---------------------------------------------------------------------- the table


@dataclass(frozen=True)
class Final:
    """The last evaluations of a label's seeds."""

    seeds: list[float]
    episodes: int
    wins: int

    @property
    def pooled(self) -> Interval | None:
        """Wilson's interval over all episodes."""
        return wilson_interval(self.wins, self.episodes)


def final_success(runs: Sequence[RunData], *, greedy: bool, first: bool = False) -> Final | None:
    """Success at the last (or first) evaluation of every run; None where nothing was evaluated."""
    ends = [end for run in runs if (end := _end(_greedy(run) if greedy else _sampled(run), first))]
    if not ends:
        return None
    shares = [sum(s * n for s, n in end) / max(1, sum(n for _, n in end)) for end in ends]
    pairs = [pair for end in ends for pair in end]
    return Final(shares, sum(n for _, n in pairs), sum(round(s * n) for s, n in pairs))


def _end(lines: Sequence[Line], first: bool) -> list[tuple[float, int]]:
    """(success, episodes) of the evaluations at one end of a run: several where it has several environments."""
    known = [line for line in lines if figure(line, "success") is not None]
    if not known:
        return []
    at = known[0 if first else -1]["iteration"]
    chosen = [line for line in known if line["iteration"] == at]
    return [(min(1.0, max(0.0, figure(n, "success") or 0.0)), int(figure(n, "episodes") or 0)) for n in chosen]


def final_rows(runs: Mapping[str, Sequence[RunData]]) -> list[tuple[str, ...]]:
    """Label, way of choosing, seeds, start, end, interval, range over the seeds, episodes: as text."""
    rows = []
    for label, held in runs.items():
        for greedy in (False, True):
            end, start = final_success(held, greedy=greedy), final_success(held, greedy=greedy, first=True)
            if end is not None and start is not None:
                spread = _pair((min(end.seeds), max(end.seeds))) if len(end.seeds) > 1 else "-"
                figures = percent(mean(start.seeds)), percent(mean(end.seeds)), _pair(end.pooled), spread
                how = "greedy" if greedy else "sampled"
                rows.append((label, how, str(len(end.seeds)), *figures, f"{end.episodes:,}"))
    return rows


def _pair(bounds: Interval | None) -> str:
    return "-" if bounds is None else f"{percent(bounds[0])} to {percent(bounds[1])}"


COLUMNS = ("label", "actions", "seeds", "start", "end", "95 % interval", "lowest to highest seed", "episodes")


def final_table(runs: Mapping[str, Sequence[RunData]]) -> str:
    """The table as HTML."""
    head = "".join(f"<th{_right(index)}>{name}</th>" for index, name in enumerate(COLUMNS))
    rows = "".join(
        "<tr>" + "".join(f"<td{_right(index)}>{safe(cell)}</td>" for index, cell in enumerate(row)) + "</tr>"
        for row in final_rows(runs)
    )
    if not rows:
        return '<p class="soft">No run was evaluated on held-out tasks.</p>'
    return f'<div class="card wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _right(index: int) -> str:
    return ' class="figure"' if index > 1 else ""


def markdown_table(run_folders: Folders) -> str:
    """The same table for a Markdown page."""
    lines = [COLUMNS, ("---", "---", *("---:" for _ in COLUMNS[2:])), *final_rows(read_runs(run_folders))]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"
