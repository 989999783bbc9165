"""Packages of food: boxes, cans, bottles and cartons."""

from __future__ import annotations

from functools import partial
from math import pi

from agentrl.envs.libero.objects.model import Model, Vector, across, around
from agentrl.envs.libero.objects.sculptor import LIFT, Label, Outline, Sculptor, prism, turned

GRIP = 0.028  # metres from the top to the fingers: the hand is right above


def box(half: Vector, top: Label, side: Label, facing: float, mass: float = 0.12) -> Model:
    """A flat package with print above and at its sides, read from the camera."""
    x, y, z = half
    sides = [(angle, 2 * width) for angle, width in ((0.0, x), (pi / 2, y)) if width < 0.037]
    grips = across(min(0.0, z - 0.012), *sorted(sides, key=lambda side: side[1]))
    return Model(half, partial(_build_box, half=half, top=top, side=side), mass=mass, grips=grips, facing=facing)


def _build_box(s: Sculptor, half: Vector, top: Label, side: Label) -> None:
    x, y, z = half
    s.box((0, 0, 0), half, side.paper)
    s.label((0, 0, z), (0, 1, 0), (-1, 0, 0), (y, x), top)
    s.label((x, 0, 0), (0, 1, 0), (0, 0, 1), (y, z), side)
    s.label((-x, 0, 0), (0, -1, 0), (0, 0, 1), (y, z), side)
    s.label((0, y, 0), (-1, 0, 0), (0, 0, 1), (x, z), side)
    s.label((0, -y, 0), (1, 0, 0), (0, 0, 1), (x, z), side)


def can(radius: float, height: float, label: Label) -> Model:
    """A tin with a paper label."""
    build = partial(_build_can, radius=radius, height=height, label=label)
    grips = around(height / 2 - 0.02, 2 * radius)
    return Model((radius, radius, height / 2), build, mass=0.25, grips=grips, facing=pi / 2)


def _build_can(s: Sculptor, radius: float, height: float, label: Label) -> None:
    low, high = -height / 2, height / 2
    tin = "#c9ccd0"
    s.mesh("below", turned([(0, low), (radius, low), (radius, low + 0.005)]), tin)
    s.mesh("paper", turned([(radius, low + 0.005), (radius, high - 0.005)], start=-pi / 2), "#ffffff", label)
    s.mesh(
        "above",
        turned(
            [
                (radius, high - 0.005),
                (radius, high),
                (radius - 0.003, high),
                (radius - 0.004, high - 0.003),
                (0, high - 0.003),
            ]
        ),
        tin,
    )
    s.foot(radius, low)
    s.cylinder((0, 0, low + LIFT), (0, 0, high), radius)


def bottle(radius: float, height: float, outline: Outline, colour: str, cap: str, label: Label, facing: float) -> Model:
    """A bottle: `outline` gives radius and height of the shoulder and neck as shares of the whole."""
    build = partial(_build_bottle, radius=radius, height=height, outline=outline, colour=colour, cap=cap, label=label)
    grips = around(height / 2 - GRIP, 2.2 * radius * outline[-1][0])
    return Model((radius, radius, height / 2), build, mass=0.25, grips=grips, facing=facing)


def _build_bottle(
    s: Sculptor, radius: float, height: float, outline: Outline, colour: str, cap: str, label: Label
) -> None:
    low = -height / 2
    path = [(radius * r, low + height * z) for r, z in outline]
    shoulder, (neck, neck_height) = path[0][1], path[-1]
    s.mesh(
        "body",
        turned([(0, low), (0.92 * radius, low), (radius, low + 0.006), *path, (neck, height / 2), (0, height / 2)]),
        colour,
    )
    paper = 1.012 * radius
    bottom, top = low + 0.18 * (shoulder - low), low + 0.86 * (shoulder - low)
    s.mesh("paper", turned([(paper, bottom), (paper, top)], start=-pi / 2), "#ffffff", label)
    s.mesh("cap", turned([(0, neck_height), (1.2 * neck, neck_height), (1.1 * neck, height / 2), (0, height / 2)]), cap)
    s.foot(0.95 * radius, low)
    s.cylinder((0, 0, low + LIFT), (0, 0, shoulder), radius)
    s.cylinder((0, 0, shoulder), (0, 0, height / 2), 1.1 * neck)


def carton(side: float, height: float, colour: str, label: Label) -> Model:
    """A drink in a carton with a folded top."""
    build = partial(_build_carton, side=side, height=height, colour=colour, label=label)
    grips = across(height / 2 - GRIP, (0.0, 2 * side), (pi / 2, 2 * side))
    return Model((side, side, height / 2), build, mass=0.3, grips=grips)


def _build_carton(s: Sculptor, side: float, height: float, colour: str, label: Label) -> None:
    low, high, fold = -height / 2, height / 2, height / 2 - 0.75 * side
    s.box((0, 0, (low + fold) / 2), (side, side, (fold - low) / 2), colour)
    for right, out in (((0, 1), (1, 0)), ((0, -1), (-1, 0)), ((-1, 0), (0, 1)), ((1, 0), (0, -1))):
        middle = (out[0] * side, out[1] * side, (low + fold) / 2)
        s.label(middle, (*right, 0), (0, 0, 1), (side, (fold - low) / 2), label)
    ridge = high - 0.008
    s.mesh("roof", prism([(-side, fold), (side, fold), (0.004, ridge), (-0.004, ridge)], side), colour)
    s.box((0, 0, high - 0.006), (0.0025, side, 0.006), colour)
    s.box((0, 0, (fold + ridge) / 2), (side / 2, side, (ridge - fold) / 2))


SQUEEZED = ((1.0, 0.62), (0.95, 0.72), (0.55, 0.86))
SAUCE = ((1.0, 0.66), (0.80, 0.74), (0.45, 0.80), (0.42, 0.88))
WINE = ((1.0, 0.56), (0.88, 0.64), (0.45, 0.72), (0.40, 0.90))
BLUE, RED, WHITE, BROWN, GREEN = "#1f4fa3", "#c4221f", "#ffffff", "#5b2a0c", "#2f7a34"


def _sauce(outline: Outline, colour: str, cap: str, label: Label, facing: float = 0.0) -> Model:
    return bottle(0.026, 0.150, outline, colour, cap, label, facing)


MODELS = {
    "cookies": box(
        (0.048, 0.034, 0.018),
        Label(("COOKIES",), "#d9a441", BROWN, "#7b3f16"),
        Label(("COOKIES",), "#c8902f", BROWN),
        facing=pi / 2,
    ),
    "cream_cheese": box(
        (0.033, 0.024, 0.014),
        Label(("CREAM", "CHEESE"), "#f4f7fb", BLUE, "#2f62b8"),
        Label(("CREAM CHEESE",), "#2f62b8", WHITE),
        facing=pi,
    ),
    "butter": box(
        (0.024, 0.040, 0.014),
        Label(("BUTTER",), "#f7d64a", "#a3301c", "#e9b91e"),
        Label(("BUTTER",), "#f2c92f", "#a3301c"),
        facing=pi,
    ),
    "chocolate_pudding": box(
        (0.026, 0.036, 0.016),
        Label(("CHOCO", "PUDDING"), "#6a3b22", "#ffe3b8", "#3f2012"),
        Label(("PUDDING",), "#4f2a17", "#ffe3b8"),
        facing=pi,
    ),
    "alphabet_soup": can(0.0295, 0.085, Label(("ABC", "SOUP"), "#f6f0df", RED, RED, "#ffe08a", repeat=2)),
    "tomato_sauce": can(0.0295, 0.085, Label(("TOMATO", "SAUCE"), "#b8231c", WHITE, GREEN, "#e8503a", repeat=2)),
    "ketchup": _sauce(SQUEEZED, "#b51a17", "#f2f2f2", Label(("KETCHUP",), "#f4f4ee", RED, "#b51a17", repeat=2)),
    "bbq_sauce": _sauce(
        SAUCE, "#3b1a10", "#1d1d1d", Label(("BBQ",), "#e08a1f", "#2a1108", "#8c2f14", repeat=2), pi / 2
    ),
    "salad_dressing": _sauce(SAUCE, "#e9e2b8", GREEN, Label(("SALAD",), "#6fae3f", WHITE, GREEN, repeat=2)),
    "new_salad_dressing": _sauce(
        SAUCE, "#e6c66f", "#f4f4f0", Label(("NEW", "SALAD"), "#2e8b57", "#ffef9a", "#17592f", repeat=2)
    ),
    "wine_bottle": bottle(
        0.030, 0.200, WINE, "#1d3524", "#6e1423", Label(("WINE",), "#efe6cf", "#6e1423", "#b59a5a", repeat=2), facing=pi
    ),
    "milk": carton(0.029, 0.130, "#f5f8fb", Label(("MILK",), "#f5f8fb", "#1f5fc4", "#3f86e0")),
    "orange_juice": carton(0.029, 0.130, "#f7941d", Label(("ORANGE", "JUICE"), "#f7941d", WHITE, "#3f9a3a", "#fdb64d")),
}
