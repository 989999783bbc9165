"""Tables with fixed layout: the first row sets the columns, the others share what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrl.envs.webarena.browsing.boxes import Node
from agentrl.envs.webarena.browsing.intrinsic import preferred_width, rows_of

if TYPE_CHECKING:
    from agentrl.envs.webarena.browsing.layout import Layout

_MOST_COLUMNS = 1000


def lay_table(layout: Layout, node: Node, x: float, y: float, width: float) -> float:
    """Place captions, rows and cells; the height of the table's contents."""
    top = y
    columns = _columns(node, width)
    for child in node.children:
        if not isinstance(child, Node):
            continue
        if child.style.display == "table-row":
            y += _lay_row(layout, child, x, y, columns)
        elif child.style.display.endswith("row-group") or child.style.display in (
            "table-header-group",
            "table-footer-group",
        ):
            start = y
            for row in rows_of(child):
                y += _lay_row(layout, row, x, y, columns)
            layout.placed.append((child.element, x, start, sum(columns), y - start))
        elif not child.style.display.startswith("table-column"):
            y += layout.box(child, x, y, width)
    return y - top


def span_of(cell: Node) -> int:
    """How many columns a cell covers."""
    text = cell.element.get("colspan") if cell.element is not None else None
    return min(max(int(text), 1), _MOST_COLUMNS) if text and text.isascii() and text.isdigit() and len(text) < 6 else 1


def _columns(node: Node, width: float) -> list[float]:
    """The widths of the columns."""
    rows = rows_of(node)
    count = max((sum(span_of(cell) for cell in cells_of(row)) for row in rows), default=0)
    count = min(count, _MOST_COLUMNS)
    wanted: list[float | None] = [None] * count
    at = 0
    for cell in cells_of(rows[0]) if rows else ():
        span = span_of(cell)
        for number in range(at, min(at + span, count)):
            style = cell.style
            if style.width is not None:
                wanted[number] = style.width / span
            elif style.width_share is not None:
                wanted[number] = style.width_share * width / span
        at += span
    if node.style.width is None and node.style.width_share is None:
        return _by_contents(rows, count, width)
    fixed = sum(size for size in wanted if size is not None)
    free = [number for number, size in enumerate(wanted) if size is None]
    if free:
        share = max(0.0, width - fixed) / len(free)
        return [share if size is None else size for size in wanted]
    stretch = width / fixed if fixed and fixed < width else 1.0
    return [(size or 0.0) * stretch for size in wanted]


def _by_contents(rows: list[Node], count: int, width: float) -> list[float]:
    """Columns of a table without a width: as wide as their contents want, less where there is no room."""
    wanted = [0.0] * count
    for row in rows:
        at = 0
        for cell in cells_of(row):
            if span_of(cell) == 1 and at < count:
                wanted[at] = max(wanted[at], preferred_width(cell))
            at += span_of(cell)
    total = sum(wanted)
    return [size * min(1.0, width / total) for size in wanted] if total else wanted


def cells_of(row: Node) -> list[Node]:
    """The cells of a row."""
    return [child for child in row.children if isinstance(child, Node)]


def _lay_row(layout: Layout, row: Node, x: float, y: float, columns: list[float]) -> float:
    cells: list[tuple[Node, int, int, float]] = []
    at = 0
    left = x
    for cell in cells_of(row):
        span = span_of(cell)
        width = sum(columns[at : at + span])
        start = len(layout.placed)
        height = layout.box(cell, left, y, width)
        cells.append((cell, start, len(layout.placed), height))
        at, left = at + span, left + width
    tallest = max((height for _, _, _, height in cells), default=0.0)
    tallest = max(tallest, row.style.height or 0.0)
    for cell, start, end, height in cells:
        _stretch(layout, cell, start, end, tallest - height)
    layout.placed.append((row.element, x, y, sum(columns), tallest))
    return tallest


def _stretch(layout: Layout, cell: Node, start: int, end: int, room: float) -> None:
    """Make a cell as tall as its row; its contents stand at the top, in the middle or at the bottom."""
    if not room:
        return
    element, x, y, width, height = layout.placed[end - 1]
    if cell.style.valign in ("middle", "bottom"):
        layout.shift(start, end - 1, 0.0, room / 2 if cell.style.valign == "middle" else room)
    layout.placed[end - 1] = (element, x, y, width, height + room)
