"""Attention over a prefix that all rows share and a part that is each row's own.

The keys and values of the prefix are stored once. For a single new token its share of the attention is one matrix
product of all rows against it, so the memory traffic of a step no longer grows with the length of the prompt's common
part. Queries of grouped heads stand side by side as rows of that product: no key is ever repeated.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

import torch

NAME = "agentrl_shared_prefix"
Pair = tuple[torch.Tensor, torch.Tensor]


class KeyValues:
    """Keys and values in place, in the shape of a transformers cache as far as models ask for one.

    The room for all rows and slots is taken once; new tokens are written into `slots`, so addresses never change and a
    captured graph can be run again. `visible` slots are shown to the model, `prefix_width` columns of the prefix.
    """

    is_compileable = False

    def __init__(self, rows: int, capacity: int, prefix_capacity: int) -> None:
        self.rows, self.capacity, self.prefix_capacity = rows, capacity, prefix_capacity
        self.own: list[Pair] = []
        self.shared: list[Pair] = []
        self.slots = torch.zeros(1, dtype=torch.long)
        self.visible, self.prefix_width = capacity, 0

    def update(self, keys: torch.Tensor, values: torch.Tensor, layer_idx: int, *_: Any, **__: Any) -> Pair:
        """Write what the model computed and show it all that is visible."""
        self.make_room(layer_idx, keys, values)
        kept_keys, kept_values = (kept[: len(keys)] for kept in self.own[layer_idx])
        kept_keys.index_copy_(2, self.slots, keys)
        kept_values.index_copy_(2, self.slots, values)
        return kept_keys[:, :, : self.visible], kept_values[:, :, : self.visible]

    def make_room(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> None:
        """For all rows and the prefix, if this layer has none yet; of the kind of these keys and values."""
        if layer == len(self.own):
            self.own.append((self._room(keys, self.rows, self.capacity), self._room(values, self.rows, self.capacity)))
        self._prefix_room(layer, keys, values)

    def load_prefix(self, computed: Any, length: int) -> None:
        """Take over a cache of one row (see `sampling.prefill`)."""
        self.prefix_width = length
        for index, layer in enumerate(computed.layers):
            self._prefix_room(index, layer.keys, layer.values)
            for kept, new in zip(self.shared[index], (layer.keys, layer.values), strict=True):
                kept[:, :length].copy_(new[0])

    def prefix(self, layer: int) -> Pair | None:
        """Keys and values of the prefix, [heads, length, size]; None without one."""
        if not self.prefix_width:
            return None
        keys, values = self.shared[layer]
        return keys[:, : self.prefix_width], values[:, : self.prefix_width]

    def keep(self, rows: torch.Tensor) -> None:
        """Only these rows stay."""
        self.rows = len(rows)
        self.own = [(keys[rows], values[rows]) for keys, values in self.own]

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Some models ask whether there is anything before; positions and masks are given to them."""
        return self.prefix_width + self.visible

    def _prefix_room(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> None:
        """Take it even for a batch that shares nothing: the step that it runs may be that of others that do."""
        if layer == len(self.shared):
            room = self.prefix_capacity
            self.shared.append((self._room(keys, 1, room)[0], self._room(values, 1, room)[0]))

    @staticmethod
    def _room(like: torch.Tensor, rows: int, length: int) -> torch.Tensor:
        # Zeros, not whatever lies there: a masked column still takes part, with weight 0, and 0 x NaN is NaN.
        return like.new_zeros(rows, like.shape[1], length, like.shape[3])


_reading: ContextVar[KeyValues] = ContextVar("key values of the running forward pass")


@contextmanager
def reading(model: Any, key_values: KeyValues) -> Iterator[None]:
    """Inside, the model's language layers attend through `key_values`; afterwards as before.

    The choice is a setting of the model: nothing else may use the same model at the same time.
    """
    from transformers import AttentionInterface

    AttentionInterface.register(NAME, shared_attention)
    config = model.config.get_text_config()
    before, token = config._attn_implementation, _reading.set(key_values)
    config._attn_implementation = NAME
    try:
        yield
    finally:
        config._attn_implementation = before
        _reading.reset(token)


def supported(model: Any) -> bool:
    """Is the model's attention the plain kind that `shared_attention` computes?"""
    config = model.config.get_text_config()
    kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
    special = ("attn_logit_softcapping", "attention_chunk_size", "num_kv_shared_layers", "kv_lora_rank")
    sliding = getattr(config, "sliding_window", None) and getattr(config, "use_sliding_window", True)
    plain = kinds == {"full_attention"} and not sliding and not any(getattr(config, name, None) for name in special)
    return bool(plain and getattr(model, "_supports_attention_backend", False))


def shared_attention(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor,
    scaling: float | None = None,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """What transformers calls in each layer: [rows, heads, tokens, size] in, [rows, tokens, heads, size] out.

    `attention_mask` is boolean, [rows, 1, tokens, prefix + own columns].
    """
    prefix = _reading.get().prefix(module.layer_idx)
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    attend = attend_one if query.shape[2] == 1 else attend_many
    return attend(query, (key, value), prefix, attention_mask, scale).transpose(1, 2).contiguous(), None


def attend_many(query: torch.Tensor, own: Pair, prefix: Pair | None, mask: torch.Tensor, scale: float) -> torch.Tensor:
    """Attention of whole prompts; the prefix is lent to every row for the length of this layer."""
    rows, heads, tokens, size = query.shape
    if prefix is not None:
        own = tuple(  # pyright: ignore[reportAssignmentType]
            torch.cat([shared.expand(rows, *shared.shape), mine], dim=2)
            for shared, mine in zip(prefix, own, strict=True)
        )
    kv_heads = own[0].shape[1]
    asked, seen = query.reshape(rows, kv_heads, -1, size), mask.repeat(1, 1, heads // kv_heads, 1)
    found = torch.nn.functional.scaled_dot_product_attention(asked, *own, attn_mask=seen, scale=scale)
    return found.reshape(rows, heads, tokens, size)


def attend_one(query: torch.Tensor, own: Pair, prefix: Pair | None, mask: torch.Tensor, scale: float) -> torch.Tensor:
    """Attention of one new token a row."""
    rows, heads, _, size = query.shape
    kv_heads, width = own[0].shape[1], 0 if prefix is None else prefix[0].shape[1]
    asked = query.reshape(rows, kv_heads, heads // kv_heads, size)
    scores = _against_own(asked, own[0].mT)
    if prefix is not None:
        scores = torch.cat([_against_shared(asked, prefix[0].mT), scores], dim=-1)
    weights = (scores * scale).masked_fill(~mask, -torch.inf).softmax(dim=-1).to(query.dtype)
    found = _against_own(weights[..., width:], own[1])
    if prefix is not None:
        found = found + _against_shared(weights[..., :width], prefix[1])
    return found.to(query.dtype).reshape(rows, heads, 1, size)


def _against_shared(left: torch.Tensor, shared: torch.Tensor) -> torch.Tensor:
    """[rows, heads, group, n] x [heads, n, m]: one product for each head, all rows in it."""
    rows, heads, group, inner = left.shape
    stacked = left.transpose(0, 1).reshape(heads, rows * group, inner)
    return products(stacked, shared).view(heads, rows, group, -1).transpose(0, 1)


def _against_own(left: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    """[rows, heads, group, n] x [rows, heads, n, m]."""
    if left.device.type == "cpu" and left.shape[2] == 1 and left.dtype == torch.float32:
        return (left.mT * own).sum(dim=2, keepdim=True)  # thousands of vector x matrix: quicker than a product of each
    return products(left, own)


def products(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Matrix products in float32 where the hardware adds them up so anyway; else converted afterwards."""
    if left.dtype != torch.float32 and _wide_products(left.device, left.dtype):
        shape = (*left.shape[:-1], right.shape[-1])
        return torch.bmm(left.flatten(0, -3), right.flatten(0, -3), out_dtype=torch.float32).view(shape)
    return (left @ right).float()


@cache
def _wide_products(device: torch.device, dtype: torch.dtype) -> bool:
    """Can this device give a float32 product of narrower numbers? Scores rounded to bf16 are less exact for nothing."""
    if device.type != "cuda":
        return False
    try:
        probe = torch.ones(1, 2, 2, device=device, dtype=dtype)
        return torch.bmm(probe, probe, out_dtype=torch.float32).dtype == torch.float32
    except (RuntimeError, TypeError):
        return False
