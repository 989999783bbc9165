"""ST-LPIPS, the shift-tolerant learned perceptual distance, with its published AlexNet weights.

The weights come from the package `stlpips-pytorch`. Only its weight file is read: importing the package itself would
want IPython and more. It is a distance between pictures as people see them, learned from judgements on photographs;
it is neither DreamSim nor DINO, and its scores are not comparable with theirs.
"""

from __future__ import annotations

import hashlib
import io
from typing import Any

import numpy as np
import torch
from torch import Tensor

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.judges.similarity.network import NetworkScorer
from agentrl.judges.similarity.pictures import Pair, Size, common_size
from agentrl.judges.similarity.stlpips_network import ShiftTolerantAlexNet
from agentrl.judges.similarity.weights_file import stlpips_weights

# Of the weights in stlpips-pytorch 0.0.2: with others, scores of two machines would not mean the same.
SHA256 = "b356b382f96010f77d085ee8343ecd9fd322d0a56e8de2b2d0549fafcad8b9ee"
SMALLEST = 32  # the network's windows do not fit into less


class ShiftTolerantLPIPS(NetworkScorer):
    """ST-LPIPS measured from the blank drawing up: `clip(1 - d / d_blank, 0, 1)`.

    Pictures are compared at their own size, at most `max_side` pixels (and at least 32, to which smaller ones are
    enlarged). A target is about 8 MB of features at 224 pixels; `cache_mb` bounds what is kept of them.
    """

    kind = "stlpips"

    def __init__(
        self,
        max_side: int = 224,
        *,
        device: str = "auto",
        threads: int | None = None,
        batch_size: int = 16,
        cache_mb: float = 256,
        above_blank: bool = True,
    ) -> None:
        shared = {"batch_size": batch_size, "cache_mb": cache_mb, "above_blank": above_blank}
        super().__init__(device=device, threads=threads, **shared)
        self.max_side = whole_number("max_side", max_side, at_least=SMALLEST, at_most=1024)
        # channels last: a fifth quicker on a processor, and what tensor cores want
        network: Any = published_network()
        self.network = network.to(self.device, memory_format=torch.channels_last)

    def _arguments(self) -> dict[str, Any]:
        return {"max_side": self.max_side, **super()._arguments()}

    def _size(self, pair: Pair) -> Size:
        return common_size(pair, at_most=self.max_side, at_least=SMALLEST)

    def _embed(self, pictures: np.ndarray) -> Tensor:
        pixels = torch.from_numpy(pictures).to(self.device).permute(0, 3, 1, 2)  # channels last already
        return self.network(pixels)

    def _compare(self, targets: Tensor, drawings: Tensor) -> Tensor:
        return (targets - drawings).square().sum(dim=1)


def published_network() -> ShiftTolerantAlexNet:
    """The network with the package's weights, checked to be the published ones."""
    if (path := stlpips_weights()) is None:
        raise MissingExtra("stlpips-pytorch", "similarity")
    data = path.read_bytes()
    if (found := hashlib.sha256(data).hexdigest()) != SHA256:
        raise ConfigError(
            f"{path} is not the file of stlpips-pytorch 0.0.2 (SHA-256 {found[:12]}..., not {SHA256[:12]}...); "
            "install it again: pip install --force-reinstall stlpips-pytorch==0.0.2"
        )
    network = ShiftTolerantAlexNet()
    network.load(torch.load(io.BytesIO(data), map_location="cpu", weights_only=True))
    return network.eval().requires_grad_(False)
