"""The rule judge: reads positions out of a text and compares them with the truth. No model, less than a millisecond."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from agentrl.core.claims import Bearing, Claims, Points
from agentrl.core.env_class import claims_of
from agentrl.core.errors import ConfigError, JudgeFault
from agentrl.core.judging import JudgeRequest, Purpose, Verdict
from agentrl.judges.bearing import read_bearing, remembered_bearing, score_bearing, true_bearing
from agentrl.judges.english import Reading, read_english
from agentrl.judges.fitting import DESCRIPTIONS, check_purposes, is_readable, what_works
from agentrl.judges.grammar.tokens import MAX_CHARACTERS
from agentrl.judges.grammar.vocabulary import Vocabulary, vocabulary_of
from agentrl.judges.notation import read_notation
from agentrl.judges.points import read_points, remembered_points, score_points, true_points
from agentrl.judges.relations import Relation, facts_of, relations_of
from agentrl.judges.scoring import score_relations

CACHED_LENGTH = 2000


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
        if claims.bearing is not None:
            score, evidence = _judge_bearing(claims.bearing, facts_of(request), request)
        elif claims.points is not None:
            score, evidence = _judge_points(claims.points, facts_of(request), request)
        else:
            score, evidence = _judge_relations(request)
    except JudgeFault as fault:
        return fault
    return Verdict(score, "rule", evidence)


def _judge_relations(request: JudgeRequest) -> tuple[float, dict[str, Any]]:
    declared, true = relations_of(request)
    names = [relation.object for relation in true]
    vocabulary = vocabulary_of(declared)
    counts = tuple((name, names.count(name)) for name in vocabulary.names)
    text, prediction = request.text, request.purpose == "worldmodeling"
    reading = (remembered_reading if len(text) <= CACHED_LENGTH else _read)(text, vocabulary, prediction, counts)
    score, evidence = score_relations(declared, [complete(claim) for claim in reading.claims], true, dilute=True)
    return score, {**_evidence(reading, true), **evidence}


def _judge_bearing(declared: Bearing, facts: Mapping[str, Any], request: JudgeRequest) -> tuple[float, dict[str, Any]]:
    name, _ = true_bearing(declared, facts)
    text, prediction = request.text, request.purpose == "worldmodeling"
    read_it = remembered_bearing if len(text) <= CACHED_LENGTH else read_bearing
    said, distances = read_it(text, declared, name, prediction)
    score, evidence = score_bearing(declared, said, facts, prediction)
    return score, {**evidence, "claimed_distances": list(distances)}


def _judge_points(declared: Points, facts: Mapping[str, Any], request: JudgeRequest) -> tuple[float, dict[str, Any]]:
    true = true_points(declared, facts)
    text, prediction = request.text, request.purpose == "worldmodeling"
    read_it = remembered_points if len(text) <= CACHED_LENGTH else read_points
    return score_points(declared, read_it(text, declared, tuple(true), prediction), true)


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
