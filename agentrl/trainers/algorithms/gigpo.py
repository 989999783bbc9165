"""GiGPO: groups within groups. A trajectory is compared with its group, and each of its steps with the other steps of
the group that began in the very same state. No critic, and credit for single steps all the same.

The advantage of a step is the trajectory's plus `step_weight` times the step's own: its discounted return against the
returns of the steps that began in the same place. A step alone at its place has the trajectory's advantage,
less its own invalid_penalty.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from agentrl.rollout.trajectory import Step, Trajectory
from agentrl.trainers.arguments.policy import GiGPO
from agentrl.trainers.run.run import Report, Run
from agentrl.trainers.update.advantages import Estimate, discounted_returns
from agentrl.trainers.update.batch import Batch, padded
from agentrl.trainers.update.groups import Labels, collect_groups, dr_grpo, group_name, grpo, without_critic
from agentrl.trainers.update.learner import Learner, make_learner
from agentrl.trainers.update.losses import Loss, clipped_loss, log_ratios
from agentrl.trainers.update.policy import BatchScores, Part, kl_penalty, score, update_policy


def train(args: GiGPO, report: Report | None = print) -> Path:
    """Run to the end (or resume from a checkpoint) and return the run folder."""
    learner = make_learner(args)
    with Run(args, "gigpo", learner, report) as run:
        for _ in run.iterations():
            played, groups = collect_groups(
                run, args.episodes, args.group_size, args.dynamic_sampling_rounds, args.zero_variance_by
            )
            batch = Batch(played)
            with run.updating(batch) as rng:
                metrics = update(args, learner, batch, rng)
            run.log_training(metrics | groups | {"anchored_steps": anchored_share(args, played)})
        return run.close()


def update(args: GiGPO, learner: Learner, batch: Batch, rng: torch.Generator) -> dict[str, float]:
    """Learn from a batch; the metrics of its losses."""
    scores = score(args, learner, batch)
    estimate = advantages(args, batch, scores)
    metrics = update_policy(args, learner, batch, scores, estimate, policy_loss, rng)
    learner.publish()
    return metrics


def advantages(args: GiGPO, batch: Batch, scores: BatchScores) -> Estimate:
    """The advantage of every step, on its tokens."""
    everyone = [*batch.trajectories, *batch.silent]
    rewards = padded([torch.tensor([args.reward_scale * step.reward for step in one.steps]) for one in everyone])
    mask = padded([torch.ones(len(one.steps), dtype=torch.bool) for one in everyone])
    if (kl := kl_penalty(args, batch, scores)) is not None:
        rewards[: len(batch)].scatter_add_(1, batch.steps, kl)
    fine = args.reward_scale * args.invalid_penalty
    found = gigpo(
        rewards,
        mask,
        [group_name(one) for one in everyone],
        [anchor(args, step) for one in everyone for step in one.steps],
        gamma=args.gamma,
        step_weight=args.step_weight,
        normalise=args.normalise,
        penalties=padded([torch.tensor([fine * (not is_valid(step)) for step in one.steps]) for one in everyone]),
    )
    return without_critic(torch.where(batch.action_mask, found[: len(batch)].gather(1, batch.steps), 0.0))


def policy_loss(args: GiGPO, logprobs: Tensor, part: Part) -> Loss:
    """Clipped per token: `u = pi/pi_old`, `max(-u*A, -clip(u, 1-low, 1+high)*A)`, the mean over tokens."""
    ratio = log_ratios(logprobs, part.old, part.kept).exp()
    clip = {"clip_low": args.clip_low, "clip_high": args.clip_high, "dual_clip": args.dual_clip}
    return clipped_loss(ratio, part.advantages, part.kept, part.weights, **clip)


def is_valid(step: Step) -> bool:
    """An environment that does not say counts every action as valid."""
    return bool(step.info.get("valid", True))


def anchor(args: GiGPO, step: Step) -> str:
    """The same for steps that began in the same state, or else saw exactly the same, pictures included."""
    if args.anchors == "state" and "anchor" in step.info:
        return str(step.info["anchor"])
    return hashlib.sha256(json.dumps([step.observation, *step.images]).encode()).hexdigest()


def anchored_share(args: GiGPO, trajectories: Sequence[Trajectory]) -> float:
    """The share of steps that have another step to be compared with."""
    places = [(group_name(one), anchor(args, step)) for one in trajectories for step in one.steps]
    counts = Counter(places)
    return sum(counts[place] > 1 for place in places) / len(places)


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
    counts = Counter(places)
    alone = torch.tensor([counts[place] == 1 for place in places], dtype=torch.bool)
    step = torch.where(alone, -fines[mask], compare(returns[mask], places))
    found = torch.zeros_like(paid).masked_scatter(mask, episode[mask.nonzero()[:, 0]] + step_weight * step)
    return found.to(rewards.dtype)
