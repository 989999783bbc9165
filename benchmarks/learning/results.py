"""From run folders to the compact results that are kept: one JSON file and the figures for each experiment."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentrl.core.cache import write_atomically
from agentrl.core.errors import ConfigError
from agentrl.viewer.run_data import Line, RunData, figure, read_run
from benchmarks.learning.cell import DONE
from benchmarks.learning.compare import MODES, AnyPool, Results, compare, pools, score_pools
from benchmarks.learning.curves import begun_with
from benchmarks.learning.experiment import Cell, Experiment
from benchmarks.learning.figures import curves_figure
from benchmarks.learning.separation_table import blind_to, read_separation

SCHEMA = 1
EFFORT = ("turns_margin", "response_tokens", "response_tokens_margin")  # what episodes took, where it was measured


def summarise(
    folder: str | os.PathLike[str], experiments: Iterable[Experiment], target: str | os.PathLike[str]
) -> list[Path]:
    """Write `learning_NAME.json` and its curves into `target` for each measured experiment; what was written."""
    runs, place, written = Path(folder), Path(target), []
    for experiment in experiments:
        results = results_of(runs, experiment)
        if not results["cells"]:
            continue
        path = place / f"learning_{experiment.name}.json"
        store(path, compact(results).encode())
        written += [path, curves_figure(runs, experiment, results, place)]
    return written


def store(path: Path, data: bytes) -> None:
    """Whole or not at all; `ConfigError` where the disk refuses."""
    try:
        write_atomically(path, data)
    except OSError as error:
        raise ConfigError(f"the results cannot be written: {error}; choose another folder") from error


def compact(results: Results) -> str:
    """Readable JSON with a line for every cell."""
    cells = ",\n  ".join(json.dumps(cell) for cell in results["cells"])
    head = json.dumps({key: value for key, value in results.items() if key != "cells"}, indent=1)
    return f'{head[:-2]},\n "cells": [\n  {cells}\n ]\n}}\n'


def results_of(runs: Path, experiment: Experiment) -> Results:
    """Everything about an experiment that is worth keeping; cells that were never measured are only counted."""
    found = [cell_results(runs, cell) for cell in experiment.cells]
    cells = [cell for cell in found if cell is not None]
    return {
        "schema": SCHEMA,
        "experiment": experiment.name,
        "question": experiment.question,
        "command": f"agentrl bench learning {experiment.name}",
        "planned": len(experiment.cells),
        "finished": sum(cell["finished"] for cell in cells),
        "separation": (separation := read_separation(runs, experiment)),
        "comparisons": [with_separation(one, separation) for one in comparisons(experiment, cells)],
        "cells": cells,
    }


# ---------------------------------------------------------------------- one cell


def cell_results(runs: Path, cell: Cell) -> Results | None:
    """The figures of a cell, or None before its first evaluation."""
    planned = cell.runs()
    last = runs / planned[-1].name
    run = _read(last)
    if run is None or not run.evals:
        return None
    starts = [data for stage in planned[:-1] if (data := _read(runs / stage.name)) is not None]
    run = begun_with(run, starts[-1].folder if starts else None)
    return {
        "label": cell.label,
        "seed": cell.seed,
        "finished": (last / DONE).exists(),
        "iterations": int(run.train[-1]["iteration"]) if run.train else 0,
        "episodes": int(run.episodes_at(float("inf"))),
        "start": {mode: evaluation(run, greedy, first=True) for mode, greedy in MODES.items()},
        "end": {mode: evaluation(run, greedy) for mode, greedy in MODES.items()},
        "curve": {mode: curve(run, greedy) for mode, greedy in MODES.items()},
        "reward_curve": [[line["iteration"], _short(line.get("reward_mean"))] for line in run.train],
        "seconds": {"start": sum(map(seconds, starts)), "run": seconds(run), "split": time_split(run)},
        "tokens": {
            part: sum(int(figure(n, "tokens", part) or 0) for n in run.train) for part in ("generated", "trained")
        },
        "critic": [[line["iteration"], _short(value)] for line in run.train if (value := _explained(line)) is not None],
        "new_tasks": new_tasks(run),
        "warnings": [[line["iteration"], line.get("warning")] for line in run.warnings],
        "stages": [stage.to_json() for stage in planned],
        "versions": run.config.get("versions", {}),
        "machine": _machine(last / DONE),
    }


def _explained(line: Line) -> float | None:
    """The share of its returns that the critic explains."""
    return figure(line, "loss", "explained_variance")


def new_tasks(run: RunData) -> list[list[int]]:
    """(iteration, new tasks, tasks played) of every phase in which a curriculum was asked for tasks."""
    asked = [line for line in run.train if figure(line, "phase", "tasks", "kept") is not None]
    names = ("kept", "played")
    return [[line["iteration"], *(int(figure(line, "phase", "tasks", name) or 0) for name in names)] for line in asked]


def _read(folder: Path) -> RunData | None:
    try:
        return read_run(folder)
    except ConfigError:  # not begun
        return None


def _machine(path: Path) -> Results:
    return json.loads(path.read_text())["machine"] if path.exists() else {}


def evaluations(run: RunData, greedy: bool) -> list[Line]:
    """Those with a number, in order."""
    return [line for line in run.evals if bool(line.get("greedy")) is greedy and figure(line, "success") is not None]


def evaluation(run: RunData, greedy: bool, *, first: bool = False) -> Results | None:
    """The first or last measurement."""
    lines = evaluations(run, greedy)
    if not lines:
        return None
    line = lines[0 if first else -1]
    episodes = int(line.get("episodes") or 0) - int(line.get("faults") or 0)
    kept = ("success", "success_ci", "reward_mean", "reward_ci", "reward_terms", "valid_rate", "format_rate")
    figures = {key: line.get(key) for key in (*kept, "turns_mean", "faults", "outcomes")}
    figures |= {name: figure(line, "metrics", name) for name in EFFORT}
    return {"iteration": line["iteration"], "wins": round(line["success"] * episodes), "episodes": episodes, **figures}


def curve(run: RunData, greedy: bool) -> list[list[float]]:
    """(iteration, training episodes so far, success) of every measurement."""
    lines = evaluations(run, greedy)
    return [[line["iteration"], run.episodes_at(line["iteration"]), round(line["success"], 4)] for line in lines]


def seconds(run: RunData) -> float:
    """Of all iterations and evaluations, however often the run was taken up again."""
    trained = sum(figure(line, "seconds", "total") or 0.0 for line in run.train)
    return round(trained + sum(figure(line, "seconds_total") or 0.0 for line in run.evals), 1)


def time_split(run: RunData) -> dict[str, float]:
    """Where the time of the iterations went."""
    parts = ("generate", "environment", "judge", "update", "other")
    return {part: round(sum(figure(line, "seconds", part) or 0.0 for line in run.train), 1) for part in parts}


def _short(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value


# ---------------------------------------------------------------------- all cells


def comparisons(experiment: Experiment, cells: Sequence[Results]) -> list[Results]:
    """Every claim about an order, and for every label whether RL improved on its start; sampled and greedy."""
    found = []
    for mode in MODES:
        found += compared(experiment, {"mode": mode}, pools(cells, mode), pools(cells, mode, "start"))
        if experiment.graded:
            about = {"mode": mode, "measure": "score"}
            found += compared(experiment, about, score_pools(cells, mode), score_pools(cells, mode, "start"))
    return found


def compared(
    experiment: Experiment, about: Results, after: Mapping[str, AnyPool], before: Mapping[str, AnyPool]
) -> list[Results]:
    """Claims first, then gains."""
    claims = [claim for claim in experiment.claims if claim.higher in after and claim.lower in after]
    found = [about | {"source": one.source} | compare(after[one.higher], after[one.lower]) for one in claims]
    return found + [about | {"source": ""} | gain(pool, before) for pool in after.values() if pool.label in before]


def with_separation(found: Results, separation: Mapping[str, Any] | None) -> Results:
    """A comparison of conditions that compute nearly the same advantages stays open, whatever it ended with."""
    correlation = blind_to(separation, found["higher"], found["lower"])
    return found if correlation is None else found | {"correlation": correlation, "verdict": "open"}


def gain(after: AnyPool, before: Mapping[str, AnyPool]) -> Results:
    """The end of a label against its own start."""
    renamed = replace(after, label=f"{after.label} after RL")
    return compare(renamed, replace(before[after.label], label="its imitation start"))
