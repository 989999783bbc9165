"""Free English about positions on a grid -> relations to the player.

The steps: lexemes (`tokens`), noun phrases and places (`phrases`), clauses (`clauses`), who is meant (`discourse`),
what follows (`facts`). Every step is a total function of the text and takes time linear in its length.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from agentrl.judges.grammar.chunker import Chunker
from agentrl.judges.grammar.chunks import Chunk
from agentrl.judges.grammar.clauses import ClauseReader
from agentrl.judges.grammar.discourse import Discourse
from agentrl.judges.grammar.facts import Facts
from agentrl.judges.grammar.tokens import MAX_CHARACTERS, lex
from agentrl.judges.grammar.vocabulary import Vocabulary
from agentrl.judges.relations import Relation

_SENTENCE_END = re.compile(r"(?<=[.;!?])\s+")
CACHED_LENGTH = 240  # longer sentences hardly ever come twice


class Reading(NamedTuple):
    """What a text claims. A voided claim contradicts itself: it stands among the claims with both axes None."""

    claims: list[Relation]
    voided: list[str]


def read_english(
    text: str, vocabulary: Vocabulary, prediction: bool = False, counts: dict[str, int] | None = None
) -> Reading:
    """The claims of a description, or of a prediction; `counts` says how many "all the holes" are."""
    people, facts = Discourse(vocabulary), Facts()
    ClauseReader(prediction, people, facts).read(chunks_of(text[:MAX_CHARACTERS], vocabulary))
    claims, voided = facts.relations(people, counts or {})
    wanted = vocabulary.names
    return Reading([claim for claim in claims if claim.object in wanted], [cls for cls in voided if cls in wanted])


def chunks_of(text: str, vocabulary: Vocabulary) -> list[Chunk]:
    """The chunks of a text, sentence by sentence: agents write the same sentences over and over."""
    found: list[Chunk] = []
    for sentence in _SENTENCE_END.split(text):
        read = remembered_chunks if len(sentence) <= CACHED_LENGTH else _chunks
        found += read(sentence, vocabulary)
    return found


def _chunks(sentence: str, vocabulary: Vocabulary) -> list[Chunk]:
    return Chunker(lex(sentence, vocabulary), vocabulary).chunks()


remembered_chunks = lru_cache(maxsize=8192)(_chunks)
