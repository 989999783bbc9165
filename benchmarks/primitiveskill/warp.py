"""PrimitiveSkill on MuJoCo Warp beside PrimitiveSkill on MuJoCo: what agrees, and how fast it is. Prints JSON.

    python -m benchmarks.primitiveskill.warp steps    --tasks place stack        # single steps of the simulator
    python -m benchmarks.primitiveskill.warp pictures --tasks place drawer       # both renderers; needs OpenGL
    python -m benchmarks.primitiveskill.warp play     --starts 25                # the oracle in both, and a replay
    python -m benchmarks.primitiveskill.warp speed    --worlds 256 1024          # actions a second
    python -m benchmarks.primitiveskill.warp hosts    --worlds 64                # the same on processors

It runs where the extra `warp` is installed: on the GPU, or with `--device cpu` slowly and with few worlds.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any

import gymnasium as gym
import numpy as np

import agentrl
from agentrl.envs.common.mujoco import pictures
from agentrl.envs.common.mujoco.arm import STEPS
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.primitiveskill.env import PrimitiveSkillEnv
from agentrl.envs.primitiveskill.mujoco.backend import MujocoBackend
from agentrl.envs.primitiveskill.mujoco.scene import CAMERA
from agentrl.envs.primitiveskill.tasks import TASKS
from agentrl.rollout.statistics import wilson_interval

mujoco = load()
STATE = ("qpos", "qvel", "ctrl", "qacc_warmstart", "mocap_pos", "mocap_quat")
EVERY = 40  # ticks between states that are compared
Figures = dict[str, Any]
State = dict[str, np.ndarray]


def main() -> None:
    """Run one of the comparisons."""
    assert agentrl.__version__
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=sorted(COMMANDS))
    parser.add_argument("--device", default=None)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS))
    parser.add_argument("--starts", type=int, default=8, help="of each task")
    parser.add_argument("--worlds", type=int, nargs="+", default=[1024])
    parser.add_argument("--turns", type=int, default=3, help="that are timed")
    parser.add_argument("--size", type=int, default=128, help="pixels of a picture's side")
    options = parser.parse_args()
    print(json.dumps(COMMANDS[options.what](options), indent=1))


def make_env(options: argparse.Namespace, task: str, count: int, kind: str = "Text", **kwargs: Any) -> Any:
    """Worlds of a task on the device."""
    given = {"split": "test", "image_size": options.size, "device": options.device, "starts": options.starts, **kwargs}
    name = f"agentrl/PrimitiveSkill-{task.capitalize()}-{kind}-v0"
    return gym.make_vec(name, count, "vector_entry_point", simulator="warp", **given)


# ---------------------------------------------------------------------- what agrees


def states_on_the_way(task: str) -> tuple[MujocoBackend, list[State]]:
    """States of an episode that the oracle plays in MuJoCo, every few ticks, and the table that they are of. They are
    rounded to single precision, so that both simulators begin at the very same ones."""
    env, found, ticks = PrimitiveSkillEnv(task=task, split="test"), [], 0
    env.reset(options={"task": env.tasks()[0]})
    table = env._table._backend
    assert isinstance(table, MujocoBackend)
    arm, advance = table._motion.arm, table._motion.arm.advance

    def watched(steps: int = STEPS) -> None:
        nonlocal ticks
        if ticks % EVERY == 0:
            found.append({part: getattr(table.data, part).astype(np.float32) for part in STATE})
        ticks += 1
        advance(steps)

    arm.advance = watched
    while turn := env.oracle():
        env.step(turn)
    return table, found


def worlds_at(options: argparse.Namespace, task: str, states: list[State], **kwargs: Any) -> Any:
    """A world at each of some states."""
    env = make_env(options, task, len(states), starts=1, **kwargs)
    env.reset()
    batch = env.tasks[0].batch
    rows = {part: batch.state[part].new_tensor(np.array([state[part] for state in states])) for part in STATE}
    batch.write(rows, batch.state["qpos"].new_ones(batch.count).bool())
    return env


def enter(table: MujocoBackend, state: State) -> None:
    """Bring a table into a state."""
    for part, values in state.items():
        getattr(table.data, part)[:] = values
    table._finish()
    table.data.qacc_warmstart[:] = state["qacc_warmstart"]


def compare_steps(options: argparse.Namespace) -> Figures:
    """Single steps of 2 ms from the same states, in both."""
    from agentrl.envs.common.warp.loading import mjw

    found: Figures = {}
    for task in options.tasks:
        table, states = states_on_the_way(task)
        batch, apart = worlds_at(options, task, states).tasks[0].batch, {"qpos": 0.0, "qvel": 0.0}
        with batch.working():
            batch.model.callback.control = None  # the controls are those of the state
            mjw.step(batch.model, batch.data)
        batch.join()
        for place, state in enumerate(states):
            enter(table, state)
            mujoco.mj_step(table.model, table.data)
            for part in apart:
                difference = np.abs(batch.state[part][place].cpu().numpy() - getattr(table.data, part)).max()
                apart[part] = max(apart[part], float(difference))
        found[task] = {"states": len(states), **apart}
    largest = {part: max(row[part] for row in found.values()) for part in ("qpos", "qvel")}
    return {"single steps": found, "largest": largest, "pass": max(largest.values()) < 1e-4}


def compare_pictures(options: argparse.Namespace) -> Figures:
    """Pictures of the same states by both renderers: on average, and in the pixels of movable things."""
    found: dict[str, dict[str, float]] = {}
    for task in options.tasks:
        table, states = states_on_the_way(task)
        drawn = worlds_at(options, task, states, kind="Visual").look()["image"].cpu().numpy().astype(int)
        movable, everywhere, on_things = np.isin(table.model.geom_bodyid, list(table._motion._movable)), [], []
        for picture, state in zip(drawn, states, strict=True):
            enter(table, state)
            apart = np.abs(picture - table.picture(options.size)).mean(axis=2)
            geoms = pictures.draw(table.model, table.data, CAMERA, options.size, segmentation=True)
            everywhere.append(apart.mean())
            on_things.append(apart[(geoms >= 0) & movable[np.maximum(geoms, 0)]])
        found[task] = {"mean": float(np.mean(everywhere)), "movable": float(np.concatenate(on_things).mean())}
    largest = {part: max(row[part] for row in found.values()) for part in ("mean", "movable")}
    return {"of 255": found, "largest": largest, "pass": largest["mean"] < 3 and largest["movable"] < 12}


def play(task: str, name: str) -> tuple[bool, list[str], list[list[float]]]:
    """The oracle from a start, in MuJoCo: did it succeed, what did it do, and where are things at the end?"""
    env, turns = PrimitiveSkillEnv(task=task, split="test"), []
    env.reset(options={"task": name})
    while turn := env.oracle():
        turns.append(turn)
        env.step(turn)
    return env._terminated, turns, [list(at) for at in env._table.scene.positions.values()]


def compare_play(options: argparse.Namespace) -> Figures:
    """The oracle in both, and what it did in MuJoCo replayed without looking; where it was replayed, how far things are
    from where they are in MuJoCo."""
    found: Figures = {}
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), mp_context=get_context("spawn")) as pool:
        for task in options.tasks:
            env = make_env(options, task, options.starts, autoreset_mode="Disabled")
            names = env.tasks[0].names
            there = list(pool.map(partial(play, task), names))
            here, _ = run_episodes(env, names, None)
            again, seen = run_episodes(env, names, [turns for _, turns, _ in there])
            ends = np.array([positions for *_, positions in there])
            apart = np.abs(seen["state"].cpu().numpy()[:, : ends[0].size].reshape(ends.shape) - ends).max(axis=(1, 2))
            successes = [success for success, *_ in there]
            found[task] = {
                "episodes": len(names),
                "mujoco": told(successes),
                "warp": told(here),
                "replayed of mujoco's successes": int(sum(a and b for a, b in zip(again, successes, strict=True))),
                "mm apart after the replay": {"median": float(np.median(apart)), "largest": float(apart.max())},
            }
    both = [(row["mujoco"]["interval"], row["warp"]["interval"]) for row in found.values()]
    return {"tasks": found, "pass": all(max(a[0], b[0]) <= min(a[1], b[1]) for a, b in both)}


def told(successes: Any) -> Figures:
    """How many, and the interval of their share."""
    return {"successes": int(sum(successes)), "interval": wilson_interval(int(sum(successes)), len(successes))}


def run_episodes(env: Any, names: list[str], recorded: list[list[str]] | None) -> tuple[np.ndarray, Any]:
    """Which of these starts end with success, one world for each, by the oracle or by recorded turns."""
    seen, _ = env.reset(options={"task": names})
    done = np.zeros(env.num_envs, bool)
    for number in range(env.seats[0].max_turns):
        turns = env.oracle() if recorded is None else [(*one, *[""] * 9)[number] for one in recorded]
        seen, _, terminated, *_ = env.step([turn or "" for turn in turns])
        done |= terminated.cpu().numpy()
    return done, seen


# ---------------------------------------------------------------------- how fast


def measure_speed(options: argparse.Namespace) -> Figures:
    """The oracle's turns of two actions in many worlds, without and with a picture a turn."""
    found = []
    for task in options.tasks:
        for count in options.worlds:
            for kind in ("Text", "Visual"):
                began = time.perf_counter()
                env = make_env(options, task, count, kind)
                env.reset(seed=0)
                env.step([turn or "" for turn in env.oracle()])  # compiling and recording
                start, actions, faults = time.perf_counter(), 0, 0
                for _ in range(options.turns):
                    turns = [turn or "" for turn in env.oracle()]
                    actions += sum(turn.count("|") + bool(turn) for turn in turns)
                    faults += int(env.step(turns)[4].get("_fault", np.zeros(1)).sum())
                rate = actions / (time.perf_counter() - start)
                row = {"task": task, "worlds": count, "kind": kind, "actions/s": rate}
                found.append({**row, "start seconds": start - began, "faults": faults})
                del env
                gc.collect()
    return {"device": str(options.device or "cuda"), "rates": found}


def measure_hosts(options: argparse.Namespace) -> Figures:
    """The same turns in one process a core."""
    found = []
    for task in options.tasks:
        name, count = f"agentrl/PrimitiveSkill-{task.capitalize()}-Text-v0", options.worlds[0]
        env: Any = gym.make_vec(name, count, "vector_entry_point", split="test")
        env.reset(seed=0)
        start, actions = time.perf_counter(), 0
        for _ in range(options.turns):
            turns = [turn or "" for turn in env.call("oracle")]
            actions += sum(turn.count("|") + bool(turn) for turn in turns)
            env.step(turns)
        found.append({"task": task, "worlds": count, "actions/s": actions / (time.perf_counter() - start)})
        env.close()
    return {"cores": len(os.sched_getaffinity(0)), "rates": found}


COMMANDS = {
    "steps": compare_steps,
    "pictures": compare_pictures,
    "play": compare_play,
    "speed": measure_speed,
    "hosts": measure_hosts,
}

if __name__ == "__main__":
    main()
