"""ST-LPIPS, the shift-tolerant learned perceptual distance, with its published AlexNet weights.

The weights come from the package `stlpips-pytorch`. Only its weight file is read: importing the package itself would
want IPython and more. It is a distance between pictures as people see them, learned from judgements on photographs;
it is neither DreamSim nor DINO, and its scores are not comparable with theirs.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.judges.similarity.default import stlpips_weights
from agentrl.judges.similarity.network import NetworkScorer
from agentrl.judges.similarity.scorer import Pair, Size, common_size

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
        self.arguments = {"max_side": self.max_side, **self.arguments}
        # channels last: a fifth quicker on a processor, and what tensor cores want
        network: Any = published_network()
        self.network = network.to(self.device, memory_format=torch.channels_last)

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


# ---------------------------------------------------------------------- the network
#
# The shift-tolerant AlexNet of Ghildyal and Liu (2022), written for comparing many pictures with few targets. Every
# place where AlexNet takes only each second position blurs first, so that a picture moved by a pixel gives nearly the
# same features. A position's features are made unit vectors, their differences squared, weighed by learned weights
# and averaged over the picture. Here weights and averages go into the features themselves: a picture becomes one long
# vector, and the distance of two pictures is the squared distance of their vectors.

# (in, out, kernel, padding) of each convolution, and its place in the published state dict.
CONVOLUTIONS = {
    "net.slice1.0": (3, 64, 11, 2),
    "net.slice2.5": (64, 192, 5, 2),
    "net.slice3.9": (192, 384, 3, 1),
    "net.slice4.11": (384, 256, 3, 1),
    "net.slice5.13": (256, 256, 3, 1),
}
# Pixels between -1 and 1 are brought to the range that the network was trained with.
SHIFT, SCALE = "scaling_layer.shift", "scaling_layer.scale"
BLUR, LAST_TWO = (0.25, 0.5, 0.25), (0.5, 0.5)
TINY = 1e-10  # positions without any feature must not divide by zero


class ShiftTolerantAlexNet(nn.Module):
    """From pixels to the vector whose squared distances are ST-LPIPS."""

    shift: Tensor
    scale: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList(
            nn.Conv2d(inside, outside, kernel, padding=padding)
            for inside, outside, kernel, padding in CONVOLUTIONS.values()
        )
        for buffer in ("shift", "scale"):
            self.register_buffer(buffer, torch.zeros(1, 3, 1, 1))
        for index, (_, outside, _, _) in enumerate(CONVOLUTIONS.values()):
            self.register_buffer(f"weight{index}", torch.zeros(1, outside, 1, 1))

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Take the published weights; `KeyError` or `RuntimeError` where they do not fit."""
        own = {"shift": state[SHIFT], "scale": state[SCALE]}
        for index, name in enumerate(CONVOLUTIONS):
            own[f"convolutions.{index}.weight"] = state[f"{name}.weight"]
            own[f"convolutions.{index}.bias"] = state[f"{name}.bias"]
            own[f"weight{index}"] = state[f"lin{index}.model.1.weight"]
        self.load_state_dict(own)

    def forward(self, pictures: Tensor) -> Tensor:
        """uint8 [n, 3, height, width] -> [n, features]."""
        pixels = (pictures.float() / 127.5 - 1 - self.shift) / self.scale
        layers = []
        first: Any
        first, *others = self.convolutions
        maps = functional.relu(thinned_convolution(pixels, first))
        for index in range(len(CONVOLUTIONS)):
            if index in (1, 2):  # AlexNet pools before its second and third convolution
                maps = thin_out(functional.max_pool2d(maps, 3, stride=1))
            if index > 0:
                maps = functional.relu(others[index - 1](maps))
            unit = maps / (maps.square().sum(dim=1, keepdim=True).sqrt() + TINY)
            share = (self.get_buffer(f"weight{index}") / (maps.shape[2] * maps.shape[3])).sqrt()
            layers.append((unit * share).flatten(1))
        return torch.cat(layers, dim=1)


def thin_out(maps: Tensor) -> Tensor:
    """Blur by (1, 2, 1) / 4 in both directions and keep each second position; the border mirrors two positions."""
    channels = maps.shape[1]
    window = _outer(BLUR, BLUR, maps).expand(channels, 1, 3, 3)
    padded = functional.pad(maps, (2, 2, 2, 2), mode="reflect")
    return functional.conv2d(padded, window, stride=2, groups=channels)


def thinned_convolution(pixels: Tensor, convolution: nn.Conv2d) -> Tensor:
    """`thin_out(convolution(pixels))`, a third of the work: three quarters of the positions are never computed.

    Blurring after convolving is convolving with a blurred kernel. Only the mirrored borders differ. At the first border
    the mirror image equals its neighbour, as the window is symmetric; so it does at the last one when the positions are
    odd in number. When they are even, the window there sees the last two positions, each with half the weight.
    """
    margin = int(convolution.padding[0])
    padded = functional.pad(pixels, (margin,) * 4)
    reach = convolution.kernel_size[0] - 1
    height, width = padded.shape[2] - reach, padded.shape[3] - reach
    outside, inside, *size = convolution.weight.shape
    kernels = convolution.weight.reshape(outside * inside, 1, *size)
    strips = []
    for tall, rows in _windows(padded, 2, height):
        parts = []
        for wide, part in _windows(rows, 3, width):
            spread = (len(tall) - 1, len(wide) - 1)
            blurred = functional.conv2d(kernels, _outer(tall, wide, kernels), padding=spread)
            blurred = blurred.reshape(outside, inside, *blurred.shape[2:])
            parts.append(functional.conv2d(part, blurred, convolution.bias, stride=2))
        strips.append(torch.cat(parts, dim=3))
    return functional.pad(torch.cat(strips, dim=2), (1, width % 2, 1, height % 2), mode="replicate")


def _windows(padded: Tensor, axis: int, positions: int) -> Iterator[tuple[tuple[float, ...], Tensor]]:
    yield BLUR, padded
    if positions % 2 == 0:
        yield LAST_TWO, padded.narrow(axis, positions - 2, padded.shape[axis] - positions + 2)


def _outer(tall: tuple[float, ...], wide: tuple[float, ...], like: Tensor) -> Tensor:
    return torch.outer(like.new_tensor(tall), like.new_tensor(wide))[None, None]
