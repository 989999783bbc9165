"""Advantages with a critic: who gets the credit for a reward, token by token or step by step.

Estimators take padded `[rows, tokens]` batches with boolean masks and read nothing outside of them. `values[t]` is the
critic's value of the state *before* token t is produced (the model's output at t - 1); `bootstrap[b]` is the value
after the last token of row b, None for 0 everywhere. Nothing here gives gradients. (Turn-wise and bi-level GAE are in
`algorithms.ppo`, comparisons without a critic in `groups`.)
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from agentrl.core.errors import ConfigError
from agentrl.trainers.update.batch import masked_mean, masked_sum, unit_sums


class Estimate(NamedTuple):
    """What an estimator gives; 0 wherever a mask is False.

    `returns` are the critic's targets for `values`, to be used where `critic_mask` is True (whitening statistics are
    taken over the same places). `turn_returns` exists for the paper's bi-level form only: targets for `values_after` at
    turn ends, which nothing else would teach the critic.
    """

    advantages: Tensor
    returns: Tensor
    critic_mask: Tensor
    turn_returns: Tensor | None = None


def rewards_at_last_action(scores: Tensor, action_mask: Tensor) -> Tensor:
    """`[B, T]`: each row's whole reward on its last action token (VAGEN-Base), 0 elsewhere."""
    remaining = action_mask.flip(1).cumsum(1).flip(1)
    return torch.where(action_mask & (remaining == 1), scores[:, None], 0.0)


@torch.no_grad()
def whiten(x: Tensor, mask: Tensor, statistics: Tensor | None = None, eps: float = 1e-8) -> Tensor:
    """`(x - mean) / sqrt(var + eps)` with the unbiased variance; 0 outside `mask`.

    Mean and variance are taken over `statistics` (default: `mask`): action tokens for token estimators, turn ends for
    Turn-PPO, step beginnings for StepPO, so that a long turn counts once. A single number has no spread: it becomes 0.
    """
    statistics = mask if statistics is None else statistics
    mean = masked_mean(x, statistics)
    variance = masked_sum((x - mean).square(), statistics) / (statistics.sum() - 1).clamp(min=1)
    return torch.where(mask, (x - mean) * torch.rsqrt(variance + eps), 0.0)


@torch.no_grad()
def backward_gae(
    rewards: Tensor,
    values: Tensor,
    mask: Tensor,
    gamma: float,
    lam: float,
    bootstrap: Tensor | None = None,
    restart: tuple[Tensor, Tensor] | None = None,
) -> Tensor:
    """`A_i = r_i + gamma*V_j - V_i + gamma*lam*A_j`, j the next place of `mask` in the row; 0 outside `mask`.

    The one recursion that every estimator is made of. Places outside the mask pass value and advantage on unchanged.
    After the last one come `bootstrap` (`[B]`, None for 0) and advantage 0. `restart = (where, advantages)` sets the
    advantage at some places, so that the recursion starts anew before each.
    """
    check_rewards(rewards, mask)
    next_value = values.new_zeros(len(values)) if bootstrap is None else bootstrap
    next_advantage = torch.zeros_like(next_value)
    found = torch.zeros(values.shape, dtype=torch.promote_types(values.dtype, rewards.dtype), device=values.device)
    # Long stretches are observations in every row; only columns where some row acts cost an iteration of the loop.
    for t in reversed(mask.any(0).nonzero()[:, 0].tolist()):
        here = mask[:, t]
        advantage = rewards[:, t] + gamma * next_value - values[:, t] + gamma * lam * next_advantage
        if restart is not None:
            advantage = torch.where(restart[0][:, t], restart[1][:, t], advantage)
        next_advantage = torch.where(here, advantage, next_advantage)
        next_value = torch.where(here, values[:, t], next_value)
        found[:, t] = torch.where(here, advantage, 0.0)
    return found


@torch.no_grad()
def masked_gae(
    rewards: Tensor,
    values: Tensor,
    action_mask: Tensor,
    *,
    gamma: float = 1.0,
    lam: float = 1.0,
    bootstrap: Tensor | None = None,
    kl: Tensor | None = None,
) -> Estimate:
    """Token GAE that jumps over observations (VAGEN paper, section 2.2, "VAGEN-Base").

    `delta_i = r_i + gamma*V_j - V_i`, `A_i = delta_i + gamma*lam*A_j`, where j is the next *action* token: crossing an
    observation costs no discount. Returns `Y_i = A_i + V_i`. `kl` (see `kl_rewards`) is added to the rewards. With a
    mask of all tokens it is the papers' failing baseline, "vanilla PPO".
    """
    advantages = backward_gae(rewards if kl is None else rewards + kl, values, action_mask, gamma, lam, bootstrap)
    return Estimate(advantages, torch.where(action_mask, advantages + values, 0.0), action_mask)


@torch.no_grad()
def step_gae(
    rewards: Tensor,
    values: Tensor,
    action_mask: Tensor,
    turn_ends: Tensor,
    *,
    gamma: float = 0.99,
    lam: float = 1.0,
    bootstrap: Tensor | None = None,
    kl: Tensor | None = None,
) -> Estimate:
    """Step GAE (StepPO paper, equation 6): the masked recursion over step beginnings, given to all of a step's tokens.

    `delta_k = r_k + gamma*V_{k+1} - V_k`, `A_k = delta_k + gamma*lam*A_{k+1}`, with `V_k` read before the step's first
    token: the last prompt token, before its action. `r_k` sums the rewards and the KL of the step's tokens. The critic
    learns `A_k + V_k` at the first tokens only.
    """
    begins = turn_begins(action_mask, turn_ends)
    earned = unit_sums(rewards if kl is None else rewards + kl, "step", turn_ends)
    step = backward_gae(torch.where(begins, earned, 0.0), values, begins, gamma, lam, bootstrap)
    shared = torch.where(action_mask, unit_sums(step, "step", turn_ends), 0.0)  # a sum of one number and zeros
    return Estimate(shared, torch.where(begins, step + values, 0.0), begins)


def discounted_returns(rewards: Tensor, mask: Tensor, *, gamma: float = 1.0) -> Tensor:
    """`R_i = r_i + gamma * R_j`, j the next place of `mask`: an observation costs no discount. 0 outside the mask."""
    return backward_gae(rewards, torch.zeros_like(rewards), mask, gamma, 1.0)


def turn_begins(action_mask: Tensor, turn_ends: Tensor) -> Tensor:
    """The first action token of every turn."""
    acted = action_mask.cumsum(1)
    before = torch.where(turn_ends, acted, 0).cummax(1).values.roll(1, 1)  # action tokens of the turns before
    before[:, 0] = 0
    return action_mask & (acted == before + 1)


def check_rewards(rewards: Tensor, mask: Tensor) -> None:
    """`ConfigError` where a reward is not finite, or lies on a token that is not learned from."""
    if bool((rewards != 0).logical_and(~mask).any()) or not bool(rewards.isfinite().all()):
        raise ConfigError("rewards must be finite, and 0 on tokens that are not learned from; got others")
