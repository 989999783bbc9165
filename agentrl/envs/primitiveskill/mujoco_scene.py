"""The table and what stands on it, as a MuJoCo model.

Models are shared by all environments with the same things: what differs between episodes (where everything stands,
how far the drawer is open) is state, not model.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from agentrl.envs.common.mujoco import pictures
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.common.mujoco.panda import add_panda
from agentrl.envs.primitiveskill.backend import Thing

mujoco = load()
BASE = (-0.615, 0.0, 0.0)
CAMERA = "viewer"
LARGEST = 1024  # pixels of a picture's side
WOOD, EDGE, FLOOR = (0.74, 0.60, 0.44), (0.55, 0.42, 0.29), (0.80, 0.82, 0.85)
BOX, SPHERE, CYLINDER = (getattr(mujoco.mjtGeom, f"mjGEOM_{name}") for name in ("BOX", "SPHERE", "CYLINDER"))

# The cabinet, in metres, for a thing of size 1: half sides. It stands on the table; the drawer slides along +x.
WALL = 0.006
FLOOR_OF_TRAY = 0.012  # its upper side, above the table


@lru_cache(maxsize=16)
def compile_scene(things: tuple[Thing, ...]) -> Any:
    """The model of a table with these things."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.timestep, spec.option.integrator = 0.002, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone, spec.option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 10.0
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET  # a diverged simulation must be seen
    spec.visual.global_.offwidth = spec.visual.global_.offheight = LARGEST
    pictures.prepare(spec, shadows=0)
    _add_room(spec)
    add_panda(spec, BASE)
    for thing in things:
        ADD[thing.shape](spec, thing)
    return spec.compile()


def _add_room(spec: Any) -> None:
    world = spec.worldbody
    world.add_geom(name="table", type=BOX, pos=(-0.12, 0.0, -0.02), size=(0.72, 0.62, 0.02), rgba=(*WOOD, 1.0))
    world.add_light(pos=(0.6, -0.5, 1.8), dir=(-0.4, 0.3, -1.0), diffuse=(0.6, 0.6, 0.6), specular=(0.1, 0.1, 0.1))
    world.add_light(pos=(-0.3, 0.9, 1.6), dir=(0.2, -0.6, -1.0), diffuse=(0.3, 0.3, 0.3), specular=(0, 0, 0))
    world.add_camera(name=CAMERA, pos=(0.85, 0.0, 0.78), xyaxes=(0, 1, 0, -0.66, 0, 0.75), fovy=52.0)


def _add_cube(spec: Any, thing: Thing) -> None:
    body, side = _movable(spec, thing), thing.size / 1000
    body.add_geom(type=BOX, size=(side, side, side), rgba=(*thing.colour, 1.0), density=400.0, condim=4)


def _add_sphere(spec: Any, thing: Thing) -> None:
    body, radius = _movable(spec, thing), thing.size / 1000
    body.add_geom(
        type=SPHERE,
        size=(radius, 0, 0),
        rgba=(*thing.colour, 1.0),
        density=400.0,
        condim=6,
        friction=(1.0, 0.01, 0.002),  # a real apple is not round: it soon stops rolling
    )


def _movable(spec: Any, thing: Thing) -> Any:
    body = spec.worldbody.add_body(name=thing.name)
    body.add_freejoint(name=thing.name)
    return body


def _add_disc(spec: Any, thing: Thing) -> None:
    body, radius = spec.worldbody.add_body(name=thing.name, mocap=True), thing.size / 1000
    body.add_geom(type=CYLINDER, size=(radius, 0.0006, 0), rgba=(*thing.colour, 1.0), contype=0, conaffinity=0)


ADD = {"cube": _add_cube, "sphere": _add_sphere, "disc": _add_disc}
