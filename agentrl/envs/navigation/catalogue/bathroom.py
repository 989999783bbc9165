"""What belongs into bathrooms: how they look, and their types."""

from __future__ import annotations

from agentrl.envs.navigation.catalogue.object_type import Look, ObjectType, Surface
from agentrl.envs.navigation.shapes import Part, ball, blob, box, glassy, rail, rod, slab, tilted

WHITE = 0xF4F4F0
BATHROOM = ("bathroom",)
STEEL = 0xC4C8CC
WET = ("Sink", "WashingMachine", "Toilet")
PART_WHITE = 0xF2F1EC


def toilet(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A toilet."""
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
    """A bathtub."""
    body, water = look
    h -= 0.16  # the tap stands above the rim
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
    """A shower stall."""
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


def towel(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A towel."""
    cloth, stripe = look
    back = d / 2
    return [
        rail((-w / 2, w / 2), 0, h - 0.03, 0.014, STEEL),
        *[box((x - 0.015, x + 0.015), (0, back), (h - 0.045, h - 0.015), STEEL) for x in (-w / 2 + 0.02, w / 2 - 0.02)],
        box((-w * 0.38, w * 0.38), (-d / 2, -d / 2 + 0.03), (0, h - 0.01), cloth, "fabric"),
        *[box((-w * 0.385, w * 0.385), (-d / 2 - 0.003, -d / 2), (z, z + 0.04), stripe) for z in (0.06, 0.14)],
    ]


def toilet_paper(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A roll of toilet paper."""
    paper = look[0]
    return [
        box((-0.03, 0.03), (d / 2 - 0.015, d / 2), (h / 2 - 0.03, h / 2 + 0.03), STEEL),
        rail((-w / 2, w / 2), 0, h / 2, min(d, h) * 0.46, paper),
        rail((-w / 2 - 0.015, w / 2 + 0.015), 0, h / 2, 0.018, 0xB08D57),
        box((-w / 2, w / 2), (-d * 0.47, -d * 0.44), (-0.08, h / 2), paper),
    ]


def soap_bottle(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A soap bottle."""
    body, pump = look
    return [
        rod(0, 0, (0, h * 0.62), w * 0.45, body),
        blob((0, 0, h * 0.62), (w * 0.45, w * 0.45, h * 0.1), body),
        rod(0, 0, (h * 0.68, h * 0.94), w * 0.12, pump),
        box((-w * 0.12, w * 0.12), (-d / 2, 0.01), (h * 0.92, h), pump),
        slab(w * 0.6, d * 0.94, (h * 0.2, h * 0.45), PART_WHITE),
    ]


def spray_bottle(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A spray bottle."""
    body, head = look
    return [
        slab(w, d * 0.7, (0, h * 0.5), body),
        blob((0, 0, h * 0.5), (w / 2, d * 0.35, h * 0.16), body),
        rod(0, 0, (h * 0.6, h * 0.8), 0.016, head),
        box((-w * 0.2, w * 0.2), (-d / 2, d * 0.3), (h * 0.84, h), head),
        tilted(box((-w * 0.1, w * 0.1), (-d * 0.32, -d * 0.22), (h * 0.64, h * 0.86), head), x=20),
        slab(w * 1.02, d * 0.5, (h * 0.14, h * 0.4), PART_WHITE),
    ]


def soap_bar(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A bar of soap."""
    return [
        slab(w, d, (0, h * 0.35), PART_WHITE),
        blob((0, 0, h * 0.6), (w * 0.42, d * 0.4, h * 0.4), look[0]),
        slab(w * 0.4, d * 0.2, (h * 0.9, h), look[1]),
    ]


def plunger(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A plunger."""
    return [
        rod(0, 0, (0, h * 0.1), w / 2, look[0]),
        blob((0, 0, h * 0.1), (w * 0.44, w * 0.44, h * 0.16), look[0]),
        rod(0, 0, (h * 0.2, h * 0.98), 0.014, look[1]),
        ball(0, 0, h * 0.98, 0.02, look[1]),
    ]


def scrub_brush(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A scrub brush."""
    return [
        rod(0, 0, (0, h * 0.42), w * 0.42, look[0]),
        rod(0, 0, (h * 0.42, h * 0.46), w * 0.5, look[0]),
        rod(0, 0, (h * 0.46, h * 0.95), 0.012, PART_WHITE),
        rod(0, 0, (h * 0.4, h * 0.56), w * 0.3, look[1]),
        ball(0, 0, h * 0.96, 0.025, look[0]),
    ]


TYPES = (
    ObjectType("Toilet", "toilet", BATHROOM, ((0.4, 0.68, 0.8),),
        ((WHITE, 0xFFFFFF), (0xE6E0D2, 0xF1ECE0), (0xF0F0EE, 0xA9825A)), toilet,
        ("I drank too much water and need to go, urgently.", "Nature calls; where do I go?"), "wall",
        surfaces=(Surface(1.0, (-0.4, 0.28, 0.4, 0.46)),)),
    ObjectType("Bathtub", "bathtub", BATHROOM, ((1.6, 0.74, 0.72), (1.45, 0.7, 0.7)),
        ((WHITE, 0x9AD0E0), (0xE9E2D3, 0xA8D4CC), (0x5E7E8C, 0xBFE4EE)), bathtub,
        ("I want to soak in warm foam for half an hour.", "My back aches and I would love to lie in hot water."),
        "wall"),
    ObjectType("ShowerStall", "shower stall", BATHROOM, ((0.85, 0.85, 2.0),), ((WHITE, STEEL), (0x5B6168, 0x2F3237)),
        shower,
        ("I came back from a run and want to stand under warm drops.",
         "I want to wash my hair standing up, behind glass."),
        "corner"),
    ObjectType("Towel", "towel", BATHROOM, ((0.55, 0.09, 0.6),),
        ((0xD8605A, 0xF2E6DA), (0x4C86A8, 0xE8F0F2), (0xE6C35C, 0xFFFFFF), (0x6FA287, 0xEAF2EC)), towel,
        ("I am dripping wet and want to rub myself dry.", "My wet hands need a soft cloth."), "hung", hangs=1.15),
    ObjectType("ToiletPaper", "toilet paper", BATHROOM, ((0.12, 0.13, 0.13),), ((0xFBFAF6, 0), (0xE8D8DC, 0)),
        toilet_paper,
        ("I sit in the smallest room and the white roll is what I miss.",
         "Some soft sheets, two layers, torn off one by one, please."),
        "hung", hangs=0.72),
    ObjectType("SoapBottle", "soap bottle", ("bathroom", "kitchen"), ((0.09, 0.09, 0.22),),
        ((0x6FC0B0, 0xFFFFFF), (0xE8A0B8, 0x54585E), (0xF0C850, 0xFFFFFF)), soap_bottle,
        ("I want to press out a little foam before I rinse my hands.",
         "My fingers are greasy; water alone does not help."),
        on=("CounterTop", *WET)),
    ObjectType("SprayBottle", "spray bottle", ("bathroom", "kitchen"), ((0.1, 0.14, 0.28),),
        ((0x4F9FE8, 0xD8432F), (0x8FCF5A, 0xFFFFFF), (0xB08FD8, 0x3A3D42)), spray_bottle,
        ("I want to mist some cleaner on the glass.", "Something with a trigger, to wipe these stains off."),
        on=("CounterTop", *WET)),
    ObjectType("SoapBar", "soap bar", BATHROOM, ((0.13, 0.09, 0.06),),
        ((0xF0B8C8, 0xFBE4EA), (0xA8D8B8, 0xE4F4EA), (0xF4E8A8, 0xFFFFFF)), soap_bar,
        ("I want to wash with something solid that slips from the hand.",
         "It lies in a dish, smells nice and gets smaller every day."),
        on=WET),
    ObjectType("Plunger", "plunger", BATHROOM, ((0.16, 0.16, 0.55),), ((0xB5493F, 0xC39A6B), (0x2F3237, 0xE8D8B0)),
        plunger,
        ("The drain is clogged and I need some suction.", "The bowl overflows; quick, something with a rubber cup."),
        "floor"),
    ObjectType("ScrubBrush", "scrub brush", BATHROOM, ((0.13, 0.13, 0.45),),
        ((0xE8E8E4, 0x8FA8B8), (0x3A3D42, 0xBFC3C8)), scrub_brush,
        ("I have to clean the bowl with bristles.", "It waits in a holder beside the throne."), "floor"),
)  # fmt: skip
