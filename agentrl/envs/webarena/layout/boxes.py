"""The tree of boxes: what of a page is displayed, with styles, sorted into what flows in lines and what stacks; and
the widths that boxes want by themselves, before it is known how much room there is."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from typing import Any

from agentrl.envs.webarena.layout.style import Cascade, Chain, Style
from agentrl.envs.webarena.layout.text import Run, run_of, text_width, widths

_DEFAULT_SIZES = {"img": (0.0, 0.0), "svg": (300.0, 150.0), "video": (300.0, 150.0), "canvas": (300.0, 150.0)}
_ARROW = 20.0  # the sign at the right end of a select
_UNIT = 1 / 64  # what Chromium calculates in
# What a box does with its contents.
INLINE, BLOCK, FLEX, GRID, TABLE, TABLE_PART, REPLACED, BREAK, NOTHING = range(9)
_KINDS = {
    "none": NOTHING, "inline": INLINE, "flex": FLEX, "inline-flex": FLEX, "grid": GRID, "inline-grid": GRID,
    "table": TABLE, "inline-table": TABLE, "table-row": TABLE_PART, "table-row-group": TABLE_PART,
    "table-header-group": TABLE_PART, "table-footer-group": TABLE_PART,
}  # fmt: skip
_REPLACED = {
    "img", "input", "textarea", "select", "iframe", "video", "canvas", "svg", "object", "embed", "audio", "meter",
    "progress",
}  # fmt: skip


class Node:
    """A box: an element, or an anonymous one around texts. `children` are boxes and texts, boxes only if it `stacks`
    them. `above` and `below` are its vertical margins with those of children that reach through."""

    stacks = False
    above: float | None = None  # None: as the style says
    below: float | None = None
    preferred: float | None = None  # width, once it was asked for
    smallest: float | None = None
    run: Run | None = None  # of the only text in it
    items: Sequence[Any] = ()  # of a flex container with one row, as they were placed
    single: Node | None = None  # the only element in it, which holds only a text
    overlays: Sequence[Node] = ()  # boxes that lie over the page, placed by where this one is

    def __init__(self, element: Any, tag: str, style: Style, kind: int) -> None:
        self.element, self.tag, self.style, self.kind = element, tag, style, kind
        self.children: list[Any] = []
        self.level = style.inline  # does it flow in a line of its parent?
        self.root = kind > BLOCK or style.clips or style.inline  # margins of children stay inside
        self.framed = style.framed  # inline elements without a frame are as wide as the first thing in them

    @property
    def margins(self) -> tuple[float, float]:
        """The margins above and below, with those of children that reach through."""
        above = self.style.margin_top if self.above is None else self.above
        return above, self.style.margin_bottom if self.below is None else self.below


class Builder:
    """Makes boxes for one page."""

    def __init__(self, cascade: Cascade, opened: Container[Any]) -> None:
        self._root, self._opened = cascade.root, opened
        self.hands: set[Any] = set()  # elements over which the pointer is a hand
        self.pointers: set[Any] = set()  # of these, the ones whose own style says so, not only their parent's
        self.invisible: set[Any] = set()  # laid out, but not to be seen
        self.clipping: set[Any] = set()  # show nothing outside their boxes
        self._anchors: list[list[Node]] = [[]]  # for each positioned box around: what is placed by it

    def build(self, root: Any) -> Node | None:
        """The box of the <html> element."""
        node = self._node(root, self._root)
        if node is not None:
            node.overlays = self._anchors[0]
        return node

    def _node(self, element: Any, parent: Chain) -> Node | None:
        get = element.get
        tag = element.tag
        key = (tag, get("class"), get("id"), get("style"))
        chain = parent.children.get(key) or parent.child(*key)
        kind, style = chain.kind, chain.style
        if kind is None:
            kind = _KINDS.get(style.display, BLOCK)
            if kind != NOTHING:
                kind = BREAK if tag == "br" else REPLACED if tag in _REPLACED else kind
            chain.kind = kind
        if kind == NOTHING or get("hidden") is not None:
            return None
        if style.special:
            if style.pointer:
                self.hands.add(element)
                if not parent.style.pointer:
                    self.pointers.add(element)
            if style.hidden:
                self.invisible.add(element)
            if style.clips:
                self.clipping.add(element)
            if style.position != "static" and kind < REPLACED:
                return self._positioned(Node(element, tag, style, kind), chain)
        if kind < REPLACED:
            node = Node(element, tag, style, kind)
            self._fill(node, chain)
            return node
        if tag == "input":
            type_ = get("type", "").lower()
            if type_ == "hidden":
                return None
            style = style.bare if type_ in ("checkbox", "radio") else style
        return Node(element, tag, style, kind)

    def _positioned(self, node: Node, chain: Chain) -> Node | None:
        """A box that others are placed by; None for one that is itself placed over the page."""
        self._anchors.append([])
        self._fill(node, chain)
        node.overlays = self._anchors.pop()
        position = node.style.position
        if position == "relative":
            return node
        node.kind, node.level, node.root = BLOCK if node.kind == INLINE else node.kind, False, True
        self._anchors[0 if position == "fixed" else -1].append(node)
        return None

    def _fill(self, node: Node, chain: Chain) -> None:
        element, children = node.element, node.children
        closed = node.tag == "details" and element not in self._opened
        blocks = lines = False
        text = element.text
        if text:
            children.append(text)
            lines = not text.isspace()
        for child in element:
            tag = child.tag
            if tag.__class__ is str and not (closed and tag != "summary"):
                box = self._node(child, chain)
                if box is not None:
                    children.append(box)
                    if box.level:
                        lines = True
                    else:
                        blocks = True
            text = child.tail
            if text and not closed:
                children.append(text)
                lines = lines or not text.isspace()
        if blocks or node.kind > BLOCK:
            self._arrange(node, chain, lines)
        elif node.style.collapses and len(children) <= 3:
            _look_for_simple_contents(node)
        if lines and node.kind == INLINE and node.run is None and not node.framed:
            node.framed = any(_needs_frame_around(child, node.style) for child in children)

    def _arrange(self, node: Node, chain: Chain, lines: bool) -> None:
        """Make all children blocks."""
        if node.kind == INLINE:  # a block within a line takes the whole line
            node.kind, node.level = BLOCK, False
        node.stacks = True
        flexible = node.kind in (FLEX, GRID)
        if flexible or (lines and node.kind == BLOCK) or not node.style.collapses:
            _wrap(node, chain, blockify=flexible)
        else:
            node.children = [child for child in node.children if child.__class__ is Node]
        if not node.root and node.children:
            # Margins of the first and last child reach through a box that has nothing between them and its own.
            style = node.style
            if not style.top:
                node.above = collapse(style.margin_top, node.children[0].margins[0])
            if not style.bottom and style.height is None:
                node.below = collapse(style.margin_bottom, node.children[-1].margins[1])


def _look_for_simple_contents(node: Node) -> None:
    """Most boxes hold one text, or one link with a text; these are laid out by short cuts."""
    children = node.children
    if len(children) == 1 and children[0].__class__ is str:
        node.run = run_of(children[0])
        return
    inside = None
    for child in children:
        if child.__class__ is not str:
            if inside is not None or child.kind != INLINE or child.run is None:
                return
            inside = child
        elif not child.isspace():
            return
    node.single = inside


def _wrap(node: Node, chain: Chain, *, blockify: bool) -> None:
    """Put texts, and what flows in lines, into boxes of their own between blocks."""
    wrapped: list[Node] = []
    group: list[Any] = []
    for child in [*node.children, None]:
        if child.__class__ is str or (child is not None and child.level and not blockify):
            group.append(child)
            continue
        collapses = node.style.collapses
        if group and not (collapses and all(part.__class__ is str and not run_of(part).words for part in group)):
            anonymous = Node(None, "", chain.child("", None, None, None).style, BLOCK)
            anonymous.level, anonymous.root, anonymous.children = False, False, group
            wrapped.append(anonymous)
        group = []
        if child is not None:
            if blockify:
                child.level, child.root = False, True
                child.kind = BLOCK if child.kind == INLINE else child.kind
            wrapped.append(child)
    node.children = wrapped


def _needs_frame_around(child: Any, style: Style) -> bool:
    """Does Chromium keep a box for an inline element because of this child?"""
    if child.__class__ is str or child.kind == BREAK:
        return False
    own = child.style
    same_text = (own.font_size, own.ascent, own.descent) == (style.font_size, style.ascent, style.descent)
    return child.kind != INLINE or bool(own.margin_left or own.margin_right) or not same_text


def collapse(first: float, second: float) -> float:
    """The distance that two margins keep together."""
    if first >= 0 and second >= 0:
        return first if first > second else second
    return min(first, second) if first < 0 and second < 0 else first + second


# ---------------------------------------------------------------------- widths


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
                lead = space if run.leading and self._width and not self._space else 0.0
                if run.words:
                    self._put(lead + run.width * style.scale)
                    self._space = space if run.trailing else 0.0
                elif lead:
                    self._space = lead
            elif isinstance(child, str):
                for number, row in enumerate(child.split("\n")):
                    if number:
                        self.end()
                    self._put(text_width(row.expandtabs(8)) * style.scale)
            elif child.kind == INLINE:
                self._width += child.style.margin_left + child.style.left
                self.add(child.children, child.style)
                self._width = _up(self._width) + child.style.margin_right + child.style.right
            elif child.kind == BREAK:
                self.end()
            else:
                self._put(outer_width(child))

    def _put(self, width: float) -> None:
        self._width = _up(self._width + self._space) + width  # every text is rounded for itself
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
        parts: list[float] = []
        for child in node.children:
            if isinstance(child, Node):
                part = smallest_width(child) + child.style.margin_left + child.style.margin_right
            elif not style.wraps:
                part = run_of(child).width * style.scale
            elif style.wraps_anywhere:
                part = max(map(widths().__getitem__, set(child.strip())), default=0) * style.scale
            else:
                part = max((word.width for word in run_of(child).words), default=0) * style.scale
            parts.append(part)
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
