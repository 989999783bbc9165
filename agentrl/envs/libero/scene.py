"""A task's scene as a MuJoCo model.

What differs between episodes (where everything stands, how far drawers are open) is state, not model: fixtures are
mocap bodies. So all environments of a task share one model.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.envs.common.mujoco import pictures
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.common.mujoco.looks import change_surfaces
from agentrl.envs.common.mujoco.panda import FINGERS, GRIPPER, HARD, add_panda, set_damping
from agentrl.envs.common.perturb import UNCHANGED, Perturbation
from agentrl.envs.libero.arm import HAND, WRIST_AT, use_torques
from agentrl.envs.libero.bddl import Problem, read_problem
from agentrl.envs.libero.objects import model_of
from agentrl.envs.libero.objects.sculptor import BOX, REGION, Sculptor, add_picture, rgba, weigh
from agentrl.envs.libero.package import task_file

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
        (x, y), (long, wide) = arena.origin, (arena.size[0] / 2, arena.size[1] / 2)
        add_picture(spec, "table", _planks(*arena.top, boards=4))
        top = (x, y, arena.height - 0.02)
        world.add_geom(name=SURFACE, type=BOX, pos=top, size=(long, wide, 0.02), material="table")
        seen = {"rgba": rgba(arena.top[1]), "contype": 0, "conaffinity": 0}
        below = (x, y, arena.height - 0.021)
        world.add_geom(type=BOX, pos=below, size=(long + 0.004, wide + 0.004, 0.019), **seen)
        for right in (-1, 1):
            for far in (-1, 1):
                leg = (x + right * (long - 0.04), y + far * (wide - 0.04), arena.height / 2 - 0.02)
                world.add_geom(type=BOX, pos=leg, size=(0.03, 0.03, arena.height / 2 - 0.02), **seen)
    # Lights from afar, so that large flat things have one brightness.
    for direction, strength in (((-0.5, 0.45, -1.0), 0.45), ((0.3, -0.7, -0.9), 0.22)):
        light = spec.worldbody.add_light(pos=(0, 0, 3), dir=direction, diffuse=(strength,) * 3, castshadow=False)
        light.specular = (0.12,) * 3
        if hasattr(light, "directional"):
            light.directional = True
        else:  # from MuJoCo 3.3.1 on
            light.type = mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = (0.42,) * 3, (0.18,) * 3
    spec.visual.headlight.specular = (0,) * 3
    world.add_camera(name=AGENT_VIEW, pos=arena.eye, quat=arena.gaze, fovy=45.0)
    if arena.base[2] > 0:  # the column under the arm
        x, y, z = arena.base
        seen = {"contype": 0, "conaffinity": 0}
        world.add_geom(type=BOX, pos=(x - 0.03, y, z / 2), size=(0.10, 0.10, z / 2), rgba=rgba("#3b3f45"), **seen)
        world.add_geom(type=BOX, pos=(x - 0.03, y, 0.02), size=(0.22, 0.22, 0.02), rgba=rgba("#2b2e33"), **seen)


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


# ---------------------------------------------------------------------- the things in it

MAX_SIZE = 1024  # pixels of a picture's side
GRIP, GRIP_DAMPING = 20000.0, 155.0  # newtons a metre, and a metre a second of each finger
TABLES = ("table", "kitchen_table", "living_room_table", "study_table", "floor")  # types of what things stand on


def fixtures_of(problem: Problem) -> dict[str, str]:
    """The fixtures without the table: name -> type."""
    return {name: kind for name, kind in problem.fixtures.items() if kind not in TABLES}


@lru_cache(maxsize=16)
def load_scene(suite: str, task: str) -> tuple[Problem, Any]:
    """A task of LIBERO: what its file says, and the model."""
    problem = read_problem(task_file(suite, task))
    return problem, compile_scene(problem)


def compile_scene(problem: Problem, change: Perturbation = UNCHANGED, name: str = "") -> Any:
    """The model of a task; `ConfigError` if the task has something that we have no model of. `change` may give the
    room other surfaces, as it does for a task of that name."""
    arena = arena_of(problem.name)
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.timestep = 0.002
    spec.option.cone, spec.option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 10.0  # grasped things do not creep
    spec.default.geom.solref, spec.default.geom.solimp = HARD["solref"], HARD["solimp"]
    spec.visual.global_.offwidth = spec.visual.global_.offheight = MAX_SIZE
    spec.visual.map.znear = 0.01
    pictures.prepare(spec)
    add_arena(spec, arena)
    room = {"floor": arena.floor[0], "wall": arena.wall, "table": arena.top[0]}  # by material
    surfaces = [(geom, rgba(room[geom.material])[:3]) for geom in spec.geoms if geom.material in room]
    change_surfaces(spec, surfaces, change, name)
    add_panda(spec, arena.base)
    # The gripper's servo presses with a force that grows with the way that is left, which is short for the thin walls
    # of bowls and mugs: a stiff one presses with all its force at once, like the real hand.
    servo = spec.actuator(GRIPPER)
    servo.gainprm[0], servo.biasprm[1], servo.biasprm[2] = GRIP, -GRIP, 0.0
    for finger in FINGERS:
        set_damping(spec.joint(finger), GRIP_DAMPING)
    use_torques(spec)
    spec.body(HAND).add_camera(
        name=WRIST, pos=(0.05, 0.0, WRIST_AT), quat=(0.0, 0.7071068, 0.7071068, 0.0), fovy=WRIST_VIEW
    )
    for name, kind in (fixtures_of(problem) | problem.objects).items():
        model = model_of(kind)
        if name in problem.objects:
            if not model.mass:
                raise ConfigError(f"a {kind} cannot be moved: it must be a fixture")
            body = spec.worldbody.add_body(name=name)
            body.add_freejoint(name=name)
            weigh(body, model.mass, model.half, (0.0, 0.0, -0.3 * model.half[2]))
        else:
            if model.mass:
                raise ConfigError(f"a {kind} cannot be a fixture")
            body = spec.worldbody.add_body(name=name, mocap=True)
            weigh(body, 1.0, model.half)  # it does not move, but MuJoCo wants it to weigh something
        sculptor = Sculptor(spec, body, name, kind)
        model.build(sculptor)
        for region, place in model.places.items():
            part = Sculptor(spec, spec.body(f"{name}_{place.part}"), name, kind) if place.part else sculptor
            part.place(region, place)
    for name, region in problem.regions.items():  # rectangles on the table
        if problem.fixtures.get(region.target) in TABLES and region.rectangles:
            x0, y0, x1, y1 = region.rectangles[0]
            middle = ((x0 + x1) / 2 + arena.origin[0], (y0 + y1) / 2 + arena.origin[1], arena.height)
            size = (max((x1 - x0) / 2, 0.001), max((y1 - y0) / 2, 0.001), 0.001)
            spec.worldbody.add_site(name=name, type=BOX, pos=middle, size=size, group=REGION)
    return spec.compile()
