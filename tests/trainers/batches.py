"""Random padded batches of multi-turn rows, from a seed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor


@dataclass(frozen=True)
class Batch:
    """A padded batch: some observation tokens before each turn and behind the last, then padding."""

    mask: Tensor
    ends: Tensor
    tokens: Tensor  # True where it is no padding
    rewards: Tensor  # on turn ends
    kl: Tensor  # on action tokens
    values: Tensor
    after: Tensor
    bootstrap: Tensor

    def select(self, rows: Tensor) -> Batch:
        """Some rows, in some order."""
        return Batch(**{name: tensor[rows] for name, tensor in vars(self).items()})


def random_batch(seed: int, rows: int = 5, max_turns: int = 4, max_length: int = 5, observations: int = 4) -> Batch:
    """Turn and observation lengths, values and rewards drawn from `seed`; some turns have reward 0."""
    g = torch.Generator().manual_seed(seed)

    def draw(low: int, high: int) -> int:
        return int(torch.randint(low, high + 1, (), generator=g))

    layouts = []
    for _ in range(rows):
        row: list[int] = []  # 0 observation, 1 action, 2 last action of a turn
        for _ in range(draw(1, max_turns)):
            row += [0] * draw(0, observations) + [1] * draw(0, max_length - 1) + [2]
        layouts.append(row + [0] * draw(0, observations))
    width = max(map(len, layouts)) + 2
    kinds = torch.tensor([row + [-1] * (width - len(row)) for row in layouts])
    ends, mask = kinds == 2, kinds >= 1
    noise = torch.randn(4, rows, width, generator=g)
    coin = torch.rand(rows, width, generator=g) < 0.6
    return Batch(
        mask=mask,
        ends=ends,
        tokens=kinds >= 0,
        rewards=torch.where(ends & coin, noise[0], 0.0),
        kl=torch.where(mask, 0.1 * noise[1], 0.0),
        values=noise[2],
        after=noise[3],
        bootstrap=torch.randn(rows, generator=g),
    )


def spoil(batch: Batch) -> Batch:
    """The same batch with NaN wherever a value must not be read."""
    nan = float("nan")
    return replace(
        batch,
        values=torch.where(batch.mask, batch.values, nan),
        after=torch.where(batch.ends, batch.after, nan),
    )


def without_observations(batch: Batch, extra: int = 0) -> Batch:
    """Every row's action tokens alone, with `extra` NaN observations before each, then padding."""
    rows = len(batch.mask)
    order = torch.argsort(~batch.mask, dim=1, stable=True)
    longest = int(batch.mask.sum(1).max())
    fresh = {}
    for name, tensor in vars(batch).items():
        if tensor.ndim == 1:
            fresh[name] = tensor
            continue
        blank = float("nan") if name in ("values", "after") else 0
        wide = torch.full((rows, longest * (extra + 1) + 3), blank, dtype=tensor.dtype)
        kept = torch.where(batch.mask, tensor, torch.full_like(tensor, blank)).gather(1, order)[:, :longest]
        wide[:, extra : longest * (extra + 1) : extra + 1] = kept
        fresh[name] = wide
    return Batch(**fresh)
