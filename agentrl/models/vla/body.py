"""The body of a VLA policy: pictures, the instruction and the robot's own state in one transformer.

Its sequence is `[pictures, instruction, state | actions]`. What stands before the bar sees all of that and nothing
behind it, so that the state token's output is a summary of the observation whatever the actions are; critics read it.
The actions see everything before the bar, and each other: all of them, or those before them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from agentrl.core.errors import ConfigError
from agentrl.models.vla.actions import Scale
from agentrl.models.vla.spec import VLASpec

TRANSFORMERS = ("qwen3", "qwen2", "llama")  # the kinds of `spec.body`
GRID = 4  # a picture becomes GRID x GRID tokens, and one that says where its features are
CHANNELS = (16, 32, 64)
FARTHEST = 3.0  # how far a number of the state may lie outside its range of 1: practice leads beyond demonstrations


class Seen(NamedTuple):
    """A batch of observations."""

    numbers: Tensor  # float32 [batch, all vectors]
    pictures: Mapping[str, Tensor]  # uint8 [batch, height, width, 3] of each camera
    ids: Tensor  # the instruction's tokens [batch, length]
    mask: Tensor  # where they are

    def to(self, device: Any) -> Seen:
        """The same on a device."""
        pictures = {name: rows.to(device, non_blocking=True) for name, rows in self.pictures.items()}
        return Seen(self.numbers.to(device), pictures, self.ids.to(device), self.mask.to(device))


class Read(NamedTuple):
    """What the transformer made of a batch."""

    prefix: Tensor  # [batch, length, width]
    mask: Tensor  # [batch, length]
    actions: Tensor  # [batch, actions, width]
    memory: Any  # keys and values, where they were asked for

    @property
    def state(self) -> Tensor:
        """The summary of the observation, [batch, width]."""
        return self.prefix[:, -1]


class Eye(nn.Module):
    """A picture as tokens: what is in each of its parts, and where each feature shows."""

    def __init__(self, width: int) -> None:
        super().__init__()
        first, second, last = CHANNELS
        self.layers = nn.Sequential(
            nn.Conv2d(3, first, 5, stride=2, padding=2), nn.ReLU(),
            nn.Conv2d(first, second, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(second, last, 3, padding=1),
        )  # fmt: skip
        self.parts = nn.Linear(last, width)
        self.places = nn.Linear(2 * last, width)
        self.position = nn.Parameter(torch.randn(GRID * GRID + 1, width) * 0.02)

    def forward(self, picture: Tensor) -> Tensor:
        """[batch, GRID * GRID + 1, width] from uint8 [batch, height, width, 3]."""
        found = self.layers(picture.permute(0, 3, 1, 2).float() / 127.5 - 1.0)
        parts = self.parts(nn.functional.adaptive_avg_pool2d(found.relu(), GRID).flatten(2).transpose(1, 2))
        weights = torch.softmax(found.flatten(2), 2).unflatten(2, found.shape[2:])
        rows, columns = (torch.linspace(-1.0, 1.0, size, device=found.device) for size in found.shape[2:])
        places = torch.cat([(weights.sum(3) * rows).sum(2), (weights.sum(2) * columns).sum(2)], 1)
        return torch.cat([parts, self.places(places)[:, None]], 1) + self.position


class Body(nn.Module):
    """Eyes, the state's token and a transformer of a language model."""

    def __init__(self, spec: VLASpec, language: nn.Module) -> None:
        super().__init__()
        self.language: Any = language
        self.width = int(self.language.config.hidden_size)
        self.eyes = nn.ModuleDict({name: Eye(self.width) for name in spec.cameras})
        self.scale = Scale(spec.vector_range, FARTHEST)
        self.state = nn.Linear(max(1, sum(spec.vectors.values())), self.width)

    def forward(self, seen: Seen, actions: Tensor | None = None, *, causal: bool = False, keep: bool = False) -> Read:
        """Read a batch, and the embedded actions [batch, actions, width] behind it; `keep` the memory to go on from."""
        prefix, mask = self.prefix(seen)
        rows, length = mask.shape
        inputs = prefix if actions is None else torch.cat([prefix, actions], 1)
        count = inputs.shape[1] - length
        sees = torch.zeros(rows, inputs.shape[1], inputs.shape[1], dtype=torch.bool, device=mask.device)
        sees[:, :, :length] = mask[:, None]
        among = torch.ones(count, count, dtype=torch.bool, device=mask.device)
        sees[:, length:, length:] = among.tril() if causal else among
        places = positions(mask, count)
        found = self.language(inputs_embeds=inputs, attention_mask=sees[:, None], position_ids=places, use_cache=keep)
        hidden = found.last_hidden_state
        return Read(hidden[:, :length], mask, hidden[:, length:], found.past_key_values if keep else None)

    def further(self, read: Read, action: Tensor, number: int) -> Tensor:
        """The output [batch, width] of one action more, the `number`-th, behind what `read.memory` holds."""
        sees = torch.cat([read.mask, read.mask.new_ones(len(read.mask), number + 1)], 1)
        places = positions(read.mask, number + 1)[:, -1:]
        found = self.language(
            inputs_embeds=action[:, None], attention_mask=sees[:, None, None], position_ids=places,
            past_key_values=read.memory, use_cache=True,
        )  # fmt: skip
        return found.last_hidden_state[:, 0]

    def prefix(self, seen: Seen) -> tuple[Tensor, Tensor]:
        """The embedded observation, and which of it there is."""
        rows = len(seen.ids)
        pictures = [eye(seen.pictures[name]) for name, eye in self.eyes.items()]
        words = self.embeddings(seen.ids)
        numbers = self.scale(seen.numbers) if seen.numbers.shape[1] else seen.numbers.new_zeros(rows, 1)
        given = torch.cat([*pictures, words, self.state(numbers)[:, None]], 1)
        mask = seen.mask.new_ones(rows, given.shape[1])
        first = given.shape[1] - 1 - words.shape[1]
        mask[:, first:-1] = seen.mask
        return given, mask

    @property
    def embeddings(self) -> Any:
        """Of the language model's tokens."""
        return self.language.get_input_embeddings()


def positions(mask: Tensor, count: int) -> Tensor:
    """Places in the sequence, of what there is of a prefix and of `count` actions behind it."""
    before = (mask.long().cumsum(1) - 1).clamp(min=0)
    behind = torch.arange(1, count + 1, device=mask.device) + before[:, -1:]
    return torch.cat([before, behind], 1)


def make_language(config: dict[str, Any]) -> nn.Module:
    """The transformer that `spec.body` describes, with first weights; `ConfigError` where it is none of ours."""
    from transformers import AutoConfig, AutoModel

    if config.get("model_type") not in TRANSFORMERS:
        raise ConfigError(f"body must be a transformer of {', '.join(TRANSFORMERS)}; got {config.get('model_type')!r}")
    try:
        told = AutoConfig.for_model(**config)
        told._attn_implementation = "sdpa"
        return AutoModel.from_config(told, dtype=torch.float32)
    except (TypeError, ValueError, RuntimeError, AttributeError, KeyError) as error:
        raise ConfigError(f"the body cannot be made: {type(error).__name__}: {error}") from error
