"""Which judge works with which states: what the refusals of `check_env` share."""

from __future__ import annotations

from collections.abc import Sequence

from agentrl.core.claims import Claims
from agentrl.core.errors import ConfigError
from agentrl.core.judging import Purpose

DESCRIPTIONS = ("grounding", "worldmodeling")


def what_works(claims: Claims | None) -> str:
    """The end of a refusal: what to use instead."""
    structured = "judge='structured' with representation='structured'"
    if claims is not None and claims.relations is not None:
        return "use judge='rule'" + (f", or {structured}" if claims.values else "")
    if claims is not None and claims.values:
        return f"use {structured}"
    return "use judge={'kind': 'llm', 'model': ...}, or declare claims in the class of the states"


def check_purposes(kind: str, purposes: Sequence[Purpose]) -> None:
    """Refuse all but descriptions and predictions."""
    for purpose in purposes:
        if purpose not in DESCRIPTIONS:
            raise ConfigError(f"judge {kind!r} scores {' and '.join(DESCRIPTIONS)}; got {purpose!r}")
