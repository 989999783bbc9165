"""Asking judges: one checked answer a request, whatever the judge does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agentrl.core.errors import ConfigError, JudgeFault, WorkerFault
from agentrl.core.judging import JudgeRequest, Verdict
from agentrl.core.settling import repetition_term
from agentrl.core.verdicts import ask, fault_json

REQUESTS = [JudgeRequest(str(i), "e", "grounding", "text", {}) for i in range(3)]


class Scripted:
    """Answers with the given thing, or raises it."""

    def __init__(self, answers: Any) -> None:
        self.answers, self.asked = answers, 0

    def score_sync(self, requests: Any) -> Any:
        self.asked += 1
        if isinstance(self.answers, BaseException):
            raise self.answers
        return self.answers

    async def score(self, requests: Any) -> Any:
        return self.score_sync(requests)


def test_good_answers_come_through_in_order() -> None:
    fault = JudgeFault("busy")
    found = ask(Scripted((Verdict(np.float32(0.5), "m"), fault, Verdict(1, "m", None))), REQUESTS)
    assert found == [Verdict(0.5, "m"), fault, Verdict(1.0, "m")]
    assert [type(found[0].score), type(found[2].score), found[2].evidence] == [float, float, {}]


@pytest.mark.parametrize("answers", [None, "abc", 3, [], [Verdict(1, "m")] * 4, {"a": 1, "b": 2, "c": 3}, iter([])])
def test_a_wrong_number_or_kind_of_answers_is_a_fault_for_every_request(answers: Any) -> None:
    found = ask(Scripted(answers), REQUESTS)
    assert len(found) == 3 and all(isinstance(answer, JudgeFault) for answer in found)


@pytest.mark.parametrize("error", [OSError("down"), WorkerFault("died", "died"), JudgeFault("x"), TimeoutError()])
def test_whatever_a_judge_raises_is_a_fault(error: Exception) -> None:
    assert all(isinstance(answer, JudgeFault) for answer in ask(Scripted(error), REQUESTS))


def test_wrong_configuration_and_interruptions_go_up() -> None:
    for error in (ConfigError("model"), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            ask(Scripted(error), REQUESTS)


def test_nobody_is_asked_nothing() -> None:
    judge = Scripted([])
    assert ask(judge, []) == [] and judge.asked == 0


def test_faults_are_recorded_without_keys() -> None:
    assert "canary" not in str(fault_json(JudgeFault("header: Bearer canary-4711-canary")))


@pytest.mark.parametrize(
    ("frequent", "scores", "value", "waits"),
    [
        ([], {"a": 0.0}, None, False),
        (["a"], {}, None, True),
        (["a"], {"a": 0.69}, -0.1, False),
        (["a"], {"a": 0.7}, None, False),
        (["a", "b"], {"a": 0.1}, -0.1, False),
        (["a", "b"], {"a": 0.9}, None, True),
    ],
)
def test_when_repetition_costs(frequent: list[str], scores: dict[str, float], value: Any, waits: bool) -> None:
    facts = {"frequent": frequent, "threshold": 0.7, "penalty": -0.1}
    assert repetition_term(facts, {term: {"score": score} for term, score in scores.items()}) == (value, waits)
