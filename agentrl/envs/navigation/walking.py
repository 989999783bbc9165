"""Where somebody can walk in a home: a lattice of places one step apart, and which steps are free.

The walker is a disc. A step is free if the disc, on its whole way, touches no wall and nothing that blocks. All of a
home is computed at once; after that a step is a look into an array.
"""

from __future__ import annotations

import math

import numpy as np

from agentrl.envs.navigation.homes.home import Home

RADIUS = 0.2  # of the walker, in metres
HEADINGS = ("north", "east", "south", "west")  # turning right is the next one
VECTORS = ((0, 1), (1, 0), (0, -1), (-1, 0))  # x and y of a step in each heading
UNREACHABLE = -1
TURN_RIGHT, TURN_LEFT = 4, 5  # in a walk; 0 to 3 are steps, so many quarter turns right of the heading
Cell = tuple[int, int]  # a place of the lattice: x and y in steps from the origin of the home


class Floor:
    """The lattice of one home. A cell (i, j) is the place (i * step, j * step)."""

    def __init__(self, home: Home, step: float, radius: float = RADIUS) -> None:
        self.step = step
        areas = np.array([room.area for room in home.rooms] + [door.area for door in home.doors])
        # One ring of cells more than the home has, all blocked: no step leads out of the arrays.
        self.low = tuple(math.floor(value / step) - 1 for value in areas[:, :2].min(axis=0))
        high = [math.ceil(value / step) + 1 for value in areas[:, 2:].max(axis=0)]
        self.shape = high[0] - self.low[0] + 1, high[1] - self.low[1] + 1
        self.x = (self.low[0] + np.arange(self.shape[0]))[:, None] * step
        self.y = (self.low[1] + np.arange(self.shape[1]))[None, :] * step
        blocked = [wall.area for wall in home.walls]  # the footprints of walls and of everything that blocks
        for item in home.items:
            if item.blocks:
                (x, y, _), (width, depth, _) = item.position, item.size
                blocked.append((x - width / 2, y - depth / 2, x + width / 2, y + depth / 2))
        solid = np.array(blocked).reshape(-1, 4)
        x0, y0, x1, y1 = areas.T[:, :, None, None]
        inside = ((self.x >= x0) & (self.x <= x1) & (self.y >= y0) & (self.y <= y1)).any(axis=0)  # a room or a door
        self.free = inside & self._clear(solid, 0.0, 0.0, radius)
        self.free[[0, -1]] = self.free[:, [0, -1]] = False
        east = self.free & _moved(self.free, (-1, 0)) & self._clear(solid, step, 0.0, radius)
        north = self.free & _moved(self.free, (0, -1)) & self._clear(solid, 0.0, step, radius)
        self.open = np.stack([north, east, _moved(north, (0, 1)), _moved(east, (1, 0))])  # [heading, i, j]

    def _clear(self, solid: np.ndarray, east: float, north: float, radius: float) -> np.ndarray:
        """From which places the disc can go this far without touching anything."""
        x0, y0, x1, y1 = solid.T[:, :, None, None]
        gap_x = np.maximum(np.maximum(x0 - (self.x + east), self.x - x1), 0.0)
        gap_y = np.maximum(np.maximum(y0 - (self.y + north), self.y - y1), 0.0)
        return (gap_x**2 + gap_y**2 >= radius**2 - 1e-9).all(axis=0)

    def index(self, cell: Cell) -> Cell:
        """Where the arrays hold a cell."""
        return cell[0] - self.low[0], cell[1] - self.low[1]

    def stands(self, cell: Cell) -> bool:
        """Can the walker stand there?"""
        i, j = self.index(cell)
        return 0 <= i < self.shape[0] and 0 <= j < self.shape[1] and bool(self.free[i, j])

    def can_step(self, cell: Cell, heading: int) -> bool:
        """Is the step in a heading free?"""
        i, j = self.index(cell)
        return bool(self.open[heading, i, j])

    def place(self, cell: Cell) -> tuple[float, float]:
        """x and y of a cell, in metres."""
        return cell[0] * self.step, cell[1] * self.step

    def near(self, x: float, y: float, distance: float) -> np.ndarray:
        """The places within a distance of a point where the walker can stand: bool [i, j]."""
        return self.free & ((self.x - x) ** 2 + (self.y - y) ** 2 <= (distance + 1e-9) ** 2)

    def steps_to(self, goals: np.ndarray) -> np.ndarray:
        """How many steps the nearest of some goals is away from every place: int [i, j], `UNREACHABLE` if none is."""
        field = np.full(self.shape, UNREACHABLE, np.int32)
        front, count = goals & self.free, 0
        while front.any():
            field[front] = count
            reached = np.zeros(self.shape, bool)
            for heading, (x, y) in enumerate(VECTORS):
                reached |= self.open[heading] & _moved(front, (-x, -y))
            front, count = reached & (field == UNREACHABLE), count + 1
        return field

    def led_to(self, goals: np.ndarray, cells: np.ndarray, headings: np.ndarray, walks: np.ndarray) -> np.ndarray:
        """Which walks, taken from each place without looking, come past a goal: bool [places, walks].

        A walk is a row of actions: steps, as quarter turns right of the heading, `TURN_RIGHT` and `TURN_LEFT`.
        """
        i, j = (np.repeat(line[:, None], len(walks), axis=1) for line in cells.T)
        heading, met = np.repeat(headings[:, None], len(walks), axis=1), np.zeros(i.shape, bool)
        east, north = np.array(VECTORS).T
        for action in walks.T:
            ahead = (heading + action) % 4
            goes = (action < 4) & self.open[ahead, i, j]
            i, j = i + goes * east[ahead], j + goes * north[ahead]
            heading = (heading + (action == TURN_RIGHT) - (action == TURN_LEFT)) % 4
            met |= goals[i, j]
        return met


def _moved(cells: np.ndarray, by: Cell) -> np.ndarray:
    """A set of places moved by a step; the ring around the home is empty, so that nothing comes round."""
    return np.roll(cells, by, axis=(0, 1))
