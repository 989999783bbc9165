"""The tile art of the grid worlds: every tile is drawn here, in code, for any size.

Each kind of thing owns a colour that nothing else in its game has, so that a tile of sixteen pixels can still be told
apart at a glance: on the lake dark blue is water, red the gift, green the player; in the warehouse slate is wall, brown
a crate, red a target, blue the player (violet the second one), green a crate that has arrived.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from agentrl.envs.grid.brush import Brush, Colour

BACKGROUND = np.array([38, 42, 52], np.uint8)  # the margin where tiles do not fill a picture

WHITE: Colour = (255, 255, 255)
INK: Colour = (44, 40, 52)
SKIN: Colour = (252, 216, 184)
GOLD: Colour = (250, 200, 66)


def paint(art: str, pixels: int) -> list[np.ndarray]:
    """One picture uint8 [pixels, pixels, 3] for each symbol of a game, in the order of its symbols."""
    tiles = []
    for painter in _PAINTERS[art]:
        brush = Brush(pixels, (0, 0, 0))
        painter(brush)
        tiles.append(brush.pixels_of())
    return tiles


# ---------------------------------------------------------------------- the lake

ICE: Colour = (222, 241, 250)
SEAM: Colour = (178, 211, 229)
WATER: Colour = (22, 52, 98)
SPRAY: Colour = (92, 176, 236)
PARKA: Colour = (34, 158, 98)
CAP: Colour = (20, 124, 78)
GIFT: Colour = (222, 52, 70)


def ice(brush: Brush) -> None:
    """A pale slab with soft scratches; half a seam on every side, so that neighbours share a thin one."""
    brush.box(0, 0, 1, 1, SEAM)
    edge = brush.hair(0.03) / 2
    brush.box(edge, edge, 1 - edge, 1 - edge, ICE, radius=0.05)
    brush.polygon([(edge, 0.62), (0.62, edge), (0.86, edge), (edge, 0.86)], (255, 255, 255, 70))
    brush.polygon([(0.3, 1 - edge), (1 - edge, 0.3), (1 - edge, 0.38), (0.38, 1 - edge)], (255, 255, 255, 60))
    for start, end in (((0.14, 0.24), (0.34, 0.14)), ((0.62, 0.86), (0.88, 0.72)), ((0.7, 0.9), (0.84, 0.83))):
        brush.line([start, end], 0.022, (150, 192, 216, 150))
    brush.line([(0.2, 0.32), (0.29, 0.275)], 0.022, (150, 192, 216, 150))


def water(brush: Brush) -> None:
    """A hole: a broken white rim, a blue edge and dark water."""
    ice(brush)
    rim = [(0.1, 0.34), (0.24, 0.15), (0.45, 0.08), (0.7, 0.11), (0.88, 0.28), (0.93, 0.52), (0.86, 0.76), (0.66, 0.91)]
    rim += [(0.4, 0.93), (0.18, 0.82), (0.07, 0.6)]
    brush.polygon(rim, (246, 252, 255))
    smaller = [(0.5 + (x - 0.5) * 0.93, 0.52 + (y - 0.52) * 0.93) for x, y in rim]
    brush.polygon(smaller, (112, 170, 208))
    brush.ellipse(0.5, 0.52, 0.38, 0.36, WATER)
    brush.ellipse(0.5, 0.57, 0.3, 0.27, (16, 38, 76))
    brush.arc(0.5, 0.53, 0.29, 200, 262, brush.hair(0.028), (92, 140, 196))
    brush.arc(0.5, 0.53, 0.29, 276, 292, brush.hair(0.028), (92, 140, 196))


def gift(brush: Brush) -> None:
    """A red parcel with a golden ribbon and a bow, filling the unit square."""
    brush.ellipse(0.5, 0.93, 0.46, 0.08, (60, 90, 120, 70))
    brush.box(0.1, 0.42, 0.9, 0.95, GIFT, radius=0.05)
    brush.box(0.1, 0.42, 0.9, 0.52, (172, 30, 50), radius=0.02)
    brush.box(0.04, 0.28, 0.96, 0.47, (238, 76, 88), radius=0.05)
    brush.box(0.41, 0.28, 0.59, 0.95, GOLD)
    for side in (-1, 1):
        brush.polygon([(0.5, 0.27), (0.5 + side * 0.3, 0.06), (0.5 + side * 0.36, 0.27)], GOLD)
        brush.ellipse(0.5 + side * 0.29, 0.165, 0.1, 0.11, GOLD)
        brush.ellipse(0.5 + side * 0.26, 0.18, 0.05, 0.045, (206, 146, 30))
    brush.ellipse(0.5, 0.24, 0.09, 0.085, (232, 172, 44))


def goal(brush: Brush) -> None:
    """The gift on the ice."""
    ice(brush)
    gift(brush.inside(0.16, 0.13, 0.68))


def head(brush: Brush, mouth: str = "smile") -> None:
    """A face under a woollen cap with a bobble; its middle is (0.5, 0.36)."""
    brush.ellipse(0.5, 0.36, 0.22, 0.21, SKIN)
    brush.dome(0.5, 0.33, 0.225, 0.25, CAP)
    brush.box(0.25, 0.25, 0.75, 0.335, (240, 248, 244), radius=0.04)
    brush.ellipse(0.5, 0.07, 0.075, 0.07, (240, 248, 244))
    for side in (-1, 1):
        brush.ellipse(0.5 + side * 0.085, 0.395, 0.028, 0.038, INK)
        brush.ellipse(0.5 + side * 0.145, 0.455, 0.04, 0.026, (244, 160, 148))
    if mouth == "smile":
        brush.arc(0.5, 0.43, 0.07, 25, 155, 0.026, (150, 60, 60))
    else:
        brush.ellipse(0.5, 0.495, 0.034, 0.042, (130, 46, 54))


def skater(brush: Brush, *, cheering: bool = False) -> None:
    """The player in a green parka; arms down, or up when there is something to cheer about."""
    for side in (-1, 1):
        brush.box(*_mirrored(side, 0.05, 0.83, 0.2, 0.95), (92, 60, 50), radius=0.04)
    hand = 0.34 if cheering else 0.76
    for side in (-1, 1):
        brush.line([(0.5 + side * 0.16, 0.63), (0.5 + side * 0.3, hand)], 0.12, CAP)
        brush.ellipse(0.5 + side * 0.31, hand, 0.065, 0.065, (240, 248, 244))
    brush.polygon([(0.36, 0.54), (0.64, 0.54), (0.74, 0.86), (0.26, 0.86)], PARKA)
    brush.box(0.26, 0.82, 0.74, 0.88, (240, 248, 244), radius=0.03)
    brush.box(0.48, 0.58, 0.52, 0.82, CAP)
    head(brush)


def _mirrored(side: int, left: float, top: float, right: float, bottom: float) -> tuple[float, float, float, float]:
    """A box whose sides are given from the middle outwards, on the left (-1) or the right (1)."""
    x0, x1 = sorted((0.5 + side * left, 0.5 + side * right))
    return x0, top, x1, bottom


def on_ice(brush: Brush) -> None:
    """The player on the ice."""
    ice(brush)
    brush.ellipse(0.5, 0.91, 0.3, 0.06, (90, 130, 160, 110))
    skater(brush.inside(0.03, 0.02, 0.94))


def fallen(brush: Brush) -> None:
    """The player up to the neck in a hole, with a splash around."""
    water(brush)
    figure = brush.inside(0.1, 0.1, 0.8)
    for side in (-1, 1):
        figure.line([(0.5 + side * 0.2, 0.7), (0.5 + side * 0.34, 0.42)], 0.15, PARKA)
        figure.ellipse(0.5 + side * 0.36, 0.36, 0.075, 0.075, (240, 248, 244))
    figure.box(0.28, 0.52, 0.72, 0.8, PARKA, radius=0.08)
    head(figure, mouth="gasp")
    brush.ellipse(0.5, 0.74, 0.34, 0.14, (16, 38, 76))
    brush.ring(0.5, 0.74, 0.34, 0.13, 0.03, (150, 200, 236))
    brush.ring(0.5, 0.75, 0.21, 0.065, 0.02, (72, 120, 180))
    for x, y, size in (
        (0.1, 0.5, 0.05),
        (0.18, 0.24, 0.045),
        (0.9, 0.5, 0.05),
        (0.82, 0.22, 0.045),
        (0.93, 0.33, 0.035),
    ):
        drop(brush.inside(x - size, y - size, size))


def drop(brush: Brush) -> None:
    """A bright drop of water with a white edge, two units wide."""
    for grow, colour in ((0.35, WHITE), (0.0, SPRAY)):
        brush.polygon([(1, -1.3 - 1.5 * grow), (1.85 + grow, 0.6), (0.15 - grow, 0.6)], colour)
        brush.ellipse(1, 1, 1 + grow, 1 + grow, colour)


def arrived(brush: Brush) -> None:
    """The player cheering behind the gift, in golden light."""
    ice(brush)
    edge = brush.hair(0.03)
    brush.box(edge, edge, 1 - edge, 1 - edge, (255, 226, 120), radius=0.05)
    brush.glow(0.5, 0.5, 0.5, 0.5, (255, 250, 220), 230)
    for x, y, size in ((0.12, 0.14, 0.1), (0.88, 0.14, 0.1), (0.1, 0.62, 0.07), (0.92, 0.6, 0.07)):
        brush.star(x, y, size, (246, 168, 20))
    skater(brush.inside(0.1, 0.03, 0.8), cheering=True)
    gift(brush.inside(0.28, 0.52, 0.44))


# ---------------------------------------------------------------------- the warehouse

FLOOR: Colour = (240, 216, 178)
BRICK: Colour = (104, 116, 138)
CRATE: Colour = (196, 128, 54)
BEAM: Colour = (142, 84, 30)
MARK: Colour = (226, 62, 66)
OVERALLS: Colour = (44, 104, 214)
STORED: Colour = (70, 172, 84)
STORED_BEAM: Colour = (30, 116, 56)


def wall(brush: Brush) -> None:
    """Four courses of slate bricks; the pattern goes on over the edges of the tile."""
    brush.box(0, 0, 1, 1, (66, 74, 92))
    joint = brush.hair(0.045)
    shades: tuple[Colour, ...] = (BRICK, (112, 124, 146), (96, 107, 128))
    for course in range(4):
        offset = -0.25 if course % 2 else 0.0
        for i in range(3):
            left, top = offset + i * 0.5, course * 0.25
            right, bottom = left + 0.5 - joint, top + 0.25 - joint
            brush.box(left, top, right, bottom, shades[(course + 2 * (i % 2)) % 3], radius=0.02)
            brush.box(left, top, right, top + 0.035, (148, 160, 180, 120), radius=0.02)


def floor(brush: Brush) -> None:
    """Warm boards, two to a tile, with a little grain."""
    brush.box(0, 0, 1, 1, FLOOR)
    brush.box(0, 0.5, 1, 1, (236, 210, 170))
    seam = brush.hair(0.025)
    for y in (0.5, 1.0):
        brush.box(0, y - seam, 1, y, (214, 184, 138))
    brush.box(0.68, 0, 0.68 + seam, 0.5, (214, 184, 138))
    brush.box(0.22, 0.5, 0.22 + seam, 1, (214, 184, 138))
    for x0, x1, y in ((0.12, 0.5, 0.17), (0.3, 0.58, 0.33), (0.78, 0.95, 0.25), (0.4, 0.84, 0.66), (0.5, 0.7, 0.82)):
        brush.line([(x0, y), (x1, y)], 0.018, (214, 180, 132, 140))


def target(brush: Brush) -> None:
    """A round marker painted on the boards: ring and dot."""
    floor(brush)
    ring(brush)
    brush.ellipse(0.5, 0.5, 0.13, 0.13, MARK)


def ring(brush: Brush) -> None:
    """The outer circle of a target."""
    brush.ellipse(0.5, 0.5, 0.4, 0.4, (255, 236, 226))
    brush.ring(0.5, 0.5, 0.4, 0.4, 0.11, MARK)


def crate(brush: Brush, wood: Colour, beam: Colour, light: Colour) -> None:
    """Planks in a frame with two crossed braces."""
    brush.box(0.07, 0.1, 0.97, 0.98, (90, 60, 30, 80), radius=0.06)
    brush.box(0.05, 0.05, 0.95, 0.95, beam, radius=0.06)
    brush.box(0.08, 0.08, 0.92, 0.92, light, radius=0.04)
    brush.box(0.19, 0.19, 0.81, 0.81, beam)
    gap = brush.hair(0.02)
    for i in range(4):
        top = 0.2 + i * 0.15
        brush.box(0.2, top, 0.8, top + 0.15 - gap, wood)
    for start, end in (((0.22, 0.22), (0.78, 0.78)), ((0.22, 0.78), (0.78, 0.22))):
        brush.line([start, end], 0.17, beam)
        brush.line([start, end], max(0.17 - 2 * brush.hair(0.03), 0.02), light)
    for x in (0.135, 0.865):
        for y in (0.135, 0.865):
            brush.ellipse(x, y, 0.03, 0.03, beam)


def box(brush: Brush) -> None:
    """A wooden crate on the floor."""
    floor(brush)
    crate(brush, CRATE, BEAM, (220, 156, 78))


def stored(brush: Brush) -> None:
    """A crate that has arrived: green, glowing, with a white tick."""
    brush.box(0, 0, 1, 1, (196, 240, 170))
    brush.glow(0.5, 0.5, 0.7, 0.7, (236, 255, 200), 200)
    crate(brush, STORED, STORED_BEAM, (104, 200, 108))
    brush.ellipse(0.5, 0.5, 0.29, 0.29, STORED_BEAM)
    brush.line([(0.36, 0.51), (0.46, 0.62), (0.65, 0.38)], 0.1, WHITE)


def worker(brush: Brush, cloth: Colour, dark: Colour, helmet: Colour) -> None:
    """A player in overalls and a helmet."""
    brush.ellipse(0.5, 0.92, 0.27, 0.055, (90, 60, 30, 110))
    for side in (-1, 1):
        brush.box(*_mirrored(side, 0.03, 0.74, 0.19, 0.94), dark, radius=0.04)
        brush.line([(0.5 + side * 0.17, 0.6), (0.5 + side * 0.27, 0.74)], 0.12, cloth)
        brush.ellipse(0.5 + side * 0.285, 0.765, 0.06, 0.06, SKIN)
    brush.box(0.31, 0.53, 0.69, 0.83, cloth, radius=0.07)
    brush.box(0.41, 0.64, 0.59, 0.76, dark, radius=0.03)
    brush.ellipse(0.5, 0.36, 0.22, 0.21, SKIN)
    brush.dome(0.5, 0.31, 0.23, 0.23, helmet)
    brush.box(0.24, 0.26, 0.76, 0.325, dark, radius=0.03)
    brush.box(0.45, 0.07, 0.55, 0.27, WHITE, radius=0.03)
    for side in (-1, 1):
        brush.ellipse(0.5 + side * 0.085, 0.39, 0.028, 0.038, INK)
    brush.arc(0.5, 0.43, 0.07, 25, 155, 0.026, (150, 60, 60))


def _first(brush: Brush) -> None:
    worker(brush, OVERALLS, (22, 66, 156), (78, 140, 240))


def _second(brush: Brush) -> None:
    worker(brush, (158, 64, 200), (104, 30, 144), (196, 110, 232))


def on_floor(player: Callable[[Brush], None]) -> Callable[[Brush], None]:
    """A player on the boards."""

    def painter(brush: Brush) -> None:
        floor(brush)
        player(brush.inside(0.04, 0.02, 0.92))

    return painter


def on_target(player: Callable[[Brush], None]) -> Callable[[Brush], None]:
    """A player in the middle of a target, which shows all around."""

    def painter(brush: Brush) -> None:
        floor(brush)
        brush.ellipse(0.5, 0.5, 0.47, 0.47, (255, 236, 226))
        brush.ring(0.5, 0.5, 0.47, 0.47, 0.11, MARK)
        player(brush.inside(0.16, 0.12, 0.7))

    return painter


_ROOM = [wall, floor, target, box, on_floor(_first), stored, on_target(_first)]
_PAINTERS: dict[str, list[Callable[[Brush], None]]] = {
    "frozenlake": [ice, water, goal, on_ice, fallen, arrived],  # _OGPX*
    "sokoban": _ROOM,  # #_OXP*S
    "sokoban_duo": [*_ROOM, on_floor(_second), on_target(_second)],  # #_OXP*SQT
}
