"""What the rows of a batch have in common is computed once: the keys and values of their shared first tokens.

Prompts of one environment begin with the same system prompt, the turns of one start state share nearly everything.
`prefill` reads the shared tokens as a batch of one, `expand` lends the result to every row, and the rest of the batch
(`after_prefix`) is read on top of it. All of it carries gradients, so samplers and trainers use it alike:

    length = shared_length([prompt.ids for prompt in prompts], image_token)
    whole = pack(model, prompts, pad, image_token, side="right")
    rest = after_prefix(whole, length)
    cache = expand(prefill(model, prompts[0].ids[:length]), len(prompts))
    model(rest.ids, attention_mask=rest.mask, position_ids=rest.positions, past_key_values=cache, **rest.extra)

The logits are those of the columns after the prefix. A trainer that needs the logits of each prompt's last token (they
score the first token of the answer) says `at_most=shortest prompt - 1`, so that this token is not part of the prefix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from agentrl.models.scoring import Batch


def prefill(model: Any, prefix: Sequence[int] | torch.Tensor) -> Any:
    """The key-value cache (of transformers) after `prefix`, a batch of one row; with gradients where switched on."""
    from transformers import DynamicCache

    cache = DynamicCache()
    if not len(prefix):
        return cache
    ids = torch.as_tensor(prefix, device=model.device)[None]
    positions = torch.arange(len(prefix), device=model.device)[None]
    if hasattr(model.config, "vision_config"):
        positions = positions.expand(3, 1, -1)  # time, height and width count alike where there are no pictures
    model(input_ids=ids, position_ids=positions, past_key_values=cache, use_cache=True, logits_to_keep=1)
    return cache


def expand(cache: Any, rows: int) -> Any:
    """A new cache that shows every row the one row of `cache`, without copying it; `cache` can be lent again."""
    from transformers import DynamicCache

    lent: Any = DynamicCache()
    for index, layer in enumerate(cache.layers):
        lent.update(layer.keys, layer.values, index)
        lent.layers[index].keys = layer.keys.expand(rows, -1, -1, -1)
        lent.layers[index].values = layer.values.expand(rows, -1, -1, -1)
    return lent


def after_prefix(batch: Batch, length: int) -> Batch:
    """The batch without its first `length` tokens, padded on the side it was; the mask covers the prefix too."""
    lengths = batch.mask.sum(-1, keepdim=True) - length
    width = batch.ids.shape[1] - length
    left_padded = not bool(batch.mask[:, 0].all())
    columns = torch.arange(width, device=batch.ids.device)
    # Padded on the left, the columns before a shorter row's rest hold prefix tokens: they are masked.
    own = columns >= width - lengths if left_padded else columns < lengths
    seen = torch.ones(len(batch.ids), length, dtype=batch.mask.dtype, device=batch.mask.device)
    return replace(
        batch,
        ids=batch.ids[:, length:],
        mask=torch.cat([seen, own.to(batch.mask.dtype)], dim=1),
        positions=batch.positions[..., length:],
    )
