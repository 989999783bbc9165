"""`agentrl bench homes` runs and compares pictures with MuJoCo alone."""

from __future__ import annotations

import pytest

from agentrl.registry import parts
from benchmarks.navigation import RENDERER, compare, run


@pytest.mark.long
def test_a_quick_run_has_every_case_and_a_comparison() -> None:
    report = run(quick=True)
    units = {row["unit"] for row in report["results"]}
    assert units == {"actions/s", "turns/s", "resets/s", "pictures/s", "MB"}
    (ratio,) = report["ratios"]
    assert ratio["ratio"] > 0 and report["peers"]["mujoco"]["installed"]
    assert all(row["value"] >= 0 for row in report["results"])


def test_a_rate_below_nine_tenths_fails() -> None:
    rows = [{"case": "x", "impl": "agentrl", "value": 8.0}, {"case": "x", "impl": RENDERER, "value": 10.0}]
    assert not compare(rows, "x")["pass"]


def test_it_belongs_to_the_group_of_embodied_tasks() -> None:
    assert parts("benches")["homes"].group == "embodied"
