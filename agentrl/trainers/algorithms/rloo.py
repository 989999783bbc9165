"""RLOO: REINFORCE with the mean reward of the *other* trajectories of the task as the baseline. No critic.

The KL is subtracted from the rewards, as in the paper. With one epoch and one mini-batch the ratio is 1 and this is
plain REINFORCE; more of either make use of PPO's clip.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from agentrl.trainers.arguments.policy import RLOO
from agentrl.trainers.run.run import Report, Run
from agentrl.trainers.update.advantages import Estimate
from agentrl.trainers.update.batch import Batch
from agentrl.trainers.update.groups import collect_groups, group_advantages, rloo, to_tokens, without_critic
from agentrl.trainers.update.learner import Learner, make_learner
from agentrl.trainers.update.losses import Loss, clipped_loss, log_ratios
from agentrl.trainers.update.policy import BatchScores, Part, score, update_policy


def train(args: RLOO, report: Report | None = print) -> Path:
    """Run to the end (or resume from a checkpoint) and return the run folder."""
    learner = make_learner(args)
    with Run(args, "rloo", learner, report) as run:
        for _ in run.iterations():
            played, groups = collect_groups(
                run, args.episodes, args.group_size, args.dynamic_sampling_rounds, args.zero_variance_by
            )
            batch = Batch(played)
            with run.updating(batch) as rng:
                metrics = update(args, learner, batch, rng)
            run.log_training(metrics | groups)
        return run.close()


def update(args: RLOO, learner: Learner, batch: Batch, rng: torch.Generator) -> dict[str, float]:
    """Learn from a batch; the metrics of its losses."""
    scores = score(args, learner, batch)
    estimate = advantages(args, batch, scores)
    metrics = update_policy(args, learner, batch, scores, estimate, policy_loss, rng)
    learner.publish()
    return metrics


def advantages(args: RLOO, batch: Batch, scores: BatchScores) -> Estimate:
    """Each trajectory's reward above the mean of the others, on all of its tokens."""
    return without_critic(to_tokens(group_advantages(args, batch, scores, rloo), batch.action_mask))


def policy_loss(args: RLOO, logprobs: Tensor, part: Part) -> Loss:
    """Clipped per token: `u = pi/pi_old`, `max(-u*A, -clip(u, 1-low, 1+high)*A)`, the mean over tokens."""
    ratio = log_ratios(logprobs, part.old, part.kept).exp()
    clip = {"clip_low": args.clip_low, "clip_high": args.clip_high, "dual_clip": args.dual_clip}
    return clipped_loss(ratio, part.advantages, part.kept, part.weights, **clip)
