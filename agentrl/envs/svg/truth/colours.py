"""Colours as SVG writes them, and what people call them."""

from __future__ import annotations

import re
from functools import lru_cache

from PIL import ImageColor

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
