"""The first word vectors of `tiny-shop`: tokens that mean the same begin alike."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from agentrl.policies.models.shop_vocabulary import kin

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedTokenizerFast

FORM = 0.4  # size of what tells forms apart, in terms of what tells meanings apart
# Of the vectors' entries. A word that is copied must be able to outweigh 15,000 others from the start; with the small
# first weights of the layers, even a state that points straight at it would give it one chance in forty.
SPREAD = 0.15
MEMORY = 0.9  # likeness of neighbouring amounts


def begin_alike(model: Any, tokenizer: PreTrainedTokenizerFast) -> None:
    """Give every word vector a part for its meaning and a smaller one for its form, drawn from torch's own dice.

    A wish says "navy blue", a title "Navy Blue", and an answer writes it behind a bracket: three tokens. Without this
    a model has to find out word by word that they belong together, from few examples each.
    """
    import torch

    weights = model.get_input_embeddings().weight
    names = [kin(str(tokenizer.decode([index]))) for index in range(len(tokenizer))]
    with torch.no_grad():
        meanings = _drawn([meaning for meaning, _ in names], weights.shape[1])
        forms = _drawn([form for _, form in names], weights.shape[1])
        for index, (meaning, form) in enumerate(names):
            weights[index] = SPREAD * (meanings[meaning] + FORM * forms[form])


def _drawn(names: list[str], width: int) -> dict[str, Tensor]:
    """A vector for each name. Amounts are drawn in order, each like its neighbours: more and less can be seen."""
    import torch

    drawn = {name: torch.randn(width) for name in dict.fromkeys(names)}
    amounts = sorted((name for name in drawn if re.fullmatch("[0-9]+ tens", name)), key=lambda name: int(name[:-5]))
    for less, more in pairwise(amounts):
        drawn[more] = MEMORY * drawn[less] + (1 - MEMORY**2) ** 0.5 * drawn[more]
    return drawn
