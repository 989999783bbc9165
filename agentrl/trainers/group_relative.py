"""What the algorithms share that compare trajectories of one task with each other, and need no critic for it.

A trajectory that a fault cut short, or whose reward a judge still owes, is no member of its group: the group is smaller
then, and its mean and deviation are those of the others. A trajectory that is left alone is put aside, since there is
nothing to compare it with. One in which the model wrote nothing has no token to train, but its reward counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError
from agentrl.rollout.trajectory import Trajectory
from agentrl.trainers.actor_critic import BatchScores, PolicyArguments, kl_penalty
from agentrl.trainers.advantages import Estimate
from agentrl.trainers.masked import Labels
from agentrl.trainers.memory import TrainingFault
from agentrl.trainers.rows import Batch
from agentrl.trainers.run import Run

Group = list[Trajectory]


@dataclass(kw_only=True)
class GroupArguments(PolicyArguments):
    """Options of the algorithms that compare the trajectories of a group."""

    group_size: int = 8
    """Play every task so many times within an iteration."""
    kl_in: Literal["reward", "loss"] = "loss"
    """Where the divergence is paid."""
    kl_kind: Literal["k1", "k2", "k3"] = "k3"
    """How it is estimated."""
    extra_rounds: int = 0
    """Dynamic sampling: groups whose trajectories all earned the same teach nothing; play other tasks in their place,
    at most so many times within an iteration. 0: keep them."""

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("extra_rounds", self.extra_rounds, at_least=0)
        check_group_size(self.group_size)


def check_group_size(size: int) -> None:
    """`ConfigError` for a group of one."""
    if size < 2:
        raise ConfigError("group_size must be at least 2: a group of one has nothing to be compared with")


# ---------------------------------------------------------------------- playing


def collect_groups(
    run: Run, episodes: int, group_size: int, extra_rounds: int = 0
) -> tuple[list[Trajectory], dict[str, float]]:
    """The trajectories of an iteration that can be compared, and figures about their groups."""
    first = groups_of(run.collect(episodes, group_size))
    chosen, further = first, {}
    if extra_rounds:
        chosen, further = replaced(run, first, episodes, group_size, extra_rounds)
    found = [trajectory for group in chosen if len(group) > 1 for trajectory in group]
    if not found:
        raise TrainingFault("no task of this iteration has two trajectories whose reward is known")
    return found, group_figures(first) | further


def replaced(
    run: Run, groups: list[Group], episodes: int, size: int, rounds: int
) -> tuple[list[Group], dict[str, float]]:
    """Groups that differ within, from at most `rounds` further rounds; the first ones again if there is none."""
    wanted, played = episodes // size, 0
    useful = [group for group in groups if not even(group)]
    while len(useful) < wanted and played < rounds:
        played += 1
        further = groups_of(run.collect((wanted - len(useful)) * size, size, extra=played))
        useful += [group for group in further if not even(group)]
    return useful or groups, {"extra_rounds": float(played), "missing_groups": 1 - len(useful) / wanted}


def groups_of(trajectories: Sequence[Trajectory]) -> list[Group]:
    """By their group id, in order."""
    found: dict[str, Group] = {}
    for trajectory in trajectories:
        found.setdefault(group_name(trajectory), []).append(trajectory)
    return list(found.values())


def group_name(trajectory: Trajectory) -> str:
    """A trajectory without a group is one of its own."""
    return str(trajectory.group_id or trajectory.id)


def even(group: Group) -> bool:
    """Did all of them earn the same? Then none of them leads."""
    return len({round(trajectory.reward or 0.0, 6) for trajectory in group}) == 1


def group_figures(groups: Sequence[Group]) -> dict[str, float]:
    """Shares of the groups that were played first: those all of whose members earned the same, those of one member."""
    lone = sum(len(group) == 1 for group in groups)
    level = sum(even(group) for group in groups if len(group) > 1)
    return {"even_groups": level / len(groups), "lone_groups": lone / len(groups)}


# ---------------------------------------------------------------------- credit


def lead(
    args: PolicyArguments,
    batch: Batch,
    scores: BatchScores,
    compare: Callable[[Tensor, Labels], Tensor],
    extra: Tensor | None = None,
) -> Tensor:
    """What each trajectory of the batch has over its group, `[trajectories]`; `extra` is added to what it earned."""
    everyone = [*batch.trajectories, *batch.silent]
    earned = torch.tensor([args.reward_scale * sum(step.reward for step in one.steps) for one in everyone])
    own, kl = torch.zeros(len(batch)) if extra is None else extra, kl_penalty(args, batch, scores)
    if kl is not None:
        own = own + kl.sum(1)
    earned[: len(batch)] += own
    return compare(earned, [group_name(one) for one in everyone])[: len(batch)].float()


def without_critic(advantages: Tensor) -> Estimate:
    """Credit alone: nothing for a critic to learn."""
    return Estimate(advantages, torch.zeros_like(advantages), torch.zeros_like(advantages, dtype=torch.bool))
