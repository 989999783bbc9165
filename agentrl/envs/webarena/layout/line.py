"""A finished line: how tall it is, and where its elements and boxes stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from agentrl.envs.webarena.layout.boxes import Node
from agentrl.envs.webarena.layout.style import Style
from agentrl.envs.webarena.layout.text import X_HEIGHT

if TYPE_CHECKING:
    from agentrl.envs.webarena.layout.blocks import Layout

# What a line is made of. An atom is a box that stands in it like one big letter.
TEXT, SPACE, OPEN, CLOSE, ATOM, BREAK = range(6)


class Atom(NamedTuple):
    """A box within a line, whose contents were placed as `placed[start:end]`, as if it stood at (0, 0)."""

    start: int
    end: int
    height: float
    baseline: float  # from its upper margin


class Text(NamedTuple):
    """A text on a line, which a layout that keeps texts places like an element."""

    text: str
    style: Style


# A part of a line: kind, value, width, style. The value is the text of a word, the element that opens or closes, or an
# `Atom`. A plain tuple, because there are so many.
Piece = tuple[int, Any, float, Style]


class LinePlacer:
    """Places the finished lines of one block. Elements that go on over several lines get a box on each; the first is
    the one that counts."""

    def __init__(self, layout: Layout, style: Style) -> None:
        self._layout, self._style = layout, style
        self._open: list[Node] = []  # elements that go on from the line before
        self._empty: list[Node] = []  # elements without a frame that nothing stands in yet
        self._text: tuple[float, list[Node]] = (0.0, [])  # where a text begins, and elements that begin with it

    def place(self, line: list[Piece], x: float, y: float, filled: bool) -> float:
        """Place a line with its corner at (x, y); its height. A line that is not `filled` has only empty elements."""
        placed = self._layout.placed
        if not filled and not any(kind == OPEN and width for kind, _, width, _ in line):
            start = len(placed)
            self._place(line, x, y, y, 0.0)
            placed[start:] = [(element, left, y, width, 0.0) for element, left, _, width, _ in placed[start:]]
            return 0.0
        ascent, descent = self._heights(line)
        self._place(line, x, y, y + ascent, ascent + descent)
        self._layout.baseline = y + ascent
        return ascent + descent

    def _heights(self, line: list[Piece]) -> tuple[float, float]:
        """How far the line reaches above and below its baseline."""
        own = self._style
        ascent, descent = own.ascent, own.descent
        tallest = 0.0
        for node in self._open:
            ascent, descent = max(ascent, node.style.ascent), max(descent, node.style.descent)
        for kind, value, _, style in line:
            if kind == OPEN and style is not own:
                shift = _shift(style, own)
                ascent, descent = max(ascent, style.ascent - shift), max(descent, style.descent + shift)
            elif kind == ATOM:
                _, _, height, baseline = value
                whole = height + style.margin_top + style.margin_bottom
                if style.valign in ("top", "bottom"):
                    tallest = max(tallest, whole)
                    continue
                if style.valign == "middle":
                    baseline = _middle(whole, own)
                shift = _shift(style, own)
                ascent, descent = max(ascent, baseline - shift), max(descent, whole - baseline + shift)
        return ascent, max(descent, tallest - ascent)

    def _place(self, line: list[Piece], x: float, top: float, baseline: float, height: float) -> None:
        begun: dict[Node, tuple[float, list[Node]]] = {}  # framed elements: left edge, and who is as wide as they
        left_edge, going_on = x, [node for node in self._open if node not in self._empty]
        for kind, value, width, style in line:
            if kind > SPACE:
                self._end_text(x, baseline)
            elif self._empty:
                self._text, self._empty = (x, self._empty), []
            if kind == OPEN:
                self._open.append(value)
                if value.framed:
                    begun[value] = (x + style.margin_left, self._empty)
                    self._empty = []
                else:
                    self._empty.append(value)
            elif kind == CLOSE:
                self._open.remove(value)
                if value in begun:
                    left, others = begun.pop(value)
                    self._place_element(value, left, x + style.right - left, baseline, others)
                elif self._empty and value is self._empty[-1]:
                    self._place_empty(x, baseline)
                elif value in going_on:
                    going_on.remove(value)
                    self._place_further(value, left_edge, x + style.right - left_edge, baseline)
            elif kind == ATOM:
                self._place_atom(value, style, x, top, baseline, height)
            elif kind == BREAK and value is not None:
                self._place_empty(x, baseline)
                tall = style.font_ascent + style.font_descent
                self._layout.placed.append((value.element, x, baseline - style.font_ascent, 0.0, tall))
            elif kind == TEXT and self._layout.keeps_texts:
                own = baseline + (0.0 if style is self._style else _shift(style, self._style))
                tall = style.font_ascent + style.font_descent
                self._layout.placed.append((Text(value or "", style), x, own - style.font_ascent, width, tall))
            x += width
        self._end_text(x, baseline)
        for node, (left, others) in begun.items():  # goes on in the next line
            self._place_element(node, left, x - left, baseline, others)
        for node in going_on:
            self._place_further(node, left_edge, x - left_edge, baseline)

    def _place_further(self, node: Node, left: float, width: float, baseline: float) -> None:
        self._place_element(node, left, width, baseline)
        self._layout.continues = True

    def _place_empty(self, x: float, baseline: float) -> None:
        """What stands in these elements first has no width."""
        for node in self._empty:
            self._place_element(node, x, 0.0, baseline)
        self._empty = []

    def _end_text(self, x: float, baseline: float) -> None:
        """A text ends: elements without a frame that begin with it are as wide as it is."""
        left, nodes = self._text
        if nodes:
            for node in nodes:
                self._place_element(node, left, x - left, baseline)
            self._text = (0.0, [])

    def _place_atom(self, value: Atom, style: Style, x: float, top: float, baseline: float, height: float) -> None:
        start, end, tall, own_baseline = value
        whole = tall + style.margin_top + style.margin_bottom
        if style.valign == "top":
            y = top
        elif style.valign == "bottom":
            y = top + height - whole
        elif style.valign == "middle":
            y = baseline - _middle(whole, self._style)
        else:
            y = baseline - own_baseline + _shift(style, self._style)
        self._layout.shift(start, end, x + style.margin_left, y + style.margin_top)

    def _place_element(
        self, node: Node, left: float, width: float, baseline: float, others: Sequence[Node] = ()
    ) -> None:
        """Place an inline element; `others` begin with it and have no frame."""
        style = node.style
        baseline += _shift(style, self._style)
        height = style.font_ascent + style.font_descent + style.top + style.bottom
        top = baseline - style.font_ascent - style.top
        self._layout.placed.append((node.element, left, top, width, height))
        for other in others:
            self._layout.placed.append((other.element, left, top, width, height))


def _shift(style: Style, parent: Style) -> float:
    """How far below the baseline of its line an element stands."""
    if style.valign == "super":
        return -(parent.font_size / 3 + 1)
    return parent.font_size / 5 + 1 if style.valign == "sub" else 0.0


def _middle(height: float, parent: Style) -> float:
    """The part of a vertically centred box above the baseline."""
    return height / 2 + parent.font_size * X_HEIGHT / 2000
