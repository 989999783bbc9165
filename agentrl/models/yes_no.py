"""How likely a model is to answer YES rather than NO: the probabilities of the first token after a prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch

from agentrl.core.errors import ConfigError
from agentrl.models.chat import Prompt
from agentrl.models.loading import LoadedModel
from agentrl.models.scoring import Reader

YES, NO = "YES", "NO"
TOKEN_BUDGET = 16_384  # tokens (padding included) that go through the model together


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
    yes, no = (_spellings(loaded, word) for word in (YES, NO))
    if set(yes) & set(no):
        raise ConfigError("the model's tokenizer begins YES and NO with the same token; it cannot be asked")
    return AnswerTokens(yes, no)


def _spellings(loaded: LoadedModel, word: str) -> tuple[int, ...]:
    cases = [cased for text in (word, word.capitalize(), word.lower()) for cased in (text, f" {text}")]
    spelled = [loaded.encoder.text_ids(text) for text in cases]
    whole = [ids[0] for ids in spelled if len(ids) == 1]
    return tuple(dict.fromkeys([spelled[0][0], *whole]))


@torch.no_grad()
def yes_chances(
    loaded: LoadedModel, prompts: Sequence[Sequence[int]], token_budget: int = TOKEN_BUDGET
) -> list[Chance]:
    """The chances after each prompt, in order. Prompts of like length are read together."""
    reader, tokens, found = Reader.of(loaded, share_prefix=False), answer_tokens(loaded), dict[int, Chance]()
    head, model = loaded.model.get_output_embeddings(), loaded.model
    for batch in _batches(prompts, token_budget):
        states = reader.last_hidden(model, [Prompt(list(prompts[index])) for index in batch])
        logs = torch.log_softmax(head(states).float(), dim=-1)
        yes, no = (torch.logsumexp(logs[:, list(ids)], dim=-1) for ids in tokens)
        shares, masses = torch.sigmoid(yes - no).tolist(), (yes.exp() + no.exp()).clamp(0, 1).tolist()
        found |= {index: Chance(*pair) for index, *pair in zip(batch, shares, masses, strict=True)}
    return [found[index] for index in range(len(prompts))]


def _batches(prompts: Sequence[Sequence[int]], budget: int) -> Iterator[list[int]]:
    batch: list[int] = []
    for index in sorted(range(len(prompts)), key=lambda index: len(prompts[index]), reverse=True):
        if batch and (len(batch) + 1) * len(prompts[batch[0]]) > budget:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
