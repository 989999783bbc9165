"""A home as plain data: rooms, walls, doors, and the things in them. Metres; x to the east, y to the north, z up.

`build.build_home(seed)` draws one, `scene.compile_home(home)` makes it visible, `walking` and `sight` compute on it
without drawing anything.
"""

from __future__ import annotations

from dataclasses import dataclass

Rectangle = tuple[float, float, float, float]  # x0, y0, x1, y1


@dataclass(frozen=True)
class Room:
    """A rectangle of floor."""

    kind: str  # kitchen, living room, bedroom, bathroom
    area: Rectangle


@dataclass(frozen=True)
class Wall:
    """A piece of wall without openings, from the floor to `height`."""

    area: Rectangle
    height: float


@dataclass(frozen=True)
class Door:
    """An opening between two rooms that is always open."""

    area: Rectangle
    rooms: tuple[int, int]


@dataclass(frozen=True)
class Item:
    """A piece of furniture or an object: a named type in a box with sides along the axes."""

    type: str  # in CamelCase: Toaster, CounterTop
    position: tuple[float, float, float]  # the centre of its box
    size: tuple[float, float, float]  # the sides of its box, as it stands
    turned: int = 0  # quarter turns to the left; at 0 the front faces south
    variant: int = 0  # which of the looks of its type
    room: int = 0
    on: int | None = None  # the item it stands on; None: the floor or a wall
    blocks: bool = True  # can nobody walk through it? False for rugs and what hangs on walls or stands on furniture


@dataclass(frozen=True)
class Home:
    """Everything in one home."""

    seed: int
    rooms: tuple[Room, ...]
    walls: tuple[Wall, ...]
    doors: tuple[Door, ...]
    items: tuple[Item, ...]
