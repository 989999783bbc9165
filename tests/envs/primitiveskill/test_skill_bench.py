"""`agentrl bench skills` measures the same work on both sides."""

from __future__ import annotations

import numpy as np

from agentrl.core.measure import compare
from benchmarks.primitiveskill import PEER, RENDERER, REQUIRED, Episode, bare_arm, memory_rows, picture_rows


def test_bare_replays_end_where_the_environment_ended() -> None:
    episode = Episode("drawer")
    arm = bare_arm(episode)
    episode.replay(arm)
    np.testing.assert_allclose(arm.data.qpos, episode.end, atol=1e-6)
    other = bare_arm(episode)
    episode.step_only(other)
    np.testing.assert_allclose(other.data.qpos, episode.end, atol=1e-6)


def test_pictures_and_memory_are_reported() -> None:
    rows = picture_rows(Episode("align"), count=1, repeats=1) + memory_rows(2)
    assert {row["unit"] for row in rows} == {"pictures/s", "MB"}
    assert compare(rows, "align pictures", RENDERER, REQUIRED)["peer"] > 0


def test_a_tenth_less_than_mujoco_alone_is_enough() -> None:
    rows = [{"case": "x", "impl": "agentrl", "value": 90.0}, {"case": "x", "impl": PEER, "value": 100.0}]
    assert compare(rows, "x", PEER, REQUIRED)["pass"]
    rows[0]["value"] = 89.0
    assert not compare(rows, "x", PEER, REQUIRED)["pass"]
