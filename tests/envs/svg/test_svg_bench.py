"""The drawing benchmark measures what it says, on drawings that the gate lets pass."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from agentrl.core.errors import MissingExtra
from agentrl.core.measure import result
from agentrl.envs.svg.sandbox.gate import check
from benchmarks import svg
from benchmarks.svg.drawings import STYLES


@pytest.fixture(scope="module")
def report() -> dict:
    """One quick run."""
    return svg.run(quick=True)


def test_the_report_has_the_contracts_keys(report: dict) -> None:
    assert {"schema", "name", "machine", "threads", "results", "peers", "ratios", "pass"} <= set(report)
    assert report["name"] == "svg" and report["peers"]["cairosvg"]["installed"]
    for row in report["results"]:
        assert {"case", "impl", "version", "num_envs", "obs", "px", "unit", "value", "repeats"} <= set(row)
        assert row["value"] > 0 and row["unit"] == "pictures/s"
    drawn = [row["case"] for row in report["results"] if row["unit"] == "pictures/s"]
    assert set(drawn) == set(STYLES) and len(drawn) == len(STYLES) * 3


def test_the_gate_and_the_process_may_cost_a_quarter(report: dict) -> None:
    assert all(ratio["required"] == 0.75 for ratio in report["ratios"])
    assert report["pass"] == all(ratio["ratio"] >= 0.75 for ratio in report["ratios"])


def test_a_slow_renderer_does_not_pass() -> None:
    rows = [result("stroke icons", "agentrl", "0", [74.0], "p"), result("stroke icons", svg.PEER, "0", [100.0], "p")]
    assert not svg.compare(rows, "stroke icons")["pass"]
    rows[0]["value"] = 75.0
    assert svg.compare(rows, "stroke icons")["pass"]


def test_drawings_are_made_from_the_seed_and_pass_the_gate() -> None:
    for style, make in STYLES.items():
        codes = [make(random.Random(seed)) for seed in range(20)]
        assert codes == [make(random.Random(seed)) for seed in range(20)] and len(set(codes)) == 20, style
        assert all(check(code) for code in codes)


def test_without_cairosvg_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(svg.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"agentrl-suite\[svg\]"):
        svg.run(quick=True)


def test_the_bench_is_listed_without_loading_the_renderer() -> None:
    code = "import sys; from agentrl.cli.bench import load_bench; load_bench('svg'); print('cairosvg' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "False", done.stderr
