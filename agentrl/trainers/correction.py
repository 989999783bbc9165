"""Corrections for data of older policies, and how old the data is.

Three policies are told apart: the one that acted (`behaviour`, recorded token by token), the one at the beginning of
the update (`proximal`, computed anew) and the one being trained. The ratio that is clipped is trained/proximal; what
the behaviour policy did otherwise is made up for by the constant weight proximal/behaviour, outside the clip:

    decoupled   tokens whose weight is above `max_weight` leave the loss and its mean (AReaL)
    truncated   their weight is cut down to `max_weight` (truncated importance sampling)
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from agentrl.trainers.actor_critic import BatchScores, PolicyArguments
from agentrl.trainers.forward import padded
from agentrl.trainers.losses import Aggregation, importance_weights
from agentrl.trainers.masked import masked_mean
from agentrl.trainers.rows import Batch


class Correction(NamedTuple):
    """What the advantages are multiplied by, which tokens stay in the policy's loss, and figures to log."""

    weights: Tensor
    kept: Tensor
    figures: dict[str, float]


def correct(args: PolicyArguments, batch: Batch, scores: BatchScores, unit: Aggregation) -> Correction:
    """The weights of a batch; all 1 without a correction. `unit` is what has a ratio of its own in the loss."""
    if args.correction == "none":
        return Correction(torch.ones_like(scores.old), batch.token_mask, {})
    weights = weights_by_trajectory(batch, scores, unit)
    heavy = batch.action_mask & (weights > args.max_weight)
    kept = batch.token_mask & ~heavy if args.correction == "decoupled" else batch.token_mask
    figures = {
        "weight_mean": float(masked_mean(weights, batch.action_mask)),
        "heavy_fraction": float(masked_mean(heavy.float(), batch.action_mask)),
    }
    return Correction(weights.clamp(max=args.max_weight), kept, figures)


def weights_by_trajectory(batch: Batch, scores: BatchScores, unit: Aggregation) -> Tensor:
    """Steps and sequences are stretches of rows, so that is where their tokens are looked at together."""
    given = (scores.old, batch.logprobs, batch.action_mask, batch.turn_ends)
    proximal, behaviour, mask, ends = (padded(batch.by_row(tensor)) for tensor in given)
    weights = importance_weights(proximal, behaviour, mask, unit=unit, turn_ends=ends)
    return batch.by_trajectory([weights[index, : len(row.targets)] for index, row in enumerate(batch.rows)])


def staleness(batch: Batch, version: int) -> dict[str, float]:
    """How many updates lie between the policy that wrote the batch's tokens and the one that is trained now."""
    age = (version - batch.versions)[batch.action_mask].float()
    return {"staleness_mean": float(age.mean()), "staleness_max": float(age.max())}
