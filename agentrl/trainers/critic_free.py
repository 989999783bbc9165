"""Advantages without a critic: a trajectory is compared with others that began in the same state.

A *row* is a sequence of the batch; with step-style data several rows make one trajectory. Statistics of a group then
count every **trajectory** once, however many rows it has (give `trajectories`), or long episodes would weigh more.
Group sums run in float64: in float32 the rounding of a mean, divided by a standard deviation of 0 + 1e-6, would give
three equal scores of 0.1 an advantage.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor

from agentrl.core.errors import ConfigError
from agentrl.trainers.masked import (
    Labels,
    check_mask,
    dense_ids,
    finite_row,
    fraction,
    rewards_within,
    to_tokens,
    whiten,
    wide,
)
from agentrl.trainers.recursion import backward_gae

STD_EPS = 1e-6


class _Groups(NamedTuple):
    scores: Tensor  # float64, per row
    counts: Tensor  # trajectories in the row's group
    means: Tensor  # over them
    stds: Tensor  # unbiased; 0 for a group of one


# ------------------------------------------------------------------ whole trajectories


@torch.no_grad()
def grpo(scores: Tensor, groups: Labels, trajectories: Labels | None = None) -> Tensor:
    """`(s - mean) / (std + 1e-6)` over the group, std unbiased (GRPO, outcome form). `[B]` in, `[B]` out.

    `scores[b]` is the reward of row b's whole trajectory. A group of one has nothing to compare with: mean 0, std 1, so
    it keeps its score (within the 1e-6).
    """
    g = _grouped(scores, groups, trajectories)
    alone = g.counts == 1
    centred = g.scores - torch.where(alone, 0.0, g.means)
    return (centred / (torch.where(alone, 1.0, g.stds) + STD_EPS)).to(wide("scores", scores).dtype)


@torch.no_grad()
def dr_grpo(scores: Tensor, groups: Labels, trajectories: Labels | None = None) -> Tensor:
    """`s - mean` over the group (Dr. GRPO): without the std, which favours groups that are nearly all right or wrong.

    A group of one keeps its score, as in `grpo`. The paper also divides the loss by a constant in place of each
    sequence's length: see `denominator` of `losses.aggregate`.
    """
    g = _grouped(scores, groups, trajectories)
    return (g.scores - torch.where(g.counts == 1, 0.0, g.means)).to(wide("scores", scores).dtype)


@torch.no_grad()
def rloo(scores: Tensor, groups: Labels, trajectories: Labels | None = None) -> Tensor:
    """`s - mean of the others` (REINFORCE leave-one-out) `= n/(n-1) * (s - mean)`.

    A group of one gets 0: without others there is no baseline, and a raw score would be a far larger step than any
    other row takes. (One public library gives the raw score.)
    """
    g = _grouped(scores, groups, trajectories)
    others = g.counts / (g.counts - 1).clamp(min=1)
    return torch.where(g.counts == 1, 0.0, others * (g.scores - g.means)).to(wide("scores", scores).dtype)


@torch.no_grad()
def trajectory_returns(rewards: Tensor, trajectories: Labels) -> Tensor:
    """`[N]` step rewards to `[N]` sums over each step's whole trajectory: the scores of step-style rows."""
    rewards = finite_row("rewards", rewards)
    ids = dense_ids("trajectories", trajectories, len(rewards)).to(rewards.device)
    return _sums(rewards.double(), ids)[ids].to(rewards.dtype)


# ------------------------------------------------------------------ tokens


@torch.no_grad()
def discounted_returns(rewards: Tensor, action_mask: Tensor, *, gamma: float = 1.0) -> Tensor:
    """`R_i = r_i + gamma * R_j`, j the next action token: an observation costs no discount. 0 outside the mask."""
    check_mask("action_mask", action_mask)
    rewards = rewards_within("rewards", rewards, action_mask)
    return backward_gae(rewards, torch.zeros_like(rewards), action_mask, fraction("gamma", gamma), 1.0, None)


def reinforce_plus_plus(rewards: Tensor, action_mask: Tensor, *, gamma: float = 1.0) -> Tensor:
    """REINFORCE++: discounted returns, whitened over the batch's action tokens. KL belongs into the rewards."""
    return whiten(discounted_returns(rewards, action_mask, gamma=gamma), action_mask)


def reinforce_plus_plus_baseline(
    scores: Tensor, groups: Labels, action_mask: Tensor, trajectories: Labels | None = None
) -> Tensor:
    """REINFORCE++-baseline: `s - group mean` on every action token, then whitened over the batch's action tokens."""
    return whiten(to_tokens(dr_grpo(scores, groups, trajectories), action_mask), action_mask)


# ------------------------------------------------------------------ groups within groups


@torch.no_grad()
def gigpo(
    rewards: Tensor,
    groups: Labels,
    trajectories: Labels,
    step_index: Tensor,
    anchors: Labels,
    *,
    gamma: float = 0.95,
    step_weight: float = 1.0,
    normalise: Literal["mean", "mean_std"] = "mean_std",
    penalties: Tensor | None = None,
) -> Tensor:
    """GiGPO: `A = A_episode + w * A_step`, one row per step, in any order. `[N]` in, `[N]` out.

    `A_episode` compares the trajectories' summed rewards within a group, each trajectory counted once. `A_step`
    compares the returns `R_t = r_t + gamma*R_{t+1}` of steps of one group that saw the same observation (`anchors`: a
    hash of the raw observation); a step alone at its anchor gets 0. Both are `s - mean`, divided by `std + 1e-6` for
    "mean_std". `penalties[n] >= 0` (invalid actions) is taken off `R_t` after discounting: it touches that step only.
    """
    if normalise not in ("mean", "mean_std"):
        raise ConfigError(f'normalise must be "mean" or "mean_std", not {normalise!r}')
    rewards = finite_row("rewards", rewards)
    compare = grpo if normalise == "mean_std" else dr_grpo
    episode = compare(trajectory_returns(rewards.double(), trajectories), groups, trajectories)
    returns = _step_returns(rewards, trajectories, step_index, fraction("gamma", gamma))
    if penalties is not None:
        returns = returns - _fines(penalties, rewards)
    group_ids = dense_ids("groups", groups, len(rewards)).to(rewards.device)
    anchor_ids = dense_ids("anchors", anchors, len(rewards)).to(rewards.device)
    places = group_ids * (anchor_ids.max() + 1) + anchor_ids
    alone = _grouped(returns, places, None).counts == 1
    step = torch.where(alone, 0.0, compare(returns, places))
    return (episode + step_weight * step).to(rewards.dtype)


def step_timeline(trajectories: Labels, step_index: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Rows laid out as trajectories x steps: `table[m, t]` is the row that holds step t of trajectory m, and a mask.

    Every trajectory must have its steps 0, 1, 2 ... exactly once. `rows` is any `[N]` tensor of the batch.
    """
    if not isinstance(step_index, Tensor) or step_index.is_floating_point() or step_index.dtype == torch.bool:
        raise ConfigError("step_index must be a tensor of whole numbers")
    if step_index.shape != rows.shape:
        raise ConfigError(f"step_index has shape {tuple(step_index.shape)} for {len(rows)} steps; give one number each")
    ids = dense_ids("trajectories", trajectories, len(rows)).to(rows.device)
    index = step_index.to(rows.device).long()
    lengths = torch.bincount(ids)
    present = torch.arange(int(lengths.max()), device=ids.device) < lengths[:, None]
    if bool((index < 0).any() or (index >= lengths[ids]).any()):
        raise ConfigError("step_index must number the steps of each trajectory 0, 1, 2 ... without a gap")
    table = torch.full(present.shape, -1, dtype=torch.long, device=ids.device)
    table[ids, index] = torch.arange(len(rows), device=ids.device)
    if bool((table[present] < 0).any()):
        raise ConfigError("step_index names a step of a trajectory twice; each must be there exactly once")
    return table.clamp(min=0), present


# ------------------------------------------------------------------ small parts


def _step_returns(rewards: Tensor, trajectories: Labels, step_index: Tensor, gamma: float) -> Tensor:
    table, present = step_timeline(trajectories, step_index, rewards)
    laid_out = torch.where(present, rewards.double()[table], 0.0)
    returns = backward_gae(laid_out, torch.zeros_like(laid_out), present, gamma, 1.0, None)
    found = torch.zeros_like(rewards, dtype=torch.float64)
    found[table[present]] = returns[present]
    return found


def _fines(penalties: Tensor, rewards: Tensor) -> Tensor:
    penalties = finite_row("penalties", penalties, rewards.shape)
    if bool((penalties < 0).any()):
        raise ConfigError("penalties are taken off the returns, so they must not be negative")
    return penalties.double()


def _grouped(scores: Tensor, groups: Labels, trajectories: Labels | None) -> _Groups:
    scores = finite_row("scores", scores).double()
    ids = dense_ids("groups", groups, len(scores)).to(scores.device)
    voices = torch.ones_like(scores) if trajectories is None else _one_voice_each(scores, ids, trajectories)
    counts = _sums(voices, ids)
    means = _sums(voices * scores, ids) / counts
    squares = _sums(voices * (scores - means[ids]).square(), ids)
    stds = (squares / (counts - 1).clamp(min=1)).sqrt()
    return _Groups(scores, counts[ids], means[ids], stds[ids])


def _one_voice_each(scores: Tensor, groups: Tensor, trajectories: Labels) -> Tensor:
    """1 for the first row of every trajectory, 0 for its other rows, which must agree with it."""
    ids = dense_ids("trajectories", trajectories, len(scores)).to(scores.device)
    rows = torch.arange(len(ids), device=ids.device)
    first = torch.full_like(rows, len(ids)).scatter_reduce(0, ids, rows, "amin")[ids]
    if bool((groups != groups[first]).any()):
        raise ConfigError("the rows of one trajectory must all be in one group")
    if bool((scores != scores[first]).any()):
        raise ConfigError("the rows of one trajectory must all carry its whole score; see trajectory_returns")
    return (first == rows).double()


def _sums(x: Tensor, ids: Tensor) -> Tensor:
    return x.new_zeros(int(ids.max()) + 1).index_add(0, ids, x)
