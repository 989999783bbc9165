"""Advantages: who gets the credit for a reward, token by token, turn by turn, step by step or by comparison.

Estimators with a critic take padded `[rows, tokens]` batches with boolean masks and read nothing outside of them.
`values[t]` is the critic's value of the state *before* token t is produced (the model's output at t - 1);
`bootstrap[b]` is the value after the last token of row b, None for 0 everywhere. Estimators without a critic compare
trajectories that began in the same state. Nothing here gives gradients.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from agentrl.core.errors import ConfigError
from agentrl.trainers.losses import KLKind, kl_estimate, masked_mean, masked_sum, unit_sums

Labels = Tensor | Sequence[Hashable]
STD_EPS = 1e-6


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


def without_critic(advantages: Tensor) -> Estimate:
    """Advantages alone: nothing for a critic to learn."""
    return Estimate(advantages, torch.zeros_like(advantages), torch.zeros_like(advantages, dtype=torch.bool))


# ------------------------------------------------------------------ rewards and ends


def bootstrap_values(last_values: Tensor, limits: Sequence[str | None], *, bootstrap_truncated: bool = False) -> Tensor:
    """The value after the end of each row, `[B]`: 0 after a true end, and after a limit that is part of the task.

    `last_values[b]` is the critic's value of the last observation; `limits[b]` is the trajectory's `limit`: None (it
    ended by itself), "task" or "external". The agent never acts after a task's own limit, so its value is 0, as in the
    papers; a limit from outside merely cut the episode, so there the value counts. `bootstrap_truncated=True` treats
    the task's own limits as external ones.
    """
    counted = ("external", "task") if bootstrap_truncated else ("external",)
    cut = torch.tensor([limit in counted for limit in limits], dtype=torch.bool, device=last_values.device)
    return torch.where(cut, last_values.detach(), 0.0)


def rewards_at_last_action(scores: Tensor, action_mask: Tensor) -> Tensor:
    """`[B, T]`: each row's whole reward on its last action token (VAGEN-Base), 0 elsewhere."""
    remaining = action_mask.flip(1).cumsum(1).flip(1)
    return torch.where(action_mask & (remaining == 1), scores[:, None], 0.0)


@torch.no_grad()
def kl_rewards(
    logprobs: Tensor, ref_logprobs: Tensor, action_mask: Tensor, *, beta: float = 0.001, kind: KLKind = "k1"
) -> Tensor:
    """`-beta * kl_t` on every action token, 0 elsewhere: the KL penalty as a reward.

    `logprobs` are those of the policy that produced the tokens. k1 is the usual choice here: its expectation is the KL
    itself, and as a reward it needs no gradient of its own.
    """
    return torch.where(action_mask, -beta * kl_estimate(logprobs, ref_logprobs, action_mask, kind), 0.0)


def to_tokens(per_row: Tensor, mask: Tensor) -> Tensor:
    """One number per row, given to all of the row's tokens inside `mask`; 0 elsewhere."""
    return torch.where(mask, per_row[:, None], 0.0)


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


# ------------------------------------------------------------------ with a critic


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
    _check_rewards(rewards, mask)
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
    advantages = backward_gae(_plus(rewards, kl), values, action_mask, gamma, lam, bootstrap)
    return Estimate(advantages, _returns(advantages, values, action_mask), action_mask)


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
    earned = unit_sums(_plus(rewards, kl), "step", turn_ends)
    step = backward_gae(torch.where(begins, earned, 0.0), values, begins, gamma, lam, bootstrap)
    shared = torch.where(action_mask, unit_sums(step, "step", turn_ends), 0.0)  # a sum of one number and zeros
    return Estimate(shared, _returns(step, values, begins), begins)


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
    _check_rewards(turn_rewards, turn_ends)
    if form == "paper":
        given = (turn_rewards, values, action_mask, turn_ends)
        return step_gae(*given, gamma=turn_gamma, lam=turn_lam, bootstrap=bootstrap, kl=kl)
    penalties = torch.zeros_like(turn_rewards) if kl is None else unit_sums(kl, "step", turn_ends)
    earned = turn_rewards + torch.where(turn_ends, penalties, 0.0)
    turn = backward_gae(earned, values, turn_ends, turn_gamma, turn_lam, bootstrap)
    shared = torch.where(action_mask, unit_sums(turn, "step", turn_ends), 0.0)
    return Estimate(shared, _returns(turn, values, turn_ends), turn_ends)


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
        turn_returns = _returns(turn, values_after, turn_ends)
        last = penalties + token_gamma * values_after - values + turn
    else:
        last = backward_gae(turn_rewards + torch.where(turn_ends, penalties, 0.0), values, turn_ends, *between)
    restart = (turn_ends, last)
    advantages = backward_gae(penalties, values, action_mask, token_gamma, token_lam, restart=restart)
    return Estimate(advantages, _returns(advantages, values, action_mask), action_mask, turn_returns)


def turn_begins(action_mask: Tensor, turn_ends: Tensor) -> Tensor:
    """The first action token of every turn."""
    acted = action_mask.cumsum(1)
    before = torch.where(turn_ends, acted, 0).cummax(1).values.roll(1, 1)  # action tokens of the turns before
    before[:, 0] = 0
    return action_mask & (acted == before + 1)


def _check_rewards(rewards: Tensor, mask: Tensor) -> None:
    if bool((rewards != 0).logical_and(~mask).any()) or not bool(rewards.isfinite().all()):
        raise ConfigError("rewards must be finite, and 0 on tokens that are not learned from; got others")


def _plus(rewards: Tensor, kl: Tensor | None) -> Tensor:
    return rewards if kl is None else rewards + kl


def _returns(advantages: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    return torch.where(mask, advantages + values, 0.0)


# ------------------------------------------------------------------ without a critic


class _Groups(NamedTuple):
    """For every score, in float64: in float32 a mean's rounding, divided by a deviation of 0 + 1e-6, would give three
    equal scores of 0.1 an advantage."""

    scores: Tensor
    counts: Tensor  # scores in its group
    means: Tensor  # over them
    stds: Tensor  # unbiased; 0 for a group of one


def _grouped(scores: Tensor, groups: Labels) -> _Groups:
    if not bool(scores.isfinite().all()):
        raise ConfigError("scores must be finite; leave out trajectories whose reward is not known yet")
    table: dict[Hashable, int] = {}
    labels = groups.tolist() if isinstance(groups, Tensor) else groups
    ids = torch.tensor([table.setdefault(label, len(table)) for label in labels], device=scores.device)
    scores = scores.double()

    def sums(x: Tensor) -> Tensor:
        return x.new_zeros(len(table)).index_add(0, ids, x)[ids]

    counts = sums(torch.ones_like(scores))
    means = sums(scores) / counts
    stds = (sums((scores - means).square()) / (counts - 1).clamp(min=1)).sqrt()
    return _Groups(scores, counts, means, stds)


def grpo(scores: Tensor, groups: Labels) -> Tensor:
    """`(s - mean) / (std + 1e-6)` over the group, std unbiased (GRPO, outcome form). `[B]` in, `[B]` out.

    `scores[b]` is the reward of trajectory b, `groups[b]` any label. A group of one has nothing to compare with: mean
    0, std 1, so it keeps its score (within the 1e-6).
    """
    g = _grouped(scores, groups)
    alone = g.counts == 1
    centred = g.scores - torch.where(alone, 0.0, g.means)
    return (centred / (torch.where(alone, 1.0, g.stds) + STD_EPS)).to(scores.dtype)


def dr_grpo(scores: Tensor, groups: Labels) -> Tensor:
    """`s - mean` over the group (Dr. GRPO): without the std, which favours groups that are nearly all right or wrong.

    A group of one keeps its score, as in `grpo`.
    """
    g = _grouped(scores, groups)
    return (g.scores - torch.where(g.counts == 1, 0.0, g.means)).to(scores.dtype)


def rloo(scores: Tensor, groups: Labels) -> Tensor:
    """`s - mean of the others` (REINFORCE leave-one-out) `= n/(n-1) * (s - mean)`.

    A group of one gets 0: without others there is no baseline, and a raw score would be a far larger step than any
    other row takes. (One public library gives the raw score.)
    """
    g = _grouped(scores, groups)
    others = g.counts / (g.counts - 1).clamp(min=1)
    return torch.where(g.counts == 1, 0.0, others * (g.scores - g.means)).to(scores.dtype)


def discounted_returns(rewards: Tensor, mask: Tensor, *, gamma: float = 1.0) -> Tensor:
    """`R_i = r_i + gamma * R_j`, j the next place of `mask`: an observation costs no discount. 0 outside the mask."""
    return backward_gae(rewards, torch.zeros_like(rewards), mask, gamma, 1.0)


def gigpo(
    rewards: Tensor,
    mask: Tensor,
    groups: Labels,
    anchors: Sequence[Hashable],
    *,
    gamma: float = 0.95,
    step_weight: float = 1.0,
    normalise: Literal["mean", "mean_std"] = "mean_std",
    penalties: Tensor | None = None,
) -> Tensor:
    """GiGPO: `A = A_episode + w * A_step` for the steps of trajectories, `[trajectories, steps]` with a mask.

    `A_episode` compares the trajectories' summed rewards within a group. `A_step` compares the returns
    `R_t = r_t + gamma*R_{t+1}` of steps of one group that began in the same state: `anchors` labels each step of the
    mask, row by row; a step alone at its anchor gets 0, less its penalty. Both are `s - mean`, divided by `std + 1e-6`
    for "mean_std".
    `penalties >= 0` (invalid actions) are taken off `R_t` after discounting: they touch that step only.
    """
    compare = grpo if normalise == "mean_std" else dr_grpo
    paid = rewards.double()
    episode = compare(paid.sum(1), groups)
    fines = torch.zeros_like(paid) if penalties is None else penalties.double()
    returns = discounted_returns(paid, mask, gamma=gamma) - fines
    owners = mask.nonzero()[:, 0].tolist()
    labels = groups.tolist() if isinstance(groups, Tensor) else groups
    places = [(labels[owner], anchor) for owner, anchor in zip(owners, anchors, strict=True)]
    alone = _grouped(returns[mask], places).counts == 1
    step = torch.where(alone, -fines[mask], compare(returns[mask], places))
    found = torch.zeros_like(paid).masked_scatter(mask, episode[mask.nonzero()[:, 0]] + step_weight * step)
    return found.to(rewards.dtype)
