"""The rule judge: reads positions out of a text and compares them with the truth. No model, microseconds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from agentrl.core.claims import Claims
from agentrl.core.errors import ConfigError, JudgeFault
from agentrl.core.judging import JudgeRequest, Purpose, Verdict
from agentrl.judges.english import Reading, read_english
from agentrl.judges.fitting import DESCRIPTIONS, check_purposes, what_works
from agentrl.judges.grammar.tokens import MAX_CHARACTERS
from agentrl.judges.grammar.vocabulary import Vocabulary, vocabulary_of
from agentrl.judges.notation import read_notation
from agentrl.judges.relations import Relation, relations_of
from agentrl.judges.scoring import score_relations

CACHED_LENGTH = 2000


class RuleJudge:
    """Scores descriptions and predictions by the relations they claim, for any state that declares relations.

    English, dictionaries and drawings are all understood, wherever they stand in the text. A claim about one axis only
    ("the box is above the player") is read as "and not to the side". Claims that contradict each other count as one
    wrong claim, and a text that claims more objects than there are is worth less with each of them: guessing several
    times never pays.

    The evidence lists the relations claimed (as said), true and matched, and what was voided.
    """

    async def score(self, requests: Sequence[JudgeRequest]) -> list[Verdict | JudgeFault]:
        """The same as `score_sync`: there is nothing to wait for."""
        return self.score_sync(requests)

    def score_sync(self, requests: Sequence[JudgeRequest]) -> list[Verdict | JudgeFault]:
        """One verdict a request; a request that these rules cannot judge gets a `JudgeFault`."""
        return [judge(request) for request in requests]

    def check_env(self, env_id: str, claims: Claims | None, representation: str, purposes: Sequence[Purpose]) -> None:
        """Refuse states that declare no relations."""
        check_purposes("rule", purposes)
        if claims is None or claims.relations is None:
            raise ConfigError(f"judge 'rule' needs declared relations, which {env_id} lacks; {what_works(claims)}")


def judge(request: JudgeRequest) -> Verdict | JudgeFault:
    """The verdict on one description or prediction."""
    if request.purpose not in DESCRIPTIONS:
        return JudgeFault(f"the rule judge scores {' and '.join(DESCRIPTIONS)}; got {request.purpose!r}")
    if not isinstance(request.text, str):
        return JudgeFault(f"a description must be text; got {type(request.text).__name__}")
    try:
        declared, true = relations_of(request)
    except JudgeFault as fault:
        return fault
    names = [relation.object for relation in true]
    vocabulary = vocabulary_of(declared)
    counts = tuple((name, names.count(name)) for name in vocabulary.names)
    text, prediction = request.text, request.purpose == "worldmodeling"
    reading = (remembered_reading if len(text) <= CACHED_LENGTH else _read)(text, vocabulary, prediction, counts)
    score, evidence = score_relations(declared, [complete(claim) for claim in reading.claims], true, dilute=True)
    return Verdict(score, "rule", {**_evidence(reading, true), **evidence})


def read(text: str, vocabulary: Vocabulary, prediction: bool = False, counts: dict[str, int] | None = None) -> Reading:
    """Everything a text claims, in whatever notation; the claims of different notations add up unless they agree."""
    text = text[:MAX_CHARACTERS]
    sources, rest = read_notation(text, vocabulary)
    reading = read_english(rest, vocabulary, prediction, counts)
    if not sources:
        return reading
    drawn: Counter[Relation] = Counter()
    for source in sources:
        drawn |= Counter(source)
    spoken = Counter(claim for claim in reading.claims if not _said_already(claim, drawn))
    return Reading(list((drawn | spoken).elements()), reading.voided)


def _read(text: str, vocabulary: Vocabulary, prediction: bool, counts: tuple[tuple[str, int], ...]) -> Reading:
    return read(text, vocabulary, prediction, dict(counts))


# Texts come back: every member of a group may write the same, and an audit judges again.
remembered_reading = lru_cache(maxsize=2048)(_read)


def complete(claim: Relation) -> Relation:
    """Only "above" means straight above; a claim without an axis, or one that contradicts itself, stays empty."""
    if (claim.vertical is None) == (claim.horizontal is None):
        return claim
    return Relation(claim.object, claim.vertical or "same", claim.horizontal or "same")


def _said_already(claim: Relation, drawn: Counter[Relation]) -> bool:
    """Is the sentence only a less exact form of something in the drawing or the dictionary?"""
    if claim.vertical is None and claim.horizontal is None:
        return False
    return any(
        claim.object == other.object
        and claim.vertical in (None, other.vertical)
        and claim.horizontal in (None, other.horizontal)
        for other in drawn
    )


def _evidence(reading: Reading, true: Sequence[Relation]) -> dict[str, Any]:
    return {
        "claimed": [claim.to_json() for claim in reading.claims],
        "true": [relation.to_json() for relation in true],
        "voided": list(reading.voided),  # the reading is remembered, the evidence is the caller's
    }
