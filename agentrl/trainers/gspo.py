"""GSPO: GRPO's credit with one probability ratio per sequence, the geometric mean of its tokens' ratios. No critic.

A sequence is a whole trajectory where the conversation is the prompt, and a step where prompts are rebuilt; its length
counts the tokens that the policy wrote. Such ratios stay close to 1, so the clips are hundreds of times tighter.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from agentrl.trainers.actor_critic import BatchScores, make_learner, score
from agentrl.trainers.advantages import Estimate, grpo, to_tokens
from agentrl.trainers.group_relative import GroupArguments, collect_groups, lead, without_critic
from agentrl.trainers.objective import SEQUENCES
from agentrl.trainers.rows import Batch
from agentrl.trainers.run import Run, Say
from agentrl.trainers.update import improve


@dataclass(kw_only=True)
class GSPO(GroupArguments):
    """Train by GSPO."""

    clip_low: float = 3e-4
    """How far a sequence's ratio may fall below 1."""
    clip_high: float = 4e-4
    """How far it may rise above 1."""


def train(args: GSPO, say: Say | None = None) -> Path:
    """Run to the end (or on from a checkpoint) and return the run folder."""
    learner = make_learner(args)
    with Run(args, "gspo", learner, say) as run:
        for _ in run.iterations():
            played, figures = collect_groups(run, args.episodes, args.group_size, args.extra_rounds)
            batch = Batch(played)
            with run.time("update"):
                scores = score(args, learner, batch)
                losses = improve(args, run, batch, scores, advantages(args, batch, scores), SEQUENCES)
                learner.publish()
            run.log_training(losses | figures)
        return run.close()


def advantages(args: GSPO, batch: Batch, scores: BatchScores) -> Estimate:
    """Each trajectory's lead over its group, on all of its tokens."""
    return without_critic(to_tokens(lead(args, batch, scores, grpo), batch.action_mask))
