"""PPO for multi-turn agents, in the variants of the VAGEN paper.

    vanilla   observations are treated as if the policy had written them (the paper's failing baseline)
    masked    token-level GAE over the policy's own tokens; the whole reward on the last one (VAGEN-Base)
    turn      one advantage per turn (Turn-PPO)
    bilevel   GAE between turns, then between the tokens of a turn (VAGEN-Full)

`form` (paper or released) of the last two says where the value is read.

Read `train` from top to bottom: collect, score, estimate advantages, update. `advantages` and `policy_loss` below it
are the algorithm.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from torch import Tensor

from agentrl.core.errors import ConfigError
from agentrl.trainers.advantages import Estimate, bilevel_gae, masked_gae, rewards_at_last_action, turn_gae, whiten
from agentrl.trainers.arguments import CriticArguments, fraction
from agentrl.trainers.batch import Batch
from agentrl.trainers.losses import Loss, clipped_loss, log_ratios
from agentrl.trainers.run import Report, Run
from agentrl.trainers.update import BatchScores, Part, kl_penalty, make_learner, score, start_critic, update_policy
from agentrl.trainers.value_ceiling import measure_ceiling


@dataclass(kw_only=True)
class PPO(CriticArguments):
    """Train by PPO with a critic."""

    variant: Literal["masked", "vanilla", "turn", "bilevel"] = "masked"
    """How credit is given; see the top of this file."""
    form: Literal["paper", "released"] = "paper"
    """Of turn and bilevel. The released turn form reads the value before the turn's last token, when the critic knows
    the action already."""
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
        if self.critic_ceiling_every and (self.variant, self.form) == ("turn", "released"):
            raise ConfigError(
                "critic_ceiling_every needs values that are read before a turn; form=released reads them at its end"
            )


def train(args: PPO, report: Report | None = None) -> Path:
    """Run to the end (or resume from a checkpoint) and return the run folder."""
    learner = make_learner(args)
    with Run(args, "ppo", learner, report) as run:
        for _ in run.iterations():
            batch = Batch(run.collect(args.episodes, args.group_size), observations=args.variant == "vanilla")
            ceiling = measure_ceiling(args, run, batch, advantages)
            with run.time("update"):
                scores = start_critic(args, learner, batch, score(args, learner, batch), advantages)
                estimate = advantages(args, batch, scores)
                metrics = update_policy(args, run, batch, scores, estimate, policy_loss)
                learner.publish()
            run.log_training(metrics | ceiling)
        return run.close()


def advantages(args: PPO, batch: Batch, scores: BatchScores) -> Estimate:
    """Credit for every token, by the variant's estimator."""
    mask = batch.token_mask if args.variant == "vanilla" else batch.action_mask
    token = {"gamma": args.gamma, "lam": args.lam}
    turn = {"turn_gamma": args.turn_gamma, "turn_lam": args.turn_lam}
    ends = {"bootstrap": scores.bootstrap, "kl": kl_penalty(args, batch, scores)}
    by_turn = batch.turn_rewards(args.reward_scale)
    if args.variant == "turn":
        found = turn_gae(by_turn, scores.values, mask, batch.turn_ends, form=args.form, **turn, **ends)
    elif args.variant == "bilevel":
        given = (by_turn, scores.values, scores.values_after, mask, batch.turn_ends)
        found = bilevel_gae(*given, form=args.form, token_gamma=args.gamma, token_lam=args.lam, **turn, **ends)
    else:
        at_end = rewards_at_last_action(batch.scores(args.reward_scale), batch.action_mask)
        found = masked_gae(at_end if args.reward_at == "end" else by_turn, scores.values, mask, **token, **ends)
    if not args.whiten_advantages:
        return found
    return found._replace(advantages=whiten(found.advantages, mask, found.critic_mask))


def policy_loss(args: PPO, logprobs: Tensor, part: Part) -> Loss:
    """Clipped per token: `u = pi/pi_old`, `max(-u*A, -clip(u, 1-low, 1+high)*A)`, the mean over tokens."""
    ratio = log_ratios(logprobs, part.old, part.kept).exp()
    clip = {"clip_low": args.clip_low, "clip_high": args.clip_high, "dual_clip": args.dual_clip}
    return clipped_loss(ratio, part.advantages, part.kept, part.weights, **clip)
