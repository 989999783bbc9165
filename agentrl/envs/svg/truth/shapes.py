"""What an SVG shows: its visible elements with colours and places, transforms and styles resolved.

`read_shapes` takes what the gate let through. Places are in hundredths of the canvas, whatever view box the code has,
so that shapes of different files can be compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

from agentrl.envs.svg.sandbox.refusal import Limits
from agentrl.envs.svg.sandbox.stylesheet import read_sheet
from agentrl.envs.svg.truth.colours import Rgb, hexadecimal, read_colour
from agentrl.envs.svg.truth.geometry import (
    Box,
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

MAX_SHAPES = 400  # more are not looked at: comparing is quadratic
MAX_POINTS = 150_000  # of all outlines together; an element used again counts again
DEEPEST = 64
KINDS = ("circle", "ellipse", "rect", "line", "polyline", "polygon", "path", "text")
UNSEEN = ("defs", "clipPath", "mask", "pattern", "marker", "symbol", "filter", "linearGradient", "radialGradient")
INHERITED = (
    "fill",
    "stroke",
    "stroke-width",
    "color",
    "visibility",
    "fill-opacity",
    "stroke-opacity",
    "font-size",
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
    document = _Document(by_id, sorted(_rules(root), key=_weight), _view(root))
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


def _rules(root: ElementTree.Element) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Simple selectors of the style sheets (element, class or id) with their declarations, in order."""
    for sheet in root.iter("style"):
        for selectors, declarations in read_sheet(sheet.text or "", Limits()):
            found = {name: value for name, (value, _) in declarations.values.items()}
            yield from ((selector.strip(), found) for selector in selectors.split(","))


def _weight(rule: tuple[str, Mapping[str, str]]) -> int:
    """An id outweighs a class, a class an element; equal ones stay in order."""
    return {"#": 3, ".": 2, "*": 0}.get(rule[0][:1], 1)


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
    style = {**{name: value for name, value in above.items() if name in INHERITED}, **_kept(own)}
    place = multiply(place, transform(own.get("transform")))
    if element.tag in KINDS:
        shape = _shape(document, element, style, place)
        if shape is not None:
            document.shapes.append(shape)
    elif element.tag == "use" and depth < DEEPEST:
        _visit_used(document, element, style, place, depth)
    elif element.tag in ("g", "svg", "a", "switch", "symbol") and depth < DEEPEST:
        for child in element:
            if child.tag not in UNSEEN:
                _visit(document, child, style, place, depth + 1)


def _kept(own: Style) -> Style:
    return {name: value for name, value in own.items() if value != "inherit"}


def _visit_used(document: _Document, element: ElementTree.Element, style: Style, place: Matrix, depth: int) -> None:
    target = next((element.get(name, "") for name in HREF if element.get(name)), "")
    found = document.by_id.get(target.lstrip("#"))
    if target.startswith("#") and found is not None and found is not element:
        shift = (1, 0, 0, 1, _number(element.get("x"), 0), _number(element.get("y"), 0))
        _visit(document, found, style, multiply(place, shift), depth + 1)


def _shape(document: _Document, element: ElementTree.Element, style: Style, place: Matrix) -> Shape | None:
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
    return None if box is None else _placed(element, fill, stroke, box, margin)


def _placed(
    element: ElementTree.Element, fill: Rgb | None, stroke: Rgb | None, box: Box, margin: float
) -> Shape | None:
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
    stops = [_own_stop(document, stop) for stop in gradient if stop.tag == "stop"]
    if not stops:
        target = next((gradient.get(name, "") for name in HREF if gradient.get(name)), "")
        return _mean_stop(document, target.lstrip("#"), depth + 1) if target else None
    red, green, blue = (round(sum(stop[i] for stop in stops) / len(stops)) for i in range(3))
    return red, green, blue


def _own_stop(document: _Document, stop: ElementTree.Element) -> Rgb:
    colour = _own_style(document, stop).get("stop-color") or stop.get("stop-color") or "black"
    return read_colour(colour) or (0, 0, 0)


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
        case "text":
            return _text_outline(element, _number(style.get("font-size"), 16))
    found = numbers(element.get("points"))
    return list(zip(found[::2], found[1::2], strict=False))


def _text_outline(element: ElementTree.Element, size: float) -> list[Point]:
    """About where a text stands: fonts differ, so six tenths of an em a letter must do."""
    words = " ".join("".join(element.itertext()).split())
    wide = 0.6 * size * len(words)
    anchor = {"middle": 0.5, "end": 1.0}.get(element.get("text-anchor") or "", 0.0)
    x, y = _number(element.get("x"), 0) - anchor * wide, _number(element.get("y"), 0)
    return rectangle_points(x, y - 0.75 * size, wide, size) if words else []


def shape_facts(shape: Shape) -> dict[str, Any]:
    """A shape as a dictionary of facts."""
    facts: dict[str, Any] = {"kind": shape.kind, "fill": shape.fill, "stroke": shape.stroke}
    facts |= {"position": [shape.x, shape.y], "size": [shape.width, shape.height]}
    return facts if shape.text is None else {**facts, "text": shape.text}
