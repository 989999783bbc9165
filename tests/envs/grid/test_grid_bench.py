"""The benchmark measures what it says and does not pass without its peers."""

from __future__ import annotations

import pytest

from agentrl.core.measure import measure_peers, rates, result
from benchmarks import grid


def test_without_peers_nothing_passes_and_the_reason_is_given(monkeypatch, tmp_path):
    monkeypatch.setenv("AGENTRL_PEERS", str(tmp_path))
    report = grid.run(quick=True)
    assert not report["pass"] and all(ratio["ratio"] is None and not ratio["pass"] for ratio in report["ratios"])
    assert all(not peer["installed"] and "bench-peers" in peer["reason"] for peer in report["peers"].values())
    assert {"case", "impl", "version", "num_envs", "obs", "px", "unit", "value", "repeats"} <= set(report["results"][0])
    assert all(row["value"] > 0 for row in report["results"])


def test_a_ratio_is_ours_over_the_best_of_the_peer():
    rows = [
        result("mine", "agentrl", "0", [100.0], "steps/s"),
        result("steps", "envpool A", "1", [2.0], "steps/s"),
        result("steps", "envpool B", "1", [4.0], "steps/s"),
        result("steps", "gymnasium", "1", [50.0], "steps/s"),
    ]
    assert grid.compare(rows, "c", "mine", "envpool", "steps", 20)["ratio"] == 25
    assert grid.compare(rows, "c", "mine", "envpool", "steps", 20)["pass"]
    assert not grid.compare(rows, "c", "mine", "envpool", "steps", 26)["pass"]


def test_the_median_of_repeats_counts():
    assert result("c", "i", "v", [1.0, 100.0, 3.0], "u")["value"] == 3.0


def test_rates_count_what_was_done(monkeypatch):
    clock = [0.0]

    def work() -> int:
        clock[0] += 0.5
        return 7

    monkeypatch.setattr("time.perf_counter", lambda: clock[0])
    assert rates(work, 2.0, 3) == pytest.approx([14.0, 14.0, 14.0])


def test_a_broken_interpreter_of_the_peers_is_reported_not_raised(monkeypatch, tmp_path):
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho no such thing >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setenv("AGENTRL_PEERS", str(broken))
    assert (
        "no such thing" in measure_peers("grid.py", ["0.01", "1"], grid.PEERS, timeout=60)["peers"]["envpool"]["reason"]
    )
