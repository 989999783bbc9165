"""LIBERO on MuJoCo Warp beside LIBERO on MuJoCo: what agrees, and how fast it is. Prints JSON.

    python -m benchmarks.libero.warp steps    --suites libero_spatial --tasks 2   # single steps of the simulator
    python -m benchmarks.libero.warp pictures --suites libero_spatial --tasks 2   # both renderers; needs OpenGL
    python -m benchmarks.libero.warp play     --suites libero_goal --tasks 10 --starts 10   # the oracle, and a replay
    python -m benchmarks.libero.warp speed    --worlds 1024 2048 4096             # control steps a second
    python -m benchmarks.libero.warp hosts    --worlds 64                         # the same on processors

It runs where the extra `warp` is installed: on the GPU, or with `--device cpu` slowly and with few worlds.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import os
import time
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

import agentrl
from agentrl.core.errors import ConfigError
from agentrl.envs.common.mujoco import pictures
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.libero.objects.sculptor import GLOWING
from agentrl.envs.libero.oracle import RELEASE, next_action
from agentrl.envs.libero.protocols import DEFAULT
from agentrl.envs.libero.simulation import PICTURES, ProceduralSimulation, settle
from agentrl.envs.libero.task_ids import Chosen
from agentrl.envs.libero.world import World, suites
from agentrl.rollout.statistics import wilson_interval

mujoco = load()
STATE = ("qpos", "qvel", "ctrl", "qacc_warmstart", "mocap_pos", "mocap_quat")
Figures = dict[str, Any]
EVERY = 12  # actions between states that are compared
CHUNK = 4  # worlds that a process asks the oracle about at once


def main() -> None:
    """Run one of the comparisons."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=sorted(COMMANDS))
    parser.add_argument("--device", default=None)
    parser.add_argument("--suites", nargs="+", default=["libero_spatial"])
    parser.add_argument("--tasks", type=int, default=1, help="of each suite, the first ones")
    parser.add_argument("--first", type=int, default=0, help="number of the first of them")
    parser.add_argument("--starts", type=int, default=1, help="of each task")
    parser.add_argument("--worlds", type=int, nargs="+", default=[1024])
    parser.add_argument("--steps", type=int, default=50, help="actions that are timed, or played on the way")
    parser.add_argument("--size", type=int, default=128, help="pixels of a picture's side")
    parser.add_argument("--out", type=Path, default=None, help="folder for pictures side by side")
    options = parser.parse_args()
    print(json.dumps(COMMANDS[options.what](options), indent=1))


def processes() -> ProcessPoolExecutor:
    """A process for each core, started anew: a GPU does not survive a fork."""
    return ProcessPoolExecutor(len(os.sched_getaffinity(0)), mp_context=multiprocessing.get_context("spawn"))


def chosen_tasks(options: argparse.Namespace, suite: str) -> range:
    """The numbers of a suite's tasks that are meant."""
    return range(options.first, min(options.first + options.tasks, len(suites()[suite])))


# ---------------------------------------------------------------------- MuJoCo


@cache
def world_of(suite: str, number: int | str) -> World:
    """One world of a task in this process."""
    return World(suite, number)


def play(name: str) -> tuple[bool, list[list[float]]]:
    """The oracle from a start, in MuJoCo: did it succeed, and what did it do?"""
    simulation, limit, actions = begun(name), DEFAULT.limits[name.split("/")[0]], []
    for _ in range(limit):
        actions.append(oracle(simulation.world).tolist())
        if simulation.step(np.array(actions[-1])):
            return True, actions
    return False, actions


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


def ask_oracle(suite: str, number: int | str, rows: dict[str, np.ndarray]) -> np.ndarray:
    """The next action in each of some states."""
    return np.array([oracle(enter(suite, number, rows, place)) for place in range(len(rows["qpos"]))])


def enter(suite: str, number: int | str, rows: dict[str, np.ndarray], place: int) -> World:
    """This process's world of a task, in a given state."""
    world = world_of(suite, number)
    for part in STATE:
        getattr(world.data, part)[:] = rows[part][place]
    settle(world)
    return world


# ---------------------------------------------------------------------- what agrees


def compare_steps(options: argparse.Namespace) -> Figures:
    """Single steps of 2 ms from the same states, in both."""
    from agentrl.envs.common.warp.loading import mjw

    found = {}
    for suite in options.suites:
        for number in chosen_tasks(options, suite):
            states = states_on_the_way(suite, number, options.steps)
            env = worlds_at(options, suite, number, states, obs_mode="state")
            batch, apart = env.tasks[0].batch, {"qpos": 0.0, "qvel": 0.0}
            with batch.working():
                batch.law.actions.zero_()
                batch.model.callback.control = None  # the controls are those of the state
                mjw.step(batch.model, batch.data)
            batch.join()
            after = {part: batch.state[part].cpu().numpy() for part in apart}
            for place in range(len(states)):
                world = enter(suite, number, stacked(states), place)
                mujoco.mj_step(world.model, world.data)
                for part in apart:
                    difference = np.abs(after[part][place] - getattr(world.data, part)).max()
                    apart[part] = max(apart[part], float(difference))
            found[f"{suite}/{number}"] = {"states": len(states), **{f"largest {part}": v for part, v in apart.items()}}
    largest = {part: max(row[f"largest {part}"] for row in found.values()) for part in ("qpos", "qvel")}
    return {"single steps": found, "largest": largest, "pass": max(largest.values()) < 1e-4}


def compare_pictures(options: argparse.Namespace) -> Figures:
    """Pictures of the same states by both renderers."""
    found = {}
    for suite in options.suites:
        for number in chosen_tasks(options, suite):
            states = states_on_the_way(suite, number, options.steps)
            env = worlds_at(options, suite, number, states, image_size=options.size)
            seen = env.look()
            for picture, camera in PICTURES.items():
                drawn = seen[picture].cpu().numpy()
                rows = [
                    compare_picture(suite, number, states, k, camera, drawn[k], options) for k in range(len(states))
                ]
                found[f"{suite}/{number} {camera}"] = {
                    "states": len(states),
                    "mean": float(np.mean([row[0] for row in rows])),
                    "movable": float(np.mean(np.concatenate([row[1] for row in rows]))),
                }
    mean, movable = (float(np.mean([row[part] for row in found.values()])) for part in ("mean", "movable"))
    return {"pictures": found, "mean": mean, "movable": movable, "pass": mean < 3 and movable < 12}


def compare_picture(
    suite: str, number: int, states: list[dict], place: int, camera: str, drawn: np.ndarray, options: argparse.Namespace
) -> tuple[float, np.ndarray]:
    """How far a picture is from MuJoCo's: on average, and in each pixel of a movable object."""
    world = enter(suite, number, stacked(states), place)
    wanted, size = world.draw(camera, options.size), options.size
    ids = pictures.draw(world.model, world.data, camera, size, segmentation=True, hidden=(GLOWING,))
    movable = np.array([world.owner(geom) in world.objects for geom in range(world.model.ngeom)])
    apart = np.abs(drawn.astype(int) - wanted.astype(int))
    if options.out is not None:
        from PIL import Image

        options.out.mkdir(parents=True, exist_ok=True)
        both = np.concatenate([drawn, wanted, np.clip(4 * apart, 0, 255).astype(np.uint8)], axis=1)
        Image.fromarray(both).save(options.out / f"{suite}-{number}-{camera}-{place}.png")
    return float(apart.mean()), apart[(ids >= 0) & movable[np.maximum(ids, 0)]].mean(axis=1)


def compare_play(options: argparse.Namespace) -> Figures:
    """The oracle in both, and what it did in MuJoCo replayed without looking."""
    found, totals = {}, np.zeros(4, int)
    with processes() as pool:
        for suite in options.suites:
            began, numbers = time.perf_counter(), chosen_tasks(options, suite)
            names = [str(Chosen(suite, number, "test", start)) for start in range(options.starts) for number in numbers]
            there = list(pool.map(play, names))
            seconds = [time.perf_counter() - began]
            here, again = np.zeros(len(names), bool), np.zeros(len(names), bool)
            # All tasks of a suite side by side; some of them one after the other.
            whole = len(numbers) == len(suites()[suite])
            for task in [None] if whole else numbers:
                own = slice(None) if task is None else slice(numbers.index(task), None, len(numbers))
                env = make_env(options, suite, task, len(names[own]), obs_mode="state", autoreset_mode="Disabled")
                here[own] = run_episodes(env, names[own], partial(ask_for_all, pool))
                again[own] = run_episodes(env, names[own], partial(replayed, [actions for _, actions in there[own]]))
            seconds.append(time.perf_counter() - began - seconds[0])
            successes = np.array([success for success, _ in there])
            counts = np.array([len(names), successes.sum(), here.sum(), (again & successes).sum()])
            totals += counts
            found[suite] = {**told(counts), "seconds": {"mujoco": seconds[0], "warp": seconds[1]}}
    return {"suites": found, "all": told(totals), "pass": bool(told(totals)["overlap"])}


def told(counts: np.ndarray) -> Figures:
    """Shares and intervals of episodes, successes in MuJoCo, in Warp, and of those in MuJoCo that replay in Warp."""
    episodes, there, here, again = (int(count) for count in counts)
    first, second = (wilson_interval(count, episodes) for count in (there, here))
    assert first is not None and second is not None
    return {
        "episodes": episodes,
        "mujoco": {"successes": there, "interval": list(first)},
        "warp": {"successes": here, "interval": list(second)},
        "overlap": max(first[0], second[0]) <= min(first[1], second[1]),
        "replayed of mujoco's successes": again / there if there else None,
    }


def run_episodes(env: Any, names: list[str], actor: Callable[[Any, int], np.ndarray]) -> np.ndarray:
    """Which of these starts end with success, one world for each."""
    _, _ = env.reset(options={"task": names})
    done = np.zeros(env.num_envs, bool)
    for step in range(env.max_turns):
        done |= env.step(actor(env, step))[2].cpu().numpy()
        if done.all():
            break
    return done


def replayed(recorded: list[list[list[float]]], _: Any, step: int) -> np.ndarray:
    """Actions that were recorded; nothing moves after the last of them."""
    return np.array([one[step] if step < len(one) else RELEASE for one in recorded], np.float32)


def ask_for_all(pool: Executor, env: Any, _: int) -> np.ndarray:
    """The oracle's actions for all worlds, which processes find from their states."""
    jobs, actions = [], np.empty((env.num_envs, 7), np.float32)
    for number, task in enumerate(env.tasks):
        rows, world = {part: task.batch.state[part].cpu().numpy() for part in STATE}, task.world
        for first in range(0, task.batch.count, CHUNK):
            cut = {part: rows[part][first : first + CHUNK] for part in STATE}
            place = slice(number + first * len(env.tasks), number + (first + CHUNK) * len(env.tasks), len(env.tasks))
            jobs.append((place, pool.submit(ask_oracle, world.suite, world.task, cut)))
    for place, job in jobs:
        actions[place] = job.result()
    return actions


# ---------------------------------------------------------------------- how fast


def measure_speed(options: argparse.Namespace) -> Figures:
    """Random actions in many worlds, from state and with two pictures, `--tasks` tasks side by side."""
    from agentrl.envs.common.warp.loading import torch

    found = []
    for suite in options.suites:
        for count in options.worlds:
            for obs_mode in ("state", "image"):
                began = time.perf_counter()
                task = options.first if options.tasks == 1 else None
                env = make_env(options, suite, task, count, obs_mode=obs_mode, image_size=options.size)
                env.reset(seed=0)
                random = torch.rand((options.steps + 3, count, 7), device=env.device) * 2 - 1
                for step in range(3):  # compiling and recording
                    env.step(random[step])
                wait = torch.cuda.synchronize if env.device.type == "cuda" else int
                wait()
                start, seconds, faults = time.perf_counter(), time.perf_counter() - began, 0
                for step in range(options.steps):
                    faults += int(env.step(random[3 + step])[4].get("_fault", np.zeros(1)).sum())
                wait()
                rate = options.steps * count / (time.perf_counter() - start)
                row = {"suite": suite, "tasks": len(env.tasks), "worlds": count, "obs_mode": obs_mode}
                found.append({**row, "control steps/s": rate, "start seconds": seconds, "faults": faults})
                del env
                gc.collect()
    return {"device": str(options.device or "cuda"), "rates": found}


def measure_hosts(options: argparse.Namespace) -> Figures:
    """The same environments in one process a core."""
    found = []
    for obs_mode in ("state", "image"):
        kwargs = {"obs_mode": obs_mode, "image_size": options.size, "obs_text": False, "max_turns": 10**6}
        try:
            env = gym.make_vec(
                "agentrl/LIBERO-Spatial-v0", options.worlds[0], "vector_entry_point", split="test", **kwargs
            )
            env.reset(seed=0)
            random = np.random.default_rng(0).uniform(-1, 1, (options.steps, options.worlds[0], 7)).astype(np.float32)
            start = time.perf_counter()
            for actions in random:
                env.step(actions)
            rate = options.steps * options.worlds[0] / (time.perf_counter() - start)
            env.close()
            found.append({"obs_mode": obs_mode, "control steps/s": rate})
        except ConfigError as error:  # no OpenGL
            found.append({"obs_mode": obs_mode, "missing": str(error)})
    return {"cores": len(os.sched_getaffinity(0)), "worlds": options.worlds[0], "rates": found}


# ---------------------------------------------------------------------- helpers


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


COMMANDS = {
    "steps": compare_steps,
    "pictures": compare_pictures,
    "play": compare_play,
    "speed": measure_speed,
    "hosts": measure_hosts,
}

if __name__ == "__main__":
    main()
