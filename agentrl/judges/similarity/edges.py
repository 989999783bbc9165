"""Where the outlines are: edges of two pictures matched within a few pixels."""

from __future__ import annotations

import numpy as np

# A step in any colour channel that counts as an edge: pale yellow on white does, a smooth gradient does not.
STEP = 16


class Edges:
    """The edge pixels of one picture, and the pixels near them."""

    def __init__(self, picture: np.ndarray, tolerance: int) -> None:
        self.at = edge_map(picture)
        self.near = widen(self.at, tolerance)
        self.count = int(np.count_nonzero(self.at))
        self.nbytes = self.at.nbytes + self.near.nbytes


def edge_map(picture: np.ndarray) -> np.ndarray:
    """Where a pixel differs from its right or lower neighbour, bool [height + 1, width + 1].

    The paper around the picture is white: a picture filled to its borders has its edges there.
    """
    height, width, _ = picture.shape
    framed = np.full((3, height + 2, width + 2), 255, np.uint8)
    framed[:, 1:-1, 1:-1] = picture.transpose(2, 0, 1)
    here, right, below = framed[:, :-1, :-1], framed[:, :-1, 1:], framed[:, 1:, :-1]
    steps = np.maximum(_apart(here, right), _apart(here, below))
    return steps.max(axis=0) >= STEP


def _apart(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The difference of unsigned numbers, without overflow."""
    return np.maximum(one, other) - np.minimum(one, other)


def widen(mask: np.ndarray, reach: int) -> np.ndarray:
    """What lies within `reach` pixels, along rows and columns and diagonally."""
    wide = mask.copy()
    for step in range(1, reach + 1):
        wide[step:] |= mask[:-step]
        wide[:-step] |= mask[step:]
    both = wide.copy()
    for step in range(1, reach + 1):
        both[:, step:] |= wide[:, :-step]
        both[:, :-step] |= wide[:, step:]
    return both


def edge_distance(one: Edges, other: Edges) -> float:
    """One minus the F1 of edges that have an edge of the other picture near them; 0 where neither has any.

    An edge pixel vouches for one of the other picture: scribbling everywhere is near every edge and right nowhere.
    """
    if not one.count and not other.count:
        return 0.0
    matched = min(np.count_nonzero(one.at & other.near), np.count_nonzero(other.at & one.near))
    return 1.0 - 2 * matched / (one.count + other.count)
