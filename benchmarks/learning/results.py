"""From run folders to the compact results that are kept: one JSON file for each experiment."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentrl.core.cache import write_atomically
from agentrl.core.errors import ConfigError
from agentrl.core.measure import CHECKOUT
from agentrl.rollout.statistics import mean
from agentrl.viewer.run_data import Line, RunData, figure, read_run
from benchmarks.learning.cell import DONE
from benchmarks.learning.compare import MODES, Results, compare, pools, score_pools
from benchmarks.learning.experiment import Cell, Experiment
from benchmarks.learning.golden import by_golden_steps
from benchmarks.learning.primary import primary
from benchmarks.learning.provenance import CODE
from benchmarks.learning.separation_table import blind_to, read_separation

SCHEMA = 1
KEPT = CHECKOUT / "benchmarks" / "results"  # what the documentation is built from
EFFORT = ("turns_margin", "response_tokens", "response_tokens_margin")  # what episodes took, where it was measured


def summarise(
    folder: str | os.PathLike[str], experiments: Iterable[Experiment], target: str | os.PathLike[str]
) -> list[Path]:
    """Write `learning_NAME.json` into `target` for each measured experiment; what was written."""
    written = []
    for experiment in experiments:
        results = results_of(Path(folder), experiment)
        if results["cells"]:
            cells = ",\n  ".join(json.dumps(cell) for cell in results.pop("cells"))  # a line for every cell
            path = Path(target) / f"learning_{experiment.name}.json"
            store(path, f'{json.dumps(results, indent=1)[:-2]},\n "cells": [\n  {cells}\n ]\n}}\n'.encode())
            written.append(path)
    return written


def read_results(folder: Path, experiment: Experiment) -> Results | None:
    """What is kept of an experiment; None where it has not been measured."""
    path = folder / f"learning_{experiment.name}.json"
    if not path.exists():
        return None
    try:
        results = json.loads(path.read_bytes())
        if results["schema"] != SCHEMA or not isinstance(results["cells"], list):
            raise ValueError("another schema")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path} does not hold results: {error}; summarise the runs again") from error
    return results


def store(path: Path, data: bytes) -> None:
    """Whole or not at all; `ConfigError` where the disk refuses."""
    try:
        write_atomically(path, data)
    except OSError as error:
        raise ConfigError(f"the results cannot be written: {error}; choose another folder") from error


def results_of(runs: Path, experiment: Experiment) -> Results:
    """Everything about an experiment that is worth keeping; cells that were never measured are only counted."""
    found = [cell_results(runs, cell, golden=experiment.golden) for cell in experiment.cells]
    cells = [cell for cell in found if cell is not None]
    separation = read_separation(runs, experiment)
    compared = comparisons(experiment, cells)
    shares = clipped_shares(cells)
    for one in compared:
        both = [shares.get(one[side]) for side in ("higher", "lower")]
        one |= {"clipped": both} if any(share is not None for share in both) else {}
        # Conditions that compute nearly the same advantages stay open, whatever they ended with.
        if (correlation := blind_to(separation, one["higher"], one["lower"])) is not None:
            one |= {"correlation": correlation, "verdict": "open"}
    return {
        "schema": SCHEMA,
        "experiment": experiment.name,
        "commit": commit(),
        "question": experiment.question,
        "command": f"agentrl bench learning {experiment.name}",
        "code": min((cell["code"] for cell in cells), default=CODE),
        "planned": len(experiment.cells),
        "finished": sum(cell["finished"] for cell in cells),
        "separation": separation,
        "primary": primary(experiment, cells),
        "comparisons": compared,
        "cells": cells,
    }


def commit() -> str:
    """The commit that the checkout stands at; "" where git does not know."""
    words = ["git", "-C", str(CHECKOUT), "rev-parse", "--short", "HEAD"]
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


# ---------------------------------------------------------------------- one cell


def cell_results(runs: Path, cell: Cell, *, golden: bool = False) -> Results | None:
    """The figures of a cell, or None before its first evaluation."""
    *before, last = ((runs / planned.name) for planned in cell.runs())
    done = json.loads((last / DONE).read_text()) if (last / DONE).exists() else {}
    run = _read(last)
    if run is None or not run.evals:
        return None
    starts = [data for folder in before if (data := _read(folder)) is not None]
    if starts:
        run = begun_with(run, starts[-1])
    explained = [(line["iteration"], figure(line, "loss", "explained_variance")) for line in run.train]
    asked = [line for line in run.train if figure(line, "phase", "tasks", "kept") is not None]
    parts = ("generate", "environment", "judge", "update", "other")
    split = {part: round(sum(figure(line, "seconds", part) or 0.0 for line in run.train), 1) for part in parts}
    return {
        "label": cell.label,
        "seed": cell.seed,
        "finished": bool(done),
        "code": done.get("code", 1) if done else CODE,
        "iterations": int(run.train[-1]["iteration"]) if run.train else 0,
        "episodes": int(run.episodes_at(float("inf"))),
        "start": {mode: evaluation(run, greedy, first=True, golden=golden) for mode, greedy in MODES.items()},
        "end": {mode: evaluation(run, greedy, golden=golden) for mode, greedy in MODES.items()},
        "curve": {  # (iteration, training episodes so far, success) of every measurement
            mode: [
                [line["iteration"], run.episodes_at(line["iteration"]), round(line["success"], 4)]
                for line in evaluations(run, greedy)
            ]
            for mode, greedy in MODES.items()
        },
        "seconds": {"start": sum(map(seconds, starts)), "run": seconds(run), "split": split},
        "tokens": {
            part: sum(int(figure(n, "tokens", part) or 0) for n in run.train) for part in ("generated", "trained")
        },
        "clipped": mean([one for line in run.train if (one := figure(line, "loss", "clip_fraction")) is not None]),
        "critic": [[iteration, round(value, 4)] for iteration, value in explained if value is not None],
        "new_tasks": [  # (iteration, new tasks, tasks played) of every phase in which a curriculum was asked for tasks
            [line["iteration"], *(int(figure(line, "phase", "tasks", name) or 0) for name in ("kept", "played"))]
            for line in asked
        ],
        "warnings": [[line["iteration"], line.get("warning")] for line in run.warnings],
        "stages": [stage.to_json() for stage in cell.runs()],
        "versions": run.config.get("versions", {}),
        "machine": done.get("machine", {}),
    }


def begun_with(run: RunData, start: RunData) -> RunData:
    """A run that did not measure its beginning, with the last measurement of its start as that."""
    if not run.evals or any(line["iteration"] == 0 for line in run.evals):
        return run
    last = [{**line, "iteration": 0} for line in start.evals if line["iteration"] == start.evals[-1]["iteration"]]
    return replace(run, evals=[*last, *run.evals])


def _read(folder: Path) -> RunData | None:
    try:
        return read_run(folder)
    except ConfigError:  # not begun
        return None


def evaluations(run: RunData, greedy: bool) -> list[Line]:
    """Those with a number, in order."""
    return [line for line in run.evals if bool(line.get("greedy")) is greedy and figure(line, "success") is not None]


def evaluation(run: RunData, greedy: bool, *, first: bool = False, golden: bool = False) -> Results | None:
    """The first or last measurement."""
    lines = evaluations(run, greedy)
    if not lines:
        return None
    line = lines[0 if first else -1]
    episodes = int(line.get("episodes") or 0) - int(line.get("faults") or 0)
    kept = ("success", "success_ci", "reward_mean", "reward_ci", "reward_terms", "valid_rate", "format_rate")
    figures = {key: line.get(key) for key in (*kept, "turns_mean", "faults", "outcomes")}
    figures |= {name: figure(line, "metrics", name) for name in EFFORT}
    figures |= {"golden": by_golden_steps(line)} if golden else {}
    return {"iteration": line["iteration"], "wins": round(line["success"] * episodes), "episodes": episodes, **figures}


def seconds(run: RunData) -> float:
    """Of all iterations and evaluations, however often the run was taken up again."""
    trained = sum(figure(line, "seconds", "total") or 0.0 for line in run.train)
    return round(trained + sum(figure(line, "seconds_total") or 0.0 for line in run.evals), 1)


# ---------------------------------------------------------------------- all cells


def clipped_shares(cells: Sequence[Results]) -> dict[str, float | None]:
    """By label: the share of ratios that the clip held back, over all iterations of all seeds; None without a clip."""
    held: dict[str, list[float]] = {}
    for cell in cells:
        held.setdefault(cell["label"], []).extend([] if cell.get("clipped") is None else [cell["clipped"]])
    return {label: mean(shares) for label, shares in held.items()}


def comparisons(experiment: Experiment, cells: Sequence[Results]) -> list[Results]:
    """Every claim about an order, then for every label whether RL improved on its start; sampled and greedy."""
    found: list[dict[str, Any]] = []
    measures = [({}, pools), *([({"measure": "score"}, score_pools)] if experiment.graded else [])]
    for mode in MODES:
        for measure, pooled in measures:
            about, after, before = {"mode": mode, **measure}, pooled(cells, mode), pooled(cells, mode, "start")
            for claim in experiment.claims:
                if claim.higher in after and claim.lower in after:
                    order = compare(after[claim.higher], after[claim.lower])
                    found.append(about | {"source": claim.source} | order)
            for label, pool in after.items():
                if label in before:
                    start = replace(before[label], label="its imitation start")
                    gain = compare(replace(pool, label=f"{label} after RL"), start)
                    found.append(about | {"source": ""} | gain)
    return found
