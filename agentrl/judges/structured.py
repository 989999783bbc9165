"""The structured judge: compares a JSON object with the declared values of a state, key by key. No model.

Each key is scored by F1 over its entries, an entry by the mean over its fields. Entries beyond the true ones dilute the
score: listing every possibility earns less than one guess. The score is the mean over the keys, by their weights.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from agentrl.core.claims import Claims, Value
from agentrl.core.env_class import claims_of
from agentrl.core.errors import ConfigError, JudgeFault
from agentrl.core.judging import JudgeRequest, Purpose, Verdict
from agentrl.judges.assignment import best_total
from agentrl.judges.fitting import DESCRIPTIONS, check_purposes, has_values, what_works
from agentrl.judges.relations import facts_of

MAX_CHARACTERS = 20_000
MAX_ENTRIES = 64  # of a key that are compared with each other, beside those that are identical
_COLOUR = re.compile("#[0-9a-f]{6}")
ROUNDING = 1e-9  # a difference of exactly the tolerance is within it, whatever floating point makes of it


class StructuredJudge:
    """Scores descriptions and predictions that are written as one JSON object, for any state that declares values.

    Text around the object is ignored; without exactly one object the score is 0. Which keys count, with which weights
    and tolerances, is declared by the state (`State.claims()`); other keys are ignored. Order never matters in lists.
    A value that is empty in truth and in the text (null, "", [] or a missing key) does not count.

    The evidence has the F1 of each key, or the problem with the text.
    """

    async def score(self, requests: Sequence[JudgeRequest]) -> list[Verdict | JudgeFault]:
        """The same as `score_sync`: there is nothing to wait for."""
        return self.score_sync(requests)

    def score_sync(self, requests: Sequence[JudgeRequest]) -> list[Verdict | JudgeFault]:
        """One verdict a request; a request without declared values gets a `JudgeFault`."""
        return [judge(request) for request in requests]

    def check_env(self, env_id: str, claims: Claims | None, representation: str, purposes: Sequence[Purpose]) -> None:
        """Refuse states without declared values, and descriptions in other representations."""
        check_purposes("structured", purposes)
        if claims is None or not has_values(claims):
            raise ConfigError(f"judge 'structured' needs declared values, which {env_id} lacks; {what_works(claims)}")
        if representation != "structured":
            read = f"judge 'structured' reads JSON objects, not the representation {representation!r}"
            raise ConfigError(f"{read}; {what_works(claims)}")


def judge(request: JudgeRequest) -> Verdict | JudgeFault:
    """The verdict on one description or prediction."""
    if request.purpose not in DESCRIPTIONS:
        return JudgeFault(f"the structured judge scores {' and '.join(DESCRIPTIONS)}; got {request.purpose!r}")
    if not isinstance(request.text, str):
        return JudgeFault(f"a description must be text; got {type(request.text).__name__}")
    try:
        declared, true = claims_of(request), facts_of(request)
    except JudgeFault as fault:
        return fault
    if not has_values(declared):
        return JudgeFault(f"the states of {request.env_id or 'this environment'!r} declare no values")
    claimed = read_object(request.text)
    if claimed is None:
        return Verdict(0.0, "structured", {"f1": {}, "problem": "the text does not hold exactly one JSON object"})
    values = declared.values
    if declared.points is not None:
        ending = declared.points.ending
        values = (*values, Value(ending, many=True, tolerance=declared.points.tolerance))
        claimed, true = _with_points(claimed, ending), _with_points(true, ending)
    score, f1 = score_values(values, claimed, true)
    return Verdict(score, "structured", {"f1": f1})


def _with_points(found: Mapping[str, Any], ending: str) -> dict[str, Any]:
    """The points as one dictionary, under their common ending."""
    return {**found, ending: {key: value for key, value in found.items() if key.endswith(ending) and key != ending}}


def read_object(text: str) -> dict[str, Any] | None:
    """The JSON object between the first and the last brace; None if that is not one."""
    text = text[:MAX_CHARACTERS]
    try:
        found = msgspec.json.decode(text[text.index("{") : text.rindex("}") + 1])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def score_values(
    values: Sequence[Value], claimed: Mapping[str, Any], true: Mapping[str, Any]
) -> tuple[float, dict[str, float]]:
    """The weighted mean of F1 over the keys that are there or were claimed, and the F1 of each of them."""
    f1: dict[str, float] = {}
    total = weights = 0.0
    for value in values:
        found = _f1(value, claimed.get(value.key), true.get(value.key))
        if found is not None:
            f1[value.key] = found
            total, weights = total + value.weight * found, weights + value.weight
    return (total / weights if weights else 1.0), f1


def _f1(value: Value, claimed: Any, true: Any) -> float | None:
    """F1 over the entries of a value; None where there is nothing to say and nothing was said."""
    said, there = _entries(value, claimed), _entries(value, true)
    if not said or not there:
        return 0.0 if said or there else None
    credit = _matched(value, said, there)
    return 2 * credit / (len(said) + len(there)) * min(1.0, len(there) / len(said))


def _matched(value: Value, said: list[Any], there: list[Any]) -> float:
    """The credit of the best pairing. Identical entries are paired first; in the order of their JSON, so that the order
    in which they were written never matters."""
    claims, truths = ({i: _canonical(entry) for i, entry in enumerate(entries)} for entries in (said, there))
    identical = Counter(claims.values()) & Counter(truths.values())
    left = [_without(entries, keys, identical)[:MAX_ENTRIES] for entries, keys in ((said, claims), (there, truths))]
    if not left[0] or not left[1]:
        return float(identical.total())
    return identical.total() + best_total([[_credit(value, one, other) for other in left[1]] for one in left[0]])


def _without(entries: list[Any], keys: dict[int, str], taken: Counter[str]) -> list[Any]:
    """The entries that are left, in the order of their keys."""
    taken, left = Counter(taken), []
    for index in sorted(keys, key=keys.__getitem__):
        if taken[keys[index]] > 0:
            taken[keys[index]] -= 1
        else:
            left.append(entries[index])
    return left


def _canonical(entry: Any) -> str:
    return json.dumps(entry, sort_keys=True, default=str)


def _entries(value: Value, found: Any) -> list[Any]:
    if found is None or found == "" or found == [] or found == {}:
        return []
    if value.many and isinstance(found, (list, tuple)):
        return list(found)
    if value.many and isinstance(found, Mapping):
        return list(found.items())
    return [found]


def _credit(value: Value, claimed: Any, true: Any) -> float:
    """How far one entry agrees with another, from 0 to 1."""
    if not value.fields:
        return float(_equal(claimed, true, value.tolerance))
    if not isinstance(claimed, Mapping) or not isinstance(true, Mapping):
        return 0.0
    return score_values(value.fields, claimed, true)[0]


def _equal(claimed: Any, true: Any, tolerance: float) -> bool:
    if isinstance(true, bool) or isinstance(claimed, bool):
        return claimed is true
    if isinstance(true, (int, float)):
        return isinstance(claimed, (int, float)) and _near(claimed, true, tolerance)
    if isinstance(true, str):
        return isinstance(claimed, str) and _same_text(_plain(claimed), _plain(true), tolerance)
    if isinstance(true, (list, tuple)):
        same_length = isinstance(claimed, (list, tuple)) and len(claimed) == len(true)
        return same_length and all(_equal(*pair, tolerance) for pair in zip(claimed, true, strict=True))
    if isinstance(true, Mapping):
        same_keys = isinstance(claimed, Mapping) and claimed.keys() == true.keys()
        return same_keys and all(_equal(claimed[key], true[key], tolerance) for key in true)
    return claimed is true


def _same_text(claimed: str, true: str, tolerance: float) -> bool:
    if not (tolerance and _COLOUR.fullmatch(claimed) and _COLOUR.fullmatch(true)):
        return claimed == true
    return all(abs(int(claimed[i : i + 2], 16) - int(true[i : i + 2], 16)) <= tolerance for i in (1, 3, 5))


def _near(claimed: float, true: float, tolerance: float) -> bool:
    try:
        return abs(claimed - true) <= tolerance + ROUNDING
    except OverflowError:  # a whole number of hundreds of digits
        return False


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
