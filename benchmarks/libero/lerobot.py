"""lerobot's own LIBERO environment and processor beside `protocol="lerobot"` on the official source.

    python -m benchmarks.libero.lerobot --python LEROBOT/bin/python --output benchmarks/results/libero_lerobot.json

`LEROBOT` is a virtual environment with lerobot 0.4.4 beside what `agentrl setup libero-official` installs. Both play
the same start with the same actions; every key, number and pixel is compared.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

import agentrl  # noqa: F401 (registers the environments)
from agentrl.core.cache import cache_dir
from agentrl.core.measure import machine
from agentrl.core.seeding import mixed_seed
from agentrl.core.worker import Worker
from agentrl.envs.libero.official.assets import default_assets
from agentrl.envs.libero.official.simulation import SPLITS
from agentrl.envs.libero.package import SUITES

PICTURES = {"observation.images.image": "image", "observation.images.image2": "wrist_image"}
NUMBERS = {
    "eef.pos": "eef_pos", "eef.quat": "eef_quat", "gripper.qpos": "gripper_qpos", "gripper.qvel": "gripper_qvel",
    "joints.pos": "joint_pos", "joints.vel": "joint_vel",
}  # fmt: skip
STEPS = 20


def compare(theirs: dict[str, Any], ours: dict[str, Any]) -> dict[str, float]:
    """The largest difference of every key; pictures in steps of 255."""
    processed, raw = theirs["processed"], theirs["raw"]
    found = {"observation.state": float(np.abs(processed["observation.state"] - ours["proprio"]).max())}
    for key, name in PICTURES.items():
        picture = np.rint(255 * np.moveaxis(processed[key], 0, -1)).astype(int)
        found[key] = float(np.abs(picture - ours[name].astype(int)).max())
    for key, name in NUMBERS.items():
        found[f"robot_state.{key}"] = float(np.abs(raw[key].astype(np.float32) - ours[name]).max())
    return found


def play(worker: Worker, suite: str, task: int) -> dict[str, Any]:
    """One start of a task in both: the first observation and those after random actions."""
    name = f"agentrl/LIBERO-{suite.removeprefix('libero_').capitalize()}-v0"
    how: dict[str, Any] = {"assets": "official", "protocol": "lerobot", "robot_state": True, "obs_text": False}
    env = gym.make(name, task=task, split="test", **how)
    limit = env.unwrapped.max_turns  # pyright: ignore[reportAttributeAccessIssue]
    random = np.random.default_rng(0)
    ours, info = env.reset(options={"task": f"{suite}/{task}:test:0"})
    seed = mixed_seed(SPLITS.index("test"), task, 0) % 2**31  # that of the places which the file of starts leaves out
    theirs = worker.call("begin", suite, task, 0, seed)
    facts = worker.call("facts")
    moments = [compare(theirs, ours)]
    for _ in range(STEPS):
        action = random.uniform(-1.5, 1.5, size=7).astype(np.float32)  # beyond 1: both clip
        moments.append(compare(worker.call("step", action), env.step(action)[0]))
    env.close()
    return {
        "suite": suite,
        "task": task,
        "lerobot": facts["lerobot"],
        "same_limit": facts["limit"] == limit,
        "same_instruction": facts["task"] == info["instruction"],
        "first": moments[0],
        "most": {key: max(moment[key] for moment in moments) for key in moments[0]},
    }


def main() -> None:
    """A task of every suite."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--python", required=True, help="an interpreter with lerobot and LIBERO's package")
    parser.add_argument("--output", type=Path, required=True)
    given = parser.parse_args()
    arguments = str(cache_dir() / "libero" / "config-lerobot"), str(default_assets())
    how: dict[str, Any] = {"path": [Path(__file__).parent / "inside"], "deadline": 600.0, "start_deadline": 600.0}
    rows = []
    with Worker("lerobot_side:Lerobot", arguments, python=given.python, **how) as worker:
        for suite in SUITES:
            rows.append(play(worker, suite, 0))
            print(json.dumps(rows[-1]), flush=True)
    found = {"schema": 1, "name": "libero_lerobot", "machine": machine(), "steps": STEPS, "tasks": rows}
    given.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
