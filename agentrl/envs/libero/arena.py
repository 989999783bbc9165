"""The five rooms of LIBERO: what things stand on, where the arm is mounted, and from where one looks.

Heights, offsets, mounts and cameras are those of LIBERO's problem classes; what the rooms look like is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.libero.objects.sculptor import BOX, add_picture, rgba

mujoco = load()
AGENT_VIEW, WRIST = "agentview", "eye_in_hand"
SURFACE = "surface"  # the geom that things stand on
PIXELS = 256  # sides of a texture
WRIST_VIEW = 75.0  # degrees


@dataclass(frozen=True)
class Arena:
    """A room."""

    height: float  # of what things stand on
    origin: tuple[float, float]  # of the regions on it
    base: tuple[float, float, float]  # of the arm
    eye: tuple[float, float, float]
    gaze: tuple[float, float, float, float]  # quaternion of the camera
    size: tuple[float, float] | None  # of the table; None: the floor
    top: tuple[str, str]  # colours of the table's grain
    floor: tuple[str, str]
    wall: str


_STEEP = (0.6380177736282349, 0.3048497438430786, 0.30484986305236816, 0.6380177736282349)
_FLAT = (0.6182166934013367, 0.3432307541370392, 0.3432314395904541, 0.6182177066802979)
ARENAS = {
    "libero_tabletop_manipulation": Arena(
        0.90, (0.0, 0.0), (-0.66, 0.0, 0.912), (0.6586131746834771, 0.0, 1.6103500240372423), _STEEP,
        (1.0, 1.2), ("#c9a273", "#bd9464"), ("#8d9aa6", "#7f8c98"), "#d8d3c6",
    ),
    "libero_kitchen_tabletop_manipulation": Arena(
        0.90, (0.0, 0.0), (-0.66, 0.0, 0.912), (0.6586131746834771, 0.0, 1.6103500240372423), _STEEP,
        (1.0, 1.2), ("#d9cdb8", "#cfc1a9"), ("#a9a79f", "#97958d"), "#e8dcb6",
    ),
    "libero_living_room_tabletop_manipulation": Arena(
        0.41, (0.0, 0.0), (-0.51, 0.0, 0.42), (0.6065773716836134, 0.0, 0.96), _FLAT,
        (0.70, 1.6), ("#b9b4ad", "#aea8a0"), ("#a9835c", "#9a7650"), "#cfd8d6",
    ),
    "libero_study_tabletop_manipulation": Arena(
        0.867, (-0.2, 0.0), (-0.75, 0.0, 0.912), (0.4586131746834771, 0.0, 1.6103500240372423), _STEEP,
        (1.0, 1.2), ("#a9805a", "#9c734e"), ("#9aa3ab", "#8b949c"), "#cdd6de",
    ),
    "libero_floor_manipulation": Arena(
        0.0, (0.0, 0.0), (-0.60, 0.0, 0.0), (0.8965773716836134, 0.0, 0.65), _FLAT,
        None, ("", ""), ("#b8956c", "#aa875e"), "#d9d5cc",
    ),
}  # fmt: skip


def arena_of(problem: str) -> Arena:
    """The room of a problem class; `ConfigError` if it is unknown."""
    if problem not in ARENAS:
        raise ConfigError(f"unknown problem class {problem[:80]!a}.{did_you_mean(problem, ARENAS)}")
    return ARENAS[problem]


def add_arena(spec: Any, arena: Arena) -> None:
    """The room, its lights and the camera; the arm is not in it yet."""
    world = spec.worldbody
    add_picture(spec, "floor", _planks(*arena.floor, boards=6), repeat=(3.0, 3.0))
    surface = {"name": SURFACE} if arena.size is None else {}
    world.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=(3, 3, 0.1), material="floor", **surface)
    spec.add_material(name="wall", rgba=rgba(arena.wall), emission=0.12, specular=0, shininess=0, reflectance=0)
    world.add_geom(type=BOX, pos=(-1.6, 0, 1.2), size=(0.02, 3, 1.2), material="wall", contype=0, conaffinity=0)
    if arena.size is not None:
        _add_table(spec, arena)
    _add_lights(spec)
    world.add_camera(name=AGENT_VIEW, pos=arena.eye, quat=arena.gaze, fovy=45.0)
    if arena.base[2] > 0:
        _add_mount(world, arena)


def _add_table(spec: Any, arena: Arena) -> None:
    assert arena.size is not None
    (x, y), world = arena.origin, spec.worldbody
    half = (arena.size[0] / 2, arena.size[1] / 2, 0.02)
    add_picture(spec, "table", _planks(*arena.top, boards=4))
    world.add_geom(name=SURFACE, type=BOX, pos=(x, y, arena.height - 0.02), size=half, material="table")
    seen = {"rgba": rgba(arena.top[1]), "contype": 0, "conaffinity": 0}
    world.add_geom(type=BOX, pos=(x, y, arena.height - 0.021), size=(half[0] + 0.004, half[1] + 0.004, 0.019), **seen)
    for right in (-1, 1):
        for far in (-1, 1):
            leg = (x + right * (half[0] - 0.04), y + far * (half[1] - 0.04), arena.height / 2 - 0.02)
            world.add_geom(type=BOX, pos=leg, size=(0.03, 0.03, arena.height / 2 - 0.02), **seen)


def _add_mount(world: Any, arena: Arena) -> None:
    """The column under the arm."""
    x, y, z = arena.base
    seen = {"contype": 0, "conaffinity": 0}
    world.add_geom(type=BOX, pos=(x - 0.03, y, z / 2), size=(0.10, 0.10, z / 2), rgba=rgba("#3b3f45"), **seen)
    world.add_geom(type=BOX, pos=(x - 0.03, y, 0.02), size=(0.22, 0.22, 0.02), rgba=rgba("#2b2e33"), **seen)


def _add_lights(spec: Any) -> None:
    """From afar, so that large flat things have one brightness."""
    for direction, strength in (((-0.5, 0.45, -1.0), 0.45), ((0.3, -0.7, -0.9), 0.22)):
        light = spec.worldbody.add_light(pos=(0, 0, 3), dir=direction, diffuse=(strength,) * 3, castshadow=False)
        light.specular = (0.12,) * 3
        if hasattr(light, "directional"):
            light.directional = True
        else:  # from MuJoCo 3.3.1 on
            light.type = mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = (0.42,) * 3, (0.18,) * 3
    spec.visual.headlight.specular = (0,) * 3


def _planks(light: str, dark: str, boards: int) -> np.ndarray:
    """Boards along x between two tones, uint8 [PIXELS, PIXELS, 3]."""
    y, x = np.mgrid[0:PIXELS, 0:PIXELS] / PIXELS
    row = np.floor(y * boards)
    tone = (
        0.5
        + 0.35 * np.sin(row * 12.9)
        + 0.15 * np.sin(2 * np.pi * (y * boards * 5 + 0.6 * np.sin(2 * np.pi * (x + row * 0.37))))
    )
    tone[(y * boards) % 1 < 0.03] = 1.4
    first, second = (np.array(rgba(colour)[:3]) for colour in (light, dark))
    mixed = first + tone[..., None] * (second - first)
    return (np.clip(mixed, 0, 1) * 255).astype(np.uint8)
