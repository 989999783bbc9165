"""Families: a product that a goal asks for, and siblings that differ from it in exactly one thing that matters.

The catalogue is a row of blocks of 200 products. A block holds ten families with options, ten without, and fourteen
products on their own; which place belongs to which family is the same in every block, so that product number i knows
its family by arithmetic. What is left after the last whole block is products on their own.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import blake2b
from statistics import NormalDist
from struct import Struct
from typing import Literal, TypeVar

from agentrl.envs.common.catalogue.product import NO_PRICE
from agentrl.envs.common.catalogue.words import Attribute, Noun, Schema, words

T = TypeVar("T")
RandomNumbers = tuple[int, ...]
_SIXTEEN_BIT_NUMBERS = Struct(">32H")


def random_numbers(seed: int, kind: bytes, index: int) -> RandomNumbers:
    """Thirty-two numbers below 65,536: one hash serves a whole product, which is what makes products cheap."""
    return _SIXTEEN_BIT_NUMBERS.unpack(blake2b(b"%d|%b|%d" % (seed, kind, index)).digest())


def pick(choices: Sequence[T], number: int) -> T:
    """One of `choices`, all equally likely."""
    return choices[number * len(choices) >> 16]


@cache
def strides(length: int) -> tuple[int, ...]:
    """Steps that visit every place of a ring of this length: sampling without repetition costs one addition each."""
    return tuple(step for step in range(1, length) if math.gcd(step, length) == 1) or (1,)


def sample(choices: Sequence[T], count: int, start: int, stride: int) -> list[T]:
    """`count` different ones of `choices` (all, if there are fewer), chosen by two random numbers."""
    length = len(choices)
    first, step = start * length >> 16, pick(strides(length), stride)
    return [choices[(first + step * k) % length] for k in range(min(count, length))]


def log_normal_table(
    median: float, sigma: float, low: float, high: float, upper_sigma: float | None = None
) -> tuple[float, ...]:
    """The quantiles of a log-normal distribution cut to [low, high], with a spread of its own above the median."""
    bell = NormalDist()
    scores = (bell.inv_cdf((k + 0.5) / 256) for k in range(256))
    values = (median * math.exp(z * (upper_sigma or sigma if z > 0 else sigma)) for z in scores)
    return tuple(min(high, max(low, value)) for value in values)


# ---------------------------------------------------------------------- families

Level = Literal["easy", "medium", "hard"]
Place = Literal["title", "bullets", "description", "hidden"]
Options = dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a goal for this family asks for, and how well hidden it is."""

    size: int  # the wanted product and its siblings
    attributes: int
    options: int
    level: Level


# Ten families with options and ten without: with their sizes, 42% of all products have options, as in the benchmark.
WITH_OPTIONS = (
    Plan(8, 1, 1, "easy"),
    Plan(9, 1, 1, "medium"),
    Plan(9, 2, 1, "medium"),
    Plan(9, 1, 1, "hard"),
    Plan(10, 3, 1, "hard"),
    Plan(7, 1, 2, "easy"),
    Plan(7, 1, 2, "medium"),
    Plan(7, 2, 2, "medium"),
    Plan(7, 2, 2, "hard"),
    Plan(7, 3, 2, "hard"),
)
WITHOUT_OPTIONS = (
    Plan(8, 1, 0, "easy"),
    Plan(9, 2, 0, "easy"),
    Plan(9, 2, 0, "medium"),
    Plan(10, 1, 0, "hard"),
    Plan(10, 3, 0, "medium"),
    Plan(11, 3, 0, "hard"),
    Plan(11, 2, 0, "hard"),
    Plan(12, 3, 0, "easy"),
    Plan(13, 2, 0, "medium"),
    Plan(13, 3, 0, "hard"),
)
PLANS = WITH_OPTIONS + WITHOUT_OPTIONS
ALONE = Plan(1, 0, 0, "easy")
BLOCK = 200
SPARE = 3  # attributes that a family leaves to its siblings, to be different with
_STARTS = tuple(sum(plan.size for plan in PLANS[:slot]) for slot in range(len(PLANS)))
_PLACES = tuple((slot, member) for slot, plan in enumerate(PLANS) for member in range(plan.size))

_LISTED = (0,) * 185 + (1,) * 191 + (2,) * 189 + (3,) * 134 + (4,) * 120 + (5,) * 65 + (6,) * 60 + (7,) * 36 + (8,) * 20
_VALUES = tuple(round(count) for count in log_normal_table(4.2, 1.0, 1, 45))
_SPREAD = log_normal_table(0.56, 0.38, 0.1, 20.0, upper_sigma=1.5)
_CENTS = (0.99, 0.99, 0.99, 0.95, 0.49, 0.0, 0.5, 0.98, 0.97, 0.79, 0.88, 0.29)


def _places(title: int, description: int, bullets: int, hidden: int) -> tuple[Place, ...]:
    counts: dict[Place, int] = {"title": title, "description": description, "bullets": bullets, "hidden": hidden}
    return tuple(place for place, count in counts.items() for _ in range(count))


# Where attributes are stated; of all of them, about three in ten only after the title, one in seven nowhere.
_PLACES_BY_LEVEL: dict[Level, tuple[Place, ...]] = {
    "easy": _places(1, 0, 0, 0),
    "medium": _places(5, 2, 2, 0),
    "hard": _places(4, 2, 4, 3),
}
_ANY_PLACE = _places(11, 3, 4, 3)


@dataclass(frozen=True, slots=True)
class Break:
    """In what a sibling differs: attribute number `which`, option number `which`, or the price."""

    kind: Literal["attribute", "option", "price"]
    which: int
    count: int  # siblings with the same kind of difference get different replacements


@dataclass(frozen=True, slots=True)
class Family:
    """What the members share. The first `plan.attributes` attributes are what a goal asks for."""

    noun: Noun
    plan: Plan
    attributes: tuple[Attribute, ...]
    places: tuple[Place, ...]
    listed: int  # how many of the attributes, counted from the last, are in the hidden list
    spare_attributes: tuple[Attribute, ...]
    options: Options
    schemas: tuple[Schema, ...]
    wanted_values: tuple[tuple[str, str], ...]  # for each option asked for, the values of the first and second goal
    pricing: tuple[float, ...]
    target: int  # which member has everything
    use: str


@dataclass(frozen=True, slots=True)
class Variant:
    """One member's own version of what the family shares."""

    attributes: tuple[Attribute, ...]
    options: Options
    pricing: tuple[float, ...]
    loud: bool = False  # repeats in a short description what goals ask for, and so ranks above the target


def place_of(index: int, whole_blocks: int) -> tuple[int, int] | None:
    """(family, member) of product number `index`; None for a product on its own."""
    block, offset = divmod(index, BLOCK)
    if block >= whole_blocks or offset >= len(_PLACES):
        return None
    slot, member = _PLACES[offset]
    return block * len(PLANS) + slot, member


def first_index(family: int) -> int:
    """The index of a family's first member; the others follow."""
    block, slot = divmod(family, len(PLANS))
    return block * BLOCK + _STARTS[slot]


@lru_cache(maxsize=4096)
def family_of(seed: int, family: int) -> Family:
    """Family number `family`."""
    return _make(
        random_numbers(seed, b"family", family), random_numbers(seed, b"traits", family), PLANS[family % len(PLANS)]
    )


def alone(seed: int, index: int) -> Family:
    """A product on its own, as a family of one that no goal asks for."""
    return _make(random_numbers(seed, b"alone", index), random_numbers(seed, b"alone traits", index), ALONE)


def _make(rng: RandomNumbers, traits_rng: RandomNumbers, plan: Plan) -> Family:
    nouns = words().two_option_nouns if plan.options > 1 else words().nouns_by_category
    names, bounds = _category_bounds()
    category = names[bisect_right(bounds, rng[0])] if rng[0] < bounds[-1] else "grocery"
    noun = pick(nouns[category], rng[1])
    listed = min(pick(_LISTED, rng[2]), len(noun.attributes) - SPARE)
    count = max(listed, plan.attributes)
    shuffled = sample(noun.attributes, len(noun.attributes), rng[3], rng[4])
    places: list[Place] = []  # where each is stated; one that no list holds must stand somewhere in the text
    for k in range(count):
        chosen = pick(_PLACES_BY_LEVEL[plan.level] if k < plan.attributes else _ANY_PLACE, traits_rng[k])
        places.append("bullets" if chosen == "hidden" and k < count - listed else chosen)
    schemas = _schemas(noun, rng, plan)
    values: Options = {}  # neighbours where the order means something, as with sizes
    for k, schema in enumerate(schemas):
        many, start, all_values = pick(_VALUES, traits_rng[8 + k]), traits_rng[12 + k], schema.values
        if schema.option == "size":
            many = min(many, len(all_values))
            lowest = start * (len(all_values) - many + 1) >> 16
            values[schema.option] = all_values[lowest : lowest + many]
        else:
            values[schema.option] = tuple(sample(all_values, many, start, traits_rng[16 + k]))
    wanted: list[tuple[str, str]] = []  # by the family's two goals: different ones where a sibling can still lack both
    for k, schema in enumerate(schemas[: plan.options]):
        own, number = values[schema.option], traits_rng[20 + k]
        first = pick(own, number)
        second = own[(own.index(first) + 1 + number % 3) % len(own)]
        wanted.append((first, second) if schema.can_lack({first, second}) else (first, first))
    return Family(
        noun=noun,
        plan=plan,
        attributes=tuple(shuffled[:count]),
        places=tuple(places),
        listed=listed,
        spare_attributes=tuple(shuffled[count:]),
        options=values,
        schemas=schemas,
        wanted_values=tuple(wanted),
        pricing=_pricing(noun, rng, with_range=bool(schemas)),
        target=rng[10] * plan.size >> 16,
        use=pick(noun.uses, rng[11]),
    )


@cache
def _category_bounds() -> tuple[tuple[str, ...], tuple[float, ...]]:
    """The categories, and the random number at which each ends."""
    shares = words().shares
    return tuple(shares), tuple(share * 65536 for share in itertools.accumulate(shares.values()))


def _schemas(noun: Noun, rng: RandomNumbers, plan: Plan) -> tuple[Schema, ...]:
    """Options of different names: those the plan needs, seldom one more."""
    seldom = plan.options == 2 and rng[5] < 7000
    needed = (rng[5] < 16000) + (rng[5] < 6000) if plan is ALONE else plan.options + seldom
    chosen: dict[str, Schema] = {}
    for schema in sample(noun.schemas, len(noun.schemas) if needed else 0, rng[6], rng[7]):
        chosen.setdefault(schema.option, schema)
        if len(chosen) == needed:
            break
    return tuple(chosen.values())


def _pricing(noun: Noun, rng: RandomNumbers, *, with_range: bool) -> tuple[float, ...]:
    """One price or, among things with options, sometimes a range that one limit of tens can cover."""
    if rng[8] < 6700:
        return NO_PRICE
    lowest = charm(min(849.0, noun.price * pick(_SPREAD, rng[9])), rng[8])
    if not with_range or rng[12] > 16000:
        return (lowest,)
    ceiling = lowest // 10 * 10 + 19.5
    highest = round(lowest + (ceiling - lowest) * (0.2 + rng[13] / 82000), 2)
    return (lowest, highest)


def charm(amount: float, number: int) -> float:
    """An amount as shops write it, of a dollar or more."""
    return max(1.0, float(int(amount))) + pick(_CENTS, number * 7919 & 0xFFFF)


def break_of(plan: Plan, target: int, member: int) -> Break | None:
    """In what `member` differs from the target; None for the target. One sibling in six differs in price."""
    if member == target:
        return None
    sibling = member - (member > target)
    if sibling % 6 == 3:
        return Break("price", 0, sibling // 6)
    turn = sibling - (sibling + 2) // 6
    which, count = turn % (plan.attributes + plan.options), turn // (plan.attributes + plan.options)
    if which < plan.attributes:
        return Break("attribute", which, count)
    return Break("option", which - plan.attributes, count)


def variant_of(family: Family, member: int, rng: RandomNumbers) -> Variant:
    """What member number `member` has, given its own random numbers."""
    broken = break_of(family.plan, family.target, member)
    attributes, options, pricing = family.attributes, family.options, family.pricing
    if broken is None:
        pass
    elif broken.kind == "price":
        # More than any limit a goal for the target can have: limits end at the fourth ten above its price.
        beyond = pricing[-1] // 10 * 10 + 41
        too_dear = charm(beyond + pricing[0] * rng[20] / 120000, rng[20])
        return Variant(attributes, options, (too_dear,), loud=True)
    elif broken.kind == "attribute":
        spare = family.spare_attributes
        other = spare[(broken.count + 3 * broken.which) % len(spare)]
        attributes = (*attributes[: broken.which], other, *attributes[broken.which + 1 :])
    else:
        schema = family.schemas[broken.which]
        left = schema.without(set(family.wanted_values[broken.which]))
        values = tuple(sample(left, len(options[schema.option]), rng[21], rng[22]))
        options = {**options, schema.option: values}
    return Variant(attributes, options, pricing)
