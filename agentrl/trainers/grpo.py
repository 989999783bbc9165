"""GRPO: every task is played several times, and a trajectory is judged by how it compares with its group. No critic.

`baseline` chooses how: grpo (mean and deviation of the group), dr_grpo (mean alone), rloo (mean of the others). All
tokens of a trajectory share its advantage; a group whose trajectories earned the same teaches nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch

from agentrl.core.errors import ConfigError
from agentrl.trainers.actor_critic import BatchScores, PolicyArguments, kl_penalty, make_learner, score
from agentrl.trainers.advantages import Estimate, dr_grpo, grpo, rloo, to_tokens
from agentrl.trainers.losses import ppo_loss
from agentrl.trainers.rows import Batch
from agentrl.trainers.run import Run, Say
from agentrl.trainers.update import improve

BASELINES = {"grpo": grpo, "dr_grpo": dr_grpo, "rloo": rloo}


@dataclass(kw_only=True)
class GRPO(PolicyArguments):
    """Train by GRPO, Dr. GRPO or RLOO."""

    group_size: int = 8
    """Play every task so many times within an iteration."""
    kl_in: Literal["reward", "loss"] = "loss"
    """Where the divergence is paid."""
    kl_kind: Literal["k1", "k2", "k3"] = "k3"
    """How it is estimated."""
    baseline: Literal["grpo", "dr_grpo", "rloo"] = "grpo"
    """What a trajectory is compared with; see the top of this file."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.group_size < 2:
            raise ConfigError("group_size must be at least 2: a group of one has nothing to be compared with")
        if self.baseline not in BASELINES:
            raise ConfigError(f"baseline must be one of {', '.join(BASELINES)}, not {self.baseline!r}")


def train(args: GRPO, say: Say | None = None) -> Path:
    """Run to the end (or on from a checkpoint) and return the run folder."""
    learner = make_learner(args)
    with Run(args, "grpo", learner, say) as run:
        for _ in run.iterations():
            batch = Batch(run.collect(args.episodes, args.group_size))
            with run.time("update"):
                scores = score(args, learner, batch)
                losses = improve(args, run, batch, scores, advantages(args, batch, scores), ppo_loss)
                learner.publish()
            run.log_training(losses | {"even_groups": even_groups(batch)})
        return run.close()


def advantages(args: GRPO, batch: Batch, scores: BatchScores) -> Estimate:
    """Each trajectory's lead over its group, on all of its tokens."""
    earned, kl = batch.scores(args.reward_scale), kl_penalty(args, batch, scores)
    if kl is not None:
        earned = earned + kl.sum(1)
    lead = BASELINES[args.baseline](earned, groups(batch)).float()
    nowhere = torch.zeros_like(batch.action_mask)
    return Estimate(to_tokens(lead, batch.action_mask), torch.zeros_like(scores.old), nowhere)


def groups(batch: Batch) -> list[str]:
    """The group of each trajectory."""
    return [str(trajectory.group_id or trajectory.id) for trajectory in batch.trajectories]


def even_groups(batch: Batch) -> float:
    """The share of groups whose trajectories all earned the same: nothing is learned from them."""
    earned: dict[str, set[float]] = {}
    for group, value in zip(groups(batch), batch.scores().tolist(), strict=True):
        earned.setdefault(group, set()).add(round(value, 6))
    return sum(len(values) == 1 for values in earned.values()) / len(earned)
