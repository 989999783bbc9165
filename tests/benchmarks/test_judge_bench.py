"""The judge's benchmark measures what it says."""

from __future__ import annotations

from agentrl.cli.bench import BENCHES, load_bench
from benchmarks import judge


def test_a_quick_run_has_the_contracts_keys_and_compares_with_the_required_rate():
    report = judge.run(quick=True)
    assert {"schema", "name", "machine", "threads", "results", "peers", "ratios", "pass"} <= set(report)
    assert [row["case"] for row in report["results"]] == list(judge.CASES)
    for row, ratio in zip(report["results"], report["ratios"], strict=True):
        assert row["value"] > 500 and row["unit"] == "judgements/s"
        assert ratio["peer"] == 5000 and ratio["ratio"] == row["value"] / 5000
        assert ratio["pass"] == (row["value"] >= 5000)
    assert report["pass"] == all(ratio["pass"] for ratio in report["ratios"])


def test_it_is_listed():
    assert "judge" in BENCHES and load_bench("judge") is judge.run


def test_every_statement_of_the_corpus_is_judged():
    assert judge.judging(forget=True)() == len(judge.requests()) >= 400
