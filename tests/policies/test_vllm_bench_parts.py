"""`agentrl bench vllm` without an engine: a part that fails is named, and the others keep their figures."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from agentrl.core.interpreter import Interpreter
from agentrl.core.measure import result
from benchmarks import vllm as bench


def test_a_part_that_fails_is_named_beside_the_figures_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def measured(part: str, model: str, quick: bool) -> Any:
        row = result("generation, batch 4", {"ipc": "vLLM"}.get(part, part), "1", [100.0], "tokens/s")
        return [row], "it broke" if part == "vllm-run" else ""

    monkeypatch.setattr(bench, "measured", measured)
    monkeypatch.setattr(bench, "find_interpreter", lambda spec: Interpreter(sys.executable, "vllm", "0.20.2"))
    found = bench.run(quick=True)
    assert len(found["results"]) == len(bench.PARTS) and not found["pass"]
    assert found["peers"]["vllm-run"] == {"installed": False, "version": None, "reason": "it broke"}
    assert {one["case"] for one in found["ratios"]} >= {"generation, batch 4: vLLM beside generation"}
    assert all(one["ratio"] == 1.0 for one in found["ratios"])


def test_a_process_that_dies_is_a_failure_with_its_status(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.sys, "executable", "/bin/false")
    assert bench.measured("generation", "tiny-text", True) == ([], "the process ended with status 1")
