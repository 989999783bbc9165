"""Advantages: who gets the credit for a reward, token by token, turn by turn or step by step.

Estimators with a critic are here; those that compare trajectories of one group instead are in `critic_free` and can be
imported from here too. All are pure, take padded `[B, T]` batches and give no gradients.

`values[t]` is the critic's value of the state *before* token t is produced (the model's output at t - 1).
`bootstrap[b]` is the value behind the last token of row b: `bootstrap_values` makes it, and every estimator uses it in
the same way, as the value of the state that would have come next. None means 0 everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from agentrl.core.errors import ConfigError
from agentrl.trainers.critic_free import (
    discounted_returns,
    dr_grpo,
    gigpo,
    grpo,
    reinforce_plus_plus,
    reinforce_plus_plus_baseline,
    rloo,
    step_timeline,
    trajectory_returns,
)
from agentrl.trainers.losses import KLKind, kl_estimate
from agentrl.trainers.masked import (
    Labels,
    check_mask,
    check_turn_ends,
    finite_row,
    fraction,
    from_next_marked,
    next_marked,
    rewards_within,
    to_tokens,
    whiten,
    wide,
)
from agentrl.trainers.recursion import backward_gae

__all__ = [
    "Estimate",
    "bilevel_gae",
    "bootstrap_values",
    "discounted_returns",
    "dr_grpo",
    "gigpo",
    "grpo",
    "kl_rewards",
    "masked_gae",
    "reinforce_plus_plus",
    "reinforce_plus_plus_baseline",
    "rewards_at_last_action",
    "rewards_at_turn_ends",
    "rloo",
    "step_gae",
    "to_tokens",
    "trajectory_returns",
    "turn_gae",
    "vanilla_gae",
    "whiten",
]

Form = Literal["paper", "released"]


class Estimate(NamedTuple):
    """What an estimator gives; 0 wherever a mask is False.

    `returns` are the critic's targets for `values`, to be used where `critic_mask` is True (whitening statistics are
    taken over the same places). `turn_returns` exists for the paper's bi-level form only: targets for `values_after` at
    turn ends, without which nobody would ever teach the critic those values.
    """

    advantages: Tensor
    returns: Tensor
    critic_mask: Tensor
    turn_returns: Tensor | None = None


# ------------------------------------------------------------------ rewards and ends


def bootstrap_values(last_values: Tensor, limits: Sequence[str | None], *, bootstrap_truncated: bool = False) -> Tensor:
    """The value behind the end of each row, `[B]`: 0 after a true end, and after a limit that is part of the task.

    `last_values[b]` is the critic's value of the last observation; `limits[b]` is the trajectory's `limit`: None (it
    ended by itself), "task" or "external". Nobody ever acts behind a task's own limit, so its value is 0, as in the
    papers; a limit from outside merely cut the episode, so there the value counts. `bootstrap_truncated=True` treats
    the task's own limits as external ones. Values that are not used may be NaN.
    """
    last_values = wide("last_values", last_values, (len(limits),))
    unknown = set(limits) - {None, "task", "external"}
    if unknown:
        raise ConfigError(f'limits must be None, "task" or "external", not {sorted(map(repr, unknown))[0]}')
    counted = {"external", "task"} if bootstrap_truncated else {"external"}
    cut = torch.tensor([limit in counted for limit in limits], dtype=torch.bool, device=last_values.device)
    return torch.where(cut, last_values.detach(), 0.0)


def rewards_at_last_action(scores: Tensor, action_mask: Tensor) -> Tensor:
    """`[B, T]`: each row's whole reward on its last action token (VAGEN-Base), 0 elsewhere."""
    check_mask("action_mask", action_mask)
    scores = wide("scores", scores, action_mask.shape[:1])
    if bool((scores != 0).logical_and(~action_mask.any(1)).any()):
        raise ConfigError("a row without action tokens has a reward; there is no token that could get it")
    remaining = action_mask.flip(1).cumsum(1).flip(1)
    return torch.where(action_mask & (remaining == 1), scores[:, None], 0.0)


def rewards_at_turn_ends(turn_rewards: Tensor, turn_ends: Tensor) -> Tensor:
    """`[B, T]` from `[B, K]`: the k-th reward of a row on its k-th turn end. Entries past its last turn must be 0."""
    check_mask("turn_ends", turn_ends)
    turn_rewards = wide("turn_rewards", turn_rewards)
    if turn_rewards.ndim != 2 or len(turn_rewards) != len(turn_ends):
        raise ConfigError(
            f"turn_rewards must be rows x turns for {len(turn_ends)} rows, not {tuple(turn_rewards.shape)}"
        )
    turns = turn_ends.sum(1)
    if int(turns.max()) > turn_rewards.shape[1]:
        raise ConfigError(f"a row has {int(turns.max())} turns, but turn_rewards holds {turn_rewards.shape[1]} of each")
    past = torch.arange(turn_rewards.shape[1], device=turns.device) >= turns[:, None]
    rewards_within("turn_rewards", turn_rewards, ~past)
    order = (turn_ends.cumsum(1) - 1).clamp(min=0)
    return torch.where(turn_ends, turn_rewards.gather(1, order), 0.0)


@torch.no_grad()
def kl_rewards(
    logprobs: Tensor, ref_logprobs: Tensor, action_mask: Tensor, *, beta: float = 0.001, kind: KLKind = "k1"
) -> Tensor:
    """`-beta * kl_t` on every action token, 0 elsewhere: the KL penalty as a reward.

    `logprobs` are those of the policy that produced the tokens. k1 is the usual choice here: its expectation is the KL
    itself, and as a reward it needs no gradient of its own.
    """
    check_mask("action_mask", action_mask)
    return torch.where(action_mask, -beta * kl_estimate(logprobs, ref_logprobs, action_mask, kind), 0.0)


# ------------------------------------------------------------------ token level


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
    observation costs no discount. Behind the last one `V_j = bootstrap`, `A_j = 0`. Returns `Y_i = A_i + V_i`.
    `kl` (see `kl_rewards`) is added to the rewards.
    """
    check_mask("action_mask", action_mask)
    rewards = _plus(rewards_within("rewards", rewards, action_mask), kl, action_mask)
    values = wide("values", values, action_mask.shape)
    advantages = backward_gae(rewards, values, action_mask, fraction("gamma", gamma), fraction("lam", lam), bootstrap)
    return Estimate(advantages, _plus_values(advantages, values, action_mask), action_mask)


def vanilla_gae(
    rewards: Tensor,
    values: Tensor,
    token_mask: Tensor,
    *,
    gamma: float = 1.0,
    lam: float = 1.0,
    bootstrap: Tensor | None = None,
    kl: Tensor | None = None,
) -> Estimate:
    """Token GAE over observations as if the policy had written them: the papers' failing baseline ("vanilla PPO").

    The same formula as `masked_gae` with j = i + 1; `token_mask` is True on every token that is not padding. It is
    wrong for multi-turn agents and is here to be compared with.
    """
    return masked_gae(rewards, values, token_mask, gamma=gamma, lam=lam, bootstrap=bootstrap, kl=kl)


# ------------------------------------------------------------------ turn level


@torch.no_grad()
def bilevel_gae(
    turn_rewards: Tensor,
    values: Tensor,
    values_after: Tensor | None,
    action_mask: Tensor,
    turn_ends: Tensor,
    *,
    form: Form = "paper",
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
        turns:  `d_k = r_k + G*b_{k+1} - b_k`, `A_k = d_k + G*L*A_{k+1}`; behind the last turn `b = bootstrap`, `A = 0`
        tokens: `A_i = (kl_i + g*V_{i+1} - V_i) + g*l*A_{i+1}`; the last of the turn `A = (kl + g*b_k - V) + A_k`
    released: `b_k` is `V[e_k]` (the value before the turn's last token; `values_after` is not read), `A[e_k] = A_k`,
        and the KL of the last token is part of `r_k`. That code has one lambda: give it as both.

    KL of other turns enters no turn's advantage. Returns are `A_i + V_i` on action tokens; the paper form adds
    `turn_returns = A_k + b_k`, the targets of `values_after` at turn ends.
    """
    check_mask("action_mask", action_mask)
    check_turn_ends(turn_ends, action_mask)
    if form not in ("paper", "released"):
        raise ConfigError(f'form must be "paper" or "released", not {form!r}')
    g, l_token = fraction("token_gamma", token_gamma), fraction("token_lam", token_lam)
    between = (fraction("turn_gamma", turn_gamma), fraction("turn_lam", turn_lam), bootstrap)
    rewards = rewards_within("turn_rewards", turn_rewards, turn_ends)
    values = wide("values", values, action_mask.shape)
    penalties = _plus(torch.zeros_like(rewards), kl, action_mask)
    turn_returns = None
    if form == "paper":
        if values_after is None:
            raise ConfigError('the paper form needs values_after (values behind each token); or choose form="released"')
        after = wide("values_after", values_after, action_mask.shape)
        turn = backward_gae(rewards, after, turn_ends, *between)
        turn_returns = _plus_values(turn, after, turn_ends)
        last = penalties + g * after - values + turn
    else:
        last = backward_gae(rewards + torch.where(turn_ends, penalties, 0.0), values, turn_ends, *between)
    advantages = backward_gae(penalties, values, action_mask, g, l_token, None, restart=(turn_ends, last))
    return Estimate(advantages, _plus_values(advantages, values, action_mask), action_mask, turn_returns)


@torch.no_grad()
def turn_gae(
    turn_rewards: Tensor,
    values: Tensor,
    action_mask: Tensor,
    turn_ends: Tensor,
    *,
    turn_gamma: float = 0.95,
    turn_lam: float = 1.0,
    bootstrap: Tensor | None = None,
    kl: Tensor | None = None,
) -> Estimate:
    """Turn-wise GAE (Turn-PPO, the VAGEN paper's baseline): all tokens of a turn share its advantage.

    `d_k = r_k + G*V[e_{k+1}] - V[e_k]`, `A_k = d_k + G*L*A_{k+1}`, `A_i = A_k` for every token i of turn k. The KL of a
    turn's tokens is summed into `r_k`, as the turn is the action. The critic learns `A_k + V[e_k]` at turn ends only.
    """
    check_mask("action_mask", action_mask)
    check_turn_ends(turn_ends, action_mask)
    rewards = rewards_within("turn_rewards", turn_rewards, turn_ends)
    rewards = rewards + _summed_per_turn(_plus(torch.zeros_like(rewards), kl, action_mask), turn_ends)
    values = wide("values", values, action_mask.shape)
    G, L = fraction("turn_gamma", turn_gamma), fraction("turn_lam", turn_lam)
    turn = backward_gae(rewards, values, turn_ends, G, L, bootstrap)
    return Estimate(from_next_marked(turn, turn_ends, action_mask), _plus_values(turn, values, turn_ends), turn_ends)


# ------------------------------------------------------------------ step level


@torch.no_grad()
def step_gae(
    rewards: Tensor,
    values: Tensor,
    trajectories: Labels,
    step_index: Tensor,
    *,
    gamma: float = 0.99,
    lam: float = 1.0,
    bootstrap: Tensor | None = None,
) -> Estimate:
    """GAE over the steps of each trajectory (StepPO paper, equation 6). One row is one step, in any order.

    `delta_t = r_t + gamma*V_{t+1} - V_t`, `A_t = delta_t + gamma*lam*A_{t+1}`, with `values[n]` read at the last prompt
    token of step n, before its action. `trajectories[n]` says whose step it is, `step_index[n]` which (0, 1, 2 ...; a
    gap is an error, since the sum would jump over it). `bootstrap[n]` is read at each trajectory's last step. A KL
    penalty is added by the caller: `rewards + kl_rewards(...).sum(1)`. All tensors are `[N]`; `whiten` the advantages
    (over steps), then `to_tokens` gives them to the tokens.
    """
    rewards = finite_row("rewards", rewards)
    values = wide("values", values, rewards.shape)
    table, present = step_timeline(trajectories, step_index, rewards)
    last = present.sum(1, keepdim=True) - 1
    end = None if bootstrap is None else wide("bootstrap", bootstrap, rewards.shape)[table.gather(1, last)[:, 0]]
    laid_out = torch.where(present, rewards[table], 0.0)
    on_table = backward_gae(laid_out, values[table], present, fraction("gamma", gamma), fraction("lam", lam), end)
    advantages = torch.zeros_like(rewards, dtype=on_table.dtype)
    advantages[table[present]] = on_table[present]
    return Estimate(advantages, advantages + values, torch.ones_like(rewards, dtype=torch.bool))


# ------------------------------------------------------------------ small parts


def _plus(rewards: Tensor, kl: Tensor | None, mask: Tensor) -> Tensor:
    return rewards if kl is None else rewards + rewards_within("kl", kl, mask)


def _plus_values(advantages: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    return torch.where(mask, advantages + values, 0.0)


def _summed_per_turn(x: Tensor, turn_ends: Tensor) -> Tensor:
    """The sum of each turn's entries, on its turn end."""
    at = next_marked(turn_ends)
    padded = x.new_zeros(x.shape[0], x.shape[1] + 1)  # the extra column takes what comes after the last turn
    return padded.scatter_add(1, at, x)[:, :-1]
