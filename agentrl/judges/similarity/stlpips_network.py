"""The shift-tolerant AlexNet of ST-LPIPS (Ghildyal and Liu 2022), written for comparing many pictures with few targets.

Every place where AlexNet takes only each second position blurs first, so that a picture moved by a pixel gives nearly
the same features. A position's features are made unit vectors, their differences squared, weighed by learned weights
and averaged over the picture. Here weights and averages go into the features themselves: a picture becomes one long
vector, and the distance of two pictures is the squared distance of their vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

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
        for index, maps in enumerate(self._layers(pixels)):
            unit = maps / (maps.square().sum(dim=1, keepdim=True).sqrt() + TINY)
            share = (self.get_buffer(f"weight{index}") / (maps.shape[2] * maps.shape[3])).sqrt()
            layers.append((unit * share).flatten(1))
        return torch.cat(layers, dim=1)

    def _layers(self, pixels: Tensor) -> list[Tensor]:
        first: Any
        first, *others = self.convolutions
        maps = functional.relu(thinned_convolution(pixels, first))
        layers = [maps]
        for index, convolution in enumerate(others):
            if index < 2:  # AlexNet pools before its second and third convolution
                maps = thin_out(functional.max_pool2d(maps, 3, stride=1))
            maps = functional.relu(convolution(maps))
            layers.append(maps)
        return layers


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
    strips = []
    for tall, rows in _windows(padded, 2, height):
        parts = (
            functional.conv2d(part, _blurred(convolution.weight, tall, wide), convolution.bias, stride=2)
            for wide, part in _windows(rows, 3, width)
        )
        strips.append(torch.cat(list(parts), dim=3))
    return functional.pad(torch.cat(strips, dim=2), (1, width % 2, 1, height % 2), mode="replicate")


def _windows(padded: Tensor, axis: int, positions: int) -> Iterator[tuple[tuple[float, ...], Tensor]]:
    yield BLUR, padded
    if positions % 2 == 0:
        yield LAST_TWO, padded.narrow(axis, positions - 2, padded.shape[axis] - positions + 2)


def _blurred(kernels: Tensor, tall: tuple[float, ...], wide: tuple[float, ...]) -> Tensor:
    outside, inside, *size = kernels.shape
    window = _outer(tall, wide, kernels)
    spread = (len(tall) - 1, len(wide) - 1)
    wider = functional.conv2d(kernels.reshape(outside * inside, 1, *size), window, padding=spread)
    return wider.reshape(outside, inside, *wider.shape[2:])


def _outer(tall: tuple[float, ...], wide: tuple[float, ...], like: Tensor) -> Tensor:
    return torch.outer(like.new_tensor(tall), like.new_tensor(wide))[None, None]
