"""Asking a judge so that the answer can be trusted: one per request, a checked verdict or a `JudgeFault`.

Judges may be third-party code and remote servers. Whatever they do wrong (raise, answer too few, a score of NaN) is a
`JudgeFault`: it leaves a term pending and is never turned into a score.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

from agentrl.core.errors import AgentRLError, Fault, JudgeFault
from agentrl.core.judging import Judge, JudgeRequest, Verdict
from agentrl.core.secrecy import scrub

Answer = Verdict | JudgeFault


def ask(judge: Judge, requests: Sequence[JudgeRequest]) -> list[Answer]:
    """One answer for each request, in order. Only wrong configuration (`ConfigError`, `MissingExtra`) raises."""
    if not requests:
        return []
    try:
        answers = judge.score_sync(requests)
    except Exception as error:
        if isinstance(error, AgentRLError) and not isinstance(error, Fault):
            raise  # wrong configuration: for the user to change
        fault = JudgeFault(scrub(f"the judge raised {type(error).__name__}: {error}"))
        return [error if isinstance(error, JudgeFault) else fault] * len(requests)
    if not isinstance(answers, Sequence) or len(answers) != len(requests):
        count = len(answers) if isinstance(answers, Sequence) else type(answers).__name__
        return [JudgeFault(f"the judge answered {len(requests)} requests with {count}")] * len(requests)
    return [_checked(answer) for answer in answers]


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """A verdict as `info` carries it. Not redacted yet: evidence is large, and the writer of a file does that."""
    return {"score": verdict.score, "method": verdict.method, "evidence": verdict.evidence, "cost": verdict.cost}


def fault_json(fault: Fault) -> dict[str, str]:
    """A fault as a record keeps it: a message of a client library may quote its own headers."""
    return scrub(fault.to_json())


def _checked(answer: Any) -> Answer:
    if isinstance(answer, JudgeFault):
        return answer
    if not isinstance(answer, Verdict):
        return JudgeFault(f"the judge answered with {type(answer).__name__} instead of a verdict")
    score = answer.score
    if isinstance(score, bool) or not isinstance(score, Real) or not 0 <= score <= 1 or not math.isfinite(score):
        return JudgeFault(f"a score must lie between 0 and 1; got {score!r}")
    evidence = dict(answer.evidence) if isinstance(answer.evidence, Mapping) else {}
    return replace(answer, score=float(score), evidence=evidence)
