"""Product photos, drawn: the shape by the product's kind, the colour by its options or title."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib.resources import files
from zlib import crc32

from PIL import Image, ImageColor, ImageDraw

from agentrl.envs.common.catalogue.matching import COLOURS
from agentrl.envs.common.catalogue.product import Product

_DATA = tomllib.loads(files("agentrl.envs.common.catalogue").joinpath("photos.toml").read_text(encoding="utf-8"))
SHAPES = {name: [stroke.split() for stroke in strokes] for name, strokes in _DATA["shapes"].items()}
WORDS = [(word, shape) for shape, words in _DATA["words"].items() for word in words.split("|")]
BY_CATEGORY, TINTS, PALETTE = _DATA["by_category"], _DATA["tints"], _DATA["palette"]["colours"]
FINER = 4  # drawn this many times larger, so that edges come out smooth
BACK = (244, 246, 248)
FIXED = {"ink": (52, 56, 64), "white": (252, 252, 252), "back": BACK, "leaf": (92, 150, 96)}
Colour = tuple[int, int, int]


def photo(product: Product, pixels: int, colour: str = "") -> Image.Image:
    """A square picture of a product; `colour` is the chosen one, if any. Do not draw on it: it is shared."""
    return _drawn(shape_of(product), tint_of(product, colour), pixels)


def shape_of(product: Product) -> str:
    """Which drawing stands for the product."""
    return _shape_for(product.query) or BY_CATEGORY.get(product.category, "carton")


@lru_cache(maxsize=1_024)
def _shape_for(kind: str) -> str | None:
    words = _singular(kind)
    return next((shape for word, shape in WORDS if _singular(word) in words), None)


def _singular(phrase: str) -> str:
    return " ".join(["", *(word.removesuffix("s") for word in phrase.lower().split()), ""])


def tint_of(product: Product, colour: str = "") -> Colour:
    """The colour that is chosen, offered first, or named in the title; without any, one that the id decides."""
    offered = next((values[0] for name, values in product.options.items() if name == "color" and values), "")
    for text in (colour, offered, product.title):
        if named := colour_named(text):
            return named
    return _rgb(PALETTE[crc32(product.asin.encode()) % len(PALETTE)])


@lru_cache(maxsize=4_096)
def colour_named(text: str) -> Colour | None:
    """The last colour word of a text ("navy blue" is some blue, but "blue navy" is not), as red, green and blue."""
    for word in reversed(re.findall(r"[a-z]+", text.lower())):
        if word in TINTS:
            return _rgb(TINTS[word])
        if word in COLOURS and word in ImageColor.colormap:
            return _rgb(word)
    return None


def _rgb(name: str) -> Colour:
    red, green, blue = ImageColor.getrgb(name)[:3]
    return red, green, blue


def _mixed(colour: Colour, other: int, share: float) -> Colour:
    red, green, blue = (round(value + (other - value) * share) for value in colour)
    return red, green, blue


@lru_cache(maxsize=1_024)
def _drawn(shape: str, tint: Colour, pixels: int) -> Image.Image:
    tones = {**FIXED, "main": tint, "dark": _mixed(tint, 0, 0.3), "light": _mixed(tint, 255, 0.55)}
    large = Image.new("RGB", (pixels * FINER, pixels * FINER), BACK)
    pen, unit = ImageDraw.Draw(large), pixels * FINER / 100
    width = max(1, round(unit))
    for form, tone, *numbers in SHAPES[shape]:
        places = [(12 + 0.76 * int(number)) * unit for number in numbers]
        fill = tones[tone]
        edge = _mixed(fill, 0, 0.25) if tone in ("main", "light", "white") else None
        if form == "box":
            pen.rectangle(places, fill=fill)
        elif form == "round":
            pen.rounded_rectangle(places, radius=6 * unit, fill=fill, outline=edge, width=width)
        elif form == "oval":
            pen.ellipse(places, fill=fill, outline=edge, width=width)
        elif form == "poly":
            pen.polygon(places, fill=fill, outline=edge, width=width)
        else:
            pen.line(places, fill=fill, width=round(4 * unit), joint="curve")
    return large.resize((pixels, pixels), Image.Resampling.LANCZOS)
