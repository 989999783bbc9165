"""Rows shared out among the processes of a run.

Weights are gathered layer by layer while a batch is read, which all processes must do the same number of times. So
every process knows everybody's share, and one that has nothing left reads the shortest row again, for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from agentrl.trainers.distributed import Team, shares
from agentrl.trainers.rows import micro_batches, padding_share


class Turn(NamedTuple):
    """Rows that a process reads together; `counts` is False where it only keeps the others company."""

    rows: list[int]
    counts: bool


class Deal(NamedTuple):
    """What this process reads, and which rows each of all processes reads."""

    turns: list[Turn]
    owners: list[list[int]]
    padding: float  # the share of padding in what all of them read


def deal(team: Team, lengths: Sequence[int], budget: int) -> Deal:
    """Micro-batches for this process. Alone, they are those of `micro_batches`."""
    owners = shares(lengths, team.size) if team.size > 1 else [list(range(len(lengths)))]
    batches = [_own_batches(lengths, owned, budget) for owned in owners]
    rounds = max(len(one) for one in batches)
    turns = [Turn(batch, True) for batch in batches[team.rank]]
    if lengths:
        shortest = min(range(len(lengths)), key=lambda index: lengths[index])
        turns += [Turn([shortest], False)] * (rounds - len(turns))
    return Deal(turns, owners, padding_share(lengths, [batch for one in batches for batch in one]))


def _own_batches(lengths: Sequence[int], owned: Sequence[int], budget: int) -> list[list[int]]:
    found = micro_batches([lengths[index] for index in owned], budget)
    return [[owned[place] for place in batch] for batch in found]


def spread(
    team: Team,
    lengths: Sequence[int],
    budget: int,
    sizes: Sequence[int],
    work: Callable[[list[int]], Sequence[Tensor]],
) -> list[list[Tensor]]:
    """`work` of all rows, each done by one process: for every row its tensors, of `sizes[row]` float32 numbers each.

    `work(rows)` gives tensors whose first dimension are those rows and whose second has at least as many numbers.
    """
    plan, found, count = deal(team, lengths, budget), dict[int, list[Tensor]](), 0
    for turn in plan.turns:
        tensors = [tensor.float().cpu() for tensor in work(turn.rows)]
        count = len(tensors)
        if turn.counts:
            for place, row in enumerate(turn.rows):
                found[row] = [tensor[place, : sizes[row]] for tensor in tensors]
    if team.size > 1:
        _exchange(team, plan, sizes, found, count)
    return [found[row] for row in range(len(lengths))]


def _exchange(team: Team, plan: Deal, sizes: Sequence[int], found: dict[int, list[Tensor]], count: int) -> None:
    """Everybody's rows into `found`."""
    own = [tensor for row in plan.owners[team.rank] for tensor in found[row]]
    flat = torch.cat(own) if own else torch.zeros(0)
    for owned, blob in zip(plan.owners, team.gather_bytes(flat.numpy().tobytes()), strict=True):
        numbers = torch.from_numpy(np.frombuffer(bytearray(blob), dtype=np.float32)) if blob else torch.zeros(0)
        pieces = iter(numbers.split([sizes[row] for row in owned for _ in range(count)]))
        for row in owned:
            found[row] = [next(pieces) for _ in range(count)]
