"""Tools of the icon recipes: a reproducible source of choices, elements as text, and letters of our own.

Letters and digits are strokes: drawn alike on every machine, whatever fonts it has.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

CANVAS = 100  # side of every generated icon's view box
Choice = TypeVar("Choice")
Point = tuple[float, float]


class Rng:
    """Choices that follow from a key alone: the same on every machine, and no other generator is used."""

    def __init__(self, *key: object) -> None:
        self._key = hashlib.blake2b("/".join(map(str, key)).encode(), digest_size=32, person=b"agentrl-icons").digest()
        self._block, self._words = 0, []

    def _word(self) -> int:
        if not self._words:
            digest = hashlib.blake2b(self._block.to_bytes(8, "little"), key=self._key).digest()
            self._words = [int.from_bytes(digest[at : at + 8], "little") for at in range(0, 64, 8)]
            self._block += 1
        return self._words.pop()

    def whole(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + self._word() % (high - low + 1)

    def real(self, low: float, high: float) -> float:
        """A number from `low` to `high` in steps of a tenth."""
        return self.whole(round(low * 10), round(high * 10)) / 10

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self._word() < probability * 2**64

    def pick(self, options: Sequence[Choice]) -> Choice:
        """One of them."""
        return options[self._word() % len(options)]

    def several(self, options: Sequence[Choice], count: int) -> list[Choice]:
        """Different ones of them, in random order."""
        left = list(options)
        return [left.pop(self._word() % len(left)) for _ in range(count)]


class Hues(NamedTuple):
    """The colours that go together in one icon."""

    paper: str  # light, for backgrounds
    main: str
    second: str
    accent: str
    dark: str


PALETTES = (
    Hues("white", "crimson", "gold", "steelblue", "#222233"),
    Hues("ivory", "teal", "coral", "darkorange", "#1f3040"),
    Hues("#f2f6fc", "royalblue", "tomato", "#ffc83d", "navy"),
    Hues("#fdf1e3", "#c8553d", "#588b8b", "#f2c14e", "#2d3142"),
    Hues("honeydew", "seagreen", "orchid", "khaki", "darkslategray"),
    Hues("#f6effa", "mediumpurple", "hotpink", "#58c4dd", "#2b1b45"),
    Hues("lightcyan", "dodgerblue", "orangered", "gold", "midnightblue"),
    Hues("#fff7d6", "#e4572e", "#17bebb", "#76b041", "#2e282a"),
    Hues("aliceblue", "slateblue", "salmon", "mediumseagreen", "#20233a"),
    Hues("#eef3e2", "olivedrab", "sienna", "goldenrod", "#33261d"),
    Hues("lavenderblush", "deeppink", "turquoise", "plum", "indigo"),
    Hues("#f5f5f5", "black", "dimgray", "red", "black"),
    Hues("#e8f4f2", "#2a7f8e", "#e58f65", "#a3c9a8", "#173036"),
    Hues("mistyrose", "firebrick", "cadetblue", "darkseagreen", "maroon"),
    Hues("#edf0ff", "#3f51d9", "#00b88d", "#ff8fa3", "#15193d"),
    Hues("beige", "chocolate", "darkcyan", "burlywood", "#3b2a1a"),
)
Recipe = Callable[[Rng, Hues], list[str]]


def number(value: float) -> str:
    """A number as short as it can be written, to two places."""
    # Rounded twice: mathematical libraries differ in the last bit, and a tie must not fall to either side.
    text = f"{round(value, 6):.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def tag(name: str, *inside: str, **attributes: str | float | None) -> str:
    """An element: `stroke_width=2` is written stroke-width="2"; None leaves an attribute out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{value if isinstance(value, str) else number(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{written}>{''.join(inside)}</{name}>" if inside else f"<{name}{written}/>"


def circle(x: float, y: float, r: float, fill: str, **others: str | float | None) -> str:
    """A circle by its centre and radius."""
    return tag("circle", cx=x, cy=y, r=r, fill=fill, **others)


def rect(x: float, y: float, width: float, height: float, fill: str, **others: str | float | None) -> str:
    """A rectangle by its upper left corner and size."""
    return tag("rect", x=x, y=y, width=width, height=height, fill=fill, **others)


def ellipse(x: float, y: float, rx: float, ry: float, fill: str, **others: str | float | None) -> str:
    """An ellipse by its centre and radii."""
    return tag("ellipse", cx=x, cy=y, rx=rx, ry=ry, fill=fill, **others)


def line(x1: float, y1: float, x2: float, y2: float, stroke: str, width: float, **others: str | float | None) -> str:
    """A straight stroke."""
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=stroke, stroke_width=width, **others)


def polygon(points: Sequence[Point], fill: str, **others: str | float | None) -> str:
    """A closed shape of straight sides."""
    return tag("polygon", points=joined(points), fill=fill, **others)


def polyline(points: Sequence[Point], stroke: str, width: float, **others: str | float | None) -> str:
    """An open stroke with corners."""
    return tag("polyline", points=joined(points), fill="none", stroke=stroke, stroke_width=width, **others)


def path(d: str, fill: str, **others: str | float | None) -> str:
    """A path."""
    return tag("path", d=d, fill=fill, **others)


def joined(points: Sequence[Point]) -> str:
    """Points as the `points` attribute writes them."""
    return " ".join(f"{number(x)},{number(y)}" for x, y in points)


def around(x: float, y: float, radius: float, count: int, turn: float = 0) -> list[Point]:
    """Points on a circle, the first at the top, `turn` degrees further round."""
    angles = (math.radians(turn + 360 * i / count) for i in range(count))
    return [(x + radius * math.sin(a), y - radius * math.cos(a)) for a in angles]


def star(x: float, y: float, outer: float, inner: float, tips: int, turn: float = 0) -> list[Point]:
    """The corners of a star."""
    far, near = around(x, y, outer, tips, turn), around(x, y, inner, tips, turn + 180 / tips)
    return [point for pair in zip(far, near, strict=True) for point in pair]


def gradient(identity: str, first: str, last: str, *, radial: bool = False, upright: bool = True) -> str:
    """Definitions of a gradient between two colours; use it as `url(#identity)`."""
    stops = (tag("stop", offset=0, stop_color=first), tag("stop", offset=1, stop_color=last))
    if radial:
        return tag("defs", tag("radialGradient", *stops, id=identity))
    return tag("defs", tag("linearGradient", *stops, id=identity, x2=0 if upright else 1, y2=1 if upright else 0))


# ---------------------------------------------------------------------- letters

WIDTH, HEIGHT, GAP = 4, 6, 2  # of the box that a glyph is drawn in, and the space after it
# One path a glyph: capital letters are absolute commands, corners in a box of 4 x 6 with y downwards.
GLYPHS = {
    "A": "M0 6L2 0L4 6M0.7 4H3.3",
    "B": "M0 0V6H2.4A1.6 1.6 0 0 0 2.4 2.8H0H2.2A1.4 1.4 0 0 0 2.2 0Z",
    "C": "M4 1.2A2.1 2.1 0 0 0 0 2V4A2.1 2.1 0 0 0 4 4.8",
    "D": "M0 0V6H1.5A2.5 2.5 0 0 0 4 3.5V2.5A2.5 2.5 0 0 0 1.5 0Z",
    "E": "M4 0H0V6H4M0 3H3.2",
    "F": "M4 0H0V6M0 3H3.2",
    "G": "M4 1.2A2.1 2.1 0 0 0 0 2V4A2 2 0 0 0 4 4V3.2H2.4",
    "H": "M0 0V6M4 0V6M0 3H4",
    "I": "M2 0V6M1 0H3M1 6H3",
    "J": "M4 0V4A2 2 0 0 1 0 4",
    "K": "M0 0V6M4 0L0 3.4M1.4 2.4L4 6",
    "L": "M0 0V6H4",
    "M": "M0 6V0L2 3.4L4 0V6",
    "N": "M0 6V0L4 6V0",
    "O": "M0 2A2 2 0 0 1 4 2V4A2 2 0 0 1 0 4Z",
    "P": "M0 6V0H2.4A1.6 1.6 0 0 1 2.4 3.2H0",
    "Q": "M0 2A2 2 0 0 1 4 2V4A2 2 0 0 1 0 4ZM2.6 4.4L4.2 6.2",
    "R": "M0 6V0H2.4A1.6 1.6 0 0 1 2.4 3.2H0M2 3.2L4 6",
    "S": "M3.8 1.2A2 1.6 0 0 0 0.2 1.5C0.2 3.6 3.8 2.4 3.8 4.5A2 1.6 0 0 1 0.2 4.8",
    "T": "M0 0H4M2 0V6",
    "U": "M0 0V4A2 2 0 0 0 4 4V0",
    "V": "M0 0L2 6L4 0",
    "W": "M0 0L1 6L2 2.4L3 6L4 0",
    "X": "M0 0L4 6M4 0L0 6",
    "Y": "M0 0L2 3L4 0M2 3V6",
    "Z": "M0 0H4L0 6H4",
    "0": "M0 2A2 2 0 0 1 4 2V4A2 2 0 0 1 0 4ZM1 4.6L3 1.4",
    "1": "M0.6 1.4L2 0V6M0.6 6H3.4",
    "2": "M0.2 1.6A1.9 1.9 0 0 1 3.4 2.9L0.2 6H4",
    "3": "M0.2 0H3.8L1.8 2.4A1.8 1.8 0 1 1 0.2 5",
    "4": "M3 6V0L0 4.2H4",
    "5": "M3.8 0H0.6L0.4 2.6H2.2A1.7 1.7 0 0 1 2.2 6H0.2",
    "6": "M3.4 0.2C0.6 0.8 0 2.6 0 4A2 2 0 0 0 4 4A1.9 1.9 0 0 0 0.2 3.4",
    "7": "M0 0H4L1.4 6",
    "8": "M2 3A1.5 1.5 0 0 1 2 0A1.5 1.5 0 0 1 2 3A1.5 1.5 0 0 0 2 6A1.5 1.5 0 0 0 2 3",
    "9": "M0.6 5.8C3.4 5.2 4 3.4 4 2A2 2 0 0 0 0 2A1.9 1.9 0 0 0 3.8 2.6",
}
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
DIGITS = "0123456789"


def word_width(word: str, height: float) -> float:
    """How wide a word of this height is."""
    return (len(word) * (WIDTH + GAP) - GAP) * height / HEIGHT


def write(word: str, x: float, y: float, height: float, colour: str, weight: float = 1) -> str:
    """A word centred on a point: one group, scaled from the glyphs' box; `weight` is the stroke in that box."""
    scale = height / HEIGHT
    left, top = x - word_width(word, height) / 2, y - height / 2
    glyphs = []
    for place, character in enumerate(word):
        shift = None if place == 0 else f"translate({place * (WIDTH + GAP)})"
        glyphs.append(tag("path", d=GLYPHS[character], transform=shift))
    where = f"translate({number(left)} {number(top)}) scale({number(scale)})"
    style = {"stroke_width": weight, "stroke_linecap": "round", "stroke_linejoin": "round"}
    return tag("g", *glyphs, transform=where, fill="none", stroke=colour, **style)


def set_type(word: str, x: float, y: float, height: float, colour: str) -> str:
    """The same as a `<text>` element, in whatever sans-serif font the machine has."""
    return tag(
        "text", word, x=x, y=y + 0.36 * height, font_family="sans-serif", font_size=1.3 * height, text_anchor="middle",
        font_weight="bold", fill=colour,
    )  # fmt: skip
