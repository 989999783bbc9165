"""What an SVG shows: its visible elements with colours and places, transforms and styles resolved.

`read_shapes` takes what the gate let through. Places are in hundredths of the canvas, whatever view box the code has,
so that shapes of different files can be compared.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree

from PIL import ImageColor

from agentrl.envs.svg.sandbox.stylesheet import read_sheet
from agentrl.envs.svg.sandbox.values import Limits
from agentrl.envs.svg.truth.geometry import (
    Matrix,
    Point,
    bar_points,
    box_of,
    multiply,
    numbers,
    oval_points,
    path_points,
    rectangle_points,
    scale_of,
    transform,
)

Rgb = tuple[int, int, int]
# What an observer would call a colour; the words are far enough apart to be told from each other in a picture.
WORDS: dict[str, Rgb] = {
    "black": (0, 0, 0), "white": (255, 255, 255), "gray": (128, 128, 128), "light gray": (211, 211, 211),
    "dark gray": (64, 64, 64), "red": (225, 25, 35), "dark red": (130, 0, 10), "pink": (255, 150, 180),
    "orange": (255, 140, 20), "brown": (140, 80, 35), "tan": (215, 180, 135), "yellow": (255, 215, 0),
    "light yellow": (255, 250, 205), "green": (15, 138, 40), "light green": (150, 215, 130), "dark green": (0, 85, 25),
    "olive": (110, 135, 40), "teal": (0, 130, 130), "turquoise": (60, 210, 205), "light blue": (170, 215, 240),
    "blue": (45, 105, 225), "dark blue": (15, 20, 110), "purple": (125, 50, 160), "lavender": (200, 160, 220),
    "magenta": (235, 25, 150),
}  # fmt: skip
_ALPHA = re.compile(r"^(rgb|hsl)a\s*\(([^,]+,[^,]+,[^,]+),[^)]*\)$")


@lru_cache(maxsize=4096)
def read_colour(text: str, current: Rgb = (0, 0, 0)) -> Rgb | None:
    """A colour as red, green, blue; None for "none" and for anything else that has no colour."""
    text = text.strip().lower()
    if text in ("none", "transparent", "inherit", ""):
        return None
    if text == "currentcolor":
        return current
    try:
        found = ImageColor.getrgb(_ALPHA.sub(r"\1(\2)", text)[:100])
    except ValueError:
        return None
    return found[0], found[1], found[2]


def hexadecimal(rgb: Rgb) -> str:
    """As `#rrggbb`."""
    return "#{:02x}{:02x}{:02x}".format(*rgb)


def from_hexadecimal(text: str) -> Rgb:
    """Inverse of `hexadecimal`."""
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


def distance(one: Rgb, other: Rgb) -> float:
    """How different two colours look, 0 to 1: squared differences weighted as the eye weights them."""
    red = (one[0] + other[0]) / 510
    r, g, b = ((p - q) / 255 for p, q in zip(one, other, strict=True))
    return min(1.0, (((2 + red) * r * r + 4 * g * g + (3 - red) * b * b) / 9) ** 0.5)


@lru_cache(maxsize=4096)
def colour_word(text: str) -> str:
    """The word for a `#rrggbb` colour."""
    rgb = from_hexadecimal(text)
    return min(WORDS, key=lambda word: distance(rgb, WORDS[word]))


# ---------------------------------------------------------------------- shapes

MAX_SHAPES = 400  # more are not looked at: comparing is quadratic
MAX_POINTS = 150_000  # of all outlines together; an element used again counts again
DEEPEST = 64
KINDS = ("circle", "ellipse", "rect", "line", "polyline", "polygon", "path", "text")
UNSEEN = ("defs", "clipPath", "mask", "pattern", "marker", "symbol", "filter", "linearGradient", "radialGradient")
INHERITED = (
    *("fill", "stroke", "stroke-width", "color", "visibility", "fill-opacity", "stroke-opacity", "font-size"),
    "stroke-linecap",
)
PAINTED_WITH = (*INHERITED, "opacity", "display", "transform")
HREF = ("href", "{http://www.w3.org/1999/xlink}href")
Style = dict[str, str]


@dataclass(frozen=True)
class Shape:
    """One visible element. Lengths are hundredths of the canvas's side; x and y are the middle of its bounding box."""

    kind: str
    fill: str | None  # "#rrggbb"; the mean of its stops for a gradient
    stroke: str | None
    x: float
    y: float
    width: float
    height: float
    text: str | None = None

    @property
    def colour(self) -> str:
        """The colour that one sees first."""
        return self.fill or self.stroke or "#000000"


@dataclass
class _Document:
    """What has to be looked up while reading."""

    by_id: dict[str, ElementTree.Element]
    rules: list[tuple[str, Mapping[str, str]]]
    view: Matrix
    shapes: list[Shape] = field(default_factory=list)
    points: int = 0  # looked at so far

    @property
    def full(self) -> bool:
        """Has enough been read?"""
        return len(self.shapes) >= MAX_SHAPES or self.points >= MAX_POINTS


def read_shapes(safe: str) -> tuple[Shape, ...]:
    """The visible elements of SVG code that has passed the gate, in drawing order."""
    root = ElementTree.fromstring(safe)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else "comment"
    by_id = {element.get("id", ""): element for element in reversed(list(root.iter()))}
    # Simple selectors of the style sheets with their declarations; an id outweighs a class, a class an element, and
    # equal ones stay in order.
    rules: list[tuple[str, Mapping[str, str]]] = []
    for sheet in root.iter("style"):
        for selectors, declarations in read_sheet(sheet.text or "", Limits()):
            found = {name: value for name, (value, _) in declarations.values.items()}
            rules += [(selector.strip(), found) for selector in selectors.split(",")]
    rules.sort(key=lambda rule: {"#": 3, ".": 2, "*": 0}.get(rule[0][:1], 1))
    document = _Document(by_id, rules, _view(root))
    _visit(document, root, {}, document.view, 0)
    return tuple(document.shapes)


def _view(root: ElementTree.Element) -> Matrix:
    """From user units to hundredths of a square canvas, the view centred in it as by default."""
    box = numbers(root.get("viewBox"))
    if len(box) != 4 or box[2] <= 0 or box[3] <= 0:
        size = [(numbers(root.get(side)) or [0.0])[0] for side in ("width", "height")]
        box = [0.0, 0.0, size[0] if size[0] > 0 else 100.0, size[1] if size[1] > 0 else 100.0]
    left, top, width, height = box
    if "none" in (root.get("preserveAspectRatio") or ""):
        return 100 / width, 0, 0, 100 / height, -left * 100 / width, -top * 100 / height
    scale = 100 / max(width, height)
    return scale, 0, 0, scale, 50 - (left + width / 2) * scale, 50 - (top + height / 2) * scale


# ---------------------------------------------------------------------- styles


def _own_style(document: _Document, element: ElementTree.Element) -> Style:
    """Attributes, overruled by style sheets, overruled by the `style` attribute."""
    style = {name: value for name in PAINTED_WITH if (value := element.get(name)) is not None}
    names = {element.tag, "*", f"#{element.get('id')}", *(f".{name}" for name in (element.get("class") or "").split())}
    for selector, declarations in document.rules:
        if selector in names:
            style.update(declarations)
    for declaration in (element.get("style") or "").split(";"):
        name, colon, value = declaration.partition(":")
        if colon:
            style[name.strip()] = value.partition("!")[0].strip()
    return style


def _number(text: str | None, otherwise: float) -> float:
    """The first number of a text; a percentage as its fraction."""
    found = numbers(text)
    if not found:
        return otherwise
    return found[0] / 100 if (text or "").strip().endswith("%") else found[0]


# ---------------------------------------------------------------------- walking


def _visit(document: _Document, element: ElementTree.Element, above: Style, place: Matrix, depth: int) -> None:
    own = _own_style(document, element)
    if own.get("display") == "none" or _number(own.get("opacity"), 1) <= 0.02 or document.full:
        return
    style = {name: value for name, value in above.items() if name in INHERITED}
    style |= {name: value for name, value in own.items() if value != "inherit"}
    place = multiply(place, transform(own.get("transform")))
    if element.tag in KINDS:
        shape = _shape(document, element, style, place)
        if shape is not None:
            document.shapes.append(shape)
    elif element.tag == "use" and depth < DEEPEST:
        target = next((element.get(name, "") for name in HREF if element.get(name)), "")
        found = document.by_id.get(target.lstrip("#"))
        if target.startswith("#") and found is not None and found is not element:
            shift = (1, 0, 0, 1, _number(element.get("x"), 0), _number(element.get("y"), 0))
            _visit(document, found, style, multiply(place, shift), depth + 1)
    elif element.tag in ("g", "svg", "a", "switch", "symbol") and depth < DEEPEST:
        for child in element:
            if child.tag not in UNSEEN:
                _visit(document, child, style, place, depth + 1)


def _shape(document: _Document, element: ElementTree.Element, style: Style, place: Matrix) -> Shape | None:
    """An element as it is seen; None where it is not."""
    fill = _paint(document, style, "fill", "none" if element.tag == "line" else "black")
    stroke = _paint(document, style, "stroke", "none")
    thickness = _number(style.get("stroke-width"), 1) if stroke is not None else 0.0
    if stroke is not None and thickness <= 0:
        stroke = None
    if (fill is None and stroke is None) or style.get("visibility") in ("hidden", "collapse"):
        return None
    points, margin = _outline(element, style), thickness * scale_of(place) / 2
    document.points += len(points)
    if len(points) == 2 and style.get("stroke-linecap", "butt") == "butt":  # it ends where its stroke does
        points, margin = bar_points(points[0], points[1], thickness), 0.0
    box = box_of(points, place)
    if box is None:
        return None
    left, top = (max(0.0, value - margin) for value in box[:2])
    right, bottom = (min(100.0, value + margin) for value in box[2:])
    if right - left <= 0 or bottom - top <= 0:  # outside of the canvas, or without extent
        return None
    middle, size = ((left + right) / 2, (top + bottom) / 2), (right - left, bottom - top)
    text = " ".join("".join(element.itertext()).split()) if element.tag == "text" else None
    x, y, width, height = (round(value, 1) for value in (*middle, *size))
    return Shape(str(element.tag), _written(fill), _written(stroke), x, y, width, height, text)


def _written(paint: Rgb | None) -> str | None:
    return None if paint is None else hexadecimal(paint)


# ---------------------------------------------------------------------- paint


def _paint(document: _Document, style: Style, name: str, otherwise: str) -> Rgb | None:
    """The colour something is painted with; None where nothing is."""
    if _number(style.get(f"{name}-opacity"), 1) <= 0.02:
        return None
    value = style.get(name, otherwise).strip()
    if value.startswith("url("):
        reference, _, fallback = value[4:].partition(")")
        return _mean_stop(document, reference.strip("'\" #"), 0) or read_colour(fallback)
    return read_colour(value, read_colour(style.get("color", "black")) or (0, 0, 0))


def _mean_stop(document: _Document, identity: str, depth: int) -> Rgb | None:
    """The mean colour of a gradient's stops; a gradient may take them from another."""
    gradient = document.by_id.get(identity)
    if gradient is None or depth > 8:
        return None
    stops: list[Rgb] = []
    for stop in gradient:
        if stop.tag == "stop":
            colour = _own_style(document, stop).get("stop-color") or stop.get("stop-color") or "black"
            stops.append(read_colour(colour) or (0, 0, 0))
    if not stops:
        target = next((gradient.get(name, "") for name in HREF if gradient.get(name)), "")
        return _mean_stop(document, target.lstrip("#"), depth + 1) if target else None
    red, green, blue = (round(sum(stop[i] for stop in stops) / len(stops)) for i in range(3))
    return red, green, blue


# ---------------------------------------------------------------------- outlines


def _outline(element: ElementTree.Element, style: Style) -> list[Point]:
    def value(name: str, otherwise: float = 0.0) -> float:
        return _number(element.get(name), otherwise)

    match element.tag:
        case "circle":
            return oval_points(value("cx"), value("cy"), value("r"), value("r")) if value("r") > 0 else []
        case "ellipse":
            sides = value("rx", value("ry")), value("ry", value("rx"))
            return oval_points(value("cx"), value("cy"), *sides) if min(sides) > 0 else []
        case "rect":
            size = value("width"), value("height")
            return rectangle_points(value("x"), value("y"), *size) if min(size) > 0 else []
        case "line":
            return [(value("x1"), value("y1")), (value("x2"), value("y2"))]
        case "path":
            return path_points(element.get("d") or "")
        case "text":  # about where it stands: fonts differ, so six tenths of an em a letter must do
            words, size = " ".join("".join(element.itertext()).split()), _number(style.get("font-size"), 16)
            wide = 0.6 * size * len(words)
            anchor = {"middle": 0.5, "end": 1.0}.get(element.get("text-anchor") or "", 0.0)
            x, y = value("x") - anchor * wide, value("y")
            return rectangle_points(x, y - 0.75 * size, wide, size) if words else []
    found = numbers(element.get("points"))
    return list(zip(found[::2], found[1::2], strict=False))


def shape_facts(shape: Shape) -> dict[str, Any]:
    """A shape as a dictionary of facts."""
    facts: dict[str, Any] = {"kind": shape.kind, "fill": shape.fill, "stroke": shape.stroke}
    facts |= {"position": [shape.x, shape.y], "size": [shape.width, shape.height]}
    return facts if shape.text is None else {**facts, "text": shape.text}
