"""GRPO: every task is played several times, and a trajectory is judged by how it compares with its group. No critic.

All tokens of a trajectory share its advantage: (reward - mean) / deviation over the group. Its descendants are options:

    Dr. GRPO   baseline="dr_grpo" (without the deviation) and loss_mean="constant" (without each sequence's length)
    DAPO       clip_high=0.28, dynamic_sampling_rounds=3, loss_mean="token", overlong="filter" or "punish", kl_coef=0

The paper's own mean is loss_mean="sequence"; "token", which most libraries have come to, is the default.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from agentrl.rollout.trajectory import Step, Trajectory
from agentrl.trainers.arguments.policy import GRPO
from agentrl.trainers.run.run import Report, Run
from agentrl.trainers.update.advantages import Estimate
from agentrl.trainers.update.batch import Batch, token_weights
from agentrl.trainers.update.groups import collect_groups, dr_grpo, group_advantages, grpo, to_tokens, without_critic
from agentrl.trainers.update.learner import Learner, make_learner
from agentrl.trainers.update.losses import Loss, clipped_loss, log_ratios
from agentrl.trainers.update.policy import BatchScores, Part, score, update_policy

BASELINES = {"grpo": grpo, "dr_grpo": dr_grpo}


def train(args: GRPO, report: Report | None = print) -> Path:
    """Run to the end (or resume from a checkpoint) and return the run folder."""
    learner = make_learner(args)
    with Run(args, "grpo", learner, report) as run:
        for _ in run.iterations():
            rounds = (args.dynamic_sampling_rounds, args.zero_variance_by, args.drop_zero_variance)
            played, groups = collect_groups(run, args.episodes, args.group_size, *rounds)
            batch = learner.batch(played)
            with run.updating(batch) as rng:
                metrics = update(args, learner, batch, rng)
            overlong = sum(map(is_overlong, batch.trajectories)) / len(batch)
            run.log_training(metrics | groups | {"overlong": overlong})
        return run.close()


def update(args: GRPO, learner: Learner, batch: Batch, rng: torch.Generator) -> dict[str, float]:
    """Learn from a batch; the metrics of its losses."""
    scores = score(args, learner, batch)
    estimate = advantages(args, batch, scores)
    means = {"weigh": partial(loss_weights, args), "left_out": left_out(args, batch)}
    metrics = update_policy(args, learner, batch, scores, estimate, policy_loss, rng, **means)
    learner.publish()
    return metrics


def advantages(args: GRPO, batch: Batch, scores: BatchScores) -> Estimate:
    """Each trajectory compared with its group, on all of its tokens."""
    compared = group_advantages(args, batch, scores, BASELINES[args.baseline], punishment(args, batch))
    return without_critic(to_tokens(compared, batch.action_mask))


def policy_loss(args: GRPO, logprobs: Tensor, part: Part) -> Loss:
    """Clipped per token: `u = pi/pi_old`, `max(-u*A, -clip(u, 1-low, 1+high)*A)`, weighed by `loss_weights`."""
    ratio = log_ratios(logprobs, part.old, part.kept).exp()
    clip = {"clip_low": args.clip_low, "clip_high": args.clip_high, "dual_clip": args.dual_clip}
    return clipped_loss(ratio, part.advantages, part.kept, part.weights, **clip)


def loss_weights(args: GRPO, mask: Tensor, turn_ends: Tensor) -> Tensor:
    """What each token of a mini-batch counts: all the same, each sequence the same, or 1/length in each sequence."""
    if args.loss_mean != "constant":
        return token_weights(args.loss_mean, mask, turn_ends)
    sequences = mask.any(1).sum().clamp(min=1)
    return torch.where(mask, 1 / (sequences * (args.loss_length or args.max_new_tokens)), 0.0)


# ---------------------------------------------------------------------- replies that were cut


def is_overlong(trajectory: Trajectory) -> bool:
    """Whether one of its replies was cut."""
    return any(step.finish_reason == "length" for step in trajectory.steps)


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
