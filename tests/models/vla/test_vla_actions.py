"""Actions as numbers from -1 to 1 and as tokens, beside slow references."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from agentrl.core.errors import ConfigError
from agentrl.models.vla.actions import BINS, Scale, from_bins, percentile_range, to_bins


def slow_bin(number: float) -> int:
    """The bin by walking over all edges."""
    edges = [-1 + 2 * edge / BINS for edge in range(BINS + 1)]
    for place in range(BINS):
        if edges[place] <= number < edges[place + 1]:
            return place
    return 0 if number < 0 else BINS - 1


def test_tokens_are_the_bins_that_a_walk_over_the_edges_finds() -> None:
    numbers = [-1.5, -1.0, -0.9999, -1e-9, 0.0, 0.0078125, 0.5, 0.99999, 1.0, 7.0]
    numbers += np.random.default_rng(0).uniform(-1.1, 1.1, 500).astype(np.float32).tolist()
    assert to_bins(torch.tensor(numbers, dtype=torch.float64)).tolist() == [slow_bin(number) for number in numbers]
    assert to_bins(torch.tensor([-1.0, 0.0, 1.0])).tolist() == [0, 128, 255]


def test_a_token_is_the_middle_of_its_bin() -> None:
    bins = torch.arange(BINS)
    assert torch.equal(to_bins(from_bins(bins)), bins)
    assert from_bins(bins)[[0, 127, 255]].tolist() == pytest.approx([-1 + 1 / 256, -1 / 256, 1 - 1 / 256])
    numbers = torch.linspace(-1, 1, 999)
    assert float((from_bins(to_bins(numbers)) - numbers).abs().max()) <= 1 / BINS + 1e-6


def test_ranges_are_the_first_and_last_percentile() -> None:
    rows = np.random.default_rng(1).normal(size=(1000, 3)) * [1.0, 5.0, 0.0] + [0.0, 2.0, 7.0]
    found = percentile_range(rows)
    for column in range(3):
        ordered = sorted(rows[:, column].tolist())
        for share, value in zip((0.01, 0.99), found[column], strict=True):
            place = share * 999
            below = int(place)
            slow = ordered[below] + (place - below) * (ordered[below + 1] - ordered[below])
            assert value == pytest.approx(slow)
    scale = Scale(found)
    numbers = torch.tensor([[found[0][0], found[1][1], 7.0], [100.0, found[1][0], 8.0]])
    assert scale(numbers).numpy() == pytest.approx(np.array([[-1, 1, 0], [1, -1, 0]]), abs=1e-5)
    back = scale.back(scale(numbers))
    assert back[0].tolist() == pytest.approx(numbers[0].tolist(), abs=1e-5)
    assert back[1].tolist() == pytest.approx([found[0][1], found[1][0], 7.0], abs=1e-5)


def test_a_range_of_nothing_or_of_nan_is_refused() -> None:
    for rows in (np.zeros((0, 2)), np.array([[np.nan]])):
        with pytest.raises(ConfigError, match="finite numbers"):
            percentile_range(rows)
