"""What stands in bathrooms."""

from __future__ import annotations

from agentrl.envs.navigation.object_type import Look, ObjectType, Surface
from agentrl.envs.navigation.shapes import Part, blob, box, glassy, rail, rod, slab, tilted

BATHROOM = ("bathroom",)
STEEL, DARK, WHITE = 0xC4C8CC, 0x3A3D42, 0xF4F4F0


def toilet(w: float, d: float, h: float, look: Look) -> list[Part]:
    body, lid = look
    front = -d / 2
    return [
        box((-w / 2, w / 2), (d / 2 - 0.18, d / 2), (0.36, h - 0.04), body),
        box((-w / 2 - 0.01, w / 2 + 0.01), (d / 2 - 0.2, d / 2), (h - 0.04, h), body),
        box((-0.03, 0.03), (d / 2 - 0.21, d / 2 - 0.18), (h - 0.13, h - 0.1), STEEL),
        blob((0, front + 0.27, 0.28), (w / 2, 0.27, 0.14), body),
        rod(0, front + 0.3, (0, 0.25), w * 0.3, body),
        box((-w * 0.3, w * 0.3), (front + 0.3, d / 2 - 0.05), (0, 0.36), body),
        blob((0, front + 0.25, 0.4), (w / 2, 0.25, 0.03), lid),
        blob((0, front + 0.25, 0.425), (w * 0.3, 0.15, 0.012), 0x9FC4D6),
        tilted(box((-w * 0.42, w * 0.42), (d / 2 - 0.235, d / 2 - 0.205), (0.42, 0.8), lid), x=-6),
    ]


def bathtub(w: float, d: float, h: float, look: Look) -> list[Part]:
    body, water = look
    rim = 0.08
    return [
        box((-w / 2, w / 2), (-d / 2, -d / 2 + rim), (0, h), body),
        box((-w / 2, w / 2), (d / 2 - rim, d / 2), (0, h), body),
        box((-w / 2, -w / 2 + rim), (-d / 2, d / 2), (0, h), body),
        box((w / 2 - rim * 1.5, w / 2), (-d / 2, d / 2), (0, h), body),
        slab(w - 0.1, d - 0.1, (0, h * 0.3), body),
        slab(w - 0.1, d - 0.1, (h * 0.3, h * 0.7), water),
        rod(w / 2 - 0.06, 0, (h, h + 0.14), 0.02, STEEL),
        box((w / 2 - 0.2, w / 2 - 0.05), (-0.02, 0.02), (h + 0.12, h + 0.15), STEEL),
        rod(w / 2 - 0.06, -0.1, (h, h + 0.05), 0.022, 0xB5493F),
        rod(w / 2 - 0.06, 0.1, (h, h + 0.05), 0.022, 0x4470A8),
    ]


def shower(w: float, d: float, h: float, look: Look) -> list[Part]:
    tray, frame = look
    bars = [
        rod(x, y, (0.1, h), 0.018, frame) for x in (-w / 2 + 0.02, w / 2 - 0.02) for y in (-d / 2 + 0.02, d / 2 - 0.02)
    ]
    return [
        slab(w, d, (0, 0.1), tray),
        slab(w - 0.14, d - 0.14, (0.1, 0.105), 0xB9C4CB),
        *bars,
        *[rail((-w / 2 + 0.02, w / 2 - 0.02), y, h - 0.02, 0.018, frame) for y in (-d / 2 + 0.02, d / 2 - 0.02)],
        glassy(box((-w / 2 + 0.03, w / 2 - 0.03), (-d / 2 + 0.015, -d / 2 + 0.025), (0.1, h - 0.03), 0xBFE0EA), 0.3),
        glassy(box((-w / 2 + 0.015, -w / 2 + 0.025), (-d / 2 + 0.03, d / 2 - 0.03), (0.1, h - 0.03), 0xBFE0EA), 0.3),
        glassy(box((w / 2 - 0.025, w / 2 - 0.015), (-d / 2 + 0.03, d / 2 - 0.03), (0.1, h - 0.03), 0xBFE0EA), 0.3),
        rod(0, d / 2 - 0.06, (1.0, h - 0.12), 0.014, STEEL),
        box((-0.012, 0.012), (d / 2 - 0.3, d / 2 - 0.06), (h - 0.14, h - 0.115), STEEL),
        rod(0, d / 2 - 0.3, (h - 0.17, h - 0.14), 0.09, STEEL),
    ]


def mirror(w: float, d: float, h: float, look: Look) -> list[Part]:
    frame, glass, shine = look
    front = -d / 2
    return [
        box((-w / 2, w / 2), (front + 0.008, d / 2), (0, h), frame),
        box((-w / 2 + 0.03, w / 2 - 0.03), (front + 0.004, front + 0.008), (0.03, h - 0.03), glass),
        tilted(box((-w * 0.03, w * 0.03), (front + 0.001, front + 0.004), (h * 0.3, h * 0.8), shine), y=35),
        tilted(box((w * 0.08, w * 0.11), (front + 0.001, front + 0.004), (h * 0.3, h * 0.7), shine), y=35),
    ]


def laundry_hamper(w: float, d: float, h: float, look: Look) -> list[Part]:
    body, cloth, second = look
    return [
        slab(w, d, (0, h - 0.08), body, "weave"),
        slab(w + 0.0, d + 0.0, (h - 0.11, h - 0.08), 0x8A6F52),
        blob((-w * 0.15, 0, h - 0.08), (w * 0.3, d * 0.38, 0.08), cloth),
        blob((w * 0.2, -d * 0.1, h - 0.08), (w * 0.24, d * 0.3, 0.07), second),
        tilted(box((w * 0.1, w * 0.3), (-d / 2 - 0.012, -d / 2), (h * 0.55, h - 0.06), second), y=8),
    ]


def towel(w: float, d: float, h: float, look: Look) -> list[Part]:
    cloth, stripe = look
    back = d / 2
    return [
        rail((-w / 2, w / 2), 0, h - 0.03, 0.014, STEEL),
        *[box((x - 0.015, x + 0.015), (0, back), (h - 0.045, h - 0.015), STEEL) for x in (-w / 2 + 0.02, w / 2 - 0.02)],
        box((-w * 0.38, w * 0.38), (-d / 2, -d / 2 + 0.03), (0, h - 0.01), cloth, "fabric"),
        *[box((-w * 0.385, w * 0.385), (-d / 2 - 0.003, -d / 2), (z, z + 0.04), stripe) for z in (0.06, 0.14)],
    ]


def toilet_paper(w: float, d: float, h: float, look: Look) -> list[Part]:
    paper = look[0]
    return [
        box((-0.03, 0.03), (d / 2 - 0.015, d / 2), (h / 2 - 0.03, h / 2 + 0.03), STEEL),
        rail((-w / 2, w / 2), 0, h / 2, min(d, h) * 0.46, paper),
        rail((-w / 2 - 0.015, w / 2 + 0.015), 0, h / 2, 0.018, 0xB08D57),
        box((-w / 2, w / 2), (-d * 0.47, -d * 0.44), (-0.08, h / 2), paper),
    ]


FURNITURE = (
    ObjectType(
        "Toilet",
        "toilet",
        BATHROOM,
        ((0.4, 0.68, 0.8),),
        ((WHITE, 0xFFFFFF), (0xE6E0D2, 0xF1ECE0), (0xF0F0EE, 0xA9825A)),
        toilet,
        ("I drank too much water and need to go, urgently.", "Nature calls; where do I go?"),
        "wall",
        surfaces=(Surface(1.0, (-0.4, 0.28, 0.4, 0.46)),),
    ),
    ObjectType(
        "Bathtub",
        "bathtub",
        BATHROOM,
        ((1.6, 0.74, 0.72), (1.45, 0.7, 0.7)),
        ((WHITE, 0x9AD0E0), (0xE9E2D3, 0xA8D4CC), (0x5E7E8C, 0xBFE4EE)),
        bathtub,
        ("I want to soak in warm foam for half an hour.", "My back aches and I would love to lie in hot water."),
        "wall",
    ),
    ObjectType(
        "ShowerStall",
        "shower stall",
        BATHROOM,
        ((0.85, 0.85, 2.0),),
        ((WHITE, STEEL), (0x5B6168, 0x2F3237)),
        shower,
        (
            "I came back from a run and want to stand under warm drops.",
            "I want to wash my hair standing up, behind glass.",
        ),
        "corner",
    ),
    ObjectType(
        "Mirror",
        "mirror",
        ("bathroom", "bedroom"),
        ((0.6, 0.04, 0.75), (0.5, 0.04, 0.9)),
        ((0xC8A15A, 0xC9E0EA, 0xF4FAFC), (0x3A3D42, 0xBCD6E2, 0xF4FAFC), (WHITE, 0xC4DBE4, 0xF4FAFC)),
        mirror,
        ("I wonder whether my hair is tidy.", "I want to see my own face before I go out."),
        "hung",
        hangs=1.55,
    ),
    ObjectType(
        "LaundryHamper",
        "laundry hamper",
        ("bathroom", "bedroom"),
        ((0.42, 0.36, 0.6),),
        ((0xC9A877, 0x5E81A6, 0xE3DCD0), (0xE4DCCB, 0xA8514A, 0x3F5B6E), (0x8F7350, 0xDDA63A, 0x6E7F5E)),
        laundry_hamper,
        ("These worn clothes should wait somewhere until wash day.", "Where do I drop my dirty socks?"),
        "floor",
    ),
    ObjectType(
        "Towel",
        "towel",
        BATHROOM,
        ((0.55, 0.09, 0.6),),
        ((0xD8605A, 0xF2E6DA), (0x4C86A8, 0xE8F0F2), (0xE6C35C, 0xFFFFFF), (0x6FA287, 0xEAF2EC)),
        towel,
        ("I am dripping wet and want to rub myself dry.", "My wet hands need a soft cloth."),
        "hung",
        hangs=1.15,
    ),
    ObjectType(
        "ToiletPaper",
        "toilet paper",
        BATHROOM,
        ((0.12, 0.13, 0.13),),
        ((0xFBFAF6, 0), (0xE8D8DC, 0)),
        toilet_paper,
        (
            "I sit in the smallest room and the white roll is what I miss.",
            "Some soft sheets, two layers, torn off one by one, please.",
        ),
        "hung",
        hangs=0.72,
    ),
)
