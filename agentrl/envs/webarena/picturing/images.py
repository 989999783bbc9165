"""The pictures on a page: asked for at their sites, decoded, kept. SVG as the embedded sites make it is drawn here:
rectangles, circles, paths, texts."""

from __future__ import annotations

import math
import re
import warnings
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from io import BytesIO
from itertools import pairwise
from typing import Any

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]
from PIL import Image, ImageDraw, ImageFont

from agentrl.envs.webarena.layout.text import font_file
from agentrl.envs.webarena.picturing.paper import Colour, colour_of

MAX_FILE = 5_000_000  # bytes
MAX_PICTURE = 4_000_000  # pixels
_KEPT = 200
MAX_SVG = 2_000_000  # bytes
_MAX_SHAPES, _MAX_POINTS = 5_000, 100_000
_FINER = 2  # drawn this much larger and then reduced
_STEPS = 8  # straight pieces of a curve
_TOKEN = re.compile(r"[A-Za-z]|[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_COUNTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "A": 7, "Z": 0}
_ROTATE = re.compile(r"rotate\(([-\d.]+)")
Point = tuple[float, float]
Fetch = Callable[[str], tuple[str, bytes]]  # an address -> the type of its contents, and the contents


class Images:
    """The pictures of one episode, by address and size. `fetch` asks a site."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._kept: OrderedDict[tuple[str, int, int], Image.Image | None] = OrderedDict()

    def get(self, url: str, width: int, height: int) -> Image.Image | None:
        """A picture in this size; None if there is none, or it cannot be shown."""
        key = url, width, height
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        found = self._kept[key] = self._load(url, width, height)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return found

    def clear(self) -> None:
        """Forget all pictures."""
        self._kept.clear()

    def _load(self, url: str, width: int, height: int) -> Image.Image | None:
        if not (0 < width * height <= MAX_PICTURE):
            return None
        kind, data = self._fetch(url)
        if not data or len(data) > MAX_FILE:
            return None
        if kind.startswith("image/svg"):
            return draw_svg(data, width, height)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", Image.DecompressionBombWarning)
                picture = Image.open(BytesIO(data), formats=["PNG", "JPEG", "GIF", "WEBP"])
            if picture.size[0] * picture.size[1] > MAX_PICTURE:
                return None
            picture = picture.convert("RGBA" if "A" in picture.getbands() or "transparency" in picture.info else "RGB")
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombWarning, Image.DecompressionBombError):
            return None
        size = (width, height)
        return picture if picture.size == size else picture.resize(size, Image.Resampling.BILINEAR)


@lru_cache(maxsize=32)  # episodes of one process show the same pictures, and a map takes longer than all else on a page
def draw_svg(data: bytes, width: int, height: int) -> Image.Image | None:
    """The picture in this size; None if it cannot be read. What is unknown in it is left out."""
    if len(data) > MAX_SVG:
        return None
    try:
        root = etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, recover=True))
    except (etree.XMLSyntaxError, ValueError):
        return None
    if root is None:
        return None
    image = Image.new("RGB", (width * _FINER, height * _FINER), (255, 255, 255))
    drawing = _Drawing(image, _number(root, "width", width), width)
    for shape in list(root.iter())[:_MAX_SHAPES]:
        if isinstance(shape.tag, str):
            drawing.add(etree.QName(shape).localname, shape)
    return image.reduce(_FINER)


class _Drawing:
    """Shapes one after the other, each over those before it."""

    def __init__(self, image: Image.Image, wide: float, width: int) -> None:
        self._image, self._draw = image, ImageDraw.Draw(image)
        self._scale = _FINER * width / max(1.0, wide)

    def add(self, kind: str, shape: Any) -> None:
        fill, stroke = colour_of(shape.get("fill", "black")), colour_of(shape.get("stroke", ""))
        line = max(1, round(_number(shape, "stroke-width", 1.0) * self._scale))
        if kind == "rect":
            x, y = _number(shape, "x"), _number(shape, "y")
            corner = (x + _number(shape, "width"), y + _number(shape, "height"))
            self._draw.rectangle([self._spot((x, y)), self._spot(corner)], fill=fill, outline=stroke, width=line)
        elif kind == "circle":
            x, y, radius = _number(shape, "cx"), _number(shape, "cy"), _number(shape, "r")
            box = [self._spot((x - radius, y - radius)), self._spot((x + radius, y + radius))]
            self._draw.ellipse(box, fill=fill, outline=stroke, width=line)
        elif kind == "path":
            self._path(shape, fill, stroke, line)
        elif kind == "text":
            self._text(shape, fill or (0, 0, 0), stroke, line)

    def _spot(self, point: Point) -> Point:
        limit = 1e5
        return tuple(min(max(value * self._scale, -limit), limit) for value in point)  # type: ignore[return-value]

    def _path(self, shape: Any, fill: Colour | None, stroke: Colour | None, line: int) -> None:
        dashes = shape.get("stroke-dasharray") is not None
        round_ends = shape.get("stroke-linecap") == "round" and line > 3 and not dashes
        for points in outlines(shape.get("d", "")):
            spots = [self._spot(point) for point in points]
            if fill is not None and len(spots) > 2:
                self._draw.polygon(spots, fill=fill)
            if stroke is None or len(spots) < 2:
                continue
            if dashes:  # of five pixels with three between them
                for (x, y), (to_x, to_y) in pairwise(spots):
                    length, step = math.dist((x, y), (to_x, to_y)), 8 * self._scale
                    for number in range(min(500, int(length / step) + 1)):
                        ends = (min(1.0, step * (number + part) / max(length, 1.0)) for part in (0.0, 0.625))
                        self._draw.line([(x + (to_x - x) * at, y + (to_y - y) * at) for at in ends], stroke, line)
                continue
            self._draw.line(spots, stroke, line, joint="curve")
            for x, y in (spots[0], spots[-1]) if round_ends else ():
                self._draw.ellipse([x - line / 2, y - line / 2, x + line / 2, y + line / 2], fill=stroke)

    def _text(self, shape: Any, fill: Colour, stroke: Colour | None, line: int) -> None:
        text = "".join(shape.itertext())[:200]
        size = min(200.0, _number(shape, "font-size", 16.0)) * self._scale
        x, y = self._spot((_number(shape, "x"), _number(shape, "y")))
        font = _font(round(size))
        anchor = {"middle": "ms", "end": "rs"}.get(shape.get("text-anchor", ""), "ls")
        edge = line // 2 if stroke is not None and shape.get("paint-order") == "stroke" else 0
        turned = _ROTATE.match(shape.get("transform", ""))
        if turned is None:
            self._draw.text((x, y), text, fill, font, anchor, stroke_width=edge, stroke_fill=stroke)
            return
        half = round(font.getlength(text) / 2 + size)
        layer = Image.new("RGBA", (2 * half, 2 * half), (*(stroke or fill), 0))
        ImageDraw.Draw(layer).text((half, half + size * 0.35), text, fill, font, anchor, stroke_width=edge,
                                   stroke_fill=stroke)  # fmt: skip
        layer = layer.rotate(-float(turned[1]), Image.Resampling.BILINEAR)
        self._image.paste(layer, (round(x) - half, round(y - size * 0.35) - half), layer)


@lru_cache(64)
def _font(size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(BytesIO(font_file()), max(1, size))


def _number(shape: Any, name: str, default: float = 0.0) -> float:
    try:
        value = float(shape.get(name, default))
    except ValueError:
        return default
    return value if math.isfinite(value) else default


def outlines(data: str) -> list[list[Point]]:
    """The lines of a path, curves as straight pieces."""
    found: list[list[Point]] = []
    tokens = _TOKEN.findall(data)[:_MAX_POINTS]
    x = y = 0.0
    at, command = 0, ""
    while at < len(tokens):
        if tokens[at].isalpha():
            command, at = tokens[at], at + 1
        count = _COUNTS.get(command.upper())
        if count is None or at + count > len(tokens):
            break
        try:
            numbers = [float(token) for token in tokens[at : at + count]]
        except ValueError:
            break
        at += count
        points = _piece(command, numbers, x, y)
        if command.upper() == "M" or not found:
            found.append([])
        if command.upper() == "Z":
            points = found[-1][:1]
        found[-1] += points
        if points:
            x, y = points[-1]
        if count == 0 and at < len(tokens) and not tokens[at].isalpha():
            break
        command = {"M": "L", "m": "l"}.get(command, command)
    return found


def _piece(command: str, numbers: list[float], x: float, y: float) -> list[Point]:
    """The points that a command of a path adds, from (x, y)."""
    base_x, base_y = (x, y) if command.islower() else (0.0, 0.0)
    match command.upper():
        case "H":
            return [(base_x + numbers[0], y)]
        case "V":
            return [(x, base_y + numbers[0])]
        case "M" | "L":
            return [(base_x + numbers[0], base_y + numbers[1])]
        case "C":
            corners = [(base_x + a, base_y + b) for a, b in zip(numbers[::2], numbers[1::2], strict=True)]
            found = []
            for number in range(1, _STEPS + 1):  # a Bezier curve with these four points
                t = number / _STEPS
                s = 1 - t
                shares = (s**3, 3 * s * s * t, 3 * s * t * t, t**3)
                parts = list(zip(shares, [(x, y), *corners], strict=True))
                found.append((sum(share * a for share, (a, _) in parts), sum(share * b for share, (_, b) in parts)))
            return found
        case "A":  # a half circle over its ends
            end = base_x + numbers[5], base_y + numbers[6]
            middle_x, middle_y = (x + end[0]) / 2, (y + end[1]) / 2
            radius = math.dist((x, y), end) / 2
            start = math.atan2(y - middle_y, x - middle_x)
            turn = math.pi if numbers[4] else -math.pi
            angles = [start + turn * number / _STEPS for number in range(1, _STEPS + 1)]
            return [(middle_x + radius * math.cos(angle), middle_y + radius * math.sin(angle)) for angle in angles]
    return []
