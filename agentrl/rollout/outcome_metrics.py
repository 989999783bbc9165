"""How good a judge of outcomes is: its probabilities beside the true evaluator's word."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from agentrl.rollout.statistics import mean

BINS = 10
THRESHOLD = 0.5
LEAST = 1e-6  # a probability that was 0 or 1 and wrong does not cost infinitely much


@dataclass(frozen=True)
class Bin:
    """Episodes that were given similar probabilities."""

    low: float
    high: float
    count: int
    probability: float | None  # mean of what the judge said
    success: float | None  # share of what was true


@dataclass(frozen=True)
class OutcomeMetrics:
    """Figures of one judge. Those that cannot be told (no episode, or of one class only) are None.

    `ece` is the expected calibration error: how far the probabilities of a bin are from the share of successes in it,
    by mean over episodes. `base_rate` is the accuracy of always naming the more frequent outcome.
    """

    count: int
    unanswered: int
    success: float | None  # share of true successes
    base_rate: float | None
    accuracy: float | None
    balanced_accuracy: float | None
    precision: float | None
    recall: float | None  # of successes
    specificity: float | None  # of failures
    auc: float | None
    brier: float | None
    nll: float | None
    ece: float | None
    confusion: dict[str, int]  # true_yes, false_yes, true_no, false_no
    bins: tuple[Bin, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {**asdict(self), "bins": [asdict(each) for each in self.bins]}


def outcome_metrics(
    probabilities: Sequence[float | None], truth: Sequence[bool], *, threshold: float = THRESHOLD, bins: int = BINS
) -> OutcomeMetrics:
    """Compare; None is an episode that the judge did not answer, which is counted and left out of the rest."""
    pairs = [(p, bool(t)) for p, t in zip(probabilities, truth, strict=True) if p is not None]
    yes, no = [p for p, t in pairs if t], [p for p, t in pairs if not t]
    confusion = {
        "true_yes": sum(p > threshold for p in yes),
        "false_yes": sum(p > threshold for p in no),
        "true_no": sum(p <= threshold for p in no),
        "false_no": sum(p <= threshold for p in yes),
    }
    recall, specificity = _share(confusion["true_yes"], len(yes)), _share(confusion["true_no"], len(no))
    table = reliability(pairs, bins)
    success = _share(len(yes), len(pairs))
    return OutcomeMetrics(
        count=len(pairs),
        unanswered=len(probabilities) - len(pairs),
        success=success,
        base_rate=None if success is None else max(success, 1 - success),
        accuracy=_share(confusion["true_yes"] + confusion["true_no"], len(pairs)),
        balanced_accuracy=None if recall is None or specificity is None else (recall + specificity) / 2,
        precision=_share(confusion["true_yes"], confusion["true_yes"] + confusion["false_yes"]),
        recall=recall,
        specificity=specificity,
        auc=auc(yes, no),
        brier=mean([(p - t) ** 2 for p, t in pairs]),
        nll=mean([-math.log(max(LEAST, p if t else 1 - p)) for p, t in pairs]),
        ece=mean([abs(each.probability - each.success) for each in table for _ in range(each.count)]),  # type: ignore[operator]
        confusion=confusion,
        bins=table,
    )


def reliability(pairs: Sequence[tuple[float, bool]], bins: int = BINS) -> tuple[Bin, ...]:
    """The episodes in `bins` equal parts of the probabilities."""
    inside: list[list[tuple[float, bool]]] = [[] for _ in range(bins)]
    for probability, true in pairs:
        inside[min(bins - 1, int(probability * bins))].append((probability, true))
    return tuple(
        Bin(n / bins, (n + 1) / bins, len(each), mean([p for p, _ in each]), mean([float(t) for _, t in each]))
        for n, each in enumerate(inside)
    )


def auc(yes: Sequence[float], no: Sequence[float]) -> float | None:
    """How often a success has a higher probability than a failure; ties count half."""
    if not yes or not no:
        return None
    ordered = sorted([(p, True) for p in yes] + [(p, False) for p in no])
    won, below, place = 0.0, 0, 0
    while place < len(ordered):
        tied = place
        while tied < len(ordered) and ordered[tied][0] == ordered[place][0]:
            tied += 1
        right = sum(is_yes for _, is_yes in ordered[place:tied])
        wrong = tied - place - right
        won += right * (below + wrong / 2)
        below, place = below + wrong, tied
    return won / (len(yes) * len(no))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
