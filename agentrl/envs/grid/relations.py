"""Where one thing is relative to another, in words: the ground truth of the `natural` representation."""

from __future__ import annotations

Cell = tuple[int, int]  # row, column; row 0 is at the top


def relation(name: str, cell: Cell, other: str, origin: Cell) -> str:
    """A sentence such as "box0 is above and on the right side of the player"."""
    rows, columns = cell[0] - origin[0], cell[1] - origin[1]
    vertical = "above" if rows < 0 else "below"
    side = "left" if columns < 0 else "right"
    if rows == 0 and columns == 0:
        return f"{name} is at the same place as {other}"
    if columns == 0:
        return f"{name} is {vertical} and at the same column as {other}"
    if rows == 0:
        return f"{name} is at the same row and to the {side} of {other}"
    return f"{name} is {vertical} and on the {side} side of {other}"


def numbered(name: str, cells: tuple[Cell, ...]) -> list[tuple[str, Cell]]:
    """`box0`, `box1`, ... with their cells."""
    return [(f"{name}{i}", cell) for i, cell in enumerate(cells)]
