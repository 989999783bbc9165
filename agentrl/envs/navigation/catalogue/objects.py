"""Types: small things of living rooms."""

from __future__ import annotations

from agentrl.envs.navigation.catalogue.object_type import ObjectType
from agentrl.envs.navigation.shapes import objects as shapes

BOTH = ("living room", "bedroom")
LIVING = ("living room",)
TABLES = ("CoffeeTable", "SideTable", "Desk", "Dresser", "DiningTable")
SHELVES = ("ShelvingUnit", "SideTable", "Dresser", "TVStand", "CoffeeTable")
WET = ("Sink", "WashingMachine", "Toilet")
OAK = 0xB98552

TYPES = (
    ObjectType(
        "Book",
        "book",
        BOTH,
        ((0.18, 0.24, 0.05),),
        ((0xA33F3A, 0xF2D9A0), (0x2F4B8E, 0xFFFFFF), (0x3F7A45, 0xF6E08A), (0x6E3F7A, 0xF0D0E0)),
        shapes.book,
        ("I feel like reading a story before I fall asleep.", "I want to turn some pages by a good author."),
        on=("Bed", "Desk", "SideTable", "CoffeeTable", "ShelvingUnit", "Sofa"),
    ),
    ObjectType(
        "RemoteControl",
        "remote control",
        LIVING,
        ((0.06, 0.2, 0.03),),
        ((0x26282C, 0xD8432F), (0xE4E4E0, 0x3F9F5A)),
        shapes.remote,
        (
            "I want to change the channel without getting up.",
            "The film is too loud and I would like to press a button.",
        ),
        on=("CoffeeTable", "Sofa", "SideTable", "TVStand"),
    ),
    ObjectType(
        "Vase",
        "vase",
        ("living room", "bedroom", "kitchen"),
        ((0.2, 0.2, 0.42),),
        ((0x4C86A8, 0xD8432F, 0xF0A0B8), (0xF1EEE4, 0xF6C945, 0xE87A3A), (0x8A5AA8, 0xFFFFFF, 0xE8A0D0)),
        shapes.vase,
        ("I picked tulips and they need something to stand in.", "I want to smell the cut flowers."),
        on=(*TABLES, "TVStand"),
    ),
    ObjectType(
        "Statue",
        "statue",
        BOTH,
        ((0.2, 0.18, 0.42),),
        ((0xE4E0D6, 0x8D8A84), (0xA8763A, 0x3A3D42), (0x6E8A7A, 0x4A4643)),
        shapes.statue,
        ("I want to look at the carved figure.", "A small sculpted person stands somewhere here."),
        on=SHELVES,
    ),
    ObjectType(
        "Box",
        "cardboard box",
        BOTH,
        ((0.42, 0.34, 0.36), (0.5, 0.4, 0.4)),
        ((0xC39A6B, 0xE8D8B0), (0xB08454, 0xD8432F)),
        shapes.carton,
        ("A parcel came and I have not unpacked it yet.", "I am moving out and must pack my things into something."),
        "floor",
    ),
    ObjectType(
        "Candle",
        "candle",
        ("living room", "bathroom", "bedroom"),
        ((0.1, 0.1, 0.22),),
        ((0xF4ECD8, 0xF8A63A), (0xC0504A, 0xF8C23A), (0x8FB0A0, 0xF8A63A)),
        shapes.candle,
        ("The power is out and a small flame would do.", "I want soft, flickering light and a little scent."),
        on=(*SHELVES, *WET),
    ),
    ObjectType(
        "TissueBox",
        "tissue box",
        ("living room", "bedroom", "bathroom"),
        ((0.24, 0.13, 0.18),),
        ((0x6FA8C8, 0xF2F2F2), (0xE8B0C0, 0xFFFFFF), (0x8FBF8A, 0xF6F0C0)),
        shapes.tissue_box,
        ("I have a cold and my nose is running.", "I must sneeze and need thin soft paper."),
        on=(*SHELVES, *WET),
    ),
    ObjectType(
        "Newspaper",
        "newspaper",
        LIVING,
        ((0.34, 0.42, 0.02),),
        ((0xE8E6DC, 0x2A2A2C), (0xEFE3CC, 0x7A2F2A)),
        shapes.newspaper,
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
        shapes.watering_can,
        ("The flowers are thirsty.", "I want to pour something over the dry soil in the pots."),
        "floor",
    ),
    ObjectType(
        "Guitar",
        "guitar",
        BOTH,
        ((0.4, 0.14, 1.0),),
        ((0xC98A3E, 0x4A3524), (0x8C2F2A, 0x3A2A20), (0x2F4B6E, 0xC9A877)),
        shapes.guitar,
        ("Let us sing a song; I will strum.", "I want to practise some chords on six strings."),
        "floor",
    ),
    ObjectType(
        "WallClock",
        "wall clock",
        ("kitchen", "living room"),
        ((0.36, 0.06, 0.36),),
        ((0x3A3D42, 0xFBFAF4), (0xC3382F, 0xFFFFFF), (OAK, 0xF4ECD8)),
        shapes.wall_clock,
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
        shapes.vacuum,
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
        shapes.dog_bed,
        ("Our four-legged friend wants to curl up.", "Where does the puppy nap?"),
        "floor",
    ),
)
