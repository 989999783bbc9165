"""What judges and scorers are: the protocols that wrappers and environments receive and `agentrl.judges` implements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from agentrl.core.errors import JudgeFault
from agentrl.core.state import State

Purpose = Literal["grounding", "worldmodeling", "outcome", "answer"]


@dataclass(frozen=True)
class JudgeRequest:
    """One thing to be judged: a text about a state, or an outcome."""

    id: str
    env_id: str
    purpose: Purpose
    text: str
    state: State | dict[str, Any]
    representation: str = "natural"


@dataclass(frozen=True)
class Verdict:
    """A score in [0, 1] and how it came about."""

    score: float
    method: str
    evidence: dict[str, Any] = field(default_factory=dict)
    cost: float = 0.0


@runtime_checkable
class Judge(Protocol):
    """Scores requests in bulk. An outage is a `JudgeFault` in the list, never a score."""

    async def score(self, requests: Sequence[JudgeRequest]) -> list[Verdict | JudgeFault]: ...

    def score_sync(self, requests: Sequence[JudgeRequest]) -> list[Verdict | JudgeFault]: ...


@runtime_checkable
class Scorer(Protocol):
    """Says how alike two pictures (uint8 [height, width, 3]) are, many pairs at once. An outage raises `JudgeFault`."""

    def score_pairs(self, pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> list[float]: ...
