"""`ControlNet`: a small network from what a robot senses to its next actions; for behaviour cloning on a processor.

Pictures go through a few convolutions to where each feature is (a spatial softmax), numbers are scaled by what the data
showed, and a small perceptron makes of both the next `chunk` actions.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch
from torch import Tensor, nn

from agentrl.core.cache import write_atomically
from agentrl.core.errors import ConfigError

CONFIG, WEIGHTS = "control.json", "weights.safetensors"
CHANNELS = 32
SMALLEST_SPREAD = 1e-4  # a number that varies less is noise, and must not be blown up


class ControlSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a network reads and writes."""

    vectors: dict[str, int]  # parts of the observation that are numbers, and how many
    pictures: tuple[str, ...]  # parts that are pictures
    picture_size: int
    low: tuple[float, ...]  # bounds of an action
    high: tuple[float, ...]
    chunk: int = 1  # actions at a time
    hidden: int = 256
    trained_on: str = ""  # the environment's id, for people


class ControlNet(nn.Module):
    """From a batch of observations to actions [batch, chunk, n]."""

    mean: Tensor
    spread: Tensor

    def __init__(self, spec: ControlSpec) -> None:
        super().__init__()
        self.spec = spec
        count = sum(spec.vectors.values())
        self.register_buffer("mean", torch.zeros(count))
        self.register_buffer("spread", torch.ones(count))
        self.eyes = nn.ModuleDict({name: Eye() for name in spec.pictures})
        width = count + len(spec.pictures) * 2 * CHANNELS
        self.head = nn.Sequential(
            nn.Linear(width, spec.hidden), nn.LayerNorm(spec.hidden), nn.ReLU(),
            nn.Linear(spec.hidden, spec.hidden), nn.ReLU(),
            nn.Linear(spec.hidden, spec.chunk * len(spec.low)),
        )  # fmt: skip

    def forward(self, numbers: Tensor, pictures: Mapping[str, Tensor]) -> Tensor:
        """`numbers` [batch, all vectors], each picture uint8 [batch, height, width, 3]."""
        parts = [(numbers - self.mean) / self.spread]
        parts += [self.eyes[name](pictures[name]) for name in self.spec.pictures]
        return self.head(torch.cat(parts, 1)).unflatten(1, (self.spec.chunk, len(self.spec.low)))

    def fit_scale(self, numbers: Tensor) -> None:
        """Scale by what the data show; numbers that stay the same are left as they are."""
        spread = numbers.std(0, unbiased=False)
        self.mean.copy_(numbers.mean(0))
        self.spread.copy_(torch.where(spread > SMALLEST_SPREAD, spread, torch.ones_like(spread)))

    @torch.no_grad()
    def act(self, observations: list[Mapping[str, Any]]) -> np.ndarray:
        """Actions within their bounds, float32 [batch, chunk, n]."""
        self.eval()
        numbers, pictures = self.read(observations)
        low, high = np.array(self.spec.low, np.float32), np.array(self.spec.high, np.float32)
        return np.clip(self(numbers, pictures).numpy(), low, high)

    def read(self, observations: list[Mapping[str, Any]]) -> tuple[Tensor, dict[str, Tensor]]:
        """What the network needs of some observations; `ConfigError` if they do not have it."""
        side = self.spec.picture_size
        wanted = {name: (count,) for name, count in self.spec.vectors.items()}
        wanted |= {name: (side, side, 3) for name in self.spec.pictures}
        for observation in observations:
            known = observation.items() if isinstance(observation, dict) else ()
            found = {name: np.shape(value) for name, value in known}
            for name, shape in wanted.items():
                if found.get(name) != shape:
                    raise ConfigError(
                        f"this policy was trained on observations with {name!r} of shape {shape}; "
                        f"got {found.get(name, 'none')}. "
                        "Make the environment with the arguments it was trained with (obs_mode, image_size)"
                    )
        rows = [np.concatenate([seen[name] for name in self.spec.vectors]) for seen in observations]
        pictures = {
            name: torch.from_numpy(np.stack([seen[name] for seen in observations])) for name in self.spec.pictures
        }
        return torch.from_numpy(np.stack(rows).astype(np.float32)), pictures

    # ------------------------------------------------------------------ files

    def save(self, folder: Path) -> None:
        """Write the network into a folder."""
        from safetensors.torch import save

        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / WEIGHTS, save({name: part.contiguous() for name, part in self.state_dict().items()}))
        write_atomically(folder / CONFIG, msgspec.json.format(msgspec.json.encode(self.spec), indent=2))

    @classmethod
    def load(cls, folder: str | Path) -> ControlNet:
        """Inverse of `save`; `ConfigError` on anything else."""
        from safetensors.torch import load

        place = Path(folder)
        try:
            spec = msgspec.json.decode((place / CONFIG).read_bytes(), type=ControlSpec)
            net = cls(spec)
            net.load_state_dict(load((place / WEIGHTS).read_bytes()))
        except (OSError, msgspec.MsgspecError, RuntimeError, ValueError) as error:
            raise ConfigError(f"{place} holds no cloned policy: {error}") from error
        return net


class Eye(nn.Module):
    """A picture to the places of its features: [batch, 2 * CHANNELS] numbers from -1 to 1."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, CHANNELS // 2, 5, stride=2, padding=2), nn.ReLU(),
            nn.Conv2d(CHANNELS // 2, CHANNELS, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1),
        )  # fmt: skip

    def forward(self, picture: Tensor) -> Tensor:
        """The mean place of each feature, weighted by how strongly it shows there."""
        seen = self.layers(picture.permute(0, 3, 1, 2).float() / 127.5 - 1.0)
        weights = torch.softmax(seen.flatten(2), 2).unflatten(2, seen.shape[2:])
        rows, columns = (torch.linspace(-1.0, 1.0, size) for size in seen.shape[2:])
        return torch.cat([(weights.sum(3) * rows).sum(2), (weights.sum(2) * columns).sum(2)], 1)
