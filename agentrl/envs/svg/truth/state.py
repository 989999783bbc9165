"""The truth of the task: what target and drawing show, and how far their elements agree.

Two shapes agree in four respects: kind, colour, position and size. Each earns a quarter, in full within its tolerance
and falling to nothing at four times of it, so that a nearer drawing never scores less. Shapes are paired one to one,
the best pairs first; a pair that agrees in less than six tenths is none: a box at the right place alone does not
count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agentrl.core.claims import Claims, Value
from agentrl.core.state import State
from agentrl.envs.svg.truth.shapes import Shape, colour_word, distance, from_hexadecimal, shape_facts

COLOUR_TOLERANCE = 0.06  # of the largest distance there is
PLACE_TOLERANCE = 3.0  # hundredths of the canvas
SIZE_TOLERANCE = 4.0
REACH = 4  # tolerances until nothing is left
LEAST_AGREEMENT = 0.6
# Ways to say the same thing earn half of the quarter for the kind.
FAMILIES = ({"circle", "ellipse"}, {"rect", "polygon"}, {"line", "polyline"}, {"polygon", "path"}, {"polyline", "path"})
WHOLE = 95  # a shape this wide and high is a background
SHAPE = (
    Value("kind"),
    Value("fill", tolerance=32),
    Value("stroke", tolerance=32),
    Value("position", tolerance=3),
    Value("size", tolerance=4),
    Value("text"),
)
CLAIMS = Claims(values=(Value("target", many=True, fields=SHAPE), Value("drawing", many=True, fields=SHAPE)))


@dataclass(frozen=True)
class SvgState(State):
    """The visible shapes of target and drawing; `drawing` is None until something has been drawn."""

    scored = CLAIMS

    target: tuple[Shape, ...]
    drawing: tuple[Shape, ...] | None

    def natural(self) -> list[str]:
        """A sentence for each shape of the target, then of the drawing, in drawing order."""
        facts = [f"The target shows {describe(shape)}." for shape in self.target]
        if self.drawing is None:
            return [*facts, "Nothing has been drawn yet."]
        if not self.drawing:
            return [*facts, "The drawing is blank."]
        return facts + [f"The drawing shows {describe(shape)}." for shape in self.drawing]

    def structured(self) -> dict[str, Any]:
        """Kind, colours, position and size of each shape, in hundredths of the canvas."""
        drawn = None if self.drawing is None else [shape_facts(shape) for shape in self.drawing]
        return {"target": [shape_facts(shape) for shape in self.target], "drawing": drawn}

    def to_json(self) -> dict[str, Any]:
        """The structured form."""
        return self.structured()


def describe(shape: Shape) -> str:
    """A shape in words: what, in which colour, where and how large."""
    noun = {"rect": "rectangle", "path": "shape", "polyline": "stroke"}.get(shape.kind, shape.kind)
    if shape.kind == "text":
        noun = f"text reading {shape.text!r}"
    paint = colour_word(shape.colour)
    rim = f" with a {colour_word(shape.stroke)} outline" if shape.fill and shape.stroke else ""
    article = "an" if paint[0] in "aeiou" else "a"
    if min(shape.width, shape.height) >= WHOLE:
        return f"{article} {paint} {noun} over the whole canvas{rim}"
    size = f"{shape.width:.0f} wide and {shape.height:.0f} high"
    return f"{article} {paint} {noun}{rim} {place(shape.x, shape.y)}, {size}, centred at {shape.x:.0f}, {shape.y:.0f}"


def place(x: float, y: float) -> str:
    """Which of the nine parts of the canvas a point lies in."""
    across = "left" if x < 36 else "right" if x > 64 else ""
    down = "upper" if y < 36 else "lower" if y > 64 else ""
    if across and down:
        return f"in the {down} {across}"
    if across:
        return f"at the {across}"
    return {"upper": "at the top", "lower": "at the bottom", "": "in the middle"}[down]


# ---------------------------------------------------------------------- how far elements agree


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
    # The sum over pairs, chosen greedily; equal ones in reading order, so that the result is always the same.
    scores = agreements(target, drawing)
    rows, columns, total = set(), set(), 0.0
    for flat in np.argsort(-scores, axis=None, kind="stable").tolist():
        row, column = divmod(flat, scores.shape[1])
        if scores[row, column] < LEAST_AGREEMENT or len(rows) == min(scores.shape):
            break
        if row not in rows and column not in columns:
            rows.add(row)
            columns.add(column)
            total += float(scores[row, column])
    precision, recall = total / len(drawing), total / len(target)
    f1 = 2 * total / (len(drawing) + len(target))
    return StructureScore(precision, recall, f1)


def agreements(target: Sequence[Shape], drawing: Sequence[Shape]) -> np.ndarray:
    """How far each shape of the target agrees with each of the drawing: [target, drawing] in [0, 1]."""
    kinds = {
        (one, other): 1.0 if one == other else 0.5 if any({one, other} <= family for family in FAMILIES) else 0.0
        for one in {shape.kind for shape in target}
        for other in {shape.kind for shape in drawing}
    }
    colours = {
        (one, other): _paints_agree(one, other)
        for one in {(shape.fill, shape.stroke) for shape in target}
        for other in {(shape.fill, shape.stroke) for shape in drawing}
    }
    same_kind = np.array([[kinds[a.kind, b.kind] for b in drawing] for a in target])
    same_colour = np.array([[colours[(a.fill, a.stroke), (b.fill, b.stroke)] for b in drawing] for a in target])
    place = _credit(_gap(target, drawing, ("x", "y")), PLACE_TOLERANCE)
    size = _credit(_gap(target, drawing, ("width", "height")), SIZE_TOLERANCE)
    return np.mean([same_kind, same_colour, place, size], axis=0)


def _credit(gap: np.ndarray, tolerance: float) -> np.ndarray:
    return np.clip(1 - (gap - tolerance) / ((REACH - 1) * tolerance), 0, 1)


def _gap(target: Sequence[Shape], drawing: Sequence[Shape], names: tuple[str, str]) -> np.ndarray:
    """The larger of the differences in two respects."""
    first, second = (
        np.array([[getattr(shape, name) for name in names] for shape in shapes]) for shapes in (target, drawing)
    )
    return np.abs(first[:, None] - second[None]).max(axis=2)


def _paints_agree(one: tuple[str | None, str | None], other: tuple[str | None, str | None]) -> float:
    """The mean over fill and stroke, where at least one of the two shapes is painted so."""
    gaps = []
    for a, b in zip(one, other, strict=True):
        if a is not None and b is not None:
            gaps.append(distance(from_hexadecimal(a), from_hexadecimal(b)))
        elif a is not None or b is not None:  # paint where there should be none is as wrong as the opposite colour
            gaps.append(1.0)
    return float(np.mean(_credit(np.array(gaps), COLOUR_TOLERANCE)))  # what is visible is painted somehow
