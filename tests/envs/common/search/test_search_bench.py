"""The search benchmark measures what it says, holds it against the limits, and reports peers that are missing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agentrl.core.measure import result, times_of
from benchmarks import search as bench
from benchmarks.peers import search as peers_search
from tests.envs.common.search.search_corpora import QUERIES, SourceOfGoods


def test_a_source_is_built_opened_searched_and_weighed(tmp_path: Path) -> None:
    rows = bench.source_cases(tmp_path, SourceOfGoods(500), QUERIES, progress=None)
    cases = {row["case"]: row["value"] for row in rows}
    assert list(cases) == [f"{kind} 500" for kind in ("build", "open", "search", "private memory")]
    assert all(value > 0 for value in cases.values()) and cases["private memory 500"] > 5


def test_a_limit_that_is_missed_or_not_measured_does_not_pass() -> None:
    rows = [result("search 10", "agentrl (c)", "0", [6.0], "ms"), result("search 20", "tantivy", "0", [1.0], "ms")]
    small, large, *others = bench.limits(rows, 10, 20)
    assert (small["ours"], small["ratio"], small["pass"]) == (6.0, 5 / 6, False)
    assert (large["ours"], large["pass"]) == (None, False)
    assert len(others) == 3 and not any(other["pass"] for other in others)


def test_a_broken_interpreter_of_the_peers_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho no such thing >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setenv("AGENTRL_PEERS", str(broken))
    report = bench.peer_cases([("a", "tea")], ["tea"])
    assert "no such thing" in report["peers"]["tantivy"]["reason"]


def test_a_peer_that_cannot_be_imported_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTRL_PEERS", sys.executable)
    report = bench.peer_cases([("a", "tea")], ["tea"])
    assert set(report["peers"]) == {"bm25s", "tantivy"} == set(peers_search.PEERS)
    for peer in report["peers"].values():
        assert peer["installed"] or peer["reason"]


def test_times_are_taken_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]

    def work(seconds: float = 2.0) -> None:
        clock[0] += seconds

    monkeypatch.setattr("time.perf_counter", lambda: clock[0])
    assert times_of(work, [1.0, 3.0]) == [1.0, 3.0]
    assert times_of(work, 2) == [2.0, 2.0]
