"""Whether an experiment can tell its conditions apart: what `separation` measured is kept, read and shown here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.learning.experiment import Experiment, PlannedRun

LIMIT = 0.98
EPISODES = 128  # to compare advantages on, and as many others for the critics to learn from
ROUNDS, PASSES, MINIBATCHES, RATE = 3, 3, 8, 0.003  # of the critics; targets are estimated anew each round
SEPARATION_HEAD = ("condition", "condition", "correlation of advantages", "verdict", "also differ in")
CAN, CANNOT, MORE = "can tell", "cannot tell", "differ in more"


def separation_path(folder: Path, experiment: Experiment) -> Path:
    """Where the table of an experiment is kept among its runs; named after all that decides it."""
    content = [first_run(experiment, label).to_json() for label in experiment.labels]
    sizes = [LIMIT, EPISODES, ROUNDS, PASSES, MINIBATCHES, RATE]
    digest = hashlib.sha256(json.dumps([content, sizes], sort_keys=True).encode()).hexdigest()[:10]
    return folder / "separation" / f"{experiment.name}-{digest}.json"


def first_run(experiment: Experiment, label: str) -> PlannedRun:
    """The run that is measured, of the first seed."""
    return next(cell for cell in experiment.cells if cell.label == label).runs()[-1]


def read_separation(folder: Path, experiment: Experiment) -> dict[str, Any] | None:
    """What was measured; None where nothing was."""
    path = separation_path(folder, experiment)
    return json.loads(path.read_text()) if path.exists() else None


def withheld(experiment: Experiment, found: Mapping[str, Any]) -> list[str]:
    """Labels that would be run for comparisons that cannot tell, and for no other."""
    measured = {frozenset((row["first"], row["second"])): row["verdict"] for row in found["pairs"]}
    claimed = {frozenset((claim.higher, claim.lower)) for claim in experiment.claims}
    blind = {pair for pair, verdict in measured.items() if verdict == CANNOT}
    useful = (claimed or set(measured)) - blind
    return [
        label
        for label in experiment.labels
        if any(label in pair for pair in blind) and not any(label in pair for pair in useful)
    ]


def blind_to(found: Mapping[str, Any] | None, first: str, second: str) -> float | None:
    """The correlation of two labels that cannot be told apart by it; None for all others."""
    for row in (found or {}).get("pairs", ()):
        if {row["first"], row["second"]} == {first, second} and row["verdict"] == CANNOT:
            return row["correlation"]
    return None


def separation_rows(found: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """For a reader, the most alike first."""
    rows = sorted(found["pairs"], key=lambda row: -row["correlation"])
    return [
        (row["first"], row["second"], f"{row['correlation']:.3f}", row["verdict"], ", ".join(row["besides"]))
        for row in rows
    ]
