"""Icons drawn from parts, and ways of spoiling them a little or a lot."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Colour = tuple[int, int, int]


def icon(size: int = 224, ink: Colour = (200, 40, 40), right: int = 0, parts: int = 3) -> np.ndarray:
    """A disc in `ink`, a blue box and a dark diagonal on white paper, moved to the right by some pixels."""
    rows, columns = np.mgrid[0:size, 0:size]
    columns = columns - right
    unit = size / 224
    picture = np.full((size, size, 3), 255, np.uint8)
    if parts > 0:
        picture[(rows - 90 * unit) ** 2 + (columns - 80 * unit) ** 2 < (45 * unit) ** 2] = ink
    if parts > 1:
        picture[(abs(rows - 150 * unit) < 30 * unit) & (abs(columns - 145 * unit) < 40 * unit)] = (40, 90, 200)
    if parts > 2:
        picture[(abs(rows - columns) < 4 * unit) & (rows > 120 * unit)] = (20, 20, 20)
    return picture


def ring(size: int = 96) -> np.ndarray:
    """A green ring with an orange heart."""
    rows, columns = np.mgrid[0:size, 0:size] - size / 2
    far = np.hypot(rows, columns) / size
    picture = np.full((size, size, 3), 255, np.uint8)
    picture[(far > 0.25) & (far < 0.36)] = (30, 140, 60)
    picture[far < 0.12] = (250, 140, 20)
    return picture


def stripes(size: int = 96) -> np.ndarray:
    """Three bars of different length and colour, which reach to the left border."""
    picture = np.full((size, size, 3), 255, np.uint8)
    for index, colour in enumerate([(120, 40, 160), (20, 160, 200), (220, 180, 0)]):
        top = size * (1 + 2 * index) // 7
        picture[top : top + size // 7, : size * (4 + index) // 7] = colour
    return picture


def scene(seed: int, size: int = 96) -> np.ndarray:
    """Boxes and discs of chance."""
    chance = np.random.default_rng(seed)
    rows, columns = np.mgrid[0:size, 0:size]
    picture = np.full((size, size, 3), 255, np.uint8)
    for index in range(6):
        row, column, reach = chance.integers((10, 10, 5), (size - 10, size - 10, 20))
        near = (abs(rows - row) < reach) & (abs(columns - column) < reach // 2 + 1)
        if index % 2:
            near = np.hypot(rows - row, columns - column) < reach
        picture[near] = chance.integers(0, 230, 3)
    return picture


def blank(size: int = 96) -> np.ndarray:
    """White paper."""
    return np.full((size, size, 3), 255, np.uint8)


def shifted(picture: np.ndarray, amount: float) -> np.ndarray:
    """Moved to the right and down; white paper comes in."""
    # Not by more: outlines of one part would come to lie on those of another by chance.
    step = round(amount * picture.shape[0] * 0.06)
    moved = np.full_like(picture, 255)
    moved[step:, step:] = picture[: picture.shape[0] - step, : picture.shape[1] - step]
    return moved


def recoloured(picture: np.ndarray, amount: float) -> np.ndarray:
    """Every colour but the paper's, part of the way to another one."""
    inked = (picture != 255).any(axis=2, keepdims=True)
    other = picture[..., [1, 2, 0]].astype(float)
    return np.where(inked, picture * (1 - amount) + other * amount, picture).astype(np.uint8)


def cut(picture: np.ndarray, amount: float) -> np.ndarray:
    """The left part is missing."""
    rest = picture.copy()
    rest[:, : round(amount * picture.shape[1])] = 255
    return rest


def noisy(picture: np.ndarray, amount: float) -> np.ndarray:
    """Noise on every pixel."""
    noise = np.random.default_rng(0).normal(0, 150 * amount, picture.shape)
    return np.clip(picture + noise, 0, 255).astype(np.uint8)


SPOILING: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "shift": shifted,
    "recolour": recoloured,
    "missing parts": cut,
    "noise": noisy,
}
PICTURES = {"icon": icon(96), "ring": ring(), "stripes": stripes(), "scene": scene(1), "other scene": scene(2)}
