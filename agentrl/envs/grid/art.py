"""The tile art of the grid worlds."""

from __future__ import annotations

import numpy as np

BACKGROUND = np.array([40, 44, 52], np.uint8)
_PALETTE = {
    "frozenlake": [(214, 236, 248), (28, 54, 92), (240, 196, 60), (208, 64, 64), (90, 30, 60), (120, 200, 90)],
    "sokoban": [
        (96, 72, 64),
        (224, 214, 196),
        (220, 90, 90),
        (180, 120, 50),
        (60, 110, 200),
        (110, 170, 80),
        (130, 90, 200),
    ],
}


def paint(art: str, pixels: int) -> list[np.ndarray]:
    """One picture for each symbol of a game."""
    return [np.full((pixels, pixels, 3), colour, np.uint8) for colour in _PALETTE[art]]
