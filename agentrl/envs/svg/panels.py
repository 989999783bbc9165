"""Target and drawing side by side in one picture, with their names above them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

GAP = 2  # pixels of line between the halves, at the least
PAPER, INK, LINE, EMPTY = 245, 60, 150, 235  # shades of gray
# Letters of seven rows of five pixels; a row is five bits, the leftmost the highest.
FONT = {
    "t": (31, 4, 4, 4, 4, 4, 4), "a": (14, 17, 17, 31, 17, 17, 17), "r": (30, 17, 17, 30, 20, 18, 17),
    "g": (14, 17, 16, 23, 17, 17, 14), "e": (31, 16, 16, 30, 16, 16, 31), "d": (30, 17, 17, 17, 17, 17, 30),
    "w": (17, 17, 17, 21, 21, 27, 17), "i": (14, 4, 4, 4, 4, 4, 14), "n": (17, 25, 21, 19, 17, 17, 17),
}  # fmt: skip
LETTER_WIDTH, LETTER_HEIGHT = 6, 7  # a letter with the space after it


def label_scale(size: int) -> int:
    """How many pixels a dot of a letter is wide."""
    return max(1, size // 160)


def panel_shape(size: int) -> tuple[int, int, int]:
    """Height, width and channels of the whole picture for drawings of this size."""
    scale = label_scale(size)
    return size + (LETTER_HEIGHT + 4) * scale, 2 * size + GAP * scale, 3


def side_by_side(target: np.ndarray, drawing: np.ndarray | None) -> np.ndarray:
    """One picture of two square ones; without a drawing its half is an empty gray."""
    size = target.shape[0]
    height, width, _ = panel_shape(size)
    picture = np.full((height, width, 3), PAPER, np.uint8)
    picture[height - size :, :size] = target
    picture[height - size :, width - size :] = EMPTY if drawing is None else drawing
    picture[:, size : width - size] = LINE
    for word, left in (("target", 0), ("drawing", width - size)):
        _print(picture, word, left + size // 2, label_scale(size))
    return picture


def _print(picture: np.ndarray, word: str, middle: int, scale: int) -> None:
    dots = np.zeros((LETTER_HEIGHT, LETTER_WIDTH * len(word) - 1), bool)
    for place, letter in enumerate(word):
        for row, bits in enumerate(FONT[letter]):
            for column in range(5):
                dots[row, place * LETTER_WIDTH + column] = bits >> (4 - column) & 1
    dots = dots.repeat(scale, axis=0).repeat(scale, axis=1)
    top, left = 2 * scale, middle - dots.shape[1] // 2
    picture[top : top + dots.shape[0], left : left + dots.shape[1]][dots] = INK


def in_characters(picture: np.ndarray, columns: int = 32) -> list[str]:
    """A square picture as rows of characters, dark colours as heavy ones."""
    size = picture.shape[0]
    rows = columns // 2  # a character is about twice as high as wide
    down, across = (np.linspace(0, size, count + 1).astype(int) for count in (rows, columns))
    gray = picture.astype(float) @ np.array([0.299, 0.587, 0.114])
    shades = " .:-=+*#%@"
    lines = []
    for top, bottom in pairwise(down):
        cells = [gray[top:bottom, left:right].mean() for left, right in pairwise(across)]
        lines.append("".join(shades[round((1 - cell / 255) * (len(shades) - 1))] for cell in cells))
    return lines
