"""Draws the picture of the homes for the documentation: rooms at the height of the eye, two homes from above, and
every type of object.

python scripts/navigation_pictures.py [types.png]
"""

from __future__ import annotations

import sys
from math import cos, radians, sin
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.common.mujoco.pictures import draw
from agentrl.envs.navigation.catalogue import TYPES
from agentrl.envs.navigation.catalogue.object_type import ObjectType
from agentrl.envs.navigation.homes.build import build_home
from agentrl.envs.navigation.homes.home import Home, Item, Room
from agentrl.envs.navigation.scene import CEILING, compile_home, draw_from_above, place_eye

mujoco = load()
ROOT = Path(__file__).resolve().parent.parent
ROOMS = (  # seed, x, y, heading, pitch
    (47, 3.25, 3.0, 180, -20),
    (22, 5.25, 3.0, 180, 0),
    (41, 2.5, 2.0, 270, -20),
    (54, 2.0, 1.5, 270, -20),
    (16, 2.25, 3.0, 180, 0),
    (12, 1.0, 6.5, 180, 0),
    (28, 3.0, 1.0, 270, 0),
    (37, 6.75, 5.25, 270, -20),
)
ABOVE = (22, 0)  # seeds
SIZE, SMALL, COLUMNS, GAP = 255, 95, 13, 4
PAPER, INK = (244, 242, 236), (60, 60, 60)


def room_picture(seed: int, x: float, y: float, heading: float, pitch: float) -> Image.Image:
    """What an agent sees there."""
    model = compile_home(build_home(seed))
    data = mujoco.MjData(model)
    place_eye(model, data, x, y, heading, pitch)
    return Image.fromarray(draw(model, data, "eye", SIZE))


def above_picture(seed: int) -> Image.Image:
    """A home without its ceilings."""
    model = compile_home(build_home(seed))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return Image.fromarray(draw_from_above(model, data, SIZE))


def type_picture(kind: ObjectType, number: int = 0, size: int = SMALL) -> Image.Image:
    """One object by itself, from its front and a little from the side, with its name."""
    width, depth, height = kind.sizes[0]
    home = Home(
        0,
        (Room("gallery", (0, 0, 24, 24)),),
        (),
        (),
        (Item(kind.name, (12, 12, height / 2), kind.sizes[0], 0, number % len(kind.looks)),),
    )
    model = compile_home(home)
    data = mujoco.MjData(model)
    lower = 0.62 if height < 0.5 * max(width, depth) else 0.36
    place_eye(model, data, 0, 0, -28, -np.degrees(lower))
    model.cam("eye").fovy = 26
    away = 2.35 * (width**2 + depth**2 + height**2) ** 0.5
    data.mocap_pos[0] = (
        12 + away * sin(radians(28)) * cos(lower),
        12 - away * cos(radians(28)) * cos(lower),
        height / 2 + away * sin(lower),
    )
    mujoco.mj_forward(model, data)
    picture = Image.fromarray(draw(model, data, "eye", 2 * size, hidden=(CEILING,))).resize(
        (size, size), Image.Resampling.LANCZOS
    )
    labelled = Image.new("RGB", (size, size + 12), PAPER)
    labelled.paste(picture)
    ImageDraw.Draw(labelled).text((size / 2, size + 6), kind.name, fill=INK, anchor="mm")
    return labelled


def sheet(pictures: list[Image.Image], columns: int) -> Image.Image:
    """Pictures of one size in rows."""
    width, height = pictures[0].width + GAP, pictures[0].height + GAP
    rows = -(-len(pictures) // columns)
    paper = Image.new("RGB", (columns * width - GAP, rows * height - GAP), PAPER)
    for number, picture in enumerate(pictures):
        paper.paste(picture, (number % columns * width, number // columns * height))
    return paper


def types_sheet() -> Image.Image:
    """Every type, in rows."""
    return sheet([type_picture(kind, number) for number, kind in enumerate(TYPES.values())], COLUMNS)


def main() -> int:
    """Write `docs/_static/navigation.png`, or the sheet of types where the argument says."""
    if sys.argv[1:]:
        types_sheet().save(sys.argv[1])
        return 0
    rooms, above = [room_picture(*room) for room in ROOMS], [above_picture(seed) for seed in ABOVE]
    upper, lower = sheet([*rooms[:4], above[0], *rooms[4:], above[1]], 5), types_sheet()
    paper = Image.new("RGB", (upper.width + 2 * GAP, upper.height + lower.height + 3 * GAP), PAPER)
    paper.paste(upper, (GAP, GAP))
    paper.paste(lower, ((paper.width - lower.width) // 2, upper.height + 2 * GAP))
    flat = paper.quantize(200, kmeans=2)
    rooms_only = paper.crop((0, 0, paper.width, upper.height + GAP))
    flat.paste(rooms_only.quantize(palette=flat, dither=Image.Dither.FLOYDSTEINBERG))  # walls without steps of colour
    flat.save(ROOT / "docs" / "_static" / "navigation.png", optimize=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
