"""The score of a purchase: type x (attributes + options + price) / (everything asked for + 1), with all its parts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from agentrl.envs.common.catalogue.matching import OUR_COLOURS, ColourNames, matches, same_option
from agentrl.envs.common.catalogue.product import Product, path_names
from agentrl.envs.webshop.goals import NO_LIMIT, Goal
from agentrl.envs.webshop.nouns import NounTagger, benchmark_tagger, rule_tagger

# The colour words that decide whether a chosen option is the wanted one, in the benchmark's order.
_COLOURS = """
alabaster apricot aqua ash asphalt azure banana beige black blue blush bordeaux bronze brown burgundy camel camo
caramel champagne charcoal cheetah chestnut chocolate christmas coffee cognac copper coral cranberry cream crystal dark
denim eggplant elephant espresso fuchsia gold granite grape graphite grass gray green grey heather indigo ivory ivy
khaki lavender lemon leopard light lilac lime magenta maroon mauve merlot midnight mint mocha multicolor mushroom
mustard natural navy nude olive orange peach pewter pink plum purple rainbow red rose royal rust sand sapphire seashell
silver skull slate steel stone stonewash sunflower tan taupe teal tiger turquoise violet walnut wheat white wine yellow
"""
BENCHMARK_COLOURS = ColourNames(_COLOURS.split())


@dataclass(frozen=True)
class Rules:
    """What a score depends on beside its formula: which words of a title are nouns, which words are colours."""

    nouns: NounTagger
    colours: ColourNames


# Of generated products: the same everywhere, whatever is installed.
OUR_RULES = Rules(rule_tagger, OUR_COLOURS)


def benchmark_rules() -> Rules:
    """Of the benchmark's own products."""
    return Rules(benchmark_tagger(), BENCHMARK_COLOURS)


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


def fit_of(product: Product, goal: Goal, rules: Rules = OUR_RULES) -> Fit:
    """How well a product fits before any option is chosen."""
    kind = type_score(product, goal, rules.nouns)
    found = tuple([wanted for wanted in goal.attributes if has_attribute(product, wanted)])
    return Fit(kind, found, product.price <= goal.price_upper)


def with_options(fit: Fit, goal: Goal, options: Mapping[str, str], rules: Rules = OUR_RULES) -> Reward:
    """The score of a purchase with the chosen `options` {name: value}."""
    chosen = tuple(options.values())
    met = tuple(
        [wanted for wanted in goal.options if any(same_option(value, wanted, rules.colours) for value in chosen)]
    )
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


def best_choices(product: Product, goal: Goal, rules: Rules = OUR_RULES) -> dict[str, str]:
    """The option values of `product` that satisfy the goal's options; others are left alone."""
    choices: dict[str, str] = {}
    for wanted in goal.options:
        for name, values in product.options.items():
            if name in choices:
                continue
            fitting = [value for value in values if same_option(value, wanted, rules.colours)]
            if fitting:
                plain = wanted if isinstance(wanted, str) else wanted[1]
                choices[name] = plain if plain in fitting else fitting[0]
                break
    return choices


# ---------------------------------------------------------------------- what is told of a score


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
