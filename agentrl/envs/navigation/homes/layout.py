"""The rooms of a home: a rectangle that is cut in two again and again, with an open door in each cut."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from random import Random

from agentrl.envs.navigation.homes.home import Door, Rectangle, Room, Wall

AREAS = {"kitchen": 12.0, "living room": 16.0, "bedroom": 13.0, "bathroom": 8.0}  # square metres
NARROWEST = {"kitchen": 2.7, "living room": 3.0, "bedroom": 2.8, "bathroom": 2.1}
HEIGHT = 2.6
THICK = 0.14
DOOR = 0.95  # width of a door
MARGIN = 0.25  # between a door and the next corner


@dataclass
class Layout:
    """Rooms, walls and doors."""

    rooms: list[Room]
    walls: list[Wall]
    doors: list[Door]


def draw_layout(rng: Random) -> Layout:
    """One to four rooms, every one of them large enough to be furnished."""
    kinds = rng.sample(sorted(AREAS), rng.choices((1, 2, 3, 4), (2, 3, 4, 4))[0])
    for attempt in count():
        rng.shuffle(kinds)
        area = sum(AREAS[kind] for kind in kinds) * (rng.uniform(0.9, 1.2) + attempt % 30 / 100)
        width = round((area * rng.uniform(0.55, 1.8)) ** 0.5, 2)
        depth = round(area / width, 2)
        layout = Layout([], [], [])
        if _cut(layout, (0.0, 0.0, width, depth), kinds, rng):
            t = THICK
            across = ((-t, -t, width + t, 0.0), (-t, depth, width + t, depth + t))
            along = ((-t, 0.0, 0.0, depth), (width, 0.0, width + t, depth))
            layout.walls.extend([Wall(_rounded(outer), HEIGHT) for outer in (*across, *along)])
            return layout
    raise AssertionError("attempts never end")


def _cut(layout: Layout, area: Rectangle, kinds: list[str], rng: Random) -> bool:
    """Divide `area` among rooms; False if a room or a shared wall becomes too short."""
    x0, y0, x1, y1 = area
    if len(kinds) == 1:
        layout.rooms.append(Room(kinds[0], area))
        return min(x1 - x0, y1 - y0) >= NARROWEST[kinds[0]] and max(x1 - x0, y1 - y0) <= 6.0
    middle = rng.randint(1, len(kinds) - 1)
    share = sum(AREAS[kind] for kind in kinds[:middle]) / sum(AREAS[kind] for kind in kinds)
    share *= rng.uniform(0.8, 1.2)
    if (x1 - x0 >= y1 - y0) == (rng.random() < 0.85):
        at = round(x0 + share * (x1 - x0), 2)
        halves = (x0, y0, at - THICK / 2, y1), (at + THICK / 2, y0, x1, y1)
        strip = at - THICK / 2, y0, at + THICK / 2, y1
    else:
        at = round(y0 + share * (y1 - y0), 2)
        halves = (x0, y0, x1, at - THICK / 2), (x0, at + THICK / 2, x1, y1)
        strip = x0, at - THICK / 2, x1, at + THICK / 2
    first = len(layout.rooms)
    if not _cut(layout, _rounded(halves[0]), kinds[:middle], rng):
        return False
    second = len(layout.rooms)
    if not _cut(layout, _rounded(halves[1]), kinds[middle:], rng):
        return False
    return _build_wall(layout, _rounded(strip), range(first, second), range(second, len(layout.rooms)), rng)


def _build_wall(layout: Layout, strip: Rectangle, before: range, behind: range, rng: Random) -> bool:
    """A wall between two groups of rooms, with one door or, sometimes, with two."""
    along = 1 if strip[3] - strip[1] > strip[2] - strip[0] else 0
    shared = []
    for a in before:
        for b in behind:
            low = max(layout.rooms[a].area[along], layout.rooms[b].area[along])
            high = min(layout.rooms[a].area[along + 2], layout.rooms[b].area[along + 2])
            touching = _touches(layout.rooms[a].area, strip) and _touches(layout.rooms[b].area, strip)
            if touching and high - low >= DOOR + 2 * MARGIN:
                shared.append((high - low, a, b, low))
    if not shared:
        return False
    shared.sort(reverse=True)
    openings = []
    for number, (length, a, b, low) in enumerate(shared):
        if number == 0 or rng.random() < 0.35:
            start = round(low + MARGIN + rng.random() * (length - DOOR - 2 * MARGIN), 2)
            openings.append((start, round(start + DOOR, 2)))
            layout.doors.append(Door(_between(strip, along, *openings[-1]), (a, b)))
    edges = [strip[along], *[edge for opening in sorted(openings) for edge in opening], strip[along + 2]]
    for low, high in zip(edges[::2], edges[1::2], strict=True):
        layout.walls.append(Wall(_between(strip, along, low, high), HEIGHT))
    return True


def _touches(area: Rectangle, strip: Rectangle) -> bool:
    x = min(area[2], strip[2]) - max(area[0], strip[0])
    y = min(area[3], strip[3]) - max(area[1], strip[1])
    return x > -0.001 and y > -0.001


def _between(strip: Rectangle, along: int, low: float, high: float) -> Rectangle:
    return (low, strip[1], high, strip[3]) if along == 0 else (strip[0], low, strip[2], high)


def _rounded(area: Rectangle) -> Rectangle:
    x0, y0, x1, y1 = (round(value, 3) for value in area)
    return x0, y0, x1, y1
