"""GRPO: every task is played several times, and a trajectory is judged by how it compares with its group. No critic.

All tokens of a trajectory share its lead: (reward - mean) / deviation over the group. Its descendants are options:

    Dr. GRPO   baseline="dr_grpo" (without the deviation) and loss_mean="constant" (without each sequence's length)
    DAPO       clip_high=0.28, extra_rounds=3 (dynamic sampling), loss_mean="token", overlong="filter" or "punish"

The paper's own mean is loss_mean="sequence"; "token", which most libraries have come to, is the default.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from agentrl.core.arguments import finite_number, whole_number
from agentrl.core.errors import ConfigError
from agentrl.rollout.trajectory import Step, Trajectory
from agentrl.trainers.actor_critic import BatchScores, make_learner, score
from agentrl.trainers.advantages import Estimate, dr_grpo, grpo, to_tokens
from agentrl.trainers.group_relative import GroupArguments, collect_groups, lead, without_critic
from agentrl.trainers.objective import Objective
from agentrl.trainers.rows import Batch
from agentrl.trainers.run import Run, Say
from agentrl.trainers.update import improve

BASELINES = {"grpo": grpo, "dr_grpo": dr_grpo}


@dataclass(kw_only=True)
class GRPO(GroupArguments):
    """Train by GRPO, Dr. GRPO or DAPO."""

    baseline: Literal["grpo", "dr_grpo"] = "grpo"
    """What a trajectory's lead is divided by: the deviation of its group, or nothing."""
    loss_mean: Literal["token", "sequence", "constant"] = "token"
    """Every token counts the same; every sequence does; or tokens are added up and divided by loss_length for each
    sequence. A sequence is a whole conversation, or a step with prompt_style=step."""
    loss_length: int = 0
    """Of loss_mean=constant; 0: max_new_tokens."""
    overlong: Literal["keep", "filter", "punish"] = "keep"
    """Trajectories with a reply that was cut at max_new_tokens: no matter; not learned from; or punished."""
    overlong_buffer: int = 0
    """With overlong=punish: the punishment grows over the last so many tokens before the limit; 0: at once."""
    overlong_penalty: float = 1.0
    """With overlong=punish: the whole punishment of a reply, in the environment's units of reward."""

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("loss_length", self.loss_length, at_least=0)
        whole_number("overlong_buffer", self.overlong_buffer, at_least=0)
        if self.overlong_buffer > self.max_new_tokens:
            raise ConfigError(f"overlong_buffer ({self.overlong_buffer}) must not exceed max_new_tokens")
        if finite_number("overlong_penalty", self.overlong_penalty) < 0:
            raise ConfigError("overlong_penalty must not be negative")


def train(args: GRPO, say: Say | None = None) -> Path:
    """Run to the end (or on from a checkpoint) and return the run folder."""
    learner = make_learner(args)
    objective = Objective("token", args.loss_mean, args.loss_length or args.max_new_tokens)
    with Run(args, "grpo", learner, say) as run:
        for _ in run.iterations():
            played, figures = collect_groups(run, args.episodes, args.group_size, args.extra_rounds)
            batch = Batch(played)
            with run.time("update"):
                scores = score(args, learner, batch)
                credit = advantages(args, batch, scores)
                losses = improve(args, run, batch, scores, credit, objective, left_out(args, batch))
                learner.publish()
            run.log_training(losses | figures | {"overlong": overlong_share(batch)})
        return run.close()


def advantages(args: GRPO, batch: Batch, scores: BatchScores) -> Estimate:
    """Each trajectory's lead over its group, on all of its tokens."""
    compare = BASELINES[args.baseline]
    return without_critic(to_tokens(lead(args, batch, scores, compare, punishment(args, batch)), batch.action_mask))


# ---------------------------------------------------------------------- replies that were cut


def is_overlong(trajectory: Trajectory) -> bool:
    """Was one of its replies cut?"""
    return any(step.finish_reason == "length" for step in trajectory.steps)


def overlong_share(batch: Batch) -> float:
    """Of the trajectories."""
    return sum(map(is_overlong, batch.trajectories)) / len(batch)


def left_out(args: GRPO, batch: Batch) -> Tensor | None:
    """The tokens of cut trajectories, where those are not to be learned from; they stay in their group's statistics."""
    if args.overlong != "filter":
        return None
    return torch.tensor([is_overlong(one) for one in batch.trajectories])[:, None] & batch.token_mask


def punishment(args: GRPO, batch: Batch) -> Tensor | None:
    """What long replies cost each trajectory; never above 0."""
    if args.overlong != "punish":
        return None
    excess = [sum(excess_of(args, step) for step in one.steps) for one in batch.trajectories]
    return -args.reward_scale * args.overlong_penalty * torch.tensor(excess)


def excess_of(args: GRPO, step: Step) -> float:
    """From 0 at the beginning of the buffer to 1 at the limit."""
    if not args.overlong_buffer:
        return float(step.finish_reason == "length")
    over = len(step.response_ids or ()) - (args.max_new_tokens - args.overlong_buffer)
    return min(1.0, max(0.0, over / args.overlong_buffer))
