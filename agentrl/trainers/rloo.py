"""RLOO: REINFORCE with the mean reward of the *other* trajectories of the task as the baseline. No critic.

The divergence is paid in rewards, as in the paper. With one epoch and one mini-batch the ratio is 1 and this is plain
REINFORCE; more of either make use of PPO's clip.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agentrl.trainers.actor_critic import BatchScores, make_learner, score
from agentrl.trainers.advantages import Estimate, rloo, to_tokens
from agentrl.trainers.group_relative import GroupArguments, collect_groups, lead, without_critic
from agentrl.trainers.objective import TOKENS
from agentrl.trainers.rows import Batch
from agentrl.trainers.run import Run, Say
from agentrl.trainers.update import improve


@dataclass(kw_only=True)
class RLOO(GroupArguments):
    """Train by RLOO."""

    kl_in: Literal["reward", "loss"] = "reward"
    """Where the divergence is paid."""
    kl_kind: Literal["k1", "k2", "k3"] = "k1"
    """How it is estimated; in the loss choose k2 or k3."""


def train(args: RLOO, say: Say | None = None) -> Path:
    """Run to the end (or on from a checkpoint) and return the run folder."""
    learner = make_learner(args)
    with Run(args, "rloo", learner, say) as run:
        for _ in run.iterations():
            played, figures = collect_groups(run, args.episodes, args.group_size, args.extra_rounds)
            batch = Batch(played)
            with run.time("update"):
                scores = score(args, learner, batch)
                losses = improve(args, run, batch, scores, advantages(args, batch, scores), TOKENS)
                learner.publish()
            run.log_training(losses | figures)
        return run.close()


def advantages(args: RLOO, batch: Batch, scores: BatchScores) -> Estimate:
    """Each trajectory's reward above the mean of the others, on all of its tokens."""
    return without_critic(to_tokens(lead(args, batch, scores, rloo), batch.action_mask))
