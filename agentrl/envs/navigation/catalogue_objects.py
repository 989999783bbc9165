"""Small things of living rooms, bedrooms and bathrooms."""

from __future__ import annotations

from agentrl.envs.navigation.object_type import Look, ObjectType
from agentrl.envs.navigation.shapes import Part, ball, blob, box, disc, rail, rod, slab, tilted

LIVING, BEDROOM, BATHROOM = ("living room",), ("bedroom",), ("bathroom",)
BOTH = ("living room", "bedroom")
BLACK, DARK, STEEL, WHITE, OAK = 0x1C1D20, 0x3A3D42, 0xB9BDC2, 0xF2F1EC, 0xB98552
TABLES = ("CoffeeTable", "SideTable", "Desk", "Dresser", "DiningTable")
SHELVES = ("ShelvingUnit", "SideTable", "Dresser", "TVStand", "CoffeeTable")
WET = ("Sink", "WashingMachine", "Toilet")


def laptop(w: float, d: float, h: float, look: Look) -> list[Part]:
    body, screen = look
    lid = tilted(box((-w / 2, w / 2), (d * 0.32, d * 0.36), (0.02, h), body), x=-12)
    glow = tilted(box((-w * 0.46, w * 0.46), (d * 0.29, d * 0.32), (0.04, h - 0.015), screen), x=-12)
    keys = box((-w * 0.42, w * 0.42), (-d * 0.1, d * 0.22), (0.02, 0.024), 0x2A2C30)
    pad = box((-w * 0.14, w * 0.14), (-d * 0.42, -d * 0.18), (0.02, 0.023), DARK)
    return [box((-w / 2, w / 2), (-d / 2, d * 0.32), (0, 0.02), body), lid, glow, keys, pad]


def book(w: float, d: float, h: float, look: Look) -> list[Part]:
    cover, title = look
    return [
        slab(w, d, (0, 0.008), cover),
        slab(w * 0.96, d * 0.96, (0.008, h - 0.008), 0xF5F0E0),
        slab(w, d, (h - 0.008, h - 0.001), cover),
        box((-w / 2, -w / 2 + 0.008), (-d / 2, d / 2), (0, h - 0.001), cover),
        box((-w * 0.3, w * 0.3), (d * 0.1, d * 0.3), (h - 0.001, h), title),
    ]


def remote(w: float, d: float, h: float, look: Look) -> list[Part]:
    body, power = look
    buttons = [
        rod(x * w * 0.28, y * d * 0.1, (h - 0.004, h), 0.007, 0xD8D8D8) for x in (-1, 0, 1) for y in (-3, -2, -1, 0, 1)
    ]
    return [slab(w, d, (0, h - 0.004), body), rod(0, d * 0.4, (h - 0.004, h), 0.011, power), *buttons]


def cell_phone(w: float, d: float, h: float, look: Look) -> list[Part]:
    body, screen = look
    return [
        slab(w, d, (0, h - 0.002), body),
        slab(w * 0.88, d * 0.86, (h - 0.002, h), screen),
        rod(0, -d * 0.46, (h - 0.002, h), 0.004, WHITE),
    ]


def alarm_clock(w: float, d: float, h: float, look: Look) -> list[Part]:
    body, bell = look
    middle = h * 0.45
    r = h * 0.4
    return [
        disc(0, (-d * 0.4, d * 0.4), middle, r, body),
        disc(0, (-d * 0.44, -d * 0.4), middle, r * 0.84, 0xFBFAF4),
        box((-0.004, 0.004), (-d * 0.48, -d * 0.44), (middle, middle + r * 0.65), BLACK),
        box((0, r * 0.5), (-d * 0.48, -d * 0.44), (middle - 0.004, middle + 0.004), BLACK),
        *[ball(x * w * 0.28, 0, h * 0.86, h * 0.13, bell) for x in (-1, 1)],
        box((-0.006, 0.006), (-0.01, 0.01), (h * 0.8, h), DARK),
        *[tilted(rod(x * w * 0.26, 0, (0, h * 0.16), 0.008, DARK), y=-25 * x) for x in (-1, 1)],
    ]


def desk_lamp(w: float, d: float, h: float, look: Look) -> list[Part]:
    body, bulb = look
    return [
        rod(0, d * 0.2, (0, 0.02), w * 0.45, body),
        tilted(rod(0, d * 0.2, (0.02, h * 0.62), 0.01, body), x=12),
        tilted(rod(0, d * 0.02, (h * 0.52, h * 0.98), 0.01, body), x=50),
        tilted(rod(0, -d * 0.25, (h * 0.72, h * 0.88), w * 0.36, body), x=-20),
        tilted(rod(0, -d * 0.28, (h * 0.71, h * 0.735), w * 0.3, bulb), x=-20),
    ]


def vase(w: float, d: float, h: float, look: Look) -> list[Part]:
    body, petal, second = look
    stems = [
        tilted(rod(x * 0.02, y * 0.02, (h * 0.5, h * 0.85), 0.005, 0x4C7A45), y=14 * x, x=-14 * y)
        for x, y in ((-1, 0), (1, 0), (0, -1), (0, 1))
    ]
    heads = [
        ball(x * w * 0.28, y * d * 0.28, h * 0.9, w * 0.17, c)
        for x, y, c in ((-1, 0, petal), (1, 0, second), (0, -1, second), (0, 1, petal))
    ]
    hearts = [
        ball(x * w * 0.3, y * d * 0.38 - 0.01, h * 0.92, w * 0.07, 0xF6D860) for x, y in ((-1, 0), (1, 0), (0, -1))
    ]
    return [
        blob((0, 0, h * 0.26), (w * 0.36, w * 0.36, h * 0.26), body),
        rod(0, 0, (h * 0.45, h * 0.58), w * 0.2, body),
        *stems,
        *heads,
        *hearts,
    ]


def statue(w: float, d: float, h: float, look: Look) -> list[Part]:
    stone, base = look
    return [
        slab(w, d, (0, h * 0.14), base),
        blob((0, 0, h * 0.4), (w * 0.32, d * 0.26, h * 0.27), stone),
        blob((0, 0, h * 0.62), (w * 0.42, d * 0.24, h * 0.1), stone),
        rod(0, 0, (h * 0.66, h * 0.78), w * 0.12, stone),
        blob((0, 0, h * 0.87), (w * 0.21, d * 0.24, h * 0.13), stone),
        box((-0.012, 0.012), (-d * 0.3, -d * 0.2), (h * 0.82, h * 0.89), stone),
    ]


def pillow(w: float, d: float, h: float, look: Look) -> list[Part]:
    return [
        blob((0, 0, h / 2), (w / 2, d / 2, h / 2), look[0], "fabric"),
        slab(w * 0.8, d * 0.8, (h * 0.2, h * 0.8), look[0], "fabric"),
        slab(w * 0.5, d * 0.12, (h * 0.78, h * 0.96), look[1]),
    ]


def carton(w: float, d: float, h: float, look: Look) -> list[Part]:
    card, tape = look
    flap = h * 0.72
    sides = [box(x, (-d / 2, d / 2), (0, flap), card) for x in ((-w / 2, -w / 2 + 0.01), (w / 2 - 0.01, w / 2))]
    ends = [box((-w / 2, w / 2), y, (0, flap), card) for y in ((-d / 2, -d / 2 + 0.01), (d / 2 - 0.01, d / 2))]
    flaps = [
        tilted(
            box((x * w * 0.42 - 0.006, x * w * 0.42 + 0.006), (-d * 0.48, d * 0.48), (flap - 0.02, h), 0xD9B583),
            y=-25 * x,
        )
        for x in (-1, 1)
    ]
    return [
        slab(w - 0.02, d - 0.02, (0, 0.02), 0x8A6A42),
        *sides,
        *ends,
        *flaps,
        box((-0.03, 0.03), (-d / 2 - 0.002, -d / 2), (0, flap), tape),
    ]


def candle(w: float, d: float, h: float, look: Look) -> list[Part]:
    return [
        rod(0, 0, (0, 0.015), w / 2, 0xB08D57),
        rod(0, 0, (0.015, h * 0.72), w * 0.32, look[0]),
        rod(0, 0, (h * 0.72, h * 0.8), 0.004, BLACK),
        blob((0, 0, h * 0.88), (0.012, 0.012, h * 0.12), look[1]),
    ]


def tissue_box(w: float, d: float, h: float, look: Look) -> list[Part]:
    body, band = look
    top = h * 0.62
    return [
        slab(w, d, (0, top), body),
        slab(w + 0.002, d + 0.002, (top * 0.3, top * 0.55), band),
        slab(w * 0.5, d * 0.25, (top, top + 0.002), DARK),
        tilted(box((-w * 0.2, w * 0.2), (-0.006, 0.006), (top, h), WHITE), y=8),
        tilted(box((-w * 0.14, w * 0.14), (-0.02, -0.01), (top, h * 0.92), 0xFFFFFF), y=-14),
    ]


def newspaper(w: float, d: float, h: float, look: Look) -> list[Part]:
    paper, ink = look
    lines = [
        box((-w * 0.42, w * 0.0), (-d * 0.36 + n * d * 0.12, -d * 0.32 + n * d * 0.12), (h - 0.002, h), 0x8A8A86)
        for n in range(5)
    ]
    return [
        slab(w, d, (0, h - 0.002), paper),
        box((-w * 0.44, w * 0.44), (d * 0.3, d * 0.42), (h - 0.002, h), ink),
        box((w * 0.06, w * 0.44), (-d * 0.36, d * 0.2), (h - 0.002, h), 0x6E7A86),
        *lines,
    ]


def watering_can(w: float, d: float, h: float, look: Look) -> list[Part]:
    body = look[0]
    return [
        rod(0, 0, (0, h * 0.62), d * 0.46, body),
        tilted(rod(-w * 0.34, 0, (h * 0.18, h * 0.92), 0.016, body), y=-38),
        tilted(rod(-w * 0.47, 0, (h * 0.84, h * 0.88), 0.04, STEEL), y=-38),
        rail((0, w * 0.4), 0, h * 0.92, 0.012, look[1]),
        rod(w * 0.4, 0, (h * 0.3, h * 0.93), 0.012, look[1]),
        rod(0, 0, (h * 0.6, h * 0.93), 0.012, look[1]),
    ]


def teddy(w: float, d: float, h: float, look: Look) -> list[Part]:
    fur, light = look
    return [
        blob((0, 0, h * 0.32), (w * 0.32, d * 0.36, h * 0.28), fur),
        blob((0, -d * 0.22, h * 0.3), (w * 0.2, d * 0.2, h * 0.18), light),
        ball(0, -d * 0.04, h * 0.72, w * 0.28, fur),
        blob((0, -d * 0.3, h * 0.68), (w * 0.12, d * 0.12, h * 0.08), light),
        ball(0, -d * 0.42, h * 0.7, w * 0.035, BLACK),
        *[ball(x * w * 0.1, -d * 0.34, h * 0.78, w * 0.03, BLACK) for x in (-1, 1)],
        *[ball(x * w * 0.25, 0, h * 0.9, w * 0.11, fur) for x in (-1, 1)],
        *[
            tilted(blob((x * w * 0.36, -d * 0.1, h * 0.42), (w * 0.1, w * 0.1, h * 0.16), fur), y=-30 * x)
            for x in (-1, 1)
        ],
        *[blob((x * w * 0.22, -d * 0.34, h * 0.1), (w * 0.13, d * 0.24, h * 0.1), fur) for x in (-1, 1)],
    ]


def ball_of(w: float, d: float, h: float, look: Look) -> list[Part]:
    r = h / 2
    return [
        ball(0, 0, r, r, look[0]),
        rod(0, 0, (r - 0.004, r + 0.004), r * 1.006, look[1]),
        disc(0, (-0.004, 0.004), r, r * 1.006, look[1]),
        rail((-0.004, 0.004), 0, r, r * 1.006, look[1]),
    ]


def bat(w: float, d: float, h: float, look: Look) -> list[Part]:
    wood, grip = look
    return [
        rod(0, 0, (h * 0.42, h * 0.97), w * 0.42, wood),
        blob((0, 0, h * 0.97), (w * 0.42, w * 0.42, 0.03), wood),
        blob((0, 0, h * 0.42), (w * 0.42, w * 0.42, h * 0.12), wood),
        rod(0, 0, (0.03, h * 0.42), w * 0.2, grip),
        rod(0, 0, (0, 0.03), w * 0.34, grip),
    ]


def racket(w: float, d: float, h: float, look: Look) -> list[Part]:
    frame, grip = look
    middle = h * 0.72
    strings = [
        box((x - 0.002, x + 0.002), (-0.004, 0.004), (middle - h * 0.2, middle + h * 0.2), WHITE)
        for x in (-0.06, -0.03, 0.0, 0.03, 0.06)
    ]
    rows = [
        box((-w * 0.36, w * 0.36), (-0.004, 0.004), (middle + z - 0.002, middle + z + 0.002), WHITE)
        for z in (-0.12, -0.06, 0.0, 0.06, 0.12)
    ]
    back = Part("ellipsoid", (0, 0, middle), (w / 2, 0.01, h * 0.27), frame)
    front = [Part("ellipsoid", (0, y, middle), (w * 0.42, 0.006, h * 0.23), 0xDDE4C8) for y in (-0.008, 0.008)]
    return [
        back,
        *front,
        *strings,
        *rows,
        rod(0, 0, (h * 0.3, h * 0.48), 0.014, frame),
        rod(0, 0, (0, h * 0.32), 0.02, grip),
    ]


def boots(w: float, d: float, h: float, look: Look) -> list[Part]:
    parts = []
    for x in (-w * 0.26, w * 0.26):
        parts += [
            box((x - w * 0.2, x + w * 0.2), (-d / 2, d / 2), (0, 0.03), look[1]),
            blob((x, -d * 0.16, 0.06), (w * 0.2, d * 0.33, 0.06), look[0]),
            rod(x, d * 0.2, (0.03, h - 0.02), w * 0.2, look[0]),
            rod(x, d * 0.2, (h - 0.04, h), w * 0.215, look[2]),
        ]
    return parts


def footstool(w: float, d: float, h: float, look: Look) -> list[Part]:
    return [
        *[rod(x * w * 0.34, y * d * 0.34, (0, h * 0.4), 0.02, OAK) for x in (-1, 1) for y in (-1, 1)],
        rod(0, 0, (h * 0.36, h * 0.86), w / 2, look[0], "fabric"),
        blob((0, 0, h * 0.86), (w / 2, d / 2, h * 0.14), look[0], "fabric"),
        ball(0, 0, h * 0.98, 0.02, look[1]),
    ]


def safe(w: float, d: float, h: float, look: Look) -> list[Part]:
    front = -d / 2 + 0.02
    return [
        box((-w / 2, w / 2), (front, d / 2), (0, h), look[0]),
        box((-w * 0.44, w * 0.44), (front - 0.008, front), (0.03, h - 0.03), look[1]),
        disc(-w * 0.12, (front - 0.02, front), h * 0.55, 0.06, STEEL),
        disc(-w * 0.12, (front - 0.024, front), h * 0.55, 0.02, BLACK),
        box((w * 0.16, w * 0.2), (front - 0.02, front), (h * 0.38, h * 0.7), STEEL),
    ]


def vacuum(w: float, d: float, h: float, look: Look) -> list[Part]:
    body, trim = look
    return [
        slab(w, d * 0.5, (0, 0.08), body),
        box((-w * 0.35, w * 0.35), (-d / 2, -d * 0.2), (0, 0.05), trim),
        tilted(rod(0, d * 0.12, (0.06, h * 0.55), w * 0.24, body), x=-6),
        tilted(rod(0, d * 0.12, (h * 0.2, h * 0.42), w * 0.25, 0xA9C4D0), x=-6),
        tilted(rod(0, d * 0.24, (h * 0.5, h * 0.95), 0.016, trim), x=-6),
        box((-0.02, 0.02), (d * 0.16, d * 0.42), (h * 0.93, h * 0.97), trim),
    ]


def dog_bed(w: float, d: float, h: float, look: Look) -> list[Part]:
    rim, inside = look
    return [
        slab(w * 0.9, d * 0.9, (0, h * 0.4), inside, "fabric"),
        *[Part("ellipsoid", (0, y * d * 0.38, h * 0.5), (w * 0.5, d * 0.12, h * 0.5), rim, "fabric") for y in (-1, 1)],
        *[Part("ellipsoid", (x * w * 0.4, 0, h * 0.5), (w * 0.1, d * 0.5, h * 0.5), rim, "fabric") for x in (-1, 1)],
        tilted(box((-0.09, 0.09), (-0.02, 0.02), (h * 0.4, h * 0.6), WHITE), z=25),
    ]


def guitar(w: float, d: float, h: float, look: Look) -> list[Part]:
    body, neck = look
    y = (-d * 0.4, d * 0.4)
    return [
        disc(0, y, h * 0.19, w * 0.5, body),
        disc(0, y, h * 0.4, w * 0.38, body),
        disc(0, (-d * 0.44, -d * 0.4), h * 0.31, w * 0.13, BLACK),
        box((-0.06, 0.06), (-d * 0.46, -d * 0.4), (h * 0.14, h * 0.17), neck),
        box((-0.026, 0.026), (-d * 0.44, -d * 0.1), (h * 0.36, h * 0.9), neck),
        box((-0.045, 0.045), (-d * 0.44, -d * 0.1), (h * 0.88, h), BLACK),
        *[
            box((x - 0.002, x + 0.002), (-d * 0.5, -d * 0.46), (h * 0.15, h * 0.96), 0xE8E4D4)
            for x in (-0.014, 0.0, 0.014)
        ],
    ]


def poster(w: float, d: float, h: float, look: Look) -> list[Part]:
    paper, star, band = look
    front = -d / 2
    return [
        box((-w / 2, w / 2), (front + 0.004, d / 2), (0, h), paper),
        box((-w * 0.42, w * 0.42), (front + 0.002, front + 0.004), (h * 0.06, h * 0.2), band),
        disc(0, (front + 0.002, front + 0.004), h * 0.58, w * 0.3, star),
        tilted(box((-w * 0.34, w * 0.34), (front, front + 0.002), (h * 0.55, h * 0.61), band), y=-24),
    ]


def wall_clock(w: float, d: float, h: float, look: Look) -> list[Part]:
    rim, face = look
    ticks = [
        box(
            (x * w * 0.36 - 0.008, x * w * 0.36 + 0.008),
            (-d * 0.45, -d * 0.4),
            (h / 2 + z * h * 0.36 - 0.012, h / 2 + z * h * 0.36 + 0.012),
            BLACK,
        )
        for x, z in ((0, 1), (0, -1), (1, 0), (-1, 0))
    ]
    hands = [
        box((-0.007, 0.007), (-d * 0.48, -d * 0.43), (h / 2, h * 0.82), BLACK),
        tilted(box((-w * 0.02, w * 0.24), (-d * 0.48, -d * 0.43), (h / 2 - 0.008, h / 2 + 0.008), BLACK), y=20),
    ]
    return [
        disc(0, (-d * 0.35, d / 2), h / 2, w / 2, rim),
        disc(0, (-d * 0.4, -d * 0.35), h / 2, w * 0.43, face),
        *ticks,
        *hands,
    ]


def soap_bottle(w: float, d: float, h: float, look: Look) -> list[Part]:
    body, pump = look
    return [
        rod(0, 0, (0, h * 0.62), w * 0.45, body),
        blob((0, 0, h * 0.62), (w * 0.45, w * 0.45, h * 0.1), body),
        rod(0, 0, (h * 0.68, h * 0.94), w * 0.12, pump),
        box((-w * 0.12, w * 0.12), (-d / 2, 0.01), (h * 0.92, h), pump),
        slab(w * 0.6, d * 0.94, (h * 0.2, h * 0.45), WHITE),
    ]


def spray_bottle(w: float, d: float, h: float, look: Look) -> list[Part]:
    body, head = look
    return [
        slab(w, d * 0.7, (0, h * 0.5), body),
        blob((0, 0, h * 0.5), (w / 2, d * 0.35, h * 0.16), body),
        rod(0, 0, (h * 0.6, h * 0.8), 0.016, head),
        box((-w * 0.2, w * 0.2), (-d / 2, d * 0.3), (h * 0.84, h), head),
        tilted(box((-w * 0.1, w * 0.1), (-d * 0.32, -d * 0.22), (h * 0.64, h * 0.86), head), x=20),
        slab(w * 1.02, d * 0.5, (h * 0.14, h * 0.4), WHITE),
    ]


def soap_bar(w: float, d: float, h: float, look: Look) -> list[Part]:
    return [
        slab(w, d, (0, h * 0.35), WHITE),
        blob((0, 0, h * 0.6), (w * 0.42, d * 0.4, h * 0.4), look[0]),
        slab(w * 0.4, d * 0.2, (h * 0.9, h), look[1]),
    ]


def plunger(w: float, d: float, h: float, look: Look) -> list[Part]:
    return [
        rod(0, 0, (0, h * 0.1), w / 2, look[0]),
        blob((0, 0, h * 0.1), (w * 0.44, w * 0.44, h * 0.16), look[0]),
        rod(0, 0, (h * 0.2, h * 0.98), 0.014, look[1]),
        ball(0, 0, h * 0.98, 0.02, look[1]),
    ]


def scrub_brush(w: float, d: float, h: float, look: Look) -> list[Part]:
    return [
        rod(0, 0, (0, h * 0.42), w * 0.42, look[0]),
        rod(0, 0, (h * 0.42, h * 0.46), w * 0.5, look[0]),
        rod(0, 0, (h * 0.46, h * 0.95), 0.012, WHITE),
        rod(0, 0, (h * 0.4, h * 0.56), w * 0.3, look[1]),
        ball(0, 0, h * 0.96, 0.025, look[0]),
    ]


OBJECTS = (
    ObjectType(
        "Laptop",
        "laptop",
        BOTH,
        ((0.36, 0.28, 0.25),),
        ((0xB9BDC2, 0x5FA8E0), (0x2A2C30, 0x8FD0A0), (0xE8D8CC, 0xC88FD8)),
        laptop,
        ("I have to answer my e-mail.", "I want to type a letter and search the internet."),
        on=("Desk", "CoffeeTable", "Bed", "Sofa", "DiningTable"),
    ),
    ObjectType(
        "Book",
        "book",
        BOTH,
        ((0.18, 0.24, 0.05),),
        ((0xA33F3A, 0xF2D9A0), (0x2F4B8E, 0xFFFFFF), (0x3F7A45, 0xF6E08A), (0x6E3F7A, 0xF0D0E0)),
        book,
        ("I feel like reading a story before I fall asleep.", "I want to turn some pages by a good author."),
        on=("Bed", "Desk", "SideTable", "CoffeeTable", "ShelvingUnit", "Sofa"),
    ),
    ObjectType(
        "RemoteControl",
        "remote control",
        LIVING,
        ((0.06, 0.2, 0.03),),
        ((0x26282C, 0xD8432F), (0xE4E4E0, 0x3F9F5A)),
        remote,
        (
            "I want to change the channel without getting up.",
            "The film is too loud and I would like to press a button.",
        ),
        on=("CoffeeTable", "Sofa", "SideTable", "TVStand"),
    ),
    ObjectType(
        "CellPhone",
        "cell phone",
        ("living room", "bedroom", "kitchen"),
        ((0.09, 0.18, 0.02),),
        ((0x202226, 0x4F9FE8), (0xD86A8A, 0xF6E8EC), (0xE8E4DC, 0x54C08A)),
        cell_phone,
        ("I must call my mother.", "I want to send somebody a text message."),
        on=("SideTable", "CoffeeTable", "Desk", "DiningTable", "Bed", "CounterTop"),
    ),
    ObjectType(
        "AlarmClock",
        "alarm clock",
        BEDROOM,
        ((0.17, 0.1, 0.2),),
        ((0xC3382F, 0xE8C15A), (0x3F7A8E, 0xD8D8D8), (0xE8A63A, 0xB08D57)),
        alarm_clock,
        ("Something should ring at seven so that I get up.", "I overslept yesterday and must not do it again."),
        on=("SideTable", "Dresser", "Desk"),
    ),
    ObjectType(
        "DeskLamp",
        "desk lamp",
        BOTH,
        ((0.2, 0.36, 0.42),),
        ((0x2F3237, 0xFFF2B8), (0xC3382F, 0xFFF2B8), (0x3F8A7A, 0xFFF2B8)),
        desk_lamp,
        ("I need a small bright light to write by.", "It gets dark and I still want to read these papers."),
        on=("Desk", "SideTable", "Dresser"),
    ),
    ObjectType(
        "Vase",
        "vase",
        ("living room", "bedroom", "kitchen"),
        ((0.2, 0.2, 0.42),),
        ((0x4C86A8, 0xD8432F, 0xF0A0B8), (0xF1EEE4, 0xF6C945, 0xE87A3A), (0x8A5AA8, 0xFFFFFF, 0xE8A0D0)),
        vase,
        ("I picked tulips and they need something to stand in.", "I want to smell the cut flowers."),
        on=(*TABLES, "TVStand"),
    ),
    ObjectType(
        "Statue",
        "statue",
        BOTH,
        ((0.2, 0.18, 0.42),),
        ((0xE4E0D6, 0x8D8A84), (0xA8763A, 0x3A3D42), (0x6E8A7A, 0x4A4643)),
        statue,
        ("I want to look at the carved figure.", "A small sculpted person stands somewhere here."),
        on=SHELVES,
    ),
    ObjectType(
        "Pillow",
        "pillow",
        BOTH,
        ((0.44, 0.4, 0.16),),
        ((0xD8A64A, 0xF6E8C8), (0x5E93A8, 0xE8F0F2), (0xC0605A, 0xF6DAD6), (0x7E9A5E, 0xEAF2DC)),
        pillow,
        ("I want to rest my head on something soft.", "My neck is stiff; something stuffed to lean on would help."),
        on=("Sofa", "Bed"),
    ),
    ObjectType(
        "Box",
        "cardboard box",
        BOTH,
        ((0.42, 0.34, 0.36), (0.5, 0.4, 0.4)),
        ((0xC39A6B, 0xE8D8B0), (0xB08454, 0xD8432F)),
        carton,
        ("A parcel came and I have not unpacked it yet.", "I am moving out and must pack my things into something."),
        "floor",
    ),
    ObjectType(
        "Candle",
        "candle",
        ("living room", "bathroom", "bedroom"),
        ((0.1, 0.1, 0.22),),
        ((0xF4ECD8, 0xF8A63A), (0xC0504A, 0xF8C23A), (0x8FB0A0, 0xF8A63A)),
        candle,
        ("The power is out and a small flame would do.", "I want soft, flickering light and a little scent."),
        on=(*SHELVES, *WET),
    ),
    ObjectType(
        "TissueBox",
        "tissue box",
        ("living room", "bedroom", "bathroom"),
        ((0.24, 0.13, 0.18),),
        ((0x6FA8C8, 0xF2F2F2), (0xE8B0C0, 0xFFFFFF), (0x8FBF8A, 0xF6F0C0)),
        tissue_box,
        ("I have a cold and my nose is running.", "I must sneeze and need thin soft paper."),
        on=(*SHELVES, *WET),
    ),
    ObjectType(
        "Newspaper",
        "newspaper",
        LIVING,
        ((0.34, 0.42, 0.02),),
        ((0xE8E6DC, 0x2A2A2C), (0xEFE3CC, 0x7A2F2A)),
        newspaper,
        (
            "I want to read what happened in the world yesterday, on paper.",
            "I would like to do the crossword with my morning coffee.",
        ),
        on=("CoffeeTable", "Sofa", "DiningTable"),
    ),
    ObjectType(
        "WateringCan",
        "watering can",
        LIVING,
        ((0.4, 0.2, 0.32),),
        ((0x5E9B55, 0x3F6B3A), (0xD8A63A, 0x8A6A2A), (0x6E8FB0, 0x3F5B7A)),
        watering_can,
        ("The flowers are thirsty.", "I want to pour something over the dry soil in the pots."),
        "floor",
    ),
    ObjectType(
        "Guitar",
        "guitar",
        BOTH,
        ((0.4, 0.14, 1.0),),
        ((0xC98A3E, 0x4A3524), (0x8C2F2A, 0x3A2A20), (0x2F4B6E, 0xC9A877)),
        guitar,
        ("Let us sing a song; I will strum.", "I want to practise some chords on six strings."),
        "floor",
    ),
    ObjectType(
        "WallClock",
        "wall clock",
        ("kitchen", "living room"),
        ((0.36, 0.06, 0.36),),
        ((0x3A3D42, 0xFBFAF4), (0xC3382F, 0xFFFFFF), (OAK, 0xF4ECD8)),
        wall_clock,
        ("How late is it?", "I want to see how many minutes are left until noon."),
        "hung",
        hangs=1.85,
    ),
    ObjectType(
        "VacuumCleaner",
        "vacuum cleaner",
        BOTH,
        ((0.3, 0.36, 1.05),),
        ((0xC3382F, 0x2A2C30), (0x3F6FA8, 0x54585E), (0x6E8F3A, 0x2F3237)),
        vacuum,
        (
            "There are crumbs all over the carpet and I want them sucked up.",
            "The dust on the floor has to go, even if it is loud.",
        ),
        "floor",
    ),
    ObjectType(
        "DogBed",
        "dog bed",
        BOTH,
        ((0.7, 0.55, 0.18),),
        ((0x8A6F52, 0xE8D8C0), (0x5B7083, 0xD0DAE2), (0xA8514A, 0xF0D8D0)),
        dog_bed,
        ("Our four-legged friend wants to curl up.", "Where does the puppy nap?"),
        "floor",
    ),
    ObjectType(
        "TeddyBear",
        "teddy bear",
        BEDROOM,
        ((0.3, 0.26, 0.38),),
        ((0xA8763A, 0xE8CFA0), (0xE8D8C0, 0xFFFFFF), (0x6E5A4A, 0xC9A877)),
        teddy,
        ("The child cannot sleep without its furry friend.", "I want to cuddle something plush with round ears."),
        on=("Bed", "Dresser", "Desk"),
    ),
    ObjectType(
        "BasketBall",
        "basketball",
        BEDROOM,
        ((0.25, 0.25, 0.25),),
        ((0xD9722E, 0x2A2420), (0xB5492E, 0x202020)),
        ball_of,
        ("I want to shoot some hoops.", "Let us dribble in the yard."),
        "floor",
    ),
    ObjectType(
        "BaseballBat",
        "baseball bat",
        BEDROOM,
        ((0.1, 0.1, 0.85),),
        ((0xD9B583, 0x3A3D42), (0x8A5E36, 0x1C1D20), (0x3F6FA8, 0xF2F1EC)),
        bat,
        ("I want to hit a home run.", "The pitcher is ready and I have nothing to swing."),
        "floor",
    ),
    ObjectType(
        "TennisRacket",
        "tennis racket",
        BEDROOM,
        ((0.28, 0.06, 0.7),),
        ((0xC3382F, 0x202226), (0x3F6FA8, 0xE8E8E0), (0xE8C23A, 0x3A3D42)),
        racket,
        (
            "I booked the court for this afternoon and will serve first.",
            "I want to play over the net with a fuzzy yellow ball.",
        ),
        "hung",
        hangs=1.5,
    ),
    ObjectType(
        "Boots",
        "boots",
        ("bedroom", "living room"),
        ((0.28, 0.3, 0.3),),
        ((0x6E4A33, 0x1C1D20, 0xC9A877), (0x3F6B3A, 0x2A2A2A, 0xE8C23A), (0x26282C, 0x8A5E36, 0x54585E)),
        boots,
        ("It is muddy outside and I do not want wet feet.", "I am going for a hike and need something sturdy to wear."),
        "floor",
    ),
    ObjectType(
        "Footstool",
        "footstool",
        BOTH,
        ((0.44, 0.44, 0.4),),
        ((0x8F6C8C, 0xE8C15A), (0xC08A3E, 0x573827), (0x5E8E94, 0xF2F1EC)),
        footstool,
        ("I want to put my feet up while I sit.", "Something low and padded, only for my legs."),
        "floor",
    ),
    ObjectType(
        "Safe",
        "safe",
        BEDROOM,
        ((0.42, 0.4, 0.45),),
        ((0x4A4F57, 0x5E646C), (0x3F4B3F, 0x566656)),
        safe,
        ("I want to lock away the jewels with a combination.", "Where are the passports kept from thieves?"),
        "floor",
    ),
    ObjectType(
        "Poster",
        "poster",
        BEDROOM,
        ((0.5, 0.02, 0.7),),
        ((0x2A2F4A, 0xF2B84A, 0xD8504A), (0xF0E4C8, 0x3F8A7A, 0x2A4A5E), (0xD8607A, 0xFBE8B0, 0x4A2A5E)),
        poster,
        ("I want to see the big sheet from the concert.", "Which band does the teenager have pinned up?"),
        "hung",
        hangs=1.5,
    ),
    ObjectType(
        "SoapBottle",
        "soap bottle",
        ("bathroom", "kitchen"),
        ((0.09, 0.09, 0.22),),
        ((0x6FC0B0, 0xFFFFFF), (0xE8A0B8, 0x54585E), (0xF0C850, 0xFFFFFF)),
        soap_bottle,
        (
            "I want to press out a little foam before I rinse my hands.",
            "My fingers are greasy; water alone does not help.",
        ),
        on=("CounterTop", *WET),
    ),
    ObjectType(
        "SprayBottle",
        "spray bottle",
        ("bathroom", "kitchen"),
        ((0.1, 0.14, 0.28),),
        ((0x4F9FE8, 0xD8432F), (0x8FCF5A, 0xFFFFFF), (0xB08FD8, 0x3A3D42)),
        spray_bottle,
        ("I want to mist some cleaner on the glass.", "Something with a trigger, to wipe these stains off."),
        on=("CounterTop", *WET),
    ),
    ObjectType(
        "SoapBar",
        "soap bar",
        BATHROOM,
        ((0.13, 0.09, 0.06),),
        ((0xF0B8C8, 0xFBE4EA), (0xA8D8B8, 0xE4F4EA), (0xF4E8A8, 0xFFFFFF)),
        soap_bar,
        (
            "I want to wash with something solid that slips from the hand.",
            "It lies in a dish, smells nice and gets smaller every day.",
        ),
        on=WET,
    ),
    ObjectType(
        "Plunger",
        "plunger",
        BATHROOM,
        ((0.16, 0.16, 0.55),),
        ((0xB5493F, 0xC39A6B), (0x2F3237, 0xE8D8B0)),
        plunger,
        ("The drain is clogged and I need some suction.", "The bowl overflows; quick, something with a rubber cup."),
        "floor",
    ),
    ObjectType(
        "ScrubBrush",
        "scrub brush",
        BATHROOM,
        ((0.13, 0.13, 0.45),),
        ((0xE8E8E4, 0x8FA8B8), (0x3A3D42, 0xBFC3C8)),
        scrub_brush,
        ("I have to clean the bowl with bristles.", "It waits in a holder beside the throne."),
        "floor",
    ),
)
