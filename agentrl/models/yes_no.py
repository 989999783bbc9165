"""How likely a model is to answer YES to a question: what an outcome reward model says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch

from agentrl.core.errors import ConfigError
from agentrl.models.chat import Prompt
from agentrl.models.loading import LoadedModel
from agentrl.models.scoring import Reader

YES, NO = "YES", "NO"
TOKEN_BUDGET = 16_384  # tokens (padding included) that are read together


class Chance(NamedTuple):
    """P(YES) / (P(YES) + P(NO)), and P(YES) + P(NO): how likely the model was to answer at all."""

    yes: float
    mass: float


class AnswerTokens(NamedTuple):
    """The tokens that begin an answer. Those in front are what a model is taught; further spellings count, too."""

    yes: tuple[int, ...]
    no: tuple[int, ...]


def answer_tokens(loaded: LoadedModel) -> AnswerTokens:
    """Those of a model. A tokenizer that spells the words in pieces answers with the first piece."""
    found = []
    for word in (YES, NO):
        cases = [cased for text in (word, word.capitalize(), word.lower()) for cased in (text, f" {text}")]
        spelled = [loaded.encoder.text_ids(text) for text in cases]
        whole = [ids[0] for ids in spelled if len(ids) == 1]
        found.append(tuple(dict.fromkeys([spelled[0][0], *whole])))
    if set(found[0]) & set(found[1]):
        raise ConfigError("the model's tokenizer begins YES and NO with the same token; it cannot be asked")
    return AnswerTokens(*found)


@torch.no_grad()
def yes_chances(
    loaded: LoadedModel, prompts: Sequence[Sequence[int]], token_budget: int = TOKEN_BUDGET
) -> list[Chance]:
    """The chances after each prompt, in order. Prompts of like length are read together."""
    reader, tokens, found = Reader.of(loaded, share_prefix=False), answer_tokens(loaded), dict[int, Chance]()
    head, model = loaded.model.get_output_embeddings(), loaded.model
    batches: list[list[int]] = []
    for index in sorted(range(len(prompts)), key=lambda index: len(prompts[index]), reverse=True):
        if not batches or (len(batches[-1]) + 1) * len(prompts[batches[-1][0]]) > token_budget:
            batches.append([])
        batches[-1].append(index)
    for batch in batches:
        states = reader.last_hidden(model, [Prompt(list(prompts[index])) for index in batch])
        logs = torch.log_softmax(head(states).float(), dim=-1)
        yes, no = (torch.logsumexp(logs[:, list(ids)], dim=-1) for ids in tokens)
        shares, masses = torch.sigmoid(yes - no).tolist(), (yes.exp() + no.exp()).clamp(0, 1).tolist()
        found |= {index: Chance(*pair) for index, *pair in zip(batch, shares, masses, strict=True)}
    return [found[index] for index in range(len(prompts))]
