"""LIBERO on MuJoCo Warp beside LIBERO on MuJoCo: what agrees, and how fast it is. Prints JSON.

    python -m benchmarks.libero.warp steps    --suites libero_spatial --tasks 2   # single steps of the simulator
    python -m benchmarks.libero.warp pictures --suites libero_spatial --tasks 2   # both renderers; needs OpenGL
    python -m benchmarks.libero.warp play     --suites libero_goal --tasks 10 --starts 10   # the oracle, and a replay
    python -m benchmarks.libero.warp speed    --worlds 1024 2048 4096             # control steps a second
    python -m benchmarks.libero.warp speed    --worlds 2048 --tasks 10            # ten tasks side by side
    python -m benchmarks.libero.warp hosts    --worlds 64                         # the same on processors

It runs where the extra `warp` is installed: on the GPU, or with `--device cpu` slowly and with few worlds. With `--json
benchmarks/results/libero_warp.json` the figures are put into that file, too: `play` adds its suites to those that are
there. On an H200 with 16 cores `play` of ten tasks with ten starts is meant to take one to two minutes a suite; of
LIBERO-90 play `--tasks 45 --starts 2` and then the same with `--first 45`, each two to three minutes (not measured
since the tasks work side by side).
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from agentrl.core.errors import ConfigError
from agentrl.envs.common.mujoco import pictures
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.libero.objects.sculptor import GLOWING
from agentrl.envs.libero.simulation import PICTURES
from agentrl.envs.libero.world import suites
from benchmarks.libero.warp_play import compare_play
from benchmarks.libero.warp_worlds import enter, make_env, stacked, states_on_the_way, worlds_at

mujoco = load()
Figures = dict[str, Any]
NAMES = {  # in the file of results, by the command and whether it had several tasks
    ("speed", True): "speed of ten tasks side by side",
    ("steps", False): "single steps",
    ("steps", True): "single steps",
}


def main() -> None:
    """Run one of the comparisons."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=sorted(COMMANDS))
    parser.add_argument("--device", default=None)
    parser.add_argument("--suites", nargs="+", default=["libero_spatial"])
    parser.add_argument("--tasks", type=int, default=1, help="of each suite, the first ones")
    parser.add_argument("--first", type=int, default=0, help="number of the first of them")
    parser.add_argument("--starts", type=int, default=1, help="of each task")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)), help="that ask the oracle")
    parser.add_argument("--worlds", type=int, nargs="+", default=[1024])
    parser.add_argument("--steps", type=int, default=50, help="actions that are timed, or played on the way")
    parser.add_argument("--size", type=int, default=128, help="pixels of a picture's side")
    parser.add_argument("--out", type=Path, default=None, help="folder for pictures side by side")
    parser.add_argument("--json", type=Path, default=None, help="file of results to put the figures into")
    options = parser.parse_args()
    found = COMMANDS[options.what](options)
    print(json.dumps(found, indent=1))
    if options.json is not None:
        command = f"python -m benchmarks.libero.warp {' '.join(sys.argv[1:])}"
        keep(options.json, NAMES.get((options.what, options.tasks > 1)) or options.what, {"command": command, **found})


def keep(path: Path, what: str, found: Figures) -> None:
    """Put figures into a file of results; suites that were played are added to those that are there."""
    results = json.loads(path.read_text()) if path.exists() else {"schema": 1, "name": "libero_warp"}
    if "suites" in found:
        before = results.get(what, {})
        own = {name: {"command": found["command"], **row} for name, row in found["suites"].items()}
        missing = [name for name in before.get("not finished", []) if not any(one.startswith(name) for one in own)]
        found = {**before, "suites": {**before.get("suites", {}), **own}, "not finished": missing}
    results[what] = found
    path.write_text(json.dumps(results, indent=1) + "\n")


def chosen_tasks(options: argparse.Namespace, suite: str) -> range:
    """The numbers of a suite's tasks that are meant."""
    return range(options.first, min(options.first + options.tasks, len(suites()[suite])))


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


# ---------------------------------------------------------------------- how fast


def measure_speed(options: argparse.Namespace) -> Figures:
    """Random actions in many worlds, from state and with two pictures, `--tasks` tasks side by side."""
    from agentrl.envs.common.warp.loading import torch

    found = []
    for suite in options.suites:
        for count in options.worlds:
            for obs_mode in ("state", "image"):
                began = time.perf_counter()
                chosen = {"tasks": tuple(chosen_tasks(options, suite)), "obs_mode": obs_mode}
                env = make_env(options, suite, None, count, image_size=options.size, **chosen)
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


COMMANDS = {
    "steps": compare_steps,
    "pictures": compare_pictures,
    "play": compare_play,
    "speed": measure_speed,
    "hosts": measure_hosts,
}

if __name__ == "__main__":
    main()
