"""Free English about positions on a grid -> relations to the player.

The steps: lexemes (`tokens`), noun phrases and places (`phrases`), clauses (`clauses`), who is meant (`discourse`),
what follows (`facts`). Every step is a total function of the text and takes time linear in its length.
"""

from __future__ import annotations

from typing import NamedTuple

from agentrl.judges.clauses import ClauseReader
from agentrl.judges.discourse import Discourse
from agentrl.judges.facts import Facts
from agentrl.judges.phrases import Chunker
from agentrl.judges.relations import CLASSES, Relation
from agentrl.judges.tokens import lex

_UNIQUE = {"sokoban": frozenset[str](), "frozenlake": frozenset(("target",))}


class Reading(NamedTuple):
    """What a text claims. A voided claim contradicts itself: it stands among the claims with both axes None."""

    claims: list[Relation]
    voided: list[str]


def read_english(text: str, game: str, prediction: bool = False, counts: dict[str, int] | None = None) -> Reading:
    """The claims of a description, or of a prediction; `counts` says how many "all the holes" are."""
    people, facts = Discourse(_UNIQUE[game]), Facts()
    ClauseReader(prediction, people, facts).read(Chunker(lex(text, game)).chunks())
    claims, voided = facts.relations(people, counts or {})
    wanted = CLASSES[game]
    return Reading([claim for claim in claims if claim.object in wanted], [cls for cls in voided if cls in wanted])
