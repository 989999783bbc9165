"""The score of a purchase: type x (attributes + options + price) / (everything asked for + 1), with all its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from agentrl.envs.webshop.goals import Goal
from agentrl.envs.webshop.matching import matches, same_option
from agentrl.envs.webshop.nouns import NounTagger, default_tagger
from agentrl.envs.webshop.product import Product, path_names


@dataclass(frozen=True, slots=True)
class TypeScore:
    """How far two products are the same kind of thing."""

    factor: float  # 1, 0.5, 0.1 or 0
    title_score: float  # share of the wanted title's nouns that the bought title has
    query_match: bool
    category_match: bool


@dataclass(frozen=True, slots=True)
class Fit:
    """The parts of a score that no option changes."""

    type: TypeScore
    attributes: tuple[str, ...]  # those asked for and found
    price: bool


@dataclass(frozen=True, slots=True)
class Reward:
    """The score of one purchase, between 0 and 1, and where it comes from."""

    total: float
    type: TypeScore
    attributes: tuple[str, ...]  # those asked for and found
    options: tuple[Any, ...]
    price: bool
    asked: int  # attributes and options asked for, and one for the price

    @property
    def success(self) -> bool:
        """True for a purchase that nothing can be said against."""
        return self.total == 1.0

    def terms(self) -> dict[str, float]:
        """The parts that add up to `total`; the type scales each of them."""
        share = self.type.factor / self.asked
        met = {"attributes": len(self.attributes), "options": len(self.options), "price": int(self.price)}
        return {name: share * count for name, count in met.items()}

    def to_json(self) -> dict[str, Any]:
        """All parts in plain JSON types."""
        return asdict(self)


def score_purchase(
    product: Product, goal: Goal, options: Mapping[str, str], tagger: NounTagger | None = None
) -> Reward:
    """What buying `product` with the chosen `options` {name: value} is worth to somebody who has `goal`."""
    return with_options(fit_of(product, goal, tagger), goal, options)


def fit_of(product: Product, goal: Goal, tagger: NounTagger | None = None) -> Fit:
    """How well a product fits before any option is chosen."""
    kind = type_score(product, goal, tagger or default_tagger())
    found = tuple([wanted for wanted in goal.attributes if has_attribute(product, wanted)])
    return Fit(kind, found, product.price <= goal.price_upper)


def with_options(fit: Fit, goal: Goal, options: Mapping[str, str]) -> Reward:
    """The score of a purchase with the chosen `options` {name: value}."""
    chosen = tuple(options.values())
    met = tuple([wanted for wanted in goal.options if any(same_option(value, wanted) for value in chosen)])
    asked = len(goal.attributes) + len(goal.options) + 1
    total = (len(fit.attributes) + len(met) + fit.price) / asked * fit.type.factor
    return Reward(total, fit.type, fit.attributes, met, fit.price, asked)


def has_attribute(product: Product, wanted: str) -> bool:
    """True where an attribute is listed in similar words, or stands literally in title, bullets or description."""
    texts = (product.title, " ".join(product.bullets), product.description)
    if any(wanted in text.lower() for text in texts):  # the cheaper question first: the answer is the same
        return True
    return any(matches(listed, wanted) for listed in product.attributes)


def type_score(product: Product, goal: Goal, tagger: NounTagger) -> TypeScore:
    """Whether the product is of the kind the goal was written for: by its query, its category, or its title's nouns."""
    query_match = product.query == goal.query
    category_match = len(_names(product.category_path) & _names(goal.category_path)) >= 2
    title_score = shared_nouns(tagger(product.title), tagger(goal.title))
    factor = 1.0 if query_match or category_match or title_score > 0.2 else 0.5
    if title_score == 0:
        factor = 0.0
    elif title_score < 0.1:
        factor = 0.1
    return TypeScore(factor, title_score, query_match, category_match)


@lru_cache(maxsize=1 << 12)
def _names(path: str) -> frozenset[str]:
    return frozenset(path_names(path))


def shared_nouns(bought: tuple[str, ...], wanted: tuple[str, ...]) -> float:
    """Distinct nouns in common over all nouns wanted, repetitions counted; 0.2 where none is wanted."""
    return len(set(bought) & set(wanted)) / len(wanted) if wanted else 0.2


def best_choices(product: Product, goal: Goal) -> dict[str, str]:
    """The option values of `product` that satisfy the goal's options; options nobody asked for are left alone."""
    choices: dict[str, str] = {}
    for wanted in goal.options:
        for name, values in product.options.items():
            if name in choices:
                continue
            fitting = [value for value in values if same_option(value, wanted)]
            if fitting:
                plain = wanted if isinstance(wanted, str) else wanted[1]
                choices[name] = plain if plain in fitting else fitting[0]
                break
    return choices
