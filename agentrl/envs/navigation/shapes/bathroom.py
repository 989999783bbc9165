"""Shapes: what belongs into bathrooms."""

from __future__ import annotations

from agentrl.envs.navigation.catalogue.object_type import Look
from agentrl.envs.navigation.shapes import Part, ball, blob, box, glassy, rail, rod, slab, tilted

STEEL = 0xC4C8CC
WHITE = 0xF2F1EC


def toilet(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A toilet."""
    body, lid = look
    front = -d / 2
    return [
        box((-w / 2, w / 2), (d / 2 - 0.18, d / 2), (0.36, h - 0.04), body),
        box((-w / 2 - 0.01, w / 2 + 0.01), (d / 2 - 0.2, d / 2), (h - 0.04, h), body),
        box((-0.03, 0.03), (d / 2 - 0.21, d / 2 - 0.18), (h - 0.13, h - 0.1), STEEL),
        blob((0, front + 0.27, 0.28), (w / 2, 0.27, 0.14), body),
        rod(0, front + 0.3, (0, 0.25), w * 0.3, body),
        box((-w * 0.3, w * 0.3), (front + 0.3, d / 2 - 0.05), (0, 0.36), body),
        blob((0, front + 0.25, 0.4), (w / 2, 0.25, 0.03), lid),
        blob((0, front + 0.25, 0.425), (w * 0.3, 0.15, 0.012), 0x9FC4D6),
        tilted(box((-w * 0.42, w * 0.42), (d / 2 - 0.235, d / 2 - 0.205), (0.42, 0.8), lid), x=-6),
    ]


def bathtub(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A bathtub."""
    body, water = look
    h -= 0.16  # the tap stands above the rim
    rim = 0.08
    return [
        box((-w / 2, w / 2), (-d / 2, -d / 2 + rim), (0, h), body),
        box((-w / 2, w / 2), (d / 2 - rim, d / 2), (0, h), body),
        box((-w / 2, -w / 2 + rim), (-d / 2, d / 2), (0, h), body),
        box((w / 2 - rim * 1.5, w / 2), (-d / 2, d / 2), (0, h), body),
        slab(w - 0.1, d - 0.1, (0, h * 0.3), body),
        slab(w - 0.1, d - 0.1, (h * 0.3, h * 0.7), water),
        rod(w / 2 - 0.06, 0, (h, h + 0.14), 0.02, STEEL),
        box((w / 2 - 0.2, w / 2 - 0.05), (-0.02, 0.02), (h + 0.12, h + 0.15), STEEL),
        rod(w / 2 - 0.06, -0.1, (h, h + 0.05), 0.022, 0xB5493F),
        rod(w / 2 - 0.06, 0.1, (h, h + 0.05), 0.022, 0x4470A8),
    ]


def shower(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A shower stall."""
    tray, frame = look
    bars = [
        rod(x, y, (0.1, h), 0.018, frame) for x in (-w / 2 + 0.02, w / 2 - 0.02) for y in (-d / 2 + 0.02, d / 2 - 0.02)
    ]
    return [
        slab(w, d, (0, 0.1), tray),
        slab(w - 0.14, d - 0.14, (0.1, 0.105), 0xB9C4CB),
        *bars,
        *[rail((-w / 2 + 0.02, w / 2 - 0.02), y, h - 0.02, 0.018, frame) for y in (-d / 2 + 0.02, d / 2 - 0.02)],
        glassy(box((-w / 2 + 0.03, w / 2 - 0.03), (-d / 2 + 0.015, -d / 2 + 0.025), (0.1, h - 0.03), 0xBFE0EA), 0.3),
        glassy(box((-w / 2 + 0.015, -w / 2 + 0.025), (-d / 2 + 0.03, d / 2 - 0.03), (0.1, h - 0.03), 0xBFE0EA), 0.3),
        glassy(box((w / 2 - 0.025, w / 2 - 0.015), (-d / 2 + 0.03, d / 2 - 0.03), (0.1, h - 0.03), 0xBFE0EA), 0.3),
        rod(0, d / 2 - 0.06, (1.0, h - 0.12), 0.014, STEEL),
        box((-0.012, 0.012), (d / 2 - 0.3, d / 2 - 0.06), (h - 0.14, h - 0.115), STEEL),
        rod(0, d / 2 - 0.3, (h - 0.17, h - 0.14), 0.09, STEEL),
    ]


def towel(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A towel."""
    cloth, stripe = look
    back = d / 2
    return [
        rail((-w / 2, w / 2), 0, h - 0.03, 0.014, STEEL),
        *[box((x - 0.015, x + 0.015), (0, back), (h - 0.045, h - 0.015), STEEL) for x in (-w / 2 + 0.02, w / 2 - 0.02)],
        box((-w * 0.38, w * 0.38), (-d / 2, -d / 2 + 0.03), (0, h - 0.01), cloth, "fabric"),
        *[box((-w * 0.385, w * 0.385), (-d / 2 - 0.003, -d / 2), (z, z + 0.04), stripe) for z in (0.06, 0.14)],
    ]


def toilet_paper(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A roll of toilet paper."""
    paper = look[0]
    return [
        box((-0.03, 0.03), (d / 2 - 0.015, d / 2), (h / 2 - 0.03, h / 2 + 0.03), STEEL),
        rail((-w / 2, w / 2), 0, h / 2, min(d, h) * 0.46, paper),
        rail((-w / 2 - 0.015, w / 2 + 0.015), 0, h / 2, 0.018, 0xB08D57),
        box((-w / 2, w / 2), (-d * 0.47, -d * 0.44), (-0.08, h / 2), paper),
    ]


def soap_bottle(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A soap bottle."""
    body, pump = look
    return [
        rod(0, 0, (0, h * 0.62), w * 0.45, body),
        blob((0, 0, h * 0.62), (w * 0.45, w * 0.45, h * 0.1), body),
        rod(0, 0, (h * 0.68, h * 0.94), w * 0.12, pump),
        box((-w * 0.12, w * 0.12), (-d / 2, 0.01), (h * 0.92, h), pump),
        slab(w * 0.6, d * 0.94, (h * 0.2, h * 0.45), WHITE),
    ]


def spray_bottle(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A spray bottle."""
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
    """A bar of soap."""
    return [
        slab(w, d, (0, h * 0.35), WHITE),
        blob((0, 0, h * 0.6), (w * 0.42, d * 0.4, h * 0.4), look[0]),
        slab(w * 0.4, d * 0.2, (h * 0.9, h), look[1]),
    ]


def plunger(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A plunger."""
    return [
        rod(0, 0, (0, h * 0.1), w / 2, look[0]),
        blob((0, 0, h * 0.1), (w * 0.44, w * 0.44, h * 0.16), look[0]),
        rod(0, 0, (h * 0.2, h * 0.98), 0.014, look[1]),
        ball(0, 0, h * 0.98, 0.02, look[1]),
    ]


def scrub_brush(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A scrub brush."""
    return [
        rod(0, 0, (0, h * 0.42), w * 0.42, look[0]),
        rod(0, 0, (h * 0.42, h * 0.46), w * 0.5, look[0]),
        rod(0, 0, (h * 0.46, h * 0.95), 0.012, WHITE),
        rod(0, 0, (h * 0.4, h * 0.56), w * 0.3, look[1]),
        ball(0, 0, h * 0.96, 0.025, look[0]),
    ]
