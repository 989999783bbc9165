"""`agentrl bench alfworld`, short and without TextWorld: our cases are there, and a missing peer never passes."""

from __future__ import annotations

import pytest

from benchmarks import alfworld


def test_the_report_has_our_cases_and_fails_without_the_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentrl.core.measure.peers_python", lambda *_: None)
    monkeypatch.setattr(alfworld, "rate", lambda work, seconds: float(work()))
    report = alfworld.run(quick=True)
    assert {row["case"] for row in report["results"]} == {alfworld.ENGINE, alfworld.THROUGH_GYM, alfworld.RESET}
    assert "scripts/setup.sh library:textworld" in report["peers"]["textworld"]["reason"]
    assert [ratio["case"] for ratio in report["ratios"]] == [f"{alfworld.RESET}, ours over limit"] and not report[
        "pass"
    ]


def test_slow_resets_fail() -> None:
    row = {"case": alfworld.RESET, "impl": "agentrl", "value": 999.0}
    assert not alfworld.resets_ratio([row])["pass"] and alfworld.resets_ratio([{**row, "value": 1001.0}])["pass"]
