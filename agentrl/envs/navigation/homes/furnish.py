"""Puts things into rooms so that nothing overlaps, no door is blocked, and all of the floor can be reached."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np

from agentrl.envs.navigation.catalogue import TYPES
from agentrl.envs.navigation.catalogue.object_type import ObjectType, Surface
from agentrl.envs.navigation.homes.home import Item, Rectangle
from agentrl.envs.navigation.homes.layout import Layout
from agentrl.envs.navigation.shapes import Vector

STEP = 0.25
RADIUS = 0.2


class Floor:
    """The free points of a home's floor."""

    def __init__(self, rooms: list[Rectangle], doors: list[Rectangle], walls: list[Rectangle]) -> None:
        self.columns = int(max(area[2] for area in rooms) / STEP) + 2  # the last column stays empty: rows never touch
        self.rows = int(max(area[3] for area in rooms) / STEP) + 1
        self.x = np.arange(self.columns) * STEP
        self.y = np.arange(self.rows) * STEP
        inside = np.zeros((self.rows, self.columns), dtype=bool)
        for x0, y0, x1, y1 in rooms + doors:
            inside |= np.outer((self.y >= y0) & (self.y <= y1), (self.x >= x0) & (self.x <= x1))
        self.free = _bits(inside)
        for wall in walls:
            self.free &= ~self.covered(wall)

    def covered(self, area: Rectangle) -> int:
        """The points from which a walker would touch the area."""
        x = np.maximum(np.maximum(area[0] - self.x, self.x - area[2]), 0.0)
        y = np.maximum(np.maximum(area[1] - self.y, self.y - area[3]), 0.0)
        return _bits((y * y)[:, None] + (x * x)[None, :] < RADIUS * RADIUS - 1e-9)

    def connected(self, free: int) -> bool:
        """Can a walker go from each of these points to every other one?"""
        reached = free & -free
        while True:
            spread = reached | reached << 1 | reached >> 1 | reached << self.columns | reached >> self.columns
            spread &= free
            if spread == reached:
                return reached == free
            reached = spread

    def points(self) -> list[tuple[float, float]]:
        """The free points."""
        return [
            (index % self.columns * STEP, index // self.columns * STEP)
            for index in range(self.free.bit_length())
            if self.free >> index & 1
        ]


def _bits(grid: np.ndarray) -> int:
    return int.from_bytes(np.packbits(grid.ravel(), bitorder="little").tobytes(), "little")


SIDES = ("north", "west", "south", "east")  # what stands against them is turned 0, 1, 2, 3 quarters to the left
CLEAR = 0.75  # what stays free before a door
GAP = 0.01
TOUCHING = 0.001  # boxes may share a millimetre
DOOR = -1  # in the place of an item
FLAT = 0.03  # furniture may stand on what is lower, such as rugs

Box = tuple[float, float, float, float, float, float]  # x0, y0, z0, x1, y1, z1


class Furnisher:
    """A home that is being filled. Every `put` either keeps all promises or does nothing and returns None."""

    def __init__(self, layout: Layout, rng: Random) -> None:
        self.layout = layout
        self.rng = rng
        self.items: list[Item] = []
        self.floor = Floor(*([thing.area for thing in things] for things in (layout.rooms, layout.doors, layout.walls)))
        self.taken: list[tuple[Box, int]] = [(before_door(door.area), DOOR) for door in layout.doors]  # by which item
        self.variants: dict[tuple[int, str], int] = {}  # chairs of one room look alike

    def put(
        self,
        kind: ObjectType,
        size: Vector,
        at: Vector,
        turned: int,
        room: int,
        on: int | None = None,
        blocks: bool = True,
    ) -> int | None:
        """Put a thing with its middle at `at`; `size` is as it stands. Its index, or None if it does not fit.

        What stands `on` furniture may be inside of its box: on a seat, in a shelf.
        """
        at = rounded(at)  # first, so that the checks hold for what the home says
        box = box_of(at, size)
        if not self._inside(box, room) or any(overlap(box, other) for other, owner in self.taken if owner != on):
            return None
        if blocks:
            free = self.floor.free & ~self.floor.covered((box[0], box[1], box[3], box[4]))
            if not free or not self.floor.connected(free):
                return None
            self.floor.free = free
        if size[2] > FLAT:
            self.taken.append((box, len(self.items)))
        variant = self._variant(kind, room)
        self.items.append(Item(kind.name, at, size, turned, variant, room, on, blocks))
        return len(self.items) - 1

    def stand(
        self, name: str, room: int, x: float, y: float, turned: int, size: Vector | None = None, blocks: bool = True
    ) -> int | None:
        """Put furniture on the floor; `size` is as seen from its front."""
        width, depth, height = size or self.rng.choice(TYPES[name].sizes)
        as_it_stands = (depth, width, height) if turned % 2 else (width, depth, height)
        return self.put(TYPES[name], as_it_stands, (x, y, height / 2), turned, room, blocks=blocks)

    def against(self, name: str, room: int, side: int, along: float, size: Vector | None = None) -> int | None:
        """Put furniture (or hang a thing) with its back to a wall, its middle `along` metres from the wall's start."""
        kind = TYPES[name]
        width, depth, height = size or self.rng.choice(kind.sizes)
        x, y = on_wall(self.layout.rooms[room].area, side, along, depth)
        as_it_stands = (depth, width, height) if side % 2 else (width, depth, height)
        z = kind.hangs or height / 2
        return self.put(kind, as_it_stands, (x, y, z), side, room, blocks=not kind.hangs)

    def somewhere_against(
        self, name: str, room: int, sides: Sequence[int] = (0, 1, 2, 3), tries: int = 10, corner: bool = False
    ) -> int | None:
        """Try places along the walls until one is free."""
        for _ in range(tries):
            side = self.rng.choice(sides)
            size = self.rng.choice(TYPES[name].sizes)
            spare = self.wall_length(room, side) - size[0] - 2 * GAP
            share = self.rng.choice((0.0, 1.0)) if corner else self.rng.random()
            if spare > 0:
                index = self.against(name, room, side, GAP + size[0] / 2 + share * spare, size)
                if index is not None:
                    return index
        return None

    def somewhere(self, name: str, room: int, tries: int = 8) -> int | None:
        """Try places on the floor until one is free."""
        x0, y0, x1, y1 = self.layout.rooms[room].area
        for _ in range(tries):
            x, y = self.rng.uniform(x0 + 0.2, x1 - 0.2), self.rng.uniform(y0 + 0.2, y1 - 0.2)
            index = self.stand(name, room, x, y, self.rng.randrange(4))
            if index is not None:
                return index
        return None

    def on_furniture(self, name: str, room: int, tries: int = 6) -> int | None:
        """Try places on the furniture where this type belongs."""
        kind = TYPES[name]
        holders = [index for index, item in enumerate(self.items) if item.room == room and item.type in kind.on]
        for _ in range(tries if holders else 0):
            holder = self.rng.choice(holders)
            index = self._on(kind, holder, room)
            if index is not None:
                return index
        return None

    def _on(self, kind: ObjectType, holder: int, room: int) -> int | None:
        below = self.items[holder]
        width, depth, height = self.rng.choice(kind.sizes)
        any_way = below.type in ("DiningTable", "CoffeeTable", "Bed", "Sofa")
        turned = self.rng.randrange(4) if any_way else below.turned
        size = (depth, width, height) if turned % 2 else (width, depth, height)
        for surface in self.rng.sample(TYPES[below.type].surfaces, len(TYPES[below.type].surfaces)):
            area, z = surface_area(below, surface)
            if height > surface.headroom or area[2] - area[0] < size[0] or area[3] - area[1] < size[1]:
                continue
            x = self.rng.uniform(area[0] + size[0] / 2, area[2] - size[0] / 2)
            y = self.rng.uniform(area[1] + size[1] / 2, area[3] - size[1] / 2)
            index = self.put(kind, size, (x, y, z + height / 2), turned, room, on=holder, blocks=False)
            if index is not None:
                return index
        return None

    def wall_length(self, room: int, side: int) -> float:
        """The length of one of the walls of a room."""
        x0, y0, x1, y1 = self.layout.rooms[room].area
        return y1 - y0 if side % 2 else x1 - x0

    def _inside(self, box: Box, room: int) -> bool:
        x0, y0, x1, y1 = self.layout.rooms[room].area
        return box[0] >= x0 and box[1] >= y0 and box[3] <= x1 and box[4] <= y1

    def _variant(self, kind: ObjectType, room: int) -> int:
        if kind.stands != "plan":
            return self.rng.randrange(len(kind.looks))
        key = (room, "kitchen front" if kind.name in ("CounterTop", "Sink", "Cabinet") else kind.name)
        return self.variants.setdefault(key, self.rng.randrange(len(kind.looks)))


def before_door(area: Rectangle) -> Box:
    """What must stay free for a door."""
    x0, y0, x1, y1 = area
    along_y = y1 - y0 > x1 - x0
    grown = (x0 - CLEAR, y0, x1 + CLEAR, y1) if along_y else (x0, y0 - CLEAR, x1, y1 + CLEAR)
    return grown[0], grown[1], 0.0, grown[2], grown[3], 2.2


def on_wall(area: Rectangle, side: int, along: float, depth: float) -> tuple[float, float]:
    """The middle of a footprint with its back to a wall."""
    x0, y0, x1, y1 = area
    inward = depth / 2 + GAP
    return ((x0 + along, y1 - inward), (x0 + inward, y0 + along), (x0 + along, y0 + inward), (x1 - inward, y0 + along))[
        side
    ]


def surface_area(item: Item, surface: Surface) -> tuple[Rectangle, float]:
    """A surface of furniture in the home: its limits and its height."""
    x, y, z = item.position
    corners = [turn(a, b, item.turned) for a, b in (surface.area[:2], surface.area[2:])]
    (ax, bx), (ay, by) = sorted(c[0] * item.size[0] for c in corners), sorted(c[1] * item.size[1] for c in corners)
    return (x + ax, y + ay, x + bx, y + by), z - item.size[2] / 2 + surface.level * item.size[2]


def turn(x: float, y: float, quarters: int) -> tuple[float, float]:
    """A vector after quarter turns to the left."""
    return ((x, y), (-y, x), (-x, -y), (y, -x))[quarters % 4]


def box_of(at: Vector, size: Vector) -> Box:
    """The box of a thing, from its middle and its sides."""
    (x, y, z), (w, d, h) = at, size
    return x - w / 2, y - d / 2, z - h / 2, x + w / 2, y + d / 2, z + h / 2


def overlap(a: Box, b: Box) -> bool:
    """Do two boxes share more than a millimetre along every axis?"""
    return (
        min(a[3], b[3]) - max(a[0], b[0]) > TOUCHING
        and min(a[4], b[4]) - max(a[1], b[1]) > TOUCHING
        and min(a[5], b[5]) - max(a[2], b[2]) > TOUCHING
    )


def rounded(vector: Vector) -> Vector:
    """To millimetres, half a millimetre exactly where an edge needs it."""
    x, y, z = vector
    return round(x, 4), round(y, 4), round(z, 4)
