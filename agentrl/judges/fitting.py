"""Which judge works with which states: what the refusals of `check_env` share."""

from __future__ import annotations

from collections.abc import Sequence

from agentrl.core.claims import Claims
from agentrl.core.errors import ConfigError
from agentrl.core.judging import Purpose

DESCRIPTIONS = ("grounding", "worldmodeling")


def is_readable(claims: Claims) -> bool:
    """Is something declared that can be read out of free text?"""
    return any(part is not None for part in (claims.relations, claims.bearing, claims.points))


def has_values(claims: Claims) -> bool:
    """Is something declared that can be compared key by key?"""
    return bool(claims.values) or claims.points is not None


def what_works(claims: Claims | None) -> str:
    """The end of a refusal: what to use instead."""
    structured = "judge='structured' with representation='structured'"
    if claims is not None and is_readable(claims):
        return "use judge='rule'" + (f", or {structured}" if has_values(claims) else "")
    if claims is not None and has_values(claims):
        return f"use {structured}"
    return "use judge={'kind': 'llm', 'model': ...}, or declare claims in the class of the states"


def check_purposes(kind: str, purposes: Sequence[Purpose]) -> None:
    """Refuse all but descriptions and predictions."""
    for purpose in purposes:
        if purpose not in DESCRIPTIONS:
            raise ConfigError(f"judge {kind!r} scores {' and '.join(DESCRIPTIONS)}; got {purpose!r}")
