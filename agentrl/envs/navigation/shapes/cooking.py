"""Shapes: tools for cooking and washing up."""

from __future__ import annotations

from agentrl.envs.navigation.catalogue.object_type import Look
from agentrl.envs.navigation.shapes import Part, ball, blob, box, disc, glassy, rod, slab, tilted

BLACK = 0x202226
STEEL = 0xC4C8CC
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
