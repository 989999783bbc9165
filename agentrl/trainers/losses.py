"""Losses: what is minimised once every action token has its advantage.

All take padded `[B, T]` batches and read action tokens only; only `logprobs`, `values` and `logits` receive gradients,
everything else is a constant. Means are computed in float32 at least.

A mini-batch that is split for memory must not average the averages of its pieces: give each piece the `denominator` of
the whole (`unit_count`), and the pieces' losses add up to the whole's.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor

from agentrl.core.arguments import finite_number
from agentrl.core.errors import ConfigError
from agentrl.trainers.masked import check_mask, check_turn_ends, masked_mean, masked_sum, wide

KLKind = Literal["k1", "k2", "k3"]
Aggregation = Literal["token", "sequence", "step"]
LOG_RATIO_LIMIT = 20.0  # exp(20) is far outside every clip range and still squares safely in float32


class Loss(NamedTuple):
    """A scalar to call `backward` on, and figures to log (scalars without gradients)."""

    loss: Tensor
    metrics: dict[str, Tensor]


# ------------------------------------------------------------------ means


def unit_count(mask: Tensor, mode: Aggregation = "token", turn_ends: Tensor | None = None) -> Tensor:
    """How many units (tokens, rows with tokens, steps with tokens) a mean of that mode runs over."""
    check_mask("mask", mask)
    if mode == "token":
        return mask.sum()
    return (_unit_sums(mask.long(), _units(mask, mode, turn_ends)) > 0).sum()


def aggregate(
    x: Tensor,
    mask: Tensor,
    mode: Aggregation = "token",
    *,
    turn_ends: Tensor | None = None,
    denominator: Tensor | float | None = None,
) -> Tensor:
    """The mean of `x` over `mask`, in one of three ways of counting.

    token: every token counts the same, `sum / tokens` (the PPO loss of the VAGEN paper).
    sequence: every row counts the same, mean over rows of the row's token mean (GRPO, GSPO).
    step: every step counts the same, mean over steps of the step's token mean (StepPO). A step is a row, or, in rows
    that hold several turns, the stretch of action tokens up to a turn end.

    `denominator` replaces the number of units. Give `unit_count` of the whole mini-batch when this is one piece of it,
    or a constant with mode "token" for Dr. GRPO's length-free mean.
    """
    check_mask("mask", mask)
    x = torch.where(mask, wide("x", x, mask.shape), 0.0)
    count = unit_count(mask, mode, turn_ends) if denominator is None else denominator
    if mode == "token":
        return x.sum() / count
    units = _units(mask, mode, turn_ends)
    return (_unit_sums(x, units) / _unit_sums(mask.long(), units).clamp(min=1)).sum() / count


def _units(mask: Tensor, mode: Aggregation, turn_ends: Tensor | None) -> Tensor:
    """For every token the number of its unit: its row, or its step within the row."""
    if mode not in ("sequence", "step"):
        raise ConfigError(f'a mean is taken over "token", "sequence" or "step", not {mode!r}')
    rows = torch.arange(mask.shape[0], device=mask.device)[:, None]
    if mode == "sequence" or turn_ends is None:
        return rows.expand_as(mask)
    check_turn_ends(turn_ends, mask)
    turn = turn_ends.cumsum(1) - turn_ends.long()
    return rows * (mask.shape[1] + 1) + turn


def _unit_sums(x: Tensor, units: Tensor) -> Tensor:
    size = int(units.max()) + 1
    return x.new_zeros(size).index_add(0, units.reshape(-1), x.reshape(-1))


# ------------------------------------------------------------------ policy


def ppo_loss(
    logprobs: Tensor,
    old_logprobs: Tensor,
    advantages: Tensor,
    mask: Tensor,
    *,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
    dual_clip: float | None = None,
    aggregation: Aggregation = "token",
    turn_ends: Tensor | None = None,
    denominator: Tensor | float | None = None,
) -> Loss:
    """PPO's clipped loss: the mean of `max(-u*A, -clip(u, 1-low, 1+high)*A)`, `u = pi/pi_old` per token.

    The VAGEN paper's form is the token mean with `low = high`. A larger `clip_high` lets unlikely tokens grow more
    ("clip-higher"). `dual_clip = c > 1` caps the loss at `c*|A|` where A < 0, so that one token that has become much
    likelier than it was cannot dominate the batch (the field uses 3).
    """
    log_ratio, advantages = _log_ratio(logprobs, old_logprobs, mask), _constant("advantages", advantages, mask)
    losses, metrics = _clipped(log_ratio, advantages, mask, (clip_low, clip_high), dual_clip)
    loss = aggregate(losses, mask, aggregation, turn_ends=turn_ends, denominator=denominator)
    return Loss(loss, metrics | _drift(log_ratio, mask))


def step_ppo_loss(
    logprobs: Tensor,
    old_logprobs: Tensor,
    advantages: Tensor,
    mask: Tensor,
    *,
    turn_ends: Tensor | None = None,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
    dual_clip: float | None = None,
    denominator: Tensor | float | None = None,
) -> Loss:
    """StepPO's loss (paper, equations 7 and 8): the ratio of a step is the geometric mean of its token ratios.

    `w = exp(mean over the step's L action tokens of log u_i)`, loss = mean over steps of
    `max(-w*A, -clip(w, 1-low, 1+high)*A)`. A step is a row, or a turn where `turn_ends` is given. If the advantages
    differ within a step (the ablation without step GAE) each token's is weighed by the step's ratio and the mean taken
    over the step. (The released recipe clips at 3e-4 / 4e-4.)
    """
    log_ratio, advantages = _log_ratio(logprobs, old_logprobs, mask), _constant("advantages", advantages, mask)
    shared = _per_unit(log_ratio, mask, "step", turn_ends)
    losses, metrics = _clipped(shared, advantages, mask, (clip_low, clip_high), dual_clip)
    loss = aggregate(losses, mask, "step", turn_ends=turn_ends, denominator=denominator)
    return Loss(loss, metrics | _drift(log_ratio, mask))


def gspo_loss(
    logprobs: Tensor,
    old_logprobs: Tensor,
    advantages: Tensor,
    mask: Tensor,
    *,
    clip_low: float = 3e-4,
    clip_high: float = 4e-4,
    dual_clip: float | None = None,
    denominator: Tensor | float | None = None,
) -> Loss:
    """GSPO: one ratio per row, `exp(mean log u_i)` over its action tokens, clipped per row, mean over rows.

    The row is the trajectory where a trajectory is one sequence and the step where rows are steps; observation tokens
    do not count towards its length.
    """
    log_ratio, advantages = _log_ratio(logprobs, old_logprobs, mask), _constant("advantages", advantages, mask)
    shared = _per_unit(log_ratio, mask, "sequence", None)
    losses, metrics = _clipped(shared, advantages, mask, (clip_low, clip_high), dual_clip)
    loss = aggregate(losses, mask, "sequence", denominator=denominator)
    return Loss(loss, metrics | _drift(log_ratio, mask))


def decoupled_ppo_loss(
    logprobs: Tensor,
    behaviour_logprobs: Tensor,
    proximal_logprobs: Tensor,
    advantages: Tensor,
    mask: Tensor,
    *,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
    dual_clip: float | None = 3.0,
    max_weight: float = 2.0,
    above: Literal["drop", "truncate"] = "drop",
    denominator: Tensor | float | None = None,
) -> Loss:
    """Decoupled PPO for data of older policies: clip around a recent policy, correct for the one that acted.

    `u = pi/pi_prox` is clipped as in `ppo_loss`; the result is multiplied by the constant `w = pi_prox/pi_behaviour`,
    outside the clip. Tokens with `w > max_weight` leave the mean and its denominator ("drop", as in AReaL), or count
    with `max_weight` ("truncate"). Token mean. If every token is dropped the loss is 0, with zero gradients.
    """
    if above not in ("drop", "truncate"):
        raise ConfigError(f'above must be "drop" or "truncate", not {above!r}')
    advantages = _constant("advantages", advantages, mask)
    weight = importance_weights(proximal_logprobs, behaviour_logprobs, mask)
    heavy = mask & (weight > _positive("max_weight", max_weight))
    kept = mask & ~heavy if above == "drop" else mask
    log_ratio = _log_ratio(logprobs, proximal_logprobs, mask)
    losses, metrics = _clipped(log_ratio, advantages, kept, (clip_low, clip_high), dual_clip)
    total = masked_sum(losses * weight.clamp(max=max_weight), kept)
    metrics |= _drift(log_ratio, mask) | {
        "weight_mean": masked_mean(weight, mask),
        "heavy_fraction": masked_mean(heavy.to(weight.dtype), mask),
    }
    return Loss(total / (kept.sum().clamp(min=1) if denominator is None else denominator), metrics)


@torch.no_grad()
def importance_weights(
    proximal_logprobs: Tensor,
    behaviour_logprobs: Tensor,
    mask: Tensor,
    *,
    unit: Aggregation = "token",
    turn_ends: Tensor | None = None,
) -> Tensor:
    """`w = pi_prox/pi_behaviour` of every token of `mask`, 1 elsewhere.

    With unit "step" or "sequence" all tokens of the unit share the geometric mean of their weights, as they share their
    ratio in `step_ppo_loss` and `gspo_loss`. A policy loss is linear in the advantages, so that advantages times
    these weights give the loss times these weights: outside the clip, where they belong.
    """
    log_weight = _log_ratio(proximal_logprobs, behaviour_logprobs, mask)
    return (log_weight if unit == "token" else _per_unit(log_weight, mask, unit, turn_ends)).exp()


def _per_unit(log_ratio: Tensor, mask: Tensor, mode: Aggregation, turn_ends: Tensor | None) -> Tensor:
    """Every token gets the mean log-ratio of its unit, whose exponential is the geometric mean of the ratios."""
    units = _units(mask, mode, turn_ends)
    means = _unit_sums(log_ratio, units) / _unit_sums(mask.long(), units).clamp(min=1)
    return torch.where(mask, means[units], 0.0)


def _clipped(
    log_ratio: Tensor, advantages: Tensor, mask: Tensor, clip: tuple[float, float], dual_clip: float | None
) -> tuple[Tensor, dict[str, Tensor]]:
    """The clipped loss of every token, and how often which clip acted."""
    low, high = _positive("clip_low", clip[0], zero=True), _positive("clip_high", clip[1], zero=True)
    ratio = log_ratio.exp()
    plain, bounded = -ratio * advantages, -ratio.clamp(1 - low, 1 + high) * advantages
    losses = torch.maximum(plain, bounded)
    metrics = {"clip_fraction": _share(bounded > plain, mask), "ratio_max": _largest(ratio, mask)}
    if dual_clip is not None:
        if finite_number("dual_clip", dual_clip) <= 1:
            raise ConfigError(f"dual_clip must be greater than 1, not {dual_clip!r}")
        cap = torch.where(advantages < 0, -dual_clip * advantages, torch.inf)
        metrics["dual_clip_fraction"] = _share(losses > cap, mask)
        losses = torch.minimum(losses, cap)
    return losses, metrics


# ------------------------------------------------------------------ KL and entropy


def kl_estimate(logprobs: Tensor, ref_logprobs: Tensor, mask: Tensor, kind: KLKind = "k3") -> Tensor:
    """Estimates of KL(pi || ref) from tokens that pi produced, one per token of `mask`, 0 elsewhere.

    With `d = log pi - log ref`:
    k1 `d`: unbiased, of either sign, large variance. Its gradient has mean zero: as a loss it regularises nothing.
    k2 `d^2/2`: biased (little, while the policies are close), never negative. Its gradient, `d * grad log pi`, is an
        unbiased gradient of the KL itself.
    k3 `exp(-d) - 1 + d`: unbiased, never negative, small variance. Its gradient is the one of the *other* direction,
        KL(ref || pi): harmless when close, heavy where the reference is likelier by far.
    d is clamped to +-20.
    """
    d = _log_ratio(logprobs, ref_logprobs, mask)
    if kind == "k1":
        return d
    if kind == "k2":
        return d.square() / 2
    if kind == "k3":
        return torch.expm1(-d) + d
    raise ConfigError(f'a KL estimate is "k1", "k2" or "k3", not {kind!r}')


def kl_loss(
    logprobs: Tensor,
    ref_logprobs: Tensor,
    mask: Tensor,
    *,
    kind: KLKind = "k3",
    gradient: Literal["own", "k2"] = "own",
    aggregation: Aggregation = "token",
    turn_ends: Tensor | None = None,
    denominator: Tensor | float | None = None,
) -> Tensor:
    """The mean KL estimate, to be added to the policy loss times its coefficient.

    `gradient="k2"` keeps the value of `kind` and takes the gradient of k2, the only one of the three whose expectation
    is the gradient of KL(pi || ref) (see `kl_estimate`); "own" is what the papers' code does, with k3.
    """
    estimate = kl_estimate(logprobs, ref_logprobs, mask, kind)
    if gradient == "k2":
        through = kl_estimate(logprobs, ref_logprobs, mask, "k2")
        estimate = estimate.detach() + through - through.detach()
    elif gradient != "own":
        raise ConfigError(f'gradient must be "own" or "k2", not {gradient!r}')
    return aggregate(estimate, mask, aggregation, turn_ends=turn_ends, denominator=denominator)


def token_entropy(logits: Tensor) -> Tensor:
    """`-sum p log p` over the last dimension, in float32. Tokens ruled out by a logit of -inf add nothing."""
    log_p = wide("logits", logits).log_softmax(-1)
    p = log_p.exp()
    return -(p * log_p.masked_fill(p == 0, 0.0)).sum(-1)


def entropy_mean(
    logits: Tensor,
    mask: Tensor,
    *,
    aggregation: Aggregation = "token",
    turn_ends: Tensor | None = None,
    denominator: Tensor | float | None = None,
) -> Tensor:
    """The mean entropy of the policy at action tokens; subtract it, times its weight. `logits`: `[B, T, vocab]`."""
    check_mask("mask", mask)
    wide("logits", logits, (*mask.shape, logits.shape[-1]))
    entropy = token_entropy(logits.masked_fill(~mask[..., None], 0.0))
    return aggregate(entropy, mask, aggregation, turn_ends=turn_ends, denominator=denominator)


# ------------------------------------------------------------------ critic


def critic_loss(
    values: Tensor,
    returns: Tensor,
    mask: Tensor,
    *,
    old_values: Tensor | None = None,
    clip: float | None = None,
    aggregation: Aggregation = "token",
    turn_ends: Tensor | None = None,
    denominator: Tensor | float | None = None,
) -> Loss:
    """The mean of `(V - Y)^2` over the places the critic is taught at (VAGEN paper; many libraries halve it).

    `mask` is the `critic_mask` of the estimate: action tokens, turn ends, or one position per step. With `clip` the
    loss is PPO's pessimistic one, `max((V - Y)^2, (clip(V, V_old - c, V_old + c) - Y)^2)`.
    """
    check_mask("mask", mask)
    values = torch.where(mask, wide("values", values, mask.shape), 0.0)
    returns = _constant("returns", returns, mask)
    losses, clipped = (values - returns).square(), torch.zeros_like(mask)
    if clip is not None:
        if old_values is None:
            raise ConfigError("clip needs old_values, the critic's values from before the update")
        old, reach = _constant("old_values", old_values, mask), _positive("clip", clip)
        bounded = (values.clamp(old - reach, old + reach) - returns).square()
        clipped = bounded > losses
        losses = torch.maximum(losses, bounded)
    loss = aggregate(losses, mask, aggregation, turn_ends=turn_ends, denominator=denominator)
    metrics = {
        "value_clip_fraction": _share(clipped, mask),
        "value_mean": masked_mean(values.detach(), mask),
        "return_mean": masked_mean(returns, mask),
        "explained_variance": _explained_variance(values.detach(), returns, mask),
    }
    return Loss(loss, metrics)


# ------------------------------------------------------------------ small parts


def _log_ratio(logprobs: Tensor, other: Tensor, mask: Tensor) -> Tensor:
    """`logprobs - other` on `mask`, 0 elsewhere, clamped; a NaN of an action token stays one, so that it is noticed."""
    check_mask("mask", mask)
    difference = wide("logprobs", logprobs, mask.shape) - wide("the other logprobs", other, mask.shape).detach()
    return torch.where(mask, difference, 0.0).clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT)


def _constant(name: str, x: Tensor, mask: Tensor) -> Tensor:
    return torch.where(mask, wide(name, x, mask.shape).detach(), 0.0)


@torch.no_grad()
def _drift(log_ratio: Tensor, mask: Tensor) -> dict[str, Tensor]:
    """How far the policy has moved, as KL(old || new): `approx_kl` by k3 (never negative), `approx_kl_k1` by k1."""
    return {
        "approx_kl": masked_mean(torch.expm1(log_ratio) - log_ratio, mask),
        "approx_kl_k1": masked_mean(-log_ratio, mask),
    }


@torch.no_grad()
def _share(chosen: Tensor, mask: Tensor) -> Tensor:
    return masked_mean(chosen.float(), mask)


@torch.no_grad()
def _largest(x: Tensor, mask: Tensor) -> Tensor:
    return torch.where(mask, x, 0.0).max()


@torch.no_grad()
def _explained_variance(values: Tensor, returns: Tensor, mask: Tensor) -> Tensor:
    """1 - var(Y - V) / var(Y): 1 is a perfect critic, 0 or less a useless one; 0 where all returns are equal."""
    spread = masked_mean((returns - masked_mean(returns, mask)).square(), mask)
    rest = returns - values
    unexplained = masked_mean((rest - masked_mean(rest, mask)).square(), mask)
    return torch.where(spread > 0, 1 - unexplained / spread.clamp(min=1e-12), 0.0)


def _positive(name: str, value: float, *, zero: bool = False) -> float:
    if finite_number(name, value) < 0 or (value == 0 and not zero):
        raise ConfigError(f"{name} must be {'at least' if zero else 'greater than'} 0, not {value!r}")
    return float(value)
