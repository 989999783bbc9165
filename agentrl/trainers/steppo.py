"""StepPO: the step is the action. Step-level GAE, one probability ratio per step, a critic asked once per step.

Ablations of the paper: `step_gae=False` gives credit token by token, `step_ratio=False` clips token by token; without
both it is token PPO. Prompts may be rebuilt at each step (`prompt_style="step"`) or hold the whole conversation.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch

from agentrl.trainers.actor_critic import BatchScores, CriticArguments, kl_penalty, make_learner, score, whitened
from agentrl.trainers.advantages import Estimate, masked_gae, step_gae, whiten
from agentrl.trainers.masked import fraction
from agentrl.trainers.objective import STEPS, TOKENS
from agentrl.trainers.rows import Batch
from agentrl.trainers.run import Run, Say
from agentrl.trainers.update import improve


@dataclass(kw_only=True)
class StepPO(CriticArguments):
    """Train by StepPO."""

    prompt_style: Literal["conversation", "step"] = "step"
    """Prompts hold the current observation and recent actions, or the whole dialogue."""
    gamma: float = 0.99
    """Discount between steps (between tokens without step_gae)."""
    lam: float = 1.0
    """GAE's lambda, likewise."""
    step_gae: bool = True
    """Credit per step; False: per token."""
    step_ratio: bool = True
    """One ratio per step, the geometric mean of its tokens' ratios; False: one per token."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("gamma", "lam"):
            fraction(name, getattr(self, name))


def train(args: StepPO, say: Say | None = None) -> Path:
    """Run to the end (or on from a checkpoint) and return the run folder."""
    learner = make_learner(args)
    with Run(args, "steppo", learner, say) as run:
        for _ in run.iterations():
            batch = Batch(run.collect(args.episodes, args.group_size))
            with run.time("update"):
                scores = score(args, learner, batch)
                estimate = advantages(args, batch, scores)
                losses = improve(args, run, batch, scores, estimate, STEPS if args.step_ratio else TOKENS)
                learner.publish()
            run.log_training(losses)
        return run.close()


def advantages(args: StepPO, batch: Batch, scores: BatchScores) -> Estimate:
    """Credit for every token: that of its step, or its own in the ablation."""
    rewards, kl = batch.turn_rewards(args.reward_scale), kl_penalty(args, batch, scores)
    if not args.step_gae:
        found = masked_gae(
            rewards, scores.values, batch.action_mask, gamma=args.gamma, lam=args.lam, bootstrap=scores.bootstrap, kl=kl
        )
        return whitened(args, batch, found)
    owner, place = batch.action_mask.nonzero(as_tuple=True)
    begins = batch.action_mask & ~shifted(batch.action_mask & ~batch.turn_ends)
    trajectory, _ = begins.nonzero(as_tuple=True)
    step = torch.zeros_like(batch.steps)  # the number of each token's step among all steps of the batch
    step[owner, place] = begins[batch.action_mask].cumsum(0) - 1
    earned = rewards if kl is None else rewards + kl
    per_step = torch.zeros(len(trajectory)).index_add(0, step[batch.action_mask], earned[batch.action_mask])
    first = torch.searchsorted(trajectory, trajectory)  # the row of each trajectory's first step
    index = torch.arange(len(trajectory)) - first
    found = step_gae(
        per_step,
        scores.values[begins],
        trajectory,
        index,
        gamma=args.gamma,
        lam=args.lam,
        bootstrap=scores.bootstrap[trajectory],
    )
    credit = whiten(found.advantages) if args.whiten_advantages else found.advantages
    returns = torch.zeros_like(scores.values).masked_scatter(begins, found.returns.float())
    return Estimate(torch.where(batch.action_mask, credit[step], 0.0), returns, begins)


def shifted(mask: torch.Tensor) -> torch.Tensor:
    """`mask` one token later."""
    return torch.cat([torch.zeros_like(mask[:, :1]), mask[:, :-1]], dim=1)
