"""The rule judge: reads positions out of a text and compares them with the truth. No model, less than a millisecond."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from agentrl.core.claims import Claims
from agentrl.core.env_class import claims_of
from agentrl.core.errors import ConfigError, JudgeFault
from agentrl.core.judging import JudgeRequest, Purpose, Verdict
from agentrl.judges.bearing import read_bearing, remembered_bearing, score_bearing, true_bearing
from agentrl.judges.fitting import DESCRIPTIONS, check_purposes, is_readable, what_works
from agentrl.judges.grammar.chunker import chunks_of
from agentrl.judges.grammar.clauses import ClauseReader
from agentrl.judges.grammar.discourse import Discourse
from agentrl.judges.grammar.facts import Facts
from agentrl.judges.grammar.tokens import MAX_CHARACTERS
from agentrl.judges.grammar.vocabulary import Vocabulary, vocabulary_of
from agentrl.judges.notation import read_notation
from agentrl.judges.points import read_points, remembered_points, score_points, true_points
from agentrl.judges.relations import Relation, facts_of, relations_of, score_relations

CACHED_LENGTH = 2000


class Reading(NamedTuple):
    """What a text claims. A voided claim contradicts itself: it stands among the claims with both axes None."""

    claims: list[Relation]
    voided: list[str]


class RuleJudge:
    """Scores descriptions and predictions by what they claim, for any state that declares relations, the bearing of a
    target, or named points.

    English, dictionaries and drawings are all understood, wherever they stand in the text. Of relations, a claim about
    one axis only ("the box is above the player") is read as "and not to the side"; claims that contradict each other
    count as one wrong claim, and a text that claims more objects than there are is worth less with each of them. A
    bearing that contradicts itself or leaves a choice ("left or right") is wrong, and so is a thing that is said to be
    at several points of which one is wrong: guessing several times never pays.

    The evidence lists what was claimed (as said), what is true, and what was matched or voided.
    """

    async def score(self, requests: Sequence[JudgeRequest]) -> list[Verdict | JudgeFault]:
        """The same as `score_sync`: there is nothing to wait for."""
        return self.score_sync(requests)

    def score_sync(self, requests: Sequence[JudgeRequest]) -> list[Verdict | JudgeFault]:
        """One verdict a request; a request that these rules cannot judge gets a `JudgeFault`."""
        return [judge(request) for request in requests]

    def check_env(self, env_id: str, claims: Claims | None, representation: str, purposes: Sequence[Purpose]) -> None:
        """Refuse states that declare nothing that can be read."""
        check_purposes("rule", purposes)
        if claims is None or not is_readable(claims):
            needed = "declared relations, a bearing or points"
            raise ConfigError(f"judge 'rule' needs {needed}, which {env_id} lacks; {what_works(claims)}")


def judge(request: JudgeRequest) -> Verdict | JudgeFault:
    """The verdict on one description or prediction."""
    if request.purpose not in DESCRIPTIONS:
        return JudgeFault(f"the rule judge scores {' and '.join(DESCRIPTIONS)}; got {request.purpose!r}")
    if not isinstance(request.text, str):
        return JudgeFault(f"a description must be text; got {type(request.text).__name__}")
    try:
        claims = claims_of(request)
        text, prediction, short = request.text, request.purpose == "worldmodeling", len(request.text) <= CACHED_LENGTH
        if claims.bearing is not None:
            facts = facts_of(request)
            name, _ = true_bearing(claims.bearing, facts)
            read_it = remembered_bearing if short else read_bearing
            said, distances = read_it(text, claims.bearing, name, prediction)
            score, evidence = score_bearing(claims.bearing, said, facts, prediction)
            evidence["claimed_distances"] = list(distances)
        elif claims.points is not None:
            true = true_points(claims.points, facts_of(request))
            read_it = remembered_points if short else read_points
            score, evidence = score_points(claims.points, read_it(text, claims.points, tuple(true), prediction), true)
        else:
            declared, relations = relations_of(request)
            names = [relation.object for relation in relations]
            vocabulary = vocabulary_of(declared)
            counts = tuple((name, names.count(name)) for name in vocabulary.names)
            reading = (remembered_reading if short else _read)(text, vocabulary, prediction, counts)
            claimed = [complete(claim) for claim in reading.claims]
            score, evidence = score_relations(declared, claimed, relations, dilute=True)
            evidence = {
                "claimed": [claim.to_json() for claim in reading.claims],
                "true": [relation.to_json() for relation in relations],
                "voided": list(reading.voided),  # the reading is remembered, the evidence is the caller's
                **evidence,
            }
    except JudgeFault as fault:
        return fault
    return Verdict(score, "rule", evidence)


def read(text: str, vocabulary: Vocabulary, prediction: bool = False, counts: dict[str, int] | None = None) -> Reading:
    """Everything a text claims, in whatever notation; the claims of different notations add up unless they agree.

    English is read in steps: lexemes (`tokens`), noun phrases and places (`chunker`), clauses (`clauses`), who is meant
    (`discourse`), what follows (`facts`). Every step is a total function of the text and takes time linear in its
    length. `counts` says how many "all the holes" are.
    """
    sources, rest = read_notation(text[:MAX_CHARACTERS], vocabulary)
    people, facts, wanted = Discourse(vocabulary), Facts(), vocabulary.names
    ClauseReader(prediction, people, facts).read(chunks_of(rest[:MAX_CHARACTERS], vocabulary))
    claims, voided = facts.relations(people, counts or {})
    claims, voided = [claim for claim in claims if claim.object in wanted], [cls for cls in voided if cls in wanted]
    if not sources:
        return Reading(claims, voided)
    drawn: Counter[Relation] = Counter()
    for source in sources:
        drawn |= Counter(source)
    spoken: Counter[Relation] = Counter()
    for claim in claims:
        drawn_too = (  # the sentence is only a less exact form of something in a drawing or a dictionary
            claim.object == other.object
            and claim.vertical in (None, other.vertical)
            and claim.horizontal in (None, other.horizontal)
            for other in drawn
        )
        if (claim.vertical is None and claim.horizontal is None) or not any(drawn_too):
            spoken[claim] += 1
    return Reading(list((drawn | spoken).elements()), voided)


def _read(text: str, vocabulary: Vocabulary, prediction: bool, counts: tuple[tuple[str, int], ...]) -> Reading:
    return read(text, vocabulary, prediction, dict(counts))


# Texts come back: every member of a group may write the same, and an audit judges again.
remembered_reading = lru_cache(maxsize=2048)(_read)


def complete(claim: Relation) -> Relation:
    """Only "above" means straight above; a claim without an axis, or one that contradicts itself, stays empty."""
    if (claim.vertical is None) == (claim.horizontal is None):
        return claim
    return Relation(claim.object, claim.vertical or "same", claim.horizontal or "same")
