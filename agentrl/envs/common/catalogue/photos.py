"""Product photos, drawn: the shape by the product's kind, the colour by its options or title, pattern and proportions
by what its texts name (or else by chance, as the emblem), so that two products of a kind seldom look alike."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

from PIL import Image, ImageChops, ImageColor, ImageDraw

from agentrl.envs.common.catalogue.matching import COLOURS
from agentrl.envs.common.catalogue.product import Product
from agentrl.envs.common.data_files import data_file

_DATA = data_file("agentrl.envs.common.catalogue", "photos.toml")
SHAPES = {name: [stroke.split() for stroke in strokes] for name, strokes in _DATA["shapes"].items()}
WORDS = [(word, shape) for shape, words in _DATA["words"].items() for word in words.split("|")]
BY_CATEGORY, TINTS, PALETTE = _DATA["by_category"], _DATA["tints"], _DATA["palette"]["colours"]
FINER = 3  # drawn this many times larger, so that edges come out smooth
BACK = (244, 246, 248)
FIXED = {"ink": (52, 56, 64), "white": (252, 252, 252), "back": BACK, "leaf": (92, 150, 96)}
PATTERNS, PROPORTIONS = _DATA["patterns"], _DATA["proportions"]
EMBLEMS = [[stroke.split() for stroke in strokes] for strokes in _DATA["emblems"].values()]
Colour = tuple[int, int, int]


class Look(NamedTuple):
    """What a photo shows of a product."""

    shape: str
    tint: Colour
    pattern: str  # a key of PATTERNS
    wide: float
    high: float
    emblem: int
    flipped: bool


def photo(product: Product, pixels: int, colour: str = "") -> Image.Image:
    """A square picture of a product; `colour` is the chosen one, if any. Do not draw on it: it is shared."""
    return _drawn(look_of(product, colour), pixels)


def look_of(product: Product, colour: str = "") -> Look:
    """Shape, colour and what the attributes say; where they say nothing of it, the title decides by chance."""
    said = f" {product.title} {' '.join(product.bullets)} ".lower()
    chance = crc32(product.title.encode())
    pattern = _named(PATTERNS, said) or list(PATTERNS)[chance % len(PATTERNS)]
    stature = _named(PROPORTIONS, said) or list(PROPORTIONS)[(chance >> 4) % len(PROPORTIONS)]
    wide, high = PROPORTIONS[stature]["size"]
    emblem, flipped = (chance >> 12) % len(EMBLEMS), bool(chance & 256)
    return Look(shape_of(product), tint_of(product, colour), pattern, wide, high, emblem, flipped)


def _named(listed: dict[str, dict], said: str) -> str | None:
    """The first entry one of whose words the text has."""
    return next((name for name, entry in listed.items() if any(word in said for word in entry["words"])), None)


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
def _drawn(look: Look, pixels: int) -> Image.Image:
    side, tint = pixels * FINER, look.tint
    large = Image.new("RGB", (side, side), BACK)
    _draw(ImageDraw.Draw(large), SHAPES[look.shape], _tones(tint), side / 100, look)
    plain = (
        ImageChops.difference(large, Image.new("RGB", large.size, tint)).convert("L").point(lambda step: not step, "1")
    )
    marks = Image.new("1", large.size)
    pen = ImageDraw.Draw(marks)
    for stroke in PATTERNS[look.pattern]["strokes"]:
        _repeat(pen, stroke, side / 100)
    large.paste(_mixed(tint, 0 if sum(tint) > 240 else 255, 0.22), mask=ImageChops.logical_and(marks, plain))
    emblem = Image.new("RGB", large.size, BACK)
    _draw(ImageDraw.Draw(emblem), EMBLEMS[look.emblem], _tones(tint), side / 100, look)
    drawn = ImageChops.difference(emblem, Image.new("RGB", large.size, BACK)).convert("L").point(bool, "1")
    large.paste(emblem, mask=ImageChops.logical_and(drawn, plain))
    small = large.reduce(FINER)
    return small.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if look.flipped else small


def _tones(tint: Colour) -> dict[str, Colour]:
    return {**FIXED, "main": tint, "dark": _mixed(tint, 0, 0.3), "light": _mixed(tint, 255, 0.55)}


def _draw(
    pen: ImageDraw.ImageDraw, strokes: list[list[str]], tones: dict[str, Colour], unit: float, look: Look
) -> None:
    """Put strokes into the middle of the picture, as wide and high as the product is."""
    width = max(1, round(unit))
    for form, tone, *numbers in strokes:
        across = [50 + 0.76 * look.wide * (int(number) - 50) for number in numbers[::2]]
        down = [50 + 0.76 * look.high * (int(number) - 50) for number in numbers[1::2]]
        places = [(x * unit, y * unit) for x, y in zip(across, down, strict=True)]
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


def _repeat(pen: ImageDraw.ImageDraw, stroke: str, unit: float) -> None:
    """Fill the picture with a stroke: its form, how far one is from the next across and down, and where it lies."""
    form, *numbers = stroke.split()
    across, down, *ends = map(int, numbers)
    for left in range(-100, 200, across):
        for top in range(-100, 200, down):
            places = [((left if place % 2 == 0 else top) + end) * unit for place, end in enumerate(ends)]
            if max(places) < 0 or min(places) > 100 * unit:
                continue
            if form == "dot":
                pen.ellipse(places, fill=1)
            else:
                pen.line(places, fill=1, width=round(1.6 * unit))
