"""`Shop`: one catalogue and one search index, shared by every session of a process and all its threads."""

from __future__ import annotations

import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from agentrl.core.arguments import one_of, optional_path, whole_number
from agentrl.core.cache import cached_arrays, shared
from agentrl.core.errors import ConfigError
from agentrl.envs.common.catalogue.generated import MAX_SIZE, SMALLEST, GeneratedCatalogue
from agentrl.envs.common.catalogue.product import Catalogue, Product, read_listing
from agentrl.envs.common.search import CatalogueDocuments, kept_index
from agentrl.envs.webshop.goals import GeneratedGoals, Goal, Goals
from agentrl.envs.webshop.official import OfficialCatalogue
from agentrl.envs.webshop.official_store import SHUFFLE_SEED
from agentrl.envs.webshop.pages import Body
from agentrl.envs.webshop.reward import OUR_RULES, Reward, benchmark_rules, fit_of, unmet, with_options

log = logging.getLogger(__name__)
RANDOM = "<r>"
GOAL_KINDS = ("human", "synthetic")
PRODUCTS_KEPT, SEARCHES_KEPT, SCORES_KEPT, GOALS_KEPT = 8_192, 2_048, 16_384, 4_096
BODIES_KEPT = 8_192
FEW_PRODUCTS = 20_000  # up to here one process builds the index sooner than two are started
SHOPS_KEPT = 4
MAX_COUNT = 50  # products kept for each key, the first of the catalogue
KINDS = {"<a>": "attribute", "<c>": "category", "<q>": "query"}
BREAK = "\x1f"  # between kind and key; stands in no product


class Facets:
    """For each attribute, category and query the numbers of the first products that have it."""

    def __init__(self, catalogue: Catalogue) -> None:
        arrays = cached_arrays(f"webshop/{catalogue.fingerprint}/facets", lambda: _build_facets(catalogue))
        self._keys, self._ends, self._numbers = arrays["keys"], arrays["ends"], arrays["numbers"]

    def find(self, mark: str, key: str) -> list[int]:
        """Numbers of products for a mark (`<a>`, `<c>` or `<q>`) and the words after it."""
        wanted = _name(KINDS[mark], key)
        place = int(np.searchsorted(self._keys, wanted))
        if place == len(self._keys) or self._keys[place] != wanted:
            return []
        start = int(self._ends[place - 1]) if place else 0
        return self._numbers[start : int(self._ends[place])].tolist()


def _name(kind: str, key: str) -> str:
    return f"{kind}{BREAK}{key}"[:200]


def _build_facets(catalogue: Catalogue) -> dict[str, np.ndarray]:
    log.info("looking through %d products for the special searches, once", len(catalogue))
    found: dict[str, list[int]] = {}
    for number in range(len(catalogue)):
        if isinstance(catalogue, GeneratedCatalogue):  # which knows these without writing the product
            category, query, attributes = catalogue.filed(number)
        else:
            product = catalogue.product(number)
            category, query, attributes = product.category, product.query, product.attributes
        keys = [_name("category", category.lower()), _name("query", query.lower())]
        keys += [_name("attribute", attribute.lower()) for attribute in dict.fromkeys(attributes)]
        for key in keys:
            numbers = found.setdefault(key, [])
            if len(numbers) < MAX_COUNT:
                numbers.append(number)
    names = np.array(sorted(found))  # numpy and Python order strings alike: by code points
    lists = [found[str(name)] for name in names]
    ends = np.cumsum([len(numbers) for numbers in lists], dtype=np.int64)
    return {"keys": names, "ends": ends, "numbers": np.array([n for numbers in lists for n in numbers], np.int64)}


@dataclass(frozen=True)
class ShopSpec:
    """Which shop: a generated one, or the benchmark's files in `data_dir`."""

    catalogue_size: int
    catalogue_seed: int = 0
    data_dir: str | None = None
    products: str | None = None
    goals: str = "human"
    cuts: str = "products"
    shuffle_seed: int | None = SHUFFLE_SEED

    @classmethod
    def checked(
        cls,
        size: Any,
        seed: Any,
        data_dir: Any,
        products: Any,
        goals: Any,
        cuts: str = "products",
        shuffle_seed: Any = SHUFFLE_SEED,
    ) -> ShopSpec:
        """The arguments of an environment, checked without looking at any file."""
        size = whole_number("catalogue_size", size, at_least=SMALLEST, at_most=MAX_SIZE)
        seed = whole_number("catalogue_seed", seed, at_least=0)
        one_of("goals", goals, GOAL_KINDS)
        folder, file = optional_path("data_dir", data_dir), optional_path("products", products)
        if data_dir is None and (products is not None or goals != "human"):
            raise ConfigError("products and goals choose among the benchmark's files; they need data_dir")
        if shuffle_seed is not None:
            shuffle_seed = whole_number("shuffle_seed", shuffle_seed, at_least=0)
        if cuts == "products" and shuffle_seed != SHUFFLE_SEED:
            raise ConfigError('shuffle_seed needs cuts="benchmark" or "none"')
        return cls(size, seed, folder, file, goals, cuts, shuffle_seed)

    def catalogue(self) -> tuple[GeneratedCatalogue | OfficialCatalogue, str, dict[str, Any]]:
        """The catalogue, and the recipe by which other processes make it again."""
        made: type[Any] = GeneratedCatalogue if self.data_dir is None else OfficialCatalogue
        arguments: dict[str, Any] = {"seed": self.catalogue_seed, "size": self.catalogue_size}
        if self.data_dir is not None:
            arguments = {"seed": self.catalogue_seed, "goals": self.goals, "products": self.products}
            arguments["folder"] = self.data_dir
        return made(**arguments), f"{made.__module__}:{made.__qualname__}", arguments


class Found(NamedTuple):
    """Products that a search found: their ids, and their numbers in the catalogue and in the index."""

    asins: tuple[str, ...]
    numbers: tuple[int, ...]


class Shop:
    """Products, searches and scores, each remembered as long as there is room."""

    def __init__(self, spec: ShopSpec) -> None:
        self.spec = spec
        self.catalogue, target, arguments = spec.catalogue()
        self.rules = OUR_RULES if spec.data_dir is None else benchmark_rules()
        if isinstance(self.catalogue, OfficialCatalogue):
            log.log(logging.WARNING if self.catalogue.facts.skipped else logging.INFO, self.catalogue.summary())
        size, fingerprint = len(self.catalogue), self.catalogue.fingerprint
        self.index = kept_index(
            f"webshop/{fingerprint}",
            lambda: CatalogueDocuments(target, arguments),
            f"indexing {size:,} products, once",
            fingerprint=fingerprint,
            processes=1 if size <= FEW_PRODUCTS else max(1, min(4, os.cpu_count() or 1)),
        )
        self._facets: Facets | None = None
        self._lock = threading.Lock()
        self._bodies: OrderedDict[tuple[Any, ...], Body] = OrderedDict()
        self.product: Callable[[str], Product | None] = lru_cache(PRODUCTS_KEPT)(self.catalogue.find)
        self.score = lru_cache(SCORES_KEPT)(self._score)
        self.unmet = lru_cache(SCORES_KEPT)(self._unmet)
        self._fit = lru_cache(SCORES_KEPT)(
            lambda split, place, asin: fit_of(self.known(asin), self.goal(split, place), self.rules)
        )
        self.goal: Callable[[str, int | str], Goal] = lru_cache(GOALS_KEPT)(self._goal)
        self.goals: Callable[[str], Goals] = lru_cache(3)(self._goals)
        self._weight_sums = lru_cache(3)(lambda split: np.cumsum(self.goals(split).weights()))
        self._search = lru_cache(SEARCHES_KEPT)(self._search_index)

    def _goals(self, split: str) -> Goals:
        if isinstance(self.catalogue, OfficialCatalogue):
            return self.catalogue.goals(split, self.spec.cuts, self.spec.shuffle_seed)
        return GeneratedGoals(self.catalogue, split)

    def _goal(self, split: str, place: int | str) -> Goal:
        """The goal at a place; "17:a0:o:p4" is the one at place 17 with another wish."""
        if isinstance(place, int):
            return self.goals(split)[place]
        number, mark, wish = place.partition(":")
        goal = self.goals(split).varied(int(number), mark + wish)
        if goal is None:
            raise KeyError(f"goal {number} of {split} cannot be wished for like this")
        return goal

    def drawn_goal(self, split: str, fraction: float) -> int:
        """The number of a goal drawn by weight, with a random number from 0 to 1."""
        sums = self._weight_sums(split)
        return min(int(np.searchsorted(sums, fraction * sums[-1], side="right")), len(sums) - 1)

    def known(self, asin: str) -> Product:
        """The product with this id, of which the caller is sure."""
        product = self.product(asin)
        if product is None:
            raise KeyError(f"no product has the id {asin[:40]!a}")
        return product

    def remembered(self, key: tuple[Any, ...], make: Callable[[], Body]) -> Body:
        """What is shown under this key, made once while there is room."""
        body = self._bodies.get(key)
        if body is None:
            body = self._bodies[key] = make()
            while len(self._bodies) > BODIES_KEPT:
                self._bodies.popitem(last=False)
        return body

    def listings(self, numbers: Sequence[int]) -> list[tuple[str, str]]:
        """Title and price tag of the products with these numbers, as results show them.

        They are stored with the index: reading them there is many times cheaper than making or decoding the products.
        """
        return [read_listing(note) for note in self.index.notes(numbers)]

    def hits(self, query: str, lot: int = 0) -> tuple[str, ...]:
        """The ids that a plain query finds, best first, 50 at most."""
        return self.found(query, lot).asins

    def found(self, query: str, lot: int = 0) -> Found:
        """What a plain query finds, best first, 50 at most."""
        mark, _, rest = query.partition(" ")
        if mark == RANDOM:
            size = len(self.catalogue)
            numbers = np.random.default_rng(lot).choice(size, min(MAX_COUNT, size), replace=False).tolist()
        elif mark in KINDS:
            with self._lock:
                if self._facets is None:
                    self._facets = Facets(self.catalogue)
            numbers = self._facets.find(mark, rest)
        else:
            return self._search(query)
        return Found(tuple([self.catalogue.docid(number) for number in numbers]), tuple(numbers))

    def _search_index(self, query: str) -> Found:
        hits = self.index.search(query)
        return Found(tuple([hit.docid for hit in hits]), tuple([hit.number for hit in hits]))

    def _unmet(self, split: str, place: int | str, asin: str, options: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
        """What a goal still lacks at the product with this id; all that it asks for where the id is empty."""
        return unmet(self.score(split, place, asin, options) if asin else None, self.goal(split, place))

    def _score(self, split: str, place: int | str, asin: str, options: tuple[tuple[str, str], ...]) -> Reward:
        return with_options(self._fit(split, place, asin), self.goal(split, place), dict(options), self.rules)


@shared(SHOPS_KEPT)
def open_shop(spec: ShopSpec) -> Shop:
    """The shop of these arguments."""
    return Shop(spec)
