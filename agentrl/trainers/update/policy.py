"""One update of a policy by its own episodes: a batch in, a better policy out.

    learner = make_learner(args)                      policy, critic, reference and their optimiser
    scores = score(args, learner, batch)              old and reference log-probabilities, values
    update_policy(args, learner, batch, scores, ...)  mini-batches -> micro-batches -> losses -> gradients -> optimiser
    learner.publish()                                 the rollout engine generates with the new weights

The forward passes and the optimiser step are in `learner`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import Tensor

from agentrl.models.scoring import upload
from agentrl.trainers.arguments.policy import CriticArguments, PolicyArguments
from agentrl.trainers.update.advantages import Estimate
from agentrl.trainers.update.batch import Batch, Row, Unit, masked_sum, shuffled_parts, token_weights
from agentrl.trainers.update.critic_truth import Moment, facts_of, tell_critic
from agentrl.trainers.update.learner import Learner, Outputs, TrainingFault
from agentrl.trainers.update.losses import (
    Loss,
    correction,
    correction_kind,
    critic_loss,
    kl_estimate,
    kl_rewards,
    log_ratios,
    mismatch,
    policy_drift,
)
from agentrl.trainers.update.steps import Steps

WEIGHTED = ("clipped_sequences",)  # metrics of losses that are weighted already, so that micro-batches add up
MOMENTS = ("returns", "returns_squared", "missed", "missed_squared")


# ---------------------------------------------------------------------- before the update


class BatchScores(NamedTuple):
    """The models' view of a batch before the update; `[trajectories, tokens]` each."""

    old: Tensor  # what ratios are taken to
    reference: Tensor | None
    values: Tensor  # 0 where there is no critic
    values_after: Tensor
    bootstrap: Tensor  # [trajectories]
    metrics: Mapping[str, float] = MappingProxyType({})


def score(args: PolicyArguments, learner: Learner, batch: Batch) -> BatchScores:
    """Old log-probabilities (recorded or recomputed), those of the reference, and values where there is a critic."""
    if not len(batch):
        raise TrainingFault("no reply of this iteration holds a token; do the prompts fill the model's context?")
    wanted = args.old_logprobs == "recomputed" or correction_kind(args, learner.exact) != "none"
    wanted = wanted or not bool((batch.action_mask == batch.token_mask).all())  # observations have none
    old, metrics = batch.logprobs, {}
    if wanted or not learner.exact:
        recomputed = batch.by_trajectory(learner.logprobs(batch.rows))
        metrics = mismatch(batch, recomputed)
        old = old if args.old_logprobs == "behaviour" and not wanted else recomputed
    reference = batch.by_trajectory(learner.reference_logprobs(batch.rows)) if args.kl_coef else None
    if not isinstance(args, CriticArguments):
        nothing = torch.zeros_like(old)
        return BatchScores(old, reference, nothing, nothing, torch.zeros(len(batch)), metrics)
    if args.critic_truth and batch.rows[0].facts is None:
        tell_critic(learner, batch)
    before, after = map(batch.by_trajectory, learner.values(batch.rows))
    return BatchScores(old, reference, before, after, bootstrap_values(args, learner, batch), metrics)


def bootstrap_values(args: CriticArguments, learner: Learner, batch: Batch) -> Tensor:
    """The value after each trajectory's end, `[trajectories]`: nonzero only where a limit from outside cut it, since
    nobody acts after a task's own limit (`bootstrap_truncated` treats that as an external one)."""
    counted = ("external", "task") if args.bootstrap_truncated else ("external",)
    cut = [index for index, one in enumerate(batch.trajectories) if one.limit in counted]
    values, prompts = torch.zeros(len(batch)), []
    for trajectory in [batch.trajectories[index] for index in cut]:  # what the policy would have been asked next
        steps = trajectory.steps if trajectory.prompt_style == "conversation" else []
        images = [name for step in steps for name in step.images] + trajectory.final_images
        prompts.append(learner.prompt(trajectory, trajectory.final_prompt_ids or [], images))
    if cut:
        told = {}
        if args.critic_truth:
            ends = [(one, len(one.steps)) for one in (batch.trajectories[index] for index in cut)]
            told["facts"] = facts_of(learner, [Moment.of(*end) for end in ends])
        values[cut] = learner.last_values(prompts, **told).amin(-1)
    return values


Advantages = Callable[[Any, Batch, BatchScores], Estimate]  # an algorithm's own


def start_critic(
    args: CriticArguments, learner: Learner, batch: Batch, scores: BatchScores, advantages: Advantages
) -> BatchScores:
    """Before the first update the critic is 0 everywhere: let it be the mean return instead, and score again."""
    if learner.steps or args.critic_init == "zero":
        return scores
    estimate = advantages(args, batch, scores)
    assert learner.critic is not None
    if learner.shards is not None:
        learner.shards.put_back()
    with torch.no_grad():
        learner.critic.head.bias.fill_(float(estimate.returns[estimate.critic_mask].mean()))
    return score(args, learner, batch)


def kl_penalty(args: PolicyArguments, batch: Batch, scores: BatchScores) -> Tensor | None:
    """What every token pays for its divergence from the reference, with kl_in=reward."""
    if scores.reference is None or args.kl_in != "reward":
        return None
    return kl_rewards(scores.old, scores.reference, batch.action_mask, beta=args.kl_coef, kind=args.kl_estimator)


# ---------------------------------------------------------------------- the update


class Part(NamedTuple):
    """What the losses compare the models' outputs with, for some rows; `[rows, targets]` each."""

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
    weights: Tensor  # of the kept tokens in the policy's loss; they sum to 1 over a mini-batch


PolicyLoss = Callable[[Any, Tensor, Part], Loss]


def update_policy(
    args: PolicyArguments,
    learner: Learner,
    batch: Batch,
    scores: BatchScores,
    estimate: Estimate,
    policy_loss: PolicyLoss,
    rng: torch.Generator,
    unit: Unit = "token",
    *,
    weigh: Callable[[Tensor, Tensor], Tensor] | None = None,
    left_out: Tensor | None = None,
) -> dict[str, float]:
    """All optimiser steps of an iteration; the mean of their metrics. `rng` decides the mini-batches.

    `policy_loss(args, logprobs, part)` is the algorithm's own. `unit` is what has a ratio of its own there; the loss is
    a mean over the same units unless `weigh(mask, turn_ends)` gives other weights, which a divergence in the loss then
    has, too; without them it is a mean over tokens. The policy does not learn from tokens of `left_out`
    (`[trajectories, tokens]`).
    """
    fixed, zero = correction(args, batch, scores.old, unit, learner.exact), torch.zeros_like(scores.old)
    everything = Part(
        old=scores.old,
        reference=zero if scores.reference is None else scores.reference,
        advantages=estimate.advantages * fixed.weights,
        returns=estimate.returns,
        old_values=scores.values,
        critic_mask=estimate.critic_mask,
        turn_returns=zero if estimate.turn_returns is None else estimate.turn_returns,
        turn_ends=batch.turn_ends,
        mask=batch.token_mask,
        kept=fixed.kept if left_out is None else fixed.kept & ~left_out,
        weights=zero,
    )
    step = partial(minibatch_step, args, learner, policy_loss, weigh is not None, estimate.turn_returns is not None)
    weigh, steps = weigh or partial(token_weights, unit), Steps(learner)
    passes = [False] * args.epochs  # does only the critic learn?
    if isinstance(args, CriticArguments):
        passes = [learner.iteration < args.critic_warmup] * args.epochs + [True] * args.critic_epochs
    for only_critic in passes:
        for trajectories in map(set, shuffled_parts(len(batch), args.minibatches, rng)):
            indices = [index for index, row in enumerate(batch.rows) if row.trajectory in trajectories]
            minibatch = Part(*(batch.by_row(tensor, indices) for tensor in everything))
            minibatch = minibatch._replace(weights=weigh(minibatch.kept, minibatch.turn_ends))
            steps.take(step, [batch.rows[index] for index in indices], minibatch, only_critic)
    telling = len(steps.found) * args.epochs // len(passes)  # further passes of the critic alone say nothing new
    means, last = steps.means(telling), steps.taken(telling)[-1]
    means |= {f"{name}_last": last[name] for name in WEIGHTED if name in means}
    age = (learner.iteration - batch.versions)[batch.action_mask].float()  # updates since the tokens were written
    stale = {"staleness_mean": float(age.mean()), "staleness_max": float(age.max())}
    return means | dict(scores.metrics) | fixed.metrics | stale


def minibatch_step(
    args: PolicyArguments,
    learner: Learner,
    policy_loss: PolicyLoss,
    weigh_kl: bool,
    teach_after: bool,
    rows: Sequence[Row],
    minibatch: Part,
    only_critic: bool,
) -> dict[str, float]:
    """One optimiser step. Losses are means over the whole mini-batch, however it is cut for memory.

    `weigh_kl`: a divergence in the loss is weighed as the policy's loss is. `teach_after`: values after turns learn,
    too. `only_critic`: the policy does not.
    """
    masks = ("mask", "kept", "critic_mask", "turn_ends")
    counts = {name: max(1, int(getattr(minibatch, name).sum())) for name in masks}

    def loss_of(indices: list[int]) -> tuple[Tensor, dict[str, Tensor]]:
        chosen = [rows[index] for index in indices]
        width = max(len(row.targets) for row in chosen)
        here = Part(*(tensor[indices, :width] for tensor in minibatch))
        # Whether the critic is taught anywhere here is asked before the part goes to a GPU.
        taught, ended = bool(here.critic_mask.any()), teach_after and bool(here.turn_ends.any())
        part = Part(*(upload(tensor, learner.device) for tensor in here))
        entropy = "learned" if args.entropy_coef else "watched"
        out = learner.outputs(chosen, entropy=entropy, only_critic=only_critic)
        loss, metrics = policy_terms(args, out, part, counts, policy_loss, weigh_kl)
        if isinstance(args, CriticArguments):
            critic, more = critic_terms(args, out, part, counts, taught, ended)
            loss, metrics = critic if only_critic else loss + critic, metrics | more
        return loss, metrics

    metrics = learner.step(rows, loss_of)
    return with_explained_variance(metrics) if MOMENTS[0] in metrics else metrics


def policy_terms(
    args: PolicyArguments, out: Outputs, part: Part, counts: dict[str, int], policy_loss: PolicyLoss, weigh_kl: bool
) -> Loss:
    """The algorithm's own loss, an entropy bonus, and the KL to the reference where it is paid in the loss."""
    assert out.entropy is not None
    tokens, share = counts["mask"], part.kept.sum() / counts["kept"]
    loss, own = policy_loss(args, out.logprobs, part)
    own |= policy_drift(log_ratios(out.logprobs, part.old, part.kept), part.kept)
    entropy = masked_sum(out.entropy, part.mask) / tokens
    metrics = {"policy": loss.detach(), "entropy": entropy.detach()}
    for name, value in own.items():
        metrics[name] = value if name.endswith("_max") or name in WEIGHTED else share * value
    if args.entropy_coef:
        loss = loss - args.entropy_coef * entropy
    if args.kl_coef:
        divergence = kl_estimate(out.logprobs, part.reference, part.mask)
        metrics["kl"] = masked_sum(divergence, part.mask).detach() / tokens
    if args.kl_coef and args.kl_in == "loss":
        divergence = kl_estimate(out.logprobs, part.reference, part.mask, args.kl_estimator)
        mean = (part.weights * divergence).sum() if weigh_kl else masked_sum(divergence, part.mask) / tokens
        loss = loss + args.kl_coef * mean
    return Loss(loss, metrics)


def critic_terms(
    args: CriticArguments, out: Outputs, part: Part, counts: dict[str, int], taught: bool, ended: bool
) -> Loss:
    """The critic's loss where it is taught; for bi-level GAE its values after turns learn, too."""
    assert out.values is not None and out.values_after is not None
    loss, metrics, places = torch.zeros((), device=part.mask.device), {}, counts["critic_mask"]
    if taught:
        clip = {"old_values": part.old_values, "clip": args.critic_clip}
        loss, means = critic_loss(out.values, part.returns, part.critic_mask, count=places, **clip)
        share = part.critic_mask.sum() / places
        metrics = {"critic": loss.detach()} | {name: share * value for name, value in means.items()}
        with torch.no_grad():  # moments of the whole mini-batch; in double precision, as they cancel
            returns = torch.where(part.critic_mask, part.returns, 0.0).double()
            missed = returns - torch.where(part.critic_mask, out.values, 0.0).double()
            sums = (returns.sum(), returns.square().sum(), missed.sum(), missed.square().sum())
        metrics |= {name: value / places for name, value in zip(MOMENTS, sums, strict=True)}
    if ended:
        after = critic_loss(out.values_after, part.turn_returns, part.turn_ends, count=counts["turn_ends"])
        loss = loss + after.loss
    return Loss(args.critic_coef * loss, metrics)


def with_explained_variance(metrics: dict[str, float]) -> dict[str, float]:
    """1 - var(Y - V) / var(Y) in place of the moments: 1 is a perfect critic; 0 where all returns are equal."""
    mean, square, missed, missed_square = (metrics.pop(name) for name in MOMENTS)
    spread = square - mean**2
    explained = 1 - (missed_square - missed**2) / spread if spread > 1e-12 * square else 0.0
    return {**metrics, "explained_variance": explained}
