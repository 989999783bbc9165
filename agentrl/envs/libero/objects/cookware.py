"""A frying pan and a moka pot."""

from __future__ import annotations

import itertools
from math import pi

from agentrl.envs.libero.objects.model import Grip, Model, around
from agentrl.envs.libero.objects.sculptor import CAPSULE, LIFT, Sculptor
from agentrl.envs.libero.objects.turning import turned

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


MODELS = {
    "chefmate_8_frypan": Model(
        (PAN, PAN, PAN_HEIGHT / 2),
        _build_pan,
        mass=0.25,
        grips=tuple(Grip((-PAN - reach, 0.0, PAN_HEIGHT / 2), pi / 2, 0.019) for reach in (0.06, 0.08, 0.045)),
        facing=pi / 2,
    ),
    "moka_pot": Model((POT, POT, POT_HEIGHT / 2), _build_pot, mass=0.3, grips=around(0.030, 0.058), facing=pi),
}
