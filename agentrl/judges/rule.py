"""The rule judge: reads positions out of a text and compares them with the truth. No model, microseconds."""

from __future__ import annotations

from collections.abc import Sequence

from agentrl.core.errors import JudgeFault
from agentrl.core.judging import JudgeRequest, Verdict


class RuleJudge:
    """Scores descriptions of grid states by the relations they claim."""

    async def score(self, requests: Sequence[JudgeRequest]) -> list[Verdict | JudgeFault]:
        """The same as `score_sync`: there is nothing to wait for."""
        return self.score_sync(requests)

    def score_sync(self, requests: Sequence[JudgeRequest]) -> list[Verdict | JudgeFault]:
        """One verdict a request; a request that these rules cannot judge gets a `JudgeFault`."""
        return [JudgeFault("not written yet") for _ in requests]
