"""Packed rows attend as if each were alone: outputs and gradients, with and without a prefix that they share."""

from __future__ import annotations

import pytest
import torch

from agentrl.models.packed_attention import Packing, _grid, _listed, packed_attention


def tensors(tokens: int) -> list[torch.Tensor]:
    rng = torch.Generator().manual_seed(0)
    shapes = [(tokens, 4, 8), (tokens, 2, 8), (tokens, 2, 8)]
    return [torch.randn(shape, generator=rng, dtype=torch.double).requires_grad_() for shape in shapes]


@pytest.mark.parametrize("prefix", [0, 4])
def test_every_row_sees_the_prefix_and_itself(prefix: int) -> None:
    lengths = [3, 1, 6]
    query, key, value = tensors(prefix + sum(lengths))
    packing, positions = Packing.of(lengths, prefix)
    found = packed_attention(query, key, value, *packing, 0.3)[0]
    start = prefix
    for length in lengths:
        row = [*range(prefix), *range(start, start + length)]
        q, k, v = (part[row].transpose(0, 1) for part in (query, key, value))
        alone = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.3, enable_gqa=True)
        assert torch.allclose(found[row], alone.transpose(0, 1))
        assert positions[row].tolist() == list(range(prefix + length))
        start += length


@pytest.mark.parametrize("prefix", [0, 3])
def test_gradients_are_those_of_the_formula(prefix: int) -> None:
    packing, _ = Packing.of([2, 4], prefix)
    given = tensors(prefix + 6)
    assert torch.autograd.gradcheck(lambda *qkv: packed_attention(*qkv, *packing, 0.3)[0], given, atol=1e-4)


def test_the_operator_is_what_it_tells_the_compiler_to_be() -> None:
    packing, _ = Packing.of([2, 4], 3)
    given = [part.detach().float().requires_grad_() for part in tensors(9)]
    checks = ("test_schema", "test_faketensor", "test_autograd_registration")
    torch.library.opcheck(packed_attention, (*given, *packing, 0.3), test_utils=checks)


def test_long_rows_of_one_length_that_share_nothing_are_known_as_a_grid() -> None:
    for lengths, prefix, side in (([300] * 4, 0, 300), ([300, 301], 0, 0), ([100] * 4, 0, 0), ([300] * 4, 8, 0)):
        assert int(Packing.of(lengths, prefix)[0].longest[2]) == side
    tokens = torch.arange(4 * 300 * 2 * 3).view(1200, 2, 3)
    grid = _grid(tokens, 300)
    assert torch.equal(grid[1, 0], tokens[300:600, 0]) and torch.equal(_listed(grid), tokens)
