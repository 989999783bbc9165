"""Tasks of LIBERO in another light, through another camera, among other things, from other starts.

What is added or moved keeps the task what it was: a distractor is of no kind that the scene or the instruction has,
stands apart from everything, and from where the goal and the drawers need room; things keep their places among each
other. A draw in which something touches that should not, or in which the goal holds already, is drawn again.
"""

from __future__ import annotations

from dataclasses import replace
from math import hypot

import numpy as np

from agentrl.core.errors import EnvFault
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.common.mujoco.looks import change_model
from agentrl.envs.common.perturb import Perturbation
from agentrl.envs.libero.bddl import Fact, Problem, Region, read_problem
from agentrl.envs.libero.objects import MODELS, model_of
from agentrl.envs.libero.package import suites, task_file
from agentrl.envs.libero.scene import AGENT_VIEW, TABLES, Arena, arena_of, compile_scene, fixtures_of
from agentrl.envs.libero.starts import Start, make_start, turned
from agentrl.envs.libero.task_ids import Chosen
from agentrl.envs.libero.world import World

mujoco = load()

# By level, from 1.
DISTRACTORS = (1, 3, 5)  # where there is room for so many
SHIFT = (0.010, 0.020, 0.030)  # metres, of all things that are not fixtures together
ARM = (0.06, 0.12, 0.20)  # radians: length of the change of its seven joints

LOW, NARROW = 0.045, 0.065  # half the height and half the width of a distractor, at most: the hand passes over it
AREA = (0.28, 0.45)  # metres from the middle of the table that distractors may be, away from the arm and to its sides
SEEN = 0.36  # tangent of the angle between a distractor and the middle of the picture, at most
GAP = 0.04  # metres between a distractor and anything else: an open finger fits
DRAWER = 0.20  # metres in front of a fixture with a door or drawer that stay free
ATTEMPTS, SPOTS = 20, 400


def perturbed_world(chosen: Chosen, change: Perturbation) -> World:
    """The world of a task with everything in its place."""
    name, task = str(chosen), suites()[chosen.suite][chosen.task]
    given = read_problem(task_file(chosen.suite, task))
    for attempt in range(ATTEMPTS):
        start = make_start(chosen.suite, task, given, f"{chosen.split}/{chosen.start}")
        if level := change.level("poses"):
            start = moved(given, start, level, change.random("poses", name, attempt))
        problem = given
        if level := change.level("distractors"):
            random = change.random("distractors", name, attempt)
            problem, start = with_distractors(given, start, chosen.instruction, level, random)
        model = compile_scene(problem, change, name)
        arena = arena_of(problem.name)
        change_model(model, change, name, AGENT_VIEW, (*arena.origin, arena.height))
        distractors = tuple(thing for thing in problem.objects if thing not in given.objects)
        world = World(chosen.suite, chosen.task, (problem, model), distractors)
        world.reset(start)
        if not _spoilt(world):
            return world
    raise EnvFault(f"no start of {name} with {change} is free of collisions")


def moved(problem: Problem, start: Start, level: int, random: np.random.Generator) -> Start:
    """All things that are not fixtures shifted together, and the arm's joints changed."""
    angle, direction = random.uniform(0, 2 * np.pi), random.standard_normal(7)
    x, y = turned(np.array([SHIFT[level - 1], 0.0]), angle)
    places = {
        name: (at[0] + float(x), at[1] + float(y), at[2]) if name in problem.objects else at
        for name, at in start.places.items()
    }
    arm = np.array(start.arm) + ARM[level - 1] * direction / np.linalg.norm(direction)
    return start._replace(places=places, arm=tuple(arm.tolist()))


def with_distractors(
    problem: Problem, start: Start, instruction: str, level: int, random: np.random.Generator
) -> tuple[Problem, Start]:
    """A task with things on the table that it is not about."""
    spoken = set(instruction.split())
    kinds = [
        kind
        for kind, model in MODELS.items()
        if model.mass and model.half[2] <= LOW and max(model.half) <= NARROW
        and kind not in problem.objects.values() and not spoken & set(kind.split("_"))
    ]  # fmt: skip
    table = next(name for name, kind in problem.fixtures.items() if kind in TABLES)
    objects, regions, facts, places = dict(problem.objects), dict(problem.regions), [*problem.start], dict(start.places)
    taken, arena = _taken(problem, start), arena_of(problem.name)
    origin = np.array(arena.origin)
    for kind in random.permutation(kinds)[: DISTRACTORS[level - 1]].tolist():
        radius = hypot(*model_of(kind).half[:2])
        spots = (origin + random.uniform((-AREA[0], -AREA[1]), AREA) for _ in range(SPOTS))
        seen = (at for at in spots if _in_view(arena, at))
        free = (at for at in seen if all(hypot(*(at - where)) > radius + room + GAP for where, room in taken))
        spot = next(free, None)
        if spot is not None:
            name, where = f"{kind}_1", f"{table}_{kind}_1_region"
            corner = float(spot[0] - origin[0]), float(spot[1] - origin[1])
            objects[name], regions[where] = kind, Region(table, ((*corner, *corner),))
            facts.append(Fact("on", (name, where)))
            places[name] = float(spot[0]), float(spot[1]), 0.0
            taken.append((spot, radius))
    changed = replace(problem, objects=objects, regions=regions, start=tuple(facts))
    return changed, start._replace(places=places)


def _in_view(arena: Arena, spot: np.ndarray) -> bool:
    axes = np.empty(9)
    mujoco.mju_quat2Mat(axes, arena.gaze)
    right, up, back = (np.array([*spot, arena.height]) - arena.eye) @ axes.reshape(3, 3)
    return max(abs(right), abs(up)) < -SEEN * back


def _taken(problem: Problem, start: Start) -> list[tuple[np.ndarray, float]]:
    """Circles that a distractor must not be in: things, what is in front of doors, and regions of the goal."""
    kinds, found = {**problem.objects, **fixtures_of(problem)}, []
    for name, (x, y, turn) in start.places.items():
        model, at = model_of(kinds[name]), np.array([x, y])
        found.append((at, hypot(*model.half[:2])))
        for joint in model.joints.values():
            front = turned(np.array(joint.outward[:2]), turn)
            found.append((at + (model.half[1] + DRAWER / 2) * front, DRAWER / 2))
    origin = np.array(arena_of(problem.name).origin)
    for name in (argument for fact in problem.goal.facts() for argument in fact.arguments):
        for x0, y0, x1, y1 in problem.regions[name].rectangles if name in problem.regions else ():
            middle = np.array([x0 + x1, y0 + y1]) / 2
            found.append((origin + middle, hypot(x1 - x0, y1 - y0) / 2))
    return found


def _spoilt(world: World) -> bool:
    """Does the goal hold, the arm touch anything, or a distractor touch more than what it stands on?"""
    if world.goal_holds() or world.arm.touched(world.data):
        return True
    pairs = [{world.touched(int(geom)) for geom in pair} for pair in world.data.contact.geom]
    return any(pair & set(world.distractors) and not pair & world.tables for pair in pairs)
