"""The update that PPO and its kin share: mini-batches, a policy loss, a critic's loss, KL and entropy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from agentrl.trainers.actor_critic import BatchScores, CriticArguments, PolicyArguments
from agentrl.trainers.advantages import Estimate
from agentrl.trainers.correction import correct, staleness
from agentrl.trainers.forward import padded
from agentrl.trainers.learner import Learner, Outputs
from agentrl.trainers.losses import Loss, critic_loss, kl_loss
from agentrl.trainers.objective import Objective
from agentrl.trainers.rows import Batch, shuffled_parts
from agentrl.trainers.run import Run

Figures = dict[str, Tensor]
EXPLAINED = "explained_variance"
MOMENTS = ("returns", "returns_squared", "missed", "missed_squared")


class Constants(NamedTuple):
    """What the losses compare with: `[targets]` for a row, `[rows, targets]` for several."""

    old: Tensor
    reference: Tensor
    advantages: Tensor
    returns: Tensor
    old_values: Tensor
    critic_mask: Tensor
    turn_returns: Tensor
    turn_ends: Tensor
    mask: Tensor
    kept: Tensor  # what of the mask takes part in the policy's loss


def improve(
    args: PolicyArguments,
    run: Run,
    batch: Batch,
    scores: BatchScores,
    estimate: Estimate,
    objective: Objective,
    left_out: Tensor | None = None,
) -> dict[str, float]:
    """All optimiser steps of an iteration; the mean of their figures.

    The policy does not learn from tokens of `left_out`, where that is given (`[trajectories, tokens]`).
    """
    correction = correct(args, batch, scores, objective.ratio)
    kept = correction.kept if left_out is None else correction.kept & ~left_out
    weighted = estimate._replace(advantages=estimate.advantages * correction.weights)
    constants = constants_by_row(batch, scores, weighted, kept)
    update = Update(args, run.learner, objective, estimate.turn_returns is not None)
    update.only_critic = isinstance(args, CriticArguments) and run.iteration < args.critic_warmup
    found, dice = [], run.dice(1)
    for _ in range(args.epochs):
        for part in shuffled_parts(len(batch), args.minibatches, dice):
            chosen = set(part)
            rows = [index for index, row in enumerate(batch.rows) if row.trajectory in chosen]
            found.append(update.step([batch.rows[index] for index in rows], [constants[index] for index in rows]))
    names = dict.fromkeys(name for one in found for name in one)
    means = {name: sum(one.get(name, 0.0) for one in found) / len(found) for name in names}
    return means | correction.figures | staleness(batch, run.iteration)


def constants_by_row(batch: Batch, scores: BatchScores, estimate: Estimate, kept: Tensor) -> list[Constants]:
    """Everything the losses need, row by row."""
    zero = torch.zeros_like(scores.old)
    reference = zero if scores.reference is None else scores.reference
    turn_returns = zero if estimate.turn_returns is None else estimate.turn_returns
    whole = Constants(
        old=scores.old,
        reference=reference,
        advantages=estimate.advantages,
        returns=estimate.returns,
        old_values=scores.values,
        critic_mask=estimate.critic_mask,
        turn_returns=turn_returns,
        turn_ends=batch.turn_ends,
        mask=batch.token_mask,
        kept=kept,
    )
    return [Constants(*row) for row in zip(*(batch.by_row(tensor) for tensor in whole), strict=True)]


def side_by_side(rows: Sequence[Constants], device: Any = None) -> Constants:
    """Padded rows."""
    return Constants(*(padded(tensors, device) for tensors in zip(*rows, strict=True)))


class Update:
    """One mini-batch after the other. Losses are means over the whole mini-batch, however it is cut for memory."""

    def __init__(self, args: PolicyArguments, learner: Learner, objective: Objective, teach_after: bool) -> None:
        self.args, self.learner, self.objective, self.teach_after = args, learner, objective, teach_after
        self.only_critic = False

    def step(self, rows: Sequence[Any], constants: Sequence[Constants]) -> dict[str, float]:
        """One optimiser step."""
        whole = side_by_side(constants)
        counts = Counts(
            tokens=int(whole.mask.sum()),
            kept=max(1, int(whole.kept.sum())),
            units=self.objective.count(whole.kept, whole.turn_ends),
            taught=max(1, int(whole.critic_mask.sum())),
            ends=max(1, int(whole.turn_ends.sum())),
        )

        def loss_of(indices: list[int]) -> tuple[Tensor, Figures]:
            part = side_by_side([constants[index] for index in indices], self.learner.device)
            chosen = [rows[index] for index in indices]
            out = self.learner.outputs(chosen, entropy=True, only_critic=self.only_critic)
            policy, figures = self._policy(out, part, counts)
            critic, more = self._critic(out, part, counts)
            return critic if self.only_critic else policy + critic, figures | more

        return with_explained_variance(self.learner.step(rows, loss_of))

    def _policy(self, out: Outputs, part: Constants, counts: Counts) -> tuple[Tensor, Figures]:
        args = self.args
        share = part.mask.sum() / counts.tokens
        found = self._clipped(out, part, counts)
        # Means over what takes part, however the mini-batch is cut.
        weight = part.kept.sum() / counts.kept / share
        loss, figures = found.loss, {"policy": found.loss.detach() / share}
        figures |= {name: x if name.endswith("_max") else weight * x for name, x in found.metrics.items()}
        assert out.entropy is not None
        entropy = torch.where(part.mask, out.entropy, 0.0).sum() / counts.tokens
        figures["entropy"] = entropy.detach() / share
        if args.entropy_coef:
            loss = loss - args.entropy_coef * entropy
        if args.kl_coef:
            divergence = kl_loss(out.logprobs, part.reference, part.mask, kind="k3", denominator=counts.tokens)
            figures["kl"] = divergence.detach() / share
        if args.kl_coef and args.kl_in == "loss":
            loss = loss + args.kl_coef * kl_loss(
                out.logprobs, part.reference, part.mask, kind=args.kl_kind, denominator=counts.tokens
            )
        return loss, figures

    def _clipped(self, out: Outputs, part: Constants, counts: Counts) -> Loss:
        if not bool(part.kept.any()):  # all of it left out: nothing to learn, and no mean of nothing
            return Loss(0.0 * out.logprobs.sum(), {})
        args = self.args
        clip = {"clip_low": args.clip_low, "clip_high": args.clip_high, "dual_clip": args.dual_clip or None}
        given = (out.logprobs, part.old, part.advantages, part.kept, part.turn_ends)
        return self.objective.loss(*given, denominator=counts.units, **clip)

    def _critic(self, out: Outputs, part: Constants, counts: Counts) -> tuple[Tensor, Figures]:
        args, share = self.args, part.mask.sum() / counts.tokens
        loss, figures = torch.zeros((), device=part.mask.device), {}
        if not isinstance(args, CriticArguments):
            return loss, figures
        assert out.values is not None and out.values_after is not None
        if bool(part.critic_mask.any()):
            clip = {"old_values": part.old_values, "clip": args.critic_clip or None}
            found = critic_loss(out.values, part.returns, part.critic_mask, denominator=counts.taught, **clip)
            # Means over the places where the critic is taught, however the mini-batch is cut.
            weight = part.critic_mask.sum() / counts.taught / share
            loss, figures = found.loss, {"critic": found.loss.detach() / share}
            figures |= {name: weight * value for name, value in found.metrics.items() if name != EXPLAINED}
            figures |= {name: value / counts.taught / share for name, value in moments(out.values, part).items()}
        if self.teach_after and bool(part.turn_ends.any()):
            loss = loss + critic_loss(out.values_after, part.turn_returns, part.turn_ends, denominator=counts.ends).loss
        return args.critic_coef * loss, figures


@torch.no_grad()
def moments(values: Tensor, part: Constants) -> Figures:
    """Sums from which the explained variance of a whole mini-batch follows; in double precision, as they cancel."""
    returns = part.returns[part.critic_mask].double()
    missed = returns - values[part.critic_mask].double()
    sums = (returns.sum(), returns.square().sum(), missed.sum(), missed.square().sum())
    return dict(zip(MOMENTS, sums, strict=True))


def with_explained_variance(figures: dict[str, float]) -> dict[str, float]:
    """1 - var(Y - V) / var(Y) in place of the moments; 0 where all returns are equal within their rounding."""
    if MOMENTS[0] not in figures:
        return figures
    mean, square, missed, missed_square = (figures.pop(name) for name in MOMENTS)
    spread = square - mean**2
    explained = 1 - (missed_square - missed**2) / spread if spread > 1e-12 * square else 0.0
    return {**figures, EXPLAINED: explained}


class Counts(NamedTuple):
    """Over how many things the losses of a mini-batch are means."""

    tokens: int
    kept: int
    units: int
    taught: int
    ends: int
