"""The truth of the task: what the target shows, and what the drawing shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agentrl.core.claims import Claims, Value
from agentrl.core.state import State
from agentrl.envs.svg.truth.colours import colour_word
from agentrl.envs.svg.truth.shapes import Shape, shape_facts

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

    @classmethod
    def claims(cls) -> Claims:
        """Kinds, colours and places of the shapes."""
        return CLAIMS

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
