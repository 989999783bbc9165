"""A room from above: receptacles along its walls, what is open, the agent, and what it sees and holds."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from agentrl.envs.alfworld.engine import World

FLOOR, WALL, INK, PALE, PAPER = (247, 243, 234), (74, 78, 88), (38, 42, 50), (132, 136, 146), (255, 255, 255)
CLOSED, SURFACE, OPEN, AGENT = (188, 196, 208), (226, 208, 174), (178, 226, 178), (214, 72, 48)
THING, CHANGED = (48, 98, 158), (176, 84, 12)
ROOM = 0.76  # of the height; below is what the agent sees
LEGEND = (("surface", SURFACE), ("closed", CLOSED), ("open", OPEN))
Box = tuple[float, float, float, float]


def room_picture(world: World, size: int) -> np.ndarray:
    """The plan of a room, uint8 [size, size, 3]."""
    picture = Image.new("RGB", (size, size), FLOOR)
    pen = ImageDraw.Draw(picture)
    unit = size / 512
    pen.rectangle((0, 0, size - 1, size * ROOM), outline=WALL, width=max(2, round(5 * unit)))
    spot = size / 2, size * ROOM / 2
    for (place, stacked), box in zip(world.near.items(), _boxes(len(world.near), size), strict=True):
        tall = (box[3] - box[1]) / len(stacked)
        for part, number in enumerate(stacked):
            top = box[1] + part * tall
            fill = CLOSED if world.closed(number) else OPEN if world.openable[number] else SURFACE
            width, height = round(box[2] - box[0]), round(top + tall) - round(top)
            tile = _tile(world.recs[number], width, height, fill, place == world.here, unit)
            picture.paste(tile, (round(box[0]), round(top)))
        if place == world.here:
            spot = _beside(box, spot)
    (x, y), radius, thick = spot, 9 * unit, max(1, round(2 * unit))
    pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=AGENT, outline=PAPER, width=thick)
    _legend(pen, size, unit)
    _panel(pen, world, size, unit)
    return np.asarray(picture).copy()


def _boxes(count: int, size: float) -> list[Box]:
    """Along the walls: a row at the top, then down the right side, back at the bottom and up the left side."""
    across = max(3, math.ceil(count * 0.3))
    down = max(1, math.ceil((count - 2 * across) / 2))
    edge = 0.014 * size
    wide = (size - 2 * edge) / across
    high = (size * ROOM - 2 * edge) / (down + 2)
    width, height = min(0.92 * wide, 0.17 * size), min(0.9 * high, 0.1 * size)
    columns = [edge + wide * (place + 0.5) for place in range(across)]
    rows = [edge + high * (place + 1.5) for place in range(down)]
    left, right = edge + width / 2, size - edge - width / 2
    top, bottom = edge + height / 2, size * ROOM - edge - height / 2
    middles = [(x, top) for x in columns] + [(right, y) for y in rows]
    middles += [(x, bottom) for x in reversed(columns)] + [(left, y) for y in reversed(rows)]
    return [(x - width / 2, y - height / 2, x + width / 2, y + height / 2) for x, y in middles[:count]]


def _beside(box: Box, middle: tuple[float, float]) -> tuple[float, float]:
    """Just off a box, towards the middle of the room."""
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    gap = math.hypot(middle[0] - x, middle[1] - y) or 1.0
    step = 0.75 * max(box[2] - box[0], box[3] - box[1])
    return x + (middle[0] - x) * step / gap, y + (middle[1] - y) * step / gap


@lru_cache(maxsize=4096)
def _tile(name: str, width: int, height: int, fill: tuple[int, int, int], faced: bool, unit: float) -> Image.Image:
    """A receptacle with its name. Names come again and again, and writing them is what takes time."""
    tile = Image.new("RGB", (width, height), fill)
    pen = ImageDraw.Draw(tile)
    thick = max(1, round((3 if faced else 1) * unit))
    pen.rectangle((0, 0, width - 1, height - 1), outline=AGENT if faced else PALE, width=thick)
    text = name.replace(" ", "\n") if height > 28 * unit else name
    largest = 11.0 * unit
    widest = max(_font(largest).getlength(word) for word in text.split("\n"))
    font = _font(max(largest / 2, min(largest, largest * round(width - 5 * unit) / widest)))
    pen.multiline_text((width / 2, height / 2), text, fill=INK, font=font, anchor="mm", align="center", spacing=0)
    return tile


@lru_cache(maxsize=64)
def _font(size: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(max(round(size * 2) / 2, 5.0))


def _legend(pen: ImageDraw.ImageDraw, size: float, unit: float) -> None:
    x, y = 0.36 * size, 0.5 * size * ROOM + 30 * unit
    for word, colour in LEGEND:
        pen.rectangle((x, y, x + 10 * unit, y + 10 * unit), fill=colour, outline=PALE)
        pen.text((x + 14 * unit, y + 5 * unit), word, fill=PALE, font=_font(10 * unit), anchor="lm")
        x += 56 * unit


def _panel(pen: ImageDraw.ImageDraw, world: World, size: float, unit: float) -> None:
    """Below the room: the hand, and each thing in sight with what has become of it."""
    pen.rectangle((0, size * ROOM + 1, size, size), fill=PAPER)
    font, margin, line = _font(11 * unit), 10 * unit, 15 * unit
    held = "nothing" if world.held < 0 else _with_states(world, world.held)
    rows = [[f"In the hand: {held}"]]
    for number in world.near.get(world.here, ()):
        name = world.recs[number]
        inside = [_with_states(world, thing) for thing in world.inside[number]]
        rows.append([f"{name} is closed."] if world.closed(number) else [f"{name}:", *(inside or ["nothing"])])
    y = size * ROOM + 7 * unit
    for words in rows:
        x = margin
        for place, word in enumerate(words):
            width = pen.textlength(f"{word}   ", font=font)
            if x + width > size - margin:
                x, y = 2 * margin, y + line
            ink = INK if place == 0 else CHANGED if "(" in word else THING
            pen.text((x, y), word, fill=ink, font=font)
            x += width
        y += line


def _with_states(world: World, thing: int) -> str:
    states = ", ".join(sorted(world.states[thing]))
    return f"{world.objs[thing]} ({states})" if states else world.objs[thing]
