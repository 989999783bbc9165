"""Groups: collecting several trajectories of each task, and comparing them with each other in place of a critic.

A trajectory that a fault cut short, or whose reward a judge still owes, is not a member of its group: the group is
smaller then, and its mean and deviation are those of the others. A trajectory that is left alone is put aside, since
there is nothing to compare it with. One in which the model wrote nothing has no token to train, but its reward counts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import torch
from torch import Tensor

from agentrl.core.errors import ConfigError
from agentrl.rollout.trajectory import Trajectory
from agentrl.trainers.arguments.policy import PolicyArguments
from agentrl.trainers.update.advantages import Estimate
from agentrl.trainers.update.batch import Batch
from agentrl.trainers.update.learner import TrainingFault
from agentrl.trainers.update.policy import BatchScores, kl_penalty

if TYPE_CHECKING:
    from agentrl.trainers.run.run import Run

Group = list[Trajectory]
ZeroVarianceBy = Literal["outcome", "reward"]
Labels = Tensor | Sequence[Hashable]
STD_EPS = 1e-6


# ---------------------------------------------------------------------- collecting


def collect_groups(
    run: Run,
    episodes: int,
    group_size: int,
    dynamic_sampling_rounds: int = 0,
    zero_variance_by: ZeroVarianceBy = "outcome",
    drop_zero_variance: bool = False,
) -> tuple[list[Trajectory], dict[str, float]]:
    """The trajectories of an iteration that can be compared, and metrics of their groups.

    With `dynamic_sampling_rounds`, groups of zero variance are replaced by those of at most so many further rounds;
    with `drop_zero_variance` they are left out. If all have zero variance, the first ones stay.
    """
    chosen = first = groups_of(run.collect(episodes, group_size))
    metrics = group_metrics(first, zero_variance_by)
    if dynamic_sampling_rounds or drop_zero_variance:
        wanted, played = episodes // group_size, 0
        useful = [group for group in first if not has_zero_variance(group, zero_variance_by)]
        while len(useful) < wanted and played < dynamic_sampling_rounds:
            played += 1
            further = groups_of(run.collect((wanted - len(useful)) * group_size, group_size, extra=played))
            useful += [group for group in further if not has_zero_variance(group, zero_variance_by)]
        chosen = useful or first
        metrics |= {"dynamic_sampling_rounds": float(played), "missing_groups": 1 - len(useful) / wanted}
    found = [trajectory for group in chosen if len(group) > 1 for trajectory in group]
    if not found:
        raise TrainingFault("no task of this iteration has two trajectories whose reward is known")
    return found, metrics


def groups_of(trajectories: Sequence[Trajectory]) -> list[Group]:
    """By their group id, in order."""
    found: dict[str, Group] = {}
    for trajectory in trajectories:
        found.setdefault(group_name(trajectory), []).append(trajectory)
    return list(found.values())


def group_name(trajectory: Trajectory) -> str:
    """A trajectory without a group id is a group of one."""
    return str(trajectory.group_id or trajectory.id)


def has_zero_variance(group: Group, by: ZeroVarianceBy = "outcome") -> bool:
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


def group_metrics(groups: Sequence[Group], zero_variance_by: ZeroVarianceBy = "outcome") -> dict[str, float]:
    """Shares of the first round's groups: those whose members all did equally well, and those of one member."""
    lone = sum(len(group) == 1 for group in groups)
    level = sum(has_zero_variance(group, zero_variance_by) for group in groups if len(group) > 1)
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


def without_critic(advantages: Tensor) -> Estimate:
    """Advantages alone: nothing for a critic to learn."""
    return Estimate(advantages, torch.zeros_like(advantages), torch.zeros_like(advantages, dtype=torch.bool))


def to_tokens(per_row: Tensor, mask: Tensor) -> Tensor:
    """One number per row, given to all of the row's tokens inside `mask`; 0 elsewhere."""
    return torch.where(mask, per_row[:, None], 0.0)


class Grouped(NamedTuple):
    """For every score, in float64: in float32 a mean's rounding, divided by a deviation of 0 + 1e-6, would give three
    equal scores of 0.1 an advantage."""

    scores: Tensor
    counts: Tensor  # scores in its group
    means: Tensor  # over them
    stds: Tensor  # unbiased; 0 for a group of one


def grouped_scores(scores: Tensor, groups: Labels) -> Grouped:
    """Scores with the statistics of their groups; `ConfigError` for one that is not finite."""
    if not bool(scores.isfinite().all()):
        raise ConfigError("scores must be finite; leave out trajectories whose reward is not known yet")
    table: dict[Hashable, int] = {}
    labels = groups.tolist() if isinstance(groups, Tensor) else groups
    ids = torch.tensor([table.setdefault(label, len(table)) for label in labels], device=scores.device)
    scores = scores.double()

    def sums(x: Tensor) -> Tensor:
        return x.new_zeros(len(table)).index_add(0, ids, x)[ids]

    counts = sums(torch.ones_like(scores))
    means = sums(scores) / counts
    stds = (sums((scores - means).square()) / (counts - 1).clamp(min=1)).sqrt()
    return Grouped(scores, counts, means, stds)


def grpo(scores: Tensor, groups: Labels) -> Tensor:
    """`(s - mean) / (std + 1e-6)` over the group, std unbiased (GRPO, outcome form). `[B]` in, `[B]` out.

    `scores[b]` is the reward of trajectory b, `groups[b]` any label. A group of one has nothing to compare with: mean
    0, std 1, so it keeps its score (within the 1e-6).
    """
    g = grouped_scores(scores, groups)
    alone = g.counts == 1
    centred = g.scores - torch.where(alone, 0.0, g.means)
    return (centred / (torch.where(alone, 1.0, g.stds) + STD_EPS)).to(scores.dtype)


def dr_grpo(scores: Tensor, groups: Labels) -> Tensor:
    """`s - mean` over the group (Dr. GRPO): without the std, which favours groups that are nearly all right or wrong.

    A group of one keeps its score, as in `grpo`.
    """
    g = grouped_scores(scores, groups)
    return (g.scores - torch.where(g.counts == 1, 0.0, g.means)).to(scores.dtype)


def rloo(scores: Tensor, groups: Labels) -> Tensor:
    """`s - mean of the others` (REINFORCE leave-one-out) `= n/(n-1) * (s - mean)`.

    A group of one gets 0: without others there is no baseline, and a raw score would be a far larger step than any
    other row takes. (One public library gives the raw score.)
    """
    g = grouped_scores(scores, groups)
    others = g.counts / (g.counts - 1).clamp(min=1)
    return torch.where(g.counts == 1, 0.0, others * (g.scores - g.means)).to(scores.dtype)
