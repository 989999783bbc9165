"""The verbs that know vLLM: eval and bench engine."""

from __future__ import annotations

import json

import pytest

from agentrl.cli.main import main
from agentrl.models import resolve_model
from benchmarks import generation as bench

pytestmark = pytest.mark.vllm


def test_eval_plays_with_a_model_in_vllm(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["eval", "agentrl/FrozenLake-Text-v0", "--policy", f"vllm:{resolve_model('tiny-text')}", "--episodes", "8"]
    options = '{"max_model_len": 1024, "top_p": 0.9}'
    assert main([*words, "--max-new-tokens", "4", "--policy-kwargs", options, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["policy"].startswith("vllm:") and found["faults"] == 0 and found["metrics"]["scored"] == 8


def test_bench_engine_compares_both_policies_and_times_an_update(monkeypatch, capsys) -> None:
    monkeypatch.setattr(bench, "BATCHES", {"cpu": (4,), "cuda": (4,)})
    monkeypatch.setattr(bench, "LONGEST", 6)
    assert main(["bench", "engine", "--quick", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    rows = {(row["case"], row["impl"]): row for row in found["results"]}
    ours, theirs = rows["generation, batch 4", "agentrl vllm"], rows["generation, batch 4", "agentrl hf"]
    assert ours["unit"] == theirs["unit"] == "tokens/s" and ours["value"] > 0
    assert found["ratios"][0]["ratio"] == ours["value"] / theirs["value"]
    assert 0 < rows["weight update", "vLLM"]["value"] < 60
    assert found["pass"] and rows["largest difference of a log-probability", "vLLM"]["value"] < 1e-4
    assert found["peers"]["vllm"]["version"]
