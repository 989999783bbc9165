"""Where everything is at the beginning: LIBERO's own fifty starts of a task, or places drawn from its regions.

A start gives x, y and the turn of every thing. Heights follow from what a thing stands on, since our models have other
heights than LIBERO's: `World.reset` computes them.
"""

from __future__ import annotations

import re
from math import atan2, pi
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agentrl.core.errors import ConfigError
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.libero.arm import READY
from agentrl.envs.libero.bddl import Fact, Problem
from agentrl.envs.libero.objects import model_of
from agentrl.envs.libero.objects.model import Joint
from agentrl.envs.libero.objects.sculptor import LIFT, turned_about_z
from agentrl.envs.libero.package import given_starts
from agentrl.envs.libero.scene import arena_of, fixtures_of

if TYPE_CHECKING:
    from agentrl.envs.libero.world import World

mujoco = load()

GIVEN = 50  # starts of each task
MAX_SIZE = 2**63  # of the numbers that name a drawn start
NOISE = 0.02  # radians of spread around them
OPENING = 0.020833  # of each finger
_NAME = re.compile(r"(train|dev|test)/(0|[1-9][0-9]{0,18})", re.ASCII)


class Start(NamedTuple):
    """Where everything is at the beginning of an episode."""

    name: str  # test/7, train/12345
    places: dict[str, tuple[float, float, float]]  # object or fixture -> x, y, turn
    joints: dict[str, float]  # joint of a fixture -> value
    arm: tuple[float, ...]  # seven joints
    opening: float  # of each finger


def make_start(suite: str, task: str, problem: Problem, name: str) -> Start:
    """`test/0` to `test/49`: LIBERO's own; `train/N` and `dev/N`: drawn, the same for the same N."""
    match = _NAME.fullmatch(name)
    if match is None or (match[1] == "test" and int(match[2]) >= GIVEN) or int(match[2]) >= MAX_SIZE:
        raise ConfigError(f"a start must be train/N, dev/N or test/0 to test/{GIVEN - 1}; got {name[:80]!a}")
    if match[1] == "test":
        # A row of numbers: time, arm, fingers, every object, every joint of a fixture, velocities.
        state = given_starts(suite, task)[int(match[2])]
        joints = joints_of(problem)
        objects = len(problem.objects)
        if len(state) != 1 + (9 + 7 * objects + len(joints)) + (9 + 6 * objects + len(joints)):
            raise ConfigError(f"the given starts do not fit the task: {len(state)} numbers for {objects} objects")
        places, arena = {}, arena_of(problem.name)
        for fixture in fixtures_of(problem):
            # LIBERO's files leave out where fixtures stand: we put them into the middle of their regions.
            region = problem.regions[place_of(problem, fixture).arguments[1]]
            x0, y0, x1, y1 = region.rectangles[0]
            turn = sum(region.yaw) / 2 if region.yaw else 0.0
            places[fixture] = (x0 + x1) / 2 + arena.origin[0], (y0 + y1) / 2 + arena.origin[1], turn
        for number, (thing, kind) in enumerate(problem.objects.items()):
            x, y, _, *quaternion = state[10 + 7 * number : 17 + 7 * number].tolist()
            turn = (_yaw(quaternion) - model_of(kind).facing + pi) % (2 * pi) - pi
            places[thing] = (x, y, 0.0 if abs(turn) < 1e-9 else turn)
        values = state[10 + 7 * objects :][: len(joints)].tolist()
        return Start(name, places, dict(zip(joints, values, strict=True)), tuple(state[1:8].tolist()), float(state[8]))
    seed = [int(match[2]), ["train", "dev"].index(match[1]), *f"{suite}/{task}".encode()]
    return _drawn(problem, name, np.random.default_rng(seed))


def _yaw(quaternion: list[float]) -> float:
    """How far something is turned that stands on one of its own axes: LIBERO's models stand on z or on y."""
    w, x, y, z = quaternion
    if 1 - 2 * (x * x + y * y) > 0.5:  # its z axis is up: the direction of its x axis
        return atan2(2 * (x * y + w * z), 1 - 2 * (y * y + z * z))
    return atan2(2 * (y * z - w * x), 2 * (x * z + w * y))  # its y axis is up: the direction of its z axis


# ---------------------------------------------------------------------- drawn


def _drawn(problem: Problem, name: str, random: np.random.Generator) -> Start:
    arena = arena_of(problem.name)
    places: dict[str, tuple[float, float, float]] = {}
    later: list[Fact] = []
    for fact in (fact for fact in problem.start if fact.predicate in ("on", "in")):
        thing, where = fact.arguments
        if where in problem.regions and problem.regions[where].rectangles:
            region = problem.regions[where]
            x0, y0, x1, y1 = region.rectangles[int(random.integers(len(region.rectangles)))]
            fixed = thing in problem.fixtures
            turns = (region.yaw or (0.0, 0.0)) if fixed else model_of(problem.objects[thing]).turns
            x, y, turn = random.uniform((x0, y0, turns[0]), (x1, y1, turns[1])).tolist()
            places[thing] = x + arena.origin[0], y + arena.origin[1], turn
        else:
            later.append(fact)
    values = dict.fromkeys(joints_of(problem), 0.0)
    for fact in problem.start:
        if fact.predicate not in ("on", "in"):
            for joint, described in named_joints(problem, fact.arguments[0]).items():
                values[joint] = float(random.uniform(*described.start[fact.predicate]))
    for fact in later:
        places[fact.arguments[0]] = _beside(problem, fact, places, values, random)
    arm = tuple(float(value) for value in READY + NOISE * random.standard_normal(7))
    return Start(name, places, values, arm, OPENING)


def _beside(
    problem: Problem,
    fact: Fact,
    places: dict[str, tuple[float, float, float]],
    values: dict[str, float],
    random: np.random.Generator,
) -> tuple[float, float, float]:
    """Somewhere on or in a fixture, or right above another object."""
    where = fact.arguments[1]
    spread = random.uniform(-0.5, 0.5, size=2)
    if where in problem.objects:
        return (*places[where][:2], 0.0)
    target = problem.regions[where].target
    model = model_of({**problem.objects, **problem.fixtures}[target])
    place = model.places[where.removeprefix(f"{target}_")]
    room = [max(0.0, half - model_of(problem.objects[fact.arguments[0]]).half[0]) for half in place.half[:2]]
    shift = np.array(place.middle[:2]) + spread * room
    shift[1] += values.get(f"{target}_{place.part}", 0.0)  # a drawer that is open
    x, y, turn = places[target]
    return (*(np.array([x, y]) + turned(shift, turn)).tolist(), 0.0)


def turned(vector: np.ndarray, angle: float) -> np.ndarray:
    """A vector in the plane, turned."""
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.array([cosine * vector[0] - sine * vector[1], sine * vector[0] + cosine * vector[1]])


# ---------------------------------------------------------------------- what the task says


def place_of(problem: Problem, thing: str) -> Fact:
    """What the file says about where something is."""
    for fact in problem.start:
        if fact.predicate in ("on", "in") and fact.arguments[0] == thing:
            return fact
    raise ConfigError(f"the task does not say where {thing!a} is")


def joints_of(problem: Problem) -> list[str]:
    """The joints of all fixtures, in LIBERO's order."""
    return [f"{name}_{joint}" for name, kind in fixtures_of(problem).items() for joint in model_of(kind).joints]


def named_joints(problem: Problem, name: str) -> dict[str, Joint]:
    """The joints that a predicate about a fixture, or about a region of one, is about."""
    target = problem.regions[name].target if name in problem.regions else name
    kind = fixtures_of(problem).get(target)
    found = {
        f"{target}_{joint}": described
        for joint, described in (model_of(kind).joints if kind else {}).items()
        if name == target or f"{target}_{described.region}" == name
    }
    if not found:
        raise ConfigError(f"{name!a} has no door, drawer or knob")
    return found


# ---------------------------------------------------------------------- putting everything in its place

STEPS = 150  # of the simulator, in which everything comes to rest
DEEP = 0.0003  # metres by which things may overlap
GAP = 0.0010  # metres that are put between things that overlap
TRIES = 60
STEEP = 0.7  # a contact whose normal points up more than this is one of standing, not of overlap
SLOW = 0.6  # share of the velocities that is taken away in each step of coming to rest


def place(world: World, start: Start) -> None:
    """Put everything where a start says, at rest."""
    model, data = world.model, world.data
    mujoco.mj_resetData(model, data)
    world.arm.rest(start.arm, start.opening)
    for name in world.fixtures:
        x, y, turn = start.places[name]
        at = model.body_mocapid[model.body(name).id]
        data.mocap_pos[at], data.mocap_quat[at] = (x, y, world.height), turned_about_z(turn)
    for name, value in start.joints.items():
        data.joint(name).qpos[0] = value
    mujoco.mj_kinematics(model, data)
    waiting = list(world.objects)
    while waiting:  # what carries others first
        name = next((name for name in waiting if _carrier(world, name) not in waiting), waiting[0])
        waiting.remove(name)
        _put(world, name, *start.places[name])
        mujoco.mj_kinematics(model, data)
    _separate(world)
    _settle(world)


def _carrier(world: World, name: str) -> str:
    """What something stands on or in."""
    where = place_of(world.problem, name).arguments[1]
    return world.problem.regions[where].target if where in world.problem.regions else where


def _put(world: World, name: str, x: float, y: float, turn: float) -> None:
    """At a height that follows from the task, and within the carrier's bounds."""
    fact, half = place_of(world.problem, name), model_of(world.kinds[name]).half
    where, carrier = fact.arguments[1], _carrier(world, name)
    if carrier == where:  # another object
        bottom = world.position(carrier)[2] + world.size(carrier)[2]
    else:
        middle, rotation = world.pose(where)
        room = world.size(where)
        bottom = (
            middle[2] - room[2] if fact.predicate == "in" else middle[2] if carrier in world.fixtures else world.height
        )
        if carrier in world.fixtures:
            angle = float(np.arctan2(rotation[1, 0], rotation[0, 0]))
            free = np.maximum(room[:2] - 0.6 * np.array(half[:2]), 0.0)
            offset = np.clip(turned(np.array([x, y]) - middle[:2], -angle), -free, free)
            x, y = middle[:2] + turned(offset, angle)
    world.data.joint(name).qpos[:] = [x, y, bottom + half[2] + LIFT, *turned_about_z(turn)]


def _separate(world: World) -> None:
    """Move things that overlap apart, along the table. LIBERO's models are smaller here and there than ours."""
    for _ in range(TRIES):
        mujoco.mj_fwdPosition(world.model, world.data)
        moves: dict[str, np.ndarray] = {}  # how far each object must move on, to overlap less
        contacts = world.data.contact
        for index in range(world.data.ncon):
            depth, normal = -contacts.dist[index], contacts.frame[index][:3]
            first, second = (world.owner(int(geom)) for geom in contacts.geom[index])
            if depth < DEEP or abs(normal[2]) > STEEP or first == second:
                continue
            free = [name for name in (first, second) if name in world.objects]
            for name in free:
                sign = -1.0 if name == first else 1.0
                move = sign * normal[:2] / np.linalg.norm(normal[:2]) * (depth + GAP) / len(free)
                if name not in moves or np.linalg.norm(move) > np.linalg.norm(moves[name]):
                    moves[name] = move
        if not moves:
            return
        for name, move in moves.items():
            world.data.joint(name).qpos[:2] += move


def _settle(world: World) -> None:
    """Let everything come to rest, while the arm and all joints stay where they are."""
    model, data = world.model, world.data
    held = data.qpos.copy()
    free = np.concatenate([np.arange(at, at + 7) for at in world.addresses.values()] or [np.arange(0)])
    fixed = np.setdiff1d(np.arange(model.nq), free)
    for _ in range(STEPS):
        mujoco.mj_step(model, data)
        data.qpos[fixed] = held[fixed]
        data.qvel *= 1 - SLOW
        data.qvel[world.fixed_dofs] = 0.0
    data.qvel[:], data.qacc_warmstart[:], data.time = 0.0, 0.0, 0.0
    mujoco.mj_forward(model, data)
