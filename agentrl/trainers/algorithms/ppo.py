"""PPO for multi-turn agents, in the variants of the VAGEN paper.

    vanilla   observations are treated as if the policy had written them (the paper's failing baseline)
    masked    token-level GAE over the policy's own tokens; the whole reward on the last one (VAGEN-Base)
    turn      one advantage per turn (Turn-PPO)
    bilevel   GAE between turns, then between the tokens of a turn (VAGEN-Full)

`form` (paper or released) of the last two says where the value is read.

`train` collects and updates; `advantages` and `policy_loss` are the algorithm.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from agentrl.core.errors import ConfigError
from agentrl.trainers.arguments.policy import PPO
from agentrl.trainers.run.explained_variance import measure_ceiling
from agentrl.trainers.run.run import Report, Run
from agentrl.trainers.update.advantages import (
    Estimate,
    backward_gae,
    check_rewards,
    masked_gae,
    rewards_at_last_action,
    step_gae,
    whiten,
)
from agentrl.trainers.update.batch import Batch, unit_sums
from agentrl.trainers.update.learner import Learner, make_learner
from agentrl.trainers.update.losses import Loss, clipped_loss, log_ratios
from agentrl.trainers.update.policy import BatchScores, Part, kl_penalty, score, start_critic, update_policy


def train(args: PPO, report: Report | None = print) -> Path:
    """Run to the end (or resume from a checkpoint) and return the run folder."""
    learner = make_learner(args)
    with Run(args, "ppo", learner, report) as run:
        for _ in run.iterations():
            played = run.collect(args.episodes, args.group_size)
            batch = learner.batch(played, observations=args.variant == "vanilla")
            ceiling = measure_ceiling(args, run, batch, advantages)
            with run.updating(batch) as rng:
                metrics = update(args, learner, batch, rng)
            run.log_training(metrics | ceiling)
        return run.close()


def update(args: PPO, learner: Learner, batch: Batch, rng: torch.Generator) -> dict[str, float]:
    """Learn from a batch; the metrics of its losses."""
    scores = start_critic(args, learner, batch, score(args, learner, batch), advantages)
    estimate = advantages(args, batch, scores)
    metrics = update_policy(args, learner, batch, scores, estimate, policy_loss, rng)
    learner.publish()
    return metrics


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


# ---------------------------------------------------------------------- the variants' own estimators


@torch.no_grad()
def turn_gae(
    turn_rewards: Tensor,
    values: Tensor,
    action_mask: Tensor,
    turn_ends: Tensor,
    *,
    form: Literal["paper", "released"] = "paper",
    turn_gamma: float = 0.95,
    turn_lam: float = 1.0,
    bootstrap: Tensor | None = None,
    kl: Tensor | None = None,
) -> Estimate:
    """Turn-wise GAE (Turn-PPO, the VAGEN paper's baseline): all tokens of a turn share its advantage.

    paper (default): the value is read before the turn's first token, so the recursion is that of `step_gae`.
    released: it is read before the turn's *last* token: `d_k = r_k + G*V[e_{k+1}] - V[e_k]`,
        `A_k = d_k + G*L*A_{k+1}`. By then the action stands there: a critic that has learned what it is worth takes off
        what it earned.

    The critic learns `A_k + V` at the places where the value is read.
    """
    check_rewards(turn_rewards, turn_ends)
    if form == "paper":
        given = (turn_rewards, values, action_mask, turn_ends)
        return step_gae(*given, gamma=turn_gamma, lam=turn_lam, bootstrap=bootstrap, kl=kl)
    penalties = torch.zeros_like(turn_rewards) if kl is None else unit_sums(kl, "step", turn_ends)
    earned = turn_rewards + torch.where(turn_ends, penalties, 0.0)
    turn = backward_gae(earned, values, turn_ends, turn_gamma, turn_lam, bootstrap)
    shared = torch.where(action_mask, unit_sums(turn, "step", turn_ends), 0.0)
    return Estimate(shared, torch.where(turn_ends, turn + values, 0.0), turn_ends)


@torch.no_grad()
def bilevel_gae(
    turn_rewards: Tensor,
    values: Tensor,
    values_after: Tensor | None,
    action_mask: Tensor,
    turn_ends: Tensor,
    *,
    form: Literal["paper", "released"] = "paper",
    turn_gamma: float = 0.95,
    turn_lam: float = 1.0,
    token_gamma: float = 1.0,
    token_lam: float = 1.0,
    bootstrap: Tensor | None = None,
    kl: Tensor | None = None,
) -> Estimate:
    """Bi-level GAE (VAGEN paper, section 5.2): credit between turns first, then inside each turn.

    `turn_rewards[b, e_k] = r_k` on turn ends, 0 elsewhere; `turn_ends` says where turns end, rewards never do. With
    `G, L` for turns and `g, l` for tokens:

    paper (default): `b_k = values_after[e_k]`, the value once the whole action of turn k is written.
        turns:  `d_k = r_k + G*b_{k+1} - b_k`, `A_k = d_k + G*L*A_{k+1}`; after the last turn `b = bootstrap`, `A = 0`
        tokens: `A_i = (kl_i + g*V_{i+1} - V_i) + g*l*A_{i+1}`; the last of the turn `A = (kl + g*b_k - V) + A_k`
    released: `b_k` is `V[e_k]` (the value before the turn's last token; `values_after` is not read), `A[e_k] = A_k`,
        and the KL of the last token is part of `r_k`. That code has one lambda: give it as both.

    KL of other turns enters no turn's advantage. Returns are `A_i + V_i` on action tokens; the paper form adds
    `turn_returns = A_k + b_k`, the targets of `values_after` at turn ends.
    """
    penalties, turn_returns = torch.zeros_like(turn_rewards) if kl is None else kl, None
    between = (turn_gamma, turn_lam, bootstrap)
    if form == "paper":
        if values_after is None:
            raise ConfigError('the paper form needs values_after (values after each token); or choose form="released"')
        turn = backward_gae(turn_rewards, values_after, turn_ends, *between)
        turn_returns = torch.where(turn_ends, turn + values_after, 0.0)
        last = penalties + token_gamma * values_after - values + turn
    else:
        last = backward_gae(turn_rewards + torch.where(turn_ends, penalties, 0.0), values, turn_ends, *between)
    restart = (turn_ends, last)
    advantages = backward_gae(penalties, values, action_mask, token_gamma, token_lam, restart=restart)
    return Estimate(advantages, torch.where(action_mask, advantages + values, 0.0), action_mask, turn_returns)
