"""Where things are, seen from the origin: the form in which texts and truth are compared."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from agentrl.core.claims import Relations
from agentrl.core.env_class import claims_of
from agentrl.core.errors import JudgeFault
from agentrl.core.judging import JudgeRequest
from agentrl.core.state import State

Vertical = Literal["above", "below", "same"]
Horizontal = Literal["left", "right", "same"]
Cell = tuple[int, int]  # row, column; row 0 is at the top

_INTS = [int, int]


class Relation(NamedTuple):
    """One thing seen from the origin; None where nothing is said about that axis."""

    object: str
    vertical: Vertical | None = None
    horizontal: Horizontal | None = None

    def to_json(self) -> dict[str, str | None]:
        """A plain dictionary, for evidence and corpora."""
        name, vertical, horizontal = self
        return {"object": name, "vertical": vertical, "horizontal": horizontal}

    def completed_by(self, common: Relation) -> Relation:
        """What is said of one, completed by what is said of all; a contradiction leaves nothing."""
        vertical, horizontal = self.vertical or common.vertical, self.horizontal or common.horizontal
        if (common.vertical or vertical, common.horizontal or horizontal) != (vertical, horizontal):
            return Relation(self.object)
        return Relation(self.object, vertical, horizontal)


_VERTICALS: dict[int, Vertical] = {-1: "above", 0: "same", 1: "below"}
_HORIZONTALS: dict[int, Horizontal] = {-1: "left", 0: "same", 1: "right"}


def between(name: str, cell: Cell, origin: Cell) -> Relation:
    """How a cell lies relative to the origin's."""
    (row, column), (origin_row, origin_column) = cell, origin
    rows, columns = (row > origin_row) - (row < origin_row), (column > origin_column) - (column < origin_column)
    return Relation(name, _VERTICALS[rows], _HORIZONTALS[columns])


def relations_of(request: JudgeRequest) -> tuple[Relations, tuple[Relation, ...]]:
    """The relations that a request's state declares, and the true ones; `JudgeFault` if it has none."""
    declared = claims_of(request).relations
    if declared is None:
        raise JudgeFault(f"the states of {request.env_id or 'this environment'!r} declare no relations")
    return declared, truth(declared, facts_of(request))


def truth(declared: Relations, facts: Mapping[str, Any]) -> tuple[Relation, ...]:
    """Every scored thing of a state's structured form, seen from the origin."""
    key = declared.origin.key
    origin = _cells(facts, key)
    if len(origin) != 1:
        raise JudgeFault(f"{key} must be one [row, column]")
    things = [thing for thing in declared.things if thing.key]
    return tuple(between(thing.name, cell, origin[0]) for thing in things for cell in _cells(facts, thing.key))


def facts_of(request: JudgeRequest) -> Mapping[str, Any]:
    """The structured form of a request's state."""
    state = request.state
    if not isinstance(state, State):
        return state
    try:
        return state.structured()
    except Exception as error:  # a broken state is not scored
        raise JudgeFault(f"{type(state).__name__} gives no structured form: {error}") from error


def _cells(facts: Mapping[str, Any], key: str) -> list[Cell]:
    """One position or a list of them, as cells."""
    value = facts.get(key)
    if not isinstance(value, (list, tuple)):
        raise JudgeFault(f"{key} must hold positions; got {'nothing' if value is None else type(value).__name__}")
    cells: list[Cell] = []
    for cell in [value] if len(value) == 2 and type(value[0]) is int else value:
        if not isinstance(cell, (list, tuple)) or [type(part) for part in cell] != _INTS:
            raise JudgeFault(f"{key} must hold [row, column] pairs")
        cells.append((cell[0], cell[1]))
    return cells


# ---------------------------------------------------------------------- scoring
#
# F1 between claimed and true relations. By default a claim counts only when both axes are right, and the score is the
# weighted mean of the F1 of each class. With half credit each right axis is worth a half, claims and truths are
# paired as favourably as possible, and the mean is over the classes that are there or were claimed.

Pair = tuple[Relation, Relation]  # claim, truth
Pairs = list[tuple[Relation, Relation, float]]  # claim, truth, credit


def score_relations(
    declared: Relations, claimed: Iterable[Relation], true: Iterable[Relation], dilute: bool = False
) -> tuple[float, dict[str, Any]]:
    """The score in [0, 1], and how it came about. Claims about what is not scored are ignored.

    F1 alone rewards listing a thing in every direction: nine claims for one thing give 0.2, more than a guess earns.
    With `dilute` claims of a class that outnumber its members are worth what as many of them drawn at random would be.
    """
    match = match_half if declared.half_credit else match_exact
    claimed, true = list(claimed), list(true)
    total = weight_sum = 0.0
    f1: dict[str, float] = {}
    matched: list[dict[str, Any]] = []
    for thing in declared.things:
        if not thing.key:
            continue
        name, weight = thing.name, thing.weight
        claims = [relation for relation in claimed if relation[0] == name]
        truths = [relation for relation in true if relation[0] == name]
        pairs = match(claims, truths)
        f1[name] = f1_score(sum([worth for _, _, worth in pairs]), len(claims), len(truths))
        if dilute and len(claims) > len(truths):
            f1[name] *= len(truths) / len(claims)
        matched += [{"claim": c.to_json(), "truth": t.to_json(), "credit": worth} for c, t, worth in pairs]
        if not declared.half_credit or claims or truths:
            total, weight_sum = total + weight * f1[name], weight_sum + weight
    score = total / weight_sum if weight_sum else 1.0
    return score, {"f1": f1, "matched": matched}


def f1_score(credit: float, claims: int, truths: int) -> float:
    """The harmonic mean of credit/claims and credit/truths; 1 when there was nothing to say and nothing was said."""
    return 2 * credit / (claims + truths) if claims + truths else 1.0


def match_exact(claims: Sequence[Relation], truths: Sequence[Relation]) -> Pairs:
    """Each claim takes one equal truth that is still free."""
    free, pairs = list(truths), Pairs()
    for claim in claims:
        if claim in free:
            free.remove(claim)
            pairs.append((claim, claim, 1.0))
    return pairs


def match_half(claims: Sequence[Relation], truths: Sequence[Relation]) -> Pairs:
    """The one-to-one pairing with the most credit, a half for each axis that agrees.

    Equal claims and equal truths are interchangeable, so the assignment problem shrinks to a flow between at most
    16 kinds of claims and 9 kinds of truths. Equal pairs go first: taking one away from its equal would cost 1 and
    win at most two halves.
    """
    pairs = match_exact(claims, truths)
    if len(pairs) == min(len(claims), len(truths)):
        return pairs
    said, free = Counter(claims), Counter(truths)
    for relation, _, _ in pairs:
        said[relation] -= 1
        free[relation] -= 1
    # As many half-credit pairs as possible: augmenting paths, each carrying as much as it can.
    partners = {claim: [truth for truth in free if credit(claim, truth) > 0] for claim in said}
    paired: dict[Pair, int] = {}
    for claim, count in said.items():
        while count > 0 and (path := _augmenting_path(claim, partners, paired, free)):
            dissolved = [(later[0], truth) for (_, truth), later in itertools.pairwise(path)]  # by later claims
            amount = min(count, free[path[-1][1]], *[paired[pair] for pair in dissolved])
            for pair in path:
                paired[pair] = paired.get(pair, 0) + amount
            for pair in dissolved:
                paired[pair] -= amount
            free[path[-1][1]] -= amount
            count -= amount
    return pairs + [(claim, truth, 0.5) for (claim, truth), count in paired.items() for _ in range(count)]


def credit(claim: Relation, truth: Relation) -> float:
    """A half for each axis on which something was said and it is right."""
    _, vertical, horizontal = claim
    right = (vertical is not None and vertical == truth[1]) + (horizontal is not None and horizontal == truth[2])
    return 0.5 * right


def _augmenting_path(
    start: Relation, partners: dict[Relation, list[Relation]], paired: dict[Pair, int], free: Counter[Relation]
) -> list[Pair] | None:
    """Breadth first from a claim to a truth with room left, by way of claims that could switch partners."""
    for truth in partners[start]:
        if free[truth] > 0:
            return [(start, truth)]
    paths: list[list[Pair]] = [[(start, truth)] for truth in partners[start]]
    seen = set(partners[start])
    for path in paths:
        end = path[-1][1]
        if free[end] > 0:
            return path
        for (claim, truth), count in paired.items():
            if truth == end and count > 0:
                fresh = [other for other in partners[claim] if other not in seen]
                seen.update(fresh)
                paths += [[*path, (claim, other)] for other in fresh]
    return None
