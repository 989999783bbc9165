"""Puts everything in its place at the beginning: heights from what things stand on, no overlaps, and all at rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.libero.objects.catalogue import model_of
from agentrl.envs.libero.objects.sculptor import LIFT, turned_about_z
from agentrl.envs.libero.starts import Start, place_of, turned

if TYPE_CHECKING:
    from agentrl.envs.libero.world import World

mujoco = load()
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
        moves = _moves(world)
        if not moves:
            return
        for name, move in moves.items():
            world.data.joint(name).qpos[:2] += move


def _moves(world: World) -> dict[str, np.ndarray]:
    """How far each object must move on, to overlap less."""
    moves: dict[str, np.ndarray] = {}
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
    return moves


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
