"""Metrics of an iteration's episodes, and the line that is reported of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agentrl.rollout.collect import Collection
from agentrl.rollout.error_types import count_errors, error_type
from agentrl.rollout.evaluate import EpisodeScore, summarise
from agentrl.rollout.trajectory import Trajectory


def combined(first: Collection, second: Collection) -> Collection:
    """Two rounds of one iteration as one."""
    seconds = {
        name: first.seconds.get(name, 0.0) + second.seconds.get(name, 0.0)
        for name in dict.fromkeys([*first.seconds, *second.seconds])
    }
    return Collection(
        first.trajectories + second.trajectories, seconds, first.faults + second.faults, first.retries + second.retries
    )


def episode_metrics(collection: Collection) -> dict[str, Any]:
    """Success, reward and the rest over the episodes of an iteration; success and reward are never mixed."""
    played = [trajectory for trajectory in collection.trajectories if trajectory.fault is None]
    scores = [EpisodeScore.of(trajectory) for trajectory in played]
    summary = summarise(scores)
    further = summary.pop("metrics")
    lengths = [len(step.response_ids or []) for trajectory in played for step in trajectory.steps]
    by_env: dict[str, list[bool]] = {}
    for trajectory in played:
        by_env.setdefault(trajectory.env_id, []).append(trajectory.success)
    return {
        "episodes": len(collection.trajectories),
        **summary,
        "faults": collection.faults,
        "pending": further["pending"],
        "response_tokens_mean": sum(lengths) / len(lengths) if lengths else None,
        "generated": sum(lengths),
        "by_group": by_group(played),
        "errors": count_errors(error_type(trajectory) for trajectory in played),
        "by_env": {name: {"success": sum(won) / len(won), "episodes": len(won)} for name, won in by_env.items()},
    }


def by_group(trajectories: Sequence[Trajectory]) -> dict[str, dict[str, float]]:
    """Success in each group of tasks that the environments tell (`AgentEnv.about_task`); empty where they tell none."""
    won: dict[str, list[bool]] = {}
    for trajectory in trajectories:
        if (group := trajectory.about.get("group")) is not None:
            won.setdefault(str(group), []).append(trajectory.success)
    return {name: {"success": sum(held) / len(held), "episodes": len(held)} for name, held in sorted(won.items())}


def why_unknown(collection: Collection) -> str:
    """Why rewards are not known."""
    faults = [trajectory.fault for trajectory in collection.trajectories if trajectory.fault is not None]
    pending = len(collection.trajectories) - len(faults)
    first = f", the first: {faults[0].get('kind')}: {faults[0].get('detail')}" if faults else ""
    return f"{len(faults)} ended by a fault, {pending} wait for a judge{first}"


def summary_line(iteration: int, total: int, metrics: dict[str, Any]) -> str:
    """One iteration in one line."""
    parts = [f"[{iteration}/{total}]"]
    if metrics.get("success") is not None:
        parts.append(f"success {metrics['success']:.3f}")
    if metrics.get("reward_mean") is not None:
        parts.append(f"reward {metrics['reward_mean']:.2f}")
    called = {"policy": "policy_loss", "critic": "critic_loss"}
    shown = ("nll", "imitation", "held_out", "policy", "critic", "kl", "entropy", "grad_norm")
    parts += [f"{called.get(name, name)} {metrics['loss'][name]:.3g}" for name in shown if name in metrics["loss"]]
    return "  ".join([*parts, f"{metrics['seconds']['total']:.1f} s"])


def finite(value: Any) -> Any:
    """JSON has no NaN."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
