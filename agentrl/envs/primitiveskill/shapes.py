"""The table, whatever simulates it: where the arm and the viewer are, how high things are, the boards of a drawer.

The numbers of a drawer are multiples of a thing's size, which is half the side of the drawer. A board is a box from one
corner to the opposite one; those of the cabinet are relative to its place on the table, those of the drawer to its own
middle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from agentrl.envs.primitiveskill.backend import Thing

MOVABLE = ("cube", "sphere")
BASE = (-0.615, 0.0, 0.0)  # of the arm, in metres
# The viewer, in metres and degrees: far away with a narrow view, so that the 600 mm of the workspace fill the picture
# from side to side at the back as at the front. Nearer, only its front edge would, and what stands behind be smaller.
EYE, LOOKS_AT, VIEW = (2.68, 0.0, 3.02), (0.0, 0.0, 0.045), 8.95

HEIGHT = 1.2  # of the cabinet
TRAY = (0.03, 0.85)  # from the drawer's lower side to its rim
PANEL = 1.12  # the upper edge of the drawer's front, which hides what is in a closed drawer
FRONT = 0.85  # from the middle of the closed drawer to the cabinet's front; the drawer's own front covers it
TRAVEL = 1.8  # how far the drawer opens
BOARD = 0.08  # thickness of all boards
INSIDE = TRAY[0] + BOARD  # height of the drawer's floor
KNOB = 0.16  # how far the handle sticks out

_BACK, _SIDE, _LOW, _HALF = -1.0 - 2 * BOARD, 1.0 + 0.5 * BOARD, -(TRAY[1] - TRAY[0]) / 2, (TRAY[1] - TRAY[0]) / 2
CABINET = (
    ((_BACK, -_SIDE - BOARD, 0.0), (FRONT, -_SIDE, HEIGHT)),
    ((_BACK, _SIDE, 0.0), (FRONT, _SIDE + BOARD, HEIGHT)),
    ((_BACK, -_SIDE - BOARD, 0.0), (_BACK + BOARD, _SIDE + BOARD, HEIGHT)),
    ((_BACK, -_SIDE - BOARD, HEIGHT - BOARD), (FRONT, _SIDE + BOARD, HEIGHT)),
)
DRAWER = (
    ((-1.0, -1.0, _LOW), (1.0, 1.0, _LOW + BOARD)),
    ((-1.0, -1.0, _LOW), (1.0, -1.0 + BOARD, _HALF)),
    ((-1.0, 1.0 - BOARD, _LOW), (1.0, 1.0, _HALF)),
    ((-1.0, -1.0, _LOW), (-1.0 + BOARD, 1.0, _HALF)),
    ((1.0 - BOARD, -1.0 - 1.5 * BOARD, _LOW), (1.0, 1.0 + 1.5 * BOARD, _HALF + PANEL - TRAY[1])),
)
HANDLE = (((1.0, -0.35, -0.1), (1.0 + KNOB, 0.35, 0.1)),)
MIDDLE = (TRAY[0] + TRAY[1]) / 2  # height of the drawer's middle
SHADE, METAL = 0.82, (0.25, 0.25, 0.27)  # the cabinet is that much darker than its drawer; the handle

Board = tuple[Sequence[float], Sequence[float]]


def boxes(boards: Sequence[Board], thing: Thing) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The middle and the half sides of boards, in metres."""
    for low, high in boards:
        low, high = thing.size / 1000 * np.array(low), thing.size / 1000 * np.array(high)
        yield (low + high) / 2, (high - low) / 2


def top_of(thing: Thing, position: np.ndarray) -> float:
    """The height of a thing's upper side, in metres."""
    if thing.shape == "drawer":
        return HEIGHT * thing.size / 1000
    return position[2] + (thing.size / 1000 if thing.shape in MOVABLE else 0.0)


def opening_of(thing: Thing, values: dict[str, float]) -> float:
    """How far a drawer shall be open, in metres; ValueError if it cannot be."""
    value = values[f"{thing.name}_open_value"]
    if not 0 <= value <= TRAVEL * thing.size:
        raise ValueError(f"{thing.name}_open_value must be between 0 and {TRAVEL * thing.size:.0f}; got {value}")
    return value / 1000
