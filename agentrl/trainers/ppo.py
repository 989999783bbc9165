"""PPO for multi-turn agents, in the variants of the VAGEN paper.

    vanilla   observations are treated as if the policy had written them (the paper's failing baseline)
    masked    token-level GAE over the policy's own tokens; the whole reward on the last one (VAGEN-Base)
    turn      one advantage per turn (Turn-PPO)
    bilevel   GAE between turns, then between the tokens of a turn (VAGEN-Full); `form` paper or released

Read `train` from top to bottom: play, ask the critic, give credit, improve.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from torch import Tensor

from agentrl.trainers.actor_critic import BatchScores, CriticArguments, kl_penalty, make_learner, score, whitened
from agentrl.trainers.advantages import (
    Estimate,
    bilevel_gae,
    masked_gae,
    rewards_at_last_action,
    turn_gae,
    vanilla_gae,
)
from agentrl.trainers.masked import fraction
from agentrl.trainers.objective import TOKENS
from agentrl.trainers.rows import Batch
from agentrl.trainers.run import Run, Say
from agentrl.trainers.update import improve


@dataclass(kw_only=True)
class PPO(CriticArguments):
    """Train by PPO with a critic."""

    variant: Literal["masked", "vanilla", "turn", "bilevel"] = "masked"
    """How credit is given; see the top of this file."""
    form: Literal["paper", "released"] = "paper"
    """Of bilevel."""
    reward_at: Literal["end", "turn"] = "end"
    """Of masked and vanilla: the whole reward on the last token (the paper), or each turn's on the turn's last."""
    gamma: float = 1.0
    """Discount between tokens."""
    lam: float = 1.0
    """GAE's lambda between tokens."""
    turn_gamma: float = 0.95
    """Discount between turns."""
    turn_lam: float = 1.0
    """GAE's lambda between turns."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("gamma", "lam", "turn_gamma", "turn_lam"):
            fraction(name, getattr(self, name))


def train(args: PPO, say: Say | None = None) -> Path:
    """Run to the end (or on from a checkpoint) and return the run folder."""
    learner = make_learner(args)
    with Run(args, "ppo", learner, say) as run:
        for _ in run.iterations():
            batch = Batch(run.collect(args.episodes, args.group_size), observations=args.variant == "vanilla")
            with run.time("update"):
                scores = score(args, learner, batch)
                estimate = advantages(args, batch, scores)
                losses = improve(args, run, batch, scores, estimate, TOKENS)
                learner.publish()
            run.log_training(losses)
        return run.close()


def advantages(args: PPO, batch: Batch, scores: BatchScores) -> Estimate:
    """Credit for every token, by the variant's estimator."""
    mask, ends = batch.action_mask, batch.turn_ends
    end = {"bootstrap": scores.bootstrap, "kl": kl_penalty(args, batch, scores)}
    turn = {"turn_gamma": args.turn_gamma, "turn_lam": args.turn_lam, **end}
    if args.variant == "turn":
        found = turn_gae(batch.turn_rewards(args.reward_scale), scores.values, mask, ends, **turn)
    elif args.variant == "bilevel":
        after = scores.values_after if args.form == "paper" else None
        turn |= {"token_gamma": args.gamma, "token_lam": args.lam}
        earned = batch.turn_rewards(args.reward_scale)
        found = bilevel_gae(earned, scores.values, after, mask, ends, form=args.form, **turn)
    elif args.variant == "vanilla":
        found = vanilla_gae(
            rewards(args, batch), scores.values, batch.token_mask, gamma=args.gamma, lam=args.lam, **end
        )
    else:
        found = masked_gae(rewards(args, batch), scores.values, mask, gamma=args.gamma, lam=args.lam, **end)
    return whitened(args, batch, found)


def rewards(args: PPO, batch: Batch) -> Tensor:
    """Where the token-level estimators find the reward."""
    if args.reward_at == "turn":
        return batch.turn_rewards(args.reward_scale)
    return rewards_at_last_action(batch.scores(args.reward_scale), batch.action_mask)
