"""Tools for cooking and washing up: how they look, and their types."""

from __future__ import annotations

from agentrl.envs.navigation.catalogue.object_type import Look, ObjectType
from agentrl.envs.navigation.shapes import Part, ball, blob, box, disc, glassy, rod, slab, tilted

COOKING = ("CounterTop", "Stove")
STEEL = 0xC4C8CC
KITCHEN = ("kitchen",)
BOARDS = ("CounterTop", "DiningTable")
BLACK = 0x202226
DARK = 0x3A3D42


def pan(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A pan."""
    metal, inside = look
    r = d / 2
    x = -w / 2 + r
    return [
        rod(x, 0, (0, h), r, metal),
        rod(x, 0, (h, h + 0.002), r * 0.9, inside),
        box((x + r, w / 2), (-0.014, 0.014), (h * 0.55, h * 0.9), BLACK),
    ]


def pot(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A pot."""
    body, lid = look
    r = d / 2
    return [
        rod(0, 0, (0, h * 0.74), r, body),
        rod(0, 0, (h * 0.74, h * 0.79), r * 1.03, STEEL),
        blob((0, 0, h * 0.79), (r * 0.98, r * 0.98, h * 0.12), lid),
        ball(0, 0, h * 0.94, 0.02, BLACK),
        *[box((x - 0.03, x + 0.03), (-0.03, 0.03), (h * 0.55, h * 0.62), BLACK) for x in (-w / 2 + 0.02, w / 2 - 0.02)],
    ]


def paper_towel(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A roll of paper towels."""
    return [
        rod(0, 0, (0, 0.015), w / 2, look[1]),
        rod(0, 0, (0.015, h * 0.88), w * 0.42, look[0]),
        rod(0, 0, (h * 0.88, h), 0.012, look[1]),
        rod(0, 0, (h * 0.88, h * 0.882), w * 0.15, 0xB08D57),
        box((w * 0.2, w * 0.44), (-w * 0.42, -w * 0.36), (0.03, h * 0.88), look[0]),
    ]


def sponge(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A sponge."""
    return [slab(w, d, (0, h * 0.7), look[0], "stone"), slab(w, d, (h * 0.7, h), look[1])]


def knife_block(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A knife block."""
    handles = [
        tilted(box((x - 0.012, x + 0.012), (y - 0.01, y + 0.01), (h * 0.72, h), BLACK), x=-14)
        for x in (-0.035, 0.0, 0.035)
        for y in (-0.01, 0.04)
    ]
    return [
        tilted(box((-w / 2, w / 2), (-d * 0.36, d * 0.36), (0.02, h * 0.78), look[0], "wood"), x=-14),
        slab(w, d, (0, 0.03), look[0], "wood"),
        *handles,
    ]


def cutting_board(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A cutting board."""
    slices = [rod(x, -0.02, (h * 0.6, h), 0.03, look[1]) for x in (0.0, 0.05, 0.1)]
    return [slab(w, d, (0, h * 0.6), look[0], "wood"), rod(-w * 0.42, 0, (h * 0.6, h * 0.63), 0.018, DARK), *slices]


def blender(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A blender."""
    base, juice = look
    return [
        slab(w * 0.9, d * 0.9, (0, h * 0.28), base),
        disc(0, (-d * 0.47, -d * 0.44), h * 0.14, 0.025, STEEL),
        rod(0, 0, (h * 0.28, h * 0.66), w * 0.32, juice),
        glassy(rod(0, 0, (h * 0.28, h * 0.9), w * 0.38, 0xD8ECF0)),
        rod(0, 0, (h * 0.9, h * 0.96), w * 0.4, base),
        rod(0, 0, (h * 0.96, h), w * 0.15, BLACK),
        box((w * 0.38, w * 0.5), (-0.012, 0.012), (h * 0.42, h * 0.84), base),
    ]


TYPES = (
    ObjectType("Pan", "pan", KITCHEN, ((0.46, 0.28, 0.06),),
        ((0x2F3237, 0x4A4F57), (0xB5493F, 0x3A3D42), (STEEL, 0x9AA0A6)), pan,
        ("I would like to make pancakes and need something flat with a handle.", "I want to sear a steak in it."),
        on=COOKING),
    ObjectType("Pot", "pot", KITCHEN, ((0.34, 0.26, 0.24),),
        ((STEEL, 0xAEB4BA), (0xC8452F, 0xC8452F), (0x3F6B8E, 0x3F6B8E)), pot,
        ("I want to cook spaghetti for five.", "A whole chicken soup should fit in it."), on=COOKING),
    ObjectType("PaperTowelRoll", "paper towel roll", KITCHEN, ((0.15, 0.15, 0.3),),
        ((0xFBFAF6, 0xB98552), (0xE8F0F4, STEEL)), paper_towel,
        ("I spilled some milk and want to tear off a sheet to wipe it.",
         "Something that soaks up oil and is thrown away afterwards."),
        on=("CounterTop",)),
    ObjectType("DishSponge", "dish sponge", KITCHEN, ((0.13, 0.09, 0.05),),
        ((0xF2D23A, 0x3F8A45), (0xF09AB0, 0x3F6FA8)), sponge,
        ("The greasy plates have to be scrubbed by hand.", "Something soft with a rough side, to do the washing-up."),
        on=("CounterTop", "Sink")),
    ObjectType("KnifeBlock", "knife block", KITCHEN, ((0.14, 0.2, 0.32),),
        ((0xB98552, 0), (0x573827, 0), (0x3A3D42, 0)), knife_block,
        ("I need something sharp to carve the roast.", "All the blades stand in one place."), on=("CounterTop",)),
    ObjectType("CuttingBoard", "cutting board", KITCHEN, ((0.38, 0.25, 0.04),),
        ((0xD9B583, 0xD8321E), (0x8A5E36, 0xF0A030)), cutting_board,
        ("I want to slice carrots without scratching the top.", "Something wooden and flat to chop on."), on=BOARDS),
    ObjectType("Blender", "blender", KITCHEN, ((0.2, 0.2, 0.4),),
        ((0x3A3D42, 0xD85A7A), (0xC8342A, 0xF0B83A), (0xE8E4DC, 0x8FBF5A)), blender,
        ("I want to mix a smoothie of berries.", "Ice and fruit have to be crushed loudly in a jar."),
        on=("CounterTop",)),
)  # fmt: skip
