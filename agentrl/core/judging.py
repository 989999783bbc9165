"""What judges and scorers are: the protocols that wrappers and environments receive and `agentrl.judges` implements."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from agentrl.core.claims import Claims
from agentrl.core.errors import ConfigError, JudgeFault
from agentrl.core.state import State

Purpose = Literal["grounding", "worldmodeling", "outcome", "answer"]
NAME = re.compile(r"\w[\w.-]{0,63}")


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
class ChecksEnv(Protocol):
    """A judge that says in advance what it cannot score; judges without this method are accepted everywhere."""

    def check_env(
        self, env_id: str, claims: Claims | None, representation: str, purposes: Sequence[Purpose]
    ) -> None: ...


@runtime_checkable
class Scorer(Protocol):
    """Says how alike two pictures (uint8 [height, width, 3]) are, many pairs at once. An outage raises `JudgeFault`.

    The first picture of a pair is the target. A scorer may have a `name`, which metrics use: see `scorer_name`.
    """

    def score_pairs(self, pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> list[float]: ...


class NamedScorer(Scorer, Protocol):
    """A scorer that says what metrics call it. Scores under one name can be compared; those under two never mix."""

    @property
    def name(self) -> str: ...


def scorer_name(scorer: Scorer) -> str:
    """The scorer's own `name`, or else the name of its class; `ConfigError` for what no metric could be called."""
    name = getattr(scorer, "name", None)
    if name is None:
        return type(scorer).__name__
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ConfigError(
            f"the name of the scorer {type(scorer).__name__} must be letters, digits, '_', '-' and '.'; got {name!r}"
        )
    return name
