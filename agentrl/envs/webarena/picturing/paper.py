"""`Paper`: a picture that boxes, lines and texts are painted on, in pixels of the page, through a window that clips."""

from __future__ import annotations

import math
from typing import NamedTuple

from PIL import Image, ImageDraw

from agentrl.envs.webarena.picturing.glyphs import PAD, masks
from agentrl.envs.webarena.picturing.looks import WHITE, Colour


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

    def fill(self, area: Area, colour: Colour, radius: float = 0.0) -> None:
        """A filled rectangle, perhaps with round corners."""
        shown = area.cut(self.clip)
        if shown.empty:
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


_FINE = 4  # round corners are drawn this much larger and then reduced
_MAX_KEPT = 400
_kept: dict[tuple[int, int, float, int], Image.Image] = {}


def _corners(width: int, height: int, radius: float, line: int = 0) -> Image.Image:
    """A mask of a rectangle with round corners: all of it, or only its outline."""
    key = width, height, radius, line
    found = _kept.get(key)
    if found is None:
        large = Image.new("L", (width * _FINE, height * _FINE))
        box = (0, 0, width * _FINE - 1, height * _FINE - 1)
        draw = ImageDraw.Draw(large)
        draw.rounded_rectangle(box, radius * _FINE, fill=0 if line else 255, outline=255, width=(line or 1) * _FINE)
        if len(_kept) >= _MAX_KEPT:
            _kept.clear()
        found = _kept[key] = large.reduce(_FINE)
    return found
