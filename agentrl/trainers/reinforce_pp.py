"""REINFORCE++: the return of every token, whitened over the whole batch. No critic, and no groups unless asked for.

With `baseline` every task is played several times, the mean of its group is taken off the rewards first, and all tokens
of a trajectory share what is left (REINFORCE++-baseline).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agentrl.trainers.actor_critic import BatchScores, PolicyArguments, kl_penalty, make_learner, score
from agentrl.trainers.advantages import (
    Estimate,
    dr_grpo,
    reinforce_plus_plus,
    rewards_at_last_action,
    to_tokens,
    whiten,
)
from agentrl.trainers.group_relative import check_group_size, collect_groups, lead, without_critic
from agentrl.trainers.masked import fraction
from agentrl.trainers.objective import TOKENS
from agentrl.trainers.rows import Batch
from agentrl.trainers.run import Run, Say
from agentrl.trainers.update import improve


@dataclass(kw_only=True)
class ReinforcePP(PolicyArguments):
    """Train by REINFORCE++."""

    baseline: bool = False
    """Compare with the mean of the group; needs a group_size of at least 2."""
    reward_at: Literal["turn", "end"] = "turn"
    """Without baseline: each turn's reward on its last token, or the whole on the trajectory's last token."""
    gamma: float = 1.0
    """Without baseline: discount between tokens."""

    def __post_init__(self) -> None:
        super().__post_init__()
        fraction("gamma", self.gamma)
        if self.baseline:
            check_group_size(self.group_size)


def train(args: ReinforcePP, say: Say | None = None) -> Path:
    """Run to the end (or on from a checkpoint) and return the run folder."""
    learner = make_learner(args)
    with Run(args, "reinforce_pp", learner, say) as run:
        for _ in run.iterations():
            played, figures = collect(args, run)
            batch = Batch(played)
            with run.time("update"):
                scores = score(args, learner, batch)
                losses = improve(args, run, batch, scores, advantages(args, batch, scores), TOKENS)
                learner.publish()
            run.log_training(losses | figures)
        return run.close()


def collect(args: ReinforcePP, run: Run) -> tuple[list, dict[str, float]]:
    """In groups only where those are compared."""
    if args.baseline:
        return collect_groups(run, args.episodes, args.group_size)
    return run.collect(args.episodes, args.group_size), {}


def advantages(args: ReinforcePP, batch: Batch, scores: BatchScores) -> Estimate:
    """Credit for every token, with mean 0 and deviation 1 over the batch."""
    mask = batch.action_mask
    if args.baseline:
        return without_critic(whiten(to_tokens(lead(args, batch, scores, dr_grpo), mask), mask))
    if args.reward_at == "turn":
        rewards = batch.turn_rewards(args.reward_scale)
    else:
        rewards = rewards_at_last_action(batch.scores(args.reward_scale), mask)
    kl = kl_penalty(args, batch, scores)
    return without_critic(reinforce_plus_plus(rewards if kl is None else rewards + kl, mask, gamma=args.gamma))
