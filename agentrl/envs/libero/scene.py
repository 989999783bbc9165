"""A task's scene as a MuJoCo model.

What differs between episodes (where everything stands, how far drawers are open) is state, not model: fixtures are
mocap bodies. So all environments of a task share one model.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from agentrl.core.errors import ConfigError
from agentrl.envs.common.mujoco import pictures
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.common.mujoco.panda import GRIPPER, HARD, add_panda
from agentrl.envs.libero.arena import WRIST, WRIST_VIEW, Arena, add_arena, arena_of
from agentrl.envs.libero.bddl import Problem, read_problem
from agentrl.envs.libero.data.package import task_file
from agentrl.envs.libero.objects.catalogue import model_of
from agentrl.envs.libero.objects.sculptor import BOX, REGION, Sculptor, weigh

mujoco = load()
MAX_SIZE = 1024  # pixels of a picture's side
GRIP, GRIP_DAMPING = 20000.0, 300.0  # newtons a metre, and a metre a second
TABLES = ("table", "kitchen_table", "living_room_table", "study_table", "floor")  # types of what things stand on


def fixtures_of(problem: Problem) -> dict[str, str]:
    """The fixtures without the table: name -> type."""
    return {name: kind for name, kind in problem.fixtures.items() if kind not in TABLES}


@lru_cache(maxsize=16)
def load_scene(suite: str, task: str) -> tuple[Problem, Any]:
    """A task of LIBERO: what its file says, and the model."""
    problem = read_problem(task_file(suite, task))
    return problem, compile_scene(problem)


def compile_scene(problem: Problem) -> Any:
    """The model of a task; `ConfigError` if the task has something that we have no model of."""
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
    add_panda(spec, arena.base)
    _firm_grip(spec)
    _add_wrist_camera(spec)
    for name, kind in fixtures_of(problem).items():
        _add_fixture(spec, name, kind)
    for name, kind in problem.objects.items():
        _add_object(spec, name, kind)
    _add_regions(spec, problem, arena)
    return spec.compile()


def _firm_grip(spec: Any) -> None:
    """The gripper's servo presses with a force that grows with the way that is left, which is short for the thin walls
    of bowls and mugs: a stiff one presses with all its force at once, like the real hand."""
    servo = spec.actuator(GRIPPER)
    servo.gainprm[0], servo.biasprm[1], servo.biasprm[2] = GRIP, -GRIP, -GRIP_DAMPING


def _add_wrist_camera(spec: Any) -> None:
    """Beside the fingers, looking where they point."""
    spec.body("panda_hand").add_camera(
        name=WRIST, pos=(0.05, 0.0, 0.0), quat=(0.0, 0.7071068, 0.7071068, 0.0), fovy=WRIST_VIEW
    )


def _add_fixture(spec: Any, name: str, kind: str) -> None:
    model = model_of(kind)
    if model.mass:
        raise ConfigError(f"a {kind} cannot be a fixture")
    body = spec.worldbody.add_body(name=name, mocap=True)
    weigh(body, 1.0, model.half)  # it does not move, but MuJoCo wants it to weigh something
    sculptor = Sculptor(spec, body, name, kind)
    model.build(sculptor)
    for region, place in model.places.items():
        part = Sculptor(spec, spec.body(f"{name}_{place.part}"), name, kind) if place.part else sculptor
        part.place(region, place)


def _add_object(spec: Any, name: str, kind: str) -> None:
    model = model_of(kind)
    if not model.mass:
        raise ConfigError(f"a {kind} cannot be moved: it must be a fixture")
    body = spec.worldbody.add_body(name=name)
    body.add_freejoint(name=name)
    weigh(body, model.mass, model.half, (0.0, 0.0, -0.3 * model.half[2]))
    sculptor = Sculptor(spec, body, name, kind)
    model.build(sculptor)
    for region, place in model.places.items():
        sculptor.place(region, place)


def _add_regions(spec: Any, problem: Problem, arena: Arena) -> None:
    """Rectangles on the table."""
    for name, region in problem.regions.items():
        if problem.fixtures.get(region.target) in TABLES and region.rectangles:
            x0, y0, x1, y1 = region.rectangles[0]
            middle = ((x0 + x1) / 2 + arena.origin[0], (y0 + y1) / 2 + arena.origin[1], arena.height)
            size = (max((x1 - x0) / 2, 0.001), max((y1 - y0) / 2, 0.001), 0.001)
            spec.worldbody.add_site(name=name, type=BOX, pos=middle, size=size, group=REGION)
