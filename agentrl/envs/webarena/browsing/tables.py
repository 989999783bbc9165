"""Tables with fixed layout: the first row sets the columns, the others share what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agentrl.envs.webarena.browsing.boxes import TABLE_PART, Node
from agentrl.envs.webarena.browsing.intrinsic import preferred_width, rows_of

if TYPE_CHECKING:
    from agentrl.envs.webarena.browsing.layout import Layout

_MAX_COLUMNS = 1000


class _Cell(NamedTuple):
    """A cell and how many columns it covers."""

    node: Node
    span: int


_Rows = dict[Node, list[_Cell]]


def lay_table(layout: Layout, node: Node, x: float, y: float, width: float) -> float:
    """Place captions, rows and cells; the height of the table's contents."""
    top = y
    rows: _Rows = {row: [_Cell(cell, _span(cell)) for cell in row.children] for row in rows_of(node)}
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


def _span(cell: Node) -> int:
    text = cell.element.get("colspan") if cell.element is not None else None
    if text is None or not (text.isascii() and text.isdigit() and len(text) < 6):
        return 1
    return min(max(int(text), 1), _MAX_COLUMNS)


def _columns(node: Node, rows: _Rows, width: float) -> list[float]:
    """The widths of the columns."""
    count = max((sum(cell.span for cell in cells) for cells in rows.values()), default=0)
    count = min(count, _MAX_COLUMNS)
    if node.style.width is None and node.style.width_share is None:
        return _by_contents(rows, count, width)
    wanted = _wanted(next(iter(rows.values()), []), count, width)
    fixed = sum(size for size in wanted if size is not None)
    free = wanted.count(None)
    if free:
        share = max(0.0, width - fixed) / free
        return [share if size is None else size for size in wanted]
    stretch = width / fixed if fixed and fixed < width else 1.0
    return [(size or 0.0) * stretch for size in wanted]


def _wanted(first: list[_Cell], count: int, width: float) -> list[float | None]:
    """What the first row says about the columns; None where it says nothing."""
    wanted: list[float | None] = []
    for cell, span in first:
        style = cell.style
        size = style.width if style.width_share is None else style.width_share * width
        wanted += [None if size is None else size / span] * span
    return (wanted + [None] * count)[:count]


def _by_contents(rows: _Rows, count: int, width: float) -> list[float]:
    """Columns of a table without a width: as wide as their contents want, less where there is no room."""
    wanted = [0.0] * count
    for cells in rows.values():
        at = 0
        for cell, span in cells:
            if span == 1 and at < count:
                wanted[at] = max(wanted[at], preferred_width(cell))
            at += span
    total = sum(wanted)
    return [size * min(1.0, width / total) for size in wanted] if total else wanted


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
        if height != tallest:
            _stretch(layout, cell, start, end, tallest - height)
    placed.append((row.element, x, y, left - x, tallest))
    return tallest


def _stretch(layout: Layout, cell: Node, start: int, end: int, room: float) -> None:
    """Make a cell as tall as its row; its contents stand at the top, in the middle or at the bottom."""
    element, x, y, width, height = layout.placed[end - 1]
    if cell.style.valign in ("middle", "bottom"):
        layout.shift(start, end - 1, 0.0, room / 2 if cell.style.valign == "middle" else room)
    layout.placed[end - 1] = (element, x, y, width, height + room)
