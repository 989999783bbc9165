"""Baselines for SVG reconstruction that know half of the truth: where things are, or which colours there are."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from agentrl.core.errors import ConfigError
from agentrl.envs.common.players import ScriptedPlayer

NEUTRAL = "#808080"
OPENING = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">'


class ScriptedDrawer(ScriptedPlayer):
    """Draws what it makes of the target's shapes, the same thing every turn."""

    def turn(self, env: Any) -> str:
        """One drawing."""
        shapes = env.state().to_json().get("target") if hasattr(env, "state") else None
        if not isinstance(shapes, list):
            raise ConfigError(f"the {self.name} policy draws SVG targets; {type(env).__name__} has none")
        return OPENING + "".join(self.elements(shapes)) + "</svg>"

    @abstractmethod
    def elements(self, shapes: list[Mapping[str, Any]]) -> list[str]:
        """What to draw, as SVG elements."""


class BlankDrawer(ScriptedDrawer):
    """Draws nothing: the floor."""

    name = "svg-blank"

    def elements(self, shapes: list[Mapping[str, Any]]) -> list[str]:
        """No elements."""
        return []


class BoxDrawer(ScriptedDrawer):
    """Bounding boxes only: everything where it belongs, as a pale gray box, whatever its colour and form."""

    name = "svg-boxes"

    def elements(self, shapes: list[Mapping[str, Any]]) -> list[str]:
        """A rectangle for each shape."""
        boxes = []
        for shape in shapes:
            (x, y), (width, height) = shape["position"], shape["size"]
            boxes.append(_rectangle((x - width / 2, y - height / 2, width, height), NEUTRAL, 0.5))
        return boxes


class ColourDrawer(ScriptedDrawer):
    """Right colours only: stripes across the canvas, as wide as the shapes of each colour are large."""

    name = "svg-colours"

    def elements(self, shapes: list[Mapping[str, Any]]) -> list[str]:
        """One stripe a colour, white for what no shape covers."""
        areas: dict[str, float] = {}
        for shape in shapes:
            colour = shape["fill"] or shape["stroke"] or "#000000"
            areas[colour] = areas.get(colour, 0.0) + shape["size"][0] * shape["size"][1]
        scale = 100 / max(10_000.0, sum(areas.values()))  # the canvas is 100 by 100
        stripes, left = [], 0.0
        for colour, area in areas.items():
            stripes.append(_rectangle((left, 0, area * scale, 100), colour, 1))
            left += area * scale
        return stripes


Box = tuple[float, float, float, float]  # x, y, width, height


def _rectangle(box: Box, colour: str, opacity: float) -> str:
    x, y, width, height = box
    numbers = f'x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}"'
    return f'<rect {numbers} fill="{colour}" opacity="{opacity}"/>'
