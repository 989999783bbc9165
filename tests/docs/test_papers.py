"""docs/papers.md: every claim that is compared has the verdict and the figure that the kept results give; so have the
tables of docs/results/learning.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agentrl.algorithms import ALGORITHMS, arguments_class
from agentrl.cli.option_types import described
from benchmarks.learning.paper_claims import CLAIMS
from benchmarks.learning.result_tables import LEARNING, verdict, with_tables, with_verdicts
from benchmarks.learning.results import KEPT, read_results
from benchmarks.learning.table import EXPERIMENTS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "papers.md").read_text()
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("| ")]
MEASURED = {name: kept for name, one in EXPERIMENTS.items() if (kept := read_results(KEPT, one))}


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.text[:40])
def test_verdicts_are_those_of_the_kept_results(claim) -> None:
    (row,) = [row for row in ROWS if row[0] == claim.text]
    assert row[-1].startswith(verdict(claim, MEASURED) or ("**not run**", "**not implemented**"))


def test_verdicts_and_tables_are_written_anew_without_a_change() -> None:
    assert with_verdicts(PAGE) == PAGE
    assert with_tables(LEARNING.read_text()) == LEARNING.read_text()


def test_files_exist() -> None:
    """By their names: folders may be sorted anew."""
    named = {path for path in re.findall(r"`([\w/]+\.py)`", PAGE)}
    there = {path.name for path in (ROOT / "agentrl").rglob("*.py")}
    assert len(named) > 15 and {Path(path).name for path in named} <= there


def test_options_exist() -> None:
    known = {name for algorithm in ALGORITHMS for name in described(arguments_class(algorithm))}
    known |= {f"no_{name}" for name in known} | {"policy"}
    named = {name.replace("-", "_") for name in re.findall(r"--([a-z][a-z-]+)", PAGE)}
    assert named - known == set()
