"""Run folders as a trainer leaves them, made up in milliseconds; the episodes in them were really played."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import gymnasium as gym

from agentrl.core.policy import Generation
from agentrl.rollout.record import record_episode
from agentrl.rollout.statistics import wilson_interval
from agentrl.rollout.trajectory import Trajectory
from agentrl.rollout.trajectory_file import TrajectoryWriter
from agentrl.wrappers.reasoning_format import Reasoning

LAKE = "agentrl/FrozenLake-Text-v0"


class Halting:
    """Plays the oracle's turn with some probability, and nonsense otherwise; talks around it."""

    name = "hf:tiny-text"

    def __init__(self, skill: float, version: int, seed: int = 0) -> None:
        self.skill, self.version, self.rng = skill, version, random.Random(seed)

    def act(self, conversations, envs=None):
        answers = []
        for env in envs or ():
            good = self.rng.random() < self.skill
            moves = (env.unwrapped.oracle() if good else None) or self.rng.choice(["Left", "Up, Up", "Down", "fly"])
            text = (
                f"<think>I am at the start and the goal is {'near' if good else 'far'}.</think><answer>{moves}</answer>"
            )
            answers.append(Generation(text=text, action=text, version=self.version))
        return answers


def train_line(iteration: int, iterations: int, rng: random.Random, **changes) -> dict:
    share = iteration / iterations
    success = min(1.0, max(0.0, 0.15 + 0.75 / (1 + math.exp(-8 * (share - 0.4))) + rng.gauss(0, 0.02)))
    wins = round(256 * success)
    form = min(1.0, 0.4 + 2 * share)
    reward = success + 0.5 * form - 0.4
    seconds = {"generate": 3.2 + rng.random(), "environment": 0.3, "judge": 0.15, "update": 2.1, "other": 0.1}
    return {
        "iteration": iteration,
        "kind": "train",
        "episodes": 256,
        "episodes_total": 256 * iteration,
        "success": wins / 256,
        "success_ci": list(wilson_interval(wins, 256) or ()),
        "reward_mean": reward,
        "reward_ci": [reward - 0.07, reward + 0.07],
        "reward_terms": {"goal": success, "format": 0.5 * form, "step": -0.3, "invalid": -0.1},
        "valid_rate": min(1.0, 0.7 + share),
        "format_rate": form,
        "effective_rate": 0.6 + 0.3 * share,
        "turns_mean": 2.6 - share,
        "truncated_rate": 0.4 - 0.3 * share,
        "faults": 0,
        "pending": 0,
        "response_tokens_mean": 34 - 8 * share,
        "loss": {
            "policy": rng.gauss(0, 0.01),
            "critic": 0.4 * math.exp(-3 * share) + 0.02 * rng.random(),
            "kl": 0.02 * share,
            "entropy": 0.9 * math.exp(-2 * share),
            "clip_fraction": 0.06 + 0.02 * rng.random(),
            "approx_kl": 0.004 + 0.002 * rng.random(),
            "grad_norm": 0.6 + 0.3 * rng.random(),
            "explained_variance": 0.8 * share,
        },
        "lr": 3e-4 * min(1.0, 10 * share) * (1 - share) + 1e-6,
        "tokens": {"generated": 21000 + rng.randint(0, 900), "trained": 60000, "padding": 0.04},
        "seconds": {**seconds, "total": sum(seconds.values())},
        "by_env": {LAKE: {"success": success, "episodes": 256}},
        **changes,
    }


def eval_line(iteration: int, success: float, *, greedy: bool, episodes: int = 500, **changes) -> dict:
    wins = round(success * episodes)
    return {
        "iteration": iteration,
        "kind": "eval",
        "split": "test",
        "greedy": greedy,
        "env_id": LAKE,
        "episodes": episodes,
        "success": wins / episodes,
        "success_ci": list(wilson_interval(wins, episodes) or ()),
        "reward_mean": success - 0.2,
        "reward_ci": [success - 0.23, success - 0.17],
        "seconds_total": 4.0,
        **changes,
    }


def played(skill: float, version: int, count: int = 6, env_id: str = LAKE) -> list[Trajectory]:
    """Episodes of a policy of that skill."""
    env = Reasoning(gym.make(env_id, split="train"), "free_think")
    policy = Halting(skill, version, seed=version)
    found = [record_episode(env, policy, seed) for seed in range(count)]
    env.close()
    return found


def rl_lines(iterations: int = 40, seed: int = 0, every: int = 10, lift: float = 0.0) -> list[dict]:
    rng, lines = random.Random(seed), []
    for iteration in range(0, iterations + 1):
        if iteration:
            lines.append(train_line(iteration, iterations, rng))
        if iteration % every == 0:
            share = iteration / iterations
            lines.append(eval_line(iteration, 0.16 + (0.6 + lift) * share + rng.gauss(0, 0.01), greedy=False))
            lines.append(eval_line(iteration, 0.35 + (0.5 + lift) * share + rng.gauss(0, 0.01), greedy=True))
    return lines


def sft_lines(steps: int = 30) -> list[dict]:
    return [
        {
            "iteration": step,
            "kind": "train",
            "loss": {"nll": 3.0 * math.exp(-step / 8)},
            "lr": 1e-3,
            "tokens": {"trained": 5000, "padding": 0.02},
            "seconds": {"update": 0.4, "total": 0.45},
        }
        for step in range(1, steps + 1)
    ]


def write_run(folder: Path, lines: list[dict], config: dict | None = None, **files: list[Trajectory]) -> Path:
    """A run folder; each keyword is a file of trajectories."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    settings = {"algorithm": "ppo", "arguments": {"seed": 0, "lr": 3e-4}, "versions": {"python": "3.11", "torch": "2"}}
    (folder / "config.json").write_text(json.dumps(settings if config is None else config))
    for name, held in files.items():
        with TrajectoryWriter(folder / "trajectories" / f"{name}.jsonl") as writer:
            for trajectory in held:
                writer.write(trajectory)
    return folder
