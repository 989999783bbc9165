"""Losses: what is minimised once every action token has its advantage.

All functions take padded `[rows, tokens]` tensors and read the tokens of a boolean mask only, so what stands outside it
may be anything, NaN included. Only `logprobs` and `values` receive gradients.

A mean over tokens, steps or sequences is a sum with `token_weights` (see `batch`), computed once for the whole
mini-batch: the losses of its micro-batches then simply add up.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor

from agentrl.core.errors import ConfigError
from agentrl.trainers.arguments.policy import PolicyArguments
from agentrl.trainers.update.batch import Batch, Unit, masked_mean, masked_sum, unit_means

KLKind = Literal["k1", "k2", "k3"]
LOG_RATIO_LIMIT = 20.0  # exp(20) is far outside every clip range and still squares safely in float32


class Loss(NamedTuple):
    """A scalar to call `backward` on, and metrics (scalars without gradients)."""

    loss: Tensor
    metrics: dict[str, Tensor]


# ------------------------------------------------------------------ policy


def log_ratios(logprobs: Tensor, old_logprobs: Tensor, mask: Tensor) -> Tensor:
    """`log(pi / pi_old)` on `mask`, 0 elsewhere, clamped; the NaN of an action token stays one and is noticed."""
    difference = logprobs - old_logprobs.detach()
    return torch.where(mask, difference, 0.0).clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT)


def clipped_loss(
    ratio: Tensor,
    advantages: Tensor,
    mask: Tensor,
    weights: Tensor,
    *,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
    dual_clip: float = 0.0,
) -> Loss:
    """PPO's clipped loss: the weighted sum of `max(-u*A, -clip(u, 1-low, 1+high)*A)`, u the ratio of each token.

    `dual_clip = c` (0: none) caps the loss at `c*|A|` where A < 0, so that one token that has become much likelier than
    it was cannot dominate the batch (3 is usual).
    """
    advantages = torch.where(mask, advantages.detach(), 0.0)
    unclipped = -ratio * advantages
    clipped = -ratio.clamp(1 - clip_low, 1 + clip_high) * advantages
    losses = torch.maximum(unclipped, clipped)
    with torch.no_grad():
        metrics = {
            "clip_fraction": masked_mean((clipped > unclipped).float(), mask),
            "ratio_max": torch.where(mask, ratio, 0.0).max(),
        }
    if dual_clip:
        cap = torch.where(advantages < 0, -dual_clip * advantages, torch.inf)
        metrics["dual_clip_fraction"] = masked_mean((losses > cap).float(), mask)
        losses = torch.minimum(losses, cap)
    return Loss((weights * losses).sum(), metrics)


@torch.no_grad()
def policy_drift(log_ratio: Tensor, mask: Tensor) -> dict[str, Tensor]:
    """How far the policy has moved, as KL(old || new): `approx_kl` by k3 (never negative), `approx_kl_k1` by k1."""
    return {
        "approx_kl": masked_mean(torch.expm1(log_ratio) - log_ratio, mask),
        "approx_kl_k1": masked_mean(-log_ratio, mask),
    }


def kl_estimate(logprobs: Tensor, reference: Tensor, mask: Tensor, kind: KLKind = "k3") -> Tensor:
    """Estimates of KL(pi || reference) from tokens that pi produced, one per token of `mask`, 0 elsewhere.

    With `d = log pi - log reference`:
    k1 `d`: unbiased, of either sign, large variance. Its gradient has mean zero: as a loss it regularises nothing.
    k2 `d^2/2`: biased (little, while the policies are close), never negative. Its gradient, `d * grad log pi`, is an
        unbiased gradient of the KL itself.
    k3 `exp(-d) - 1 + d`: unbiased, never negative, small variance. Its gradient is the one of the *other* direction,
        KL(reference || pi): harmless when close, heavy where the reference is likelier by far.
    """
    d = log_ratios(logprobs, reference, mask)
    if kind == "k1":
        return d
    if kind == "k2":
        return d.square() / 2
    if kind == "k3":
        return torch.expm1(-d) + d
    raise ConfigError(f"the KL estimate must be k1, k2 or k3; got {kind!r}")


@torch.no_grad()
def kl_rewards(
    logprobs: Tensor, ref_logprobs: Tensor, action_mask: Tensor, *, beta: float = 0.001, kind: KLKind = "k1"
) -> Tensor:
    """`-beta * kl_t` on every action token, 0 elsewhere: the KL penalty as a reward.

    `logprobs` are those of the policy that produced the tokens. k1 is the usual choice here: its expectation is the KL
    itself, and as a reward it needs no gradient of its own.
    """
    return torch.where(action_mask, -beta * kl_estimate(logprobs, ref_logprobs, action_mask, kind), 0.0)


# ------------------------------------------------------------------ critic


def critic_loss(
    values: Tensor,
    returns: Tensor,
    mask: Tensor,
    *,
    count: int | Tensor | None = None,
    old_values: Tensor | None = None,
    clip: float = 0.0,
) -> Loss:
    """The mean of `(V - Y)^2` over the places where the critic is taught (VAGEN paper; many libraries halve it).

    `mask` is the `critic_mask` of the estimate: action tokens, turn ends, or one position per step. `count` is the
    number of such places in the whole mini-batch. With `clip` the loss is PPO's pessimistic one,
    `max((V - Y)^2, (clip(V, V_old - c, V_old + c) - Y)^2)`.
    """
    values, returns = torch.where(mask, values, 0.0), torch.where(mask, returns.detach(), 0.0)
    losses, clipped = (values - returns).square(), torch.zeros_like(mask)
    if clip:
        if old_values is None:
            raise ConfigError("clip needs old_values, the critic's values from before the update")
        old = torch.where(mask, old_values.detach(), 0.0)
        bounded = (values.clamp(old - clip, old + clip) - returns).square()
        clipped = bounded > losses
        losses = torch.maximum(losses, bounded)
    metrics = {
        "value_clip_fraction": masked_mean(clipped.float(), mask),
        "value_mean": masked_mean(values.detach(), mask),
        "return_mean": masked_mean(returns, mask),
    }
    return Loss(masked_sum(losses, mask) / (mask.sum().clamp(min=1) if count is None else count), metrics)


# ------------------------------------------------------------------ data of older policies


class Correction(NamedTuple):
    """What the advantages are multiplied by, which tokens stay in the policy's loss, and metrics."""

    weights: Tensor
    kept: Tensor
    metrics: dict[str, float]


@torch.no_grad()
def correction(args: PolicyArguments, batch: Batch, proximal: Tensor, unit: Unit, exact: bool = True) -> Correction:
    """Weights for data of older policies; all 1 with `correction="none"`, and with "auto" where generation is `exact`.

    The clipped ratio is that of the policy being trained to the one at the beginning of the update (`proximal`); the
    constant weight proximal/behaviour, the policy that acted, multiplies the loss outside the clip (it is linear in the
    advantages, so they can carry it). Above `max_weight` a token leaves the loss and its mean ("decoupled", AReaL) or
    its weight is cut ("truncated"). Tokens of a `unit` that share their ratio share the mean of their log-weights.
    """
    kind = correction_kind(args, exact)
    if kind == "none":
        return Correction(torch.ones_like(proximal), batch.token_mask, {})
    given = (proximal, batch.logprobs, batch.action_mask, batch.turn_ends)
    new, behaviour, mask, ends = map(batch.by_row, given)  # steps and sequences lie in rows
    by_row = unit_means(log_ratios(new, behaviour, mask), mask, unit, ends).exp()
    weights = batch.by_trajectory([by_row[batch.row_mask]])
    heavy = batch.action_mask & (weights > args.max_weight)
    kept = batch.token_mask & ~heavy if kind == "decoupled" else batch.token_mask
    metrics = {
        "importance_weight_mean": float(masked_mean(weights, batch.action_mask)),
        "over_max_weight": float(masked_mean(heavy.float(), batch.action_mask)),
    }
    return Correction(weights.clamp(max=args.max_weight), kept, metrics)


def correction_kind(args: PolicyArguments, exact: bool) -> str:
    """What "auto" means: nothing where generation and training agree, decoupled where weights alone may differ,
    truncated weights elsewhere."""
    if args.correction != "auto":
        return args.correction
    if not exact:
        return "truncated"
    return "decoupled" if args.asynchronous and args.max_staleness else "none"


@torch.no_grad()
def mismatch(batch: Batch, recomputed: Tensor) -> dict[str, float]:
    """How far recorded log-probabilities are from the trainer's own before the update: mean and largest distance, and
    the effective sample size of the tokens' weights `w = exp(distance)` as a share, `(sum w)^2 / (n * sum w^2)`."""
    distance = (recomputed - batch.logprobs)[batch.action_mask].double()
    weights = distance.clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT).exp()
    return {
        "mismatch_mean": float(distance.abs().mean()),
        "mismatch_max": float(distance.abs().max()),
        "effective_sample_size": float(weights.mean() ** 2 / weights.square().mean()),
    }
