"""Pictures in a terminal: each character shows two pixels, one above the other, in true colour."""

from __future__ import annotations

import numpy as np
from PIL import Image

UPPER_HALF = "\N{UPPER HALF BLOCK}"
RESET = "\x1b[0m"


def fit(picture: np.ndarray, columns: int, rows: int) -> np.ndarray:
    """The picture small enough for that many characters, an even number of pixels high; never enlarged."""
    height, width = picture.shape[:2]
    scale = min(1.0, columns / width, 2 * rows / height)
    size = max(1, int(width * scale)), max(2, 2 * int(height * scale / 2))
    return np.asarray(Image.fromarray(picture).resize(size, Image.Resampling.BOX))


def half_blocks(picture: np.ndarray, columns: int, rows: int) -> str:
    """The picture as lines of coloured characters that fit into `columns` x `rows`."""
    small = fit(picture, max(1, columns), max(1, rows))
    lines = []
    for upper, lower in zip(small[::2].tolist(), small[1::2].tolist(), strict=True):
        lines.append("".join(_cell(*pixels) for pixels in zip(upper, lower, strict=True)) + RESET)
    return "\n".join(lines)


def _cell(upper: list[int], lower: list[int]) -> str:
    return f"\x1b[38;2;{_code(upper)};48;2;{_code(lower)}m{UPPER_HALF}"


def _code(colour: list[int]) -> str:
    return ";".join(map(str, colour[:3]))
