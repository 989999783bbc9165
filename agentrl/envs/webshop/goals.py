"""What is to be bought: the instruction an agent reads and the terms it is rewarded by.

In a generated catalogue, instructions ask for the targets of its families, by level and split. Families go in pairs,
one with options and one without. A pair yields three goals: two for the target with options (they differ in the values
wanted) and one for the other target. 4,029 pairs make the benchmark's 12,087 goals; a catalogue of fewer than 100,000
products uses proportionally fewer.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, overload

import numpy as np

from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.envs.common.catalogue.families import PLANS, WITH_OPTIONS, Family, RandomNumbers, pick, random_numbers
from agentrl.envs.common.catalogue.generated import GeneratedCatalogue
from agentrl.envs.common.catalogue.product import Product, fraction_for
from agentrl.envs.common.catalogue.words import Attribute, Noun, words

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = ("train", "dev", "test")
LIMITS = range(10, 1000, 10)
NO_LIMIT = 1_000_000.0
# The larger of two different picks among four limits is the second, third or fourth with these chances (in sixths).
_LARGER_OF_TWO = {4: (1, 2, 2, 3, 3, 3), 3: (1, 2, 2), 2: (1,)}


@dataclass(frozen=True, slots=True)
class Goal:
    """One goal. An option is a value ("navy"), or a (name, value) pair in the benchmark's synthetic goals."""

    id: str
    asin: str  # the product the goal was written for; others may satisfy it too
    instruction: str
    query: str
    title: str
    category: str
    category_path: str
    attributes: tuple[str, ...]
    options: tuple[str | tuple[str, str], ...]
    price_upper: float
    weight: float = 1.0
    difficulty: str = ""
    family: str = ""  # goals of one family never stand in two splits
    reference_query: str = ""  # a search that is known to show the product among its hits


def price_limit(price: float, seed: int, asin: str) -> float:
    """The larger of two of the next four multiples of ten above `price`; `NO_LIMIT` where fewer than two remain.

    The benchmark draws the two before it seeds its generator, so that its limits differ between processes. Here
    (seed, asin) decides: one limit per product, always the same, with the benchmark's chances.
    """
    first = max(0, int(price // 10))  # LIMITS[first] is the lowest limit strictly above the price
    while first < len(LIMITS) and LIMITS[first] <= price:
        first += 1
    above = LIMITS[first : first + 4]
    if len(above) < 2:
        return NO_LIMIT
    chances = _LARGER_OF_TWO[len(above)]
    return float(above[chances[int(len(chances) * fraction_for("limit", seed, asin))]])


def price_clause(limit: float) -> str:
    """The end of an instruction that states the limit; nothing where there is none."""
    return "" if limit >= NO_LIMIT else f", and price lower than {limit:.2f} dollars"


def known_split(split: str) -> Split:
    """`split` itself, or a `ConfigError` that names the three there are."""
    for known in SPLITS:
        if split == known:
            return known
    raise ConfigError(f"split must be one of {', '.join(SPLITS)}; got {split!r}.{did_you_mean(str(split), SPLITS)}")


def split_sizes(goals: int) -> dict[Split, int]:
    """How many of `goals` fall to each split: the benchmark's 500 and 1,000, or a sixth each where goals are few."""
    test = min(500, goals // 6)
    dev = min(1000, goals // 6)
    return {"train": goals - dev - test, "dev": dev, "test": test}


class Goals(Sequence[Goal]):
    """The goals of one split. A kind of goals says how many there are and makes one at a time."""

    split: Split

    @abstractmethod
    def goal(self, place: int) -> Goal:
        """The goal at a place that exists."""

    def varied(self, place: int, wish: str) -> Goal | None:
        """The product of a goal with another wish; None where these goals have none, or not this one."""
        return None

    @abstractmethod
    def weights(self) -> np.ndarray:
        """How likely each goal is when goals are drawn by weight, relative to the others."""

    @overload
    def __getitem__(self, index: int) -> Goal: ...
    @overload
    def __getitem__(self, index: slice) -> list[Goal]: ...
    def __getitem__(self, index: int | slice) -> Goal | list[Goal]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f"goal {index} of {len(self)} in {self.split}")
        return self.goal(place)


class GoalIds(Sequence[str]):
    """ "test-0", "test-1" ...: made when they are looked at."""

    def __init__(self, split: str, count: int) -> None:
        self._split, self._numbers = split, range(count)

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: Any) -> Any:
        found = self._numbers[index]
        return f"{self._split}-{found}" if isinstance(found, int) else [f"{self._split}-{number}" for number in found]

    def __repr__(self) -> str:
        return f"{self._split}-0 to {self._split}-{len(self) - 1}"


# ---------------------------------------------------------------------- goals of a generated catalogue

ALL_GOALS = 12_087
GOALS_PER_PAIR = 3
FULL_SIZE = 100_000  # products from which on there are all goals
_SCATTER = 2_654_435_761  # a prime above any number of pairs: neighbours among goals are far apart in the shop
WISH = re.compile(r":a([\d.]{1,40}):o([\d.]{0,40}):p(\d{1,3})", re.ASCII)


@dataclass(frozen=True)
class Wish:
    """What is asked of a product: which of its family's attributes (numbers, ascending), which values of its first
    options (a number each), and a limit in tens of dollars (0: none)."""

    attributes: tuple[int, ...]
    options: tuple[int, ...]
    limit: int

    def __str__(self) -> str:
        return f":a{'.'.join(map(str, self.attributes))}:o{'.'.join(map(str, self.options))}:p{self.limit}"

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The wish that `str` writes like this; None for anything else."""
        found = WISH.fullmatch(text)
        if found is None:
            return None
        attributes, options = ([int(part) for part in found[k].split(".") if part] for k in (1, 2))
        wish = cls(tuple(attributes), tuple(options), int(found[3]))
        return wish if str(wish) == text else None


@dataclass(frozen=True)
class Room:
    """What can be asked of a product: how many attributes and values of each option it has, and for how much."""

    attributes: int
    values: tuple[int, ...]
    lowest_limit: int  # in tens of dollars; 0: none


class GeneratedGoals(Goals):
    """The goals of one split of a generated catalogue."""

    def __init__(self, catalogue: GeneratedCatalogue, split: str) -> None:
        self._catalogue = catalogue
        self.split = known_split(split)
        pairs = ALL_GOALS * min(len(catalogue), FULL_SIZE) // FULL_SIZE // GOALS_PER_PAIR
        sizes = split_sizes(pairs * GOALS_PER_PAIR)
        test, dev = round(sizes["test"] / GOALS_PER_PAIR), round(sizes["dev"] / GOALS_PER_PAIR)
        parts = {"test": (0, test), "dev": (test, dev), "train": (test + dev, pairs - test - dev)}
        self._first, self._pairs = parts[self.split]  # the first pair of the split and how many it has

    def __len__(self) -> int:
        return self._pairs * GOALS_PER_PAIR

    def goal(self, place: int) -> Goal:
        """Computed alone."""
        turn, pair = divmod(place, self._pairs)
        return self._wish(self._first + pair, turn, f"{self.split}-{place}")

    def weights(self) -> np.ndarray:
        """All alike."""
        return np.ones(len(self))

    def varied(self, place: int, wish: str) -> Goal | None:
        """The product of a goal with another wish (see `wishes`); None where it cannot be wished for."""
        found, room = Wish.parse(wish), self.room(place)
        if found is None or found == self.wish(place) or not _fits(found, room):
            return None
        turn, pair = divmod(place, self._pairs)
        return self._wish(self._first + pair, turn, f"{self.split}-{place}{wish}", found)

    def wish(self, place: int) -> Wish:
        """What a goal asks for."""
        turn, family, product = self._about(place)
        values = [pair[turn % 2] for pair in family.wanted_values]
        options = [family.options[schema.option].index(v) for schema, v in zip(family.schemas, values, strict=False)]
        limit = price_limit(product.price, self._catalogue.seed, product.asin)
        tens = 0 if limit >= NO_LIMIT else int(limit / 10)
        return Wish(tuple(range(family.plan.attributes)), tuple(options), tens)

    def room(self, place: int) -> Room:
        """What could be asked for instead."""
        _, family, product = self._about(place)
        values = tuple(len(family.options[schema.option]) for schema in family.schemas)
        lowest = next((int(limit / 10) for limit in LIMITS if limit > product.price), 0)
        return Room(len(family.attributes), values, lowest)

    def _about(self, place: int) -> tuple[int, Family, Product]:
        turn, pair = divmod(place, self._pairs)
        number = _family_number(self._catalogue, self._first + pair, turn)
        family = self._catalogue.family(number)
        return turn, family, self._catalogue.product(self._catalogue.members(number)[family.target])

    def _wish(self, rank: int, turn: int, name: str, other: Wish | None = None) -> Goal:
        number = _family_number(self._catalogue, rank, turn)
        family = self._catalogue.family(number)
        index = self._catalogue.members(number)[family.target]
        product = self._catalogue.product(index)
        wanted = tuple(values[turn % 2] for values in family.wanted_values)
        asked = family.attributes[: family.plan.attributes]
        limit = price_limit(product.price, self._catalogue.seed, product.asin)
        if other is not None:
            pairs = zip(family.schemas, other.options, strict=False)
            wanted = tuple(family.options[schema.option][value] for schema, value in pairs)
            asked = tuple(family.attributes[attribute] for attribute in other.attributes)
            limit = 10.0 * other.limit if other.limit else NO_LIMIT
        rng = random_numbers(self._catalogue.seed, b"wish", number * 2 + turn % 2)
        # A search that leads to the target: its maker, its kind, and what its indexed text says of it.
        text = f"{product.title} {product.description}".lower()
        stated = [attribute.text for attribute in family.attributes if attribute.text in text]
        reference = " ".join((self._catalogue.traits(index).brand.lower(), family.noun.name, *stated))
        return Goal(
            id=name,
            asin=product.asin,
            instruction=instruction(family, asked, wanted, rng) + price_clause(limit),
            query=product.query,
            title=product.title,
            category=product.category,
            category_path=product.category_path,
            attributes=tuple(attribute.text for attribute in asked),
            options=wanted,
            price_upper=limit,
            difficulty=family.plan.level,
            family=f"family-{number}",
            reference_query=reference,
        )


def _fits(wish: Wish, room: Room) -> bool:
    """Does the product have all this, at this price?"""
    attributes = list(wish.attributes) == sorted(set(wish.attributes)) and 0 < len(wish.attributes) <= room.attributes
    options = len(wish.options) <= len(room.values) and all(
        value < count for value, count in zip(wish.options, room.values, strict=False)
    )
    price = not wish.limit or 0 < room.lowest_limit <= wish.limit < LIMITS.stop // LIMITS.step
    return attributes and wish.attributes[-1] < room.attributes and options and price


def _family_number(catalogue: GeneratedCatalogue, rank: int, turn: int) -> int:
    """The family of a turn (0 and 1: with options, 2: without) of the pair with this rank."""
    slots = len(WITH_OPTIONS)
    block, slot = divmod(rank * _SCATTER % (catalogue.families() // 2), slots)
    return block * len(PLANS) + slot + (slots if turn == 2 else 0)


def instruction(family: Family, asked: Sequence[Attribute], wanted: Sequence[str], rng: RandomNumbers) -> str:
    """What a person would write, without the price limit."""
    phrases = words().instructions
    adjectives = [attribute.text for attribute in asked if attribute.kind == "adjective"]
    after = [attribute.phrase for attribute in asked if attribute.kind != "adjective"]
    later = adjectives.pop() if len(adjectives) > 1 and rng[1] < 32768 else ""
    joined = [thing_with_article(family.noun, adjectives)]
    # "And" where one preposition serves two: "with argan oil and shea butter".
    for phrase in sorted(after, key=lambda text: not text.startswith("with ")):
        kind, _, rest = phrase.partition(" ")
        if len(joined) > 1 and joined[-1].startswith(f"{kind} "):
            joined[-1] += f" and {rest}"
        else:
            joined.append(phrase)
    parts = [pick(phrases["templates"], rng[0]).replace("{a thing}", " ".join(joined))]
    if later:
        parts.append(pick(phrases["more_plural" if family.noun.plural else "more"], rng[2]).replace("{x}", later))
    for k, (schema, value) in enumerate(zip(family.schemas, wanted, strict=False)):
        clause = pick(phrases["option_color" if schema.option == "color" else "option"], rng[3 + k])
        parts.append(
            clause.replace("{k}", schema.option.removesuffix(" name").removesuffix(" type")).replace("{v}", value)
        )
    return ", ".join(parts)


def thing_with_article(noun: Noun, adjectives: Sequence[str]) -> str:
    """ "an oil free eye cream", "a pair of non slip ankle boots"."""
    described = " ".join([", ".join(adjectives), noun.name] if adjectives else [noun.name])
    article = noun.article
    if article in ("a", "an"):
        article = "an" if described[0] in "aeiou" and not described.startswith(("uv", "usb", "usda", "unis")) else "a"
    return f"{article} {described}"
