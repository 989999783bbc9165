"""Run folders as a trainer leaves them, made up in milliseconds; the episodes in them were really played."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import gymnasium as gym

from agentrl.core.policy import Generation
from agentrl.rollout.episode import record_episode
from agentrl.rollout.error_types import EpisodeFacts, to_columns
from agentrl.rollout.statistics import wilson_interval
from agentrl.rollout.trajectory import Trajectory
from agentrl.rollout.trajectory_file import TrajectoryWriter
from agentrl.wrappers.reasoning import Reasoning

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


SITES = {"shopping": 45, "shopping_admin": 35, "reddit": 30, "gitlab": 30, "map": 20}
KINDS = ("nearby", "easier", "harder", "recombined")


def web_tasks(skill: float, seed: int = 0) -> list[EpisodeFacts | None]:
    """How a policy of that skill fares on held-out tasks of five sites, one of them lost to a fault."""
    tasks, luck = random.Random(7), random.Random(seed)
    found: list[EpisodeFacts | None] = [None]
    for site, count in SITES.items():
        for _ in range(count):
            steps, wishes = tasks.randint(2, 14), tasks.randint(1, 5)
            won = luck.random() < skill * (1.2 - steps / 16) * (0.6 + 0.1 * len(site) / 2)
            kinds = ["stuck", "no_recovery", "wrong_end", "no_attempt", "out_of_turns"]
            weights = [4 * (1 - skill), 2, 3, 1.2 - skill, 1]
            error = None if won else luck.choices(kinds, weights)[0]
            found.append(EpisodeFacts(won, steps + luck.randint(0, 5), site, wishes, steps, error))
    return found


def phase_lines(phases: int = 4, orm: bool = True, lift: float = 0.5) -> list[dict]:
    """Metrics of a run in phases on the web sites."""
    rng, lines = random.Random(3), []
    for phase in range(phases + 1):
        held = web_tasks(0.25 + lift * phase / phases, seed=phase)
        won = sum(one.success for one in held if one) / (len(held) - 1)
        told = {"env_id": "agentrl/WebArenaLite-Text-v0", "by_task": to_columns(held)}
        if phase:
            counts = {"proposed": 900, "duplicates": 40 + phase, "infeasible": 60, "unplayable": 0, "too_hard": 220}
            counts |= {"too_easy": 80 * phase, "kept": 480, "filled": 20, "played": 500}
            accuracy = 0.8 + 0.02 * phase if orm else 1.0
            labels = {"labelled": 500, "waiting": 0, "success": won + 0.1 * orm, "accuracy": accuracy}
            labels |= {"precision": 0.76, "recall": 0.9}
            kept = {"eligible": 900 * phase, "limit": 6000, "actions": min(6000, 900 * phase)}
            buffer = {"trajectories": 150 * phase, "actions": 1500 * phase, "failed_tasks": 300 * phase}
            parts = {"tasks": counts, "labels": labels, "replay": kept, "buffer": buffer}
            lines.append(train_line(phase, phases, rng, phase=parts, success=won))
        lines.append(eval_line(phase, won, greedy=True, episodes=len(held), **told))
    return lines


def write_replay(folder: Path, phases: int = 3) -> None:
    """Labelled trajectories of each phase, as a run of phases keeps them."""
    (folder / "replay").mkdir(parents=True)
    for phase in range(phases + 1):
        rows = []
        for number in range(12):
            kind = KINDS[number % 4] if phase else ""
            words = f"Order {number + phase} of the cheapest product in category {number} to my default address."
            task = {"id": f"shop-order.{number}", "kwargs": {}, "instruction": words, "kind": kind}
            label = {"score": 0.2 + 0.06 * number, "by": "orm", "phase": phase, "env": 0, "task": task}
            label["truth"] = number % 3 != 0
            about = {"group": "shopping", "complexity": 2 + number % 3, "steps": 4 + phase}
            rows.append({"schema": 2, "steps": [{"info": {"label": label}}], "about": about, "task": task["id"]})
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "replay" / f"phase_{phase:06d}.jsonl").write_text(text + '{"half a li')


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
