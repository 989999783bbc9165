"""How far do two judges agree? Figures over pairs of scores, and the pairs out of trajectories."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from agentrl.core.arguments import finite_number
from agentrl.core.judging import Judge, Verdict
from agentrl.core.tally import Tally
from agentrl.core.verdicts import Answer, ask
from agentrl.rollout.judging import BATCH, StoredRequest, judging_of
from agentrl.rollout.trajectory import Trajectory

log = logging.getLogger(__name__)

Pair = tuple[float, float]


@dataclass(frozen=True)
class Agreement:
    """Figures over the pairs that both judges scored; None where nothing can be said.

    `rate` and `kappa` compare the decisions "at least `threshold`"; kappa (Cohen's) is what is left of the rate once
    chance is taken out, and undefined where chance alone already explains everything.
    """

    pairs: int
    missing: int  # at least one judge gave no verdict: compared nowhere
    threshold: float
    rate: float | None
    mean_difference: float | None  # absolute
    correlation: float | None  # Pearson's
    kappa: float | None
    means: Pair | None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {**asdict(self), "means": None if self.means is None else list(self.means)}


def agreement(pairs: Sequence[Pair], threshold: float = 0.5, missing: int = 0) -> Agreement:
    """All figures over pairs of scores."""
    threshold = finite_number("threshold", threshold)
    if not pairs:
        return Agreement(0, missing, threshold, None, None, None, None, None)
    tally = Tally(threshold)
    for first, second in pairs:
        tally.add(first, second)
    n = len(pairs)
    return Agreement(
        pairs=n,
        missing=missing,
        threshold=threshold,
        rate=tally.rate,
        mean_difference=tally.mean_difference,
        correlation=correlation(pairs),
        kappa=tally.kappa,
        means=(math.fsum(first for first, _ in pairs) / n, math.fsum(second for _, second in pairs) / n),
    )


def correlation(pairs: Sequence[Pair]) -> float | None:
    """Pearson's; None where a judge gave every item the same score."""
    n = len(pairs)
    if n < 2 or any(len({pair[side] for pair in pairs}) == 1 for side in (0, 1)):
        return None
    means = [math.fsum(pair[side] for pair in pairs) / n for side in (0, 1)]
    spread = [math.sqrt(math.fsum((pair[side] - means[side]) ** 2 for pair in pairs)) for side in (0, 1)]
    shared = math.fsum((first - means[0]) * (second - means[1]) for first, second in pairs)
    if not spread[0] * spread[1]:
        return None
    return max(-1.0, min(1.0, shared / (spread[0] * spread[1])))


# ---------------------------------------------------------------------- pairs out of trajectories


def distinct_requests(trajectories: Sequence[Trajectory]) -> dict[str, StoredRequest]:
    """Every different thing that was asked, by content: what was said a thousand times must not decide alone."""
    found: dict[str, StoredRequest] = {}
    for trajectory in trajectories:
        for step in trajectory.steps:
            for stored in judging_of(step).judge_requests:
                found.setdefault(stored.content, stored)
    return found


def recorded_scores(trajectories: Sequence[Trajectory]) -> dict[str, float]:
    """The scores the file itself holds, by content of the request."""
    scores: dict[str, float] = {}
    for trajectory in trajectories:
        for step in trajectory.steps:
            judging = judging_of(step)
            for stored in judging.judge_requests:
                if stored.term in judging.verdicts:
                    scores[stored.content] = judging.verdicts[stored.term].score
    return scores


def scores_by(judge: Judge, requests: dict[str, StoredRequest]) -> dict[str, float]:
    """What a judge gives each request; those it fails on are left out."""
    asked, answers = list(requests.values()), list[Answer]()
    for start in range(0, len(asked), BATCH):
        answers += ask(judge, [stored.to_request() for stored in asked[start : start + BATCH]])
    if (fault := next((said for said in answers if not isinstance(said, Verdict)), None)) is not None:
        log.warning("a judge that is compared gave no verdict: %s", fault)
    return {key: said.score for key, said in zip(requests, answers, strict=True) if isinstance(said, Verdict)}


def compare(
    requests: dict[str, StoredRequest], first: dict[str, float], second: dict[str, float], threshold: float
) -> dict[str, Agreement]:
    """Agreement over everything ("all") and for each purpose."""
    groups: dict[str, list[str]] = {"all": list(requests)}
    for key, stored in requests.items():
        groups.setdefault(stored.purpose, []).append(key)
    found = {}
    for name, keys in groups.items():
        pairs = [(first[key], second[key]) for key in keys if key in first and key in second]
        found[name] = agreement(pairs, threshold, missing=len(keys) - len(pairs))
    return found
