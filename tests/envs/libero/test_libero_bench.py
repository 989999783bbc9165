"""`agentrl bench libero` measures the same work on both sides."""

from __future__ import annotations

import pytest

from agentrl.core.measure import compare
from benchmarks.libero import CASES, REQUIRED, Episode, memory_rows, picture_rows, step_rows

pytestmark = pytest.mark.extra_robots


def test_steps_pictures_and_memory_are_reported_beside_mujoco_alone() -> None:
    episode = Episode("spatial", steps=4)
    rows = step_rows(episode, 1) + picture_rows(episode, 1, 1) + memory_rows(1)  # a replay that differs would raise
    assert {row["unit"] for row in rows} == {"steps/s", "pictures/s", "MB"}
    for what, peer in CASES.items():
        assert compare(rows, f"spatial {what}", peer, REQUIRED)["peer"] > 0
