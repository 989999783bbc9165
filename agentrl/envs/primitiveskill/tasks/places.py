"""Parts of which starts are made: cubes, and places for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import hypot

import numpy as np

from agentrl.envs.primitiveskill.backend import Thing

AREA = ((-120.0, 100.0), (-180.0, 180.0))  # where starts put things: the arm reaches all of it from above
APART = 95.0  # mm between things: the open fingers fit between them
TURNED = 0.25  # radians either way that a cube may be turned
Place = tuple[float, float, float]


def cube(name: str, colour: tuple[float, float, float]) -> Thing:
    """A cube of 40 mm."""
    return Thing(name, "cube", 20.0, colour)


RED, GREEN, YELLOW = (0.84, 0.12, 0.12), (0.13, 0.58, 0.20), (0.95, 0.78, 0.10)


def scatter(
    random: np.random.Generator,
    count: int,
    taken: Sequence[Place] = (),
    area: tuple[tuple[float, float], tuple[float, float]] = AREA,
) -> list[Place]:
    """Random places with random turns, apart from each other and from those taken."""
    found: list[Place] = []
    while len(found) < count:
        x, y = (float(round(random.uniform(low, high))) for low, high in area)
        if free((x, y), [*taken, *found]):
            found.append((x, y, float(random.uniform(-TURNED, TURNED))))
    return found


def free(spot: tuple[float, float], taken: Iterable[Sequence[float]], apart: float = APART) -> bool:
    """Is there room around a spot?"""
    return all(hypot(spot[0] - other[0], spot[1] - other[1]) >= apart for other in taken)
