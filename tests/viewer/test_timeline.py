"""The part of a run's page about simulators, generators and the trainer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentrl.viewer.run_data import read_run
from agentrl.viewer.run_report import build

SPANS = [
    ["simulators", 0, 0.0, 1.0, 4],
    ["simulators", 1, 0.5, 1.5, 4],
    ["generators", 0, 1.0, 2.0, 8],
    ["trainer", 0, 2.0, 4.0, 16],
]
WORKERS = {"simulators": 2, "generators": 1, "trainer": 1}


def run_folder(folder: Path, timeline: Any, told: Any) -> str:
    lines = [{"iteration": n, "kind": "train", "seconds": {"total": 1.0}, "async": told} for n in (1, 2)]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "timeline.json").write_text(timeline if isinstance(timeline, str) else json.dumps(timeline))
    return build(read_run(folder))


TOLD = {
    "utilisation": {"simulators": 0.5, "generators": 0.25, "trainer": 0.5},
    "queue": {"mean": 1.5, "max": 8},
    "generator_batches": {"4": 3, "8": 1},
    "simulator_batches": {"4": 2},
    "staleness": {"0": 12, "1": 4},
    "dropped_episodes": 2,
}


def test_the_page_shows_each_worker_and_every_histogram(tmp_path) -> None:
    page = run_folder(tmp_path, {"schema": 1, "workers": WORKERS, "spans": SPANS, "updates": [[4.0, 1]]}, TOLD)
    assert "Simulators, generators, trainer" in page
    for name in ("simulator 0", "simulator 1", ">generator<", ">trainer<", "update 1 is done", "dropped", "1 update"):
        assert name in page
    bars = [part.split('"')[0] for part in page.split('class="fill c')[1:]]
    assert set(bars) >= {"0", "1", "2"}


def test_a_synchronous_run_has_no_such_part(tmp_path) -> None:
    (tmp_path / "metrics.jsonl").write_text('{"iteration": 1, "kind": "train", "seconds": {"total": 1.0}}\n')
    assert "Simulators, generators" not in build(read_run(tmp_path))


@pytest.mark.parametrize("timeline", ["nonsense", {"spans": 3}, {"workers": {"simulators": "<b>"}, "spans": []}])
def test_a_page_about_a_foreign_run_shows_what_can_be_read(tmp_path, timeline) -> None:
    told = {"utilisation": "much", "staleness": {"<b>": 1, "2": "many"}, "generator_batches": [1], "queue": None}
    assert "<b>&" not in run_folder(tmp_path, timeline, told)
