"""Meshes of turned and folded shapes, as MuJoCo wants them: flat lists of vertices, faces and texture coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

SLICES = 20

Outline = Sequence[tuple[float, float]]  # radius and height, from the axis below, outside up, inside down to the axis


class Mesh(NamedTuple):
    """Vertices [n, 3], faces [m, 3] and texture coordinates [n, 2]."""

    vertices: np.ndarray
    faces: np.ndarray
    coordinates: np.ndarray

    def moved(self, way: tuple[float, float, float]) -> Mesh:
        """The same shape elsewhere."""
        return self._replace(vertices=self.vertices + np.array(way))


def turned(outline: Outline, slices: int = SLICES, start: float = 0.0) -> Mesh:
    """An outline turned about the z axis. The texture goes once around, and once along the outline."""
    radius, height = np.array(outline).T
    angles = start + np.linspace(0, 2 * np.pi, slices + 1)
    rings = np.stack(
        [
            np.outer(radius, np.cos(angles)),
            np.outer(radius, np.sin(angles)),
            np.outer(height, np.ones_like(angles)),
        ],
        axis=-1,
    )
    along = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(radius), np.diff(height)))])
    across, up = np.meshgrid(np.linspace(0, 1, slices + 1), along / max(along[-1], 1e-9))
    return Mesh(
        rings.reshape(-1, 3), _grid(len(outline), slices + 1, radius), np.stack([across, 1 - up], -1).reshape(-1, 2)
    )


def _grid(rows: int, columns: int, radius: np.ndarray) -> np.ndarray:
    faces = []
    for row in range(rows - 1):
        for column in range(columns - 1):
            a, b = row * columns + column, row * columns + column + 1
            c, d = b + columns, a + columns
            if radius[row] > 0:
                faces.append((a, b, c) if radius[row + 1] > 0 else (a, b, d))
            if radius[row + 1] > 0:
                faces.append((a, c, d))
    return np.array(faces)


def prism(outline: Sequence[tuple[float, float]], half: float) -> Mesh:
    """A convex outline in x and z, counterclockwise, from y = -half to y = half."""
    flat = np.array(outline)
    count = len(flat)
    front = np.column_stack([flat[:, 0], np.full(count, -half), flat[:, 1]])
    back = np.column_stack([flat[:, 0], np.full(count, half), flat[:, 1]])
    faces = [(0, i, i + 1) for i in range(1, count - 1)]
    faces += [(count, count + i + 1, count + i) for i in range(1, count - 1)]
    for i in range(count):
        j = (i + 1) % count
        faces += [(i, count + j, j), (i, count + i, count + j)]
    vertices = np.concatenate([front, back])
    return Mesh(vertices, np.array(faces), np.zeros((len(vertices), 2)))
