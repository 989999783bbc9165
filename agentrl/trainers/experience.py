"""What a phase of off-policy learning learns from: trajectories, how they ended, and which of their actions count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from agentrl.core.errors import ConfigError
from agentrl.rollout.trajectory import Trajectory
from agentrl.trainers.batch import Batch, Row
from agentrl.trainers.losses import turn_numbers


@dataclass
class Experience:
    """Trajectories with their outcomes.

    `outcomes[i]` is 1 for a success and 0 for a failure (or a probability), by the true evaluator or a reward model.
    `kept[i][t]`: is step t of trajectory i learned from, as an action by the actor and as a state by the critic? The
    steps around it still say what it led to. Replay keeps some steps of a trajectory; what was just played, all.
    """

    trajectories: list[Trajectory]
    outcomes: list[float]
    kept: list[list[bool]]

    def __post_init__(self) -> None:
        sizes = (len(self.trajectories), len(self.outcomes), len(self.kept))
        if len(set(sizes)) > 1:
            raise ConfigError("trajectories, outcomes and kept must go together; got {} {} {}".format(*sizes))
        for trajectory, outcome, kept in zip(self.trajectories, self.outcomes, self.kept, strict=True):
            if not isinstance(outcome, int | float) or not 0.0 <= outcome <= 1.0:  # NaN is not
                raise ConfigError(f"outcomes must lie between 0 and 1; got {outcome!r} for {trajectory.id or 'one'}")
            if len(kept) != len(trajectory.steps):
                raise ConfigError(
                    f"kept must have a flag for every step; got {len(kept)} for {len(trajectory.steps)} steps"
                )

    @classmethod
    def of(cls, trajectories: Sequence[Trajectory], outcomes: Sequence[float]) -> Experience:
        """All steps of some trajectories."""
        return cls(list(trajectories), list(outcomes), [[True] * len(one.steps) for one in trajectories])

    def __add__(self, other: Experience) -> Experience:
        """Both, one after the other."""
        return Experience(
            self.trajectories + other.trajectories, self.outcomes + other.outcomes, self.kept + other.kept
        )

    def __len__(self) -> int:
        return len(self.trajectories)

    @property
    def actions(self) -> int:
        """How many actions are learned from; a reply without a token is none."""
        return sum(
            keep and bool(step.response_ids)
            for trajectory, kept in zip(self.trajectories, self.kept, strict=True)
            for step, keep in zip(trajectory.steps, kept, strict=True)
        )

    def only(self, chosen: Sequence[bool]) -> Experience:
        """The trajectories that are chosen."""
        places = [place for place, wanted in enumerate(chosen) if wanted]
        return Experience(
            [self.trajectories[place] for place in places],
            [self.outcomes[place] for place in places],
            [self.kept[place] for place in places],
        )


class ActionTable:
    """An experience in rows of tokens and in a table of actions.

    The table is `[trajectories, actions]`: `mask` says where there is an action, `kept` which are learned from. Replies
    without a token are no actions, and trajectories without any are left out. `rows` are the token sequences of the
    actor; `states` are the same ones as the critic reads them: at the first token of each action, where the prompt is
    complete and nothing is written yet, and no further.
    """

    def __init__(self, experience: Experience) -> None:
        batch = Batch(experience.trajectories)
        spoken = [any(step.response_ids for step in one.steps) for one in experience.trajectories]
        places = [place for place, any_token in enumerate(spoken) if any_token]  # the batch leaves out the others
        pairs = zip(batch.trajectories, places, strict=True)
        steps = [list(zip(one.steps, experience.kept[place], strict=True)) for one, place in pairs]
        actions = [[(step.version, keep) for step, keep in each if step.response_ids] for each in steps]
        counts = torch.tensor([len(each) for each in actions], dtype=torch.long)
        self.rows = batch.rows
        self.states = [_at_first_tokens(row) for row in batch.rows]
        self.outcomes = torch.tensor([experience.outcomes[place] for place in places], dtype=torch.float32)
        self.mask = torch.arange(int(counts.max()) if len(counts) else 0) < counts[:, None]
        self.kept = torch.zeros_like(self.mask)
        self.kept[self.mask] = torch.tensor([keep for each in actions for _, keep in each], dtype=torch.bool)
        self.versions = torch.full(self.mask.shape, -1)  # of the policy that acted
        self.versions[self.mask] = torch.tensor([version for each in actions for version, _ in each], dtype=torch.long)

    def from_states(self, by_row: Sequence[Tensor]) -> Tensor:
        """The table of numbers that were read at the `states`, one flat tensor per row."""
        found = torch.zeros(self.mask.shape)
        found[self.mask] = torch.cat(list(by_row)) if by_row else torch.zeros(0)
        return found

    def to_states(self, table: Tensor) -> list[Tensor]:
        """Inverse of `from_states`: rows of a trajectory follow each other, and so do their actions."""
        return list(table[self.mask].split([len(row.targets) for row in self.states]))

    def to_tokens(self, table: Tensor) -> list[Tensor]:
        """One flat tensor per row of `rows`, in which all tokens of an action have its number."""
        numbers = [turn_numbers(torch.tensor([row.turn_ends]))[0] for row in self.rows]
        return [own[place] for own, place in zip(self.to_states(table), numbers, strict=True)]


def _at_first_tokens(row: Row) -> Row:
    begins = [0, *(place + 1 for place, ends in enumerate(row.turn_ends[:-1]) if ends)]
    first = [row.targets[place] for place in begins]
    steps = [row.steps[place] for place in begins]
    return Row(row.trajectory, row.ids[: first[-1] + 1], first, steps=steps, images=row.images)
