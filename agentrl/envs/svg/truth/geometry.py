"""Where things are: transforms, the outlines of shapes and paths, and their bounding boxes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator

import numpy as np

Point = tuple[float, float]
Matrix = tuple[float, float, float, float, float, float]  # a b c d e f, as SVG writes it
Box = tuple[float, float, float, float]  # left, top, right, bottom
IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
CURVE_POINTS = 16  # points of a curve that are looked at: its box is then right to half a percent
MAX_SEGMENTS = 4000  # of one path; what follows can move a box, but a turn must not take seconds
NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_NUMBERS = re.compile(NUMBER)
_TRANSFORM = re.compile(r"(matrix|translate|scale|rotate|skewX|skewY)\s*\(([^)]*)\)")
_PATH_TOKEN = re.compile(rf"([MmLlHhVvCcSsQqTtAaZz])|({NUMBER})")
_ARC_TOKEN = re.compile(
    rf"[\s,]*({NUMBER})[\s,]*({NUMBER})[\s,]*({NUMBER})[\s,]*([01])[\s,]*([01])[\s,]*({NUMBER})[\s,]*({NUMBER})"
)
_ARGUMENT_TOKEN = re.compile(rf"[\s,]*({NUMBER})")
_ARGUMENTS = {"m": 2, "l": 2, "h": 1, "v": 1, "c": 6, "s": 4, "q": 4, "t": 2, "a": 7, "z": 0}


def numbers(text: str | None) -> list[float]:
    """Every number in a text."""
    return [float(found) for found in _NUMBERS.findall(text or "")]


def multiply(outer: Matrix, inner: Matrix) -> Matrix:
    """The transform that does `inner` first, then `outer`."""
    a, b, c, d, e, f = outer
    g, h, i, j, k, m = inner
    return (a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * m + e, b * k + d * m + f)


def transform(text: str | None) -> Matrix:
    """A `transform` attribute as one matrix; parts that make no sense do nothing."""
    result = IDENTITY
    for name, arguments in _TRANSFORM.findall(text or ""):
        v, one = numbers(arguments), IDENTITY
        if name == "matrix" and len(v) == 6:
            one = (v[0], v[1], v[2], v[3], v[4], v[5])
        elif name == "translate" and v:
            one = (1, 0, 0, 1, v[0], v[1] if len(v) > 1 else 0)
        elif name == "scale" and v:
            one = (v[0], 0, 0, v[1] if len(v) > 1 else v[0], 0, 0)
        elif name == "skewX" and v:
            one = (1, 0, math.tan(math.radians(v[0])), 1, 0, 0)
        elif name == "skewY" and v:
            one = (1, math.tan(math.radians(v[0])), 0, 1, 0, 0)
        elif name == "rotate" and v:
            cos, sin = math.cos(math.radians(v[0])), math.sin(math.radians(v[0]))
            one = (cos, sin, -sin, cos, 0.0, 0.0)
            if len(v) > 2:  # round a point
                one = multiply(multiply((1, 0, 0, 1, v[1], v[2]), one), (1, 0, 0, 1, -v[1], -v[2]))
        result = multiply(result, one)
    return result


def scale_of(matrix: Matrix) -> float:
    """By how much a transform enlarges lengths, on the average of directions."""
    a, b, c, d, _, _ = matrix
    return math.sqrt(abs(a * d - b * c))


def box_of(points: list[Point], matrix: Matrix) -> Box | None:
    """The box round transformed points; None if there are none, or none that is a number."""
    if not points:
        return None
    a, b, c, d, e, f = matrix
    at = np.asarray(points, float)
    with np.errstate(all="ignore"):
        moved = at @ np.array([[a, b], [c, d]]) + np.array([e, f])
    moved = moved[np.isfinite(moved).all(axis=1)]
    if not len(moved):
        return None
    (left, top), (right, bottom) = moved.min(axis=0), moved.max(axis=0)
    return float(left), float(top), float(right), float(bottom)


# ---------------------------------------------------------------------- outlines


def oval_points(x: float, y: float, rx: float, ry: float) -> list[Point]:
    """Points round an ellipse."""
    angles = (2 * math.pi * i / (2 * CURVE_POINTS) for i in range(2 * CURVE_POINTS))
    return [(x + rx * math.cos(t), y + ry * math.sin(t)) for t in angles]


def rectangle_points(x: float, y: float, width: float, height: float) -> list[Point]:
    """The corners."""
    return [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]


def bar_points(start: Point, end: Point, thickness: float) -> list[Point]:
    """The corners of a straight stroke without caps."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = math.hypot(dx, dy)
    if not length:
        return []
    x, y = -dy / length * thickness / 2, dx / length * thickness / 2
    return [(px + side * x, py + side * y) for px, py in (start, end) for side in (-1, 1)]


def path_points(d: str) -> list[Point]:
    """Points along a path, closely enough for its bounding box; reading stops where the data stops making sense."""
    pen = _PathReader()
    for count, (command, arguments) in enumerate(_commands(d)):
        if count >= MAX_SEGMENTS:
            break
        pen.run(command, arguments)
    return pen.points


def _commands(d: str) -> Iterator[tuple[str, list[float]]]:
    """Commands with their arguments, one segment each."""
    at, command = 0, ""
    while at < len(d):
        token = _PATH_TOKEN.match(d, at)
        if token is None:
            at += 1
            continue
        if token[1]:
            command, at = token[1], token.end()
            if command in "Zz":
                yield command, []
            continue
        wanted, arguments = _ARGUMENTS.get(command.lower(), 0), []
        if not wanted:
            return
        while len(arguments) < wanted:  # the flags of an arc may stand without spaces
            found = (_ARC_TOKEN if wanted == 7 else _ARGUMENT_TOKEN).match(d, at)
            if found is None:
                return
            arguments += [float(part) for part in found.groups()]
            at = found.end()
        yield command, arguments
        command = {"M": "L", "m": "l"}.get(command, command)


class _PathReader:
    """Follows the commands of a path and notes where it has been."""

    def __init__(self) -> None:
        self.points: list[Point] = []
        self.at: Point = (0.0, 0.0)
        self.start: Point = (0.0, 0.0)
        self.control: Point | None = None  # of the last curve, for its smooth successor
        self.last = ""

    def run(self, command: str, v: list[float]) -> None:
        """One segment."""
        kind, (x, y) = command.lower(), self.at
        if command.islower() and kind not in "za":
            offsets = {"h": (x,), "v": (y,)}.get(kind, (x, y))
            v = [value + offsets[i % len(offsets)] for i, value in enumerate(v)]
        elif command == "a":
            v = [*v[:5], v[5] + x, v[6] + y]
        _SEGMENTS[kind](self, v)
        self.last = kind

    def move(self, v: list[float]) -> None:
        """To a new beginning."""
        self.at = self.start = (v[0], v[1])

    def close(self, v: list[float]) -> None:
        """Back to the beginning."""
        self.at = self.start

    def straight(self, end: Point) -> None:
        """To a point."""
        self.points += [self.at, end]
        self.at = end

    def curve(self, controls: list[Point]) -> None:
        """A Bezier curve of any order; the control before the end is remembered."""
        chain = [self.at, *controls]
        with np.errstate(all="ignore"):
            along = _BERNSTEIN[len(chain) - 1] @ np.asarray(chain, float)
            self.points += [(float(x), float(y)) for x, y in along]
        self.at, self.control = chain[-1], chain[-2]

    def reflected(self, kinds: str) -> Point:
        """The mirrored last control, where the segment before was a curve of the same kind."""
        if self.control is None or self.last not in kinds or not self.last:
            return self.at
        return 2 * self.at[0] - self.control[0], 2 * self.at[1] - self.control[1]

    def arc(self, v: list[float]) -> None:
        """Part of an ellipse."""
        end = (v[5], v[6])
        self.points += [self.at, *_arc(self.at, end, v[0], v[1], v[2], bool(v[3]), bool(v[4])), end]
        self.at = end


def _pairs(v: list[float]) -> list[Point]:
    return list(zip(v[::2], v[1::2], strict=True))


_SEGMENTS: dict[str, Callable[[_PathReader, list[float]], None]] = {
    "m": _PathReader.move,
    "z": _PathReader.close,
    "l": lambda pen, v: pen.straight((v[0], v[1])),
    "h": lambda pen, v: pen.straight((v[0], pen.at[1])),
    "v": lambda pen, v: pen.straight((pen.at[0], v[0])),
    "c": lambda pen, v: pen.curve(_pairs(v)),
    "s": lambda pen, v: pen.curve([pen.reflected("cs"), *_pairs(v)]),
    "q": lambda pen, v: pen.curve(_pairs(v)),
    "t": lambda pen, v: pen.curve([pen.reflected("qt"), *_pairs(v)]),
    "a": _PathReader.arc,
}
_TIMES = np.linspace(0, 1, CURVE_POINTS + 1)
_BERNSTEIN = {
    order: np.stack([math.comb(order, i) * _TIMES**i * (1 - _TIMES) ** (order - i) for i in range(order + 1)], axis=1)
    for order in (2, 3)
}


def _arc(start: Point, end: Point, rx: float, ry: float, turn: float, large: bool, sweep: bool) -> list[Point]:
    """Points along an elliptic arc given by its ends (SVG 1.1, appendix F.6)."""
    rx, ry = abs(rx), abs(ry)
    if start == end or not rx or not ry or not all(map(math.isfinite, (*start, *end, rx, ry, turn))):
        return []
    phi = math.radians(turn % 360)
    cos, sin = math.cos(phi), math.sin(phi)
    dx, dy = (start[0] - end[0]) / 2, (start[1] - end[1]) / 2
    x, y = (cos * dx + sin * dy) / rx, (cos * dy - sin * dx) / ry
    reach = x * x + y * y
    grow = math.sqrt(reach) if reach > 1 else 1.0  # radii that are too small are enlarged until they fit
    x, y, rx, ry, reach = x / grow, y / grow, rx * grow, ry * grow, min(reach, 1.0)
    if not reach:
        return []
    off = math.sqrt(max(0.0, 1 / reach - 1)) * (-1 if large == sweep else 1)
    mx, my = off * y, -off * x
    first, last = math.atan2(y - my, x - mx), math.atan2(-y - my, -x - mx)
    span = (last - first) % (2 * math.pi) if sweep else -((first - last) % (2 * math.pi))
    cx, cy = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    points = []
    for step in range(1, CURVE_POINTS):
        angle = first + span * step / CURVE_POINTS
        u, w = rx * (mx + math.cos(angle)), ry * (my + math.sin(angle))
        points.append((cx + cos * u - sin * w, cy + sin * u + cos * w))
    return points
