"""Where a walker can stand, as the bits of one number, and whether all of it stays connected.

The walker is a disc of radius 0.2 m on the points (0.25 i, 0.25 j). One integer holds the whole grid, so that a flood
over it is a few shifts: a home needs some forty of them.
"""

from __future__ import annotations

import numpy as np

from agentrl.envs.navigation.homes.home import Rectangle

STEP = 0.25
RADIUS = 0.2


class Floor:
    """The free points of a home's floor."""

    def __init__(self, rooms: list[Rectangle], doors: list[Rectangle], walls: list[Rectangle]) -> None:
        self.columns = int(max(area[2] for area in rooms) / STEP) + 2  # the last column stays empty: rows never touch
        self.rows = int(max(area[3] for area in rooms) / STEP) + 1
        self.x = np.arange(self.columns) * STEP
        self.y = np.arange(self.rows) * STEP
        inside = np.zeros((self.rows, self.columns), dtype=bool)
        for x0, y0, x1, y1 in rooms + doors:
            inside |= np.outer((self.y >= y0) & (self.y <= y1), (self.x >= x0) & (self.x <= x1))
        self.free = _bits(inside)
        for wall in walls:
            self.free &= ~self.covered(wall)

    def covered(self, area: Rectangle) -> int:
        """The points from which a walker would touch the area."""
        x = np.maximum(np.maximum(area[0] - self.x, self.x - area[2]), 0.0)
        y = np.maximum(np.maximum(area[1] - self.y, self.y - area[3]), 0.0)
        return _bits((y * y)[:, None] + (x * x)[None, :] < RADIUS * RADIUS - 1e-9)

    def connected(self, free: int) -> bool:
        """Can a walker go from each of these points to every other one?"""
        reached = free & -free
        while True:
            spread = reached | reached << 1 | reached >> 1 | reached << self.columns | reached >> self.columns
            spread &= free
            if spread == reached:
                return reached == free
            reached = spread

    def points(self) -> list[tuple[float, float]]:
        """The free points."""
        return [
            (index % self.columns * STEP, index // self.columns * STEP)
            for index in range(self.free.bit_length())
            if self.free >> index & 1
        ]


def _bits(grid: np.ndarray) -> int:
    return int.from_bytes(np.packbits(grid.ravel(), bitorder="little").tobytes(), "little")
