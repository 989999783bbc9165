"""`agentrl bench learning`: run experiments as far as time allows, then write down what is known."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.learning.claims_page import write_pages
from benchmarks.learning.experiment import Experiment, chosen_cells, chosen_experiments
from benchmarks.learning.results import summarise
from benchmarks.learning.runner import Runner
from benchmarks.learning.table import EXPERIMENTS


def run_learning(
    experiment: str,
    *,
    cells: str = "*",
    jobs: int = 1,
    minutes: float = 0.0,
    out: str | os.PathLike[str] = "runs/learning",
    results: str | os.PathLike[str] = "",
    summarise_only: bool = False,
    known: Mapping[str, Experiment] = EXPERIMENTS,
    say: Callable[[str], Any] = print,
) -> dict[str, Any]:
    """Run the experiments that fit the pattern inside `out`; compact results go to `results` (default: `out/results`).

    With `summarise_only` nothing is trained: runs that were brought together from several machines are written up, and
    the pages of all results in `results` are written again.
    `pass` says that every chosen cell is finished.
    """
    experiments = chosen_experiments(experiment, known)
    runner = Runner(out, chosen_cells(experiments, cells), jobs=jobs, minutes=minutes, say=say)
    outcome = runner.outcome() if summarise_only else runner.run()
    target = Path(results) if str(results) else runner.folder / "results"
    written = summarise(runner.folder, experiments, target)
    written += write_pages(target, known.values())
    return {
        "schema": 1,
        "name": "learning",
        "experiments": [experiment.name for experiment in experiments],
        "finished": outcome.finished,
        "unfinished": outcome.unfinished,
        "failed": outcome.failed,
        "written": [str(path) for path in written],
        "pass": not outcome.unfinished,
    }


def listing(known: Mapping[str, Experiment] = EXPERIMENTS) -> list[dict[str, Any]]:
    """What there is to run."""
    return [{"name": n, "cells": len(one.cells), "question": one.question} for n, one in known.items()]
