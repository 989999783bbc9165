"""Furniture and machines of kitchens: how they look, and their types."""

from __future__ import annotations

from agentrl.envs.navigation.catalogue.object_type import Look, ObjectType, Surface
from agentrl.envs.navigation.shapes import Part, ball, blob, box, disc, drawers, legs, rail, rod, slab, tilted

TOP = (Surface(1.0),)
CABINETS = (
    (0xF0EEE6, 0x8D8A84, 0xB9B6AE),
    (0x5F7F8C, 0xE8DCC3, 0xD9C9A8),
    (0xB98A5A, 0x55504A, 0x4A4643),
    (0x7E9A76, 0xEDE6D6, 0xB8935F),
)
KITCHEN = ("kitchen",)
SINK_EDGES = (Surface(0.834, (-0.48, -0.42, -0.3, 0.42)), Surface(0.834, (0.3, -0.42, 0.48, 0.42)))
WHITE = 0xF2F1EC
BLACK = 0x202226
STEEL = 0xC4C8CC
EATING = ("kitchen", "living room")
COUNTER = ("CounterTop",)
DARK = 0x3A3D42


def counter_top(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A counter top."""
    front, top, knob = look
    return [
        box((-w / 2, w / 2), (-d / 2 + 0.08, d / 2), (0, 0.1), DARK),
        box((-w / 2, w / 2), (-d / 2 + 0.03, d / 2), (0.1, h - 0.04), front),
        slab(w, d, (h - 0.04, h), top, "stone"),
        *drawers(w, -d / 2 + 0.03, (0.12, h - 0.05), 1, front, knob, max(1, round(w / 0.5))),
    ]


def sink(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A sink."""
    front, top, _ = look
    low, wall = h - 0.18, 0.2
    tap = [
        rod(0, d / 2 - 0.09, (low, low + wall), 0.016, STEEL),
        box((-0.014, 0.014), (-0.02, d / 2 - 0.09), (h - 0.012, h + 0.012), STEEL),
    ]
    return [
        box((-w / 2, w / 2), (-d / 2 + 0.03, d / 2), (0, low - 0.04), front),
        *drawers(w, -d / 2 + 0.03, (0.12, low - 0.05), 1, front, look[2], 2),
        slab(w, d, (low - 0.04, low), top, "stone"),
        slab(w * 0.56, d * 0.62, (low, low + 0.006), STEEL),
        slab(w * 0.48, d * 0.52, (low + 0.006, low + 0.008), 0x7C8186),
        rod(0, 0, (low + 0.008, low + 0.012), 0.03, DARK),
        *tap[:1],
        box((-0.014, 0.014), (-0.03, d / 2 - 0.08), (h - 0.02, h), STEEL),
        rod(0, -0.02, (h - 0.06, h), 0.014, STEEL),
        rod(-0.1, d / 2 - 0.09, (low, low + 0.06), 0.02, 0xB5493F),
        rod(0.1, d / 2 - 0.09, (low, low + 0.06), 0.02, 0x4470A8),
    ]


def stove(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A stove."""
    body, plate = look
    rings = [
        rod(a * w * 0.23, b * d * 0.21 - 0.02, (h - 0.1, h - 0.09), r, 0x8E2F22 if a * b > 0 else 0x54585E)
        for a, b, r in ((-1, -1, 0.09), (1, -1, 0.075), (-1, 1, 0.075), (1, 1, 0.09))
    ]
    knobs = [disc(x * w, (-d / 2 - 0.0, -d / 2 + 0.03), h - 0.17, 0.022, DARK) for x in (-0.36, -0.2, 0.2, 0.36)]
    return [
        box((-w / 2, w / 2), (-d / 2 + 0.03, d / 2), (0, h - 0.12), body),
        box((-w / 2, w / 2), (-d / 2 + 0.03, d / 2), (h - 0.12, h - 0.1), plate),
        box((-w / 2, w / 2), (d / 2 - 0.04, d / 2), (h - 0.1, h), body),
        *rings,
        *knobs,
        box((-w * 0.42, w * 0.42), (-d / 2 + 0.015, -d / 2 + 0.03), (0.2, h - 0.28), BLACK),
        box((-w * 0.32, w * 0.32), (-d / 2 + 0.01, -d / 2 + 0.015), (0.28, h - 0.4), 0x6B4A32),
        rail((-w * 0.38, w * 0.38), -d / 2 + 0.012, h - 0.245, 0.012, STEEL),
    ]


def fridge(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A fridge."""
    body, door = look
    front, split = -d / 2 + 0.03, h * 0.62
    return [
        box((-w / 2, w / 2), (-d / 2 + 0.05, d / 2), (0.03, h), body),
        box((-w / 2, w / 2), (front, front + 0.05), (0.06, split - 0.006), door),
        box((-w / 2, w / 2), (front, front + 0.05), (split + 0.006, h), door),
        box((-w / 2 + 0.05, -w / 2 + 0.08), (-d / 2, front), (split - 0.45, split - 0.06), 0x8B8F94),
        box((-w / 2 + 0.05, -w / 2 + 0.08), (-d / 2, front), (split + 0.06, split + 0.34), 0x8B8F94),
        box((w * 0.1, w * 0.3), (front - 0.004, front), (h - 0.34, h - 0.2), 0xF2D25C),
        box((w * 0.12, w * 0.32), (front - 0.004, front), (h - 0.55, h - 0.4), 0x7FB2D8),
    ]


def cabinet(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A cabinet."""
    return [
        box((-w / 2, w / 2), (-d / 2 + 0.03, d / 2), (0, h), look[0]),
        *drawers(w, -d / 2 + 0.03, (0, h), 1, look[0], look[2], max(1, round(w / 0.45))),
    ]


def dining_table(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A dining table."""
    top, leg = look
    return [
        slab(w, d, (h - 0.04, h), top, "wood"),
        slab(w - 0.16, d - 0.16, (h - 0.1, h - 0.04), leg),
        *legs(w, d, h - 0.04, leg, 0.07),
    ]


def chair(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A chair."""
    frame, seat = look
    high = 0.46
    back = d / 2
    return [
        *legs(w, d, high - 0.03, frame, 0.04, 0.0),
        slab(w, d, (high - 0.05, high - 0.02), frame),
        slab(w - 0.02, d - 0.02, (high - 0.02, high), seat, "fabric"),
        box((-w / 2, -w / 2 + 0.04), (back - 0.04, back), (high, h), frame),
        box((w / 2 - 0.04, w / 2), (back - 0.04, back), (high, h), frame),
        *[
            box((-w / 2 + 0.04, w / 2 - 0.04), (back - 0.03, back - 0.01), (z, z + 0.09), frame)
            for z in (high + 0.1, h - 0.25, h - 0.1)
        ],
    ]


def stool(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A stool."""
    frame, seat = look
    return [
        *legs(w * 0.85, d * 0.85, h - 0.04, frame, 0.035, 0.0),
        rod(0, 0, (h - 0.05, h), w / 2, seat),
        rail((-w * 0.38, w * 0.38), -d * 0.38, 0.2, 0.012, frame),
        rail((-w * 0.38, w * 0.38), d * 0.38, 0.2, 0.012, frame),
    ]


def garbage_can(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A garbage can."""
    body, lid = look
    return [
        rod(0, 0, (0, h * 0.5), w * 0.43, body),
        rod(0, 0, (h * 0.5, h * 0.86), w * 0.46, body),
        rod(0, 0, (h * 0.86, h * 0.92), w / 2, lid),
        blob((0, 0, h * 0.92), (w * 0.46, d * 0.46, h * 0.08), lid),
        box((-0.07, 0.07), (-d / 2, -d * 0.42), (0.01, 0.04), lid),
        box((-0.06, 0.06), (-w * 0.48, -w * 0.44), (h * 0.3, h * 0.6), 0xEDEDE4),
    ]


def washing_machine(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A washing machine."""
    body, trim = look
    front = -d / 2 + 0.03
    return [
        box((-w / 2, w / 2), (front, d / 2), (0, h), body),
        box((-w / 2, w / 2), (front - 0.004, front), (h - 0.14, h - 0.02), trim),
        disc(0, (front - 0.02, front), h * 0.45, w * 0.34, STEEL),
        disc(0, (front - 0.03, front), h * 0.45, w * 0.26, 0x35414C),
        disc(0, (front - 0.032, front), h * 0.42, w * 0.14, 0x6E8AA5),
        disc(w * 0.25, (front - 0.025, front), h - 0.08, 0.035, STEEL),
        box((-w * 0.42, -w * 0.15), (front - 0.01, front), (h - 0.12, h - 0.04), WHITE),
        box((0.0, w * 0.12), (front - 0.01, front), (h - 0.1, h - 0.06), 0x3B4E78),
    ]


def microwave(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A microwave."""
    body, panel = look
    front = -d / 2
    return [
        box((-w / 2, w / 2), (front + 0.02, d / 2), (0.01, h), body),
        box((-w / 2 + 0.02, w * 0.22), (front, front + 0.02), (0.03, h - 0.02), panel),
        box((-w / 2 + 0.06, w * 0.14), (front - 0.004, front), (0.07, h - 0.06), 0x4E5A66),
        box((w * 0.24, w / 2 - 0.01), (front, front + 0.02), (0.03, h - 0.02), panel),
        box((w * 0.27, w * 0.46), (front - 0.004, front), (h - 0.09, h - 0.05), 0x64E08A),
        *[
            box((x, x + 0.025), (front - 0.004, front), (z, z + 0.02), 0xD8D8D8)
            for x in (w * 0.27, w * 0.36)
            for z in (0.06, 0.1, 0.14)
        ],
        box((w * 0.19, w * 0.21), (front - 0.02, front), (0.05, h - 0.04), STEEL),
    ]


def toaster(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A toaster."""
    body, trim = look
    return [
        slab(w, d, (0, 0.025), DARK),
        slab(w, d * 0.96, (0.025, h - 0.02), body),
        slab(w * 0.94, d * 0.8, (h - 0.02, h - 0.012), trim),
        *[box((-w * 0.36, w * 0.36), (y - 0.016, y + 0.016), (h - 0.012, h - 0.01), BLACK) for y in (-0.04, 0.04)],
        *[box((-w * 0.3, w * 0.3), (y - 0.011, y + 0.011), (h - 0.04, h), 0xC98F4E) for y in (-0.04, 0.04)],
        box((w / 2, w / 2 + 0.02), (-0.03, 0.03), (h * 0.6, h * 0.7), BLACK),
        disc(w * 0.3, (-d / 2 - 0.01, -d / 2 + 0.01), h * 0.3, 0.018, BLACK),
    ]


def coffee_machine(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A coffee machine."""
    body, trim = look
    return [
        slab(w, d, (0, 0.04), body),
        box((-w / 2, w / 2), (d * 0.12, d / 2), (0.04, h), body),
        box((-w / 2, w / 2), (-d / 2, d / 2), (h - 0.1, h), body),
        box((-w * 0.36, w * 0.36), (-d / 2 - 0.004, -d / 2), (h - 0.08, h - 0.03), trim),
        rod(0, -d * 0.16, (0.045, 0.16), w * 0.33, 0x3B2A20),
        rod(0, -d * 0.16, (0.16, 0.185), w * 0.24, trim),
        box((-0.012, 0.012), (-d * 0.16 - w * 0.33 - 0.03, -d * 0.16 - w * 0.3), (0.07, 0.15), BLACK),
        rod(0, -d * 0.16, (h - 0.125, h - 0.1), 0.03, BLACK),
        disc(w * 0.25, (-d / 2 - 0.012, -d / 2), h - 0.055, 0.012, 0xD8432F),
    ]


def kettle(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A kettle."""
    body, trim = look
    r = d * 0.5
    return [
        rod(0, 0, (0, 0.025), r, BLACK),
        rod(0, 0, (0.025, h * 0.5), r, body),
        rod(0, 0, (h * 0.5, h * 0.78), r * 0.86, body),
        blob((0, 0, h * 0.78), (r * 0.86, r * 0.86, h * 0.1), trim),
        ball(0, 0, h * 0.92, 0.018, BLACK),
        tilted(box((-w / 2, -w * 0.3), (-0.02, 0.02), (h * 0.55, h * 0.62), body), y=25),
        box((w / 2 - 0.03, w / 2), (-0.014, 0.014), (h * 0.2, h * 0.8), trim),
        box((w * 0.25, w / 2), (-0.014, 0.014), (h * 0.72, h * 0.8), trim),
    ]


TYPES = (
    ObjectType("CounterTop", "counter top", KITCHEN, ((1.0, 0.62, 0.9), (1.2, 0.62, 0.9), (0.8, 0.62, 0.9)), CABINETS,
        counter_top,
        ("I need a long flat place to chop the vegetables.", "Where can I roll out some dough at standing height?"),
        "plan", surfaces=TOP),
    ObjectType("Sink", "sink", ("kitchen", "bathroom"), ((0.8, 0.62, 1.08),), CABINETS, sink,
        ("My hands are sticky and I would like to rinse them.", "I want some running water to wash a few things."),
        "plan", surfaces=SINK_EDGES),
    ObjectType("Stove", "stove", KITCHEN, ((0.6, 0.62, 1.0),), ((WHITE, BLACK), (STEEL, BLACK), (0x2C2F33, 0x17181A)),
        stove, ("I would like to fry an egg now.", "Where do I heat a soup over a ring?"), "plan",
        surfaces=(Surface(0.91, (-0.46, -0.4, 0.46, 0.38)),)),
    ObjectType("Fridge", "fridge", KITCHEN, ((0.7, 0.68, 1.8), (0.65, 0.65, 1.7)),
        ((0xBFC3C8, 0xD4D7DA), (0xE8E6DF, 0xF6F5F0), (0xA83A34, 0xC24B43), (0x7FA9A3, 0x93BDB6)), fridge,
        ("The milk must be kept cold or it turns sour.", "I am looking for where leftovers stay chilled."), "plan"),
    ObjectType("Cabinet", "cabinet", KITCHEN, ((0.8, 0.36, 0.65), (1.0, 0.36, 0.65)), CABINETS, cabinet,
        ("I want to put the clean dishes away behind a door.", "Where up on the wall are the spices stored?"), "plan",
        hangs=1.78),
    ObjectType("DiningTable", "dining table", EATING, ((1.1, 0.75, 0.75), (1.3, 0.8, 0.75), (0.9, 0.9, 0.75)),
        ((0xB98552, 0x8A5E36), (0xE9E3D6, 0xC9BFAE), (0x6E4A33, 0x573827)), dining_table,
        ("The family gathers there for dinner.", "Where should I serve the meal for everybody?"), "plan",
        surfaces=TOP),
    ObjectType("Chair", "chair", ("kitchen", "living room", "bedroom"), ((0.42, 0.44, 0.92),),
        ((0x8A5E36, 0xC97B4A), (0xC9BFAE, 0x6E93A8), (0x573827, 0xA33F3A), (0x2F3237, 0x8C9298)), chair,
        ("My legs are tired and one seat at the table would do.", "I want to sit upright while I eat."), "plan"),
    ObjectType("Stool", "stool", EATING, ((0.36, 0.36, 0.62),),
        ((0x3A3D42, 0xB98552), (0xB98552, 0xD05B4A), (0x8B8F94, 0x3F6B75)), stool,
        ("I need a little seat without a back.", "Something round to perch on would be fine."), "floor"),
    ObjectType("GarbageCan", "garbage can", ("kitchen", "bathroom", "bedroom"),
        ((0.34, 0.34, 0.55), (0.3, 0.3, 0.45)), ((0x4F5B66, 0x2F363D), (0x5C8C5A, 0x3D6340), (0xBFC3C8, 0x30343A)),
        garbage_can, ("I have a banana peel to throw away.", "This wrapper is no good any more and should go."),
        "floor"),
    ObjectType("WashingMachine", "washing machine", ("bathroom", "kitchen"), ((0.6, 0.6, 0.86),),
        ((0xF4F4F2, 0xDADDE0), (0xA9AEB4, 0x8B9096)), washing_machine,
        ("My shirts are dirty and need a spin with some powder.", "I have a load of laundry to clean."), "wall",
        surfaces=TOP),
    ObjectType("Microwave", "microwave", KITCHEN, ((0.5, 0.36, 0.3),),
        ((0xD8DADC, BLACK), (BLACK, 0x2C3036), (0xB9473E, 0x2A2A2C)), microwave,
        ("I want to warm up yesterday's pasta in two minutes.", "The popcorn bag has to turn and hum until it pops."),
        on=COUNTER),
    ObjectType("Toaster", "toaster", KITCHEN, ((0.3, 0.2, 0.21),),
        ((0xC9CDD1, 0x8F9499), (0xC3382F, 0xD8D8D8), (0x7CC0B5, 0xE8E8E0)), toaster,
        ("I would like my slice of bread crisp and brown.",
         "I want something hot to spread butter on for breakfast, browned on both sides."),
        on=COUNTER),
    ObjectType("CoffeeMachine", "coffee machine", KITCHEN, ((0.24, 0.3, 0.36),),
        ((0x2A2C30, 0xC4C8CC), (0xA8322C, 0x2A2C30), (0xE4E0D6, 0x6E5A4A)), coffee_machine,
        ("I want to brew a hot cup of something to wake me up.", "I slept badly and need fresh caffeine."),
        on=COUNTER),
    ObjectType("Kettle", "kettle", KITCHEN, ((0.28, 0.2, 0.26),),
        ((0xC9CDD1, DARK), (0xD9583B, DARK), (0xF1EEE4, 0x6A5B4C)), kettle,
        ("I want boiling water for my tea.", "It whistles when the water is ready."), on=("CounterTop", "Stove")),
)  # fmt: skip
