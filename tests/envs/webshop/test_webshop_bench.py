"""`agentrl bench webshop`, short and small: every case, every limit, and a failure that shows."""

from __future__ import annotations

import pytest

from agentrl.cli.main import main
from benchmarks import webshop


@pytest.fixture(scope="module")
def report(request: pytest.FixtureRequest) -> dict:
    patch = pytest.MonkeyPatch()
    patch.setattr("agentrl.core.measure.peers_python", lambda *_: None)  # they have tests of their own
    request.addfinalizer(patch.undo)
    return webshop.run(quick=True, full=True)


def test_the_report_has_every_case(report: dict) -> None:
    cases = {row["case"] for row in report["results"]}
    for size in ("1,000", "2,000"):
        assert {f"build {size}", f"open {size}", f"search {size}", f"private memory {size}"} <= cases
    assert {"text steps 1,000", "text steps, products not seen before, 1,000", "session memory 1,000"} <= cases
    assert all(row["value"] >= 0 and row["repeats"] == len(row["values"]) for row in report["results"])
    assert report["peers"]["bm25s"]["reason"] and report["schema"] == 1


def test_every_limit_is_judged(report: dict) -> None:
    judged = {ratio["case"].rpartition(",")[0] for ratio in report["ratios"]}
    assert judged == {
        "search 1,000", "search 2,000", "open 2,000", "private memory 2,000", "build 2,000", "text steps 1,000",
        "text steps, products not seen before, 1,000",
    }  # fmt: skip
    assert report["pass"] == all(ratio["pass"] for ratio in report["ratios"])


def test_slow_steps_fail() -> None:
    row = {"case": "text steps 1,000", "value": 9_999.0}
    assert not webshop.steps_ratio([row], row["case"])["pass"]
    assert webshop.steps_ratio([{**row, "value": 10_001.0}], row["case"])["pass"]


def test_the_peers_get_ids_and_texts_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[str, ...]] = []
    monkeypatch.setattr(webshop, "peer_cases", lambda documents, queries: given.extend(documents) or {})
    webshop.catalogue_peers(1_000, 3)
    assert len(given) == 1_000 and all(len(document) == 2 for document in given)


def test_full_is_an_option_of_this_benchmark_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "grid", "--full"]) == 2
    assert "full" in capsys.readouterr().err
