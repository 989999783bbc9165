"""A purchase, or one that could be made: its reward as terms that add up, its raw parts, and what it does not meet."""

from __future__ import annotations

import math
from typing import Any

from agentrl.envs.webshop.goals import NO_LIMIT, Goal
from agentrl.envs.webshop.reward import Reward


def exact_terms(reward: Reward) -> dict[str, float]:
    """The shares of the parts, with the rounding error put where it is least: they add up to the total to the bit."""
    terms = reward.terms()
    largest = max(terms, key=lambda name: terms[name])
    for _ in range(4):
        terms[largest] += reward.total - math.fsum(terms.values())
    return terms


def purchase_parts(reward: Reward, goal: Goal) -> dict[str, Any]:
    """The raw parts of a score: the factor for the type, and which share of everything asked for was met."""
    return {
        "total": reward.total,
        "type": reward.type.factor,
        "attributes": len(reward.attributes) / len(goal.attributes) if goal.attributes else 1.0,
        "options": len(reward.options) / len(goal.options) if goal.options else 1.0,
        "price": float(reward.price),
        "title_score": reward.type.title_score,
        "query_match": reward.type.query_match,
        "category_match": reward.type.category_match,
    }


def unmet(reward: Reward | None, goal: Goal) -> tuple[str, ...]:
    """What a product with its options lacks; all that is asked for where there is no product."""
    met_attributes = reward.attributes if reward else ()
    met_options = reward.options if reward else ()
    found = [] if reward and reward.type.factor == 1.0 else [f"kind {goal.query}"]
    found += [f"attribute {wanted}" for wanted in goal.attributes if wanted not in met_attributes]
    for wanted in goal.options:
        if wanted not in met_options:
            found.append(f"option {wanted if isinstance(wanted, str) else ' '.join(wanted)}")
    if not (reward and reward.price) and goal.price_upper < NO_LIMIT:
        found.append(f"price at most {goal.price_upper:.2f}")
    return tuple(found)
