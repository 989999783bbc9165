"""Trains in processes that are really killed: `python -m tests.trainers.run.kill_driver FOLDER MODEL KILLS [webrl]`.

Everything heavy is imported once; each attempt is a fork of this process, so that it lives as long as its training and
not as long as the imports of torch. Prints how often a run was killed, and how often while a checkpoint was written.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

import torch

import agentrl  # noqa: F401
from agentrl.trainers.algorithms import ppo, webrl
from tests.trainers.toys import QUICK


def arguments(folder: Path, model: str, **more: Any) -> ppo.PPO:
    """Four iterations of four episodes with every memory a run can have: critic, reference, a counting wrapper."""
    options = QUICK | {
        "env": ("agentrl/FrozenLake-Text-v0",),
        "env_kwargs": {"max_turns": 2},
        "strategy": "grounding",
        "judge": "rule",
        "wrap": [{"wrapper": "RepetitionPenalty"}],
        "model": model,
        "output": str(folder),
        "resume": True,
        "iterations": 4,
        "episodes": 4,
        "num_envs": 3,
        "minibatches": 2,
        "lr": 1e-3,
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


def attempt(folder: Path, model: str, algorithm: str) -> int:
    """Begin or go on with a run in a process of its own; its id."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        trainer, make = RUNS[algorithm]
        trainer.train(make(folder, model), report=lambda text: None)
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


def main(root: Path, model: str, kills: int, algorithm: str = "ppo") -> None:
    """One run that nobody disturbs, then others until enough processes were killed."""
    torch.set_num_threads(1)
    rng, found, runs = random.Random(7), [], 0
    trainer, make = RUNS[algorithm]
    trainer.train(make(root / "imports", model, iterations=1), report=lambda text: None)  # before the forks
    begin = time.perf_counter()
    ended(attempt(root / "whole", model, algorithm), wait=True)
    whole = time.perf_counter() - begin
    while len(found) < kills:
        folder, runs, alive = root / f"killed-{runs}", runs + 1, True
        while alive and len(found) < kills:
            child = attempt(folder, model, algorithm)
            how = killed(child, folder, rng.uniform(0, whole), while_writing=len(found) % 3 == 0)
            found += [how] if how else []
            alive = how is not None
        if alive:
            ended(attempt(folder, model, algorithm), wait=True)
    print(json.dumps({"kills": found, "runs": runs, "seconds": whole}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
