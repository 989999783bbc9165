"""Tools of the icon recipes: a reproducible source of choices, and elements as text."""

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
