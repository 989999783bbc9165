"""`agentrl bench learning`: run experiments as far as time allows, then write down what is known."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.learning.cell import DONE
from benchmarks.learning.claims_page import write_pages
from benchmarks.learning.experiment import Cell, Experiment, chosen_cells, chosen_experiments
from benchmarks.learning.results import summarise
from benchmarks.learning.runner import Runner
from benchmarks.learning.separation_table import read_separation, withheld
from benchmarks.learning.table import EXPERIMENTS, SWEEPS

SOON = 0.001  # minutes: what is left when time is up, as 0 means no limit


def run_learning(
    experiment: str,
    *,
    cells: str = "*",
    jobs: int = 1,
    minutes: float = 0.0,
    output: str | os.PathLike[str] = "runs/learning",
    results: str | os.PathLike[str] = "",
    summarise_only: bool = False,
    force: bool = False,
    known: Mapping[str, Experiment] = EXPERIMENTS,
    say: Callable[[str], Any] = print,
) -> dict[str, Any]:
    """Run the experiments that fit the pattern inside `output`; compact results go to `results` (default:
    `output/results`), the pages and figures of all results that are there to `output/pages`.

    Once the starts are trained, the conditions' advantages are compared on their episodes. Cells that only stand in
    comparisons which cannot tell (`separation`) are withheld unless `force` is set.
    With `summarise_only` nothing is trained: runs that were brought together from several machines are written up.
    `pass` says that every chosen cell is finished that was not withheld.
    """
    experiments = chosen_experiments(experiment, known)
    chosen = chosen_cells(experiments, cells)
    refused: list[str] = []
    failed: dict[str, str] = {}
    if not summarise_only:
        starts = Runner(output, starts_of(chosen), jobs=jobs, minutes=minutes, say=say)
        failed = starts.run().failed
        begun = [] if starts.asked_to_stop else [cell for cell in chosen if started(starts.folder, cell)]
        blind = refusals(starts.folder, experiments, begun, say)
        refused = [] if force else blind
        allowed = [cell for cell in begun if cell.title not in refused]
        left = max((starts.deadline - time.monotonic()) / 60, SOON) if minutes else 0.0
        failed |= Runner(output, allowed, jobs=jobs, minutes=left, say=say).run().failed
    whole = Runner(output, [cell for cell in chosen if cell.title not in refused], say=say)
    outcome = whole.outcome()
    target = Path(results) if str(results) else whole.folder / "results"
    written = summarise(whole.folder, experiments, target)
    written += write_pages(target, whole.folder / "pages", known.values())
    return {
        "schema": 1,
        "name": "learning",
        "experiments": [experiment.name for experiment in experiments],
        "separation": {one.name: found for one in experiments if (found := read_separation(whole.folder, one))},
        "withheld": refused,
        "finished": outcome.finished,
        "unfinished": outcome.unfinished,
        "failed": failed,
        "written": [str(path) for path in written],
        "pass": not outcome.unfinished,
    }


def starts_of(cells: Sequence[Cell]) -> list[Cell]:
    """All but the last run of each chain."""
    return [Cell(cell.label, cell.seed, cell.stages[:-1]) for cell in cells if len(cell.stages) > 1]


def started(folder: Path, cell: Cell) -> bool:
    """Are all runs before the last one finished?"""
    return all((folder / run.name / DONE).exists() for run in cell.runs()[:-1])


def refusals(
    folder: Path, experiments: Sequence[Experiment], cells: Sequence[Cell], say: Callable[[str], Any]
) -> list[str]:
    """Titles of the chosen cells that stand in no comparison which can tell; a sweep compares nothing."""
    refused: set[str] = set()
    wanted: set[str] = set()
    for experiment in experiments:
        own = [] if experiment.name in SWEEPS else [cell for cell in experiment.cells if cell in cells]
        ready = bool(own) and all(started(folder, cell) for cell in experiment.cells)
        labels = withheld(experiment, measure(folder, experiment, say)) if ready else []
        if labels:
            apart = f"cannot tell {', '.join(labels)} from what they are compared with"
            say(f"{experiment.name}: {apart}; only --force runs them")
        refused |= {cell.title for cell in own if cell.label in labels}
        wanted |= {cell.title for cell in own if cell.label not in labels}
    return sorted(refused - wanted)


def measure(folder: Path, experiment: Experiment, say: Callable[[str], Any]) -> dict[str, Any]:
    """The table of separation; torch is loaded only where something is still to be measured."""
    from benchmarks.learning.separation import measure_separation

    return measure_separation(folder, experiment, say)


def listing(known: Mapping[str, Experiment] = EXPERIMENTS) -> list[dict[str, Any]]:
    """What there is to run."""
    return [{"name": n, "cells": len(one.cells), "question": one.question} for n, one in known.items()]
