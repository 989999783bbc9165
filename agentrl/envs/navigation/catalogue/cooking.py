"""Types: tools for cooking and washing up."""

from __future__ import annotations

from agentrl.envs.navigation.catalogue.object_type import ObjectType
from agentrl.envs.navigation.shapes import cooking as shapes

COOKING = ("CounterTop", "Stove")
STEEL = 0xC4C8CC
KITCHEN = ("kitchen",)
BOARDS = ("CounterTop", "DiningTable")

TYPES = (
    ObjectType(
        "Pan",
        "pan",
        KITCHEN,
        ((0.46, 0.28, 0.06),),
        ((0x2F3237, 0x4A4F57), (0xB5493F, 0x3A3D42), (STEEL, 0x9AA0A6)),
        shapes.pan,
        ("I would like to make pancakes and need something flat with a handle.", "I want to sear a steak in it."),
        on=COOKING,
    ),
    ObjectType(
        "Pot",
        "pot",
        KITCHEN,
        ((0.34, 0.26, 0.24),),
        ((STEEL, 0xAEB4BA), (0xC8452F, 0xC8452F), (0x3F6B8E, 0x3F6B8E)),
        shapes.pot,
        ("I want to cook spaghetti for five.", "A whole chicken soup should fit in it."),
        on=COOKING,
    ),
    ObjectType(
        "PaperTowelRoll",
        "paper towel roll",
        KITCHEN,
        ((0.15, 0.15, 0.3),),
        ((0xFBFAF6, 0xB98552), (0xE8F0F4, STEEL)),
        shapes.paper_towel,
        (
            "I spilled some milk and want to tear off a sheet to wipe it.",
            "Something that soaks up oil and is thrown away afterwards.",
        ),
        on=("CounterTop",),
    ),
    ObjectType(
        "DishSponge",
        "dish sponge",
        KITCHEN,
        ((0.13, 0.09, 0.05),),
        ((0xF2D23A, 0x3F8A45), (0xF09AB0, 0x3F6FA8)),
        shapes.sponge,
        ("The greasy plates have to be scrubbed by hand.", "Something soft with a rough side, to do the washing-up."),
        on=("CounterTop", "Sink"),
    ),
    ObjectType(
        "KnifeBlock",
        "knife block",
        KITCHEN,
        ((0.14, 0.2, 0.32),),
        ((0xB98552, 0), (0x573827, 0), (0x3A3D42, 0)),
        shapes.knife_block,
        ("I need something sharp to carve the roast.", "All the blades stand in one place."),
        on=("CounterTop",),
    ),
    ObjectType(
        "CuttingBoard",
        "cutting board",
        KITCHEN,
        ((0.38, 0.25, 0.04),),
        ((0xD9B583, 0xD8321E), (0x8A5E36, 0xF0A030)),
        shapes.cutting_board,
        ("I want to slice carrots without scratching the top.", "Something wooden and flat to chop on."),
        on=BOARDS,
    ),
    ObjectType(
        "Blender",
        "blender",
        KITCHEN,
        ((0.2, 0.2, 0.4),),
        ((0x3A3D42, 0xD85A7A), (0xC8342A, 0xF0B83A), (0xE8E4DC, 0x8FBF5A)),
        shapes.blender,
        ("I want to mix a smoothie of berries.", "Ice and fruit have to be crushed loudly in a jar."),
        on=("CounterTop",),
    ),
)
