"""An audit is a deterministic sample, changes no score, and its figures are right."""

from __future__ import annotations

import asyncio

import pytest

from agentrl.core.errors import ConfigError, JudgeFault
from agentrl.core.judging import Judge, JudgeRequest, Verdict
from agentrl.core.specs import resolve
from agentrl.judges.ensemble import AuditedJudge


class Reader:
    """Reads its score out of the text: "0.2|0.9" is 0.2 for the first judge and 0.9 for the second."""

    def __init__(self, place: int = 0) -> None:
        self.place, self.seen = place, []

    async def score(self, requests):
        return self.score_sync(requests)

    def score_sync(self, requests):
        self.seen += [request.id for request in requests]
        words = [request.text.split("|")[self.place] for request in requests]
        return [JudgeFault("no idea") if word == "?" else Verdict(float(word), f"reader{self.place}") for word in words]


class Raiser(Reader):
    def score_sync(self, requests):
        raise RuntimeError("broken auditor")


def requests(*texts: str, purpose="grounding") -> list[JudgeRequest]:
    return [JudgeRequest(str(i), "e", purpose, text, {}) for i, text in enumerate(texts)]


def test_the_sample_is_the_same_in_every_run_and_batch():
    many = requests(*["1|1"] * 2000)
    first, second, other = (AuditedJudge(Reader(), Reader(1), fraction=0.1, seed=seed) for seed in (3, 3, 4))
    first.score_sync(many)
    for start in range(0, 2000, 7):
        second.score_sync(many[start : start + 7])
    other.score_sync(many)
    assert first.auditor.seen == second.auditor.seen != other.auditor.seen
    assert 140 <= len(first.auditor.seen) <= 260


@pytest.mark.parametrize(("fraction", "audited"), [(0.0, 0), (1.0, 50)])
def test_none_and_all(fraction, audited):
    judge = AuditedJudge(Reader(), Reader(1), fraction=fraction)
    results = judge.score_sync(requests(*["1|1"] * 50))
    assert judge.metrics()["audited"] == audited == sum("audit" in each.evidence for each in results)


def test_scores_are_the_judges_own_and_evidence_shows_the_audit():
    judge = AuditedJudge(Reader(), Reader(1), fraction=1)
    results = asyncio.run(judge.score(requests("1|0.2", "0.3|0.4", "?|1", "1|?")))
    assert [getattr(each, "score", None) for each in results] == [1.0, 0.3, None, 1.0]
    assert results[0].evidence["audit"] == {
        "score": 0.2,
        "method": "reader1",
        "agrees": False,
        "difference": pytest.approx(0.8),
    }
    assert results[1].evidence["audit"]["agrees"] is True
    assert isinstance(results[2], JudgeFault)
    assert results[3].evidence["audit"] == {"fault": "no idea"}
    metrics = judge.metrics()
    assert metrics["audited"] == 2 and metrics["disagreements"] == 1 and metrics["audit_faults"] == 1
    assert metrics["agreement"] == 0.5
    assert metrics["mean_abs_difference"] == pytest.approx(0.45)
    assert metrics["grounding/audited"] == 2


def test_a_broken_auditor_costs_nobody_a_verdict():
    judge = AuditedJudge(Reader(), Raiser(), fraction=1)
    results = judge.score_sync(requests("1|1", "0|1"))
    assert [each.score for each in results] == [1.0, 0.0]
    assert judge.metrics()["audit_faults"] == 2
    assert "broken auditor" in results[0].evidence["audit"]["fault"]


def test_a_spec_holds_other_specs():
    spec = {"kind": "audited", "judge": {"kind": "llm", "model": "m", "base_url": "http://localhost:1/v1"}, "seed": 5}
    judge = resolve("judge", spec)
    assert isinstance(judge, Judge) and judge.judge.model == "m" and type(judge.auditor).__name__ == "RuleJudge"
    again = resolve("judge", judge.to_json())
    assert again.to_json() == judge.to_json()
    assert judge.metrics()["judge/calls"] == 0 and judge.usage.calls == 0
    judge.close()


@pytest.mark.parametrize("arguments", [{"fraction": 1.1}, {"fraction": -0.1}, {"seed": -1}, {"threshold": 2}])
def test_wrong_arguments_are_refused(arguments):
    with pytest.raises(ConfigError):
        AuditedJudge("rule", "rule", **arguments)
