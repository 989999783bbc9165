"""Demonstrations by the scripted oracle in MuJoCo Warp, seen by both cameras and kept on the device.

What is done has a little noise, what is to be learned has none. Every action is a row of `DeviceRows`; the episodes
that succeeded become trajectories that `agentrl train bc` reads.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch

from agentrl.envs.libero.oracle import RELEASE
from agentrl.models.vla.spec import VLASpec
from agentrl.rollout.demonstrations import GOLD
from agentrl.rollout.device_rows import DeviceRows, DeviceTrajectory, Held
from agentrl.rollout.trajectory import Step
from benchmarks.libero.warp_play import Oracles

MEMORY = 16.0  # GiB of pictures
Episodes = list[list[tuple[int, list[float]]]]  # of each world: rows and what the oracle would have done there


def demonstrations(
    options: argparse.Namespace, env_id: str, kwargs: dict[str, Any], spec: VLASpec
) -> list[DeviceTrajectory]:
    """Those that succeeded; read from the folder where they were played before."""
    path = Path(options.folder) / "demonstrations.pt"
    given = {"env": env_id, "kwargs": kwargs, "starts": options.demonstrations, "noise": options.noise}
    if path.exists():
        kept = torch.load(path, weights_only=True)
        if kept["given"] == given:
            return records(kept, env_id, spec, options.device)
    worlds = options.tasks * options.demonstrations
    given_env = {"split": "train", "starts": options.demonstrations, "autoreset_mode": "Disabled", **kwargs}
    env: Any = gym.make_vec(env_id, worlds, "vector_entry_point", **given_env)
    rows = DeviceRows(spec, worlds * env.max_turns, env.device, MEMORY)
    with Oracles(options.processes) as oracles:
        episodes, done, used = play(env, oracles, rows, options.noise)
    print(f"{done.sum()} of {worlds} demonstrations succeeded, {used} actions", file=sys.stderr)
    kept = {
        "given": given,
        "pictures": {name: kept[:used].clone() for name, kept in rows.pictures.items()},
        "numbers": rows.numbers[:used].clone(),
        "episodes": [one for one, success in zip(episodes, done, strict=True) if success],
        "instructions": [text for text, success in zip(env.instructions, done, strict=True) if success],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(kept, path)
    return records(kept, env_id, spec, options.device)


def play(env: Any, oracles: Oracles, rows: DeviceRows, noise: float) -> tuple[Episodes, np.ndarray, int]:
    """One start in each world; the rows and labels of each, which succeeded, and how many rows there are."""
    count, random = env.num_envs, np.random.default_rng(0)
    names = [env.tasks[world % len(env.tasks)].names[world // len(env.tasks)] for world in range(count)]
    seen, _ = env.reset(options={"task": names})
    episodes: Episodes = [[] for _ in range(count)]
    playing, done, used = np.ones(count, bool), np.zeros(count, bool), 0
    for step in range(env.max_turns):
        worlds = np.flatnonzero(playing)
        gold = oracles.act(env, playing)
        at = torch.arange(used, used + len(worlds), device=env.device)
        rows.observe(at, seen, torch.from_numpy(worlds).to(env.device))
        for place, world in enumerate(worlds.tolist()):
            episodes[world].append((used + place, gold[world].tolist()))
        used += len(worlds)
        moves = gold + random.normal(0.0, noise, gold.shape) * (gold != RELEASE).any(1, keepdims=True)
        played = env.play_chunk(np.clip(moves, -1, 1).astype(np.float32)[:, None], playing)
        done |= played.terminated.cpu().numpy()
        playing &= ~(played.terminated | played.truncated).cpu().numpy()
        seen = played.seen
        if step % 50 == 0:
            print(f"demonstrations: action {step}, {playing.sum()} of {count} still played", file=sys.stderr)
        if not playing.any():
            break
    return episodes, done, used


def records(kept: dict[str, Any], env_id: str, spec: VLASpec, device: str | None) -> list[DeviceTrajectory]:
    """Trajectories whose pictures lie in rows of their own, each behind the one before."""
    rows = DeviceRows(spec, len(kept["numbers"]), device or "cuda", MEMORY)
    order = torch.tensor([row for episode in kept["episodes"] for row, _ in episode])
    numbers = kept["numbers"].cpu()
    for name, pictures in rows.pictures.items():
        pictures[: len(order)] = kept["pictures"][name].cpu()[order].to(rows.device)
    rows.numbers[: len(order)] = numbers[order].to(rows.device)
    found, first = [], 0
    for number, (episode, text) in enumerate(zip(kept["episodes"], kept["instructions"], strict=True)):
        one = DeviceTrajectory(id=f"demo-{number}", env_id=env_id, reward=1.0, held=Held(rows, first, rows.use))
        for row, gold in episode:
            one.steps.append(Step(observation=text, proprio=numbers[row].tolist(), sampling={GOLD: gold}))
        one.steps[-1].info["success"] = True
        found.append(one)
        first += len(episode)
    return found
