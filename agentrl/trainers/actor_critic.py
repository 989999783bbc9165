"""What the algorithms with a critic have in common before the update: options, models, and what the models say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from agentrl.core.arguments import finite_number, whole_number
from agentrl.core.errors import ConfigError
from agentrl.policies.chat import Prompt
from agentrl.rollout.trajectory import Trajectory
from agentrl.trainers.advantages import Estimate, bootstrap_values, kl_rewards, whiten
from agentrl.trainers.arguments import RunArguments
from agentrl.trainers.learner import Learner
from agentrl.trainers.memory import TrainingFault
from agentrl.trainers.rows import Batch


@dataclass(kw_only=True)
class PolicyArguments(RunArguments):
    """Options of everything that improves a policy by its own episodes."""

    episodes: int = 128
    """Episodes of an iteration."""
    group_size: int = 1
    """Play every task so many times within an iteration."""
    epochs: int = 1
    """Passes over the data of an iteration."""
    clip_low: float = 0.2
    """How far a probability ratio may fall below 1."""
    clip_high: float = 0.2
    """How far it may rise above 1."""
    dual_clip: float = 0.0
    """Cap of the loss where an advantage is negative (3 is usual); 0: none."""
    kl_coef: float = 0.001
    """Weight of the divergence from the first policy; 0: no reference model."""
    kl_in: Literal["reward", "loss"] = "reward"
    """Where the divergence is paid."""
    kl_kind: Literal["k1", "k2", "k3"] = "k1"
    """How it is estimated; in the loss choose k2 or k3."""
    entropy_coef: float = 0.0
    """Weight of an entropy bonus."""
    reward_scale: float = 1.0
    """Rewards are multiplied by this before anything is computed from them."""
    old_logprobs: Literal["behaviour", "recomputed"] = "behaviour"
    """The ratio's denominator: as recorded while playing, or computed anew by the trainer (bf16 differs a little)."""
    correction: Literal["none", "decoupled", "truncated"] = "none"
    """For data of older policies: clip around the policy at the beginning of the update and weigh tokens by how much
    likelier they are under it than when they were played; above max_weight they are dropped, or weighed by that."""
    max_weight: float = 2.0
    """Of the correction."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("episodes", "group_size", "epochs"):
            whole_number(name, getattr(self, name), at_least=1)
        for name in ("kl_coef", "entropy_coef", "clip_low", "clip_high", "dual_clip"):
            if finite_number(name, getattr(self, name)) < 0:
                raise ConfigError(f"{name} must not be negative")
        if finite_number("reward_scale", self.reward_scale) <= 0:
            raise ConfigError(f"reward_scale must be above 0, not {self.reward_scale!r}")
        if finite_number("max_weight", self.max_weight) <= 0:
            raise ConfigError(f"max_weight must be above 0, not {self.max_weight!r}")
        if self.episodes % self.group_size:
            raise ConfigError(f"episodes ({self.episodes}) must be a multiple of group_size ({self.group_size})")


@dataclass(kw_only=True)
class CriticArguments(PolicyArguments):
    """Options that PPO and StepPO share."""

    critic: Literal["own", "shared", "head"] = "own"
    """A critic with a body of its own, a head on the policy's body that trains it too, or a head that only reads it."""
    critic_lr: float = 1e-5
    """Learning rate of the critic."""
    critic_coef: float = 1.0
    """Weight of the critic's loss."""
    critic_clip: float = 0.0
    """How far values may move in one update; 0: as far as they want."""
    critic_warmup: int = 0
    """Iterations in which only the critic learns."""
    bootstrap_truncated: bool = False
    """Also bootstrap behind limits that are part of the task."""
    whiten_advantages: bool = True
    """Advantages with mean 0 and deviation 1 over the batch."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("critic_coef", "critic_clip"):
            if finite_number(name, getattr(self, name)) < 0:
                raise ConfigError(f"{name} must not be negative")
        whole_number("critic_warmup", self.critic_warmup, at_least=0)
        if finite_number("critic_lr", self.critic_lr) <= 0:
            raise ConfigError(f"critic_lr must be above 0, not {self.critic_lr!r}")


def make_learner(args: PolicyArguments) -> Learner:
    """Policy, critic and, where something hangs on it, the reference."""
    with_critic = isinstance(args, CriticArguments)
    return Learner(
        args,
        critic=args.critic if with_critic else "none",
        critic_lr=args.critic_lr if with_critic else 0.0,
        reference=args.kl_coef > 0,
        temperature=args.temperature,
        total_steps=args.iterations * args.epochs * args.minibatches,
    )


class BatchScores(NamedTuple):
    """What the models said before the update; `[trajectories, tokens]` each."""

    old: Tensor
    reference: Tensor | None
    values: Tensor  # 0 where there is no critic
    values_after: Tensor
    bootstrap: Tensor  # [trajectories]


def score(args: PolicyArguments, learner: Learner, batch: Batch) -> BatchScores:
    """Old and reference log-probabilities, and the critic's values where there is one."""
    if not len(batch):
        raise TrainingFault("no reply of this iteration holds a token; do the prompts fill the model's context?")
    asked = args.old_logprobs == "recomputed" or args.correction != "none"
    recompute = asked or not bool((batch.action_mask == batch.token_mask).all())
    old = batch.by_trajectory(learner.logprobs(batch.rows)) if recompute else batch.logprobs
    reference = batch.by_trajectory(learner.reference_logprobs(batch.rows)) if args.kl_coef else None
    if not isinstance(args, CriticArguments):
        nothing = torch.zeros_like(old)
        return BatchScores(old, reference, nothing, nothing, torch.zeros(len(batch)))
    before, after = learner.values(batch.rows)
    return BatchScores(
        old, reference, batch.by_trajectory(before), batch.by_trajectory(after), bootstrap(args, learner, batch)
    )


def bootstrap(args: CriticArguments, learner: Learner, batch: Batch) -> Tensor:
    """The value behind each trajectory's end: nonzero only where a limit cut it that the agent did not know."""
    limits = [trajectory.limit for trajectory in batch.trajectories]
    counted = {"external", "task"} if args.bootstrap_truncated else {"external"}
    cut = [index for index, limit in enumerate(limits) if limit in counted]
    last = torch.zeros(len(batch))
    if cut:
        last[cut] = learner.last_values([final_prompt(learner, batch.trajectories[index]) for index in cut])
    return bootstrap_values(last, limits, bootstrap_truncated=args.bootstrap_truncated)


def final_prompt(learner: Learner, trajectory: Trajectory) -> Prompt:
    """What the policy would have been asked next."""
    steps = trajectory.steps if trajectory.prompt_style == "conversation" else []
    names = [name for step in steps for name in step.images] + trajectory.final_images
    shown = [trajectory.pictures[name] for name in names]
    pixels, grids, _ = learner.engine.encoder.pictures(shown) if shown else (None, None, [])
    return Prompt(trajectory.final_prompt_ids or [], pixels, grids)


def kl_penalty(args: PolicyArguments, batch: Batch, scores: BatchScores) -> Tensor | None:
    """What every token pays for being unlike the reference, where that is paid in rewards."""
    if scores.reference is None or args.kl_in != "reward":
        return None
    return kl_rewards(scores.old, scores.reference, batch.action_mask, beta=args.kl_coef, kind=args.kl_kind)


def whitened(args: CriticArguments, batch: Batch, found: Estimate) -> Estimate:
    """Statistics over the places where the estimator looked at the critic (turn ends for Turn-PPO)."""
    if not args.whiten_advantages:
        return found
    mask = batch.token_mask if bool((found.critic_mask & ~batch.action_mask).any()) else batch.action_mask
    return found._replace(advantages=whiten(found.advantages, mask, found.critic_mask))
