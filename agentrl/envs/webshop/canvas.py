"""A canvas to draw a page on: text that wraps, buttons, frames, in units of an 800 by 800 page at any size."""

from __future__ import annotations

from functools import lru_cache
from math import ceil

from PIL import Image, ImageDraw, ImageFont

UNITS = 800
Colour = tuple[int, int, int]
INK, PALE, LINE, PAPER = (32, 36, 42), (98, 106, 116), (208, 214, 222), (255, 255, 255)
ACCENT, WASH, NOTE = (24, 92, 122), (234, 242, 246), (255, 248, 226)
LINE_HEIGHT = 1.28  # of the size of the type
MAX_PER_WORD = 400  # characters: no line of a page holds more


class Canvas:
    """Positions and sizes are in units; type is drawn at its final size, so that it is crisp at every scale."""

    def __init__(self, pixels: int) -> None:
        self.pixels, self.scale = pixels, pixels / UNITS
        self.image = Image.new("RGB", (pixels, pixels), PAPER)
        self.pen = ImageDraw.Draw(self.image)

    def px(self, units: float) -> int:
        """Units in pixels."""
        return round(units * self.scale)

    def text(self, x: float, y: float, text: str, size: float, colour: Colour = INK, bold: bool = False) -> None:
        """One line, its upper left corner at (x, y)."""
        if mask := line_mask(text, size * self.scale, max(1, self.px(1)) if bold else 0):
            self.image.paste(colour, (self.px(x), self.px(y)), mask)

    def width(self, text: str, size: float) -> float:
        """Units that a line takes."""
        return length_of(text, size * self.scale) / self.scale

    def lines(self, text: str, size: float, width: float) -> list[str]:
        """A text in lines no wider than `width`; a word that is too long by itself is cut."""
        return wrapped(text, size * self.scale, width * self.scale)

    def paragraph(
        self, x: float, y: float, text: str, size: float, width: float, most: int = 99, colour: Colour = INK
    ) -> float:
        """A wrapped text of at most `most` lines; where it ends, in units."""
        lines = self.lines(text, size, width)
        if len(lines) > most:
            lines = [*lines[: most - 1], shortened(lines[most - 1], size * self.scale, width * self.scale)]
        for number, line in enumerate(lines):
            self.text(x, y + number * size * LINE_HEIGHT, line, size, colour)
        return y + len(lines) * size * LINE_HEIGHT

    def frame(
        self, x: float, y: float, width: float, height: float, fill: Colour | None, edge: Colour | None = LINE
    ) -> None:
        """A box with round corners."""
        box = (self.px(x), self.px(y), self.px(x + width), self.px(y + height))
        thickness = max(1, self.px(1.2)) if edge else 0
        self.pen.rounded_rectangle(box, self.px(6), fill, edge, thickness)

    def button(self, x: float, y: float, label: str, size: float = 15, *, strong: bool = False) -> float:
        """A button; where its right edge is, in units."""
        width, height = self.width(label, size) + 1.5 * size, size * 1.95
        self.frame(x, y, width, height, ACCENT if strong else WASH, ACCENT if strong else (150, 180, 194))
        self.text(x + 0.75 * size, y + 0.42 * size, label, size, PAPER if strong else ACCENT)
        return x + width

    def paste(self, picture: Image.Image, x: float, y: float) -> None:
        """A picture of its own size in pixels."""
        self.image.paste(picture, (self.px(x), self.px(y)))


@lru_cache(maxsize=256)
def font_of(pixels: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The type that comes with Pillow, so that pages look the same on every machine."""
    return ImageFont.load_default(max(1.0, pixels))


@lru_cache(maxsize=2_048)
def line_mask(text: str, pixels: float, twice: int = 0) -> Image.Image | None:
    """Where a line leaves ink, kept because pages repeat theirs: setting type is most of the work of a page.

    `twice` draws it once more, this many pixels to the right: only the regular weight is the same everywhere.
    """
    text, font = text[:MAX_PER_WORD], font_of(pixels)
    right, bottom = font.getbbox(text)[2:]
    if right <= 0 or bottom <= 0:
        return None
    mask = Image.new("L", (ceil(right) + twice + 1, ceil(bottom) + 1))
    pen = ImageDraw.Draw(mask)
    for shift in {0, twice}:
        pen.text((shift, 0), text, 255, font)
    return mask


@lru_cache(maxsize=1 << 15)
def length_of(text: str, pixels: float) -> float:
    """Pixels that a line takes."""
    return font_of(pixels).getlength(text)


@lru_cache(maxsize=2_048)
def _wrapped(text: str, pixels: float, width: float) -> tuple[str, ...]:
    space, lines, line, used = length_of(" ", pixels), [], "", 0.0
    for word in text.split():
        if len(word) > 30 and length_of(word[:MAX_PER_WORD], pixels) > width:
            word = shortened(word, pixels, width)
        long = length_of(word, pixels)
        if line and used + space + long > width:
            lines.append(line)
            line, used = word, long
        else:
            line, used = (f"{line} {word}", used + space + long) if line else (word, long)
    return tuple([*lines, line] if line else lines)


def wrapped(text: str, pixels: float, width: float) -> list[str]:
    """The lines of a text; only so much of an endless one is looked at as any page could show."""
    return list(_wrapped(text[:20_000], pixels, width))


def shortened(text: str, pixels: float, width: float) -> str:
    """The beginning of a line, with dots, so that it fits."""
    text = text[:MAX_PER_WORD]
    while text and length_of(f"{text}...", pixels) > width:
        text = text[: len(text) - max(1, len(text) // 16)]
    return f"{text}..."
