"""The special searches: products by attribute, category or query, word for word. Built when first asked for."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import numpy as np

from agentrl.core.cache import cached_arrays
from agentrl.envs.common.catalogue.generated import GeneratedCatalogue
from agentrl.envs.common.catalogue.interface import Catalogue

log = logging.getLogger(__name__)
MAX_COUNT = 50  # products kept for each key, the first of the catalogue
KINDS = {"<a>": "attribute", "<c>": "category", "<q>": "query"}
BREAK = "\x1f"  # between kind and key; stands in no product


class Facets:
    """For each attribute, category and query the numbers of the first products that have it."""

    def __init__(self, catalogue: Catalogue) -> None:
        arrays = cached_arrays(f"webshop/{catalogue.fingerprint}/facets", lambda: _build(catalogue))
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


def _filed(catalogue: Catalogue, number: int) -> tuple[str, str, tuple[str, ...]]:
    """Category, query and attributes; a generated catalogue knows them without writing the product."""
    if isinstance(catalogue, GeneratedCatalogue):
        return catalogue.filed(number)
    product = catalogue.product(number)
    return product.category, product.query, product.attributes


def _keys_of(category: str, query: str, attributes: tuple[str, ...]) -> Iterator[str]:
    yield _name("category", category.lower())
    yield _name("query", query.lower())
    for attribute in dict.fromkeys(attributes):
        yield _name("attribute", attribute.lower())


def _build(catalogue: Catalogue) -> dict[str, np.ndarray]:
    log.info("looking through %d products for the special searches, once", len(catalogue))
    found: dict[str, list[int]] = {}
    for number in range(len(catalogue)):
        for key in _keys_of(*_filed(catalogue, number)):
            numbers = found.setdefault(key, [])
            if len(numbers) < MAX_COUNT:
                numbers.append(number)
    names = np.array(sorted(found))  # numpy and Python order strings alike: by code points
    lists = [found[str(name)] for name in names]
    ends = np.cumsum([len(numbers) for numbers in lists], dtype=np.int64)
    return {"keys": names, "ends": ends, "numbers": np.array([n for numbers in lists for n in numbers], np.int64)}
