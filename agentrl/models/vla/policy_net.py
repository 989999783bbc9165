"""`VLA`: what both families of VLA networks share, and what a policy and a trainer ask of them."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import torch
from torch import Tensor, nn

from agentrl.models.vla.actions import Scale
from agentrl.models.vla.body import Body, Seen
from agentrl.models.vla.spec import CONFIG, WEIGHTS, VLASpec


class Drawn(NamedTuple):
    """Chunks that were drawn."""

    actions: Tensor  # from -1 to 1, [batch, chunk, numbers]
    logprobs: Tensor  # [batch, targets]
    # What `score` needs to find these log-probabilities again.
    record: Tensor  # tokens: bins [batch, tokens]; flow: the chain [batch, steps + 1, chunk, numbers]
    step: Tensor  # flow: which denoising step was random, [batch]; -1: all of them; tokens: -1


class Scored(NamedTuple):
    """The network's view of recorded chunks."""

    logprobs: Tensor  # [batch, targets]
    entropy: Tensor  # likewise
    state: Tensor  # the summary of the observation, [batch, width]


class VLA(nn.Module):
    """A body, and the way from it to actions."""

    def __init__(self, spec: VLASpec, language: nn.Module) -> None:
        super().__init__()
        self.spec = spec
        self.body = Body(spec, language)
        self.action_scale = Scale(spec.action_range)

    # ------------------------------------------------------------------ a family's own

    @property
    @abstractmethod
    def noise_numbers(self) -> int:
        """How many uniform numbers `draw` takes for a row."""

    @abstractmethod
    def draw(self, seen: Seen, noise: Tensor, *, temperature: float = 1.0, greedy: bool = False) -> Drawn:
        """Chunks, from uniform numbers in (0, 1) [batch, noise_numbers]; with `greedy` these are not read."""

    @abstractmethod
    def score(self, seen: Seen, record: Tensor, step: Tensor, *, temperature: float = 1.0) -> Scored:
        """Log-probabilities of recorded chunks, with gradients where they are switched on."""

    @abstractmethod
    def imitation_loss(self, seen: Seen, actions: Tensor, kept: Tensor, generator: torch.Generator) -> Tensor:
        """What each row [batch] lacks to imitate `actions` (from -1 to 1, [batch, chunk, numbers]); actions behind the
        end of an episode are not `kept` [batch, chunk]."""

    # ------------------------------------------------------------------ both

    def state(self, seen: Seen) -> Tensor:
        """The summary of observations, [batch, width]."""
        return self.body(seen).state

    @property
    def device(self) -> torch.device:
        """Where it is."""
        return self.body.state.weight.device

    @property
    def dtype(self) -> torch.dtype:
        """Of its weights."""
        return self.body.state.weight.dtype

    @property
    def config(self) -> Any:
        """The transformer's."""
        return self.body.language.config

    def save_pretrained(self, folder: str | Path, state_dict: dict[str, Tensor] | None = None) -> None:
        """Write `config.json` and `model.safetensors`, as transformers' models do; the tokenizer is not its own."""
        from safetensors.torch import save_file

        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        weights = self.state_dict() if state_dict is None else state_dict
        save_file({name: part.detach().contiguous() for name, part in weights.items()}, place / WEIGHTS)
        (place / CONFIG).write_bytes(msgspec.json.format(msgspec.json.encode(self.spec), indent=1) + b"\n")


def kept_actions(ran: Tensor, spec: VLASpec) -> Tensor:
    """Which actions of each chunk were carried out, [batch, chunk]."""
    return torch.arange(spec.chunk, device=ran.device) < ran[:, None]
