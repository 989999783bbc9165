"""The one backward recursion that every estimator is made of."""

from __future__ import annotations

import torch
from torch import Tensor

from agentrl.trainers.masked import wide


def backward_gae(
    rewards: Tensor,
    values: Tensor,
    mask: Tensor,
    gamma: float,
    lam: float,
    bootstrap: Tensor | None,
    restart: tuple[Tensor, Tensor] | None = None,
) -> Tensor:
    """`A_i = r_i + gamma*V_j - V_i + gamma*lam*A_j`, j the next place of `mask` in the row; 0 outside `mask`.

    Places outside the mask hand value and advantage on unchanged. Behind the last one stand `bootstrap` (`[B]`, None
    for 0) and advantage 0. `restart = (where, advantages)` sets the advantage outright at some places, so that the
    recursion begins anew in front of each.
    """
    next_value = values.new_zeros(len(values)) if bootstrap is None else wide("bootstrap", bootstrap, values.shape[:1])
    next_advantage = torch.zeros_like(next_value)
    found = torch.zeros(values.shape, dtype=torch.promote_types(values.dtype, rewards.dtype), device=values.device)
    # Long stretches are observations in every row; only columns where some row acts cost a turn of the loop.
    for t in reversed(mask.any(0).nonzero()[:, 0].tolist()):
        here = mask[:, t]
        advantage = rewards[:, t] + gamma * next_value - values[:, t] + gamma * lam * next_advantage
        if restart is not None:
            advantage = torch.where(restart[0][:, t], restart[1][:, t], advantage)
        next_advantage = torch.where(here, advantage, next_advantage)
        next_value = torch.where(here, values[:, t], next_value)
        found[:, t] = torch.where(here, advantage, 0.0)
    return found
