"""Small things of living rooms: how they look, and their types."""

from __future__ import annotations

from agentrl.envs.navigation.catalogue.object_type import Look, ObjectType
from agentrl.envs.navigation.shapes import Part, ball, blob, box, disc, rail, rod, slab, tilted

BOTH = ("living room", "bedroom")
LIVING = ("living room",)
TABLES = ("CoffeeTable", "SideTable", "Desk", "Dresser", "DiningTable")
SHELVES = ("ShelvingUnit", "SideTable", "Dresser", "TVStand", "CoffeeTable")
WET = ("Sink", "WashingMachine", "Toilet")
OAK = 0xB98552
BLACK = 0x1C1D20
DARK = 0x3A3D42
WHITE = 0xF2F1EC
STEEL = 0xB9BDC2


def book(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A book."""
    cover, title = look
    return [
        slab(w, d, (0, 0.008), cover),
        slab(w * 0.96, d * 0.96, (0.008, h - 0.008), 0xF5F0E0),
        slab(w, d, (h - 0.008, h - 0.001), cover),
        box((-w / 2, -w / 2 + 0.008), (-d / 2, d / 2), (0, h - 0.001), cover),
        box((-w * 0.3, w * 0.3), (d * 0.1, d * 0.3), (h - 0.001, h), title),
    ]


def remote(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A remote control."""
    body, power = look
    buttons = [
        rod(x * w * 0.28, y * d * 0.1, (h - 0.004, h), 0.007, 0xD8D8D8) for x in (-1, 0, 1) for y in (-3, -2, -1, 0, 1)
    ]
    return [slab(w, d, (0, h - 0.004), body), rod(0, d * 0.4, (h - 0.004, h), 0.011, power), *buttons]


def vase(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A vase."""
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
    """A statue."""
    stone, base = look
    return [
        slab(w, d, (0, h * 0.14), base),
        blob((0, 0, h * 0.4), (w * 0.32, d * 0.26, h * 0.27), stone),
        blob((0, 0, h * 0.62), (w * 0.42, d * 0.24, h * 0.1), stone),
        rod(0, 0, (h * 0.66, h * 0.78), w * 0.12, stone),
        blob((0, 0, h * 0.87), (w * 0.21, d * 0.24, h * 0.13), stone),
        box((-0.012, 0.012), (-d * 0.3, -d * 0.2), (h * 0.82, h * 0.89), stone),
    ]


def carton(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A carton."""
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
    """A candle."""
    return [
        rod(0, 0, (0, 0.015), w / 2, 0xB08D57),
        rod(0, 0, (0.015, h * 0.72), w * 0.32, look[0]),
        rod(0, 0, (h * 0.72, h * 0.8), 0.004, BLACK),
        blob((0, 0, h * 0.88), (0.012, 0.012, h * 0.12), look[1]),
    ]


def tissue_box(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A tissue box."""
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
    """A newspaper."""
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
    """A watering can."""
    body = look[0]
    return [
        rod(0, 0, (0, h * 0.62), d * 0.46, body),
        tilted(rod(-w * 0.34, 0, (h * 0.18, h * 0.92), 0.016, body), y=-38),
        tilted(rod(-w * 0.47, 0, (h * 0.84, h * 0.88), 0.04, STEEL), y=-38),
        rail((0, w * 0.4), 0, h * 0.92, 0.012, look[1]),
        rod(w * 0.4, 0, (h * 0.3, h * 0.93), 0.012, look[1]),
        rod(0, 0, (h * 0.6, h * 0.93), 0.012, look[1]),
    ]


def guitar(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A guitar."""
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


def wall_clock(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A wall clock."""
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


def vacuum(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A vacuum cleaner."""
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
    """A dog bed."""
    rim, inside = look
    return [
        slab(w * 0.9, d * 0.9, (0, h * 0.4), inside, "fabric"),
        *[Part("ellipsoid", (0, y * d * 0.38, h * 0.5), (w * 0.5, d * 0.12, h * 0.5), rim, "fabric") for y in (-1, 1)],
        *[Part("ellipsoid", (x * w * 0.4, 0, h * 0.5), (w * 0.1, d * 0.5, h * 0.5), rim, "fabric") for x in (-1, 1)],
        tilted(box((-0.09, 0.09), (-0.02, 0.02), (h * 0.4, h * 0.6), WHITE), z=25),
    ]


TYPES = (
    ObjectType("Book", "book", BOTH, ((0.18, 0.24, 0.05),),
        ((0xA33F3A, 0xF2D9A0), (0x2F4B8E, 0xFFFFFF), (0x3F7A45, 0xF6E08A), (0x6E3F7A, 0xF0D0E0)), book,
        ("I feel like reading a story before I fall asleep.", "I want to turn some pages by a good author."),
        on=("Bed", "Desk", "SideTable", "CoffeeTable", "ShelvingUnit", "Sofa")),
    ObjectType("RemoteControl", "remote control", LIVING, ((0.06, 0.2, 0.03),),
        ((0x26282C, 0xD8432F), (0xE4E4E0, 0x3F9F5A)), remote,
        ("I want to change the channel without getting up.",
         "The film is too loud and I would like to press a button."),
        on=("CoffeeTable", "Sofa", "SideTable", "TVStand")),
    ObjectType("Vase", "vase", ("living room", "bedroom", "kitchen"), ((0.2, 0.2, 0.42),),
        ((0x4C86A8, 0xD8432F, 0xF0A0B8), (0xF1EEE4, 0xF6C945, 0xE87A3A), (0x8A5AA8, 0xFFFFFF, 0xE8A0D0)), vase,
        ("I picked tulips and they need something to stand in.", "I want to smell the cut flowers."),
        on=(*TABLES, "TVStand")),
    ObjectType("Statue", "statue", BOTH, ((0.2, 0.18, 0.42),),
        ((0xE4E0D6, 0x8D8A84), (0xA8763A, 0x3A3D42), (0x6E8A7A, 0x4A4643)), statue,
        ("I want to look at the carved figure.", "A small sculpted person stands somewhere here."), on=SHELVES),
    ObjectType("Box", "cardboard box", BOTH, ((0.42, 0.34, 0.36), (0.5, 0.4, 0.4)),
        ((0xC39A6B, 0xE8D8B0), (0xB08454, 0xD8432F)), carton,
        ("A parcel came and I have not unpacked it yet.", "I am moving out and must pack my things into something."),
        "floor"),
    ObjectType("Candle", "candle", ("living room", "bathroom", "bedroom"), ((0.1, 0.1, 0.22),),
        ((0xF4ECD8, 0xF8A63A), (0xC0504A, 0xF8C23A), (0x8FB0A0, 0xF8A63A)), candle,
        ("The power is out and a small flame would do.", "I want soft, flickering light and a little scent."),
        on=(*SHELVES, *WET)),
    ObjectType("TissueBox", "tissue box", ("living room", "bedroom", "bathroom"), ((0.24, 0.13, 0.18),),
        ((0x6FA8C8, 0xF2F2F2), (0xE8B0C0, 0xFFFFFF), (0x8FBF8A, 0xF6F0C0)), tissue_box,
        ("I have a cold and my nose is running.", "I must sneeze and need thin soft paper."), on=(*SHELVES, *WET)),
    ObjectType("Newspaper", "newspaper", LIVING, ((0.34, 0.42, 0.02),), ((0xE8E6DC, 0x2A2A2C), (0xEFE3CC, 0x7A2F2A)),
        newspaper,
        ("I want to read what happened in the world yesterday, on paper.",
         "I would like to do the crossword with my morning coffee."),
        on=("CoffeeTable", "Sofa", "DiningTable")),
    ObjectType("WateringCan", "watering can", LIVING, ((0.4, 0.2, 0.32),),
        ((0x5E9B55, 0x3F6B3A), (0xD8A63A, 0x8A6A2A), (0x6E8FB0, 0x3F5B7A)), watering_can,
        ("The flowers are thirsty.", "I want to pour something over the dry soil in the pots."), "floor"),
    ObjectType("Guitar", "guitar", BOTH, ((0.4, 0.14, 1.0),),
        ((0xC98A3E, 0x4A3524), (0x8C2F2A, 0x3A2A20), (0x2F4B6E, 0xC9A877)), guitar,
        ("Let us sing a song; I will strum.", "I want to practise some chords on six strings."), "floor"),
    ObjectType("WallClock", "wall clock", ("kitchen", "living room"), ((0.36, 0.06, 0.36),),
        ((0x3A3D42, 0xFBFAF4), (0xC3382F, 0xFFFFFF), (OAK, 0xF4ECD8)), wall_clock,
        ("How late is it?", "I want to see how many minutes are left until noon."), "hung", hangs=1.85),
    ObjectType("VacuumCleaner", "vacuum cleaner", BOTH, ((0.3, 0.36, 1.05),),
        ((0xC3382F, 0x2A2C30), (0x3F6FA8, 0x54585E), (0x6E8F3A, 0x2F3237)), vacuum,
        ("There are crumbs all over the carpet and I want them sucked up.",
         "The dust on the floor has to go, even if it is loud."),
        "floor"),
    ObjectType("DogBed", "dog bed", BOTH, ((0.7, 0.55, 0.18),),
        ((0x8A6F52, 0xE8D8C0), (0x5B7083, 0xD0DAE2), (0xA8514A, 0xF0D8D0)), dog_bed,
        ("Our four-legged friend wants to curl up.", "Where does the puppy nap?"), "floor"),
)  # fmt: skip
