"""Widths that boxes want by themselves, before it is known how much room there is."""

from __future__ import annotations

import re
from typing import Any

from agentrl.envs.webarena.layout.boxes import BREAK, FLEX, GRID, INLINE, REPLACED, TABLE, TABLE_PART, Node
from agentrl.envs.webarena.layout.style import Style
from agentrl.envs.webarena.layout.text import run_of, text_width, widths

_DEFAULT_SIZES = {"img": (0.0, 0.0), "svg": (300.0, 150.0), "video": (300.0, 150.0), "canvas": (300.0, 150.0)}
_ARROW = 20.0  # the sign at the right end of a select
_UNIT = 1 / 64  # what Chromium calculates in


def preferred_width(node: Node) -> float:
    """The width of a box whose lines are broken only where they must be."""
    if node.preferred is not None:
        return node.preferred
    style = node.style
    if style.width is not None:
        width = max(min(style.width, style.max_width), style.min_width)
    elif node.kind == REPLACED:
        width = replaced_size(node, None)[0]
    else:
        if node.kind == FLEX and not style.direction.startswith("column"):
            inner = sum(map(outer_width, node.children)) + style.column_gap * max(0, len(node.children) - 1)
        elif node.kind == GRID:
            tracks = [track if isinstance(track, float) else 0.0 for track in style.columns]
            inner = sum(tracks) + style.column_gap * max(0, len(tracks) - 1)
            inner = inner or max(map(outer_width, node.children), default=0.0)
        elif node.kind == TABLE:
            columns: dict[int, float] = {}
            for row in rows_of(node):
                for at, cell in enumerate(row.children):
                    columns[at] = max(columns.get(at, 0.0), preferred_width(cell))
            inner = sum(columns.values())
        elif node.stacks:
            inner = max(map(outer_width, node.children), default=0.0)
        elif node.run is not None:
            inner = _up(node.run.width * style.scale)
        else:
            inner = lines_width(node.children, style)
        width = max(min(inner + style.left + style.right, style.max_width), style.min_width)
    node.preferred = width
    return width


def outer_width(node: Node) -> float:
    """The preferred width with margins."""
    return preferred_width(node) + node.style.margin_left + node.style.margin_right


def rows_of(node: Node) -> list[Node]:
    """The rows of a table or of a group of rows, in order."""
    found = []
    for child in node.children:
        if child.style.display == "table-row":
            found.append(child)
        elif child.kind == TABLE_PART:
            found += rows_of(child)
    return found


def lines_width(children: list[Any], style: Style) -> float:
    """The width of the longest line of texts and inline boxes, if lines end only where they must."""
    measure = _Measure()
    measure.add(children, style)
    measure.end()
    return _up(measure.longest)


def _up(width: float) -> float:
    """Chromium rounds up what text takes."""
    return -(-width // _UNIT) * _UNIT


class _Measure:
    """Adds up a line."""

    def __init__(self) -> None:
        self.longest = self._width = self._space = 0.0

    def add(self, children: list[Any], style: Style) -> None:
        for child in children:
            if isinstance(child, str) and style.collapses:
                run, space = run_of(child), widths()[" "] * style.scale
                if run.leading and self._width:
                    self._space = space
                if run.words:
                    self._put(run.width * style.scale)
                    self._space = space if run.trailing else 0.0
            elif isinstance(child, str):
                for number, row in enumerate(child.split("\n")):
                    if number:
                        self.end()
                    self._put(text_width(row.expandtabs(8)) * style.scale)
            elif child.kind == INLINE:
                self._width += child.style.margin_left + child.style.left
                self.add(child.children, child.style)
                self._width += child.style.margin_right + child.style.right
            elif child.kind == BREAK:
                self.end()
            else:
                self._put(outer_width(child))

    def _put(self, width: float) -> None:
        self._width += self._space + width
        self._space = 0.0

    def end(self) -> None:
        """A line ends."""
        self.longest = max(self.longest, self._width)
        self._width = self._space = 0.0


def replaced_size(node: Node, width: float | None) -> tuple[float, float]:
    """Width and height of a picture or control; `width` where it is known already."""
    style, element = node.style, node.element
    own_width, own_height = _DEFAULT_SIZES.get(element.tag, (0.0, style.ascent + style.descent))
    own_width = _number(element.get("width"), own_width)
    own_height = _number(element.get("height"), own_height)
    if element.tag == "select":
        texts = ["".join(option.itertext()) for option in element.iter("option")][:1000]
        longest = max((run_of(text).width for text in texts), default=0)
        own_width = longest * style.scale + _ARROW
    elif element.tag == "input" and element.get("value"):
        own_width = run_of(element.get("value")).width * style.scale
    own_width, own_height = own_width + style.left + style.right, own_height + style.top + style.bottom
    if width is None:
        width = style.width if style.width is not None else own_width
        width = max(min(width, style.max_width), style.min_width)
    height = style.height if style.height is not None else own_height
    return width, max(min(height, style.max_height), style.min_height)


def _number(text: str | None, default: float) -> float:
    return float(text) if text and re.fullmatch(r"\d{1,5}", text) else default


def smallest_width(node: Node) -> float:
    """The width below which a box, or its contents, would stick out of what is around it."""
    style = node.style
    if style.width is not None:
        return max(min(style.width, style.max_width), style.min_width)
    return smallest_contents(node)


def smallest_contents(node: Node) -> float:
    """The width below which the contents of a box stick out of it, whatever its own width is."""
    if node.smallest is not None:
        return node.smallest
    style = node.style
    if node.kind == REPLACED:
        width = replaced_size(node, None)[0]
    else:
        parts = [_smallest_part(child, style) for child in node.children]
        if node.kind == FLEX and not style.direction.startswith("column") and not style.wraps_items:
            inner = sum(parts) + style.column_gap * max(0, len(parts) - 1)
        elif node.kind in (TABLE, GRID):
            inner = preferred_width(node) - style.left - style.right if node.kind == GRID else sum(parts[:1])
        elif not style.wraps and not node.stacks:
            inner = lines_width(node.children, style)
        else:
            inner = max(parts, default=0.0)
        width = max(min(inner + style.left + style.right, style.max_width), style.min_width)
    node.smallest = width
    return width


def _smallest_part(child: Node | str, style: Style) -> float:
    if isinstance(child, Node):
        return smallest_width(child) + child.style.margin_left + child.style.margin_right
    scale = style.scale
    if not style.wraps:
        return run_of(child).width * scale
    if style.wraps_anywhere:
        return max(map(widths().__getitem__, set(child.strip())), default=0) * scale
    return max((word.width for word in run_of(child).words), default=0) * scale
