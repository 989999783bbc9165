"""Data augmentation: words of demonstrations are substituted, by the same ones in the prompt and in the reply.

A small model that sees a few hundred names learns them by heart instead of learning to copy, and copies no other. When
every demonstration comes with other names each time, knowing them is of no use; what is left to learn is to copy.

Only tokens that are whole words or short numbers are exchanged, each for one of its kind: capitalised, lower case, of
as many digits. A word keeps its identity with and without the space before it. Phrases that a word-level tokenizer
(`build_tokenizer`) has as one token are no words: the fixed parts of prompts and actions stay what they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from agentrl.trainers.update.batch import Row

KINDS = (r"[A-Z][a-z]+", r"[a-z]+", r"[0-9]", r"[0-9]{2}")


class WordSubstituter:
    """Exchanges words of a tokenizer."""

    def __init__(self, tokenizer: Any) -> None:
        self._words: list[list[tuple[int, int]]] = [[] for _ in KINDS]  # token ids without and with a space before
        self._place: dict[int, tuple[int, int]] = {}  # token id -> kind and place among its words
        ids = {text: token for token in range(len(tokenizer)) if (text := tokenizer.decode([token]))}
        for text, token in ids.items():
            kind = next((kind for kind, pattern in enumerate(KINDS) if re.fullmatch(pattern, text)), None)
            if kind is None or f" {text}" not in ids:  # single letters, which are bytes, have no second form
                continue
            pair = (token, ids[f" {text}"])
            self._place |= dict.fromkeys(pair, (kind, len(self._words[kind])))
            self._words[kind].append(pair)

    def substitute(self, row: Row, rng: torch.Generator) -> Row:
        """The row with other words."""
        mapping: dict[int, int] = {}
        for kind, words in enumerate(self._words):
            used = sorted({self._place[token][1] for token in row.ids if self._place.get(token, (-1,))[0] == kind})
            chosen = torch.randperm(len(words), generator=rng)[: len(used)].tolist() if used else []
            for old, new in zip(used, chosen, strict=True):
                mapping |= dict(zip(words[old], words[new], strict=True))
        return replace(row, ids=[mapping.get(token, token) for token in row.ids])


def substitute_words(
    rows: Sequence[Row], share: float, substituter: WordSubstituter, rng: torch.Generator
) -> list[Row]:
    """A share of the rows with other words, drawn anew in every call."""
    drawn = torch.rand(len(rows), generator=rng).tolist()
    return [substituter.substitute(row, rng) if one < share else row for row, one in zip(rows, drawn, strict=True)]
