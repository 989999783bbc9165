"""Worlds and states that the comparisons of `benchmarks.libero.warp` share, in both simulators."""

from __future__ import annotations

import argparse
from functools import cache
from typing import Any

import gymnasium as gym
import numpy as np

import agentrl
from agentrl.envs.libero.oracle import RELEASE, next_action
from agentrl.envs.libero.protocols import DEFAULT
from agentrl.envs.libero.simulation import ProceduralSimulation, settle
from agentrl.envs.libero.task_ids import Chosen
from agentrl.envs.libero.world import World

STATE = ("qpos", "qvel", "ctrl", "qacc_warmstart", "mocap_pos", "mocap_quat")
EVERY = 12  # actions between states that are compared


@cache
def world_of(suite: str, number: int | str) -> World:
    """One world of a task in this process."""
    return World(suite, number)


def states_on_the_way(suite: str, number: int, steps: int) -> list[dict[str, np.ndarray]]:
    """States of an episode that the oracle plays in MuJoCo, every few actions."""
    simulation, found = begun(str(Chosen(suite, number, "test", 0))), []
    for step in range(steps):
        if step % EVERY == 0:
            found.append({part: getattr(simulation.world.data, part).copy() for part in STATE})
        if simulation.step(oracle(simulation.world)):
            break
    return found


def begun(name: str) -> ProceduralSimulation:
    """A task at one of its given starts."""
    suite, number, start = name.replace("/", ":").replace(":test:", ":").split(":")
    simulation = ProceduralSimulation(DEFAULT.settle_steps)
    simulation.begin(Chosen(suite, int(number), "test", int(start)))
    return simulation


def oracle(world: World) -> np.ndarray:
    """Its next action, in single precision as actions are; none where it knows none."""
    action = next_action(world)
    return (RELEASE if action is None else action).astype(np.float32).astype(np.float64)


def enter(suite: str, number: int | str, rows: dict[str, np.ndarray], place: int) -> World:
    """This process's world of a task, in a given state."""
    world = world_of(suite, number)
    for part in STATE:
        getattr(world.data, part)[:] = rows[part][place]
    settle(world)
    return world


def make_env(options: argparse.Namespace, suite: str, task: int | None, count: int, **kwargs: Any) -> Any:
    """Worlds of a suite on the device."""
    name = next(entry.id for entry in agentrl.registry.known() if entry.kwargs.get("suite") == suite)
    return gym.make_vec(name, count, "vector_entry_point", simulator="warp", device=options.device, task=task,
                        split="test", **{"starts": min(50, max(options.starts, 8)), **kwargs})  # fmt: skip


def worlds_at(options: argparse.Namespace, suite: str, number: int, states: list[dict], **kwargs: Any) -> Any:
    """A world at each of some states."""
    env = make_env(options, suite, number, len(states), starts=1, settle_steps=0, **kwargs)
    env.reset()
    batch = env.tasks[0].batch
    rows = {part: batch.state[part].new_tensor(values) for part, values in stacked(states).items()}
    batch.write(rows, batch.state["qpos"].new_ones(batch.count).bool())
    return env


def stacked(states: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """States as rows."""
    return {part: np.array([state[part] for state in states]) for part in STATE}
