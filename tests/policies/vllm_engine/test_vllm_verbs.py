"""The verbs that know vLLM: eval and bench vllm."""

from __future__ import annotations

import json

import pytest

from agentrl.cli.main import main
from agentrl.models import resolve_model
from benchmarks import vllm_parts

pytestmark = pytest.mark.vllm


def test_eval_plays_with_a_model_in_vllm(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["eval", "agentrl/FrozenLake-Text-v0", "--policy", f"vllm:{resolve_model('tiny-text')}", "--episodes", "8"]
    options = '{"max_model_len": 1024, "top_p": 0.9}'
    assert main([*words, "--max-new-tokens", "4", "--policy-kwargs", options, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["policy"].startswith("vllm:") and found["faults"] == 0 and found["metrics"]["scored"] == 8


def test_a_part_of_the_benchmark_compares_speed_and_log_probabilities_and_times_updates(monkeypatch) -> None:
    for name, value in {"ROWS": {"cpu": (4,)}, "COMPARED": {"cpu": 4}, "MAX_LENGTH": 6, "CONTEXT": 512}.items():
        monkeypatch.setattr(vllm_parts, name, value)
    table = vllm_parts.Table()
    vllm_parts.generation("tiny-text", True, table)
    rows = {(row["case"], row["impl"]): row for row in table.rows}
    for impl in ("vLLM", "our decoder", "generate"):
        speed = rows["generation, batch 4", impl]
        assert speed["unit"] == "tokens/s" and speed["value"] > 0 and speed["version"]
    assert 0 < rows["update by file", "vLLM"]["value"] < 60
    for when in ("", " after updates by file"):
        assert rows[f"log-probabilities{when}, largest difference from the trainer's", "vLLM"]["value"] < 1e-4
    assert rows["updates by file moved log-probabilities by", "vLLM"]["value"] > 0.01
