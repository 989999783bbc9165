"""Furniture of living rooms, and what hangs on walls: how they look, and their types."""

from __future__ import annotations

from agentrl.envs.navigation.catalogue.object_type import Look, ObjectType, Surface
from agentrl.envs.navigation.shapes import Part, blob, box, disc, drawers, legs, rod, slab, tilted

SEATS = (Surface(0.48, (-0.36, -0.42, 0.36, 0.05), 0.4),)
WALNUT = 0x6E4A33
OAK = 0xB98552
DARK = 0x3A3D42
BLACK = 0x1C1D20
LIVING = ("living room",)
BOTH = ("living room", "bedroom")
TOP = (Surface(1.0),)
PINE = 0xD9B583
WOODS = ((OAK, 0x4A4643), (WALNUT, 0xC8A15A), (0xE9E3D6, 0x8D8A84), (PINE, 0x6A5B4C))
SHELVES = tuple(Surface(level, (-0.42, -0.4, 0.42, 0.25), 0.36) for level in (0.29, 0.52))
WHITE = 0xF2F1EC


def sofa(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A sofa."""
    body, cushion, leg = look
    arm, seat = 0.17, 0.42
    inner = w / 2 - arm
    count = max(1, round(2 * inner / 0.65))
    wide = 2 * inner / count
    cushions = []
    for n in range(count):
        x = -inner + n * wide + 0.008, -inner + (n + 1) * wide - 0.008
        cushions.append(box(x, (-d / 2 + 0.02, d / 2 - 0.22), (seat - 0.13, seat), cushion, "fabric"))
        cushions.append(tilted(box(x, (d / 2 - 0.3, d / 2 - 0.17), (seat + 0.0, h - 0.04), cushion, "fabric"), x=-8))
    return [
        *legs(w, d, 0.08, leg, 0.05),
        slab(w - 0.04, d - 0.04, (0.08, seat - 0.13), body, "fabric"),
        box((-w / 2, w / 2), (d / 2 - 0.2, d / 2), (0.08, h), body, "fabric"),
        *[
            box((x - arm / 2, x + arm / 2), (-d / 2, d / 2), (0.08, 0.56), body, "fabric")
            for x in (-w / 2 + arm / 2, w / 2 - arm / 2)
        ],
        *[
            Part("cylinder", (x, 0, 0.56), (arm / 2, arm / 2, d / 2), body, "fabric", (90, 0, 0))
            for x in (-w / 2 + arm / 2, w / 2 - arm / 2)
        ],
        *cushions,
    ]


def coffee_table(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A coffee table."""
    return [
        slab(w, d, (h - 0.04, h), look[0], "wood"),
        *legs(w, d, h - 0.04, look[1], 0.05),
        slab(w - 0.12, d - 0.12, (0.12, 0.14), look[0], "wood"),
    ]


def tv_stand(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A TV stand."""
    front = -d / 2 + 0.03
    return [
        slab(w * 0.92, d * 0.7, (0, 0.06), DARK),
        box((-w / 2, w / 2), (front, d / 2), (0.06, h), look[0], "wood"),
        *drawers(w, front, (0.08, h - 0.03), 1, look[0], look[1], 3),
    ]


def television(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A television."""
    frame, screen, glow = look
    return [
        slab(w * 0.4, d, (0, 0.015), frame),
        box((-0.04, 0.04), (0, 0.03), (0.015, 0.1), frame),
        box((-w / 2, w / 2), (-0.02, 0.03), (0.07, h), frame),
        box((-w / 2 + 0.02, w / 2 - 0.02), (-0.024, -0.02), (0.09, h - 0.02), screen),
        box((-w / 2 + 0.02, w / 2 - 0.02), (-0.026, -0.024), (0.09, 0.09 + h * 0.25), glow),
        disc(w * 0.22, (-0.027, -0.024), h * 0.68, h * 0.1, 0xF6D860),
    ]


def shelving_unit(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A shelving unit."""
    wood = look[0]
    side = 0.03
    return [
        box((-w / 2, -w / 2 + side), (-d / 2, d / 2), (0, h), wood, "wood"),
        box((w / 2 - side, w / 2), (-d / 2, d / 2), (0, h), wood, "wood"),
        box((-w / 2, w / 2), (d / 2 - 0.02, d / 2), (0, h), look[1]),
        *[
            box((-w / 2, w / 2), (-d / 2, d / 2), (h * s - side, h * s), wood, "wood")
            for s in (0.06, 0.29, 0.52, 0.75, 1.0)
        ],
        *[
            box(
                (-w * 0.45 + n * 0.045, -w * 0.45 + n * 0.045 + 0.035),
                (-d * 0.2, d * 0.4),
                (h * 0.06, h * 0.06 + 0.2 + 0.03 * (n % 3)),
                c,
            )
            for n, c in enumerate((0xA33F3A, 0x3F6B75, 0xD8A64A, 0x5C7A4F, 0x7A4F7A, 0xC9BFAE))
        ],
        *[
            box(
                (w * 0.1 + n * 0.05, w * 0.1 + n * 0.05 + 0.04),
                (-d * 0.2, d * 0.4),
                (h * 0.75, h * 0.75 + 0.18 + 0.03 * (n % 2)),
                c,
            )
            for n, c in enumerate((0x2F4B6E, 0xB9683C, 0xDDD6C2, 0x6E2F3A))
        ],
    ]


def side_table(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A side table."""
    front = -d / 2 + 0.02
    return [
        *legs(w, d, h * 0.5, look[0], 0.04, 0.0),
        box((-w / 2, w / 2), (front, d / 2), (h * 0.5, h - 0.03), look[0]),
        slab(w, d, (h - 0.03, h), look[0], "wood"),
        *drawers(w, front, (h * 0.52, h - 0.04), 1, look[0], look[1]),
    ]


def floor_lamp(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A floor lamp."""
    pole, shade = look
    return [
        rod(0, 0, (0, 0.03), w * 0.36, pole),
        rod(0, 0, (0.03, h - 0.2), 0.015, pole),
        rod(0, 0, (h - 0.3, h - 0.2), w / 2, shade),
        rod(0, 0, (h - 0.2, h - 0.1), w * 0.44, shade),
        rod(0, 0, (h - 0.1, h), w * 0.38, shade),
        rod(0, 0, (h - 0.301, h - 0.299), w * 0.42, 0xFFF6D8),
    ]


def house_plant(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A house plant."""
    pot, leaf, light = look
    high = h * 0.3
    leaves = [
        tilted(
            blob((x * w * 0.22, y * d * 0.22, high + h * z), (0.045 + 0.1 * w, 0.03, h * 0.24), c), y=28 * x, x=-28 * y
        )
        for x, y, z, c in (
            (-1, 0, 0.32, leaf),
            (1, 0, 0.32, light),
            (0, -1, 0.3, light),
            (0, 1, 0.34, leaf),
            (-0.7, -0.7, 0.26, light),
            (0.7, 0.7, 0.28, leaf),
            (0.7, -0.7, 0.24, leaf),
            (-0.7, 0.7, 0.3, light),
            (0, 0, 0.42, leaf),
        )
    ]
    return [
        rod(0, 0, (0, high * 0.75), w * 0.3, pot),
        rod(0, 0, (high * 0.75, high), w * 0.36, pot),
        rod(0, 0, (high, high + 0.005), w * 0.3, 0x4A3524),
        *leaves,
    ]


def painting(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A painting."""
    frame, sky, land, spot = look
    back, front = (-d / 2 + 0.01, d / 2), -d / 2
    return [
        box((-w / 2, w / 2), back, (0, h), frame, "wood"),
        box((-w / 2 + 0.04, w / 2 - 0.04), (front + 0.006, front + 0.01), (0.04, h - 0.04), sky),
        box((-w / 2 + 0.04, w / 2 - 0.04), (front + 0.004, front + 0.006), (0.04, h * 0.42), land),
        disc(w * 0.2, (front + 0.002, front + 0.006), h * 0.68, min(w, h) * 0.1, spot),
        tilted(box((-w * 0.26, -w * 0.02), (front + 0.003, front + 0.006), (h * 0.32, h * 0.52), land), y=45),
    ]


def rug(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A rug."""
    outer, inner, line = look
    return [
        slab(w, d, (0, h * 0.7), outer, "fabric"),
        slab(w * 0.88, d * 0.84, (h * 0.7, h * 0.8), line, "fabric"),
        slab(w * 0.82, d * 0.76, (h * 0.8, h * 0.9), inner, "fabric"),
        tilted(slab(min(w, d) * 0.4, min(w, d) * 0.4, (h * 0.9, h), line, "fabric"), z=45),
    ]


def window(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A window."""
    frame, sky, land = look
    front, back = -d / 2, d / 2
    return [
        box((-w / 2, w / 2), (back - 0.02, back), (0.05, h), sky),
        box((-w / 2, w / 2), (back - 0.022, back - 0.02), (0.05, h * 0.34), land),
        blob((w * 0.22, back - 0.022, h * 0.36), (w * 0.12, 0.002, h * 0.14), 0x5F8F58),
        blob((-w * 0.2, back - 0.022, h * 0.76), (w * 0.16, 0.002, h * 0.05), 0xFFFFFF),
        *[box((x - 0.03, x + 0.03), (front + 0.02, back), (0.05, h), frame) for x in (-w / 2 + 0.03, 0, w / 2 - 0.03)],
        *[box((-w / 2, w / 2), (front + 0.02, back), (z, z + 0.05), frame) for z in (0.03, h * 0.55, h - 0.05)],
        box((-w / 2 - 0.04, w / 2 + 0.04), (front, back), (0, 0.04), frame),
    ]


TYPES = (
    ObjectType("Sofa", "sofa", LIVING, ((1.9, 0.88, 0.86), (1.6, 0.85, 0.84)),
        ((0x5B7083, 0x6C8398, DARK), (0xB5A48B, 0xC8B9A2, WALNUT), (0x8C4A3F, 0xA35A4D, BLACK),
         (0x5F7A5C, 0x73906F, OAK)),
        sofa, ("I want to stretch out and watch a film with two friends.", "Where can three people sit down softly?"),
        "plan", surfaces=SEATS),
    ObjectType("ArmChair", "armchair", BOTH, ((0.86, 0.82, 0.86),),
        ((0xC08A3E, 0xD39C4E, WALNUT), (0x7B5A78, 0x8F6C8C, DARK), (0x4C7A80, 0x5E8E94, OAK),
         (0xB9B2A6, 0xCBC5BA, BLACK)),
        sofa,
        ("I want to sink into a soft seat for one and read.", "Grandfather likes his own padded seat with armrests."),
        "wall"),
    ObjectType("CoffeeTable", "coffee table", LIVING, ((0.9, 0.5, 0.42), (0.7, 0.5, 0.4)), WOODS, coffee_table,
        ("I would like to put the magazines down in front of where we sit.",
         "Something low, in front of the seats, to set down the snacks."),
        "plan", surfaces=TOP),
    ObjectType("TVStand", "TV stand", LIVING, ((1.4, 0.42, 0.5), (1.1, 0.4, 0.48)), WOODS, tv_stand,
        ("The low cupboard under the screen is what I need.", "Where are the game console and its cables kept?"),
        "plan", surfaces=(Surface(1.0, (-0.46, -0.44, 0.46, 0.1)),)),
    ObjectType("Television", "television", BOTH, ((1.0, 0.22, 0.66), (0.85, 0.2, 0.58)),
        ((BLACK, 0x3D6FA8, 0x3F7F4C), (0x2C2F33, 0x8A4F86, 0x2F4F7A), (BLACK, 0xD98A4E, 0x4A5A3C)), television,
        ("I want to see the evening news.", "The match starts soon and I do not want to miss it."), "plan"),
    ObjectType("ShelvingUnit", "shelving unit", BOTH, ((0.9, 0.34, 1.8), (0.75, 0.32, 1.6)), WOODS, shelving_unit,
        ("I am looking for something to read among rows of spines.", "Where do all the novels stand in rows?"),
        "wall", surfaces=SHELVES),
    ObjectType("SideTable", "side table", BOTH, ((0.45, 0.4, 0.55), (0.5, 0.42, 0.6)), WOODS, side_table,
        ("I want a small stand next to where I rest, for my glasses.",
         "Somewhere beside the pillow to leave things at night."),
        "wall", surfaces=TOP),
    ObjectType("FloorLamp", "floor lamp", BOTH, ((0.42, 0.42, 1.6),),
        ((0x2F3237, 0xF3E3B3), (0xB08D57, 0xF6F0E0), (0x8B8F94, 0xE3A08A)), floor_lamp,
        ("It is too dark in this corner; something tall should shine.", "I need a tall light that stands by itself."),
        "corner"),
    ObjectType("HousePlant", "house plant", ("living room", "bedroom", "kitchen", "bathroom"),
        ((0.42, 0.42, 0.85), (0.5, 0.5, 1.1)),
        ((0xB5653F, 0x3F7A45, 0x5E9B55), (0xEDE8DC, 0x2F6B4A, 0x4C8F68), (0x4F5B66, 0x557F3A, 0x7FA856)), house_plant,
        ("Something green here needs water.", "I want to look at leaves and smell fresh soil."), "corner"),
    ObjectType("Painting", "painting", BOTH, ((0.8, 0.05, 0.55), (0.5, 0.05, 0.65)),
        ((OAK, 0xBFD9E8, 0x5F8F58, 0xF4C542), (BLACK, 0xF0C8A0, 0x7A4F5E, 0xE8563F),
         (0xC8A15A, 0x33466E, 0x1F2A44, 0xF2EFD8)),
        painting, ("I would like to admire a landscape in a frame.", "Show me some art on the wall."), "hung",
        hangs=1.55),
    ObjectType("Rug", "rug", ("living room", "bedroom", "bathroom"),
        ((1.7, 1.2, 0.02), (1.3, 0.9, 0.02), (0.8, 0.5, 0.02)),
        ((0xA33F3A, 0xC9A57A, 0x3B2A3A), (0x3F5B7A, 0xB8C4CC, 0xE8E0D0), (0x6E7F5E, 0xD8D2BC, 0x4A5A3C),
         (0xC8B9A2, 0xEDE6D6, 0x8A6F52)),
        rug, ("My bare feet are cold on this floor.", "I would like to feel something soft and woven under my toes."),
        "plan"),
    ObjectType("Window", "window", ("kitchen", "living room", "bedroom", "bathroom"),
        ((1.1, 0.08, 1.1), (0.8, 0.08, 1.1), (0.5, 0.08, 0.7)),
        ((WHITE, 0xA9D3F0, 0x8DB87A), (0x8A5E36, 0xBFDDF2, 0x9CC48A)), window,
        ("I want to see what the weather is like outside.", "Let some daylight and fresh air in."), "plan",
        hangs=1.5),
)  # fmt: skip
