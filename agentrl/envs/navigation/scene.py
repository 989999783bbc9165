"""A home as a MuJoCo model: what a camera in it sees.

What a picture of 255 px costs, in milliseconds of one ARM core (Mesa's llvmpipe; 24 homes, 8 poses each): 16 on
average, 33 in the worst twentieth, which is 61 frames per CPU second; compiling a home 33, its first picture 34.

What was tried: MuJoCo's default of 16 squares a side of a box and more slices a cylinder, twice as much; drawing also
what is beside or behind the camera, 1.3 times; four samples a pixel, twice; no textures, 0.9 times; OSMesa instead of
EGL, the same; boxes merged into meshes, the same. So there is no multisampling and no shadow map: shadows are baked
into the floors.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from math import cos, radians, sin
from random import Random
from typing import Any

import numpy as np

from agentrl.envs.common.mujoco import pictures
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.navigation.catalogue import TYPES
from agentrl.envs.navigation.homes.home import Home, Item, Rectangle, Room
from agentrl.envs.navigation.homes.layout import HEIGHT

PIXELS = 64  # sides of a pattern
FLOOR_PIXELS = 40  # of a metre of floor


@cache
def noise(seed: int, size: int = PIXELS) -> np.ndarray:
    """White noise in [-1, 1]."""
    return np.random.default_rng(seed).random((size, size)) * 2 - 1


def smooth(grid: np.ndarray, times: int) -> np.ndarray:
    """Blurred, as if the picture went on periodically."""
    for _ in range(times):
        grid = (grid + np.roll(grid, 1, 0) + np.roll(grid, -1, 0) + np.roll(grid, 1, 1) + np.roll(grid, -1, 1)) / 5
    return grid


PATTERNS = ("fabric", "stone", "wall", "weave", "wood")


@cache
def pattern(name: str) -> np.ndarray:
    """One face of a texture: uint8 [PIXELS, PIXELS, 3]."""
    y, x = np.mgrid[0:PIXELS, 0:PIXELS] / PIXELS
    match name:
        case "wood":
            wave = smooth(noise(1), 6) * 5
            values = 0.92 + 0.05 * np.sin(2 * np.pi * (5 * y + wave)) + 0.03 * noise(2)[:, :1]
        case "fabric":
            values = 0.94 + 0.03 * np.sin(2 * np.pi * 16 * x) * np.sin(2 * np.pi * 16 * y) + 0.03 * noise(3)
        case "stone":
            values = 0.93 + 0.25 * smooth(noise(4), 3) + 0.03 * noise(5)
        case "weave":
            values = 0.85 + 0.15 * np.sign(np.sin(2 * np.pi * 8 * x) * np.sin(2 * np.pi * 8 * y))
        case _:  # a wall, darker towards all edges, as if the neighbouring walls took light away
            across, up = np.minimum(x, 1 - x), np.minimum(y, 1 - y)
            values = 1 - 0.13 * np.exp(-across / 0.09) - 0.13 * np.exp(-up / 0.09)
    return _grey(values)


def _grey(values: np.ndarray) -> np.ndarray:
    return np.repeat((np.clip(values, 0, 1) * 255).astype(np.uint8)[:, :, None], 3, axis=2)


# ---------------------------------------------------------------------- floors


def planks(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Boards of 14 cm along x; metres in, brightness out."""
    row = np.floor(y / 0.14)
    shifted = x / 1.2 + (row * 0.37) % 1
    tone = np.sin(row * 12.9 + np.floor(shifted) * 78.2) * 0.07
    seam = (y / 0.14 % 1 < 0.09) | (shifted % 1 < 0.012)
    return 0.88 + tone + 0.02 * np.sin(y * 160 + np.sin(x * 3 + row)) - 0.14 * seam


def tiles(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Tiles of 33 cm with joints."""
    a, b = x / 0.33, y / 0.33
    joint = (a % 1 < 0.06) | (b % 1 < 0.06)
    return 0.92 + 0.03 * np.sin(np.floor(a) * 12.9 + np.floor(b) * 78.2) - 0.17 * joint


def checks(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Tiles of 40 cm, light and dark by turns."""
    return 0.93 - 0.22 * ((np.floor(x / 0.4) + np.floor(y / 0.4)) % 2)


def carpet(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A soft floor."""
    return 0.93 + 0.04 * noise(6, 256)[(y * FLOOR_PIXELS).astype(int) % 256, (x * FLOOR_PIXELS).astype(int) % 256]


def plain(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """One colour."""
    return np.full_like(x, 0.95)


FLOORS = {"plain": plain, "planks": planks, "tiles": tiles, "checks": checks, "carpet": carpet}


def floor_texture(
    kind: str, width: float, depth: float, shadows: list[tuple[float, float, float, float, float]]
) -> np.ndarray:
    """A floor with the soft shadows of what stands on it: uint8 [height, width, 3], the first row in the north.

    Each shadow is x0, y0, x1, y1 from the south-west corner in metres, and its darkness.
    """
    columns, rows = max(8, round(width * FLOOR_PIXELS)), max(8, round(depth * FLOOR_PIXELS))
    y = (np.arange(rows)[::-1, None] + 0.5) * depth / rows + np.zeros((1, columns))
    x = (np.arange(columns)[None, :] + 0.5) * width / columns + np.zeros((rows, 1))
    light = FLOORS[kind](y, x)
    edge = np.minimum(np.minimum(x, width - x), np.minimum(y, depth - y))
    light *= 1 - 0.22 * np.exp(-edge / 0.25)
    for x0, y0, x1, y1, darkness in shadows:
        dx = np.maximum(np.maximum(x0 - x[0], x[0] - x1), 0)[None, :]
        dy = np.maximum(np.maximum(y0 - y[:, 0], y[:, 0] - y1), 0)[:, None]
        light *= 1 - darkness * np.exp(-(dx * dx + dy * dy) / 0.02)
    return _grey(light)


mujoco = load()
EYE_HEIGHT = 1.5
FIELD_OF_VIEW = 100.0  # degrees, from the top of a picture to its bottom
CEILING = 2  # the group of geoms that a view from above leaves out
LINTEL = 2.08  # where the wall above a door begins

# Floor pattern, floor colour, wall colour.


# ---------------------------------------------------------------------- homes

STYLES = {
    "kitchen": (
        ("tiles", 0xD9D2C4, 0xF3E9D2),
        ("checks", 0xE6E2DA, 0xDCE8E4),
        ("planks", 0xC69C6D, 0xF2EFE6),
        ("tiles", 0xB9AFA3, 0xE9DCC6),
    ),
    "living room": (
        ("planks", 0xB98552, 0xEFE6D6),
        ("planks", 0x8F6543, 0xDDE3DC),
        ("planks", 0xD3B48C, 0xE6D5C8),
        ("carpet", 0xB8AE9E, 0xD7E0E8),
    ),
    "bedroom": (
        ("carpet", 0xBFC7CE, 0xE6DDEB),
        ("carpet", 0xC9B9A4, 0xF2E7DC),
        ("planks", 0xC39A6B, 0xD9E6EC),
        ("planks", 0xA87B52, 0xE3EAD8),
    ),
    "bathroom": (
        ("tiles", 0xB9D0D6, 0xE3F0F2),
        ("checks", 0xDDE4E6, 0xD3E6E0),
        ("tiles", 0xCFC6B8, 0xEFEAE0),
        ("tiles", 0x8FA3AD, 0xE8EDEE),
    ),
}
PLAIN = (("plain", 0xEFECE4, 0xF7F5EE),)  # of rooms of other kinds
_GEOMS = {
    "box": mujoco.mjtGeom.mjGEOM_BOX,
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
    "ellipsoid": mujoco.mjtGeom.mjGEOM_ELLIPSOID,
}


def compile_home(home: Home) -> Any:
    """The model of a home, with the cameras `eye` (see `place_eye`) and `top`."""
    spec = mujoco.MjSpec()
    pictures.prepare(spec)
    spec.nuser_geom = 1
    _light(spec)
    for name in PATTERNS:
        texture = spec.add_texture(
            name=name, type=mujoco.mjtTexture.mjTEXTURE_CUBE, width=PIXELS, height=6 * PIXELS, nchannel=3
        )
        texture.data = np.tile(pattern(name), (6, 1, 1)).tobytes()
        _material(spec, name, name)
    x1, y1 = max(room.area[2] for room in home.rooms), max(room.area[3] for room in home.rooms)
    far = max(x1, y1)  # grass around the home, for the view from above
    _block(spec, (-far, -far, x1 + far, y1 + far), (-0.3, -0.2), 0xB9CBA6)
    for number, room in enumerate(home.rooms):
        _add_room(spec, home, number, room)
    for door in home.doors:
        _add_lintel(spec, door.area)
    for wall in home.walls:
        _block(spec, wall.area, (0, wall.height), 0xEDEAE2)
    for index, item in enumerate(home.items):
        _add_item(spec, index, item)
    eye = spec.worldbody.add_body(name="eye", mocap=True, pos=[0, 0, EYE_HEIGHT])
    eye.add_camera(name="eye", fovy=FIELD_OF_VIEW)
    spec.worldbody.add_camera(name="top", pos=[x1 / 2, y1 / 2, HEIGHT + max(x1, y1) * 1.25], fovy=48)
    return spec.compile()


def item_of_geom(model: Any) -> np.ndarray:
    """The index of the item each geom belongs to, -1 for walls, floors and ceilings; int [geoms]."""
    return model.geom_user[:, 0].astype(int)


def place_eye(model: Any, data: Any, x: float, y: float, heading: float = 0.0, pitch: float = 0.0) -> None:
    """Put the camera `eye` there. Degrees: heading 0 is north and 90 east, as on a compass; pitch > 0 looks up."""
    yaw, up = radians(-heading) / 2, radians(90 + pitch) / 2  # a camera looks along its -z
    data.mocap_pos[0] = x, y, EYE_HEIGHT
    data.mocap_quat[0] = cos(yaw) * cos(up), cos(yaw) * sin(up), sin(yaw) * sin(up), sin(yaw) * cos(up)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_camlight(model, data)


def draw_from_above(model: Any, data: Any, size: int) -> np.ndarray:
    """The whole home without its ceilings; uint8 [size, size, 3]."""
    return pictures.draw(model, data, "top", size, hidden=(CEILING,))


def _light(spec: Any) -> None:
    spec.visual.headlight.ambient = [0.56, 0.56, 0.56]
    spec.visual.headlight.diffuse = [0.24, 0.24, 0.24]
    spec.visual.headlight.specular = [0, 0, 0]
    spec.visual.map.znear = 0.005
    spec.visual.map.zfar = 3.0
    spec.stat.extent = 10.0
    spec.stat.center = [0, 0, 1]
    for direction, strength in (((0.45, 0.8, -1.0), 0.3), ((-0.7, -0.25, -0.6), 0.16), ((0, 0, 1), 0.34)):
        spec.worldbody.add_light(
            directional=True,
            dir=direction,
            diffuse=[strength] * 3,
            ambient=[0, 0, 0],
            specular=[0, 0, 0],
            castshadow=False,
        )


def _material(spec: Any, name: str, texture: str) -> None:
    names = [""] * mujoco.mjtTextureRole.mjNTEXROLE
    names[mujoco.mjtTextureRole.mjTEXROLE_RGB] = texture
    spec.add_material(name=name, textures=names, specular=0, shininess=0, reflectance=0)


def _add_room(spec: Any, home: Home, number: int, room: Room) -> None:
    pattern_name, floor, wall = Random(home.seed * 8 + number).choice(STYLES.get(room.kind, PLAIN))
    x0, y0, x1, y1 = room.area
    shadows = []
    for item in home.items:
        (x, y, z), (w, d, h) = item.position, item.size
        if item.room == number and z - h / 2 < 0.02 and h > 0.03:
            shadows.append((x - w / 2 - x0, y - d / 2 - y0, x + w / 2 - x0, y + d / 2 - y0, 0.45))
    picture = floor_texture(pattern_name, x1 - x0, y1 - y0, shadows)
    name = f"floor {number}"
    texture = spec.add_texture(
        name=name, type=mujoco.mjtTexture.mjTEXTURE_2D, width=picture.shape[1], height=picture.shape[0], nchannel=3
    )
    texture.data = picture.tobytes()
    _material(spec, name, name)
    _block(spec, room.area, (-0.1, 0), floor, material=name)
    _block(spec, room.area, (HEIGHT, HEIGHT + 0.05), 0xFAF8F2, "wall", CEILING)
    for side in range(4):
        pieces = _pieces(home, number, room.area, side)
        for low, high in pieces:
            _panel(spec, room.area, side, (low, high), (0.0, HEIGHT), 0.004, wall, "wall")
            _panel(spec, room.area, side, (low, high), (0.0, 0.09), 0.015, 0xF7F5EF)  # skirting board
        for before, behind in pairwise(pieces):
            _panel(spec, room.area, side, (before[1], behind[0]), (LINTEL, HEIGHT), 0.004, wall)


def _pieces(home: Home, number: int, area: Rectangle, side: int) -> list[tuple[float, float]]:
    """The stretches of a room's wall without doors."""
    along = side % 2
    edges = [area[along], area[along + 2]]
    line = (area[3], area[0], area[1], area[2])[side]
    for door in home.doors:
        across = 1 - along
        if number in door.rooms and min(abs(door.area[across] - line), abs(door.area[across + 2] - line)) < 0.01:
            edges += [door.area[along], door.area[along + 2]]
    edges.sort()
    return list(zip(edges[::2], edges[1::2], strict=True))


def _panel(
    spec: Any,
    area: Rectangle,
    side: int,
    along: tuple[float, float],
    z: tuple[float, float],
    thick: float,
    colour: int,
    material: str = "",
) -> None:
    """A flat piece on a wall of a room."""
    (x0, y0, x1, y1), (low, high) = area, along
    pieces = (
        (low, y1 - thick, high, y1),
        (x0, low, x0 + thick, high),
        (low, y0, high, y0 + thick),
        (x1 - thick, low, x1, high),
    )
    _block(spec, pieces[side], z, colour, material)


def _add_lintel(spec: Any, area: Rectangle) -> None:
    """The wall above a door, and its frame."""
    x0, y0, x1, y1 = area
    _block(spec, area, (LINTEL, HEIGHT), 0xEDEAE2)
    grow, post = 0.02, 0.06
    if y1 - y0 > x1 - x0:
        _block(spec, (x0 - grow, y0, x1 + grow, y0 + post), (0, LINTEL), 0xFBFAF6)
        _block(spec, (x0 - grow, y1 - post, x1 + grow, y1), (0, LINTEL), 0xFBFAF6)
    else:
        _block(spec, (x0, y0 - grow, x0 + post, y1 + grow), (0, LINTEL), 0xFBFAF6)
        _block(spec, (x1 - post, y0 - grow, x1, y1 + grow), (0, LINTEL), 0xFBFAF6)
    frame = (x0 - grow, y0, x1 + grow, y1) if y1 - y0 > x1 - x0 else (x0, y0 - grow, x1, y1 + grow)
    _block(spec, frame, (LINTEL - 0.06, LINTEL + 0.02), 0xFBFAF6)
    _block(spec, area, (-0.1, 0.001), 0x9A7B57)


def _block(spec: Any, area: Rectangle, z: tuple[float, float], colour: int, material: str = "", group: int = 0) -> None:
    x0, y0, x1, y1 = area
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=[(x0 + x1) / 2, (y0 + y1) / 2, (z[0] + z[1]) / 2],
        size=[(x1 - x0) / 2, (y1 - y0) / 2, (z[1] - z[0]) / 2],
        rgba=rgba(colour),
        material=material,
        group=group,
        contype=0,
        conaffinity=0,
        userdata=[-1],
    )


def _add_item(spec: Any, index: int, item: Item) -> None:
    """The parts of a thing, at its place and turned as it is."""
    kind = TYPES[item.type]
    width, depth = item.size[:2] if item.turned % 2 == 0 else item.size[1::-1]
    x, y, z = item.position
    base = z - item.size[2] / 2
    c, s = ((1, 0), (0, 1), (-1, 0), (0, -1))[item.turned]
    for part in kind.shape(width, depth, item.size[2], kind.looks[item.variant]):
        px, py, pz = part.centre
        spec.worldbody.add_geom(
            type=_GEOMS[part.shape],
            pos=(x + c * px - s * py, y + s * px + c * py, base + pz),
            quat=_quaternion((*part.turned[:2], part.turned[2] + 90 * item.turned)),
            size=part.half if part.shape != "cylinder" else (part.half[0], part.half[2], 0),
            rgba=rgba(part.colour, part.opacity),
            material=part.texture or "",
            contype=0,
            conaffinity=0,
            userdata=[index],
        )


def _quaternion(turned: tuple[float, float, float]) -> list[float]:
    """Of turns about the fixed x, then y, then z."""
    w, x, y, z = 1.0, 0.0, 0.0, 0.0
    for axis, angle in enumerate(turned):
        if angle:
            c, s = cos(radians(angle) / 2), sin(radians(angle) / 2)
            a, b, d = (s if axis == n else 0.0 for n in range(3))
            w, x, y, z = (
                c * w - a * x - b * y - d * z,
                c * x + a * w + b * z - d * y,
                c * y + b * w + d * x - a * z,
                c * z + d * w + a * y - b * x,
            )
    return [w, x, y, z]


def rgba(colour: int, opacity: float = 1.0) -> list[float]:
    """0xRRGGBB as MuJoCo takes colours."""
    return [(colour >> 16 & 255) / 255, (colour >> 8 & 255) / 255, (colour & 255) / 255, opacity]
