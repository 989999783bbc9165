"""One update: a batch in, a better policy out.

    learner = make_learner(args)                  policy, critic, reference and their optimiser
    scores = score(args, learner, batch)          old and reference log-probabilities, values: constants of the update
    update_policy(args, run, batch, scores, ...)  mini-batches -> micro-batches -> losses -> gradients -> optimiser
    learner.publish()                             the rollout engine generates with the new weights

The forward passes are in `actor_critic`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from agentrl.models.packed_attention import upload
from agentrl.trainers.actor_critic import ActorCritic, Outputs, final_prompt
from agentrl.trainers.advantages import Estimate, bootstrap_values, kl_rewards
from agentrl.trainers.arguments import CriticArguments, PolicyArguments, RunArguments
from agentrl.trainers.batch import Batch, Row, shuffled_parts
from agentrl.trainers.data_parallel import assign_rows
from agentrl.trainers.losses import (
    Loss,
    Unit,
    correction,
    correction_kind,
    critic_loss,
    kl_estimate,
    log_ratios,
    masked_sum,
    mismatch,
    policy_drift,
    staleness,
    token_weights,
)
from agentrl.trainers.model_building import CriticKind, make_optimiser
from agentrl.trainers.progress import Progress, Seen, ignore
from agentrl.trainers.sharding import whole
from agentrl.trainers.token_budget import TrainingFault

LossOf = Callable[[list[int]], tuple[Tensor, dict[str, Tensor]]]
WEIGHTED = ("clipped_sequences",)  # metrics of losses that are weighted already, so that micro-batches add up
MOMENTS = ("returns", "returns_squared", "missed", "missed_squared")


class Learner(ActorCritic):
    """Policy, critic and reference with the optimiser that moves them."""

    def __init__(
        self,
        options: RunArguments,
        *,
        critic: CriticKind = "none",
        critic_lr: float = 0.0,
        critic_head_lr: float = 0.0,
        random_heads: int = 0,
        reference: bool = False,
        temperature: float = 1.0,
        total_steps: int = 0,
    ) -> None:
        super().__init__(
            options, critic=critic, reference=reference, temperature=temperature, random_heads=random_heads
        )
        self.optimiser = make_optimiser(options, self.policy, self.critic, critic_lr or options.lr, critic_head_lr)
        self.steps, self.total_steps, self.warmup = 0, total_steps, options.warmup
        self.beside: list[Callable[[Path], Any]] = []  # what else to write into the folder of a checkpoint's policy
        self.padding: list[float] = []
        self.trained_tokens = 0

    def step(self, rows: Sequence[Row], loss_of: LossOf) -> dict[str, float]:
        """One optimiser step on `rows`; its metrics.

        `loss_of(indices)` gives a micro-batch's part of the loss and of the metrics: parts add up to the whole, except
        for metrics called `..._max`. A loss or gradient that is not finite stops the run before any weight has changed.
        """
        lengths = self.reader.lengths(rows)
        padding, metrics = self.budget.fit(lengths, lambda budget: self._gradients(rows, lengths, budget, loss_of))
        self.padding.append(padding)
        self.trained_tokens += sum(len(row.ids) for row in rows)
        _check_loss(metrics["loss"])
        if not any(row.images for row in rows):
            self.shards.clear_vision_gradients()
        with self.processes.guard():
            metrics["grad_norm"] = self._move()
        return metrics

    def _gradients(
        self, rows: Sequence[Row], lengths: Sequence[int], budget: int, loss_of: LossOf
    ) -> tuple[float, dict[str, float]]:
        """Those of the whole loss, in micro-batches of `budget` tokens; the share of padding, and the metrics.

        What micro-batches found is looked at when all are done: each look waits for the GPU.
        """
        plan = assign_rows(self.processes, lengths, budget, packed=self.reader.packed)
        found: list[dict[str, Tensor]] = []
        self.optimiser.zero_grad(set_to_none=True)
        self.copies.forget_gradients()
        self.shards.forget()  # what an attempt that ran out of memory left
        for micro_batch, counts in plan.turns:
            with self.computing():
                loss, metrics = loss_of(micro_batch)
            with self.guarded():
                self.shards.anchored(loss, counts).backward()
                self.copies.collect_gradients()
            if counts:
                found.append({**metrics, "loss": loss.detach()})
        with self.guarded():
            own = as_numbers(found, self.device)
        return plan.padding, sum_metrics([one for each in self.processes.gather(own) for one in each])

    def _move(self) -> float:
        """Clip the gradients, take the step; the norm of the policy's gradient."""
        limit = self.options.max_grad_norm
        parts = [[p for p in group["params"] if p.grad is not None] for group in self.optimiser.param_groups]
        # Policy and critic are clipped apart: a critic far off must not silence the policy.
        clip = [nn.utils.clip_grad_norm_(part, limit) if part else torch.zeros(()) for part in parts]
        norms = [float(whole(norm)) for norm in clip]
        if not all(map(math.isfinite, norms)):
            raise TrainingFault(f"a gradient norm is {norms}; no weight was changed by it")
        for group in self.optimiser.param_groups:
            group["lr"] = group["peak"] * self.rate()
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        self.copies.refresh()
        self.steps += 1
        return norms[0]

    def rate(self) -> float:
        """The share of the peak learning rates that holds for the next step."""
        warm = min(1.0, (self.steps + 1) / self.warmup) if self.warmup else 1.0
        done = min(1.0, max(0.0, (self.steps - self.warmup) / max(1, self.total_steps - self.warmup)))
        if self.options.schedule == "linear":
            return warm * (1 - done)
        if self.options.schedule == "cosine":
            return warm * 0.5 * (1 + math.cos(math.pi * done))
        return warm


def as_numbers(parts: Sequence[dict[str, Tensor]], device: Any) -> list[dict[str, float]]:
    """The metrics of all micro-batches, fetched at once."""
    every = [torch.as_tensor(value, dtype=torch.double, device=device) for part in parts for value in part.values()]
    numbers = iter(torch.stack(every).tolist() if every else [])
    return [{name: next(numbers) for name in part} for part in parts]


def sum_metrics(parts: Sequence[dict[str, float]]) -> dict[str, float]:
    """Metrics of micro-batches as those of the whole."""
    found: dict[str, float] = {}
    for part in parts:
        for name, value in part.items():
            largest = name.endswith("_max")
            found[name] = max(found.get(name, value), value) if largest else found.get(name, 0.0) + value
    return found


def _check_loss(loss: float) -> None:
    if not math.isfinite(loss):
        raise TrainingFault(f"the loss is {loss}; no weight was changed by it")


def make_learner(args: PolicyArguments) -> Learner:
    """Policy, critic where the algorithm has one, and the reference where there is a KL to it."""
    with_critic = isinstance(args, CriticArguments)
    return Learner(
        args,
        critic=args.critic if with_critic else "none",
        critic_lr=args.critic_lr if with_critic else 0.0,
        critic_head_lr=args.critic_head_lr if with_critic else 0.0,
        reference=args.kl_coef > 0,
        temperature=args.temperature,
        total_steps=args.iterations * (args.epochs + (args.critic_epochs if with_critic else 0)) * args.minibatches,
    )


# ---------------------------------------------------------------------- before the update


class BatchScores(NamedTuple):
    """The models' view of a batch before the update; `[trajectories, tokens]` each."""

    old: Tensor
    reference: Tensor | None
    values: Tensor  # 0 where there is no critic
    values_after: Tensor
    bootstrap: Tensor  # [trajectories]
    metrics: Mapping[str, float] = MappingProxyType({})


def score(args: PolicyArguments, learner: Learner, batch: Batch) -> BatchScores:
    """Old and reference log-probabilities, and the critic's values where there is one."""
    if not len(batch):
        raise TrainingFault("no reply of this iteration holds a token; do the prompts fill the model's context?")
    old, metrics = old_logprobs(args, learner, batch)
    reference = batch.by_trajectory(learner.reference_logprobs(batch.rows)) if args.kl_coef else None
    if not isinstance(args, CriticArguments):
        nothing = torch.zeros_like(old)
        return BatchScores(old, reference, nothing, nothing, torch.zeros(len(batch)), metrics)
    before, after = map(batch.by_trajectory, learner.values(batch.rows))
    return BatchScores(old, reference, before, after, bootstrap(args, learner, batch), metrics)


def start_critic(
    args: CriticArguments,
    learner: Learner,
    batch: Batch,
    scores: BatchScores,
    advantages: Callable[[Any, Batch, BatchScores], Estimate],
) -> BatchScores:
    """Before the first update the critic is 0 everywhere: let it be the mean return instead, and score again."""
    if learner.steps or args.critic_start == "zero":
        return scores
    estimate = advantages(args, batch, scores)
    assert learner.critic is not None
    learner.shards.put_back()
    with torch.no_grad():
        learner.critic.head.bias.fill_(float(estimate.returns[estimate.critic_mask].mean()))
    return score(args, learner, batch)


def old_logprobs(args: PolicyArguments, learner: Learner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
    """What ratios are taken to: as recorded or recomputed, and how far apart the two are where they need not agree."""
    wanted = args.old_logprobs == "recomputed" or correction_kind(args, learner.exact) != "none"
    wanted = wanted or not bool((batch.action_mask == batch.token_mask).all())  # observations have none
    if learner.exact and not wanted:
        return batch.logprobs, {}
    recomputed = batch.by_trajectory(learner.logprobs(batch.rows))
    trusted = args.old_logprobs == "behaviour" and not wanted
    return batch.logprobs if trusted else recomputed, mismatch(batch, recomputed)


def bootstrap(args: CriticArguments, learner: Learner, batch: Batch) -> Tensor:
    """The value after each trajectory's end: nonzero only where a limit cut it that the agent did not know."""
    limits = [trajectory.limit for trajectory in batch.trajectories]
    cut = bootstrap_values(torch.ones(len(batch)), limits, bootstrap_truncated=args.bootstrap_truncated).nonzero()[:, 0]
    last = torch.zeros(len(batch))
    if len(cut):
        last[cut] = learner.last_values([final_prompt(learner, batch.trajectories[index]) for index in cut.tolist()])
    return last


def kl_penalty(args: PolicyArguments, batch: Batch, scores: BatchScores) -> Tensor | None:
    """What every token pays for its divergence from the reference, with kl_in=reward."""
    if scores.reference is None or args.kl_in != "reward":
        return None
    return kl_rewards(scores.old, scores.reference, batch.action_mask, beta=args.kl_coef, kind=args.kl_kind)


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


class RunningRun(Protocol):
    """What an update asks of its run (`agentrl.trainers.run.Run`)."""

    learner: Learner
    iteration: int

    def rng(self, purpose: str) -> torch.Generator: ...

    def progress(self, what: str, total: int) -> Progress: ...


def update_policy(
    args: PolicyArguments,
    run: RunningRun,
    batch: Batch,
    scores: BatchScores,
    estimate: Estimate,
    policy_loss: PolicyLoss,
    unit: Unit = "token",
    *,
    weigh: Callable[[Tensor, Tensor], Tensor] | None = None,
    left_out: Tensor | None = None,
) -> dict[str, float]:
    """All optimiser steps of an iteration; the mean of their metrics.

    `policy_loss(args, logprobs, part)` is the algorithm's own. `unit` is what has a ratio of its own there; the loss is
    a mean over the same units unless `weigh(mask, turn_ends)` gives other weights, which a divergence in the loss then
    has, too; without them it is a mean over tokens. The policy does not learn from
    tokens of `left_out` (`[trajectories, tokens]`).
    """
    fixed, zero = correction(args, batch, scores.old, unit, run.learner.exact), torch.zeros_like(scores.old)
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
    own_weights, weigh = weigh is not None, weigh or partial(token_weights, unit)
    update = Update(args, run.learner, policy_loss, teach_after=estimate.turn_returns is not None)
    update.weigh_kl = own_weights
    passes, found, rng = critic_alone(args, run.iteration), [], run.rng("minibatches")
    parts = ((alone, part) for alone in passes for part in shuffled_parts(len(batch), args.minibatches, rng))
    with run.progress("learning sequences", len(passes) * len(batch.rows) // run.learner.processes.size) as progress:
        update.seen = progress.add
        for update.only_critic, part in parts:
            trajectories = set(part)
            indices = [index for index, row in enumerate(batch.rows) if row.trajectory in trajectories]
            minibatch = Part(*(batch.by_row(tensor, indices) for tensor in everything))
            minibatch = minibatch._replace(weights=weigh(minibatch.kept, minibatch.turn_ends))
            found.append(update.step([batch.rows[index] for index in indices], minibatch))
    found = found[: len(found) * args.epochs // len(passes)]  # further passes of the critic alone say nothing new
    names = dict.fromkeys(name for one in found for name in one)
    means = {name: sum(one.get(name, 0.0) for one in found) / len(found) for name in names}
    means |= {f"{name}_last": found[-1][name] for name in WEIGHTED if name in means}
    return means | dict(scores.metrics) | fixed.metrics | staleness(batch, run.iteration)


def critic_alone(args: PolicyArguments, iteration: int) -> list[bool]:
    """The passes over the data of an iteration: does only the critic learn?"""
    if not isinstance(args, CriticArguments):
        return [False] * args.epochs
    return [iteration < args.critic_warmup] * args.epochs + [True] * args.critic_epochs


class Update:
    """The losses of mini-batches. They are means over the whole mini-batch, however it is cut for memory."""

    def __init__(self, args: PolicyArguments, learner: Learner, policy_loss: PolicyLoss, *, teach_after: bool) -> None:
        self.args, self.learner, self.policy_loss, self.teach_after = args, learner, policy_loss, teach_after
        self.only_critic = False
        self.weigh_kl = False  # as the policy's loss; else the mean over all tokens
        self.seen: Seen = ignore

    def step(self, rows: Sequence[Row], minibatch: Part) -> dict[str, float]:
        """One optimiser step."""
        masks = ("mask", "kept", "critic_mask", "turn_ends")
        self.counts = {name: max(1, int(getattr(minibatch, name).sum())) for name in masks}
        entropy = "learned" if self.args.entropy_coef else "watched"

        def loss_of(indices: list[int]) -> tuple[Tensor, dict[str, Tensor]]:
            self.seen(len(indices))
            chosen = [rows[index] for index in indices]
            width = max(len(row.targets) for row in chosen)
            here = Part(*(tensor[indices, :width] for tensor in minibatch))
            part = Part(*(upload(tensor, self.learner.device) for tensor in here))
            out = self.learner.outputs(chosen, entropy=entropy, only_critic=self.only_critic)
            policy, metrics = self._policy(out, part)
            critic, more = self._critic(
                out, part, taught=bool(here.critic_mask.any()), ended=bool(here.turn_ends.any())
            )
            return critic if self.only_critic else policy + critic, metrics | more

        return with_explained_variance(self.learner.step(rows, loss_of))

    def _policy(self, out: Outputs, part: Part) -> Loss:
        """The algorithm's own loss, an entropy bonus, and the KL to the reference where it is paid in the loss."""
        args, tokens = self.args, self.counts["mask"]
        assert out.entropy is not None
        loss, clips = self.policy_loss(args, out.logprobs, part)
        entropy = masked_sum(out.entropy, part.mask) / tokens
        metrics = {"policy": loss.detach(), "entropy": entropy.detach()}
        clips |= policy_drift(log_ratios(out.logprobs, part.old, part.kept), part.kept)
        share = part.kept.sum() / self.counts["kept"]
        as_they_are = {name for name in clips if name.endswith("_max")} | {*WEIGHTED}
        metrics |= {name: value if name in as_they_are else share * value for name, value in clips.items()}
        if args.entropy_coef:
            loss = loss - args.entropy_coef * entropy
        if args.kl_coef:
            metrics["kl"] = (
                masked_sum(kl_estimate(out.logprobs, part.reference, part.mask), part.mask).detach() / tokens
            )
        if args.kl_coef and args.kl_in == "loss":
            divergence = kl_estimate(out.logprobs, part.reference, part.mask, args.kl_kind)
            mean = (part.weights * divergence).sum() if self.weigh_kl else masked_sum(divergence, part.mask) / tokens
            loss = loss + args.kl_coef * mean
        return Loss(loss, metrics)

    def _critic(self, out: Outputs, part: Part, *, taught: bool, ended: bool) -> Loss:
        """The critic's loss where it is taught; for bi-level GAE its values after turns learn, too.

        Whether there is such a place, and a turn that ends, is asked before the part goes to a GPU.
        """
        args, places = self.args, self.counts["critic_mask"]
        loss, metrics = torch.zeros((), device=part.mask.device), {}
        if not isinstance(args, CriticArguments):
            return Loss(loss, metrics)
        assert out.values is not None and out.values_after is not None
        if taught:
            clip = {"old_values": part.old_values, "clip": args.critic_clip}
            loss, means = critic_loss(out.values, part.returns, part.critic_mask, count=places, **clip)
            share = part.critic_mask.sum() / places
            metrics = {"critic": loss.detach()} | {name: share * value for name, value in means.items()}
            metrics |= {name: value / places for name, value in moments(out.values, part).items()}
        if self.teach_after and ended:
            ends = self.counts["turn_ends"]
            loss = loss + critic_loss(out.values_after, part.turn_returns, part.turn_ends, count=ends).loss
        return Loss(args.critic_coef * loss, metrics)


@torch.no_grad()
def moments(values: Tensor, part: Part) -> dict[str, Tensor]:
    """Sums from which the explained variance of a whole mini-batch follows; in double precision, as they cancel."""
    returns = torch.where(part.critic_mask, part.returns, 0.0).double()
    missed = returns - torch.where(part.critic_mask, values, 0.0).double()
    sums = (returns.sum(), returns.square().sum(), missed.sum(), missed.square().sum())
    return dict(zip(MOMENTS, sums, strict=True))


def with_explained_variance(metrics: dict[str, float]) -> dict[str, float]:
    """1 - var(Y - V) / var(Y) in place of the moments: 1 is a perfect critic; 0 where all returns are equal."""
    if MOMENTS[0] not in metrics:
        return metrics
    mean, square, missed, missed_square = (metrics.pop(name) for name in MOMENTS)
    spread = square - mean**2
    explained = 1 - (missed_square - missed**2) / spread if spread > 1e-12 * square else 0.0
    return {**metrics, "explained_variance": explained}
