"""Shapes: furniture of living rooms, and what hangs on walls."""

from __future__ import annotations

from agentrl.envs.navigation.catalogue.object_type import Look
from agentrl.envs.navigation.shapes import Part, blob, box, disc, drawers, legs, rod, slab, tilted

DARK = 0x3A3D42


def sofa(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A sofa."""
    body, cushion, leg = look
    arm, seat = 0.17, 0.42
    inner = w / 2 - arm
    count = max(1, round(2 * inner / 0.65))
    wide = 2 * inner / count
    cushions = []
    for n in range(count):
        x = -inner + n * wide + 0.008, -inner + (n + 1) * wide - 0.008
        cushions.append(box(x, (-d / 2 + 0.02, d / 2 - 0.22), (seat - 0.13, seat), cushion, "fabric"))
        cushions.append(tilted(box(x, (d / 2 - 0.3, d / 2 - 0.17), (seat + 0.0, h - 0.04), cushion, "fabric"), x=-8))
    return [
        *legs(w, d, 0.08, leg, 0.05),
        slab(w - 0.04, d - 0.04, (0.08, seat - 0.13), body, "fabric"),
        box((-w / 2, w / 2), (d / 2 - 0.2, d / 2), (0.08, h), body, "fabric"),
        *[
            box((x - arm / 2, x + arm / 2), (-d / 2, d / 2), (0.08, 0.56), body, "fabric")
            for x in (-w / 2 + arm / 2, w / 2 - arm / 2)
        ],
        *[
            Part("cylinder", (x, 0, 0.56), (arm / 2, arm / 2, d / 2), body, "fabric", (90, 0, 0))
            for x in (-w / 2 + arm / 2, w / 2 - arm / 2)
        ],
        *cushions,
    ]


def coffee_table(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A coffee table."""
    return [
        slab(w, d, (h - 0.04, h), look[0], "wood"),
        *legs(w, d, h - 0.04, look[1], 0.05),
        slab(w - 0.12, d - 0.12, (0.12, 0.14), look[0], "wood"),
    ]


def tv_stand(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A TV stand."""
    front = -d / 2 + 0.03
    return [
        slab(w * 0.92, d * 0.7, (0, 0.06), DARK),
        box((-w / 2, w / 2), (front, d / 2), (0.06, h), look[0], "wood"),
        *drawers(w, front, (0.08, h - 0.03), 1, look[0], look[1], 3),
    ]


def television(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A television."""
    frame, screen, glow = look
    return [
        slab(w * 0.4, d, (0, 0.015), frame),
        box((-0.04, 0.04), (0, 0.03), (0.015, 0.1), frame),
        box((-w / 2, w / 2), (-0.02, 0.03), (0.07, h), frame),
        box((-w / 2 + 0.02, w / 2 - 0.02), (-0.024, -0.02), (0.09, h - 0.02), screen),
        box((-w / 2 + 0.02, w / 2 - 0.02), (-0.026, -0.024), (0.09, 0.09 + h * 0.25), glow),
        disc(w * 0.22, (-0.027, -0.024), h * 0.68, h * 0.1, 0xF6D860),
    ]


def shelving_unit(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A shelving unit."""
    wood = look[0]
    side = 0.03
    return [
        box((-w / 2, -w / 2 + side), (-d / 2, d / 2), (0, h), wood, "wood"),
        box((w / 2 - side, w / 2), (-d / 2, d / 2), (0, h), wood, "wood"),
        box((-w / 2, w / 2), (d / 2 - 0.02, d / 2), (0, h), look[1]),
        *[
            box((-w / 2, w / 2), (-d / 2, d / 2), (h * s - side, h * s), wood, "wood")
            for s in (0.06, 0.29, 0.52, 0.75, 1.0)
        ],
        *[
            box(
                (-w * 0.45 + n * 0.045, -w * 0.45 + n * 0.045 + 0.035),
                (-d * 0.2, d * 0.4),
                (h * 0.06, h * 0.06 + 0.2 + 0.03 * (n % 3)),
                c,
            )
            for n, c in enumerate((0xA33F3A, 0x3F6B75, 0xD8A64A, 0x5C7A4F, 0x7A4F7A, 0xC9BFAE))
        ],
        *[
            box(
                (w * 0.1 + n * 0.05, w * 0.1 + n * 0.05 + 0.04),
                (-d * 0.2, d * 0.4),
                (h * 0.75, h * 0.75 + 0.18 + 0.03 * (n % 2)),
                c,
            )
            for n, c in enumerate((0x2F4B6E, 0xB9683C, 0xDDD6C2, 0x6E2F3A))
        ],
    ]


def side_table(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A side table."""
    front = -d / 2 + 0.02
    return [
        *legs(w, d, h * 0.5, look[0], 0.04, 0.0),
        box((-w / 2, w / 2), (front, d / 2), (h * 0.5, h - 0.03), look[0]),
        slab(w, d, (h - 0.03, h), look[0], "wood"),
        *drawers(w, front, (h * 0.52, h - 0.04), 1, look[0], look[1]),
    ]


def floor_lamp(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A floor lamp."""
    pole, shade = look
    return [
        rod(0, 0, (0, 0.03), w * 0.36, pole),
        rod(0, 0, (0.03, h - 0.2), 0.015, pole),
        rod(0, 0, (h - 0.3, h - 0.2), w / 2, shade),
        rod(0, 0, (h - 0.2, h - 0.1), w * 0.44, shade),
        rod(0, 0, (h - 0.1, h), w * 0.38, shade),
        rod(0, 0, (h - 0.301, h - 0.299), w * 0.42, 0xFFF6D8),
    ]


def house_plant(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A house plant."""
    pot, leaf, light = look
    high = h * 0.3
    leaves = [
        tilted(
            blob((x * w * 0.22, y * d * 0.22, high + h * z), (0.045 + 0.1 * w, 0.03, h * 0.24), c), y=28 * x, x=-28 * y
        )
        for x, y, z, c in (
            (-1, 0, 0.32, leaf),
            (1, 0, 0.32, light),
            (0, -1, 0.3, light),
            (0, 1, 0.34, leaf),
            (-0.7, -0.7, 0.26, light),
            (0.7, 0.7, 0.28, leaf),
            (0.7, -0.7, 0.24, leaf),
            (-0.7, 0.7, 0.3, light),
            (0, 0, 0.42, leaf),
        )
    ]
    return [
        rod(0, 0, (0, high * 0.75), w * 0.3, pot),
        rod(0, 0, (high * 0.75, high), w * 0.36, pot),
        rod(0, 0, (high, high + 0.005), w * 0.3, 0x4A3524),
        *leaves,
    ]


def painting(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A painting."""
    frame, sky, land, spot = look
    back, front = (-d / 2 + 0.01, d / 2), -d / 2
    return [
        box((-w / 2, w / 2), back, (0, h), frame, "wood"),
        box((-w / 2 + 0.04, w / 2 - 0.04), (front + 0.006, front + 0.01), (0.04, h - 0.04), sky),
        box((-w / 2 + 0.04, w / 2 - 0.04), (front + 0.004, front + 0.006), (0.04, h * 0.42), land),
        disc(w * 0.2, (front + 0.002, front + 0.006), h * 0.68, min(w, h) * 0.1, spot),
        tilted(box((-w * 0.26, -w * 0.02), (front + 0.003, front + 0.006), (h * 0.32, h * 0.52), land), y=45),
    ]


def rug(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A rug."""
    outer, inner, line = look
    return [
        slab(w, d, (0, h * 0.7), outer, "fabric"),
        slab(w * 0.88, d * 0.84, (h * 0.7, h * 0.8), line, "fabric"),
        slab(w * 0.82, d * 0.76, (h * 0.8, h * 0.9), inner, "fabric"),
        tilted(slab(min(w, d) * 0.4, min(w, d) * 0.4, (h * 0.9, h), line, "fabric"), z=45),
    ]


def window(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A window."""
    frame, sky, land = look
    front, back = -d / 2, d / 2
    return [
        box((-w / 2, w / 2), (back - 0.02, back), (0.05, h), sky),
        box((-w / 2, w / 2), (back - 0.022, back - 0.02), (0.05, h * 0.34), land),
        blob((w * 0.22, back - 0.022, h * 0.36), (w * 0.12, 0.002, h * 0.14), 0x5F8F58),
        blob((-w * 0.2, back - 0.022, h * 0.76), (w * 0.16, 0.002, h * 0.05), 0xFFFFFF),
        *[box((x - 0.03, x + 0.03), (front + 0.02, back), (0.05, h), frame) for x in (-w / 2 + 0.03, 0, w / 2 - 0.03)],
        *[box((-w / 2, w / 2), (front + 0.02, back), (z, z + 0.05), frame) for z in (0.03, h * 0.55, h - 0.05)],
        box((-w / 2 - 0.04, w / 2 + 0.04), (front, back), (0, 0.04), frame),
    ]
