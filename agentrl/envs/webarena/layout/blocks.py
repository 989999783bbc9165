"""Layout: where every displayed element of a page stands, as Chromium would put it (see `style` for the CSS subset)."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, NamedTuple

from agentrl.envs.webarena.layout.boxes import (
    BLOCK,
    FLEX,
    GRID,
    INLINE,
    REPLACED,
    TABLE,
    Builder,
    Node,
    collapse,
    preferred_width,
    replaced_size,
    smallest_width,
)
from agentrl.envs.webarena.layout.flexible import lay_column, lay_grid, lay_row, lay_table
from agentrl.envs.webarena.layout.inline import lay_lines
from agentrl.envs.webarena.layout.style import Cascade

_AS_WIDE_AS_CONTENTS = {"button", "legend"}
Placed = tuple[Any, float, float, float, float]  # element (or `Text`, `Clipped`), left, top, width, height


class Clipped(NamedTuple):
    """What follows, up to the box of this element, is seen only within that box."""

    element: Any


class Anchored(NamedTuple):
    """Here is a box by which others are placed that lie over the page."""

    node: Node


class Layout:
    """Boxes of one page as they are placed, those of a box's contents before its own. `baseline` is that of the newest
    line. Once an element `continues` on another line, it has several boxes. A layout that `keeps_texts` places them,
    too, and `Clipped` before the contents of boxes that show nothing outside."""

    def __init__(self, keeps_texts: bool = False) -> None:
        self.placed: list[Placed] = []
        self.keeps_texts = keeps_texts
        self.baseline: float | None = None
        self.continues = False

    def box(self, node: Node, x: float, y: float, width: float) -> float:
        """Place a box with its contents at (x, y); its height."""
        style = node.style
        if node.kind == REPLACED:
            height = replaced_size(node, width)[1]
        else:
            wanted = style.height
            start = len(self.placed)
            if self.keeps_texts and style.clips and node.element is not None:
                self.placed.append((Clipped(node.element), x, y, 0.0, 0.0))
            content = self._contents(node, x, y, width, None if wanted is None else wanted - style.along)
            height = content + style.along if wanted is None else wanted
            if height < style.min_height:
                height = style.min_height
            if height > style.max_height:
                height = max(style.max_height, style.min_height)
            if node.tag == "button":
                down = (height - style.along - content) / 2  # the contents of a button stand in its middle
                self.shift(start, len(self.placed), 0.0, down)
                self.baseline = None if self.baseline is None else self.baseline + down
        if node.element is not None:
            if node.overlays:
                self.placed.append((Anchored(node), x, y, width, height))
            self.placed.append((node.element, x, y, width, height))
        return height

    def _contents(self, node: Node, x: float, y: float, width: float, height: float | None) -> float:
        """Place what is in a box with its corner at (x, y); the height it takes."""
        style, kind = node.style, node.kind
        x, y, width = x + style.left, y + style.top, max(0.0, width - style.across)
        if not node.stacks:
            return lay_lines(self, node, x, y, width)
        if kind == FLEX:
            lay = lay_column if style.direction.startswith("column") else lay_row
            return lay(self, node, x, y, width, height)
        if kind == GRID:
            return lay_grid(self, node, x, y, width)
        if kind == TABLE:
            return lay_table(self, node, x, y, width)
        if node.tag == "fieldset" and node.children and node.children[0].tag == "legend":
            # Its legend stands on its upper border.
            legend = node.children[0]
            tall = self.box(legend, x + legend.style.margin_left, y - style.top, self.block_width(legend, width))
            beyond = max(0.0, tall + legend.style.margin_bottom - style.border_top)
            return beyond + self._stack(node.children[1:], x, y + beyond, width)
        above = not node.root and not style.top
        below = not node.root and not style.bottom and style.height is None
        return self._stack(node.children, x, y, width, above, below)

    def shift(self, start: int, end: int, right: float, down: float) -> None:
        """Move boxes that were placed already."""
        if right or down:
            placed = self.placed
            placed[start:end] = [
                (element, x + right, y + down, width, height) for element, x, y, width, height in placed[start:end]
            ]

    def _stack(
        self, children: list[Node], x: float, y: float, width: float, above: bool = False, below: bool = False
    ) -> float:
        """Place blocks; `above` and `below`: do margins at the ends belong to the parent?"""
        top, margin = y, 0.0
        for child in children:
            style = child.style
            child_above, child_below = child.margins
            space = 0.0 if above else collapse(margin, child_above)
            above = False
            child_width = self.block_width(child, width)
            indent = style.margin_left
            if style.auto_left:
                room = max(0.0, width - child_width - style.margin_right)
                indent = room / 2 if style.auto_right else room
            height = self.box(child, x + indent, y + space, child_width)
            if height:
                y += space + height
                margin = child_below
            else:  # the margins around nothing are one
                margin = collapse(space, child_below)
        return y - top + (0.0 if below else margin)

    def block_width(self, node: Node, available: float) -> float:
        """The width of a block in its parent."""
        style = node.style
        if style.width is not None:
            width = style.width
        elif style.width_share is not None:
            width = style.width_share * available
        elif node.kind == REPLACED:
            width = replaced_size(node, None)[0]
        elif node.kind == TABLE or node.tag in _AS_WIDE_AS_CONTENTS:
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


class Layer(NamedTuple):
    """A box that lies over the page, with all that is in it; in the window it stays where it is when it `is_fixed`."""

    element: Any
    placed: list[Placed]
    is_fixed: bool


class Placement(NamedTuple):
    """A page that was laid out, in pixels of the page."""

    boxes: list[Placed]  # one of every element
    further: dict[Any, list[Placed]]  # on the lines below, of elements that go on there
    height: float
    hands: set[Any]
    pointers: set[Any]
    invisible: set[Any]
    clipping: set[Any]
    layers: list[Layer]  # over the page, the topmost one last


def lay_out(root: Any, cascade: Cascade, opened: Container[Any], viewport: tuple[int, int]) -> Placement:
    """Place a whole page in a window of this size; of <details>, those in `opened` show their contents."""
    layout = Layout()
    builder = Builder(cascade, opened)
    node = builder.build(root)
    height = 0.0
    layers: list[Layer] = []
    if node is not None:
        tall = _lay_root(layout, node, viewport[0])
        style = node.style
        layers = _layers(layout, viewport)
        everywhere = [layout.placed, *(layer.placed for layer in layers if not layer.is_fixed)]
        bottom = max((top + tall for placed in everywhere for _, _, top, _, tall in placed), default=0.0)
        height = max(bottom, style.margin_top + tall + style.margin_bottom)
    boxes: list[Placed] = layout.placed
    further: dict[Any, list[Placed]] = {}
    if layout.continues:
        first: dict[Any, Placed] = {}
        for box in layout.placed:
            if first.setdefault(box[0], box) is not box:
                further.setdefault(box[0], []).append(box)
        boxes = list(first.values())
    return Placement(
        boxes, further, height, builder.hands, builder.pointers, builder.invisible, builder.clipping, layers
    )


def lay_out_with_texts(
    root: Any, cascade: Cascade, opened: Container[Any], viewport: tuple[int, int]
) -> tuple[list[Placed], list[Layer]]:
    """Everything on a page, texts as well, whatever is in a box before the box itself; and what lies over it."""
    layout = Layout(keeps_texts=True)
    node = Builder(cascade, opened).build(root)
    if node is None:
        return [], []
    _lay_root(layout, node, viewport[0])
    layers = _layers(layout, viewport)
    return layout.placed, layers


def _lay_root(layout: Layout, node: Node, width: int) -> float:
    node.root, node.level = True, False
    if node.kind == INLINE:
        node.kind = BLOCK
    style = node.style
    return layout.box(node, style.margin_left, style.margin_top, layout.block_width(node, float(width)))


def _layers(layout: Layout, viewport: tuple[int, int]) -> list[Layer]:
    """What lies over the boxes of a layout, placed; the layout keeps only the boxes."""
    anchors = [entry for entry in layout.placed if entry[0].__class__ is Anchored]
    if not anchors:
        return []
    layout.placed = [entry for entry in layout.placed if entry[0].__class__ is not Anchored]
    found: list[tuple[float, list[Layer]]] = []
    for anchor, *area in anchors:
        for node in anchor.node.overlays:
            is_fixed = node.style.position == "fixed"
            own = Layout(layout.keeps_texts)
            _place_over(own, node, (0.0, 0.0, *map(float, viewport)) if is_fixed else area, anchor.node)
            inside = [layer._replace(is_fixed=is_fixed or layer.is_fixed) for layer in _layers(own, viewport)]
            order = node.style.declared.get("z-index", 0.0)
            found.append(
                (order if isinstance(order, float) else 0.0, [Layer(node.element, own.placed, is_fixed), *inside])
            )
    return [layer for _, layers in sorted(found, key=lambda entry: entry[0]) for layer in layers]


def _place_over(layout: Layout, node: Node, area: Sequence[float], anchor: Node) -> None:
    """Place a box within the padding of the one that it is placed by."""
    style, around = node.style, anchor.style
    left, top, width, height = area
    if style.position != "fixed":
        left, top = left + around.border_left, top + around.border_top
        width -= around.border_left + around.border_right
        height -= around.border_top + around.border_bottom
    sides = {side: style.declared.get(side) for side in ("left", "right", "top", "bottom")}
    at = {side: value for side, value in sides.items() if isinstance(value, float)}
    if style.width is None and style.width_share is None and "left" in at and "right" in at:
        wide = width - at["left"] - at["right"] - style.margin_left - style.margin_right
    else:
        wide = layout.fitted_width(node, width)
    if "left" in at or "right" not in at:
        x = left + at.get("left", 0.0) + style.margin_left
    else:
        x = left + width - at["right"] - style.margin_right - wide
    y = top + at.get("top", 0.0) + style.margin_top
    tall = layout.box(node, x, y, wide)
    if "bottom" in at:
        if "top" in at and style.height is None:  # as high as there is room
            element, *_ = layout.placed[-1]
            layout.placed[-1] = (element, x, y, wide, height - at["top"] - at["bottom"] - style.margin_top)
        elif "top" not in at:
            layout.shift(0, len(layout.placed), 0.0, top + height - at["bottom"] - tall - y)
