"""The table and what stands on it, as a MuJoCo model.

Models are shared by all environments with the same things: what differs between episodes (where everything stands,
how far the drawer is open) is state, not model.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from agentrl.envs.common.mujoco import pictures
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.common.mujoco.looks import change_model, change_surfaces
from agentrl.envs.common.mujoco.panda import HARD, add_panda
from agentrl.envs.common.perturb import Perturbation
from agentrl.envs.primitiveskill.backend import Thing
from agentrl.envs.primitiveskill.shapes import (
    BASE,
    CABINET,
    DRAWER,
    EYE,
    HANDLE,
    LOOKS_AT,
    METAL,
    MIDDLE,
    SHADE,
    TRAVEL,
    VIEW,
    Board,
    boxes,
)

mujoco = load()
CAMERA, TABLE, GROUND = "viewer", "table", "ground"
MAX_SIZE = 1024  # pixels of a picture's side

WOOD, EDGE, FLOOR = (0.78, 0.66, 0.50), (0.55, 0.42, 0.30), (0.42, 0.48, 0.56)
BOX, SPHERE, CYLINDER = (getattr(mujoco.mjtGeom, f"mjGEOM_{name}") for name in ("BOX", "SPHERE", "CYLINDER"))

UNTOUCHED = {"contype": 0, "conaffinity": 0}  # for the eye only


@lru_cache(maxsize=16)
def compile_scene(things: tuple[Thing, ...], look: tuple[Perturbation, str] | None = None) -> Any:
    """The model of a table with these things, perhaps in another light, through another camera, of other surfaces."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.timestep = 0.002
    spec.option.cone, spec.option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 10.0  # grasped things do not creep
    spec.default.geom.solref, spec.default.geom.solimp = HARD["solref"], HARD["solimp"]
    spec.visual.global_.offwidth = spec.visual.global_.offheight = MAX_SIZE
    pictures.prepare(spec, shadows=0)
    quality = spec.visual.quality
    quality.numquads, quality.numslices, quality.numstacks = 4, 24, 12  # the light falls softly on a large table
    _add_room(spec)
    add_panda(spec, BASE)
    for thing in things:
        ADD[thing.shape](spec, thing)
    if look is not None:
        change_surfaces(spec, [(spec.geom(TABLE), WOOD), (spec.geom(GROUND), FLOOR)], *look)
    model = spec.compile()
    if look is not None:
        change_model(model, *look, CAMERA, (0.0, 0.0, 0.0))
    return model


def _add_room(spec: Any) -> None:
    world = spec.worldbody
    plane = mujoco.mjtGeom.mjGEOM_PLANE
    world.add_geom(name=GROUND, type=plane, pos=(0, 0, -0.75), size=(4, 4, 0.1), rgba=(*FLOOR, 1.0))
    middle, half = np.array([-0.20, 0.0, -0.02]), np.array([0.62, 0.52, 0.02])
    world.add_geom(name=TABLE, type=BOX, pos=middle, size=half, rgba=(*WOOD, 1.0))
    world.add_geom(type=BOX, pos=middle - (0, 0, 0.04), size=half * 1.02, rgba=(*EDGE, 1.0))
    world.add_light(pos=(0.5, -0.7, 1.7), dir=(-0.45, 0.45, -1.0), diffuse=(0.55,) * 3, specular=(0.15,) * 3)
    world.add_light(
        pos=(0.2, 0.9, 1.5), dir=(-0.2, -0.6, -1.0), diffuse=(0.25,) * 3, specular=(0,) * 3, castshadow=False
    )
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = (0.38,) * 3, (0.15,) * 3
    spec.visual.headlight.specular = (0,) * 3
    # The viewer's place: on the +x side, facing -x, so that -y is on the left.
    forward = np.subtract(LOOKS_AT, EYE) / np.linalg.norm(np.subtract(LOOKS_AT, EYE))
    right = np.array([0.0, 1.0, 0.0])
    world.add_camera(name=CAMERA, pos=EYE, xyaxes=(*right, *np.cross(right, forward)), fovy=VIEW)


def _add_cube(spec: Any, thing: Thing) -> None:
    body, side = _add_movable(spec, thing), thing.size / 1000
    body.add_geom(type=BOX, size=(side, side, side), rgba=(*thing.colour, 1.0), density=600.0)


def _add_sphere(spec: Any, thing: Thing) -> None:
    body, radius = _add_movable(spec, thing), thing.size / 1000
    shown = {"mass": 0.0, **UNTOUCHED}  # what makes a ball an apple: for the eye only
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=(0, 0, 0.9 * radius, 0.1 * radius, 0, 1.2 * radius),
        size=(0.08 * radius, 0, 0), rgba=(0.35, 0.22, 0.12, 1.0), **shown,
    )  # fmt: skip
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_ELLIPSOID, pos=(0.2 * radius, 0.35 * radius, 1.08 * radius),
        size=(0.18 * radius, 0.38 * radius, 0.06 * radius), rgba=(0.25, 0.55, 0.2, 1.0), **shown,
    )  # fmt: skip
    body.add_geom(
        type=SPHERE,
        size=(radius, 0, 0),
        rgba=(*thing.colour, 1.0),
        density=600.0,
        condim=6,
        friction=(1.0, 0.01, 0.002),  # fruit is not quite round: it soon stops rolling
    )


def _add_movable(spec: Any, thing: Thing) -> Any:
    body = spec.worldbody.add_body(name=thing.name)
    body.add_freejoint(name=thing.name)
    return body


def _add_disc(spec: Any, thing: Thing) -> None:
    body, radius = spec.worldbody.add_body(name=thing.name, mocap=True), thing.size / 1000
    body.add_geom(type=CYLINDER, size=(radius, 0.0006, 0), rgba=(*thing.colour, 1.0), **UNTOUCHED)


def _add_drawer(spec: Any, thing: Thing) -> None:
    """A cabinet that stands still, `NAME_cabinet`, and a drawer in it that slides along the cabinet's x axis."""
    size, cabinet = thing.size / 1000, spec.worldbody.add_body(name=f"{thing.name}_cabinet", mocap=True)
    drawer = cabinet.add_body(name=thing.name, pos=(0.0, 0.0, size * MIDDLE))
    drawer.add_joint(
        name=thing.name,
        type=mujoco.mjtJoint.mjJNT_SLIDE,
        axis=(1, 0, 0),
        range=(0.0, TRAVEL * size),
        damping=8.0,
        frictionloss=0.5,
    )
    _add_boards(cabinet, CABINET, thing, [SHADE * part for part in thing.colour])
    _add_boards(drawer, DRAWER, thing, thing.colour)
    _add_boards(drawer, HANDLE, thing, METAL)
    spec.add_exclude(bodyname1=cabinet.name, bodyname2=drawer.name)


def _add_boards(body: Any, boards: Sequence[Board], thing: Thing, colour: Sequence[float]) -> None:
    for middle, half in boxes(boards, thing):
        body.add_geom(type=BOX, pos=middle, size=half, rgba=(*colour, 1.0), density=300.0)


ADD = {"cube": _add_cube, "sphere": _add_sphere, "disc": _add_disc, "drawer": _add_drawer}
