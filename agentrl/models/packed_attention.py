"""Causal attention of rows that stand behind each other in one sequence, without padding and without a mask.

Rows may begin with a prefix that stands there once, in front of all of them: its keys and values are lent to every row
while a layer attends, and their gradients are added up. On a GPU the work is done by flash attention, whose rows may
have any length, or, where long rows share nothing and all have one length, by that of cuDNN, which is the quicker one
on recent GPUs; elsewhere by the same formulas row by row, which is exact but not quick.

The whole is one operator to `torch.compile`: a compiled layer has no break in it, whatever the lengths are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor

NAME = "agentrl_packed"
# Rows of at least so many tokens, all of one length, go to cuDNN, which prepares each new shape for up to 0.7 s.
LONG = 256


class Packing(NamedTuple):
    """Where the rows of a packed sequence lie. A shared prefix is the first of them."""

    starts: Tensor  # int32 [rows + 1]: where rows begin, and the end
    key_starts: Tensor  # the same in the keys that are attended to, where every row has the prefix in front
    lent: Tensor  # the token of each such key; empty: nothing is shared
    own: Tensor  # where each token's own key is among them
    copies: Tensor  # [rows, prefix]: where those of the prefix are
    longest: Tensor  # [3], on the CPU: upper bounds of a row's length and of its keys; the length that all have, or 0

    @classmethod
    def of(cls, lengths: Sequence[int], prefix: int) -> tuple[Packing, Tensor]:
        """`lengths` of the rows, without the prefix that all of them begin with (0: none); and the positions of all
        tokens in their rows. All of it is on the CPU."""
        own = torch.tensor([prefix, *lengths] if prefix else lengths)
        before = torch.full_like(own, prefix)
        before[0] = 0 if prefix else before[0]
        starts, key_starts = _starts(own), _starts(own + before)
        row = torch.repeat_interleave(torch.arange(len(own)), own)
        positions = torch.arange(len(row)) - (starts[:-1] - before)[row]
        lent = places = copies = torch.zeros(0, dtype=torch.long)
        if prefix:
            copies = key_starts[1:-1, None] + torch.arange(prefix)
            places = key_starts[row] + positions
            lent = torch.empty(int(key_starts[-1]), dtype=torch.long)
            lent[copies] = torch.arange(prefix)
            lent[places] = torch.arange(len(row))
        gridded = not prefix and int(own.min()) == int(own.max()) >= LONG
        most = [_rounded(int(own.max())), _rounded(int((own + before).max())), int(own.max()) if gridded else 0]
        return cls(starts.int(), key_starts.int(), lent, places, copies, torch.tensor(most)), positions


def _starts(lengths: Tensor) -> Tensor:
    return torch.cat([torch.zeros(1, dtype=torch.long), lengths.cumsum(0)])


def _rounded(length: int) -> int:
    """A power of two: kernels are chosen by it, and need not be chosen for every batch anew."""
    return max(128, 1 << (length - 1).bit_length())


def attend_packed(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    *,
    packing: Packing,
    **_: Any,
) -> tuple[Tensor, None]:
    """What transformers calls in each layer: [1, heads, tokens, size] in, [1, tokens, heads, size] out."""
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    query, key, value = (part[0].transpose(0, 1).contiguous() for part in (query, key, value))
    return packed_attention(query, key, value, *packing, scale)[0][None], None


@torch.library.custom_op("agentrl::packed_attention", mutates_args=())
def packed_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    starts: Tensor,
    key_starts: Tensor,
    lent: Tensor,
    own: Tensor,
    copies: Tensor,
    longest: Tensor,
    scale: float,
) -> tuple[Tensor, Tensor]:
    """[tokens, heads, size] from the same; and the log of each softmax's sum, which the way back needs."""
    key, value = _lend(key, lent), _lend(value, lent)
    if not query.is_cuda:
        return _attend_rows(query, key, value, starts, key_starts, scale)
    most, most_keys, side = longest.tolist()
    if side and _quick_grids(query.device, query.dtype):
        return _attend_grid(query, key, value, side, scale)
    found = torch.ops.aten._flash_attention_forward(
        query, key, value, starts, key_starts, most, most_keys, 0.0, True, False, scale=scale
    )
    return found[0].contiguous(), found[1]


@packed_attention.register_fake
def _(query: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
    tokens, heads, _size = query.shape
    return query.new_empty(query.shape), query.new_empty((heads, tokens), dtype=torch.float32)


@torch.library.custom_op("agentrl::packed_attention_backward", mutates_args=())
def packed_attention_backward(
    gradient: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    sums: Tensor,
    starts: Tensor,
    key_starts: Tensor,
    lent: Tensor,
    own: Tensor,
    copies: Tensor,
    longest: Tensor,
    scale: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of query, key and value."""
    key, value = _lend(key, lent), _lend(value, lent)
    most, most_keys, side = longest.tolist()
    if query.is_cuda and side and _quick_grids(query.device, query.dtype):
        found = _attend_grid_backward(gradient, query, key, value, out, sums, side, scale)
    elif query.is_cuda:
        state = torch.zeros(2, dtype=torch.uint64, device=query.device)  # of a dropout that there is none of
        found = torch.ops.aten._flash_attention_backward(
            gradient.contiguous(), query, key, value, out, sums, starts, key_starts, most, most_keys, 0.0, True,
            state, torch.empty(0, device=query.device), scale=scale,
        )  # fmt: skip
    else:
        found = _attend_rows_backward(gradient, query, key, value, sums, starts, key_starts, scale)
    return found[0].contiguous(), _collect(found[1], own, copies), _collect(found[2], own, copies)


@packed_attention_backward.register_fake
def _(gradient: Tensor, query: Tensor, key: Tensor, value: Tensor, *_: Any) -> tuple[Tensor, Tensor, Tensor]:
    return query.new_empty(query.shape), key.new_empty(key.shape), value.new_empty(value.shape)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    ctx.save_for_backward(*inputs[:3], *output, *inputs[3:-1])
    ctx.scale = inputs[-1]


def _backward(ctx: Any, gradient: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
    return *packed_attention_backward(gradient, *ctx.saved_tensors, ctx.scale), *[None] * 7


packed_attention.register_autograd(_backward, setup_context=_keep)


def _lend(tokens: Tensor, lent: Tensor) -> Tensor:
    return tokens.index_select(0, lent) if len(lent) else tokens


def _collect(gradient: Tensor, own: Tensor, copies: Tensor) -> Tensor:
    """Inverse of `_lend` for gradients: the prefix gets those of all of its copies."""
    if not len(own):
        return gradient.contiguous()
    found = gradient.index_select(0, own)
    rows, prefix = copies.shape
    found[:prefix] += gradient.index_select(0, copies.flatten()).view(rows, prefix, *gradient.shape[1:]).sum(0)
    return found


# ---------------------------------------------------------------------- rows of one length, by cuDNN


def _attend_grid(query: Tensor, key: Tensor, value: Tensor, side: int, scale: float) -> tuple[Tensor, Tensor]:
    given = (_grid(part, side) for part in (query, key, value))
    found = torch.ops.aten._scaled_dot_product_cudnn_attention(*given, None, True, 0.0, True, False, scale=scale)
    sums = found[1].view(found[0].shape[:3]).transpose(0, 1).flatten(1)
    return _listed(found[0]), sums.contiguous()


def _attend_grid_backward(
    gradient: Tensor, query: Tensor, key: Tensor, value: Tensor, out: Tensor, sums: Tensor, side: int, scale: float
) -> list[Tensor]:
    given = [_grid(part, side) for part in (gradient, query, key, value, out)]
    sums = sums.unflatten(1, (-1, side)).transpose(0, 1).contiguous()[..., None]
    state = torch.zeros((), dtype=torch.long, device=query.device)  # of a dropout that there is none of
    found = torch.ops.aten._scaled_dot_product_cudnn_attention_backward(
        *given, sums, state, state, None, None, None, side, side, 0.0, True, scale=scale
    )
    return [_listed(part) for part in found]


def _grid(tokens: Tensor, side: int) -> Tensor:
    """[rows, heads, side, size] from [tokens, heads, size]."""
    return tokens.contiguous().unflatten(0, (-1, side)).transpose(1, 2)


def _listed(grid: Tensor) -> Tensor:
    """Inverse of `_grid`."""
    return grid.transpose(1, 2).flatten(0, 1).contiguous()


@cache
def _quick_grids(device: torch.device, dtype: torch.dtype) -> bool:
    """Does cuDNN attend here, as the formulas do? Before Hopper it is not the quicker one."""
    if torch.cuda.get_device_capability(device) < (9, 0):
        return False
    rng = torch.Generator(device).manual_seed(0)
    shapes = [(140, 6, 64), (140, 2, 64), (140, 2, 64), (140, 6, 64)]
    query, key, value, gradient = (torch.randn(s, generator=rng, device=device).to(dtype) for s in shapes)
    starts = torch.tensor([0, 70, 140], device=device)
    try:
        out, sums = _attend_grid(query, key, value, 70, 0.125)
        found = _attend_grid_backward(gradient, query, key, value, out, sums, 70, 0.125)
        query, key, value, gradient = (part.float() for part in (query, key, value, gradient))
        wanted, wanted_sums = _attend_rows(query, key, value, starts, starts, 0.125)
        gradients = _attend_rows_backward(gradient, query, key, value, wanted_sums, starts, starts, 0.125)
        pairs = zip((out, sums, *found), (wanted, wanted_sums, *gradients), strict=True)
        return all(torch.allclose(one.float(), other, atol=0.05, rtol=0.05) for one, other in pairs)
    except (RuntimeError, AttributeError):
        return False


# ---------------------------------------------------------------------- row by row


def _rows(starts: Tensor, key_starts: Tensor) -> list[tuple[slice, slice]]:
    edges = zip(starts.tolist(), key_starts.tolist(), strict=True)
    return [(slice(a, b), slice(c, d)) for (a, c), (b, d) in pairwise(edges)]


def _scores(query: Tensor, key: Tensor, scale: float) -> Tensor:
    """[heads, tokens, keys]: of one row, whose last token is its last key."""
    groups = query.shape[1] // key.shape[1]
    found = scale * torch.einsum("qhd,khd->hqk", query, key.repeat_interleave(groups, dim=1))
    seen = torch.ones(found.shape[1:], dtype=torch.bool, device=query.device).tril(found.shape[2] - found.shape[1])
    return found.masked_fill(~seen, -torch.inf)


def _attend_rows(
    query: Tensor, key: Tensor, value: Tensor, starts: Tensor, key_starts: Tensor, scale: float
) -> tuple[Tensor, Tensor]:
    groups, parts, sums = query.shape[1] // key.shape[1], [], []
    for asked, known in _rows(starts, key_starts):
        scores = _scores(query[asked], key[known], scale)
        sums.append(scores.float().logsumexp(-1))
        parts.append(torch.einsum("hqk,khd->qhd", scores.softmax(-1), value[known].repeat_interleave(groups, dim=1)))
    return torch.cat(parts).contiguous(), torch.cat(sums, dim=1)


def _attend_rows_backward(
    gradient: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    sums: Tensor,
    starts: Tensor,
    key_starts: Tensor,
    scale: float,
) -> tuple[Tensor, Tensor, Tensor]:
    groups = query.shape[1] // key.shape[1]
    found = torch.zeros_like(query), torch.zeros_like(key), torch.zeros_like(value)
    for asked, known in _rows(starts, key_starts):
        weights = (_scores(query[asked], key[known], scale) - sums[:, asked, None]).exp().to(query.dtype)
        keys, values = (part[known].repeat_interleave(groups, dim=1) for part in (key, value))
        towards = torch.einsum("qhd,khd->hqk", gradient[asked], values)
        inner = scale * weights * (towards - (weights * towards).sum(-1, keepdim=True))
        found[0][asked] = torch.einsum("hqk,khd->qhd", inner, keys)
        found[1][known] = _by_group(torch.einsum("hqk,qhd->khd", inner, query[asked]), groups)
        found[2][known] = _by_group(torch.einsum("hqk,qhd->khd", weights, gradient[asked]), groups)
    return found


def _by_group(gradient: Tensor, groups: int) -> Tensor:
    return gradient.unflatten(1, (-1, groups)).sum(2)
