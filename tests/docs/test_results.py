"""What is committed of results: a dozen pages that people read, and numbers without single repeats."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks import keep
from benchmarks.learning.results import KEPT

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted((DOCS / "results").iterdir())
KEPT_FILES = sorted(KEPT.glob("*.json"))


def test_there_are_at_most_a_dozen_pages() -> None:
    assert len(PAGES) <= 12 and all(path.suffix == ".md" for path in PAGES)


@pytest.mark.parametrize("page", [*PAGES, DOCS / "papers.md", DOCS / "index.md"], ids=lambda path: path.stem)
def test_every_page_says_that_embedded_worlds_are_not_the_benchmarks(page: Path) -> None:
    assert "embedded worlds are not the official benchmarks" in page.read_text().lower()


def test_the_numbers_that_pages_name_are_there() -> None:
    named = {name for page in PAGES for name in re.findall(r"benchmarks/results/([\w-]+\.json)", page.read_text())}
    assert len(named) > 8 and named <= {path.name for path in KEPT_FILES}


def keys(value: Any) -> Iterator[tuple[str, Any]]:
    """Every name in a JSON document with what it stands for."""
    for name, inner in (
        value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ())
    ):
        yield str(name), inner
        yield from keys(inner)


@pytest.mark.parametrize("path", KEPT_FILES, ids=lambda path: path.stem)
def test_no_single_repeats_are_kept(path: Path) -> None:
    found = json.loads(path.read_text())
    assert not {"values", "reward_curve", "seconds_total"} & {name for name, _ in keys(found)}
    if path.name.startswith("bench_"):
        assert found["commit"] and found["command"].startswith("agentrl bench") and found["machine"]["cpu"]
        assert all(low <= row["value"] <= high for row in found["results"] for low, high in [row["range"]])


def test_a_report_is_kept_without_its_repeats() -> None:
    row = {"case": "steps", "unit": "steps/s", "value": 2.0, "repeats": 3, "values": [1.0, 2.0, 4.0]}
    report = {"schema": 1, "name": "grid", "machine": {"cpu": "one"}, "results": [row], "ratios": [], "pass": True}
    found = json.loads(keep.text(keep.kept(report, "agentrl bench grid --json")))
    assert found["results"] == [{"case": "steps", "unit": "steps/s", "value": 2.0, "repeats": 3, "range": [1.0, 4.0]}]
    assert found["command"] == "agentrl bench grid --json" and found["machine"] == {"cpu": "one"}
