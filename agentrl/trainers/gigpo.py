"""GiGPO: groups within groups. A trajectory is compared with its group, and each of its steps with the other steps of
the group that began from the very same observation. No critic, and credit for single steps all the same.

The advantage of a step is the trajectory's lead plus `step_weight` times the step's: its discounted return against the
returns of those who stood in the same place. A step nobody else of the group was at gets the trajectory's lead alone.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from agentrl.core.arguments import finite_number
from agentrl.core.errors import ConfigError
from agentrl.rollout.trajectory import Step, Trajectory
from agentrl.trainers.actor_critic import BatchScores, kl_penalty, make_learner, score
from agentrl.trainers.advantages import Estimate, gigpo
from agentrl.trainers.group_relative import GroupArguments, collect_groups, group_name, without_critic
from agentrl.trainers.masked import fraction
from agentrl.trainers.objective import TOKENS
from agentrl.trainers.rows import Batch
from agentrl.trainers.run import Run, Say
from agentrl.trainers.update import improve


@dataclass(kw_only=True)
class GiGPO(GroupArguments):
    """Train by GiGPO."""

    prompt_style: Literal["conversation", "step"] = "step"
    """Prompts hold the current observation and recent actions, or the whole dialogue."""
    gamma: float = 0.95
    """Discount between steps."""
    step_weight: float = 1.0
    """Weight of the comparison of steps; 0: trajectories alone are compared."""
    normalise: Literal["mean", "mean_std"] = "mean_std"
    """Leads over the mean, or over the mean and divided by the deviation.

    Where every move costs a little, try "mean": on Sokoban it ended at 0.667 and "mean_std" at 0.606. At a place from
    which everybody fails the costs are all that differs, and the deviation makes them as large as success elsewhere.
    """
    invalid_penalty: float = 0.1
    """What a step costs itself, and no step before it, when its action could not be run; in units of reward."""

    def __post_init__(self) -> None:
        super().__post_init__()
        fraction("gamma", self.gamma)
        for name in ("step_weight", "invalid_penalty"):
            if finite_number(name, getattr(self, name)) < 0:
                raise ConfigError(f"{name} must not be negative")


def train(args: GiGPO, say: Say | None = None) -> Path:
    """Run to the end (or on from a checkpoint) and return the run folder."""
    learner = make_learner(args)
    with Run(args, "gigpo", learner, say) as run:
        for _ in run.iterations():
            played, figures = collect_groups(run, args.episodes, args.group_size, args.extra_rounds)
            batch = Batch(played)
            with run.time("update"):
                scores = score(args, learner, batch)
                losses = improve(args, run, batch, scores, advantages(args, batch, scores), TOKENS)
                learner.publish()
            run.log_training(losses | figures | {"anchored_steps": anchored_share(played)})
        return run.close()


def advantages(args: GiGPO, batch: Batch, scores: BatchScores) -> Estimate:
    """Credit of every step, on its tokens."""
    everyone = [*batch.trajectories, *batch.silent]
    steps = [step for trajectory in everyone for step in trajectory.steps]
    owners = [number for number, trajectory in enumerate(everyone) for _ in trajectory.steps]
    credit = gigpo(
        rewards_by_step(args, batch, scores, steps),
        [group_name(everyone[owner]) for owner in owners],
        owners,
        torch.tensor([index for trajectory in everyone for index in range(len(trajectory.steps))]),
        [anchor(step) for step in steps],
        gamma=args.gamma,
        step_weight=args.step_weight,
        normalise=args.normalise,
        penalties=torch.tensor([args.reward_scale * args.invalid_penalty * (not is_valid(step)) for step in steps]),
    )
    return without_critic(torch.where(batch.action_mask, credit[step_numbers(batch)], 0.0))


def rewards_by_step(args: GiGPO, batch: Batch, scores: BatchScores, steps: Sequence[Step]) -> Tensor:
    """What each step earned, less the divergence of its tokens where that is paid in rewards."""
    earned = torch.tensor([args.reward_scale * step.reward for step in steps])
    kl = kl_penalty(args, batch, scores)
    if kl is None:
        return earned
    return earned.index_add(0, step_numbers(batch)[batch.action_mask], kl[batch.action_mask])


def step_numbers(batch: Batch) -> Tensor:
    """For every token, the number of its step among all steps of the batch."""
    lengths = torch.tensor([len(trajectory.steps) for trajectory in batch.trajectories])
    return batch.steps + (lengths.cumsum(0) - lengths)[:, None]


def is_valid(step: Step) -> bool:
    """An environment that does not say counts every action as valid."""
    return bool(step.info.get("valid", True))


def anchor(step: Step) -> str:
    """The same for steps that saw exactly the same, pictures included."""
    return hashlib.sha256(json.dumps([step.observation, *step.images]).encode()).hexdigest()


def anchored_share(trajectories: Sequence[Trajectory]) -> float:
    """The share of steps that have another step to be compared with."""
    places = [(group_name(one), anchor(step)) for one in trajectories for step in one.steps]
    counts = Counter(places)
    return sum(counts[place] > 1 for place in places) / len(places)
