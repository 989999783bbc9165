"""Cabinets with three drawers.

Every drawer must open by its handle, and things on and beside the cabinet must stay within reach of a gripper that
points down. So a handle is a narrow upright bar: the fingers take it from both sides, while the hand leans away from
the front and passes the handles above.
"""

from __future__ import annotations

from functools import partial

from agentrl.envs.libero.objects.model import Joint, Model, Place, Vector
from agentrl.envs.libero.objects.sculptor import CAPSULE, Sculptor

CABINET: Vector = (0.095, 0.090, 0.120)  # half extents; the front is at -y
BOARD = 0.005  # half thickness
FRONT = 0.004  # half thickness of a drawer's front
PITCH = 0.076  # from drawer to drawer
LEVELS = {"top": 0.006 + 2 * PITCH, "middle": 0.006 + PITCH, "bottom": 0.006}  # where each drawer begins
INSIDE: Vector = (0.076, 0.078, 0.028)  # half of a drawer's inside
REACH = 0.028  # how far a handle stands out
TRAVEL = 0.16


def cabinet(body: str, front: str, metal: str) -> Model:
    """A cabinet in these colours. The region in a drawer is its front part, which nothing is above when it is open: the
    back stays below the handles of the next drawer."""
    middle, half = (0.0, -0.020, 0.008 + INSIDE[2]), (INSIDE[0], INSIDE[1] - 0.020, INSIDE[2])
    places = {f"{level}_region": Place(middle, half, f"{level}_level") for level in LEVELS}
    top = Place((0.0, 0.0, 2 * CABINET[2]), (CABINET[0], CABINET[1], 0.001))
    return Model(
        CABINET,
        partial(_build, body=body, front=front, metal=metal),
        middle=(0.0, 0.0, CABINET[2]),
        places={**places, "top_side": top},
        joints={f"{level}_level": _drawer(level) for level in LEVELS},
    )


def _drawer(level: str) -> Joint:
    return Joint(
        "slide",
        limits=(-TRAVEL, 0.0),
        opened=-0.14,
        closed=-0.005,
        start={"open": (-0.16, -0.14), "close": (0.0, 0.0)},
        region=f"{level}_region",
        handle=(0.0, -CABINET[1] - 2 * FRONT - 0.6 * REACH, PITCH / 2 - 0.002),
    )


def _build(s: Sculptor, body: str, front: str, metal: str) -> None:
    x, y, z = CABINET
    for side in (-1, 1):
        s.box((side * (x - BOARD), 0, z), (BOARD, y, z - 0.001), body)
    s.box((0, y - BOARD, z), (x - 2 * BOARD, BOARD, z - 0.001), body)
    s.box((0, 0, 2 * z - BOARD / 2), (x + 0.003, y + 0.003, BOARD / 2), body)
    s.box((0, 0, 0.002), (x, y, 0.002), body)
    for level, height in LEVELS.items():
        joint = _drawer(level)
        half = (INSIDE[0], INSIDE[1], PITCH / 2)
        part = s.part(f"{level}_level", joint, (0, 0, height), (0, 1, 0), 0.4, half, (0, 0, PITCH / 2))
        _build_drawer(part, joint, front, metal)


def _build_drawer(s: Sculptor, joint: Joint, front: str, metal: str) -> None:
    """The box, its front, and the handle."""
    x, y, _ = INSIDE
    wood, wall = "#d9bb8c", 0.013  # low walls: the fingers stay above them
    s.box((0, 0, 0.004), (x + 0.004, y, 0.004), wood)
    for side in (-1, 1):
        s.box((side * (x + 0.002), 0, 0.008 + wall), (0.002, y, wall), wood)
    s.box((0, y - 0.002, 0.008 + wall), (x, 0.002, wall), wood)
    face = -CABINET[1] - FRONT
    s.box((0, face, PITCH / 2 - 0.001), (CABINET[0] - 0.001, FRONT, PITCH / 2 - 0.0015), front)
    _, at, height = joint.handle
    bar = face - FRONT - REACH
    s.box((0, (bar + face) / 2, height), (0.007, REACH / 2, 0.015))
    s.cylinder(
        (0, bar + 0.006, height - 0.015), (0, bar + 0.006, height + 0.015), 0.007, metal, solid=False, kind=CAPSULE
    )
    for end in (-1, 1):
        arm = height + end * 0.015
        s.cylinder((0, face, arm), (0, bar + 0.006, arm), 0.004, metal, solid=False)
    assert bar < at < face, "the handle can be taken"


MODELS = {
    "wooden_cabinet": cabinet("#8d5c33", "#a8713f", "#d6d9dc"),
    "white_cabinet": cabinet("#dcdad3", "#f3f1ec", "#4b4f55"),
}
