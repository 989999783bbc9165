"""`Paper`: a picture that boxes, lines and texts are painted on, in pixels of the page, through a window that clips.
Text is as a browser draws it: every letter at its exact place, to a quarter of a pixel, without hints of the font."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from io import BytesIO
from typing import NamedTuple

from PIL import Image, ImageColor, ImageDraw, ImageFont

from agentrl.envs.webarena.layout.text import ASCENT, font_file, widths

Colour = tuple[int, int, int]
WHITE, BLACK = (255, 255, 255), (0, 0, 0)


@lru_cache(5_000)
def colour_of(text: str) -> Colour | None:
    """A colour as style sheets write it; None for transparent ones and what is no colour."""
    if not isinstance(text, str) or not text or len(text) > 40:
        return None
    try:
        found = ImageColor.getcolor(text, "RGBA")
    except ValueError:
        return None
    assert isinstance(found, tuple)
    return None if found[3] == 0 else (found[0], found[1], found[2])


@lru_cache(5_000)
def opacity_of(text: str) -> int:
    """How much of what is under it a colour hides, up to 255."""
    return 255 if colour_of(text) is None else ImageColor.getcolor(text, "RGBA")[3]  # pyright: ignore


PAD = 2  # pixels around a piece of text: letters reach a little beyond their widths
_FINE = 4  # letters are drawn this much larger and then reduced
_PIECE = 40  # characters that are drawn at once
_MAX_SIZE = 400.0  # font size; larger text is drawn in this one


def _star(inner: float) -> list[tuple[float, float]]:
    turns = [(math.pi * (0.2 * number - 0.5), 0.42 if number % 2 == 0 else inner) for number in range(10)]
    return [(0.448 + radius * math.cos(turn), 0.36 - radius * -math.sin(turn)) for turn, radius in turns]


# Signs that the font lacks and pages use: outlines in font sizes, from the origin on the baseline to the right and up.
_SHAPES: dict[str, list[tuple[float, float]]] = {
    "\u2605": _star(0.17),
    "\u25b2": [(0.1, 0.0), (0.89, 0.0), (0.495, 0.75)],
    "\u25bc": [(0.1, 0.75), (0.89, 0.75), (0.495, 0.0)],
    "\u25be": [(0.05, 0.45), (0.45, 0.45), (0.25, 0.15)],
    "\u25b8": [(0.1, 0.55), (0.1, 0.1), (0.42, 0.325)],
    "\u2022": [(0.175 + 0.12 * math.cos(turn), 0.36 + 0.12 * math.sin(turn)) for turn in range(6)],
    "\u2212": [(0.05, 0.3), (0.53, 0.3), (0.53, 0.37), (0.05, 0.37)],
    "\u2013": [(0.0, 0.25), (0.556, 0.25), (0.556, 0.32), (0.0, 0.32)],
    "\u2014": [(0.0, 0.25), (1.0, 0.25), (1.0, 0.32), (0.0, 0.32)],
    "\u2191": [(0.21, 0.0), (0.29, 0.0), (0.29, 0.5), (0.42, 0.5), (0.25, 0.72), (0.08, 0.5), (0.21, 0.5)],
    "\u2193": [(0.21, 0.72), (0.29, 0.72), (0.29, 0.22), (0.42, 0.22), (0.25, 0.0), (0.08, 0.22), (0.21, 0.22)],
    "\u2192": [(0.08, 0.32), (0.7, 0.32), (0.7, 0.48), (0.92, 0.28), (0.7, 0.08), (0.7, 0.24), (0.08, 0.24)],
    "\u2190": [(0.92, 0.32), (0.3, 0.32), (0.3, 0.48), (0.08, 0.28), (0.3, 0.08), (0.3, 0.24), (0.92, 0.24)],
}
_HOLLOW = {"\u2606": _star(0.17)}


@lru_cache(64)
def _font(size: float) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(BytesIO(font_file()), size * _FINE, layout_engine=ImageFont.Layout.BASIC)


def _height(size: float) -> int:
    return int(size * 1.3) + 2 * PAD + 1


@lru_cache(8_192)
def _letter(character: str, size: float, phase: int) -> Image.Image:
    """One letter whose origin lies `phase` quarters of a pixel right of `PAD`."""
    width = int(widths()[character] * size / 1000) + 2 * PAD + 2
    large = Image.new("L", (width * _FINE, _height(size) * _FINE))
    x, y = PAD * _FINE + phase, (PAD + int(ASCENT * size / 1000 + 0.5)) * _FINE
    outline = _SHAPES.get(character) or _HOLLOW.get(character)
    if outline:
        scale = size * _FINE
        points = [(x + right * scale, y - up * scale) for right, up in outline]
        filled = character in _SHAPES
        ImageDraw.Draw(large).polygon(points, fill=255 if filled else 0, outline=255, width=1 if filled else _FINE)
    else:
        own = widths().own
        if character not in own:
            # The letter without its accent, nothing for what has no width, or the box that the font draws.
            plain = unicodedata.normalize("NFKD", character)[0]
            character = " " if not widths()[character] else plain if plain in own else "\x00"
        ImageDraw.Draw(large).text((x, y), character, 255, _font(size), anchor="ls")
    return large.reduce(_FINE)


@lru_cache(32_768)
def _mask(text: str, size: float, phase: int) -> Image.Image:
    """A short text whose origin lies `phase` quarters of a pixel right of `PAD`."""
    width_of, scale = widths(), size * _FINE / 1000
    places: list[int] = []
    at = float(phase)
    for character in text:
        places.append(int(at + 0.5))
        at += width_of[character] * scale
    mask = Image.new("L", (int(at / _FINE) + 2 * PAD + 2, _height(size)))
    for character, place in zip(text, places, strict=True):
        mask.paste(255, (place // _FINE, 0), _letter(character, size, place % _FINE))
    return mask


def masks(text: str, size: float, x: float, limit: float) -> Iterator[tuple[int, Image.Image]]:
    """The pieces of a text that begins at `x`, with the left edges of their masks, as far as `limit`."""
    size = min(size, _MAX_SIZE)
    scale, width_of = size / 1000, widths()
    if size < 1:
        return
    for start in range(0, len(text), _PIECE):
        if x > limit:
            return
        part = text[start : start + _PIECE]
        place = math.floor(x * _FINE + 0.5)
        yield place // _FINE - PAD, _mask(part, size, place % _FINE)
        x += sum(map(width_of.__getitem__, part)) * scale


def fitting(text: str, size: float, room: float) -> str:
    """The beginning of a text that is at most this wide."""
    width_of, room = widths(), room * 1000 / size if size else 0.0
    for number, character in enumerate(text):
        room -= width_of[character]
        if room < 0:
            return text[:number]
    return text


class Area(NamedTuple):
    """A rectangle of whole pixels: left and top belong to it, right and bottom do not."""

    left: int
    top: int
    right: int
    bottom: int

    def cut(self, other: Area) -> Area:
        """What both have in common; may be empty."""
        return Area(
            max(self.left, other.left), max(self.top, other.top), min(self.right, other.right),
            min(self.bottom, other.bottom),
        )  # fmt: skip

    @property
    def empty(self) -> bool:
        """Is there nothing in it?"""
        return self.left >= self.right or self.top >= self.bottom

    def inset(self, by: int) -> Area:
        """The rectangle within, this far from its edges."""
        return Area(self.left + by, self.top + by, self.right - by, self.bottom - by)


def area_of(x: float, y: float, width: float, height: float) -> Area:
    """The pixels that a browser gives to a box."""
    floor = math.floor
    return Area(floor(x + 0.5), floor(y + 0.5), floor(x + width + 0.5), floor(y + height + 0.5))


class Paper:
    """A picture of the part of a page that begins `top` pixels below its beginning. `clip` is what may be painted."""

    def __init__(self, width: int, height: int, top: int) -> None:
        self.image = Image.new("RGB", (width, height), WHITE)
        self.draw = ImageDraw.Draw(self.image)
        self.top = top
        self.whole = self.clip = Area(0, top, width, top + height)

    def fill(self, area: Area, colour: Colour, radius: float = 0.0, opacity: int = 255) -> None:
        """A filled rectangle, perhaps with round corners, or one that lets through what is under it."""
        shown = area.cut(self.clip)
        if shown.empty:
            return
        if opacity < 255:
            veil = Image.new("L", (shown.right - shown.left, shown.bottom - shown.top), opacity)
            self.image.paste(colour, (shown.left, shown.top - self.top), veil)
            return
        radius = min(radius, (area.right - area.left) / 2, (area.bottom - area.top) / 2)
        if radius < 1 or shown != area:
            self.image.paste(colour, (shown.left, shown.top - self.top, shown.right, shown.bottom - self.top))
            return
        corners = _corners(area.right - area.left, area.bottom - area.top, radius)
        self.image.paste(colour, (area.left, area.top - self.top), corners)

    def frame(self, area: Area, colour: Colour, width: int = 1, radius: float = 0.0) -> None:
        """The outline of a rectangle, within it."""
        if area.cut(self.clip) == area and radius >= 1:
            corners = _corners(area.right - area.left, area.bottom - area.top, radius, width)
            self.image.paste(colour, (area.left, area.top - self.top), corners)
            return
        left, top, right, bottom = area
        self.fill(Area(left, top, right, top + width), colour)
        self.fill(Area(left, bottom - width, right, bottom), colour)
        self.fill(Area(left, top, left + width, bottom), colour)
        self.fill(Area(right - width, top, right, bottom), colour)

    def write(self, text: str, size: float, x: float, top: float, colour: Colour) -> None:
        """A text with its upper left corner at (x, top)."""
        clip, paste = self.clip, self.image.paste
        y = math.floor(top + 0.5) - PAD
        if y >= clip.bottom or y + 2 * size + 2 * PAD < clip.top:
            return
        for left, mask in masks(text, size, x, clip.right):
            wide, high = mask.size
            if left >= clip.left and y >= clip.top and left + wide <= clip.right and y + high <= clip.bottom:
                paste(colour, (left, y - self.top), mask)
                continue
            shown = Area(left, y, left + wide, y + high).cut(clip)
            if not shown.empty:
                part = mask.crop((shown.left - left, shown.top - y, shown.right - left, shown.bottom - y))
                paste(colour, (shown.left, shown.top - self.top), part)

    def place(self, picture: Image.Image, left: int, top: int) -> None:
        """A picture with its upper left corner at (left, top)."""
        area = Area(left, top, left + picture.width, top + picture.height)
        shown = area.cut(self.clip)
        if shown.empty:
            return
        if shown != area:
            picture = picture.crop((shown.left - left, shown.top - top, shown.right - left, shown.bottom - top))
        self.image.paste(picture, (shown.left, shown.top - self.top), picture if picture.mode == "RGBA" else None)


@lru_cache(400)
def _corners(width: int, height: int, radius: float, line: int = 0) -> Image.Image:
    """A mask of a rectangle with round corners: all of it, or only its outline."""
    large = Image.new("L", (width * _FINE, height * _FINE))
    box = (0, 0, width * _FINE - 1, height * _FINE - 1)
    draw = ImageDraw.Draw(large)
    draw.rounded_rectangle(box, radius * _FINE, fill=0 if line else 255, outline=255, width=(line or 1) * _FINE)
    return large.reduce(_FINE)
