"""Paints a page from its layout: backgrounds, borders, texts, fields with what they hold, pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from agentrl.envs.webarena.browsing.font import text_width
from agentrl.envs.webarena.browsing.layout import Clipped, Placed
from agentrl.envs.webarena.browsing.line import Text
from agentrl.envs.webarena.browsing.style import Style
from agentrl.envs.webarena.picturing.controls import paint_control
from agentrl.envs.webarena.picturing.glyphs import fitting
from agentrl.envs.webarena.picturing.images import Images
from agentrl.envs.webarena.picturing.looks import Look, look_of
from agentrl.envs.webarena.picturing.paper import Area, Paper, area_of

_CONTROLS = {"input", "select", "textarea"}
_MISSING, _EDGE, _FOCUS = (233, 235, 238), (180, 184, 190), (16, 16, 16)
_FAR = 1e7  # pixels: farther away there is nothing


class Painter:
    """Paints the part of one page between `top` and `top + height`."""

    def __init__(
        self,
        styles: Mapping[Any, Style],
        values: Mapping[Any, str],
        focused: Any,
        images: Images,
        resolve: Callable[[str], str],
    ) -> None:
        self._styles, self._values, self._focused = styles, values, focused
        self._images, self._resolve = images, resolve

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

    # ------------------------------------------------------------------ parts

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
        if tag in _CONTROLS and element.get("type") in ("checkbox", "radio"):
            paint_control(self._paper, element, style, area, self._values.get(element, ""))
        else:
            self._frame(style, look, area)
            if tag == "img":
                self._picture(element, area)
            elif tag in _CONTROLS:
                paint_control(self._paper, element, style, area, self._values.get(element, ""))
        if element is self._focused and tag in (*_CONTROLS, "button", "a"):
            self._paper.frame(area.inset(-1), _FOCUS, 2, look.radius + 1)

    def _frame(self, style: Style, look: Look, area: Area) -> None:
        paper = self._paper
        if look.background is not None:
            paper.fill(area, look.background, look.radius)
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
