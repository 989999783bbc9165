"""Types: furniture of living rooms, and what hangs on walls."""

from __future__ import annotations

from agentrl.envs.navigation.catalogue.object_type import ObjectType, Surface
from agentrl.envs.navigation.shapes import living as shapes

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

TYPES = (
    ObjectType(
        "Sofa",
        "sofa",
        LIVING,
        ((1.9, 0.88, 0.86), (1.6, 0.85, 0.84)),
        (
            (0x5B7083, 0x6C8398, DARK),
            (0xB5A48B, 0xC8B9A2, WALNUT),
            (0x8C4A3F, 0xA35A4D, BLACK),
            (0x5F7A5C, 0x73906F, OAK),
        ),
        shapes.sofa,
        ("I want to stretch out and watch a film with two friends.", "Where can three people sit down softly?"),
        "plan",
        surfaces=SEATS,
    ),
    ObjectType(
        "ArmChair",
        "armchair",
        BOTH,
        ((0.86, 0.82, 0.86),),
        (
            (0xC08A3E, 0xD39C4E, WALNUT),
            (0x7B5A78, 0x8F6C8C, DARK),
            (0x4C7A80, 0x5E8E94, OAK),
            (0xB9B2A6, 0xCBC5BA, BLACK),
        ),
        shapes.sofa,
        ("I want to sink into a soft seat for one and read.", "Grandfather likes his own padded seat with armrests."),
        "wall",
    ),
    ObjectType(
        "CoffeeTable",
        "coffee table",
        LIVING,
        ((0.9, 0.5, 0.42), (0.7, 0.5, 0.4)),
        WOODS,
        shapes.coffee_table,
        (
            "I would like to put the magazines down in front of where we sit.",
            "Something low, in front of the seats, to set down the snacks.",
        ),
        "plan",
        surfaces=TOP,
    ),
    ObjectType(
        "TVStand",
        "TV stand",
        LIVING,
        ((1.4, 0.42, 0.5), (1.1, 0.4, 0.48)),
        WOODS,
        shapes.tv_stand,
        ("The low cupboard under the screen is what I need.", "Where are the game console and its cables kept?"),
        "plan",
        surfaces=(Surface(1.0, (-0.46, -0.44, 0.46, 0.1)),),
    ),
    ObjectType(
        "Television",
        "television",
        BOTH,
        ((1.0, 0.22, 0.66), (0.85, 0.2, 0.58)),
        ((BLACK, 0x3D6FA8, 0x3F7F4C), (0x2C2F33, 0x8A4F86, 0x2F4F7A), (BLACK, 0xD98A4E, 0x4A5A3C)),
        shapes.television,
        ("I want to see the evening news.", "The match starts soon and I do not want to miss it."),
        "plan",
    ),
    ObjectType(
        "ShelvingUnit",
        "shelving unit",
        BOTH,
        ((0.9, 0.34, 1.8), (0.75, 0.32, 1.6)),
        WOODS,
        shapes.shelving_unit,
        ("I am looking for something to read among rows of spines.", "Where do all the novels stand in rows?"),
        "wall",
        surfaces=SHELVES,
    ),
    ObjectType(
        "SideTable",
        "side table",
        BOTH,
        ((0.45, 0.4, 0.55), (0.5, 0.42, 0.6)),
        WOODS,
        shapes.side_table,
        (
            "I want a small stand next to where I rest, for my glasses.",
            "Somewhere beside the pillow to leave things at night.",
        ),
        "wall",
        surfaces=TOP,
    ),
    ObjectType(
        "FloorLamp",
        "floor lamp",
        BOTH,
        ((0.42, 0.42, 1.6),),
        ((0x2F3237, 0xF3E3B3), (0xB08D57, 0xF6F0E0), (0x8B8F94, 0xE3A08A)),
        shapes.floor_lamp,
        ("It is too dark in this corner; something tall should shine.", "I need a tall light that stands by itself."),
        "corner",
    ),
    ObjectType(
        "HousePlant",
        "house plant",
        ("living room", "bedroom", "kitchen", "bathroom"),
        ((0.42, 0.42, 0.85), (0.5, 0.5, 1.1)),
        ((0xB5653F, 0x3F7A45, 0x5E9B55), (0xEDE8DC, 0x2F6B4A, 0x4C8F68), (0x4F5B66, 0x557F3A, 0x7FA856)),
        shapes.house_plant,
        ("Something green here needs water.", "I want to look at leaves and smell fresh soil."),
        "corner",
    ),
    ObjectType(
        "Painting",
        "painting",
        BOTH,
        ((0.8, 0.05, 0.55), (0.5, 0.05, 0.65)),
        (
            (OAK, 0xBFD9E8, 0x5F8F58, 0xF4C542),
            (BLACK, 0xF0C8A0, 0x7A4F5E, 0xE8563F),
            (0xC8A15A, 0x33466E, 0x1F2A44, 0xF2EFD8),
        ),
        shapes.painting,
        ("I would like to admire a landscape in a frame.", "Show me some art on the wall."),
        "hung",
        hangs=1.55,
    ),
    ObjectType(
        "Rug",
        "rug",
        ("living room", "bedroom", "bathroom"),
        ((1.7, 1.2, 0.02), (1.3, 0.9, 0.02), (0.8, 0.5, 0.02)),
        (
            (0xA33F3A, 0xC9A57A, 0x3B2A3A),
            (0x3F5B7A, 0xB8C4CC, 0xE8E0D0),
            (0x6E7F5E, 0xD8D2BC, 0x4A5A3C),
            (0xC8B9A2, 0xEDE6D6, 0x8A6F52),
        ),
        shapes.rug,
        ("My bare feet are cold on this floor.", "I would like to feel something soft and woven under my toes."),
        "plan",
    ),
    ObjectType(
        "Window",
        "window",
        ("kitchen", "living room", "bedroom", "bathroom"),
        ((1.1, 0.08, 1.1), (0.8, 0.08, 1.1), (0.5, 0.08, 0.7)),
        ((WHITE, 0xA9D3F0, 0x8DB87A), (0x8A5E36, 0xBFDDF2, 0x9CC48A)),
        shapes.window,
        ("I want to see what the weather is like outside.", "Let some daylight and fresh air in."),
        "plan",
        hangs=1.5,
    ),
)
