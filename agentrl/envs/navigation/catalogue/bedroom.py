"""What belongs into bedrooms and on desks: how they look, and their types."""

from __future__ import annotations

from agentrl.envs.navigation.catalogue.object_type import Look, ObjectType, Surface
from agentrl.envs.navigation.shapes import Part, ball, blob, box, disc, drawers, legs, rail, rod, slab, tilted

WALNUT = 0x6E4A33
OAK = 0xB98552
BEDROOM = ("bedroom",)
TOP = (Surface(1.0),)
PINE = 0xD9B583
WOODS = ((OAK, 0x4A4643), (WALNUT, 0xC8A15A), (0xE9E3D6, 0x8D8A84), (PINE, 0x6A5B4C))
BOTH = ("living room", "bedroom")
WHITE = 0xF4F4F0
PART_WHITE = 0xF2F1EC
DARK = 0x3A3D42
BLACK = 0x1C1D20
STEEL = 0xB9BDC2


def bed(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A bed."""
    frame, sheet, cover = look
    top = 0.5
    pillows = [
        box((x - w * 0.2, x + w * 0.2), (d / 2 - 0.48, d / 2 - 0.12), (top - 0.01, top + 0.09), PART_WHITE, "fabric")
        for x in ((-w * 0.24, w * 0.24) if w > 1.1 else (0,))
    ]
    return [
        *legs(w, d, 0.12, frame, 0.07, 0.0),
        slab(w, d, (0.12, 0.28), frame, "wood"),
        box((-w / 2 + 0.02, w / 2 - 0.02), (-d / 2 + 0.04, d / 2 - 0.06), (0.28, top - 0.03), sheet),
        box((-w / 2, w / 2), (-d / 2 + 0.02, d / 2 - 0.62), (0.24, top), cover, "fabric"),
        box((-w / 2, w / 2), (d / 2 - 0.78, d / 2 - 0.6), (0.3, top + 0.015), sheet),
        box((-w / 2, w / 2), (d / 2 - 0.06, d / 2), (0, h), frame, "wood"),
        *pillows,
    ]


def dresser(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A dresser."""
    front = -d / 2 + 0.03
    return [
        slab(w * 0.94, d * 0.8, (0, 0.07), look[1]),
        box((-w / 2, w / 2), (front, d / 2), (0.07, h - 0.03), look[0], "wood"),
        slab(w, d, (h - 0.03, h), look[0], "wood"),
        *drawers(w, front, (0.09, h - 0.05), 3, look[0], look[1], 2),
    ]


def wardrobe(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A wardrobe."""
    front = -d / 2 + 0.03
    return [
        box((-w / 2, w / 2), (front, d / 2), (0.05, h), look[0], "wood"),
        slab(w, d, (h - 0.04, h), look[0]),
        slab(w * 0.96, d * 0.9, (0, 0.05), DARK),
        *[
            box(x, (front - 0.015, front), (0.08, h - 0.06), look[0], "wood")
            for x in ((-w / 2 + 0.02, -0.005), (0.005, w / 2 - 0.02))
        ],
        *[
            box((x - 0.012, x + 0.012), (front - 0.03, front - 0.015), (h * 0.45, h * 0.58), look[1])
            for x in (-0.04, 0.04)
        ],
    ]


def desk(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A desk."""
    return [
        slab(w, d, (h - 0.03, h), look[0], "wood"),
        *legs(w, d, h - 0.03, look[1], 0.05),
        box((w / 2 - 0.42, w / 2 - 0.04), (-d / 2 + 0.05, d / 2 - 0.05), (h - 0.3, h - 0.03), look[0]),
        *[
            box((w / 2 - 0.4, w / 2 - 0.06), (-d / 2 + 0.035, -d / 2 + 0.05), (z, z + 0.11), look[0], "wood")
            for z in (h - 0.285, h - 0.16)
        ],
        *[
            box((w / 2 - 0.27, w / 2 - 0.19), (-d / 2 + 0.02, -d / 2 + 0.035), (z, z + 0.015), look[1])
            for z in (h - 0.235, h - 0.11)
        ],
    ]


def mirror(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A mirror."""
    frame, glass, shine = look
    front = -d / 2
    return [
        box((-w / 2, w / 2), (front + 0.008, d / 2), (0, h), frame),
        box((-w / 2 + 0.03, w / 2 - 0.03), (front + 0.004, front + 0.008), (0.03, h - 0.03), glass),
        tilted(box((-w * 0.03, w * 0.03), (front + 0.001, front + 0.004), (h * 0.3, h * 0.8), shine), y=35),
        tilted(box((w * 0.08, w * 0.11), (front + 0.001, front + 0.004), (h * 0.3, h * 0.7), shine), y=35),
    ]


def laundry_hamper(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A laundry hamper."""
    body, cloth, second = look
    return [
        slab(w, d, (0, h - 0.08), body, "weave"),
        slab(w + 0.0, d + 0.0, (h - 0.11, h - 0.08), 0x8A6F52),
        blob((-w * 0.15, 0, h - 0.08), (w * 0.3, d * 0.38, 0.08), cloth),
        blob((w * 0.2, -d * 0.1, h - 0.08), (w * 0.24, d * 0.3, 0.07), second),
        tilted(box((w * 0.1, w * 0.3), (-d / 2 - 0.012, -d / 2), (h * 0.55, h - 0.06), second), y=8),
    ]


def laptop(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A laptop."""
    body, screen = look
    lid = tilted(box((-w / 2, w / 2), (d * 0.32, d * 0.36), (0.02, h), body), x=-12)
    glow = tilted(box((-w * 0.46, w * 0.46), (d * 0.29, d * 0.32), (0.04, h - 0.015), screen), x=-12)
    keys = box((-w * 0.42, w * 0.42), (-d * 0.1, d * 0.22), (0.02, 0.024), 0x2A2C30)
    pad = box((-w * 0.14, w * 0.14), (-d * 0.42, -d * 0.18), (0.02, 0.023), DARK)
    return [box((-w / 2, w / 2), (-d / 2, d * 0.32), (0, 0.02), body), lid, glow, keys, pad]


def cell_phone(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A cell phone."""
    body, screen = look
    return [
        slab(w, d, (0, h - 0.002), body),
        slab(w * 0.88, d * 0.86, (h - 0.002, h), screen),
        rod(0, -d * 0.46, (h - 0.002, h), 0.004, PART_WHITE),
    ]


def alarm_clock(w: float, d: float, h: float, look: Look) -> list[Part]:
    """An alarm clock."""
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
    """A desk lamp."""
    body, bulb = look
    return [
        rod(0, d * 0.2, (0, 0.02), w * 0.45, body),
        tilted(rod(0, d * 0.2, (0.02, h * 0.62), 0.01, body), x=12),
        tilted(rod(0, d * 0.02, (h * 0.52, h * 0.98), 0.01, body), x=50),
        tilted(rod(0, -d * 0.25, (h * 0.72, h * 0.88), w * 0.36, body), x=-20),
        tilted(rod(0, -d * 0.28, (h * 0.71, h * 0.735), w * 0.3, bulb), x=-20),
    ]


def pillow(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A pillow."""
    return [
        blob((0, 0, h / 2), (w / 2, d / 2, h / 2), look[0], "fabric"),
        slab(w * 0.8, d * 0.8, (h * 0.2, h * 0.8), look[0], "fabric"),
        slab(w * 0.5, d * 0.12, (h * 0.78, h * 0.96), look[1]),
    ]


def teddy(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A teddy bear."""
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
    """A ball with these colours."""
    r = h / 2
    return [
        ball(0, 0, r, r, look[0]),
        rod(0, 0, (r - 0.004, r + 0.004), r * 1.006, look[1]),
        disc(0, (-0.004, 0.004), r, r * 1.006, look[1]),
        rail((-0.004, 0.004), 0, r, r * 1.006, look[1]),
    ]


def bat(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A baseball bat."""
    wood, grip = look
    return [
        rod(0, 0, (h * 0.42, h * 0.97), w * 0.42, wood),
        blob((0, 0, h * 0.97), (w * 0.42, w * 0.42, 0.03), wood),
        blob((0, 0, h * 0.42), (w * 0.42, w * 0.42, h * 0.12), wood),
        rod(0, 0, (0.03, h * 0.42), w * 0.2, grip),
        rod(0, 0, (0, 0.03), w * 0.34, grip),
    ]


def racket(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A racket."""
    frame, grip = look
    middle = h * 0.72
    strings = [
        box((x - 0.002, x + 0.002), (-0.004, 0.004), (middle - h * 0.2, middle + h * 0.2), PART_WHITE)
        for x in (-0.06, -0.03, 0.0, 0.03, 0.06)
    ]
    rows = [
        box((-w * 0.36, w * 0.36), (-0.004, 0.004), (middle + z - 0.002, middle + z + 0.002), PART_WHITE)
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
    """Boots."""
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
    """A footstool."""
    return [
        *[rod(x * w * 0.34, y * d * 0.34, (0, h * 0.4), 0.02, OAK) for x in (-1, 1) for y in (-1, 1)],
        rod(0, 0, (h * 0.36, h * 0.86), w / 2, look[0], "fabric"),
        blob((0, 0, h * 0.86), (w / 2, d / 2, h * 0.14), look[0], "fabric"),
        ball(0, 0, h * 0.98, 0.02, look[1]),
    ]


def safe(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A safe."""
    front = -d / 2 + 0.02
    return [
        box((-w / 2, w / 2), (front, d / 2), (0, h), look[0]),
        box((-w * 0.44, w * 0.44), (front - 0.008, front), (0.03, h - 0.03), look[1]),
        disc(-w * 0.12, (front - 0.02, front), h * 0.55, 0.06, STEEL),
        disc(-w * 0.12, (front - 0.024, front), h * 0.55, 0.02, BLACK),
        box((w * 0.16, w * 0.2), (front - 0.02, front), (h * 0.38, h * 0.7), STEEL),
    ]


def poster(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A poster."""
    paper, star, band = look
    front = -d / 2
    return [
        box((-w / 2, w / 2), (front + 0.004, d / 2), (0, h), paper),
        box((-w * 0.42, w * 0.42), (front + 0.002, front + 0.004), (h * 0.06, h * 0.2), band),
        disc(0, (front + 0.002, front + 0.004), h * 0.58, w * 0.3, star),
        tilted(box((-w * 0.34, w * 0.34), (front, front + 0.002), (h * 0.55, h * 0.61), band), y=-24),
    ]


TYPES = (
    ObjectType("Bed", "bed", BEDROOM, ((1.4, 2.0, 0.95), (1.0, 2.0, 0.9), (1.2, 1.95, 1.0)),
        ((OAK, 0xF4F1E8, 0x5E81A6), (WALNUT, 0xEDE6D6, 0xA8514A), (0xE9E3D6, 0xFAF8F2, 0x7E9A76),
         (0x4A4F57, 0xE8E6E0, 0xC9A24E)),
        bed, ("I am very tired and want to lie down until morning.", "Where does one pull up the covers and sleep?"),
        "plan", surfaces=(Surface(0.54, (-0.4, -0.4, 0.4, 0.1), 0.6),)),
    ObjectType("Dresser", "dresser", BEDROOM, ((1.0, 0.46, 0.85), (0.85, 0.45, 0.8)), WOODS, dresser,
        ("I am looking for a clean pair of socks.", "My folded sweaters are kept in wide drawers."), "wall",
        surfaces=TOP),
    ObjectType("Wardrobe", "wardrobe", BEDROOM, ((1.0, 0.58, 1.95), (0.85, 0.56, 1.9)), WOODS, wardrobe,
        ("My coats hang behind two tall doors.", "I want to hang up this suit so that it does not crease."), "wall"),
    ObjectType("Desk", "desk", BOTH, ((1.2, 0.6, 0.75), (1.05, 0.58, 0.75)), WOODS, desk,
        ("I have homework to do and want to write it sitting.",
         "I will work from home today and need my usual place for it."),
        "wall", surfaces=(Surface(1.0, (-0.45, -0.4, 0.45, 0.42)),)),
    ObjectType("Mirror", "mirror", ("bathroom", "bedroom"), ((0.6, 0.04, 0.75), (0.5, 0.04, 0.9)),
        ((0xC8A15A, 0xC9E0EA, 0xF4FAFC), (0x3A3D42, 0xBCD6E2, 0xF4FAFC), (WHITE, 0xC4DBE4, 0xF4FAFC)), mirror,
        ("I wonder whether my hair is tidy.", "I want to see my own face before I go out."), "hung", hangs=1.55),
    ObjectType("LaundryHamper", "laundry hamper", ("bathroom", "bedroom"), ((0.42, 0.36, 0.6),),
        ((0xC9A877, 0x5E81A6, 0xE3DCD0), (0xE4DCCB, 0xA8514A, 0x3F5B6E), (0x8F7350, 0xDDA63A, 0x6E7F5E)),
        laundry_hamper,
        ("These worn clothes should wait somewhere until wash day.", "Where do I drop my dirty socks?"), "floor"),
    ObjectType("Laptop", "laptop", BOTH, ((0.36, 0.28, 0.25),),
        ((0xB9BDC2, 0x5FA8E0), (0x2A2C30, 0x8FD0A0), (0xE8D8CC, 0xC88FD8)), laptop,
        ("I have to answer my e-mail.", "I want to type a letter and search the internet."),
        on=("Desk", "CoffeeTable", "Bed", "Sofa", "DiningTable")),
    ObjectType("CellPhone", "cell phone", ("living room", "bedroom", "kitchen"), ((0.09, 0.18, 0.02),),
        ((0x202226, 0x4F9FE8), (0xD86A8A, 0xF6E8EC), (0xE8E4DC, 0x54C08A)), cell_phone,
        ("I must call my mother.", "I want to send somebody a text message."),
        on=("SideTable", "CoffeeTable", "Desk", "DiningTable", "Bed", "CounterTop")),
    ObjectType("AlarmClock", "alarm clock", BEDROOM, ((0.17, 0.1, 0.2),),
        ((0xC3382F, 0xE8C15A), (0x3F7A8E, 0xD8D8D8), (0xE8A63A, 0xB08D57)), alarm_clock,
        ("Something should ring at seven so that I get up.", "I overslept yesterday and must not do it again."),
        on=("SideTable", "Dresser", "Desk")),
    ObjectType("DeskLamp", "desk lamp", BOTH, ((0.2, 0.36, 0.42),),
        ((0x2F3237, 0xFFF2B8), (0xC3382F, 0xFFF2B8), (0x3F8A7A, 0xFFF2B8)), desk_lamp,
        ("I need a small bright light to write by.", "It gets dark and I still want to read these papers."),
        on=("Desk", "SideTable", "Dresser")),
    ObjectType("Pillow", "pillow", BOTH, ((0.44, 0.4, 0.16),),
        ((0xD8A64A, 0xF6E8C8), (0x5E93A8, 0xE8F0F2), (0xC0605A, 0xF6DAD6), (0x7E9A5E, 0xEAF2DC)), pillow,
        ("I want to rest my head on something soft.", "My neck is stiff; something stuffed to lean on would help."),
        on=("Sofa", "Bed")),
    ObjectType("TeddyBear", "teddy bear", BEDROOM, ((0.3, 0.26, 0.38),),
        ((0xA8763A, 0xE8CFA0), (0xE8D8C0, 0xFFFFFF), (0x6E5A4A, 0xC9A877)), teddy,
        ("The child cannot sleep without its furry friend.", "I want to cuddle something plush with round ears."),
        on=("Bed", "Dresser", "Desk")),
    ObjectType("BasketBall", "basketball", BEDROOM, ((0.25, 0.25, 0.25),),
        ((0xD9722E, 0x2A2420), (0xB5492E, 0x202020)), ball_of,
        ("I want to shoot some hoops.", "Let us dribble in the yard."), "floor"),
    ObjectType("BaseballBat", "baseball bat", BEDROOM, ((0.1, 0.1, 0.85),),
        ((0xD9B583, 0x3A3D42), (0x8A5E36, 0x1C1D20), (0x3F6FA8, 0xF2F1EC)), bat,
        ("I want to hit a home run.", "The pitcher is ready and I have nothing to swing."), "floor"),
    ObjectType("TennisRacket", "tennis racket", BEDROOM, ((0.28, 0.06, 0.7),),
        ((0xC3382F, 0x202226), (0x3F6FA8, 0xE8E8E0), (0xE8C23A, 0x3A3D42)), racket,
        ("I booked the court for this afternoon and will serve first.",
         "I want to play over the net with a fuzzy yellow ball."),
        "hung", hangs=1.5),
    ObjectType("Boots", "boots", ("bedroom", "living room"), ((0.28, 0.3, 0.3),),
        ((0x6E4A33, 0x1C1D20, 0xC9A877), (0x3F6B3A, 0x2A2A2A, 0xE8C23A), (0x26282C, 0x8A5E36, 0x54585E)), boots,
        ("It is muddy outside and I do not want wet feet.", "I am going for a hike and need something sturdy to wear."),
        "floor"),
    ObjectType("Footstool", "footstool", BOTH, ((0.44, 0.44, 0.4),),
        ((0x8F6C8C, 0xE8C15A), (0xC08A3E, 0x573827), (0x5E8E94, 0xF2F1EC)), footstool,
        ("I want to put my feet up while I sit.", "Something low and padded, only for my legs."), "floor"),
    ObjectType("Safe", "safe", BEDROOM, ((0.42, 0.4, 0.45),), ((0x4A4F57, 0x5E646C), (0x3F4B3F, 0x566656)), safe,
        ("I want to lock away the jewels with a combination.", "Where are the passports kept from thieves?"),
        "floor"),
    ObjectType("Poster", "poster", BEDROOM, ((0.5, 0.02, 0.7),),
        ((0x2A2F4A, 0xF2B84A, 0xD8504A), (0xF0E4C8, 0x3F8A7A, 0x2A4A5E), (0xD8607A, 0xFBE8B0, 0x4A2A5E)), poster,
        ("I want to see the big sheet from the concert.", "Which band does the teenager have pinned up?"), "hung",
        hangs=1.5),
)  # fmt: skip
