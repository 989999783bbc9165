"""Furniture that moves: cabinets with three drawers, the flat stove and the microwave.

Every drawer must open by its handle, and things on and beside the cabinet must stay within reach of a gripper that
points down. So a handle is a narrow upright bar: the fingers take it from both sides, while the hand leans away from
the front and passes the handles above.
"""

from __future__ import annotations

from functools import partial

from agentrl.envs.libero.objects.model import Joint, Model, Place, Vector
from agentrl.envs.libero.objects.sculptor import CAPSULE, Label, Sculptor, turned

CABINET: Vector = (0.095, 0.090, 0.120)  # half extents; the front is at -y
BOARD = 0.005  # half thickness
FRONT = 0.004  # half thickness of a drawer's front
PITCH = 0.076  # from drawer to drawer
LEVELS = {"top": 0.006 + 2 * PITCH, "middle": 0.006 + PITCH, "bottom": 0.006}  # where each drawer begins
INSIDE: Vector = (0.076, 0.078, 0.028)  # half of a drawer's inside
REACH = 0.028  # how far a handle stands out
TRAVEL, INWARD = 0.16, 0.01  # how far a drawer comes out, and goes in behind where it is flush


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
        limits=(-TRAVEL, INWARD),
        opened=-0.14,
        closed=0.0,
        start={"open": (-0.16, -0.14), "close": (0.0, 0.005)},
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


CABINETS = {
    "wooden_cabinet": cabinet("#8d5c33", "#a8713f", "#d6d9dc"),
    "white_cabinet": cabinet("#dcdad3", "#f3f1ec", "#4b4f55"),
}


# The stove's origin is under its knob; the plate for cooking is in front of it, as in LIBERO's own model.
STOVE: Vector = (0.140, 0.100, 0.015)
STOVE_MIDDLE = 0.090
BURNER = 0.152
KNOB = Joint(
    "hinge",
    limits=(-0.01, 2.1),
    opened=0.5,
    closed=0.0,
    start={"turnon": (0.5, 2.1), "turnoff": (-0.005, 0.0)},
    handle=(0.0, 0.0, 0.022),
    outward=(0.0, 0.0, 1.0),
)


def _build_stove(s: Sculptor) -> None:
    x, y, z = STOVE
    s.box((STOVE_MIDDLE, 0, z), STOVE, "#3a3d42")
    s.box((STOVE_MIDDLE, 0, 0.006), (x + 0.003, y + 0.003, 0.006), "#9ea3a8")
    s.box((BURNER, 0, 2 * z), (0.086, 0.090, 0.0004), "#1d1f22", solid=False)
    for number, outer in enumerate((0.072, 0.054, 0.036, 0.018)):
        ring = turned([(outer, 2 * z + 0.0010), (max(outer - 0.008, 0.0), 2 * z + 0.0010)])
        s.mesh(f"ring {number}", ring.moved((BURNER, 0.0, 0.0)), "#84888d")
    s.glow((BURNER, 0, 2 * z + 0.0026), 0.070, "#ff4a1c")
    s.cylinder((0, 0, 2 * z), (0, 0, 2 * z + 0.001), 0.034, "#c9cdd1", solid=False)
    knob = s.part("button", KNOB, (0, 0, 2 * z), (0, 0, 1), 0.05, (0.026, 0.02, 0.016), (0, 0, 0.015))
    knob.cylinder((0, 0, 0.001), (0, 0, 0.012), 0.024, "#202225")
    knob.box((0, 0, 0.022), (0.026, 0.007, 0.011), "#e4e6e8")
    knob.box((0.022, 0, 0.0332), (0.004, 0.004, 0.0006), "#d22f27", solid=False)


# The microwave's front is at -y; its door is hinged on the side of -x and opens towards negative angles.
OVEN: Vector = (0.125, 0.095, 0.100)
DOOR_LENGTH = 0.185
DOOR = Joint(
    "hinge",
    limits=(-2.094, 0.0),
    opened=-1.3,
    closed=-0.005,
    start={"open": (-2.094, -1.3), "close": (-0.005, 0.0)},
    handle=(DOOR_LENGTH - 0.018, -0.036, 0.095),
)


def _build_microwave(s: Sculptor) -> None:
    x, y, z = OVEN
    shell, inside = "#c3c7cb", "#8f949a"
    panel = -x + DOOR_LENGTH + 0.002  # where the panel with the buttons begins
    s.box((0, 0, 0.010), (x, y, 0.010), shell)
    s.box((0, 0, 2 * z - 0.008), (x, y, 0.008), shell)
    s.box((-x + 0.005, 0, z), (0.005, y, z - 0.001), shell)
    s.box((0, y - 0.005, z), (x, 0.005, z - 0.001), inside)
    s.box(((x + panel) / 2, 0, z), ((x - panel) / 2, y, z - 0.001), shell)
    s.box(((x + panel) / 2, -y - 0.004, z), ((x - panel) / 2, 0.004, z), "#26282c")
    s.label(
        ((x + panel) / 2, -y - 0.0085, 2 * z - 0.035),
        (1, 0, 0),
        (0, 0, 1),
        (0.024, 0.011),
        Label(("12:00",), "#0c1a12", "#5cff9a"),
    )
    for row in range(4):
        for column in (-1, 0, 1):
            at = ((x + panel) / 2 + column * 0.014, -y - 0.009, 0.035 + row * 0.026)
            s.box(at, (0.005, 0.0012, 0.007), "#d5d8db", solid=False)
    s.mesh("turntable", turned([(0, 0.021), (0.062, 0.021), (0.062, 0.024), (0, 0.024)]), "#b9d3dc")
    door = s.part("microjoint", DOOR, (-x, -y, 0), (0, 0, 1), 0.5, (DOOR_LENGTH / 2, 0.01, z), (DOOR_LENGTH / 2, 0, z))
    half = DOOR_LENGTH / 2
    door.box((half, -0.006, z + 0.003), (half, 0.006, z - 0.005), "#aeb3b8")  # it must not scrape over the table
    door.box((half - 0.012, -0.0125, z), (half - 0.030, 0.0006, z - 0.030), "#1b1d20", solid=False)
    x, _, height = DOOR.handle
    door.box((x, -0.029, height), (0.007, 0.017, 0.040))
    top, bottom = (x, -0.044, height + 0.04), (x, -0.044, height - 0.04)
    door.cylinder(bottom, top, 0.006, "#f0f2f4", solid=False, kind=CAPSULE)
    for end in (height - 0.036, height + 0.036):
        door.cylinder((x, -0.012, end), (x, -0.044, end), 0.004, "#f0f2f4", solid=False)


MODELS = {
    "flat_stove": Model(
        STOVE,
        _build_stove,
        middle=(STOVE_MIDDLE, 0.0, STOVE[2]),
        places={"cook_region": Place((BURNER, 0.0, 2 * STOVE[2]), (0.080, 0.080, 0.001))},
        joints={"button": KNOB},
    ),
    "microwave": Model(
        OVEN,
        _build_microwave,
        middle=(0.0, 0.0, OVEN[2]),
        places={
            "heating_region": Place((-0.030, 0.0, 0.095), (0.080, 0.085, 0.075)),
            "top_side": Place((0.0, 0.0, 2 * OVEN[2]), (OVEN[0], OVEN[1], 0.001)),
        },
        joints={"microjoint": DOOR},
    ),
}
