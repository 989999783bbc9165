"""A room from above: receptacles along its walls, what is open, the agent, and what it sees and holds."""

from __future__ import annotations

import math

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from agentrl.envs.alfworld.engine import World

FLOOR, WALL, INK, PALE = (247, 243, 234), (74, 78, 88), (38, 42, 50), (132, 136, 146)
CLOSED, SURFACE, OPEN, NEAR = (188, 196, 208), (222, 203, 168), (190, 226, 190), (214, 72, 48)
THING, PANEL = (58, 108, 168), (255, 255, 255)
STATE_INK = (168, 84, 20)


def room_picture(world: World, size: int) -> np.ndarray:
    """The plan of a room, uint8 [size, size, 3]: above the room, below what is held and seen."""
    picture = Image.new("RGB", (size, size), FLOOR)
    pen = ImageDraw.Draw(picture)
    unit = size / 512
    font = ImageFont.load_default(max(8.0, 10.5 * unit))
    room = size * 0.70
    pen.rectangle([0, 0, size - 1, room], outline=WALL, width=max(2, round(5 * unit)))
    places = list(dict.fromkeys(world.place))
    spots = dict(zip(places, _along_walls(len(places), size, room), strict=True))
    wide, high = _box_size(len(places), size)
    for number, name in enumerate(world.recs):
        x, y = spots[world.place[number]]
        mates = world.near[world.place[number]]
        part = mates.index(number)
        tall = high / len(mates)
        box = [x - wide / 2, y - high / 2 + part * tall, x + wide / 2, y - high / 2 + (part + 1) * tall]
        fill = SURFACE if not world.openable[number] else OPEN if world.opened[number] else CLOSED
        faced = world.place[number] == world.here
        pen.rectangle(box, fill=fill, outline=NEAR if faced else PALE, width=max(1, round((3 if faced else 1) * unit)))
        kind, _, index = name.partition(" ")
        label = _fitting(pen, font, kind, wide - 4 * unit)
        pen.text(((box[0] + box[2]) / 2, (box[1] + box[3]) / 2), f"{label}\n{index}" if tall > 22 * unit else f"{label} {index}",
                 fill=INK, font=font, anchor="mm", align="center", spacing=0)  # fmt: skip
    x, y = spots.get(world.here, (size / 2, room / 2))
    if world.here in spots:  # a step towards the middle of the room
        gap = math.hypot(size / 2 - x, room / 2 - y) or 1.0
        step = 0.62 * max(wide, high)
        x, y = x + (size / 2 - x) * step / gap, y + (room / 2 - y) * step / gap
    radius = 9 * unit
    pen.ellipse([x - radius, y - radius, x + radius, y + radius], fill=NEAR, outline=PANEL, width=max(1, round(2 * unit)))
    _panel(pen, world, font, size, room, unit)
    return np.asarray(picture).copy()


def _along_walls(count: int, size: float, room: float) -> list[tuple[float, float]]:
    """Middles of places, evenly around a rectangle inside the walls."""
    wide, high = _box_size(count, size)
    left, top, right, bottom = wide * 0.62, high * 0.68, size - wide * 0.62, room - high * 0.68
    across, down = right - left, bottom - top
    found = []
    for index in range(count):
        way = index * 2 * (across + down) / count
        if way < across:
            found.append((left + way, top))
        elif way < across + down:
            found.append((right, top + way - across))
        elif way < 2 * across + down:
            found.append((right - (way - across - down), bottom))
        else:
            found.append((left, bottom - (way - 2 * across - down)))
    return found


def _box_size(count: int, size: float) -> tuple[float, float]:
    way = 2 * (0.84 * size + 0.58 * size)
    side = min(size * 0.125, way / max(count, 1) * 0.9)
    return side, min(side, size * 0.085)


def _fitting(pen: ImageDraw.ImageDraw, font: ImageFont.FreeTypeFont | ImageFont.ImageFont, word: str, width: float) -> str:
    """A word, cut until it fits."""
    while len(word) > 3 and pen.textlength(word, font=font) > width:
        word = word[:-1]
    return word


def _panel(
    pen: ImageDraw.ImageDraw, world: World, font: ImageFont.FreeTypeFont | ImageFont.ImageFont,
    size: float, room: float, unit: float,
) -> None:  # fmt: skip
    """Below the room: the hand, and each thing in sight with what has become of it."""
    pen.rectangle([0, room, size, size], fill=PANEL)
    margin, line = 10 * unit, 16 * unit
    y = room + 8 * unit
    held = "nothing" if world.held < 0 else world.objs[world.held]
    pen.text((margin, y), f"In the hand: {held}{_states(world, world.held)}", fill=INK, font=font)
    for number in world.near.get(world.here, ()):
        y += line
        name = world.recs[number]
        if world.openable[number] and not world.opened[number]:
            pen.text((margin, y), f"{name}: closed", fill=PALE, font=font)
            continue
        x = margin
        words = [f"{name}:"] + ([f"{world.objs[one]}{_states(world, one)}" for one in world.inside[number]] or ["nothing"])
        for place, word in enumerate(words):
            width = pen.textlength(f"{word}  ", font=font)
            if x + width > size - margin:
                x, y = margin * 2, y + line
            ink = INK if place == 0 else STATE_INK if "(" in word else THING
            pen.text((x, y), word, fill=ink, font=font)
            x += width


def _states(world: World, thing: int) -> str:
    states = sorted(world.states[thing]) if thing >= 0 else []
    return f" ({', '.join(states)})" if states else ""
