"""`AuditedJudge`: a second judge looks over the shoulder of the first."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agentrl.core.arguments import finite_number, whole_number
from agentrl.core.claims import Claims
from agentrl.core.errors import ConfigError, Fault, JudgeFault
from agentrl.core.judging import ChecksEnv, Judge, JudgeRequest, Purpose, Verdict
from agentrl.core.redact import redact
from agentrl.core.specs import resolve
from agentrl.core.tally import Tally

Result = Verdict | JudgeFault


class AuditedJudge:
    """Scores with `judge`; `auditor` scores a sample again, and both scores are there to be seen.

    The sample depends on the seed and on each request alone, so the same requests are audited in every run, whatever
    the batches. An audit never changes a score; each audited verdict carries it as `evidence["audit"]`. An auditor
    that fails is counted (`audit_faults`) and never costs a verdict.
    """

    def __init__(
        self,
        judge: Any,
        auditor: Any = "rule",
        *,
        fraction: float = 0.1,
        seed: int = 0,
        threshold: float = 0.5,
    ) -> None:
        self.fraction = finite_number("fraction", fraction)
        self.threshold = finite_number("threshold", threshold)
        if not 0 <= self.fraction <= 1 or not 0 <= self.threshold <= 1:
            raise ConfigError("fraction and threshold must lie between 0 and 1")
        self.seed = whole_number("seed", seed, at_least=0)
        self.judge: Judge = resolve("judge", judge)
        self.auditor: Judge = resolve("judge", auditor)
        self._guard = threading.Lock()
        self._overall = Tally(self.threshold)
        self._by_purpose: dict[str, Tally] = defaultdict(lambda: Tally(self.threshold))
        self._faults = 0

    @property
    def usage(self) -> Any:
        """What the audited judge has spent; None if it does not count."""
        return getattr(self.judge, "usage", None)

    async def score(self, requests: Sequence[JudgeRequest]) -> list[Result]:
        """The judge's verdicts, the sampled ones with an audit."""
        results = list(await self.judge.score(requests))
        chosen = self._chosen(requests, results)
        try:
            audits = await self.auditor.score([requests[index] for index in chosen]) if chosen else []
        except Exception as error:
            audits = _all_failed(chosen, error)
        return self._compare(requests, results, chosen, audits)

    def score_sync(self, requests: Sequence[JudgeRequest]) -> list[Result]:
        """The same for callers without an event loop."""
        results = list(self.judge.score_sync(requests))
        chosen = self._chosen(requests, results)
        try:
            audits = self.auditor.score_sync([requests[index] for index in chosen]) if chosen else []
        except Exception as error:
            audits = _all_failed(chosen, error)
        return self._compare(requests, results, chosen, audits)

    def check_env(self, env_id: str, claims: Claims | None, representation: str, purposes: Sequence[Purpose]) -> None:
        """Refuse what the judge or the auditor refuses."""
        for role, judge in (("judge", self.judge), ("auditor", self.auditor)):
            if isinstance(judge, ChecksEnv):
                try:
                    judge.check_env(env_id, claims, representation, purposes)
                except ConfigError as error:
                    raise ConfigError(f"{role} of judge 'audited': {error}") from None

    def metrics(self) -> dict[str, Any]:
        """Tally overall and by purpose, failed audits, and the judge's own metrics."""
        own: Any = getattr(self.judge, "metrics", None)
        with self._guard:
            figures: dict[str, Any] = {**self._overall.to_json(), "audit_faults": self._faults}
            for purpose, agreement in sorted(self._by_purpose.items()):
                figures |= {f"{purpose}/{name}": value for name, value in agreement.to_json().items()}
        return figures | ({f"judge/{name}": value for name, value in own().items()} if own is not None else {})

    def to_json(self) -> dict[str, Any]:
        """A spec that builds this judge again, where both judges have one."""
        settings = {"fraction": self.fraction, "seed": self.seed, "threshold": self.threshold}
        return {"kind": "audited", "judge": _spec(self.judge), "auditor": _spec(self.auditor), **settings}

    def close(self) -> None:
        """Close both judges."""
        for each in (self.judge, self.auditor):
            if callable(close := getattr(each, "close", None)):
                close()

    # ------------------------------------------------------------------ auditing

    def _chosen(self, requests: Sequence[JudgeRequest], results: list[Result]) -> list[int]:
        if len(results) != len(requests):
            raise JudgeFault(f"the judge gave {len(results)} results for {len(requests)} requests")
        chosen = []
        for index, (request, result) in enumerate(zip(requests, results, strict=True)):
            mark = json.dumps([self.seed, request.id, request.env_id, request.purpose, str(request.text)])
            draw = int.from_bytes(hashlib.sha256(mark.encode("utf-8", "surrogatepass")).digest()[:8], "big")
            if isinstance(result, Verdict) and draw < self.fraction * 2.0**64:
                chosen.append(index)
        return chosen

    def _compare(
        self, requests: Sequence[JudgeRequest], results: list[Result], chosen: list[int], audits: Sequence[Result]
    ) -> list[Result]:
        if len(audits) != len(chosen):
            audits = _all_failed(chosen, JudgeFault(f"{len(audits)} audits for {len(chosen)} requests"))
        for index, audit in zip(chosen, audits, strict=True):
            verdict = results[index]
            assert isinstance(verdict, Verdict)
            with self._guard:
                if isinstance(audit, Verdict):
                    agrees = self._overall.add(verdict.score, audit.score)
                    self._by_purpose[requests[index].purpose].add(verdict.score, audit.score)
                    note = {"score": audit.score, "method": audit.method, "agrees": agrees}
                    note["difference"] = abs(verdict.score - audit.score)
                else:
                    self._faults += 1
                    note = {"fault": redact(str(audit))}
            results[index] = replace(verdict, evidence={**verdict.evidence, "audit": note})
        return results


def _all_failed(chosen: list[int], error: Exception) -> list[Result]:
    fault = error if isinstance(error, Fault) else JudgeFault(redact(f"{type(error).__name__}: {error}")[:300])
    return [JudgeFault(str(fault)) for _ in chosen]


def _spec(judge: Any) -> Any:
    """The JSON form of a judge: its own, or its class if that can be built without arguments."""
    if callable(to_json := getattr(judge, "to_json", None)):
        return to_json()
    return f"{type(judge).__module__}:{type(judge).__qualname__}"
