"""A small network learns a robot's task by imitation, on one CPU core in minutes: from pictures, or from numbers.

    pip install '.[metaworld,train]'
    python examples/clone_robot.py --env agentrl/MetaWorld-button-press-topdown-v0 --image-size 64
    python examples/clone_robot.py --env agentrl/LIBERO-Spatial-v0 --env-kwargs '{"task": 2}' --obs-mode state

It plays demonstrations of the oracle on the train split, learns from them, and plays the network on starts of the test
split, which it never saw. `--output DIR` keeps it: `agentrl eval ID --policy control:DIR` plays it again.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import tyro

from agentrl.policies.control import ControlPolicy
from agentrl.rollout.evaluate import evaluate
from agentrl.trainers.algorithms.behaviour_cloning import BehaviourCloning, train


@dataclass
class Arguments:
    """What can be chosen on the command line."""

    env: str = "agentrl/MetaWorld-button-press-topdown-v0"
    obs_mode: str = "image"  # or "state"
    image_size: int = 64
    pictures: tuple[str, ...] = ()  # cameras to learn from; default: all
    demonstrations: int = 100
    data: str = ""  # a LeRobotDataset to learn from instead, such as `agentrl export lerobot` writes
    noise: float = 0.1
    chunk: int = 1  # actions at a time
    steps: int = 2000  # of the optimiser
    batch_size: int = 128
    test_episodes: int = 50
    seed: int = 0
    env_kwargs: str = "{}"  # further arguments of the environment, as JSON
    output: Path | None = None


def run(args: Arguments) -> dict[str, Any]:
    """Demonstrate, learn, evaluate on unseen starts."""
    torch.set_num_threads(1)
    kwargs: dict[str, Any] = {"obs_mode": args.obs_mode, **json.loads(args.env_kwargs)}
    kwargs |= {"image_size": args.image_size} if args.obs_mode == "image" else {}
    began, processor = time.perf_counter(), time.process_time()
    settings = BehaviourCloning(
        env=args.env,
        env_kwargs=kwargs,
        pictures=args.pictures,
        demonstrations=args.demonstrations,
        data=args.data,
        noise=args.noise,
        chunk=args.chunk,
        steps=args.steps,
        batch_size=args.batch_size,
        seed=args.seed,
    )
    net = train(settings, lambda line: print(line, file=sys.stderr, flush=True))
    trained = time.process_time() - processor, time.perf_counter() - began
    if args.output is not None:
        net.save(args.output)
    wrappers = [{"wrapper": "ActionChunks", "size": args.chunk}] if args.chunk > 1 else None
    result = evaluate(
        args.env, ControlPolicy(net), args.test_episodes, split="test", env_kwargs=kwargs, wrappers=wrappers, num_envs=1
    )
    return {
        "env": args.env,
        "env_kwargs": kwargs,
        "demonstrations": args.demonstrations,
        "success": result.success,
        "success_ci": result.success_ci,
        "test_episodes": args.test_episodes,
        "turns_mean": result.turns_mean,
        "train_cpu_seconds": round(trained[0], 1),
        "train_seconds": round(trained[1], 1),
    }


if __name__ == "__main__":
    print(json.dumps(run(tyro.cli(Arguments, description=__doc__))))
