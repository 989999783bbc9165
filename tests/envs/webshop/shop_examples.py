"""Products and goals that tests write down themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentrl.envs.common.catalogue.product import Product
from agentrl.envs.webshop.goals import Goal
from agentrl.envs.webshop.reward import OUR_RULES, Reward, Rules, fit_of, with_options

PATH = "Beauty & Personal Care \u203a Hair Care \u203a Shampoos"


def a_product(**changes: Any) -> Product:
    """A shampoo, with what a test wants different."""
    fields: dict[str, Any] = {
        "asin": "B000000001",
        "title": "Velmora Shampoo Bottle",
        "description": "It rinses out quickly.",
        "bullets": ("Pump included.", "For every day."),
        "category": "beauty",
        "category_path": PATH,
        "query": "shampoo",
        "pricing": (20.0,),
        "price": 20.0,
        "options": {"color": ("navy blue", "black"), "size": ("small", "x-large")},
        "attributes": ("sulfate free", "argan oil"),
    }
    return Product(**{**fields, **changes})


def a_goal(**changes: Any) -> Goal:
    """A wish for that shampoo, with what a test wants different."""
    fields: dict[str, Any] = {
        "id": "test-0",
        "asin": "B000000001",
        "instruction": "i need a sulfate free shampoo",
        "query": "shampoo",
        "title": "Velmora Shampoo Bottle",
        "category": "beauty",
        "category_path": PATH,
        "attributes": ("sulfate free",),
        "options": (),
        "price_upper": 30.0,
    }
    return Goal(**{**fields, **changes})


def score_purchase(product: Product, goal: Goal, options: Mapping[str, str], rules: Rules = OUR_RULES) -> Reward:
    """What buying `product` with the chosen `options` {name: value} is worth to somebody who has `goal`."""
    return with_options(fit_of(product, goal, rules), goal, options, rules)
