"""How much of which colour: the work of repainting one picture into another, wherever the colours are."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageChops

# Besides red, green and blue alone: their differences, without which red and green dots would equal yellow and black.
OPPONENTS = (0.5, -0.5, 0, 127.5, 0, 0.5, -0.5, 127.5, -0.5, 0, 0.5, 127.5)
NEARLY_WHITE = 250


class Colours:
    """How the pixels of one picture are spread along six axes of colour, and how many are background."""

    def __init__(self, picture: np.ndarray) -> None:
        image = Image.fromarray(np.ascontiguousarray(picture))
        counts = image.histogram() + image.convert("RGB", OPPONENTS).histogram()
        pixels = picture.shape[0] * picture.shape[1]
        self.spread = np.cumsum(np.array(counts, np.float64).reshape(6, 256), axis=1) / pixels
        red, green, blue = image.split()
        darkest = ImageChops.darker(ImageChops.darker(red, green), blue).histogram()
        self.white = sum(darkest[NEARLY_WHITE:]) / pixels
        self.nbytes = self.spread.nbytes


def colour_distance(one: Colours, other: Colours) -> float:
    """How far colours must be moved on average, 0 for the same colours, 1 for black against white.

    White that both pictures have counts for nothing: the average is over the rest, so that a small icon on much paper
    is compared by its own colours.
    """
    rest = 1.0 - min(one.white, other.white)
    if rest <= 0:
        return 0.0
    moved = np.abs(one.spread - other.spread).sum(axis=1) / 255
    # Black against white is seen along the first three axes alone, red and green for yellow and black along the others.
    return float(min(1.0, max(moved[:3].mean(), moved[3:].mean()) / rest))
