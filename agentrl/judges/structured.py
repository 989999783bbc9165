"""The structured judge: compares a JSON object with the declared values of a state, key by key. No model.

Each key is scored by F1 over its entries, an entry by the mean over its fields. Entries beyond the true ones dilute the
score: listing every possibility earns less than one guess. The score is the mean over the keys, by their weights.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from agentrl.core.claims import Claims, Value
from agentrl.core.env_class import claims_of
from agentrl.core.errors import ConfigError, JudgeFault
from agentrl.core.judging import JudgeRequest, Purpose, Verdict
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
        said, there = _entries(value, claimed.get(value.key)), _entries(value, true.get(value.key))
        if not said and not there:
            continue
        found = 0.0
        if said and there:
            found = 2 * _matched(value, said, there) / (len(said) + len(there)) * min(1.0, len(there) / len(said))
        f1[value.key] = found
        total, weights = total + value.weight * found, weights + value.weight
    return (total / weights if weights else 1.0), f1


def _matched(value: Value, said: list[Any], there: list[Any]) -> float:
    """The credit of the best pairing. Identical entries are paired first; in the order of their JSON, so that the order
    in which they were written never matters."""
    keys = [[json.dumps(entry, sort_keys=True, default=str) for entry in entries] for entries in (said, there)]
    identical = Counter(keys[0]) & Counter(keys[1])
    left: list[list[Any]] = []
    for entries, own in zip((said, there), keys, strict=True):
        taken, others = Counter(identical), []
        for index in sorted(range(len(entries)), key=own.__getitem__):
            if taken[own[index]] > 0:
                taken[own[index]] -= 1
            else:
                others.append(entries[index])
        left.append(others[:MAX_ENTRIES])
    if not left[0] or not left[1]:
        return float(identical.total())
    credits = [[0.0] * len(left[1]) for _ in left[0]]
    for (i, one), (j, other) in itertools.product(enumerate(left[0]), enumerate(left[1])):
        if not value.fields:
            credits[i][j] = float(_equal(one, other, value.tolerance))
        elif isinstance(one, Mapping) and isinstance(other, Mapping):
            credits[i][j] = score_values(value.fields, one, other)[0]
    return identical.total() + best_total(credits)


def _entries(value: Value, found: Any) -> list[Any]:
    if found is None or found == "" or found == [] or found == {}:
        return []
    if value.many and isinstance(found, (list, tuple)):
        return list(found)
    if value.many and isinstance(found, Mapping):
        return list(found.items())
    return [found]


def _equal(claimed: Any, true: Any, tolerance: float) -> bool:
    if isinstance(true, bool) or isinstance(claimed, bool):
        return claimed is true
    if isinstance(true, (int, float)):
        try:
            return isinstance(claimed, (int, float)) and abs(claimed - true) <= tolerance + ROUNDING
        except OverflowError:  # a whole number of hundreds of digits
            return False
    if isinstance(true, str):
        if not isinstance(claimed, str):
            return False
        said, there = (" ".join(text.casefold().split()) for text in (claimed, true))
        if not (tolerance and _COLOUR.fullmatch(said) and _COLOUR.fullmatch(there)):
            return said == there
        return all(abs(int(said[i : i + 2], 16) - int(there[i : i + 2], 16)) <= tolerance for i in (1, 3, 5))
    if isinstance(true, (list, tuple)):
        same_length = isinstance(claimed, (list, tuple)) and len(claimed) == len(true)
        return same_length and all(_equal(*pair, tolerance) for pair in zip(claimed, true, strict=True))
    if isinstance(true, Mapping):
        same_keys = isinstance(claimed, Mapping) and claimed.keys() == true.keys()
        return same_keys and all(_equal(claimed[key], true[key], tolerance) for key in true)
    return claimed is true


def best_total(credits: list[list[float]]) -> float:
    """The largest sum of entries with at most one from each row and each column of a matrix of numbers from 0 up.

    The Hungarian algorithm with potentials: rows are assigned one by one along shortest augmenting paths, in
    O(rows^2 columns) steps of which the inner ones are numpy's. The total does not depend on the order of the rows.
    """
    costs = -np.array(credits, np.float64)
    if costs.shape[0] > costs.shape[1]:
        costs = costs.T
    rows, columns = costs.shape
    row_potential, column_potential = np.zeros(rows), np.zeros(columns + 1)
    owner = np.full(columns + 1, -1)  # of each column; the last one is the start of every path
    for row in range(rows):
        owner[columns], column = row, columns
        distance, before = np.full(columns + 1, np.inf), np.full(columns + 1, columns)
        visited = np.zeros(columns + 1, bool)
        while owner[column] != -1:
            visited[column] = True
            current = owner[column]
            reduced = costs[current] - row_potential[current] - column_potential[:columns]
            closer = ~visited[:columns] & (reduced < distance[:columns])
            distance[:columns][closer], before[:columns][closer] = reduced[closer], column
            column = int(np.argmin(np.where(visited[:columns], np.inf, distance[:columns])))
            step = distance[column]
            row_potential[owner[visited]] += step
            column_potential[visited] -= step
            distance[~visited] -= step
        while column != columns:
            owner[column], column = owner[before[column]], before[column]
    assigned = np.flatnonzero(owner[:columns] >= 0)
    return float(-costs[owner[assigned], assigned].sum())
