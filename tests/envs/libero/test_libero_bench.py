"""`agentrl bench libero` measures the same work on both sides."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentrl.core.measure import compare
from benchmarks.libero import CASES, REQUIRED, Episode, memory_rows, picture_rows, step_rows
from benchmarks.libero.warp import keep

pytestmark = pytest.mark.extra_robots


def test_steps_pictures_and_memory_are_reported_beside_mujoco_alone() -> None:
    episode = Episode("spatial", steps=4)
    rows = step_rows(episode, 1) + picture_rows(episode, 1, 1) + memory_rows(1)  # a replay that differs would raise
    assert {row["unit"] for row in rows} == {"steps/s", "pictures/s", "MB"}
    for what, peer in CASES.items():
        assert compare(rows, f"spatial {what}", peer, REQUIRED)["peer"] > 0


def test_figures_of_warp_are_added_to_those_that_are_there(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    before = {"play": {"command": "old", "suites": {"a": {"episodes": 1}}, "not finished": ["b", "c"]}, "speed": {}}
    path.write_text(json.dumps(before))
    keep(path, "play", {"command": "new", "suites": {"b, tasks 0 to 4": {"episodes": 2}}})
    found = json.loads(path.read_text())
    assert found["speed"] == {} and found["play"]["not finished"] == ["c"]
    assert found["play"]["suites"] == {"a": {"episodes": 1}, "b, tasks 0 to 4": {"command": "new", "episodes": 2}}
