"""Books, the desk caddy and the two-layer shelf."""

from __future__ import annotations

from functools import partial
from math import pi

from agentrl.envs.libero.objects.labels import Label
from agentrl.envs.libero.objects.model import Model, Place, Vector, across
from agentrl.envs.libero.objects.sculptor import Sculptor

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
WALL = 0.003
ROWS = (-0.088, -0.034, 0.028, 0.088)  # of walls across, from the front to the back in the caddy's own x


def _build_caddy(s: Sculptor) -> None:
    x, y, _z = CADDY
    mesh, edge = "#3c4045", "#5a6067"
    heights = (0.040, 0.050, 0.060, 0.080)
    for at, height in zip(ROWS, heights, strict=True):
        s.box((at, 0, height / 2), (WALL / 2, y, height / 2), mesh)
        s.box((at, 0, height), (WALL, y, 0.002), edge, solid=False)
    for side in (-1, 1):
        s.box((0, side * y, 0.030), (x, WALL / 2, 0.030), mesh)
        s.box((0, side * y, 0.060), (x, WALL, 0.002), edge, solid=False)
    s.box((0, 0, 0.002), (x, y, 0.002), mesh)
    s.box(((ROWS[1] + ROWS[2]) / 2, 0, 0.030), ((ROWS[2] - ROWS[1]) / 2, WALL / 2, 0.030), mesh)


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


MODELS = {
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
