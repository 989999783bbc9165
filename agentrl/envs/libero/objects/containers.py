"""What holds things: the basket, the wooden tray, the wine rack, the desk caddy and the two-layer shelf; and books."""

from __future__ import annotations

from functools import partial
from math import cos, pi, sin

from agentrl.envs.libero.objects.model import Grip, Model, Place, Vector, across
from agentrl.envs.libero.objects.sculptor import CAPSULE, Label, Sculptor

BOOK: Vector = (0.045, 0.014, 0.060)  # half width, thickness and height: it stands, its back towards +x


def book(cover: str, ink: str, words: tuple[str, ...]) -> Model:
    """A book that stands upright."""
    build = partial(_build_book, cover=cover, label=Label(words, cover, ink, ink))
    return Model(
        BOOK,
        build,
        mass=0.3,
        grips=across(BOOK[2] - 0.018, (pi / 2, 2 * BOOK[1])),
        facing=-pi / 2,
        turns=(-pi / 4, 0.0),
    )


def _build_book(s: Sculptor, cover: str, label: Label) -> None:
    x, y, z = BOOK
    s.box((0, 0, 0), BOOK)
    for side in (-1, 1):
        s.box((0, side * (y - 0.0015), 0), (x, 0.0015, z), cover, solid=False)
        s.label((0, side * y, 0), (-side, 0, 0), (0, 0, 1), (0.9 * x, 0.9 * z), label)
    s.box((x - 0.0015, 0, 0), (0.0015, y, z), cover, solid=False)
    s.label((x, 0, 0), (0, 1, 0), (0, 0, 1), (y, 0.9 * z), Label((), label.paper, label.ink, label.ink))
    s.box((-0.002, 0, 0), (x - 0.002, y - 0.002, z - 0.003), "#f3ecd9", solid=False)


# The caddy, seen from the camera when it is turned by half: back is towards the arm, left towards -y.
CADDY: Vector = (0.088, 0.112, 0.050)
CADDY_WALL = 0.003
ROWS = (-0.088, -0.034, 0.028, 0.088)  # of walls across, from the front to the back in the caddy's own x


def _build_caddy(s: Sculptor) -> None:
    x, y, _z = CADDY
    mesh, edge = "#3c4045", "#5a6067"
    heights = (0.040, 0.050, 0.060, 0.080)
    for at, height in zip(ROWS, heights, strict=True):
        s.box((at, 0, height / 2), (CADDY_WALL / 2, y, height / 2), mesh)
        s.box((at, 0, height), (CADDY_WALL, y, 0.002), edge, solid=False)
    for side in (-1, 1):
        s.box((0, side * y, 0.030), (x, CADDY_WALL / 2, 0.030), mesh)
        s.box((0, side * y, 0.060), (x, CADDY_WALL, 0.002), edge, solid=False)
    s.box((0, 0, 0.002), (x, y, 0.002), mesh)
    s.box(((ROWS[1] + ROWS[2]) / 2, 0, 0.030), ((ROWS[2] - ROWS[1]) / 2, CADDY_WALL / 2, 0.030), mesh)


def _cell(low: float, high: float, left: float, right: float) -> Place:
    middle = ((low + high) / 2, (left + right) / 2, 0.035)
    return Place(middle, ((high - low) / 2, (right - left) / 2, 0.035))


# The shelf opens towards -y.
SHELF: Vector = (0.125, 0.080, 0.150)
BOARD = 0.006
LEVELS = (0.010, 0.155, 0.294)  # middles of the boards


def _build_shelf(s: Sculptor) -> None:
    x, y, _ = SHELF
    wood, dark = "#b07a45", "#8f5f33"
    for height in LEVELS:
        s.box((0, 0, height), (x, y, BOARD), wood)
    for side in (-1, 1):
        for depth in (-1, 1):
            s.box((side * (x - 0.008), depth * (y - 0.008), 0.150), (0.008, 0.008, 0.144), dark)
    for height in (0.085, 0.225):
        s.box((0, y - 0.004, height), (x, 0.004, 0.008), dark)


def _level(below: float, above: float) -> Place:
    return Place((0, 0, (below + above) / 2), (SHELF[0], SHELF[1], (above - below) / 2 - BOARD))


STUDY = {
    "black_book": book("#22252b", "#d8c27a", ("BOOK",)),
    "yellow_book": book("#eac02b", "#5a3a12", ("BOOK",)),
    "desk_caddy": Model(
        CADDY,
        _build_caddy,
        middle=(0, 0, CADDY[2]),
        places={
            "front_contain_region": _cell(ROWS[0], ROWS[1], -CADDY[1], CADDY[1]),
            "right_contain_region": _cell(ROWS[1], ROWS[2], -CADDY[1], 0.0),
            "left_contain_region": _cell(ROWS[1], ROWS[2], 0.0, CADDY[1]),
            "back_contain_region": _cell(ROWS[2], ROWS[3], -CADDY[1], CADDY[1]),
        },
    ),
    "wooden_two_layer_shelf": Model(
        SHELF,
        _build_shelf,
        middle=(0, 0, SHELF[2]),
        places={
            "bottom_region": _level(LEVELS[0], LEVELS[1]),
            "top_region": _level(LEVELS[1], LEVELS[2]),
            "top_side": Place((0, 0, LEVELS[2] + BOARD), (SHELF[0], SHELF[1], 0.001)),
        },
    ),
}


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
    "wooden_tray": open_box(
        TRAY, partial(_build_open_box, half=TRAY, colour="#a8703c", edge="#7f4f26", stripes=0), 0.8, pi
    ),
    "wine_rack": Model(
        RACK,
        _build_rack,
        middle=(0, 0, RACK[2]),
        places={"top_region": Place((0, 0, 2 * RACK[2]), (RACK[0], RACK[1], 0.001))},
    ),
}
