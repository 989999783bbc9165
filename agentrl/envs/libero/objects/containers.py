"""The basket and the wooden tray, into which things are put, and the wine rack."""

from __future__ import annotations

from functools import partial
from math import cos, pi, sin

from agentrl.envs.libero.objects.model import Grip, Model, Place, Vector
from agentrl.envs.libero.objects.sculptor import CAPSULE, Sculptor

WALL = 0.004
DEEP = 0.06  # metres that a region reaches up at least: things stand out of a low tray, and are in it


def open_box(half: Vector, build_walls: partial[None], mass: float, facing: float) -> Model:
    """Something to put things into; `contain_region` is all of its inside."""
    x, y, z = half
    low, high = -z + 2 * WALL, max(z, DEEP - z)
    inside = Place((0, 0, (low + high) / 2), (x - 2 * WALL, y - 2 * WALL, (high - low) / 2))
    walls = ((x - WALL, 0.0, 0.0), (x - WALL, 0.0, pi), (0.0, y - WALL, pi / 2), (0.0, y - WALL, -pi / 2))
    grips = tuple(
        Grip((right * cos(angle), far * sin(angle), z - 0.008), angle, 2 * WALL) for right, far, angle in walls
    )
    return Model(half, build_walls, mass=mass, grips=grips, facing=facing, places={"contain_region": inside})


def _build_open_box(s: Sculptor, half: Vector, colour: str, edge: str, stripes: int) -> None:
    """Four walls and a floor; `stripes` darker lines go around it, like woven willow."""
    x, y, z = half
    s.box((0, 0, -z + WALL), (x, y, WALL), colour)
    walls: list[tuple[Vector, Vector]] = []
    for side in (-1, 1):
        walls.append(((side * (x - WALL), 0, 0), (WALL, y, z)))
        walls.append(((0, side * (y - WALL), 0), (x - 2 * WALL, WALL, z)))
    for middle, size in walls:
        s.box(middle, size, colour)
        s.box((middle[0], middle[1], z), (size[0] + 0.001, size[1] + 0.001, 0.003), edge, solid=False)
        for number in range(stripes):
            height = -z + (number + 1) * 2 * z / (stripes + 1)
            s.box((middle[0], middle[1], height), (size[0] + 0.0008, size[1] + 0.0008, 0.0025), edge, solid=False)


def _build_basket(s: Sculptor, half: Vector) -> None:
    x, _y, z = half
    _build_open_box(s, half, "#c79a5b", "#9a6c34", stripes=4)
    for side in (-1, 1):  # loops at the narrow ends
        ends = ((side * (x + 0.004), -0.025, z - 0.006), (side * (x + 0.004), 0.025, z - 0.006))
        s.cylinder(*ends, 0.004, "#7d5326", solid=False, kind=CAPSULE)


def _build_tray(s: Sculptor, half: Vector) -> None:
    _build_open_box(s, half, "#a8703c", "#7f4f26", stripes=0)


BASKET, TRAY = (0.095, 0.085, 0.045), (0.105, 0.090, 0.018)

# The rack's own -y is its front.
RACK: Vector = (0.085, 0.070, 0.060)


def _build_rack(s: Sculptor) -> None:
    """A lattice of two rows of holes for bottles, some of them lying there, and slats on top to put one on."""
    x, y, z = RACK
    wood, dark = "#8a5730", "#6b4022"
    for side in (-1, 1):
        s.box((side * (x - 0.006), 0, z), (0.006, y, z), wood)
    for height in (0.006, z, 2 * z - 0.006):
        for depth in (-1, 1):
            s.box((0, depth * (y - 0.006), height), (x, 0.006, 0.006), dark)
    for at in (-x / 3, x / 3):
        for depth in (-1, 1):
            s.box((at, depth * (y - 0.006), z), (0.005, 0.006, z - 0.006), dark)
    for number in range(5):  # slats
        s.box(((number - 2) * 0.036, 0, 2 * z - 0.003), (0.0125, y, 0.003), wood)
    for at, height in ((-2 * x / 3, 0.031), (0.0, 0.031), (2 * x / 3, 0.085)):  # bottles that stay
        s.cylinder((at, y - 0.02, height), (at, -y + 0.02, height), 0.017, "#26402e", solid=False)
        s.cylinder((at, -y + 0.02, height), (at, -y - 0.012, height), 0.008, "#6e1423", solid=False)


MODELS = {
    "basket": open_box(BASKET, partial(_build_basket, half=BASKET), 0.6, pi / 2),
    "wooden_tray": open_box(TRAY, partial(_build_tray, half=TRAY), 0.8, pi),
    "wine_rack": Model(
        RACK,
        _build_rack,
        middle=(0, 0, RACK[2]),
        places={"top_region": Place((0, 0, 2 * RACK[2]), (RACK[0], RACK[1], 0.001))},
    ),
}
