"""StepPO: the step is the action. Step-level GAE, one probability ratio per step, a critic asked once per step.

Ablations of the paper: `step_gae=False` gives credit token by token, `step_ratio=False` clips token by token; without
both it is token PPO. Prompts may be rebuilt at each step (`prompt_style="step"`) or hold the whole conversation.

`train` collects and updates; `advantages` and `policy_loss` are the algorithm.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from agentrl.trainers.arguments.policy import StepPO
from agentrl.trainers.run.explained_variance import measure_ceiling
from agentrl.trainers.run.run import Report, Run
from agentrl.trainers.update.advantages import Estimate, masked_gae, step_gae, whiten
from agentrl.trainers.update.batch import Batch, unit_means
from agentrl.trainers.update.learner import Learner, make_learner
from agentrl.trainers.update.losses import Loss, clipped_loss, log_ratios
from agentrl.trainers.update.policy import BatchScores, Part, kl_penalty, score, start_critic, update_policy


def train(args: StepPO, report: Report | None = print) -> Path:
    """Run to the end (or resume from a checkpoint) and return the run folder."""
    learner = make_learner(args)
    with Run(args, "steppo", learner, report) as run:
        for _ in run.iterations():
            batch = learner.batch(run.collect(args.episodes, args.group_size))
            ceiling = measure_ceiling(args, run, batch, advantages)
            with run.updating(batch) as rng:
                metrics = update(args, learner, batch, rng)
            run.log_training(metrics | ceiling)
        return run.close()


def update(args: StepPO, learner: Learner, batch: Batch, rng: torch.Generator) -> dict[str, float]:
    """Learn from a batch; the metrics of its losses."""
    scores = start_critic(args, learner, batch, score(args, learner, batch), advantages)
    estimate = advantages(args, batch, scores)
    unit = "step" if args.step_ratio else "token"
    metrics = update_policy(args, learner, batch, scores, estimate, policy_loss, rng, unit)
    learner.publish()
    return metrics


def advantages(args: StepPO, batch: Batch, scores: BatchScores) -> Estimate:
    """GAE from step to step, shared by the step's tokens; from token to token in the ablation."""
    rewards, mask = batch.turn_rewards(args.reward_scale), batch.action_mask
    ends = {"bootstrap": scores.bootstrap, "kl": kl_penalty(args, batch, scores)}
    if args.step_gae:
        found = step_gae(rewards, scores.values, mask, batch.turn_ends, gamma=args.gamma, lam=args.lam, **ends)
    else:
        found = masked_gae(rewards, scores.values, mask, gamma=args.gamma, lam=args.lam, **ends)
    if not args.whiten_advantages:
        return found
    return found._replace(advantages=whiten(found.advantages, mask, found.critic_mask))


def policy_loss(args: StepPO, logprobs: Tensor, part: Part) -> Loss:
    """Clipped per step (paper, equations 7 and 8): `w = exp(mean of log(pi/pi_old) over the step's tokens)`,
    `max(-w*A, -clip(w, 1-low, 1+high)*A)`, the mean over steps. (The released recipe clips at 3e-4 / 4e-4; 0.2, as
    of a token, hardly ever clips such a mean.)"""
    log_ratio = log_ratios(logprobs, part.old, part.kept)
    unit = "step" if args.step_ratio else "token"
    ratio = unit_means(log_ratio, part.kept, unit, part.turn_ends).exp()
    clip = {"clip_low": args.clip_low, "clip_high": args.clip_high, "dual_clip": args.dual_clip}
    return clipped_loss(ratio, part.advantages, part.kept, part.weights, **clip)
