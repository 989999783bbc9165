"""Trains in processes that are really killed, and in one that is asked to stop; `main` runs in a warm process.

Each attempt is a fork of it, so that it lives as long as its training and not as long as the imports of torch.
"""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import agentrl  # noqa: F401
from agentrl.trainers.algorithms import ppo, webrl
from tests.trainers.toys import QUICK


def arguments(folder: Path, model: str, **more: Any) -> ppo.PPO:
    """Three iterations of four episodes with every memory a run can have: critic, reference, a counting wrapper."""
    options = QUICK | {
        "env": ("agentrl/FrozenLake-Text-v0",),
        "env_kwargs": {"max_turns": 2},
        "strategy": "grounding",
        "judge": "rule",
        "wrap": [{"wrapper": "RepetitionPenalty"}],
        "model": model,
        "output": str(folder),
        "resume": True,
        "iterations": 3,
        "episodes": 4,
        "num_envs": 3,
        "minibatches": 2,
        "lr": 1e-3,
        "critic_truth": True,
        "schedule": "linear",
        "save_every": 1,
        "save_trajectories": 2,
        "eval_every": 2,
        "eval_episodes": 2,
        "eval_modes": ("sampled",),
    }
    return ppo.PPO(**(options | more))


def phase_arguments(folder: Path, model: str, **more: Any) -> webrl.WebRL:
    """Three phases of WebRL with whatever they remember: new tasks, replay, labels that come late."""
    options = QUICK | {
        "env": ("agentrl/FrozenLake-Text-v0",),
        "env_kwargs": {"max_turns": 2, "size": 3},
        "prompt_style": "step",
        "history": 100,
        "model": model,
        "output": str(folder),
        "resume": True,
        "iterations": 3,
        "tasks_per_phase": 6,
        "num_envs": 3,
        "batch_size": 4,
        "lr": 1e-3,
        "critic_lr": 1e-3,
        "orm": {"kind": "tests.toy_judges:OftenAway"},
        "perplexity_high": 1e9,
        "save_trajectories": 2,
        "eval_every": 2,
        "eval_episodes": 2,
        "eval_modes": ("sampled",),
    }
    return webrl.WebRL(**(options | {"save_every": 1} | more))


RUNS: dict[str, Any] = {"ppo": (ppo, arguments), "webrl": (webrl, phase_arguments)}


def attempt(folder: Path, model: str, algorithm: str, **more: Any) -> int:
    """Begin or go on with a run in a process of its own; its id. What it reports goes into a file."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        trainer, make = RUNS[algorithm]
        with open(f"{folder}.txt", "w") as said:
            trainer.train(make(folder, model, **more), report=lambda text: print(text, file=said))
        status = 0
    finally:
        os._exit(status)


def ended(child: int, wait: bool = False) -> bool:
    """Did it end by itself? An error in it ends the driver."""
    done, status = os.waitpid(child, 0 if wait else os.WNOHANG)
    if done and status:
        raise SystemExit(f"a training process failed with {status}")
    return bool(done)


def killed(child: int, folder: Path, seconds: float, while_writing: bool) -> str | None:
    """Kill it after a time, or as soon after that as it writes a checkpoint; None if it was done before."""
    until = time.perf_counter() + seconds
    while time.perf_counter() < until or (while_writing and not list(folder.glob("checkpoints/.step_*"))):
        if ended(child):
            return None
        time.sleep(0.0002)
    writing = bool(list(folder.glob("checkpoints/.step_*")))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "writing" if writing else "working"


def stopped(child: int, folder: Path) -> bool:
    """Ask it to stop once it has trained for an iteration. Did it end without an error before it was done?"""
    metrics = folder / "metrics.jsonl"
    while not metrics.exists() or '"train"' not in metrics.read_text():
        if ended(child):
            return False
        time.sleep(0.002)
    os.kill(child, signal.SIGTERM)
    return ended(child, wait=True)


def main(root: str, model: str, kills: int, algorithm: str = "ppo") -> dict[str, Any]:
    """One run that nobody disturbs, others until enough processes were killed, and one that is asked to stop."""
    rng, found, runs = random.Random(7), [], 0
    begin = time.perf_counter()
    ended(attempt(Path(root) / "whole", model, algorithm), wait=True)
    whole = time.perf_counter() - begin
    while len(found) < kills:
        folder, runs, alive = Path(root) / f"killed-{runs}", runs + 1, True
        while alive and len(found) < kills:
            child = attempt(folder, model, algorithm)
            how = killed(child, folder, rng.uniform(0, whole), while_writing=len(found) % 3 == 0)
            found += [how] if how else []
            alive = how is not None
        if alive:
            ended(attempt(folder, model, algorithm), wait=True)
    asked = Path(root) / "stopped"
    return {
        "kills": found,
        "runs": runs,
        "seconds": whole,
        "stopped": stopped(attempt(asked, model, algorithm, save_every=100), asked),
    }
