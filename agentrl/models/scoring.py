"""The forward pass over token sequences: log-probabilities and entropies of their targets, hidden states for values.

Rows of one environment begin with the same tokens (the rules of the game, mostly). That prefix is read once, with
gradients, and its keys and values are shared by all rows of the batch; the result is the same, only quicker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from agentrl.models.chat import Prompt, PromptEncoder
from agentrl.models.loading import LoadedModel
from agentrl.models.prefix import shared_length
from agentrl.models.sampling import pack

SHORTEST_PREFIX = 8  # tokens; below that a second pass costs more than it saves
# A GPU reads that many tokens while the CPU launches the kernels of one pass (SmolLM2-135M on an H200: 140 ms).
LEAST_SAVED = {"cuda": 16_384}


class Row(Protocol):
    """A token sequence with the places of its targets and the pictures that it shows."""

    ids: list[int]
    targets: list[int]
    images: list[Any]


class Hidden(NamedTuple):
    """Last hidden states at the rows' targets, `[rows, targets, width]`: before each token is written, and after it."""

    before: Tensor
    after: Tensor


@dataclass(frozen=True)
class Reader:
    """Reads rows with one model's conventions (padding, pictures, positions)."""

    encoder: PromptEncoder
    pad: int
    share_prefix: bool = True
    least_saved: int = 0  # tokens that a shared prefix must spare

    @classmethod
    def of(cls, engine: LoadedModel, *, share_prefix: bool = True) -> Reader:
        """For an engine's models."""
        return cls(engine.encoder, engine.pad, share_prefix, LEAST_SAVED.get(engine.model.device.type, 0))

    def hidden(self, model: Any, rows: Sequence[Row]) -> Hidden:
        """One pass (two with a shared prefix) of the model's body over the rows."""
        prompts = [self._prompt(row) for row in rows]
        prefix = self._prefix(rows) if self.share_prefix else 0
        batch = pack(model, prompts, self.pad, self.encoder.image_token, side="right")
        cache = None
        if prefix:
            ids, positions = batch.ids[:1, :prefix], batch.positions[..., :1, :prefix]
            cache = model.base_model(input_ids=ids, position_ids=positions, use_cache=True).past_key_values
            cache.batch_repeat_interleave(len(rows))
        found = model.base_model(
            input_ids=batch.ids[:, prefix:],
            position_ids=batch.positions[..., prefix:],
            attention_mask=batch.mask,
            past_key_values=cache,
            use_cache=bool(prefix),
            **batch.extra,
        ).last_hidden_state
        places = target_places(rows).to(found.device) - prefix
        return Hidden(_pick(found, (places - 1).clamp(min=0)), _pick(found, places.clamp(min=0)))

    def last_hidden(self, model: Any, prompts: Sequence[Prompt]) -> Tensor:
        """`[rows, width]`: after the last token of each prompt."""
        batch = pack(model, prompts, self.pad, self.encoder.image_token, side="right")
        found = model.base_model(
            input_ids=batch.ids, position_ids=batch.positions, attention_mask=batch.mask, use_cache=False, **batch.extra
        ).last_hidden_state
        return _pick(found, batch.mask.sum(1, keepdim=True) - 1)[:, 0]

    def _prompt(self, row: Row) -> Prompt:
        pixels, grids, _ = self.encoder.pictures(row.images) if row.images else (None, None, [])
        ids = row.ids
        if ids[-1] == self.encoder.image_token:
            # A reply ended with it: it is predicted, but there is no picture to read.
            ids = [*ids[:-1], self.pad]
        return Prompt(ids, pixels, grids)

    def _prefix(self, rows: Sequence[Row]) -> int:
        """Length of the shared beginning, 0 where it is not worth a pass of its own.

        It ends before the first token that is needed, and before any picture.
        """
        if len(rows) < 2:
            return 0
        limit = min(row.targets[0] for row in rows) - 1
        length = shared_length([row.ids for row in rows], self.encoder.image_token, at_most=limit)
        spared = length * (len(rows) - 1)
        return length if length >= SHORTEST_PREFIX and spared >= self.least_saved else 0


def target_places(rows: Sequence[Row]) -> Tensor:
    """`[rows, targets]`: the places of the targets; 0 after a row's last one."""
    width = max(len(row.targets) for row in rows)
    return torch.tensor([row.targets + [0] * (width - len(row.targets)) for row in rows])


def target_mask(rows: Sequence[Row]) -> Tensor:
    """`[rows, targets]`: False after a row's last target."""
    width = max(len(row.targets) for row in rows)
    return torch.tensor([[True] * len(row.targets) + [False] * (width - len(row.targets)) for row in rows])


def _pick(states: Tensor, places: Tensor) -> Tensor:
    return states.gather(1, places[..., None].expand(-1, -1, states.shape[-1]))


class Scores(NamedTuple):
    """`[rows, targets]` each; entropy only where it was asked for."""

    logprobs: Tensor
    entropy: Tensor | None


def token_scores(
    model: Any, before: Tensor, rows: Sequence[Row], temperature: float, *, entropy: bool = False
) -> Scores:
    """Log-probabilities of the targets at `temperature`, in float32, from the hidden states before them."""
    mask = target_mask(rows).to(before.device)
    tokens = torch.tensor([row.ids[place] for row in rows for place in row.targets], device=before.device)
    logits = model.get_output_embeddings()(before[mask]).float() / temperature
    spread = torch.log_softmax(logits, dim=-1)
    chosen = spread.gather(-1, tokens[:, None])[:, 0]
    logprobs = torch.zeros(mask.shape, device=before.device).masked_scatter(mask, chosen)
    if not entropy:
        return Scores(logprobs, None)
    each = -(spread.exp() * spread).sum(-1)
    return Scores(logprobs, torch.zeros(mask.shape, device=before.device).masked_scatter(mask, each))


def check_head(model: Any, vocabulary: int) -> bool:
    """Are the model's logits its output layer applied to its last hidden states, and nothing more?"""
    ids = torch.arange(8, device=model.device)[None] % vocabulary
    with torch.no_grad():
        plain = model.get_output_embeddings()(model.base_model(input_ids=ids, use_cache=False).last_hidden_state)
        return bool(torch.allclose(plain, model(input_ids=ids, use_cache=False).logits, atol=1e-3, rtol=1e-3))
