"""From trajectories to the token sequences that a model trains on.

A `Row` is one sequence of token ids as the policy really saw and produced them. Steps whose prompts continue each other
(conversation style) share one row; a step whose prompt starts anew has its own. Every action token is in one row.

Numbers about tokens live in two layouts. *By row*: `[rows, targets]`, one entry per target token, as the model gives
them. *By trajectory*: `[trajectories, tokens]`, in which a trajectory's rows follow each other, as the estimators want
them. Both are 0 (False) after the end. `Batch` turns one into the other; the sums below it work on either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from agentrl.core.errors import ConfigError
from agentrl.rollout.trajectory import Trajectory

Unit = Literal["token", "step", "sequence"]
NUMPY = {torch.bool: np.bool_, torch.long: np.int64, torch.float32: np.float32}  # quicker to fill from lists


@dataclass
class Row:
    """One sequence. `targets` are the places in `ids` whose tokens are learned from; the lists below go with them."""

    trajectory: int
    ids: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    acted: list[bool] = field(default_factory=list)  # False: an observation token, which only vanilla PPO looks at
    logprobs: list[float] = field(default_factory=list)  # of the policy that produced it; 0 for observations
    turn_ends: list[bool] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    versions: list[int] = field(default_factory=list)  # of the policy that produced it
    images: list[Any] = field(default_factory=list)
    facts: np.ndarray | None = None  # float32 [targets, facts]: what a critic is told of each target's turn
    _arrays: tuple[np.ndarray, np.ndarray] | None = field(default=None, init=False, repr=False, compare=False)

    def add(
        self, start: int, ids: Sequence[int], logprobs: Sequence[float], step: int, *, acted: bool, version: int = 0
    ) -> None:
        """Learn from the tokens `ids`, which begin at `start`."""
        self.targets += range(start, start + len(ids))
        self.acted += [acted] * len(ids)
        self.logprobs += logprobs
        self.turn_ends += [False] * (len(ids) - 1) + [acted] if ids else []
        self.steps += [step] * len(ids)
        self.versions += [version] * len(ids)

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """`ids` and `targets` as arrays, made once: for a row that is complete."""
        if self._arrays is None:
            # quicker than np.array, which looks at the types first
            ids, targets = (np.fromiter(numbers, np.int64, len(numbers)) for numbers in (self.ids, self.targets))
            self._arrays = ids, targets
        return self._arrays


def rows_of(trajectory: Trajectory, number: int = 0, *, observations: bool = False) -> list[Row]:
    """The rows of a trajectory; with `observations`, what the environment writes between turns is a target too."""
    rows: list[Row] = []
    for index, step in enumerate(trajectory.steps):
        prompt, response = step.prompt_ids, step.response_ids
        if prompt is None or response is None:
            raise ConfigError(f"a trajectory must hold token ids to be trained on; got {trajectory.id} without")
        row, shown = rows[-1] if rows else None, [step]
        if row is None or prompt[: len(row.ids)] != row.ids:
            row = Row(number, list(prompt))
            rows.append(row)
            if trajectory.prompt_style == "conversation":  # one that begins late shows the earlier pictures too
                shown = trajectory.steps[: index + 1]
        else:
            between = prompt[len(row.ids) :]
            if observations:
                row.add(len(row.ids), between, [0.0] * len(between), index, acted=False, version=step.version)
            row.ids += between
        row.images += [trajectory.pictures[name] for one in shown for name in one.images]
        logprobs = step.logprobs if step.logprobs is not None else [0.0] * len(response)
        row.add(len(row.ids), response, logprobs, index, acted=True, version=step.version)
        row.ids += response
    return [row for row in rows if row.targets]


class Batch:
    """Rows of many trajectories in both layouts."""

    def __init__(self, trajectories: Sequence[Trajectory], *, observations: bool = False) -> None:
        self.observations = observations
        split = [self._rows_of(trajectory) for trajectory in trajectories]
        # A trajectory in which the model never wrote a token has nothing to train. It earned its reward all the same:
        # comparisons within a group count the silent ones, too.
        kept = [index for index, rows in enumerate(split) if any(any(row.acted) for row in rows)]
        self.trajectories = [trajectories[index] for index in kept]
        silent = set(range(len(split))) - set(kept)
        self.silent = [trajectories[index] for index in sorted(silent)]
        self.rows: list[Any] = []  # `Row`s
        self.lengths = [0] * len(kept)
        offsets: list[int] = []
        for number, index in enumerate(kept):
            for row in split[index]:
                row.trajectory = number
                self.rows.append(row)
                offsets.append(self.lengths[number])
                self.lengths[number] += len(row.targets)
        self._counts = [len(row.targets) for row in self.rows]
        width = max(self.lengths, default=0)
        starts = [row.trajectory * width + offset for row, offset in zip(self.rows, offsets, strict=True)]
        # Where each row's targets are in a flattened [trajectories, tokens]; an empty place is one cell after its end.
        starts, counts = (torch.tensor(numbers, dtype=torch.long)[:, None] for numbers in (starts, self._counts))
        places = torch.arange(max(self._counts, default=0))
        self.row_mask, cells = places < counts, starts + places
        self._table = cells.where(self.row_mask, torch.tensor(len(kept) * width))
        self._cells = cells[self.row_mask]
        self.token_mask = self.by_trajectory([torch.ones(sum(self._counts), dtype=torch.bool)], torch.bool)
        self.action_mask = self.by_trajectory([row.acted for row in self.rows], torch.bool)
        self.turn_ends = self.by_trajectory([row.turn_ends for row in self.rows], torch.bool)
        self.steps = self.by_trajectory([row.steps for row in self.rows], torch.long)
        self.versions = self.by_trajectory([row.versions for row in self.rows], torch.long)
        self.logprobs = self.by_trajectory([row.logprobs for row in self.rows])

    def __len__(self) -> int:
        return len(self.trajectories)

    def _rows_of(self, trajectory: Trajectory) -> Sequence[Row]:
        return rows_of(trajectory, observations=self.observations)

    def by_trajectory(self, by_row: Sequence[Any], dtype: torch.dtype = torch.float32) -> Tensor:
        """`[trajectories, tokens]`, 0 (False) after the end."""
        padded = torch.zeros(len(self), max(self.lengths, default=0), dtype=dtype)
        if by_row and isinstance(by_row[0], Tensor):
            flat = torch.cat(list(by_row)).to(dtype)
        else:
            flat = torch.from_numpy(np.fromiter(chain.from_iterable(by_row), NUMPY[dtype], sum(self._counts)))
        padded.view(-1)[self._cells] = flat
        return padded

    def by_row(self, by_trajectory: Tensor, rows: Sequence[int] | None = None) -> Tensor:
        """`[rows, targets]` of all rows, or of some, as wide as the longest of them."""
        table = self._table
        if rows is not None:
            table = table[list(rows), : max((self._counts[row] for row in rows), default=0)]
        return torch.cat([by_trajectory.flatten(), by_trajectory.new_zeros(1)])[table]

    def turn_rewards(self, scale: float = 1.0) -> Tensor:
        """Each turn's reward on its last token. A turn without a token leaves its reward to the turn before it (or,
        where there is none, to the next): nothing that was earned is lost."""
        rewards = np.zeros(self.token_mask.shape, dtype=np.float32)
        ends, steps = self.turn_ends.numpy(), self.steps.numpy()
        for number, trajectory in enumerate(self.trajectories):
            places = ends[number].nonzero()[0]
            earlier = np.searchsorted(steps[number, places], np.arange(len(trajectory.steps)), side="right")
            earned = np.array([scale * step.reward for step in trajectory.steps], dtype=np.float32)
            np.add.at(rewards[number], places[np.maximum(earlier - 1, 0)], earned)
        return torch.from_numpy(rewards)

    def scores(self, scale: float = 1.0) -> Tensor:
        """The whole reward of each trajectory."""
        return torch.tensor([scale * sum(step.reward for step in one.steps) for one in self.trajectories])


# ---------------------------------------------------------------------- masked sums; tokens, steps, sequences


def masked_sum(x: Tensor, mask: Tensor) -> Tensor:
    """The sum over `mask`."""
    return torch.where(mask, x, 0.0).sum()


def masked_mean(x: Tensor, mask: Tensor) -> Tensor:
    """The mean over `mask`; 0 if it selects nothing."""
    return masked_sum(x, mask) / mask.sum().clamp(min=1)


def turn_numbers(turn_ends: Tensor) -> Tensor:
    """For every token how many turns of its row have ended before it; all tokens of a turn share the number."""
    return turn_ends.cumsum(1) - turn_ends.long()


def unit_sums(x: Tensor, unit: Unit, turn_ends: Tensor) -> Tensor:
    """Every token gets the sum of `x` over its unit: itself, the step it belongs to, or its row (a sequence)."""
    if unit == "token":
        return x
    number = turn_numbers(turn_ends) if unit == "step" else torch.zeros_like(turn_ends, dtype=torch.long)
    return x.new_zeros(x.shape[0], x.shape[1] + 1).scatter_add(1, number, x).gather(1, number)


def unit_means(x: Tensor, mask: Tensor, unit: Unit, turn_ends: Tensor) -> Tensor:
    """Every token of `mask` gets the mean of `x` over its unit's tokens; 0 elsewhere."""
    if unit == "token":
        return torch.where(mask, x, 0.0)
    means = unit_sums(torch.where(mask, x, 0.0), unit, turn_ends) / unit_sums(mask.float(), unit, turn_ends).clamp(
        min=1
    )
    return torch.where(mask, means, 0.0)


def token_weights(unit: Unit, mask: Tensor, turn_ends: Tensor) -> Tensor:
    """What each token counts in a mean over units, each of which is the mean of its tokens; the weights sum to 1."""
    size = unit_sums(mask.float(), unit, turn_ends).clamp(min=1)
    count = masked_sum(1 / size, mask).round().clamp(min=1)  # every unit adds up to 1
    return torch.where(mask, (1 / count) / size, 0.0)


def padded(by_row: Sequence[Tensor], device: Any = None) -> Tensor:
    """Flat tensors of rows as one `[rows, targets]`, 0 (False) after the end."""
    return torch.nn.utils.rnn.pad_sequence(list(by_row), batch_first=True).to(device)


# ---------------------------------------------------------------------- mini-batches and micro-batches


def shuffled_parts(count: int, parts: int, rng: torch.Generator) -> list[list[int]]:
    """0 .. count - 1 in random order, in `parts` mini-batches of nearly equal size (fewer where there are too few)."""
    order = torch.randperm(count, generator=rng).tolist()
    parts = max(1, min(parts, count))
    return [sorted(order[start::parts]) for start in range(parts)]


def micro_batches(lengths: Sequence[int], budget: int, *, packed: bool = False) -> list[list[int]]:
    """Indices of rows that go through the model together: similar lengths, padded size within `budget` tokens.

    A row longer than the budget goes alone. The order is fixed by the lengths, so that a run can be repeated. Packed
    rows need no padding: they stay in their order, in micro-batches of about equal size.
    """
    batches: list[list[int]] = []
    if packed:
        count, used = max(1, -(-sum(lengths) // budget)), 0
        for index, length in enumerate(lengths):
            if batches and used + length / 2 <= sum(lengths) / count and used + length <= budget:
                batches[-1].append(index)
                used += length
            else:
                batches.append([index])
                used = length
        return batches
    for index in sorted(range(len(lengths)), key=lambda index: (lengths[index], index)):
        if batches and lengths[index] * (len(batches[-1]) + 1) <= budget:
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches


def padding_share(lengths: Sequence[int], batches: Sequence[Sequence[int]], *, packed: bool = False) -> float:
    """The share of padding among the tokens that go through the model."""
    padded = 0 if packed else sum(max(lengths[index] for index in batch) * len(batch) for batch in batches)
    return 1 - sum(lengths) / padded if padded else 0.0
