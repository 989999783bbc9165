"""Rows shared out among the processes of a run.

Weights are gathered layer by layer while a batch is read, which all processes must do the same number of times. So
every process knows all assignments, and one that has nothing left reads the shortest row again, without effect.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from agentrl.trainers.batch import micro_batches
from agentrl.trainers.distributed import ProcessGroup, shares


class Turn(NamedTuple):
    """A micro-batch of a process; `counts` is False where it only runs because others still have rows."""

    rows: list[int]
    counts: bool


class Assignment(NamedTuple):
    """What this process reads, and which rows each of all processes reads."""

    turns: list[Turn]
    owners: list[list[int]]
    padding: float  # the share of padding in what all processes read


def assign_rows(processes: ProcessGroup, lengths: Sequence[int], budget: int, *, packed: bool = False) -> Assignment:
    """Micro-batches for this process. In a run of one process they are those of `micro_batches`."""
    owners = shares(lengths, processes.size) if processes.size > 1 else [list(range(len(lengths)))]
    batches = [_own_batches(lengths, owned, budget, packed) for owned in owners]
    rounds = max(len(one) for one in batches)
    turns = [Turn(batch, True) for batch in batches[processes.rank]]
    if lengths:
        shortest = min(range(len(lengths)), key=lambda index: lengths[index])
        turns += [Turn([shortest], False)] * (rounds - len(turns))
    padding = 0.0 if packed else padding_share(lengths, [batch for one in batches for batch in one])
    return Assignment(turns, owners, padding)


def padding_share(lengths: Sequence[int], batches: Sequence[Sequence[int]]) -> float:
    """The share of padding among the tokens that go through the model."""
    padded = sum(max(lengths[index] for index in batch) * len(batch) for batch in batches)
    return 1 - sum(lengths) / padded if padded else 0.0


def _own_batches(lengths: Sequence[int], owned: Sequence[int], budget: int, packed: bool) -> list[list[int]]:
    found = micro_batches([lengths[index] for index in owned], budget, packed=packed)
    return [[owned[place] for place in batch] for batch in found]


def compute_rows(
    processes: ProcessGroup,
    lengths: Sequence[int],
    budget: int,
    sizes: Sequence[int],
    work: Callable[[list[int]], Sequence[Tensor]],
    *,
    packed: bool = False,
) -> list[list[Tensor]]:
    """`work` of all rows, each done by one process: for every row its tensors, of `sizes[row]` float32 numbers each.

    `work(rows)` gives tensors whose first dimension are those rows and whose second has at least as many numbers.
    """
    plan, found, count = assign_rows(processes, lengths, budget, packed=packed), dict[int, list[Tensor]](), 0
    for turn, given in [(turn, work(turn.rows)) for turn in plan.turns]:  # all are launched before one is waited for
        tensors = [tensor.float().cpu() for tensor in given]
        count = len(tensors)
        if turn.counts:
            for place, row in enumerate(turn.rows):
                found[row] = [tensor[place, : sizes[row]] for tensor in tensors]
    if processes.size > 1:
        _exchange(processes, plan, sizes, found, count)
    return [found[row] for row in range(len(lengths))]


def _exchange(
    processes: ProcessGroup, plan: Assignment, sizes: Sequence[int], found: dict[int, list[Tensor]], count: int
) -> None:
    """The rows of all processes into `found`."""
    own = [tensor for row in plan.owners[processes.rank] for tensor in found[row]]
    flat = torch.cat(own) if own else torch.zeros(0)
    for owned, blob in zip(plan.owners, processes.gather_bytes(flat.numpy().tobytes()), strict=True):
        numbers = torch.from_numpy(np.frombuffer(bytearray(blob), dtype=np.float32)) if blob else torch.zeros(0)
        pieces = iter(numbers.split([sizes[row] for row in owned for _ in range(count)]))
        for row in owned:
            found[row] = [next(pieces) for _ in range(count)]
