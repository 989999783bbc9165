"""How a verdict becomes a reward term: the same arithmetic during an episode and when it is settled later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def repetition_term(facts: Mapping[str, Any], verdicts: Mapping[str, Mapping[str, Any]]) -> tuple[float | None, bool]:
    """(value of the term `repetition` or None, does it still wait for a verdict?).

    `facts` are those of `RepetitionPenalty`: which terms' descriptions were frequent, the threshold and the penalty.
    One frequent description that is known to be wrong decides, whatever the others turn out to be.
    """
    frequent = facts.get("frequent", [])
    if any(term in verdicts and verdicts[term]["score"] < facts["threshold"] for term in frequent):
        return float(facts["penalty"]), False
    return None, any(term not in verdicts for term in frequent)


def outcome_term(weight: float, score: float, threshold: float | None) -> float:
    """What a verdict about an outcome pays: by the probability, or all of it above the threshold."""
    return weight * (score if threshold is None else float(score > threshold))
