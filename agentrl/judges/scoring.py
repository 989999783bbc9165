"""F1 between claimed and true relations: pure functions, one rule for each game.

Sokoban: a claim counts only when both axes are right; the score is the mean of the F1 of targets and of boxes.
FrozenLake: each right axis is worth a half, claims and truths are paired as favourably as possible, and the F1 of
targets (0.7) and holes (0.3) are weighted over the kinds of objects that are there or were claimed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from agentrl.core.errors import ConfigError
from agentrl.judges.relations import CLASSES, Relation

WEIGHTS: dict[str, dict[str, float]] = {
    "sokoban": {"target": 0.5, "box": 0.5},
    "frozenlake": {"target": 0.7, "hole": 0.3},
}
Pairs = list[tuple[Relation, Relation, float]]  # claim, truth, credit


def score_relations(
    game: str, claimed: Iterable[Relation], true: Iterable[Relation], dilute: bool = False
) -> tuple[float, dict[str, Any]]:
    """The game's score in [0, 1], and how it came about. Claims about other kinds of objects are ignored.

    F1 alone rewards listing a box in every direction: nine claims for one box give 0.2, more than a guess does. With
    `dilute` the claims of a kind that outnumber the objects are worth what as many claims drawn from them would be.
    """
    if game not in CLASSES:
        raise ConfigError(f"game must be one of {', '.join(CLASSES)}, not {game!r}")
    said, there = _by_class(claimed), _by_class(true)
    total = weight_sum = 0.0
    f1: dict[str, float] = {}
    matched: list[dict[str, Any]] = []
    for name, weight in WEIGHTS[game].items():
        claims, truths = said.get(name, []), there.get(name, [])
        pairs = match_exact(claims, truths) if game == "sokoban" else match_half(claims, truths)
        f1[name] = f1_score(sum(credit for _, _, credit in pairs), len(claims), len(truths))
        if dilute and len(claims) > len(truths):
            f1[name] *= len(truths) / len(claims)
        matched += [{"claim": c.to_json(), "truth": t.to_json(), "credit": credit} for c, t, credit in pairs]
        if game == "sokoban" or claims or truths:
            total, weight_sum = total + weight * f1[name], weight_sum + weight
    score = total / weight_sum if weight_sum else 1.0
    return score, {"f1": f1, "matched": matched}


def f1_score(credit: float, claims: int, truths: int) -> float:
    """The harmonic mean of credit/claims and credit/truths; 1 when there was nothing to say and nothing was said."""
    return 2 * credit / (claims + truths) if claims + truths else 1.0


def match_exact(claims: Sequence[Relation], truths: Sequence[Relation]) -> Pairs:
    """Each claim takes one equal truth that is still free."""
    free = Counter(truths)
    pairs: Pairs = []
    for claim in claims:
        if free[claim] > 0:
            free[claim] -= 1
            pairs.append((claim, claim, 1.0))
    return pairs


def match_half(claims: Sequence[Relation], truths: Sequence[Relation]) -> Pairs:
    """The one-to-one pairing with the most credit, a half for each axis that agrees.

    Equal claims and equal truths are interchangeable, so the assignment problem shrinks to a flow between at most
    16 kinds of claims and 9 kinds of truths. Equal pairs go first: taking one away from its equal would cost 1 and
    win at most two halves.
    """
    pairs = match_exact(claims, truths)
    said = Counter(claims) - Counter(claim for claim, _, _ in pairs)
    free = Counter(truths) - Counter(truth for _, truth, _ in pairs)
    return pairs + [(claim, truth, 0.5) for (claim, truth), count in _flow(said, free).items() for _ in range(count)]


def credit(claim: Relation, truth: Relation) -> float:
    """A half for each axis on which something was said and it is right."""
    vertical = claim.vertical is not None and claim.vertical == truth.vertical
    horizontal = claim.horizontal is not None and claim.horizontal == truth.horizontal
    return 0.5 * vertical + 0.5 * horizontal


def _flow(said: Counter[Relation], free: Counter[Relation]) -> Counter[tuple[Relation, Relation]]:
    """As many half-credit pairs as possible: augmenting paths, each carrying as much as it can."""
    partners = {claim: [truth for truth in free if credit(claim, truth) > 0] for claim in said}
    paired: Counter[tuple[Relation, Relation]] = Counter()
    left = Counter(free)
    for claim, count in said.items():
        while count > 0 and (path := _augmenting_path(claim, partners, paired, left)):
            amount = min(count, left[path[-1][1]], *(paired[back] for back in _backward(path)))
            for edge in path:
                paired[edge] += amount
            for edge in _backward(path):
                paired[edge] -= amount
            left[path[-1][1]] -= amount
            count -= amount
    return +paired


def _backward(path: list[tuple[Relation, Relation]]) -> list[tuple[Relation, Relation]]:
    """The pairs that an augmenting path dissolves: each later claim gives up the truth before it."""
    return [(path[i + 1][0], path[i][1]) for i in range(len(path) - 1)]


def _augmenting_path(
    start: Relation,
    partners: dict[Relation, list[Relation]],
    paired: Counter[tuple[Relation, Relation]],
    left: Counter[Relation],
) -> list[tuple[Relation, Relation]] | None:
    """Breadth first from a claim to a truth with room left, by way of claims that could switch partners."""
    paths: list[list[tuple[Relation, Relation]]] = [[(start, truth)] for truth in partners[start]]
    seen = set(partners[start])
    for path in paths:
        end = path[-1][1]
        if left[end] > 0:
            return path
        for (claim, truth), count in paired.items():
            if truth == end and count > 0:
                fresh = [other for other in partners[claim] if other not in seen]
                seen.update(fresh)
                paths += [[*path, (claim, other)] for other in fresh]
    return None


def _by_class(relations: Iterable[Relation]) -> dict[str, list[Relation]]:
    found: dict[str, list[Relation]] = {}
    for relation in relations:
        found.setdefault(relation.object, []).append(relation)
    return found
