"""Actions as numbers from -1 to 1, and as tokens.

The 1st percentile of what a robot did becomes -1 and the 99th becomes 1, so that a few wild moves do not stretch the
scale; what lies beyond is clipped while learning. A number that never changes stays as it is: its range is a point.

256 bins of equal width share the range from -1 to 1. A number's token is the bin it lies in, a token's number the
middle of its bin. (OpenVLA has 256 edges, and so 255 bins; its tokens are the last of the vocabulary, in reverse.)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from agentrl.core.errors import ConfigError

BINS = 256
PERCENTILES = (1.0, 99.0)
NARROW = 1e-4  # a range that is not wider is a point: what varies less is noise, and must not be blown up

Range = tuple[float, float]


def percentile_range(rows: np.ndarray) -> tuple[Range, ...]:
    """The 1st and 99th percentile of each column."""
    if not len(rows) or not np.isfinite(rows).all():
        raise ConfigError("a range needs rows of finite numbers; got none, or some that are not")
    low, high = np.percentile(np.asarray(rows, np.float64), PERCENTILES, axis=0)
    return tuple(zip(low.tolist(), high.tolist(), strict=True))


class Scale(torch.nn.Module):
    """Numbers to the range from -1 to 1 and back; beyond `limit` they are clipped."""

    middle: Tensor
    spread: Tensor

    def __init__(self, ranges: Sequence[Range], limit: float = 1.0) -> None:
        super().__init__()
        self.limit = limit
        low, high = torch.tensor(ranges, dtype=torch.float32).reshape(-1, 2).unbind(1)
        half = (high - low) / 2
        self.register_buffer("middle", (high + low) / 2, persistent=False)
        self.register_buffer("spread", torch.where(half > NARROW / 2, half, 0.0), persistent=False)

    def forward(self, numbers: Tensor) -> Tensor:
        """Scaled; 0 where the range is a point."""
        wide = self.spread > 0
        scaled = torch.where(wide, (numbers - self.middle) / torch.where(wide, self.spread, 1.0), 0.0)
        return scaled.clamp(-self.limit, self.limit)

    def back(self, scaled: Tensor) -> Tensor:
        """The numbers again."""
        return self.middle + scaled * self.spread


def to_bins(scaled: Tensor) -> Tensor:
    """The bin from 0 to 255 of each number from -1 to 1."""
    return ((scaled.clamp(-1.0, 1.0) + 1.0) * (BINS / 2)).long().clamp(max=BINS - 1)


def from_bins(bins: Tensor) -> Tensor:
    """The middle of each bin."""
    return (bins.float() + 0.5) * (2.0 / BINS) - 1.0
