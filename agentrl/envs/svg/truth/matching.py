"""How much of a drawing's structure is right: element-level F1 between two lists of shapes.

Two shapes agree in four respects: kind, colour, position and size. Each earns a quarter, in full within its tolerance
and falling to nothing at four times of it, so that a nearer drawing never scores less. Shapes are paired one to one,
the best pairs first; a pair that agrees in less than six tenths is none: a box at the right place alone does not
count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agentrl.envs.svg.truth.colours import distance, from_hexadecimal
from agentrl.envs.svg.truth.shapes import Shape

COLOUR_TOLERANCE = 0.06  # of the largest distance there is
PLACE_TOLERANCE = 3.0  # hundredths of the canvas
SIZE_TOLERANCE = 4.0
REACH = 4  # tolerances until nothing is left
LEAST_AGREEMENT = 0.6
# Ways to say the same thing earn half of the quarter for the kind.
FAMILIES = ({"circle", "ellipse"}, {"rect", "polygon"}, {"line", "polyline"}, {"polygon", "path"}, {"polyline", "path"})


@dataclass(frozen=True)
class StructureScore:
    """Graded precision, recall and their harmonic mean."""

    precision: float
    recall: float
    f1: float


def structure_score(target: Sequence[Shape], drawing: Sequence[Shape]) -> StructureScore:
    """How well the elements of a drawing agree with those of the target; two empty lists agree."""
    if not target or not drawing:
        both = float(not target and not drawing)
        return StructureScore(both, both, both)
    total = _paired(agreements(target, drawing))
    precision, recall = total / len(drawing), total / len(target)
    f1 = 2 * total / (len(drawing) + len(target))
    return StructureScore(precision, recall, f1)


def agreements(target: Sequence[Shape], drawing: Sequence[Shape]) -> np.ndarray:
    """How far each shape of the target agrees with each of the drawing: [target, drawing] in [0, 1]."""
    place = _gap(target, drawing, ("x", "y"))
    size = _gap(target, drawing, ("width", "height"))
    parts = (_same_kind(target, drawing), _same_colour(target, drawing))
    return np.mean([*parts, _credit(place, PLACE_TOLERANCE), _credit(size, SIZE_TOLERANCE)], axis=0)


def _credit(gap: np.ndarray, tolerance: float) -> np.ndarray:
    return np.clip(1 - (gap - tolerance) / ((REACH - 1) * tolerance), 0, 1)


def _gap(target: Sequence[Shape], drawing: Sequence[Shape], names: tuple[str, str]) -> np.ndarray:
    """The larger of the differences in two respects."""
    first, second = (
        np.array([[getattr(shape, name) for name in names] for shape in shapes]) for shapes in (target, drawing)
    )
    return np.abs(first[:, None] - second[None]).max(axis=2)


def _same_kind(target: Sequence[Shape], drawing: Sequence[Shape]) -> np.ndarray:
    table = {(a, b): _kinds_agree(a, b) for a in {s.kind for s in target} for b in {s.kind for s in drawing}}
    return np.array([[table[one.kind, other.kind] for other in drawing] for one in target])


def _kinds_agree(one: str, other: str) -> float:
    if one == other:
        return 1.0
    return 0.5 if any({one, other} <= family for family in FAMILIES) else 0.0


def _same_colour(target: Sequence[Shape], drawing: Sequence[Shape]) -> np.ndarray:
    """The mean over fill and stroke, where at least one of the two shapes is painted so."""
    paints = {(s.fill, s.stroke) for s in target}, {(s.fill, s.stroke) for s in drawing}
    table = {(a, b): _paints_agree(a, b) for a in paints[0] for b in paints[1]}
    return np.array([[table[(a.fill, a.stroke), (b.fill, b.stroke)] for b in drawing] for a in target])


def _paints_agree(one: tuple[str | None, str | None], other: tuple[str | None, str | None]) -> float:
    gaps = [_paint_gap(a, b) for a, b in zip(one, other, strict=True) if a is not None or b is not None]
    return float(np.mean(_credit(np.array(gaps), COLOUR_TOLERANCE)))  # what is visible is painted somehow


def _paint_gap(one: str | None, other: str | None) -> float:
    if one is None or other is None:  # paint where there should be none is as wrong as the opposite colour
        return 1.0
    return distance(from_hexadecimal(one), from_hexadecimal(other))


def _paired(scores: np.ndarray) -> float:
    """The sum over pairs, chosen greedily; equal ones in reading order, so that the result is always the same."""
    order = np.argsort(-scores, axis=None, kind="stable")
    rows, columns, total = set(), set(), 0.0
    for flat in order.tolist():
        row, column = divmod(flat, scores.shape[1])
        if scores[row, column] < LEAST_AGREEMENT or len(rows) == min(scores.shape):
            break
        if row not in rows and column not in columns:
            rows.add(row)
            columns.add(column)
            total += float(scores[row, column])
    return total
