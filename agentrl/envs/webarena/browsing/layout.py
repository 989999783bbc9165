"""Layout: where every displayed element of a page stands, as Chromium would put it (see `style` for the CSS subset)."""

from __future__ import annotations

from collections.abc import Container
from typing import Any, NamedTuple

from agentrl.envs.webarena.browsing.boxes import BLOCK, FLEX, GRID, INLINE, REPLACED, TABLE, Builder, Node
from agentrl.envs.webarena.browsing.flexible import lay_column, lay_grid, lay_row
from agentrl.envs.webarena.browsing.inline import lay_lines
from agentrl.envs.webarena.browsing.intrinsic import preferred_width, replaced_size, smallest_width
from agentrl.envs.webarena.browsing.style import Cascade
from agentrl.envs.webarena.browsing.tables import lay_table

Placed = tuple[Any, float, float, float, float]  # element, left, top, width, height


class Layout:
    """Boxes of one page as they are placed. `baseline` is that of the newest line."""

    def __init__(self) -> None:
        self.placed: list[Placed] = []
        self.baseline: float | None = None

    # ------------------------------------------------------------------ a box

    def box(self, node: Node, x: float, y: float, width: float, stretched: float | None = None) -> float:
        """Place a box with its contents at (x, y); its height, which `stretched` sets where the style does not."""
        style = node.style
        if node.kind == REPLACED:
            height = replaced_size(node, width)[1]
        else:
            height = self._filled_height(node, x, y, width, stretched)
        if node.element is not None:
            self.placed.append((node.element, x, y, width, height))
        return min(max(height, style.min_height), style.max_height) if node.kind != REPLACED else height

    def _filled_height(self, node: Node, x: float, y: float, width: float, stretched: float | None) -> float:
        style = node.style
        wanted = style.height if style.height is not None else stretched
        inner = None if wanted is None else wanted - style.top - style.bottom
        start = len(self.placed)
        inner_width = max(0.0, width - style.left - style.right)
        if node.stacks and node.element is not None and node.element.tag == "fieldset":
            content = self._fieldset(node, x + style.left, y, inner_width)
        else:
            content = self.contents(node, x + style.left, y + style.top, inner_width, inner)
        height = content + style.top + style.bottom if wanted is None else wanted
        height = min(max(height, style.min_height), style.max_height)
        if node.element is not None and node.element.tag == "button":
            # The contents of a button stand in its middle.
            space = height - style.top - style.bottom - content
            self.shift(start, len(self.placed), 0.0, space / 2)
            self.baseline = None if self.baseline is None else self.baseline + space / 2
        return height

    def _fieldset(self, node: Node, x: float, y: float, width: float) -> float:
        """The contents of a <fieldset>, whose <legend> stands on its upper border."""
        style, legend = node.style, node.children[0]
        if not isinstance(legend, Node) or legend.element is None or legend.element.tag != "legend":
            return self._stack(node, x, y + style.top, width)
        height = self.box(legend, x + legend.style.margin_left, y, self.block_width(legend, width))
        beyond = max(0.0, height + legend.style.margin_bottom - style.border_top)
        rest = Node(node.element, style, node.kind, node.level)
        rest.children, rest.stacks, rest.root = node.children[1:], True, True
        return beyond + self._stack(rest, x, y + style.top + beyond, width)

    def contents(self, node: Node, x: float, y: float, width: float, height: float | None) -> float:
        """Place what is in a box; the height it takes."""
        kind = node.kind
        if kind == FLEX:
            lay = lay_column if node.style.direction.startswith("column") else lay_row
            return lay(self, node, x, y, width, height)
        if kind == GRID:
            return lay_grid(self, node, x, y, width)
        if kind == TABLE:
            return lay_table(self, node, x, y, width)
        if node.stacks:
            return self._stack(node, x, y, width)
        return lay_lines(self, node.children, node.style, x, y, width)

    def shift(self, start: int, end: int, right: float, down: float) -> None:
        """Move boxes that were placed already."""
        if right or down:
            placed = self.placed
            placed[start:end] = [
                (element, x + right, y + down, width, height) for element, x, y, width, height in placed[start:end]
            ]

    # ------------------------------------------------------------------ blocks below each other

    def _stack(self, node: Node, x: float, y: float, width: float) -> float:
        top, margin = y, 0.0
        first = True
        for child in node.children:
            style = child.style  # type: ignore[union-attr]
            above = collapse(margin, top_margin(child))  # type: ignore[arg-type]
            if first and is_open_above(node):
                above = 0.0  # the parent has moved down already
            y += above
            child_width = self.block_width(child, width)  # type: ignore[arg-type]
            indent = style.margin_left
            if style.auto_left:
                room = max(0.0, width - child_width - style.margin_right)
                indent = room / 2 if style.auto_right else room
            height = self.box(child, x + indent, y, child_width)  # type: ignore[arg-type]
            y += height
            margin = bottom_margin(child)  # type: ignore[arg-type]
            if not height:
                margin = collapse(above, margin)
                y -= above
            first = False
        return y - top + (0.0 if is_open_below(node) else margin)

    def block_width(self, node: Node, available: float) -> float:
        """The width of a block in its parent."""
        style = node.style
        if style.width is not None:
            width = style.width
        elif style.width_share is not None:
            width = style.width_share * available
        elif node.kind == REPLACED:
            width = replaced_size(node, None)[0]
        elif node.kind == TABLE or (node.element is not None and node.element.tag in ("button", "legend")):
            return self.fitted_width(node, available)
        else:
            width = available - style.margin_left - style.margin_right
        return max(min(width, style.max_width), style.min_width)

    def fitted_width(self, node: Node, available: float) -> float:
        """The width of a box that is as wide as its contents want, and no wider than there is room."""
        style = node.style
        if style.width is not None:
            return max(min(style.width, style.max_width), style.min_width)
        if style.width_share is not None:
            return max(min(style.width_share * available, style.max_width), style.min_width)
        if node.kind == REPLACED:
            return replaced_size(node, None)[0]
        wanted = preferred_width(node)
        return wanted if wanted <= available else max(available, smallest_width(node))


def collapse(first: float, second: float) -> float:
    """The distance that two margins keep together."""
    if first >= 0 and second >= 0:
        return max(first, second)
    return min(first, second) if first < 0 and second < 0 else first + second


def is_open_above(node: Node) -> bool:
    """May the margin of the first child reach out of the box?"""
    return node.kind == BLOCK and node.stacks and not node.root and not node.style.top


def is_open_below(node: Node) -> bool:
    style = node.style
    return node.kind == BLOCK and node.stacks and not node.root and not style.bottom and style.height is None


def top_margin(node: Node) -> float:
    """The margin above a box, with those of its first children that it shares."""
    margin = node.style.margin_top
    while is_open_above(node) and node.children:
        node = node.children[0]  # type: ignore[assignment]
        margin = collapse(margin, node.style.margin_top)
    return margin


def bottom_margin(node: Node) -> float:
    """The margin below a box, with those of its last children that it shares."""
    margin = node.style.margin_bottom
    while is_open_below(node) and node.children:
        node = node.children[-1]  # type: ignore[assignment]
        margin = collapse(margin, node.style.margin_bottom)
    return margin


class Placement(NamedTuple):
    """A page that was laid out, in pixels of the page."""

    boxes: list[Placed]
    height: float
    pointers: set[Any]
    invisible: set[Any]
    clipping: set[Any]


def lay_out(root: Any, cascade: Cascade, opened: Container[Any], width: int) -> Placement:
    """Place a whole page in a window of this width; of <details>, those in `opened` show their contents."""
    layout = Layout()
    builder = Builder(cascade, opened)
    node = builder.build(root)
    height = 0.0
    if node is not None:
        node.root, node.level = True, False
        if node.kind == INLINE:
            node.kind = BLOCK
        style = node.style
        tall = layout.box(node, style.margin_left, style.margin_top, layout.block_width(node, float(width)))
        bottom = max((top + tall for _, _, top, _, tall in layout.placed), default=0.0)
        height = max(bottom, style.margin_top + tall + style.margin_bottom)
    return Placement(layout.placed, height, builder.pointers, builder.invisible, builder.clipping)
