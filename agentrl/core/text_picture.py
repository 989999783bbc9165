"""Text as a picture: what an environment without pictures shows when it is rendered as one."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

COLUMNS, ROWS = 60, 24  # of characters; every picture has the same size, as films need
CELL = (9, 18)  # width and height of a character in pixels
MARGIN = 12
PAPER, INK = (250, 250, 247), (34, 34, 34)


def text_picture(text: str) -> np.ndarray:
    """Characters in equal cells, uint8 [height, width, 3]; what does not fit ends in "..."."""
    from PIL import Image, ImageDraw

    size = COLUMNS * CELL[0] + 2 * MARGIN, ROWS * CELL[1] + 2 * MARGIN
    picture = Image.new("RGB", size, PAPER)
    pen = ImageDraw.Draw(picture)
    for row, line in enumerate(_lines(text)):
        for column, char in enumerate(line):
            if char != " ":
                # Cell by cell: Pillow's own font is proportional, and drawings in characters must stay aligned.
                place = MARGIN + (column + 0.5) * CELL[0], MARGIN + row * CELL[1]
                pen.text(place, char, fill=INK, font=_font(), anchor="ma")
    return np.asarray(picture).copy()


def _lines(text: str) -> list[str]:
    """At most `ROWS` lines of at most `COLUMNS` printable characters, broken between words where possible."""
    lines: list[str] = []
    for line in text[: 4 * COLUMNS * ROWS].split("\n"):
        rest = "".join(char if char.isprintable() else " " for char in line.expandtabs(4)).rstrip()
        while len(rest) > COLUMNS and len(lines) <= ROWS:
            end = rest.rfind(" ", 1, COLUMNS + 1)
            end = COLUMNS if end <= 0 else end
            lines.append(rest[:end])
            rest = rest[end:].lstrip()
        lines.append(rest)
        if len(lines) > ROWS:
            return [*lines[: ROWS - 1], "..."]
    return lines


@cache
def _font() -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(14)
