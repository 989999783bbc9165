"""What was drawn and scored lately: the same target comes back every turn and in every episode of a group.

Also: target and drawing side by side in one picture, with their names above them.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from itertools import pairwise
from typing import Generic, TypeVar

import numpy as np

from agentrl.envs.svg.sandbox.renderer import shared_renderer
from agentrl.envs.svg.sandbox.values import SvgRefused

Value = TypeVar("Value")
PICTURE_BYTES = 32 << 20


class Recent(Generic[Value]):
    """A least-recently-used store with a limit on the sum of sizes. Threads may share it."""

    def __init__(self, limit: int, size: Callable[[Value], int] = lambda value: 1) -> None:
        self.limit, self.held, self._size = limit, 0, size
        self._entries: OrderedDict[Hashable, Value] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """What is stored under `key`, made now if there is nothing."""
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
                return self._entries[key]
        value = make()  # not under the lock: it may take long, and two threads rarely want the same
        with self._lock:
            if key not in self._entries:
                self._entries[key] = value
                self.held += self._size(value)
            while self.held > self.limit and len(self._entries) > 1:
                self.held -= self._size(self._entries.popitem(last=False)[1])
        return value


_pictures: Recent[np.ndarray] = Recent(PICTURE_BYTES, lambda picture: picture.nbytes)


def draw(code: str, size: int) -> np.ndarray:
    """The picture of an SVG, not to be written to; `SvgRefused` where it cannot be drawn."""
    return _pictures.get((code, size), lambda: _draw_now(code, size))


def _draw_now(code: str, size: int) -> np.ndarray:
    renderer = shared_renderer(size)
    try:
        picture = renderer.draw(code)
    except SvgRefused as refused:
        if refused.reason != "crash":
            raise
        # Processes also die for reasons of their own; code that really kills the renderer does so again.
        picture = renderer.draw(code)
    picture.flags.writeable = False
    return picture


# ---------------------------------------------------------------------- target and drawing side by side

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
    scale = label_scale(size)
    for word, half in (("target", 0), ("drawing", width - size)):
        dots = np.zeros((LETTER_HEIGHT, LETTER_WIDTH * len(word) - 1), bool)
        for place, letter in enumerate(word):
            for row, bits in enumerate(FONT[letter]):
                for column in range(5):
                    dots[row, place * LETTER_WIDTH + column] = bits >> (4 - column) & 1
        dots = dots.repeat(scale, axis=0).repeat(scale, axis=1)
        top, left = 2 * scale, half + size // 2 - dots.shape[1] // 2
        picture[top : top + dots.shape[0], left : left + dots.shape[1]][dots] = INK
    return picture


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
