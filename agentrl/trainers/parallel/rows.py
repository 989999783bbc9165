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

from agentrl.trainers.parallel.ranks import ProcessGroup


class Turn(NamedTuple):
    """A micro-batch of a process; `counts` is False where it only runs because others still have rows."""

    rows: list[int]
    counts: bool


class Assignment(NamedTuple):
    """What this process reads, and which rows each of all processes reads."""

    turns: list[Turn]
    owners: list[list[int]]
    padding: float  # the share of padding in what all processes read


def assign_rows(
    processes: ProcessGroup,
    lengths: Sequence[int],
    micro_batches: Callable[[Sequence[int]], list[list[int]]],
    padding_share: Callable[[Sequence[int], list[list[int]]], float],
) -> Assignment:
    """Micro-batches for this process; `micro_batches(lengths)` makes those of the rows that one process reads."""
    owners = shares(lengths, processes.size) if processes.size > 1 else [list(range(len(lengths)))]
    batches = []
    for owned in owners:
        found = micro_batches([lengths[index] for index in owned])
        batches.append([[owned[place] for place in batch] for batch in found])
    turns = [Turn(batch, True) for batch in batches[processes.rank]]
    if lengths:
        shortest = min(range(len(lengths)), key=lambda index: lengths[index])
        turns += [Turn([shortest], False)] * (max(len(one) for one in batches) - len(turns))
    return Assignment(turns, owners, padding_share(lengths, [batch for one in batches for batch in one]))


def shares(lengths: Sequence[int], size: int) -> list[list[int]]:
    """Which of some rows each process reads: long and short ones dealt alike, in turns that reverse."""
    order = sorted(range(len(lengths)), key=lambda index: (lengths[index], index))
    found: list[list[int]] = [[] for _ in range(size)]
    for place, index in enumerate(order):
        lap, seat = divmod(place, size)
        found[seat if lap % 2 == 0 else size - 1 - seat].append(index)
    return [sorted(one) for one in found]


def exchange(
    processes: ProcessGroup,
    owners: Sequence[Sequence[int]],
    sizes: Sequence[int],
    found: dict[int, list[Tensor]],
    count: int,
) -> None:
    """The rows of all processes into `found`: for each, `count` tensors of `sizes[row]` numbers."""
    own = [tensor for row in owners[processes.rank] for tensor in found[row]]
    flat = torch.cat(own) if own else torch.zeros(0)
    for owned, blob in zip(owners, processes.gather_bytes(flat.numpy().tobytes()), strict=True):
        numbers = torch.from_numpy(np.frombuffer(bytearray(blob), dtype=np.float32)) if blob else torch.zeros(0)
        pieces = iter(numbers.split([sizes[row] for row in owned for _ in range(count)]))
        for row in owned:
            found[row] = [next(pieces) for _ in range(count)]
