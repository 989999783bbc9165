"""The forward pass over token sequences: log-probabilities and entropies of their targets, hidden states for values.

Rows of one environment begin with the same tokens (the rules of the game, mostly). That prefix is read once, with
gradients, and its keys and values are shared by all rows of the batch; the result is the same, only quicker. Rows are
padded to one length, or *packed*: one after the other in a single sequence, each attending to itself and the prefix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, chain
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from agentrl.models.chat import Prompt, PromptEncoder
from agentrl.models.loading import LoadedModel
from agentrl.models.packed_attention import Packing

SHORTEST_PREFIX = 8  # tokens; below that a second pass costs more than it saves
# A GPU reads that many tokens while the CPU launches the kernels of one pass (SmolLM2-135M on an H200: 140 ms).
LEAST_SAVED = {"cuda": 16_384}
FULL = 64  # packed sequences are filled up to a multiple of this: products of even sizes are quicker
HEAD_CHUNK = 4096  # targets whose logits are in memory at a time, on a GPU
Entropy = Literal["none", "watched", "learned"]


class Row(Protocol):
    """A token sequence with the places of its targets and the pictures that it shows."""

    ids: list[int]
    targets: list[int]
    images: list[Any]

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """`ids` and `targets` as arrays: a GPU would wait for what is put together from lists."""
        ...


def upload(tensor: Tensor, device: Any) -> Tensor:
    """To the device, without waiting for what it is doing."""
    if torch.device(device).type != "cuda":
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)


@dataclass
class Batch:
    """Prompts side by side, padded on the left, with the positions the model counts in."""

    ids: Tensor
    mask: Tensor
    positions: Tensor  # [rows, length], or [3, rows, length] where pictures have height and width
    next_position: Tensor
    extra: dict[str, Any]


def pack(model: Any, prompts: Sequence[Prompt], pad: int, image_token: int | None, side: str = "left") -> Batch:
    """Pad and move to the model's device."""
    longest = max(len(prompt.ids) for prompt in prompts)
    rows = np.full((len(prompts), longest), pad)
    lengths = np.array([len(prompt.ids) for prompt in prompts])
    columns = np.arange(longest)
    inside = columns >= longest - lengths[:, None] if side == "left" else columns < lengths[:, None]
    rows[inside] = list(chain.from_iterable(prompt.ids for prompt in prompts))  # row by row, as they stand
    ids = torch.from_numpy(rows).to(model.device)
    mask = torch.from_numpy(inside).to(model.device, torch.long)
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    following = mask.sum(-1)
    shown = [prompt for prompt in prompts if prompt.pixels is not None]
    if image_token is None:
        return Batch(ids, mask, positions, following, {})
    if not shown:
        return Batch(ids, mask, positions.expand(3, -1, -1), following, {})
    pixels = torch.cat([prompt.pixels for prompt in shown]).to(model.device, model.dtype)
    grids = torch.cat([prompt.grids for prompt in shown]).to(model.device)
    kinds = (ids == image_token).int() * mask.int()
    positions, shift = model.model.get_rope_index(ids, kinds, image_grid_thw=grids, attention_mask=mask)
    extra = {"pixel_values": pixels, "image_grid_thw": grids}
    return Batch(ids, mask, positions, following + shift[:, 0], extra)


def shared_length(rows: Sequence[Sequence[int]], image_token: int | None = None, at_most: int | None = None) -> int:
    """How many first tokens all rows share, at most `at_most`; every row keeps at least one token of its own.

    It ends before the first picture: equal tokens stand for different pictures.
    """
    if not rows:
        return 0
    # Whatever the least and the greatest row share, the rows between them share too.
    ordered = [tuple(row) for row in rows]
    first, last = min(ordered), max(ordered)
    shortest = min(map(len, rows)) - 1
    length = shortest if at_most is None else min(shortest, at_most)
    differing = (index for index in range(length) if first[index] != last[index] or first[index] == image_token)
    return max(0, next(differing, length))


class Targets:
    """The targets of some rows as one flat list, and as a table `[rows, targets]` that is 0 after a row's last one."""

    def __init__(self, rows: Sequence[Row], device: Any) -> None:
        self.counts = np.array([len(row.targets) for row in rows])
        self.shape = len(rows), int(self.counts.max())
        tokens = np.concatenate([ids[places] for ids, places in (row.arrays for row in rows)])
        skipped = np.arange(len(rows)) * self.shape[1] - (self.counts.cumsum() - self.counts)  # cells left empty so far
        cells = np.arange(len(tokens)) + np.repeat(skipped, self.counts)
        self.tokens, self.cells = upload(torch.from_numpy(np.stack([tokens, cells])), device)
        self.mask = self.table(torch.ones(len(cells), dtype=torch.bool, device=device))

    def table(self, flat: Tensor) -> Tensor:
        """`[rows, targets, ...]` from `[all targets, ...]`."""
        empty = flat.new_zeros(self.shape[0] * self.shape[1], *flat.shape[1:])
        return empty.index_copy(0, self.cells, flat).view(*self.shape, *flat.shape[1:])


class Hidden(NamedTuple):
    """Last hidden states at the targets of all rows, `[all targets, width]`: before each is written, and after it."""

    before: Tensor
    after: Tensor
    targets: Targets


@dataclass(frozen=True)
class Reader:
    """Reads rows with one model's conventions (padding, pictures, positions)."""

    encoder: PromptEncoder
    pad: int
    share_prefix: bool = True
    least_saved: int = 0  # tokens that a shared prefix must spare
    packed: bool = False  # its models attend by `attend_packed`

    @classmethod
    def of(cls, engine: LoadedModel, *, share_prefix: bool = True, packed: bool = False) -> Reader:
        """For an engine's models."""
        least = 0 if packed else LEAST_SAVED.get(engine.model.device.type, 0)  # packed, a prefix is no second pass
        return cls(engine.encoder, engine.pad, share_prefix, least, packed)

    def lengths(self, rows: Sequence[Row]) -> list[int]:
        """How many tokens of each row go through the model, as far as that is known before rows are put together."""
        prefix = self._prefix(rows) if self.packed and self.share_prefix else 0
        return [len(row.ids) - prefix for row in rows]

    def hidden(self, model: Any, rows: Sequence[Row]) -> Hidden:
        """One pass of the model's body over the rows (two where they are padded and share a prefix)."""
        prefix, targets = self._prefix(rows) if self.share_prefix else 0, Targets(rows, model.device)
        if self.packed:
            states, starts = self._packed(model, [row.arrays[0] for row in rows], prefix)
        else:
            prompts = []
            for row in rows:
                pixels, grids, _ = self.encoder.pictures(row.images) if row.images else (None, None, [])
                # A reply may end with an image token: it is predicted, but there is no picture to read.
                ids = [*row.ids[:-1], self.pad] if row.ids[-1] == self.encoder.image_token else row.ids
                prompts.append(Prompt(ids, pixels, grids))
            states, starts = self._padded(model, prompts, prefix)
        own, first = np.concatenate([row.arrays[1] for row in rows]), np.repeat(starts, targets.counts)
        places = upload(torch.from_numpy(first + np.stack([np.maximum(own - 1, 0), own])), states.device)
        return Hidden(states.index_select(0, places[0]), states.index_select(0, places[1]), targets)

    def last_hidden(self, model: Any, prompts: Sequence[Prompt]) -> Tensor:
        """`[rows, width]`: after the last token of each prompt."""
        if self.packed:
            states, starts = self._packed(model, [np.array(prompt.ids) for prompt in prompts], 0)
        else:
            states, starts = self._padded(model, prompts, 0)
        last = [start + len(prompt.ids) - 1 for start, prompt in zip(starts, prompts, strict=True)]
        return states.index_select(0, upload(torch.tensor(last), states.device))

    # All hidden states as one list, and the place in it of each row's first token (less a shared prefix):

    def _padded(self, model: Any, prompts: Sequence[Prompt], prefix: int) -> tuple[Tensor, list[int]]:
        batch = pack(model, prompts, self.pad, self.encoder.image_token, side="right")
        cache = None
        if prefix:
            ids, positions = batch.ids[:1, :prefix], batch.positions[..., :1, :prefix]
            cache = model.base_model(input_ids=ids, position_ids=positions, use_cache=True).past_key_values
            cache.batch_repeat_interleave(len(prompts))
        found = model.base_model(
            input_ids=batch.ids[:, prefix:],
            position_ids=batch.positions[..., prefix:],
            attention_mask=batch.mask,
            past_key_values=cache,
            use_cache=bool(prefix),
            **batch.extra,
        ).last_hidden_state
        width = found.shape[1]
        return found.flatten(0, 1), [number * width - prefix for number in range(len(prompts))]

    def _packed(self, model: Any, rows: Sequence[np.ndarray], prefix: int) -> tuple[Tensor, list[int]]:
        own = [ids[prefix:] for ids in rows]
        filling = -(prefix + sum(map(len, own))) % FULL
        own += [np.full(filling, self.pad)] if filling else []
        lengths = [len(ids) for ids in own]
        packing, positions = Packing.of(lengths, prefix)
        moved = {name: upload(part, model.device) for name, part in packing._asdict().items() if name != "longest"}
        packing, positions = packing._replace(**moved), upload(positions, model.device)
        ids = upload(torch.from_numpy(np.concatenate([rows[0][:prefix], *own]))[None], model.device)
        inputs = {"input_ids": ids, "position_ids": positions[None], "packing": packing}
        found = model.base_model(**inputs, use_cache=False).last_hidden_state[0]
        # The prefix stands in front of the first row, where every row's own would begin.
        return found, list(accumulate(lengths[: len(rows) - 1], initial=0))

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


class Scores(NamedTuple):
    """`[rows, targets]` each; entropy only where it was asked for."""

    logprobs: Tensor
    entropy: Tensor | None


def token_scores(
    model: Any,
    before: Tensor,
    targets: Targets,
    temperature: float,
    *,
    entropy: Entropy = "none",
    compiled: bool = False,
) -> Scores:
    """Log-probabilities of the targets at `temperature`, in float32, from the hidden states before them.

    Entropy has a gradient only where it is to be learned from. On a GPU nothing of the size of the vocabulary is kept:
    logits are computed for some targets at a time, and again on the way back.
    """
    head, work = model.get_output_embeddings(), _scores(temperature, entropy, compiled)
    if before.is_cuda:
        pieces = zip(before.split(HEAD_CHUNK), targets.tokens.split(HEAD_CHUNK), strict=True)
        found = [checkpoint(work, head, *piece, use_reentrant=False) for piece in pieces]
        chosen, spread = (torch.cat(part) for part in zip(*found, strict=True))
    else:
        chosen, spread = work(head, before, targets.tokens)
    return Scores(targets.table(chosen), targets.table(spread) if entropy != "none" else None)


@cache
def _scores(
    temperature: float, entropy: Entropy, compiled: bool
) -> Callable[[Any, Tensor, Tensor], tuple[Tensor, Tensor]]:
    """From an output layer, hidden states and the tokens after them: the log-probability of each token, and the entropy
    of what it was drawn from (0 unless it was asked for)."""

    def work(head: Any, states: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        spread = torch.log_softmax(head(states).float() / temperature, dim=-1)
        chosen = spread.gather(-1, tokens[:, None])[:, 0]
        if entropy == "none":
            return chosen, torch.zeros_like(chosen)
        with torch.set_grad_enabled(torch.is_grad_enabled() and entropy == "learned"):
            return chosen, -(spread.exp() * spread).sum(-1)

    return torch.compile(work, dynamic=True) if compiled else work
