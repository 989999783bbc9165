"""At which points a text says that named things are, and how many of them are right."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from agentrl.core.claims import Points
from agentrl.core.errors import JudgeFault
from agentrl.judges.english import chunks_of
from agentrl.judges.grammar.coordinates import MAX_NAMES, Point, PointReader, point_vocabulary, with_numbered_points
from agentrl.judges.grammar.discourse import Discourse
from agentrl.judges.grammar.facts import Facts
from agentrl.judges.grammar.tokens import MAX_CHARACTERS

ROUNDING = 1e-9  # a difference of exactly the tolerance is within it, whatever floating point makes of it
NamedPoints = tuple[tuple[str, Point], ...]


def true_points(declared: Points, facts: Mapping[str, Any]) -> dict[str, Point]:
    """Name -> point of every thing of a state; `JudgeFault` if there is none or one is not a point."""
    keys = [key for key in facts if isinstance(key, str) and key.endswith(declared.ending) and key != declared.ending]
    if not keys:
        raise JudgeFault(f"the state has no key that ends in {declared.ending}")
    return {key.removesuffix(declared.ending): _point(key, facts[key]) for key in keys[:MAX_NAMES]}


def read_points(text: str, declared: Points, names: tuple[str, ...], prediction: bool) -> NamedPoints:
    """Everything a text says about where the things of these names are, or will be."""
    text, points = with_numbered_points(text[:MAX_CHARACTERS], prediction)
    if not points:
        return ()
    vocabulary = point_vocabulary(declared, names, prediction)
    people, facts = Discourse(vocabulary), Facts()
    reader = PointReader(prediction, people, facts)
    reader.read(chunks_of(text, vocabulary))
    points.append(())  # of `NOWHERE`: no point is near it
    said = [(people.classes[figure], points[number]) for figure, number in reader.said if number < len(points)]
    return tuple((name, point) for name, point in said if name in names)


remembered_points = lru_cache(maxsize=2048)(read_points)


def score_points(
    declared: Points, said: Iterable[tuple[str, Point]], true: Mapping[str, Point]
) -> tuple[float, dict[str, Any]]:
    """The share of the things that are right, and how it came about.

    A thing counts when every point that was named for it is right: naming several to choose from earns nothing.
    """
    claimed: dict[str, list[Point]] = {}
    for name, point in said:
        if name in true and point not in (points := claimed.setdefault(name, [])):
            points.append(point)
    right = [name for name, points in claimed.items() if all(_near(each, true[name], declared) for each in points)]
    evidence = {
        "claimed": {name: [list(point) for point in points] for name, points in claimed.items()},
        "true": {name: list(point) for name, point in true.items()},
        "right": right,
        "wrong": [name for name in claimed if name not in right],
    }
    return len(right) / len(true), evidence


def _near(claimed: Point, true: Point, declared: Points) -> bool:
    pairs = zip(claimed, true, strict=False)
    return len(claimed) == len(true) and all(abs(a - b) <= declared.tolerance + ROUNDING for a, b in pairs)


def _point(key: str, value: Any) -> Point:
    numbers = isinstance(value, (list, tuple)) and [type(part) in (int, float) for part in value] == [True] * 3
    if not numbers or not all(math.isfinite(part) for part in value):
        raise JudgeFault(f"{key} must be three numbers; got {value!r:.60}")
    return tuple(float(part) for part in value)
