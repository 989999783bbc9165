"""The search benchmark measures what it says, holds it against the limits, and reports peers that are not there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agentrl.benchmarks import peers_webshop, webshop_search
from agentrl.benchmarks.measure import result, times_of
from agentrl.benchmarks.webshop_documents import MadeUpDocuments
from agentrl.envs.webshop.search import Index, analyze


def test_a_quick_run_measures_everything_without_peers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AGENTRL_PEERS", str(tmp_path))
    report = webshop_search.run(quick=True)
    assert report["pass"] and len(report["ratios"]) == 5
    cases = {row["case"]: row["value"] for row in report["results"]}
    kinds = ("build", "open", "search", "private memory")
    assert list(cases) == [f"{kind} {size}" for size in ("500", "2,000") for kind in kinds]
    assert all(value > 0 for value in cases.values()) and cases["private memory 2,000"] > 5
    assert all(not peer["installed"] and "bench-peers" in peer["reason"] for peer in report["peers"].values())


def test_a_limit_that_is_missed_or_not_measured_does_not_pass() -> None:
    rows = [result("search 10", "agentrl (c)", "0", [6.0], "ms"), result("search 20", "tantivy", "0", [1.0], "ms")]
    small, large, *others = webshop_search.limits(rows, 10, 20)
    assert (small["ours"], small["ratio"], small["pass"]) == (6.0, 5 / 6, False)
    assert (large["ours"], large["pass"]) == (None, False)
    assert len(others) == 3 and not any(other["pass"] for other in others)


def test_a_broken_interpreter_of_the_peers_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho no such thing >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setenv("AGENTRL_PEERS", str(broken))
    report = webshop_search.peer_cases([("a", "tea")], ["tea"])
    assert "no such thing" in report["peers"]["tantivy"]["reason"]


def test_a_peer_that_cannot_be_imported_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTRL_PEERS", sys.executable)
    report = webshop_search.peer_cases([("a", "tea")], ["tea"])
    assert set(report["peers"]) == {"bm25s", "tantivy"} == set(peers_webshop.PEERS)
    for peer in report["peers"].values():
        assert peer["installed"] or peer["reason"]


def test_made_up_documents_are_the_same_in_every_process() -> None:
    code = (
        "from agentrl.benchmarks.webshop_documents import MadeUpDocuments as D; print(D(9, 4)[7], D(9, 4).queries(3))"
    )
    found = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=variables).stdout
        for variables in ({"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(filter(None, sys.path))} for seed in "12")
    }
    assert found == {f"{MadeUpDocuments(9, 4)[7]} {MadeUpDocuments(9, 4).queries(3)}\n"}


def test_made_up_documents_have_the_lengths_of_the_real_ones() -> None:
    documents = MadeUpDocuments(2000)
    lengths = sorted(len(documents[number][1].split()) for number in range(2000))
    assert 110 < sum(lengths) / 2000 < 135 and 80 < lengths[1000] < 96 and 280 < lengths[1900] < 370
    assert len({documents[number][0] for number in range(2000)}) == 2000
    with pytest.raises(IndexError):
        documents[2000]


def test_every_made_up_query_finds_something(tmp_path: Path) -> None:
    documents = MadeUpDocuments(300)
    webshop_search.build_case(tmp_path, documents)
    queries = documents.queries(20)
    assert all(analyze(query) for query in queries)
    assert all(Index.open(tmp_path).search(query) for query in queries)


def test_times_are_taken_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]

    def work(seconds: float = 2.0) -> None:
        clock[0] += seconds

    monkeypatch.setattr("time.perf_counter", lambda: clock[0])
    assert times_of(work, [1.0, 3.0]) == [1.0, 3.0]
    assert times_of(work, 2) == [2.0, 2.0]
