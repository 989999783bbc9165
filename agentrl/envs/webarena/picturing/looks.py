"""How boxes are painted: colours, borders and corners out of their styles."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from PIL import ImageColor

from agentrl.envs.webarena.browsing.style import Style

Colour = tuple[int, int, int]
WHITE, BLACK = (255, 255, 255), (0, 0, 0)
_SIDES = ("top", "right", "bottom", "left")


class Look(NamedTuple):
    """What is seen of a box besides its contents."""

    text: Colour
    background: Colour | None
    borders: tuple[Colour, Colour, Colour, Colour]  # at the top, on the right, at the bottom, on the left
    bordered: bool
    radius: float
    ellipsis: bool  # ends text that is too long


@lru_cache(50_000)
def look_of(style: Style) -> Look:
    """How boxes with this style look."""
    declared = style.declared
    text = colour_of(style.colour) or BLACK
    painted = declared.get("background-color") or declared.get("background")
    borders = [colour_of(declared.get(f"border-{side}-color", "")) or text for side in _SIDES]
    bordered = bool(style.border_top or style.border_right or style.border_bottom or style.border_left)
    ellipsis = style.clips and declared.get("text-overflow") == "ellipsis"
    radius = _pixels(declared.get("border-radius", ""))
    return Look(text, colour_of(painted or ""), (borders[0], borders[1], borders[2], borders[3]), bordered, radius,
                ellipsis)  # fmt: skip


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


def _pixels(text: str) -> float:
    """The first length of `border-radius`; half of anything for percents."""
    first = text.split()[0] if text.split() else ""
    try:
        return float(first.removesuffix("px")) if not first.endswith("%") else 10_000.0
    except ValueError:
        return 0.0
