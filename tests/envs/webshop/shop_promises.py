"""Whether a generated shop keeps its promises: targets worth 1, near misses near, all findable, no free lunch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from agentrl.envs.common.catalogue.generated import GeneratedCatalogue
from agentrl.envs.webshop.goals import Goal
from agentrl.envs.webshop.reward import best_choices
from tests.envs.webshop.shop_examples import score_purchase

Search = Callable[[str], list[str]]  # a query to the ids of its hits, best first
NEAR_MISS = (0.5, 0.95)


@dataclass(slots=True)
class Verification:
    """What was found out about some goals. `problems` names goals that break a promise; the rest are means."""

    goals: int = 0
    siblings: int = 0
    problems: list[str] = field(default_factory=list)
    outranked: float = 0.0  # share of goals where a sibling ranks above the target when the instruction is searched
    honest: float = 0.0  # share where a search of kind and attributes alone shows something worth 1
    naive: float = 0.0  # mean reward of searching the instruction and buying the first hit as it is
    sibling_mean: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """The findings in plain JSON types."""
        return asdict(self)


def verify(catalogue: GeneratedCatalogue, goals: Iterable[Goal], search: Search) -> Verification:
    """Check every goal given: its target, its siblings and what searching brings up."""
    report = Verification()
    for goal in goals:
        report.goals += 1
        _check_family(catalogue, goal, report)
        _check_search(catalogue, goal, search, report)
    if report.goals:
        report.outranked /= report.goals
        report.honest /= report.goals
        report.naive /= report.goals
    report.sibling_mean /= max(1, report.siblings)
    return report


def _check_family(catalogue: GeneratedCatalogue, goal: Goal, report: Verification) -> None:
    """The target is worth 1, each sibling something between `NEAR_MISS`, with the best options that it has."""
    for index in _members(catalogue, goal):
        product = catalogue.product(index)
        worth = score_purchase(product, goal, best_choices(product, goal)).total
        if product.asin == goal.asin:
            if worth != 1.0:
                report.problems.append(f"{goal.id}: the target is worth {worth:.3f}")
            continue
        report.siblings += 1
        report.sibling_mean += worth
        if not NEAR_MISS[0] <= worth <= NEAR_MISS[1]:
            report.problems.append(f"{goal.id}: sibling {product.asin} is worth {worth:.3f}")


def _check_search(catalogue: GeneratedCatalogue, goal: Goal, search: Search, report: Verification) -> None:
    if goal.asin not in search(goal.reference_query)[:50]:
        report.problems.append(f"{goal.id}: {goal.reference_query!r} does not find the target")
    hits = search(goal.instruction)
    family = {catalogue.docid(index) for index in _members(catalogue, goal)}
    ahead = hits[: hits.index(goal.asin)] if goal.asin in hits else hits
    report.outranked += bool(family & set(ahead))
    if hits and (first := catalogue.find(hits[0])):
        report.naive += score_purchase(first, goal, {}).total
    plain = search(" ".join((goal.query, *goal.attributes)))
    report.honest += any(_worth(catalogue, asin, goal) == 1.0 for asin in plain[:50])


def _worth(catalogue: GeneratedCatalogue, asin: str, goal: Goal) -> float:
    product = catalogue.find(asin)
    return score_purchase(product, goal, best_choices(product, goal)).total if product else 0.0


def _members(catalogue: GeneratedCatalogue, goal: Goal) -> range:
    return catalogue.members(family_number(goal))


def family_number(goal: Goal) -> int:
    """The family whose target a goal of a generated catalogue asks for."""
    return int(goal.family.removeprefix("family-"))
