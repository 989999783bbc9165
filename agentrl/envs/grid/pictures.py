"""Pictures of grid worlds: tiles drawn once for each size, then laid out."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from agentrl.envs.grid.art import BACKGROUND, paint
from agentrl.envs.grid.kernel import draw_tiles


@lru_cache(maxsize=32)
def tiles(art: str, pixels: int) -> np.ndarray:
    """The tiles of a game, uint8 [kinds, pixels, pixels, 3], in the order of its symbols."""
    return np.ascontiguousarray(np.stack(paint(art, pixels)))


def draw(art: str, codes: np.ndarray, pixels: int) -> np.ndarray:
    """Fresh pictures [n, pixels, pixels, 3] of grids [n, size, size]."""
    return draw_tiles(codes, tiles(art, pixels // codes.shape[1]), pixels, BACKGROUND)
