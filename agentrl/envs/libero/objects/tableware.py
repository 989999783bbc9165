"""Bowls, plates, ramekins and mugs; a frying pan and a moka pot."""

from __future__ import annotations

import itertools
from functools import partial
from math import cos, pi, sin

from agentrl.envs.libero.objects.model import Grip, Model, around, rim
from agentrl.envs.libero.objects.sculptor import CAPSULE, LIFT, Sculptor, turned

PAN, PAN_HEIGHT, HANDLE = 0.075, 0.034, 0.125  # radius; height of the wall; length of the handle


def _build_pan(s: Sculptor) -> None:
    """The handle points to the arm, which is -x."""
    low, high, flat = -PAN_HEIGHT / 2, PAN_HEIGHT / 2, 0.84 * PAN
    s.mesh("outside", turned([(0, low), (flat, low), (PAN, high - 0.002), (PAN, high)]), "#2d2f33")
    s.mesh("rim", turned([(PAN, high), (PAN - 0.004, high)]), "#9aa0a6")
    s.mesh("inside", turned([(PAN - 0.004, high), (flat - 0.004, low + 0.005), (0, low + 0.005)]), "#4a4d52")
    s.foot(flat, low, 0.005)
    s.ring((flat, low + LIFT), (PAN, high), 0.005, count=16)
    start, end = -PAN + 0.002, -PAN - HANDLE
    s.cylinder((start, 0, high - 0.008), (start - 0.03, 0, high), 0.007, "#b9bdc2", kind=CAPSULE)
    s.box(((start - 0.03 + end) / 2, 0, high), ((start - 0.03 - end) / 2, 0.0095, 0.0075), "#1c1c1e")
    s.cylinder((end, 0, high - 0.0075), (end, 0, high + 0.0075), 0.0105, "#1c1c1e")


POT, POT_HEIGHT, WAIST = 0.034, 0.125, 0.024  # radius below; height; radius in the middle


def _build_pot(s: Sculptor) -> None:
    """Eight-sided, narrow in the middle, with a black handle towards y and a spout on the other side."""
    low, high, middle = -POT_HEIGHT / 2, POT_HEIGHT / 2 - 0.014, -0.008
    steel = "#b8bcc2"
    s.mesh("boiler", turned([(0, low), (POT, low), (POT, low + 0.008), (WAIST, middle)], slices=8, start=pi / 8), steel)
    s.mesh("collar", turned([(WAIST, middle), (WAIST + 0.002, middle + 0.004), (WAIST, middle + 0.008)]), "#8b9096")
    s.mesh("jug", turned([(WAIST, middle + 0.008), (0.031, high), (0.030, high)], slices=8, start=pi / 8), "#cfd3d8")
    s.mesh("lid", turned([(0.031, high), (0.018, high + 0.008), (0, high + 0.009)], slices=8, start=pi / 8), "#a4a9af")
    s.cylinder((0, 0, high + 0.006), (0, 0, high + 0.013), 0.006, "#1c1c1e", solid=False)
    s.box((0, -0.032, high - 0.012), (0.006, 0.006, 0.010), "#cfd3d8", solid=False)
    grip = [(0.0, 0.028, high - 0.004), (0.0, 0.050, high - 0.006), (0.0, 0.050, middle + 0.006)]
    for start, end in itertools.pairwise(grip):
        s.cylinder(start, end, 0.0055, "#1c1c1e", kind=CAPSULE)
    s.foot(POT, low)
    s.ring((POT, low + LIFT), (WAIST, middle), WAIST, count=8, start=pi / 8)
    s.cylinder((0, 0, middle), (0, 0, high), 0.029)
    s.cylinder((0, 0, low + LIFT), (0, 0, middle), WAIST)


COOKWARE = {
    "chefmate_8_frypan": Model(
        (PAN, PAN, PAN_HEIGHT / 2),
        _build_pan,
        mass=0.25,
        grips=tuple(Grip((-PAN - reach, 0.0, PAN_HEIGHT / 2), pi / 2, 0.019) for reach in (0.06, 0.08, 0.045)),
        facing=pi / 2,
    ),
    "moka_pot": Model((POT, POT, POT_HEIGHT / 2), _build_pot, mass=0.3, grips=around(0.030, 0.058), facing=pi),
}


WALL = 0.005  # thickness of what the fingers hold


def bowl(radius: float, height: float, outside: str, inside: str, edge: str) -> Model:
    """A round bowl on a narrow foot."""
    build = partial(_build_bowl, radius=radius, height=height, outside=outside, inside=inside, edge=edge)
    grips = rim(radius - WALL / 2, height / 2 - 0.006, WALL)
    return Model((radius, radius, height / 2), build, mass=0.15, grips=grips, facing=pi / 2)


def _build_bowl(s: Sculptor, radius: float, height: float, outside: str, inside: str, edge: str) -> None:
    foot, low = 0.54 * radius, -height / 2
    knee, knee_height = 0.90 * radius, low + 0.5 * height
    outer = [(0, low), (foot, low), (foot, low + 0.004), (0.72 * radius, low + 0.22 * height), (knee, knee_height)]
    outer += [(0.97 * radius, low + 0.8 * height), (radius, height / 2 - 0.003)]
    s.mesh("outside", turned(outer), outside)
    s.mesh("edge", turned([(radius, height / 2 - 0.003), (radius, height / 2), (radius - WALL, height / 2)]), edge)
    inner = [(radius - WALL, height / 2), (0.97 * radius - WALL, low + 0.8 * height), (knee - WALL, knee_height)]
    inner += [(0.62 * radius, low + 0.22 * height), (foot * 0.7, low + 0.009), (0, low + 0.008)]
    s.mesh("inside", turned(inner), inside)
    s.foot(foot, low, 0.008)
    s.ring((foot, low + LIFT), (knee, knee_height), WALL)
    s.ring((knee, knee_height), (radius, height / 2), WALL)


def plate(radius: float, height: float, colour: str, stripe: str) -> Model:
    """A flat plate with a raised border."""
    build = partial(_build_plate, radius=radius, height=height, colour=colour, stripe=stripe)
    grips = rim(radius - 0.004, height / 2 + 0.001, 0.006)
    return Model((radius, radius, height / 2), build, mass=0.25, grips=grips, facing=pi / 2)


def _build_plate(s: Sculptor, radius: float, height: float, colour: str, stripe: str) -> None:
    flat, low = 0.60 * radius, -height / 2
    s.mesh("below", turned([(0, low), (flat, low), (radius, height / 2 - 0.002), (radius, height / 2)]), colour)
    s.mesh("border", turned([(radius, height / 2), (radius - 0.005, height / 2 - 0.001)]), colour)
    s.mesh("stripe", turned([(radius - 0.005, height / 2 - 0.001), (radius - 0.013, height / 2 - 0.005)]), stripe)
    inner = [(radius - 0.013, height / 2 - 0.005), (flat, low + 0.005), (flat - 0.003, low + 0.0045), (0, low + 0.0045)]
    s.mesh("middle", turned(inner), colour)
    s.foot(flat + 0.004, low, 0.0045)
    s.ring((flat, low + LIFT), (radius, height / 2), 0.005, count=16)


def ramekin(radius: float, height: float, colour: str, glaze: str) -> Model:
    """A small dish with straight walls. Nothing is ever put into it, so that it is solid to the touch."""
    build = partial(_build_ramekin, radius=radius, height=height, colour=colour, glaze=glaze)
    grips = around(height / 2 - 0.020, 2 * radius)
    return Model((radius, radius, height / 2), build, mass=0.25, grips=grips, facing=pi / 2)


def _build_ramekin(s: Sculptor, radius: float, height: float, colour: str, glaze: str) -> None:
    low, high = -height / 2, height / 2
    s.mesh("outside", turned([(0, low), (0.9 * radius, low), (radius, high - 0.008)]), colour)
    s.mesh(
        "rim",
        turned([(radius, high - 0.008), (radius, high), (radius - 0.005, high), (radius - 0.006, high - 0.006)]),
        glaze,
    )
    s.mesh("inside", turned([(radius - 0.006, high - 0.006), (0.8 * radius, high - 0.014), (0, high - 0.014)]), colour)
    s.foot(0.9 * radius, low)
    s.cylinder((0, 0, low + LIFT), (0, 0, high - 0.010), radius - 0.006)
    s.ring((radius, low + LIFT), (radius, high), 0.006)


def mug(radius: float, height: float, outside: str, inside: str, band: str = "") -> Model:
    """A mug whose handle points to the right of the picture."""
    build = partial(_build_mug, radius=radius, height=height, outside=outside, inside=inside, band=band or outside)
    grips = rim(radius - WALL / 2, height / 2 - 0.008, WALL)
    free = tuple(grip for grip in grips if abs(grip.angle - pi / 2) > 0.1)  # the handle is at the others
    return Model((radius, radius, height / 2), build, mass=0.2, grips=free, facing=-pi / 2)


def _build_mug(s: Sculptor, radius: float, height: float, outside: str, inside: str, band: str) -> None:
    low, high = -height / 2, height / 2
    middle = low + 0.45 * height
    s.mesh("base", turned([(0, low), (0.9 * radius, low), (radius, low + 0.006), (radius, middle)]), band)
    s.mesh(
        "upper",
        turned([(radius, middle), (radius, high - 0.002), (radius - 0.002, high), (radius - WALL, high)]),
        outside,
    )
    s.mesh("inside", turned([(radius - WALL, high), (radius - WALL, low + 0.007), (0, low + 0.007)]), inside)
    s.foot(0.92 * radius, low, 0.007)
    s.ring((radius, low + LIFT), (radius, high), WALL)
    # A handle towards y.
    size, points = 0.30 * height, 7
    angles = [pi / 2 - pi * number / (points - 1) for number in range(points)]
    path = [(0.0, radius + 0.001 + 0.95 * size * cos(angle), size * sin(angle)) for angle in angles]
    for start, end in itertools.pairwise(path):
        s.cylinder(start, end, 0.0045, outside, kind=CAPSULE)


MODELS = {
    "akita_black_bowl": bowl(0.052, 0.048, "#26221f", "#3a332e", "#6b5a4a"),
    "white_bowl": bowl(0.054, 0.050, "#f1efe9", "#fbfaf6", "#e2ddd2"),
    "plate": plate(0.064, 0.022, "#f4f2ec", "#c2554a"),
    "glazed_rim_porcelain_ramekin": ramekin(0.038, 0.044, "#f3f0e8", "#8a5a34"),
    "porcelain_mug": mug(0.037, 0.076, "#f7f6f2", "#fdfdfb"),
    "red_coffee_mug": mug(0.037, 0.076, "#c22a26", "#f2e9e4"),
    "white_yellow_mug": mug(0.037, 0.076, "#f7f5ee", "#fbf9f2", "#f0be2a"),
}
