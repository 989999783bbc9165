"""The first word vectors of `tiny-shop`: tokens that mean the same begin alike."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from agentrl.policies.models.shop_vocabulary import kin

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedTokenizerFast

SORT, FORM = 0.7, 0.4  # sizes of what tells sorts and forms of words apart, in terms of what tells meanings apart
# Of the vectors' entries. A word that is copied must be able to outweigh 15,000 others from the start; with the small
# first weights of the layers, even a state that points straight at it would give it one chance in forty.
SPREAD = 0.15
MEMORY = 0.9  # likeness of neighbouring amounts


def begin_alike(model: Any, tokenizer: PreTrainedTokenizerFast) -> None:
    """Give every word vector parts for its meaning, its sort and its form, drawn from torch's own dice.

    A wish says "navy blue", a title "Navy Blue", and an answer writes it behind a bracket: three tokens. Without this
    a model has to find out word by word that they belong together, from few examples each; and likewise for each of a
    thousand attributes that it is one, and worth searching for.
    """
    import torch

    weights = model.get_input_embeddings().weight
    known = [kin(str(tokenizer.decode([index]))) for index in range(len(tokenizer))]
    with torch.no_grad():
        meanings, sorts, forms = (_drawn(names, weights.shape[1]) for names in zip(*known, strict=True))
        for index, (meaning, sort, form) in enumerate(known):
            weights[index] = SPREAD * (meanings[meaning] + SORT * sorts[sort] + FORM * forms[form])


def _drawn(names: Iterable[str], width: int) -> dict[str, Tensor]:
    """A vector for each name. Amounts are drawn in order, each like its neighbours: more and less can be seen."""
    import torch

    drawn = {name: torch.randn(width) for name in dict.fromkeys(names)}
    amounts = sorted((name for name in drawn if re.fullmatch("[0-9]+ tens", name)), key=lambda name: int(name[:-5]))
    for less, more in pairwise(amounts):
        drawn[more] = MEMORY * drawn[less] + (1 - MEMORY**2) ** 0.5 * drawn[more]
    return drawn
