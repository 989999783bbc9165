"""Groups: collecting several trajectories of each task, and comparing them with each other in place of a critic.

A trajectory that a fault cut short, or whose reward a judge still owes, is not a member of its group: the group is
smaller then, and its mean and deviation are those of the others. A trajectory that is left alone is put aside, since
there is nothing to compare it with. One in which the model wrote nothing has no token to train, but its reward counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import torch
from torch import Tensor

from agentrl.rollout.trajectory import Trajectory
from agentrl.trainers.advantages import Labels
from agentrl.trainers.arguments import PolicyArguments
from agentrl.trainers.batch import Batch
from agentrl.trainers.run import Run
from agentrl.trainers.token_budget import TrainingFault
from agentrl.trainers.update import BatchScores, kl_penalty

Group = list[Trajectory]
EvenBy = Literal["outcome", "reward"]


# ---------------------------------------------------------------------- collecting


def collect_groups(
    run: Run, episodes: int, group_size: int, extra_rounds: int = 0, even_by: EvenBy = "outcome"
) -> tuple[list[Trajectory], dict[str, float]]:
    """The trajectories of an iteration that can be compared, and metrics of their groups."""
    first = groups_of(run.collect(episodes, group_size))
    chosen, further = first, {}
    if extra_rounds:
        chosen, further = replaced(run, first, episodes, group_size, extra_rounds, even_by)
    found = [trajectory for group in chosen if len(group) > 1 for trajectory in group]
    if not found:
        raise TrainingFault("no task of this iteration has two trajectories whose reward is known")
    return found, group_metrics(first, even_by) | further


def replaced(
    run: Run, groups: list[Group], episodes: int, size: int, rounds: int, even_by: EvenBy
) -> tuple[list[Group], dict[str, float]]:
    """Groups that differ within, from at most `rounds` further rounds; the first ones again if there is none."""
    wanted, played = episodes // size, 0
    useful = [group for group in groups if not is_even(group, even_by)]
    while len(useful) < wanted and played < rounds:
        played += 1
        further = groups_of(run.collect((wanted - len(useful)) * size, size, extra=played))
        useful += [group for group in further if not is_even(group, even_by)]
    return useful or groups, {"extra_rounds": float(played), "missing_groups": 1 - len(useful) / wanted}


def groups_of(trajectories: Sequence[Trajectory]) -> list[Group]:
    """By their group id, in order."""
    found: dict[str, Group] = {}
    for trajectory in trajectories:
        found.setdefault(group_name(trajectory), []).append(trajectory)
    return list(found.values())


def group_name(trajectory: Trajectory) -> str:
    """A trajectory without a group id is a group of one."""
    return str(trajectory.group_id or trajectory.id)


def is_even(group: Group, by: EvenBy = "outcome") -> bool:
    """Whether all of them did the task equally well (or earned the same), so that comparing them teaches nothing."""
    found = [outcome(one) if by == "outcome" else one.reward or 0.0 for one in group]
    return len({round(each, 6) for each in found}) == 1


def outcome(trajectory: Trajectory) -> float:
    """How well the task was done: success, or where that is a matter of degree the reward for it. What turns cost and
    what form earns are no part of it. The whole reward where the environment says nothing of success."""
    steps = trajectory.steps
    if any("graded" in step.info for step in steps):
        return sum(step.reward_terms.get(name, 0.0) for step in steps for name in step.info.get("graded", ()))
    if any("success" in step.info for step in steps):
        return float(any(step.info.get("success") for step in steps))
    return trajectory.reward or 0.0


def group_metrics(groups: Sequence[Group], even_by: EvenBy = "outcome") -> dict[str, float]:
    """Shares of the first round's groups: those whose members all did equally well, and those of one member."""
    lone = sum(len(group) == 1 for group in groups)
    level = sum(is_even(group, even_by) for group in groups if len(group) > 1)
    return {"zero_variance_groups": level / len(groups), "singleton_groups": lone / len(groups)}


# ---------------------------------------------------------------------- comparing


def group_advantages(
    args: PolicyArguments,
    batch: Batch,
    scores: BatchScores,
    compare: Callable[[Tensor, Labels], Tensor],
    extra: Tensor | None = None,
) -> Tensor:
    """How each trajectory of the batch compares with its group, `[trajectories]`; `extra` is added to its rewards."""
    everyone = [*batch.trajectories, *batch.silent]
    earned = torch.tensor([args.reward_scale * sum(step.reward for step in one.steps) for one in everyone])
    own, kl = torch.zeros(len(batch)) if extra is None else extra, kl_penalty(args, batch, scores)
    if kl is not None:
        own = own + kl.sum(1)
    earned[: len(batch)] += own
    return compare(earned, [group_name(one) for one in everyone])[: len(batch)].float()
