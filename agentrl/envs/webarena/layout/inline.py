"""Lines: words, inline elements and boxes between them, broken and aligned as a browser does; then how tall a finished
line is, and where its elements and boxes stand."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from agentrl.envs.webarena.layout.boxes import BREAK, INLINE, Node
from agentrl.envs.webarena.layout.style import Style
from agentrl.envs.webarena.layout.text import X_HEIGHT, Run, line_widths, may_break, run_of, text_width, widths

if TYPE_CHECKING:
    from agentrl.envs.webarena.layout.blocks import Layout

_SPACE_WIDTH = widths()[" "]
_UNIT = 64  # browsers calculate in 64ths of a pixel
_SLACK = 0.02
_TAB = 8
# What a line is made of. An atom is a box that stands in it like one big letter.
TEXT, SPACE, OPEN, CLOSE, ATOM, LINE_BREAK = range(6)


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


def lay_lines(layout: Layout, node: Node, x: float, y: float, width: float) -> float:
    """Lay the texts and inline boxes of a block out in lines from (x, y); the height they take."""
    style, children = node.style, node.children
    if layout.keeps_texts:
        return _lay_all(layout, node, x, y, width)
    if node.run is not None:
        if not node.run.words:
            count = 0
        elif not style.wraps or node.run.width * style.scale <= width:
            count = 1
        else:
            count = len(line_widths(node.run, style.font_size, width, style.wraps_anywhere))
        height = style.line * count
    elif not children:
        return 0.0
    elif node.single is not None and (count := _lay_single(layout, node.single, style, x, y, width)):
        height = style.line * count
    elif len(children) == 1 and children[0].__class__ is str and style.white_space == "pre":
        height = style.line * len(children[0].removesuffix("\n").split("\n"))
    else:
        return _lay_all(layout, node, x, y, width)
    if height:
        layout.baseline = y + height - style.descent
    return height


def _lay_all(layout: Layout, node: Node, x: float, y: float, width: float) -> float:
    """Lay everything out piece by piece."""
    if not node.children:
        return 0.0
    lines = _Lines(layout, node.style, x, y, width)
    lines.add(node.children, node.style)
    return lines.finish() - y


def _lay_single(layout: Layout, node: Node, style: Style, x: float, y: float, width: float) -> int:
    """Place an inline element with a text that stands alone; on how many lines, 0 if that takes more than this."""
    own, run = node.style, node.run
    assert run is not None
    edges = own.margin_left + own.across + own.margin_right
    if not run.words or own.valign != "baseline" or not own.collapses:
        return 0
    if own.line != style.line or own.ascent != style.ascent:
        return 0
    lines = [run.width]
    if edges + run.width * own.scale > width:
        if edges or not (style.wraps and own.wraps):
            return 0
        lines = line_widths(run, own.font_size, width, own.wraps_anywhere)
        layout.continues = True
    top = y + own.ascent - own.font_ascent - own.top
    height = own.font_ascent + own.font_descent + own.along
    for line in lines:
        wide = _snapped(line * own.scale)
        taken = wide + own.across
        left = x + own.margin_left + _room(style, width - wide - edges)
        layout.placed.append((node.element, left, top, taken, height))
        top += style.line
    return len(lines)


def _snapped(width: float) -> float:
    """The width of a text in whole 64ths of a pixel."""
    return math.ceil(width * _UNIT - 1e-6) / _UNIT


def _room(style: Style, room: float) -> float:
    """The space before a line that does not fill the width."""
    if room <= 0 or style.align in ("left", "start", "justify"):
        return 0.0
    return room / 2 if style.align in ("center", "-webkit-center") else room


class _Lines:
    """Lines under construction. `line` is what certainly stands on the current line; `waiting` is what follows without
    a place to break, and moves to the next line if it does not fit."""

    def __init__(self, layout: Layout, style: Style, x: float, y: float, width: float) -> None:
        self._layout, self._style = layout, style
        self._x, self._y, self._width = x, y, width + _SLACK
        self._line: list[Piece] = []
        self._waiting: list[Piece] = []
        self._line_width = self._waiting_width = 0.0
        self._filled = self._spaced = False
        self._tail = ""  # the last character, if text ended without a space
        self._placer = _LinePlacer(layout, style)
        self._keeps_texts = layout.keeps_texts

    def add(self, children: list[Any], style: Style) -> None:
        """Take texts and boxes in, in order."""
        for child in children:
            if child.__class__ is str:
                if style.collapses:
                    self._add_text(run_of(child), style, style.scale)
                else:
                    self._add_preserved(child, style, style.scale)
            elif child.kind == INLINE:
                own = child.style
                self._wait(OPEN, child, own.margin_left + own.left, own)
                self.add(child.children, own)
                piece: Piece = (CLOSE, child, own.right + own.margin_right, own)
                if self._waiting:
                    self._wait(*piece)
                else:
                    self._line.append(piece)
                    self._line_width += piece[2]
            elif child.kind == BREAK:
                self._wait(LINE_BREAK, child, 0.0, child.style)
                self._end_line()
            else:
                self._add_atom(child)

    def _add_text(self, run: Run, style: Style, scale: float) -> None:
        if run.leading:
            self._add_space(style, scale)
        if not run.words:
            return
        words = run.words
        last = words[-1]
        if self._tail and style.wraps and may_break(self._tail, words[0].text[0]):
            self._commit()
        self._tail = "" if run.trailing else last.text[-1]
        if not style.wraps:
            whole = "".join([" " * word.space + word.text for word in words]).lstrip() if self._keeps_texts else ""
            self._wait(TEXT, whole, run.width * scale, style)
        elif (
            not self._keeps_texts
            and len(words) > 1
            and self._line_width + self._waiting_width + run.width * scale <= self._width
        ):
            # All fits: one piece, but for the last word, which what follows may drag to the next line.
            before = run.width - last.width - (_SPACE_WIDTH if last.space else 0)
            self._wait(TEXT, "", before * scale, style)
            self._break_or_space(last.space, style, scale)
            self._wait(TEXT, last.text, last.width * scale, style)
        else:
            for number, (word, width, space) in enumerate(words):
                if number:
                    self._break_or_space(space, style, scale)
                self._wait(TEXT, word, width * scale, style)
        if run.trailing:
            self._add_space(style, scale)

    def _break_or_space(self, space: bool, style: Style, scale: float) -> None:
        if space:
            self._add_space(style, scale)
        else:
            self._commit()

    def _add_space(self, style: Style, scale: float) -> None:
        """A space that collapses with others and vanishes at the ends of a line."""
        self._tail = ""
        if style.wraps:
            self._commit()
        if self._spaced or not (self._filled or self._waiting_has_content()):
            return
        piece: Piece = (SPACE, None, _SPACE_WIDTH * scale, style)
        if style.wraps:
            self._line.append(piece)
            self._line_width += piece[2]
        else:
            self._wait(*piece)
        self._spaced = True

    def _waiting_has_content(self) -> bool:
        return any(piece[0] in (TEXT, ATOM) for piece in self._waiting)

    def _add_preserved(self, text: str, style: Style, scale: float) -> None:
        """Text whose spaces and line ends count (`pre`, `pre-wrap`)."""
        for number, row in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")):
            if number:
                self._wait(LINE_BREAK, None, 0.0, style)
                self._end_line()
            row = row.expandtabs(_TAB)
            if not style.wraps:
                if row:
                    self._wait(TEXT, row, text_width(row) * scale, style)
                continue
            for word in row.split(" "):
                if word:
                    self._wait(TEXT, word, text_width(word) * scale, style)
                self._commit()
                self._line.append((SPACE, None, _SPACE_WIDTH * scale, style))
                self._line_width += _SPACE_WIDTH * scale
            if row:
                self._filled = True
            self._line_width -= self._line.pop()[2]

    def _add_atom(self, node: Node) -> None:
        """A box that stands in a line like one big letter."""
        layout, style = self._layout, node.style
        self._tail = ""
        start = len(layout.placed)
        width = layout.fitted_width(node, self._width - _SLACK - style.margin_left - style.margin_right)
        outer, layout.baseline = layout.baseline, None
        height = layout.box(node, 0.0, 0.0, width)
        baseline, layout.baseline = layout.baseline, outer
        if baseline is None or style.clips:
            baseline = height + style.margin_bottom
        if style.wraps:
            self._commit()
        value = Atom(start, len(layout.placed), height, baseline + style.margin_top)
        self._wait(ATOM, value, style.margin_left + width + style.margin_right, style)
        if self._style.wraps:
            self._commit()

    def _wait(self, kind: int, value: Any, width: float, style: Style) -> None:
        self._waiting.append((kind, value, width, style))
        self._waiting_width += width
        if kind in (TEXT, ATOM):
            self._spaced = False

    def _commit(self) -> None:
        """A line may end here: what waits gets its place."""
        if not self._waiting:
            return
        if self._filled and self._line_width + self._waiting_width > self._width:
            self._flush()
        if self._waiting_width > self._width and self._style.wraps_anywhere:
            self._split()
            return
        self._line += self._waiting
        self._line_width += self._waiting_width
        self._filled = self._filled or self._waiting_has_content()
        self._waiting, self._waiting_width = [], 0.0

    def _split(self) -> None:
        """Break a word that no line can hold."""
        pieces, self._waiting, self._waiting_width = self._waiting, [], 0.0
        for kind, value, width, style in pieces:
            if kind == TEXT and value and style.wraps and self._line_width + width > self._width:
                scale = style.scale
                ends = list(accumulate(map(widths().__getitem__, value)))
                start, done = 0, 0
                while start < len(ends):
                    room = (self._width - self._line_width) / scale
                    end = bisect_right(ends, done + room, start)
                    if end == start and not self._filled:
                        end = start + 1
                    if end > start:
                        wide = (ends[end - 1] - done) * scale
                        self._line.append((TEXT, value[start:end], wide, style))
                        self._line_width += wide
                        self._filled = True
                        start, done = end, ends[end - 1]
                    if start < len(ends):
                        self._flush()
                continue
            if self._filled and kind == ATOM and self._line_width + width > self._width:
                self._flush()
            self._line.append((kind, value, width, style))
            self._line_width += width
            self._filled = self._filled or kind in (TEXT, ATOM)

    def _end_line(self) -> None:
        """A line ends here in any case."""
        self._commit()
        self._filled = True
        self._flush()
        self._spaced = False

    def finish(self) -> float:
        """The place below the last line."""
        self._commit()
        if self._line:
            self._flush()
        return self._y

    def _flush(self) -> None:
        """The line is finished."""
        line, width = self._line, self._line_width
        for number in range(len(line) - 1, -1, -1):  # without the space at its end
            kind = line[number][0]
            if kind == SPACE:
                width -= line[number][2]
                line[number] = (SPACE, None, 0.0, line[number][3])
            elif kind not in (OPEN, CLOSE, LINE_BREAK):
                break
        width += _snap(line)
        x = self._x + _room(self._style, self._width - _SLACK - width)
        self._y += self._placer.place(line, x, self._y, self._filled)
        self._line, self._line_width = [], 0.0
        self._filled, self._spaced = False, False


def _snap(line: list[Piece]) -> float:
    """Let every text on the line end at a whole 64th of a pixel; how much wider that makes the line."""
    added = run = 0.0
    last = -1  # the last piece of the text so far
    for number, piece in enumerate(line):
        if piece[0] <= SPACE:
            run, last = run + piece[2], number
        elif last >= 0:
            added += _widen(line, last, run)
            run, last = 0.0, -1
    return added + (_widen(line, last, run) if last >= 0 else 0.0)


def _widen(line: list[Piece], number: int, width: float) -> float:
    """Make a text of this width, whose last piece has this number, as wide as a browser makes it."""
    more = _snapped(width) - width
    kind, value, own, style = line[number]
    line[number] = (kind, value, own + more, style)
    return more


class _LinePlacer:
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
            elif kind == LINE_BREAK and value is not None:
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
