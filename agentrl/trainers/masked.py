"""Padded batches: checks that name the tensor at fault, and sums over the tokens that count.

Shapes: `[B, T]` is a padded batch of sequences, `[B]` one number per row. Masks are boolean. What stands outside a mask
(padding, and for most functions observations) is never read, so it may be anything, NaN included; hence `torch.where`
throughout and no multiplying by masks. Sums run in float32 at least, whatever the model's own type.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import torch
from torch import Tensor

from agentrl.core.arguments import finite_number
from agentrl.core.errors import ConfigError

Labels = Tensor | Sequence[Hashable]


def fraction(name: str, value: float) -> float:
    """A discount or a lambda: a number from 0 to 1."""
    if not 0.0 <= finite_number(name, value) <= 1.0:
        raise ConfigError(f"{name} must lie between 0 and 1, not {value!r}")
    return float(value)


def wide(name: str, tensor: Tensor, shape: Sequence[int] | None = None) -> Tensor:
    """`tensor` in float32 (float64 stays), or a `ConfigError` if it has another shape or holds no real numbers."""
    if not isinstance(tensor, Tensor) or not tensor.is_floating_point():
        raise ConfigError(f"{name} must be a tensor of floats, not {_describe(tensor)}")
    if shape is not None and tuple(tensor.shape) != tuple(shape):
        raise ConfigError(f"{name} has shape {tuple(tensor.shape)}, but {tuple(shape)} is needed here")
    return tensor if tensor.dtype == torch.float64 else tensor.float()


def check_mask(name: str, mask: Tensor, shape: Sequence[int] | None = None) -> None:
    """A `[B, T]` mask of booleans that selects something."""
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        raise ConfigError(f"{name} must be a tensor of booleans, not {_describe(mask)}")
    if mask.ndim != 2 or (shape is not None and tuple(mask.shape) != tuple(shape)):
        wanted = "two dimensions, rows and tokens," if shape is None else f"shape {tuple(shape)}"
        raise ConfigError(f"{name} must have {wanted} not shape {tuple(mask.shape)}")
    if not bool(mask.any()):
        raise ConfigError(f"{name} selects nothing: there is no token to learn from")


def check_turn_ends(turn_ends: Tensor, action_mask: Tensor) -> None:
    """Every turn ends on an action token, and no action token comes after its row's last turn end."""
    check_mask("turn_ends", turn_ends, action_mask.shape)
    if bool((turn_ends & ~action_mask).any()):
        raise ConfigError("turn_ends marks tokens that are no action tokens; mark the last action token of each turn")
    left_over = action_mask & (next_marked(turn_ends) == action_mask.shape[1])
    if bool(left_over.any()):
        raise ConfigError(
            "turn_ends leaves action tokens behind the last turn of a row; mark the last action token of "
            "every turn, of a cut one too"
        )


def rewards_within(name: str, rewards: Tensor, mask: Tensor) -> Tensor:
    """Rewards that are finite inside `mask` and zero outside: one outside would be lost without a word."""
    rewards = wide(name, rewards, mask.shape)
    if bool((rewards != 0).logical_and(~mask).any()):
        raise ConfigError(
            f"{name} is not zero on tokens where it would never be read; move it to the tokens that count"
        )
    if not bool(rewards.isfinite().all()):
        raise ConfigError(f"{name} must be finite; leave out trajectories whose reward is not known yet")
    return rewards


def finite_row(name: str, x: Tensor, shape: Sequence[int] | None = None) -> Tensor:
    """One finite number per row, of one row at least."""
    x = wide(name, x, shape)
    if x.ndim != 1 or len(x) == 0:
        raise ConfigError(f"{name} must hold one number per row, not shape {tuple(x.shape)}")
    if not bool(x.isfinite().all()):
        raise ConfigError(f"{name} must be finite; leave out trajectories whose reward is not known yet")
    return x


def dense_ids(name: str, labels: Labels, count: int) -> Tensor:
    """Labels (a tensor of integers, or any hashable things) as numbers 0, 1, 2 ... that are equal where labels are."""
    if isinstance(labels, Tensor):
        if labels.is_floating_point() or labels.is_complex() or labels.ndim != 1:
            raise ConfigError(f"{name} must be a flat tensor of integers, not {_describe(labels)}")
        found = torch.unique(labels, return_inverse=True)[1]
    elif isinstance(labels, (str, bytes)) or not isinstance(labels, Sequence):
        raise ConfigError(f"{name} must be a list with one label per row, not {type(labels).__name__}")
    else:
        table: dict[Hashable, int] = {}
        found = torch.tensor([table.setdefault(label, len(table)) for label in labels], dtype=torch.long)
    if len(found) != count:
        raise ConfigError(f"{name} has {len(found)} labels for {count} rows")
    return found


def next_marked(marks: Tensor) -> Tensor:
    """For every token the position of the first mark at or after it; T where there is none."""
    length = marks.shape[1]
    here = torch.arange(length, device=marks.device).expand_as(marks)
    return torch.where(marks, here, length).flip(1).cummin(1).values.flip(1)


def from_next_marked(x: Tensor, marks: Tensor, mask: Tensor) -> Tensor:
    """Every token of `mask` gets what `x` holds at the first mark at or after it; 0 elsewhere."""
    at = next_marked(marks).clamp(max=marks.shape[1] - 1)
    return torch.where(mask, x.gather(1, at), 0.0)


def to_tokens(per_row: Tensor, mask: Tensor) -> Tensor:
    """One number per row, given to all of the row's tokens inside `mask`; 0 elsewhere."""
    check_mask("mask", mask)
    return torch.where(mask, wide("per_row", per_row, mask.shape[:1])[:, None], 0.0)


def masked_sum(x: Tensor, mask: Tensor) -> Tensor:
    """The sum over `mask`."""
    return torch.where(mask, x, 0.0).sum()


def masked_mean(x: Tensor, mask: Tensor) -> Tensor:
    """The mean over `mask`; 0 if it selects nothing."""
    return masked_sum(x, mask) / mask.sum().clamp(min=1)


@torch.no_grad()
def whiten(x: Tensor, mask: Tensor | None = None, statistics: Tensor | None = None, eps: float = 1e-8) -> Tensor:
    """`(x - mean) / sqrt(var + eps)` with the unbiased variance; 0 outside `mask`.

    Mean and variance are taken over `statistics` (default: `mask`, default: all of `x`). Token estimators take them
    over action tokens, Turn-PPO over turn ends (a long turn counts once), StepPO over steps (before `to_tokens`).
    A single number has no spread: it becomes 0.
    """
    x = wide("x", x)
    mask = torch.ones_like(x, dtype=torch.bool) if mask is None else mask
    statistics = mask if statistics is None else statistics
    for name, given in (("mask", mask), ("statistics", statistics)):
        if given.dtype != torch.bool or given.shape != x.shape or not bool(given.any()):
            raise ConfigError(f"{name} must be booleans of shape {tuple(x.shape)} with at least one of them true")
    mean = masked_mean(x, statistics)
    variance = masked_sum((x - mean).square(), statistics) / (statistics.sum() - 1).clamp(min=1)
    return torch.where(mask, (x - mean) * torch.rsqrt(variance + eps), 0.0)


def _describe(thing: object) -> str:
    if isinstance(thing, Tensor):
        return f"{str(thing.dtype).removeprefix('torch.')} of shape {tuple(thing.shape)}"
    return type(thing).__name__
