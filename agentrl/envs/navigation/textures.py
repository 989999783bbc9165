"""Small procedural textures: grey patterns that a colour is multiplied with, and floors with baked shadows.

Everything is computed from sums of sines and a fixed table of noise, so the pictures are the same everywhere.
"""

from __future__ import annotations

from functools import cache

import numpy as np

PIXELS = 64  # sides of a pattern
FLOOR_PIXELS = 40  # of a metre of floor


@cache
def noise(seed: int, size: int = PIXELS) -> np.ndarray:
    """White noise in [-1, 1]."""
    return np.random.default_rng(seed).random((size, size)) * 2 - 1


def smooth(grid: np.ndarray, times: int) -> np.ndarray:
    """Blurred, as if the picture went on periodically."""
    for _ in range(times):
        grid = (grid + np.roll(grid, 1, 0) + np.roll(grid, -1, 0) + np.roll(grid, 1, 1) + np.roll(grid, -1, 1)) / 5
    return grid


def _wood(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    wave = smooth(noise(1), 6) * 5
    return 0.92 + 0.05 * np.sin(2 * np.pi * (5 * y + wave)) + 0.03 * noise(2)[:, :1]


def _fabric(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    return 0.94 + 0.03 * np.sin(2 * np.pi * 16 * x) * np.sin(2 * np.pi * 16 * y) + 0.03 * noise(3)


def _stone(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    return 0.93 + 0.25 * smooth(noise(4), 3) + 0.03 * noise(5)


def _weave(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    return 0.85 + 0.15 * np.sign(np.sin(2 * np.pi * 8 * x) * np.sin(2 * np.pi * 8 * y))


def _wall(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Darker towards all edges, as if the neighbouring walls took light away."""
    across, up = np.minimum(x, 1 - x), np.minimum(y, 1 - y)
    return 1 - 0.13 * np.exp(-across / 0.09) - 0.13 * np.exp(-up / 0.09)


PATTERNS = {"wall": _wall, "wood": _wood, "fabric": _fabric, "stone": _stone, "weave": _weave}


@cache
def pattern(name: str) -> np.ndarray:
    """One face of a texture: uint8 [PIXELS, PIXELS, 3]."""
    y, x = np.mgrid[0:PIXELS, 0:PIXELS] / PIXELS
    return _grey(PATTERNS[name](y, x))


def _grey(values: np.ndarray) -> np.ndarray:
    return np.repeat((np.clip(values, 0, 1) * 255).astype(np.uint8)[:, :, None], 3, axis=2)


# ---------------------------------------------------------------------- floors


def planks(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Boards of 14 cm along x; metres in, brightness out."""
    row = np.floor(y / 0.14)
    shifted = x / 1.2 + (row * 0.37) % 1
    tone = np.sin(row * 12.9 + np.floor(shifted) * 78.2) * 0.07
    seam = (y / 0.14 % 1 < 0.09) | (shifted % 1 < 0.012)
    return 0.88 + tone + 0.02 * np.sin(y * 160 + np.sin(x * 3 + row)) - 0.14 * seam


def tiles(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Tiles of 33 cm with joints."""
    a, b = x / 0.33, y / 0.33
    joint = (a % 1 < 0.06) | (b % 1 < 0.06)
    return 0.92 + 0.03 * np.sin(np.floor(a) * 12.9 + np.floor(b) * 78.2) - 0.17 * joint


def checks(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Tiles of 40 cm, light and dark by turns."""
    return 0.93 - 0.22 * ((np.floor(x / 0.4) + np.floor(y / 0.4)) % 2)


def carpet(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A soft floor."""
    return 0.93 + 0.04 * noise(6, 256)[(y * FLOOR_PIXELS).astype(int) % 256, (x * FLOOR_PIXELS).astype(int) % 256]


def plain(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """One colour."""
    return np.full_like(x, 0.95)


FLOORS = {"plain": plain, "planks": planks, "tiles": tiles, "checks": checks, "carpet": carpet}


def floor_texture(
    kind: str, width: float, depth: float, shadows: list[tuple[float, float, float, float, float]]
) -> np.ndarray:
    """A floor with the soft shadows of what stands on it: uint8 [height, width, 3], the first row in the north.

    Each shadow is x0, y0, x1, y1 from the south-west corner in metres, and its darkness.
    """
    columns, rows = max(8, round(width * FLOOR_PIXELS)), max(8, round(depth * FLOOR_PIXELS))
    y = (np.arange(rows)[::-1, None] + 0.5) * depth / rows + np.zeros((1, columns))
    x = (np.arange(columns)[None, :] + 0.5) * width / columns + np.zeros((rows, 1))
    light = FLOORS[kind](y, x)
    edge = np.minimum(np.minimum(x, width - x), np.minimum(y, depth - y))
    light *= 1 - 0.22 * np.exp(-edge / 0.25)
    for x0, y0, x1, y1, darkness in shadows:
        dx = np.maximum(np.maximum(x0 - x[0], x[0] - x1), 0)[None, :]
        dy = np.maximum(np.maximum(y0 - y[:, 0], y[:, 0] - y1), 0)[:, None]
        light *= 1 - darkness * np.exp(-(dx * dx + dy * dy) / 0.02)
    return _grey(light)
