"""A home from above, as a picture and in characters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from agentrl.envs.navigation.homes.home import Home
from agentrl.envs.navigation.sight import Eye, Place
from agentrl.envs.navigation.walking import VECTORS, Cell
from agentrl.envs.navigation.world import Thing

PAPER, WALL, THING, SMALL = (247, 246, 242), (58, 60, 66), (176, 188, 200), (120, 140, 165)
AGENT, TARGET, VIEW = (214, 72, 48), (34, 140, 76), (250, 226, 160)
ROOMS = {
    "kitchen": (252, 240, 222), "living room": (228, 240, 228), "bedroom": (226, 232, 246), "bathroom": (222, 242, 246),
}  # fmt: skip
ARROWS = "^>v<"
LEGEND = "Symbols: # wall, o furniture, . floor, ^ > v < you and where you look, X the target. North is up."


def draw_map(home: Home, eye: Eye, target: Thing, size: int) -> np.ndarray:
    """The floor plan with the agent (an arrow) and the target (a ring): uint8 [size, size, 3]."""
    from PIL import Image, ImageDraw

    scale = 3 if size <= 400 else 1  # drawn larger, then made smaller: smooth lines
    plan = _Plan(home, size * scale)
    picture = Image.new("RGB", (size * scale, size * scale), PAPER)
    pen = ImageDraw.Draw(picture)
    for room in home.rooms:
        pen.rectangle(plan.box(room.area), fill=ROOMS.get(room.kind, PAPER))
    for door in home.doors:
        pen.rectangle(plan.box(door.area), fill=PAPER)
    for item in sorted(home.items, key=lambda item: item.position[2] + item.size[2] / 2):
        (x, y, _), (width, depth, _) = item.position, item.size
        area = x - width / 2, y - depth / 2, x + width / 2, y + depth / 2
        pen.rectangle(plan.box(area), fill=THING if item.blocks else SMALL, outline=(140, 150, 160))
    for wall in home.walls:
        pen.rectangle(plan.box(wall.area), fill=WALL)
    (x, y), radius = plan.point(target.x, target.y), 0.22 * plan.scale
    thick = max(1, round(0.09 * plan.scale))
    pen.ellipse([x - radius, y - radius, x + radius, y + radius], outline=TARGET, width=thick)
    ahead = math.atan2(VECTORS[eye.heading][1], VECTORS[eye.heading][0])
    corners = [(ahead, 0.32), (ahead + 2.5, 0.26), (ahead + math.pi, 0.1), (ahead - 2.5, 0.26)]
    points = [plan.point(eye.x + r * math.cos(angle), eye.y + r * math.sin(angle)) for angle, r in corners]
    pen.polygon(points, fill=AGENT, outline=(255, 255, 255))
    return np.asarray(picture.resize((size, size), Image.Resampling.BOX)).copy()


class _Plan:
    """From metres to pixels, north up."""

    def __init__(self, home: Home, size: int) -> None:
        areas = np.array([wall.area for wall in home.walls] + [room.area for room in home.rooms])
        low, high = areas[:, :2].min(axis=0), areas[:, 2:].max(axis=0)
        self.scale = 0.96 * size / float((high - low).max())
        middle = (low + high) / 2
        self._left, self._top = size / 2 - middle[0] * self.scale, size / 2 + middle[1] * self.scale

    def point(self, x: float, y: float) -> tuple[float, float]:
        return self._left + x * self.scale, self._top - y * self.scale

    def box(self, area: tuple[float, float, float, float]) -> list[float]:
        (left, bottom), (right, top) = self.point(area[0], area[1]), self.point(area[2], area[3])
        return [left, top, right, bottom]


def spell_map(place: Place, cell: Cell, heading: int, target: int) -> str:
    """The lattice in characters, north up, with a legend."""
    floor, home = place.floor, place.home
    symbols = np.full(floor.shape, " ", "<U1")
    for symbol, areas in (
        (".", [room.area for room in home.rooms] + [door.area for door in home.doors]),
        ("o", [_footprint(item) for item in home.items if item.blocks]),
        ("#", [wall.area for wall in home.walls]),
    ):
        for x0, y0, x1, y1 in areas:
            grown = floor.step / 2  # so that a thin wall covers the nearest places
            symbols[
                (floor.x > x0 - grown) & (floor.x < x1 + grown) & (floor.y > y0 - grown) & (floor.y < y1 + grown)
            ] = symbol
    symbols[floor.free] = "."
    x, y, _ = home.items[target].position
    symbols[floor.index((round(x / floor.step), round(y / floor.step)))] = "X"
    symbols[floor.index(cell)] = ARROWS[heading]
    return "\n".join(["".join(column).rstrip() for column in symbols.T[::-1]] + [LEGEND]).strip("\n")


def _footprint(item: Any) -> tuple[float, float, float, float]:
    (x, y, _), (width, depth, _) = item.position, item.size
    return x - width / 2, y - depth / 2, x + width / 2, y + depth / 2
