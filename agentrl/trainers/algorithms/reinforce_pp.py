"""REINFORCE++: the return of every token, whitened over the whole batch. No critic, and no groups unless asked for.

With `baseline` every task is played several times, the mean of its group is taken off the rewards first, and all tokens
of a trajectory share what is left (REINFORCE++-baseline).
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from agentrl.trainers.arguments.policy import ReinforcePP
from agentrl.trainers.run.run import Report, Run
from agentrl.trainers.update.advantages import Estimate, discounted_returns, rewards_at_last_action, whiten
from agentrl.trainers.update.batch import Batch
from agentrl.trainers.update.groups import collect_groups, dr_grpo, group_advantages, to_tokens, without_critic
from agentrl.trainers.update.learner import Learner, make_learner
from agentrl.trainers.update.losses import Loss, clipped_loss, log_ratios
from agentrl.trainers.update.policy import BatchScores, Part, kl_penalty, score, update_policy


def train(args: ReinforcePP, report: Report | None = print) -> Path:
    """Run to the end (or resume from a checkpoint) and return the run folder."""
    learner = make_learner(args)
    with Run(args, "reinforce_pp", learner, report) as run:
        for _ in run.iterations():
            if args.baseline:
                played, groups = collect_groups(run, args.episodes, args.group_size)
            else:
                played, groups = run.collect(args.episodes, args.group_size), {}
            batch = Batch(played)
            with run.updating(batch) as rng:
                metrics = update(args, learner, batch, rng)
            run.log_training(metrics | groups)
        return run.close()


def update(args: ReinforcePP, learner: Learner, batch: Batch, rng: torch.Generator) -> dict[str, float]:
    """Learn from a batch; the metrics of its losses."""
    scores = score(args, learner, batch)
    estimate = advantages(args, batch, scores)
    metrics = update_policy(args, learner, batch, scores, estimate, policy_loss, rng)
    learner.publish()
    return metrics


def advantages(args: ReinforcePP, batch: Batch, scores: BatchScores) -> Estimate:
    """Returns of every token, or trajectories compared with their group; mean 0 and deviation 1 over the batch."""
    mask = batch.action_mask
    if args.baseline:
        return without_critic(whiten(to_tokens(group_advantages(args, batch, scores, dr_grpo), mask), mask))
    rewards = batch.turn_rewards(args.reward_scale)
    if args.reward_at == "end":
        rewards = rewards_at_last_action(batch.scores(args.reward_scale), mask)
    kl = kl_penalty(args, batch, scores)
    returns = discounted_returns(rewards if kl is None else rewards + kl, mask, gamma=args.gamma)
    return without_critic(whiten(returns, mask))


def policy_loss(args: ReinforcePP, logprobs: Tensor, part: Part) -> Loss:
    """Clipped per token: `u = pi/pi_old`, `max(-u*A, -clip(u, 1-low, 1+high)*A)`, the mean over tokens."""
    ratio = log_ratios(logprobs, part.old, part.kept).exp()
    clip = {"clip_low": args.clip_low, "clip_high": args.clip_high, "dual_clip": args.dual_clip}
    return clipped_loss(ratio, part.advantages, part.kept, part.weights, **clip)
