"""Paints a page from its layout: backgrounds, borders, texts, pictures, and form fields as Chromium draws them, with
what they hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from agentrl.envs.webarena.backend import View
from agentrl.envs.webarena.layout.blocks import Clipped, Placed
from agentrl.envs.webarena.layout.document import option_text, option_value, options_of
from agentrl.envs.webarena.layout.inline import Text
from agentrl.envs.webarena.layout.style import Style
from agentrl.envs.webarena.layout.text import run_of, text_width
from agentrl.envs.webarena.picturing.images import Images
from agentrl.envs.webarena.picturing.paper import (
    BLACK,
    WHITE,
    Area,
    Colour,
    Paper,
    area_of,
    colour_of,
    fitting,
    opacity_of,
)

_ACCENT, _BORDER, _HINT, _ARROW = (0, 117, 255), (118, 118, 118), (117, 117, 117), (0, 0, 0)
_BUTTONS = {"submit": "Submit", "reset": "Reset", "button": ""}
_MAX_LENGTH = 20_000  # characters of a field that are looked at
_CONTROLS = {"input", "select", "textarea"}
_MISSING, _EDGE, _FOCUS = (233, 235, 238), (180, 184, 190), (16, 16, 16)
_FAR = 1e7  # pixels: farther away there is nothing
_SIDES = ("top", "right", "bottom", "left")


class Look(NamedTuple):
    """What is seen of a box besides its contents."""

    text: Colour
    background: Colour | None
    opacity: int  # of the background, up to 255
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
    first = next(iter(declared.get("border-radius", "").split()), "")
    try:
        radius = float(first.removesuffix("px")) if not first.endswith("%") else 10_000.0  # half of anything
    except ValueError:
        radius = 0.0
    ground = painted or ""
    sides = borders[0], borders[1], borders[2], borders[3]
    return Look(text, colour_of(ground), opacity_of(ground), sides, bordered, radius, ellipsis)


def paint_control(paper: Paper, element: Any, style: Style, area: Area, value: str) -> None:
    """What is in a field; check boxes and radio buttons as a whole."""
    kind = (element.get("type") or "text").lower() if element.tag == "input" else element.tag
    if kind in ("checkbox", "radio"):
        _check(paper, area, kind == "radio", bool(value))
        return
    left, top, right, bottom = area
    inner = Area(
        left + round(style.left), top + round(style.border_top), right - round(style.right),
        bottom - round(style.border_bottom),
    )  # fmt: skip
    clip, paper.clip = paper.clip, inner.cut(paper.clip)
    size, colour = style.font_size, look_of(style).text
    high = style.font_ascent + style.font_descent
    middle = (inner.top + inner.bottom - high) / 2
    if kind == "select" and element.get("multiple") is not None:
        for number, option in enumerate(options_of(element)[:50]):
            line = inner.top + 2 + number * (high + 1)
            paper.write(option_text(option)[:200], size, inner.left + 4.0, line, colour)
    elif kind == "select":
        options = options_of(element)
        chosen = next((option for option in options if option_value(option) == value), options[0] if options else None)
        if chosen is not None:
            paper.write(option_text(chosen)[:200], size, inner.left + 4.0, middle, colour)
    else:
        text = value[:_MAX_LENGTH]
        if kind == "password":
            text = "\u2022" * min(len(text), 200)
        elif kind in _BUTTONS:
            text = element.get("value") or _BUTTONS[kind]
        if not text:  # what it asks for
            text, colour = (element.get("placeholder") or "")[:_MAX_LENGTH], _HINT
        if kind == "textarea":
            _paragraph(paper, text, style, inner._replace(top=top + round(style.top)), colour)
        else:
            room = inner.right - inner.left - text_width(text) * style.scale
            indent = max(0.0, room / 2) if kind in _BUTTONS else 0.0
            paper.write(text, size, inner.left + indent, middle, colour)
    paper.clip = clip
    if kind == "select" and element.get("multiple") is None:
        y = (top + bottom) // 2
        arrow = Area(right - 17, y - 4, right - 5, y + 4)
        if arrow.cut(clip) == arrow:
            y -= paper.top
            paper.draw.line([(right - 16, y - 2), (right - 12, y + 2), (right - 8, y - 2)], _ARROW, 2)


def _check(paper: Paper, area: Area, is_radio: bool, checked: bool) -> None:
    size = area.right - area.left
    radius = size / 2 if is_radio else 2.5
    paper.fill(area, _ACCENT if checked and not is_radio else WHITE, radius)
    paper.frame(area, _ACCENT if checked else _BORDER, 1, radius)
    if checked and is_radio:
        paper.fill(area.inset(max(1, size // 4 - 1)), _ACCENT, size)
    elif checked and area.cut(paper.clip) == area:
        x, y = area.left, area.top - paper.top
        points = [(0.2, 0.52), (0.42, 0.73), (0.8, 0.28)]
        paper.draw.line([(x + right * size, y + down * size) for right, down in points], WHITE, max(1, size // 8))


def _paragraph(paper: Paper, text: str, style: Style, inner: Area, colour: Colour) -> None:
    """The text of a field with several lines."""
    limit = (inner.right - inner.left) / style.scale if style.scale else 0.0  # in thousandths of the font size
    y = float(inner.top) + (style.line - style.font_ascent - style.font_descent) / 2
    for row in text.splitlines():
        lines, line, used = [], "", 0.0
        for word, width, space in run_of(row).words:
            gap = " " if space and line else ""
            wanted = used + width + text_width(gap)
            if line and wanted > limit:
                lines.append(line)
                line, used = word, float(width)
            else:
                line, used = line + gap + word, wanted
        for part in (*lines, line):
            if y >= inner.bottom:
                return
            paper.write(part, style.font_size, inner.left, y, colour)
            y += style.line


class Painter:
    """Paints the part of one page between `top` and `top + height`."""

    def __init__(self, view: View, styles: Mapping[Any, Style], images: Images, resolve: Callable[[str], str]) -> None:
        self._view, self._styles, self._images, self._resolve = view, styles, images, resolve

    def paint(self, placed: Sequence[Placed], width: int, top: int, height: int) -> np.ndarray:
        """The picture, uint8 [height, width, 3]. Boxes come after their contents: the last is painted first."""
        self._paper = paper = Paper(width, height, top)
        if placed and (ground := look_of(self._styles[placed[-1][0]]).background) is not None:
            paper.fill(paper.whole, ground)  # that of the page itself reaches farther than its box
        self._ellipses: list[bool] = [False]
        clips: list[Area] = [paper.whole]
        bottom = top + height
        clipping = {entry[0].element for entry in placed if entry[0].__class__ is Clipped}
        for thing, x, y, wide, high in reversed(placed):
            if thing.__class__ is Clipped:
                clips.pop()
                self._ellipses.pop()
                paper.clip = clips[-1]
            elif thing.__class__ is Text:
                if y < bottom and y + high > top:
                    self._text(thing, x, y, wide)
            else:
                style = self._styles[thing]
                if y < bottom and y + high > top and -_FAR < x < _FAR:
                    self._box(thing, style, x, y, wide, high)
                if thing in clipping:
                    inner = area_of(
                        x + style.border_left, y + style.border_top, wide - style.border_left - style.border_right,
                        high - style.border_top - style.border_bottom,
                    )  # fmt: skip
                    clips.append(inner.cut(clips[-1]))
                    self._ellipses.append(look_of(style).ellipsis)
                    paper.clip = clips[-1]
        return np.asarray(paper.image).copy()

    def _text(self, thing: Text, x: float, y: float, wide: float) -> None:
        text, style = thing
        if style.hidden or not -_FAR < x < _FAR:
            return
        paper, look = self._paper, look_of(style)
        if self._ellipses[-1] and x + wide > paper.clip.right + 0.5:
            room = paper.clip.right - x - text_width("\u2026") * style.scale
            text = fitting(text, style.font_size, room) + "\u2026" if room > -style.font_size else ""
        paper.write(text, style.font_size, x, y, look.text)
        if style.underlined:
            line = y + style.font_ascent + 1
            paper.fill(area_of(x, line, wide, max(1.0, style.font_size / 16)), look.text)

    def _box(self, element: Any, style: Style, x: float, y: float, wide: float, high: float) -> None:
        if style.hidden:
            return
        area, tag = area_of(x, y, wide, high), element.tag
        look = look_of(style)
        if tag not in _CONTROLS or element.get("type") not in ("checkbox", "radio"):
            self._frame(style, look, area)
        if tag in _CONTROLS:
            paint_control(self._paper, element, style, area, self._view.values.get(element, ""))
        elif tag == "img":
            self._picture(element, area)
        if element is self._view.focused and tag in _CONTROLS:  # a mouse leaves no ring on links and buttons
            self._paper.frame(area.inset(-1), _FOCUS, 2, look.radius + 1)

    def _frame(self, style: Style, look: Look, area: Area) -> None:
        paper = self._paper
        if look.background is not None:
            paper.fill(area, look.background, look.radius, look.opacity)
        if not look.bordered:
            return
        sizes = [round(size) for size in (style.border_top, style.border_right, style.border_bottom, style.border_left)]
        if len(set(sizes)) == 1 and len(set(look.borders)) == 1:
            paper.frame(area, look.borders[0], sizes[0], look.radius)
            return
        left, top, right, bottom = area
        edges = (
            Area(left, top, right, top + sizes[0]), Area(right - sizes[1], top, right, bottom),
            Area(left, bottom - sizes[2], right, bottom), Area(left, top, left + sizes[3], bottom),
        )  # fmt: skip
        for edge, size, colour in zip(edges, sizes, look.borders, strict=True):
            if size:
                paper.fill(edge, colour)

    def _picture(self, element: Any, area: Area) -> None:
        url = self._resolve(element.get("src") or "")
        picture = self._images.get(url, area.right - area.left, area.bottom - area.top) if url else None
        if picture is not None:
            self._paper.place(picture, area.left, area.top)
            return
        self._paper.fill(area, _MISSING)
        self._paper.frame(area, _EDGE)
        clip, self._paper.clip = self._paper.clip, area.cut(self._paper.clip)
        self._paper.write((element.get("alt") or "")[:200], 12.0, area.left + 4, area.top + 3, (90, 94, 100))
        self._paper.clip = clip
