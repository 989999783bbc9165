"""Flex containers (rows, wrapped rows, columns), grids with given columns, and tables with fixed layout, whose first
row sets the columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agentrl.envs.webarena.layout.boxes import (
    REPLACED,
    TABLE_PART,
    Node,
    preferred_width,
    replaced_size,
    rows_of,
    smallest_contents,
)
from agentrl.envs.webarena.layout.style import Style
from agentrl.envs.webarena.layout.stylesheet import Fraction

if TYPE_CHECKING:
    from agentrl.envs.webarena.layout.blocks import Layout

_MAX_COLUMNS = 1000
_SLACK = 0.02  # browsers calculate in 64ths of a pixel


class Item(NamedTuple):
    """A box that was placed in a row, which may still move or grow."""

    node: Node
    start: int  # its boxes are placed[start:end]
    end: int
    height: float


def lay_row(layout: Layout, node: Node, x: float, y: float, width: float, height: float | None) -> float:
    """Boxes side by side; the height of all rows."""
    style = node.style
    items: list[Node] = node.children
    rows: list[list[Node]] = []
    if not style.wraps_items:
        rows = [items] if items else []
    else:
        used = 0.0
        for item in items:
            wanted = _base(item, width) + item.style.margin_left + item.style.margin_right
            if rows and used + style.column_gap + wanted <= width + _SLACK:
                rows[-1].append(item)
                used += style.column_gap + wanted
            else:
                rows.append([item])
                used = wanted
    top = y
    for number, row in enumerate(rows):
        y += style.row_gap if number else 0.0
        tall, node.items = _lay_one_row(layout, style, row, x, y, width, height if len(rows) == 1 else None)
        y += tall
    if len(rows) > 1:
        node.items = []  # rows keep their heights
    return y - top


def _base(item: Node, width: float) -> float:
    """The width that a box has before rows are filled up."""
    style = item.style
    if style.basis is not None:
        edges = style.left + style.right
        return max(style.basis if style.border_box else style.basis + style.left + style.right, edges)
    if style.width_share is not None:
        return style.width_share * width
    return preferred_width(item)


def _distribute(items: list[Node], bases: list[float], weights: list[float], room: float) -> list[float]:
    """Boxes grow or shrink by their weights; those that reach a limit stop there, and the others go on."""
    sizes = list(bases)
    loose = [number for number, weight in enumerate(weights) if weight]
    while loose:
        free = room - sum(bases[number] if number in loose else size for number, size in enumerate(sizes))
        total = sum(weights[number] for number in loose)
        total = max(total, 1.0) if free > 0 else total
        excess, low, high = 0.0, [], []
        for number in loose:
            wanted = bases[number] + free * weights[number] / total
            item, style = items[number], items[number].style
            least = style.min_width
            if not style.clips and not least and wanted < preferred_width(item):
                # Boxes do not shrink below their contents, unless they clip them.
                least = smallest_contents(item)
                least = least if style.width is None else min(least, style.width)
            sizes[number] = max(min(wanted, style.max_width), least)
            excess += sizes[number] - wanted
            (low if sizes[number] > wanted else high if sizes[number] < wanted else []).append(number)
        if abs(excess) < 1e-6 or not (low or high):
            break
        fixed = low if excess > 0 else high
        loose = [number for number in loose if number not in fixed]
    return sizes


def _lay_one_row(
    layout: Layout, style: Style, items: list[Node], x: float, y: float, width: float, height: float | None
) -> tuple[float, list[Item]]:
    bases = sizes = [_base(item, width) for item in items]
    room = width - style.column_gap * (len(items) - 1)
    room -= sum(item.style.margin_left + item.style.margin_right for item in items)
    if room - sum(bases) >= -_SLACK:
        weights = [item.style.grow for item in items]
    else:
        weights = [item.style.shrink * base for item, base in zip(items, bases, strict=True)]
    if any(weights):
        sizes = _distribute(items, bases, weights, room)
    outer = [size + item.style.margin_left + item.style.margin_right for size, item in zip(sizes, items, strict=True)]
    free = width - sum(outer) - style.column_gap * (len(items) - 1)
    autos = sum(item.style.auto_left + item.style.auto_right for item in items)
    at, gap = (x, style.column_gap) if autos else _spread(style, x, free, len(items))
    placed: list[Item] = []
    for item, size in zip(items, sizes, strict=True):
        at += max(0.0, free) / autos if item.style.auto_left else 0.0
        left = at + item.style.margin_left
        start = len(layout.placed)
        tall = layout.box(item, left, y + item.style.margin_top, size)
        placed.append(Item(item, start, len(layout.placed), tall))
        at = left + size + item.style.margin_right + gap
        at += max(0.0, free) / autos if item.style.auto_right else 0.0
    tallest = max((item.height + _margins(item.node) for item in placed), default=0.0)
    row_height = tallest if height is None else height
    for item in placed:
        _make_room(layout, item, style, row_height - item.height - _margins(item.node))
    return row_height, placed


def _margins(node: Node) -> float:
    return node.style.margin_top + node.style.margin_bottom


def _spread(style: Style, x: float, free: float, count: int) -> tuple[float, float]:
    """Where the first box stands, and the distance between boxes."""
    gap = style.column_gap
    match style.justify:
        case "flex-end" | "end" | "right":
            return x + free, gap
        case "center":
            return x + free / 2, gap
        case "space-between" if count > 1 and free > 0:
            return x, gap + free / (count - 1)
        case "space-around" if free > 0:
            return x + free / count / 2, gap + free / count
        case "space-evenly" if free > 0:
            return x + free / (count + 1), gap + free / (count + 1)
    return x, gap


def _make_room(layout: Layout, item: Item, style: Style, room: float) -> None:
    """The row of a box is higher than the box by this much, or lower: the box moves or grows."""
    own = item.node.style
    how = style.align_items if own.align_self == "auto" else own.align_self
    if not room:
        return
    if how in ("center", "flex-end", "end"):
        layout.shift(item.start, item.end, 0.0, room / 2 if how == "center" else room)
    elif how in ("stretch", "normal") and own.height is None and item.node.element is not None:
        grown = min(max(item.height + room, own.min_height), own.max_height) - item.height
        element, x, y, width, height = layout.placed[item.end - 1]
        layout.placed[item.end - 1] = (element, x, y, width, height + grown)
        if item.node.tag == "button":
            layout.shift(item.start, item.end - 1, 0.0, grown / 2)
        for inside in item.node.items:
            _make_room(layout, inside, own, grown)


def lay_column(layout: Layout, node: Node, x: float, y: float, width: float, height: float | None) -> float:
    """Boxes below each other in a flex container: margins do not collapse, and boxes are as wide as the container."""
    style, top = node.style, y
    for number, item in enumerate(node.children):
        own = item.style
        y += (style.row_gap if number else 0.0) + own.margin_top
        how = style.align_items if own.align_self == "auto" else own.align_self
        room = width - own.margin_left - own.margin_right
        size = _column_width(layout, item, width) if how in ("stretch", "normal") else layout.fitted_width(item, room)
        indent = own.margin_left
        if how == "center":
            indent += (room - size) / 2
        elif how in ("flex-end", "end"):
            indent += room - size
        y += layout.box(item, x + indent, y, size) + own.margin_bottom
    return y - top


def _column_width(layout: Layout, item: Node, width: float) -> float:
    """The width of a box that stretches from side to side, even where it would not as a block."""
    style = item.style
    if style.width is None and style.width_share is None and item.kind != REPLACED:
        return max(min(width - style.margin_left - style.margin_right, style.max_width), style.min_width)
    return layout.block_width(item, width)


def lay_grid(layout: Layout, node: Node, x: float, y: float, width: float) -> float:
    """Boxes in rows of given columns."""
    style, top = node.style, y
    columns = style.columns or (Fraction(1.0),)
    shares = [track.share if isinstance(track, Fraction) else float(isinstance(track, str)) for track in columns]
    fixed = [track if isinstance(track, float) else 0.0 for track in columns]
    free = max(0.0, width - sum(fixed) - style.column_gap * (len(columns) - 1))
    total = max(sum(shares), 1.0)
    tracks = [size + free * share / total if share else size for size, share in zip(fixed, shares, strict=True)]
    lefts = [x + sum(tracks[:number]) + style.column_gap * number for number in range(len(tracks))]
    for first in range(0, len(node.children), len(tracks)):
        y += style.row_gap if first else 0.0
        placed: list[Item] = []
        for item, left, track in zip(node.children[first:], lefts, tracks, strict=False):
            own, start = item.style, len(layout.placed)
            size = replaced_size(item, None)[0] if item.kind == REPLACED else _column_width(layout, item, track)
            tall = layout.box(item, left + own.margin_left, y + own.margin_top, size)
            placed.append(Item(item, start, len(layout.placed), tall))
        tallest = max(item.height + _margins(item.node) for item in placed)
        for item in placed:
            _make_room(layout, item, style, tallest - item.height - _margins(item.node))
        y += tallest
    return y - top


class _Cell(NamedTuple):
    """A cell and how many columns it covers."""

    node: Node
    span: int


_Rows = dict[Node, list[_Cell]]


def lay_table(layout: Layout, node: Node, x: float, y: float, width: float) -> float:
    """Place captions, rows and cells; the height of the table's contents."""
    top = y
    rows: _Rows = {}
    for row in rows_of(node):
        rows[row] = []
        for cell in row.children:
            text = (cell.element.get("colspan") if cell.element is not None else None) or ""
            is_number = text.isascii() and text.isdigit() and len(text) < 6
            rows[row].append(_Cell(cell, min(max(int(text), 1), _MAX_COLUMNS) if is_number else 1))
    columns = _columns(node, rows, width)
    whole = sum(columns)
    for child in node.children:
        display = child.style.display
        if display == "table-row":
            y += _lay_row(layout, child, rows[child], x, y, columns)
        elif child.kind == TABLE_PART:
            start = y
            for row in rows_of(child):
                y += _lay_row(layout, row, rows[row], x, y, columns)
            layout.placed.append((child.element, x, start, whole, y - start))
        elif not display.startswith("table-column"):
            y += layout.box(child, x, y, width)
    return y - top


def _columns(node: Node, rows: _Rows, width: float) -> list[float]:
    """The widths of the columns."""
    count = max((sum(cell.span for cell in cells) for cells in rows.values()), default=0)
    count = min(count, _MAX_COLUMNS)
    if node.style.width is None and node.style.width_share is None:
        # As wide as their contents want, less where there is no room.
        widest = [0.0] * count
        for cells in rows.values():
            at = 0
            for cell, span in cells:
                if span == 1 and at < count:
                    widest[at] = max(widest[at], preferred_width(cell))
                at += span
        total = sum(widest)
        return [size * min(1.0, width / total) for size in widest] if total else widest
    wanted: list[float | None] = []  # what the first row says; None where it says nothing
    for cell, span in next(iter(rows.values()), []):
        style = cell.style
        size = style.width if style.width_share is None else style.width_share * width
        wanted += [None if size is None else size / span] * span
    wanted = (wanted + [None] * count)[:count]
    fixed = sum(size for size in wanted if size is not None)
    free = wanted.count(None)
    if free:
        share = max(0.0, width - fixed) / free
        return [share if size is None else size for size in wanted]
    stretch = width / fixed if fixed and fixed < width else 1.0
    return [(size or 0.0) * stretch for size in wanted]


def _lay_row(layout: Layout, row: Node, cells: list[_Cell], x: float, y: float, columns: list[float]) -> float:
    placed = layout.placed
    done: list[tuple[Node, int, int, float]] = []
    at, left, tallest = 0, x, row.style.height or 0.0
    for cell, span in cells:
        width = columns[at] if span == 1 and at < len(columns) else sum(columns[at : at + span])
        start = len(placed)
        height = layout.box(cell, left, y, width)
        if height > tallest:
            tallest = height
        done.append((cell, start, len(placed), height))
        at, left = at + span, left + width
    for cell, start, end, height in done:
        if height != tallest:  # its contents stand at the top, in the middle or at the bottom
            room, valign = tallest - height, cell.style.valign
            if valign in ("middle", "bottom"):
                layout.shift(start, end - 1, 0.0, room / 2 if valign == "middle" else room)
            element, left_edge, upper_edge, width, own = placed[end - 1]
            placed[end - 1] = (element, left_edge, upper_edge, width, own + room)
    placed.append((row.element, x, y, left - x, tallest))
    return tallest
