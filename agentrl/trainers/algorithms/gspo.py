"""GSPO: GRPO's credit with one probability ratio per sequence, the geometric mean of its tokens' ratios. No critic.

A sequence is a whole trajectory where the conversation is the prompt, and a step where prompts are rebuilt; its length
counts the tokens that the policy wrote. Such ratios stay close to 1, so the clips are tighter than those of tokens.

How tight depends on the length: the paper's 3e-4 and 4e-4 are for replies of thousands of tokens, and hold back most of
a mini-batch of short ones; `clipped_sequences` in the metrics tells.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from agentrl.trainers.arguments.policy import GSPO
from agentrl.trainers.run.run import Report, Run
from agentrl.trainers.update.advantages import Estimate
from agentrl.trainers.update.batch import Batch, masked_sum, unit_means
from agentrl.trainers.update.groups import collect_groups, group_advantages, grpo, to_tokens, without_critic
from agentrl.trainers.update.learner import Learner, make_learner
from agentrl.trainers.update.losses import Loss, clipped_loss, log_ratios
from agentrl.trainers.update.policy import BatchScores, Part, score, update_policy


def train(args: GSPO, report: Report | None = print) -> Path:
    """Run to the end (or resume from a checkpoint) and return the run folder."""
    learner = make_learner(args)
    with Run(args, "gspo", learner, report) as run:
        for _ in run.iterations():
            played, groups = collect_groups(
                run, args.episodes, args.group_size, args.dynamic_sampling_rounds, args.zero_variance_by
            )
            batch = Batch(played)
            with run.updating(batch) as rng:
                metrics = update(args, learner, batch, rng)
            run.log_training(metrics | groups)
        return run.close()


def update(args: GSPO, learner: Learner, batch: Batch, rng: torch.Generator) -> dict[str, float]:
    """Learn from a batch; the metrics of its losses."""
    scores = score(args, learner, batch)
    estimate = advantages(args, batch, scores)
    metrics = update_policy(args, learner, batch, scores, estimate, policy_loss, rng, "sequence")
    learner.publish()
    return metrics


def advantages(args: GSPO, batch: Batch, scores: BatchScores) -> Estimate:
    """Each trajectory compared with its group, on all of its tokens."""
    return without_critic(to_tokens(group_advantages(args, batch, scores, grpo), batch.action_mask))


def policy_loss(args: GSPO, logprobs: Tensor, part: Part) -> Loss:
    """Clipped per sequence: `w = exp(mean of log(pi/pi_old) over the sequence's tokens)`,
    `max(-w*A, -clip(w, 1-low, 1+high)*A)`, the mean over sequences."""
    log_ratio = log_ratios(logprobs, part.old, part.kept)
    ratio = unit_means(log_ratio, part.kept, "sequence", part.turn_ends).exp()
    clip = {"clip_low": args.clip_low, "clip_high": args.clip_high, "dual_clip": args.dual_clip}
    loss, metrics = clipped_loss(ratio, part.advantages, part.kept, part.weights, **clip)
    return Loss(loss, metrics | {"clipped_sequences": clipped_share(args, ratio.detach(), part)})


def clipped_share(args: GSPO, ratio: Tensor, part: Part) -> Tensor:
    """The share of the mini-batch's sequences that the clip keeps from moving further (each weighs the same)."""
    too_far = torch.where(part.advantages > 0, ratio > 1 + args.clip_high, ratio < 1 - args.clip_low)
    return masked_sum(part.weights, too_far & part.kept & (part.advantages != 0))
