"""Which products a search finds: those with the most of its words, the best first.

The index is that of the catalogue, built once and kept in the cache. Products that the episode added or changed are
compared by their texts as they are now.
"""

from __future__ import annotations

from functools import cache, lru_cache

from agentrl.core.cache import cache_dir
from agentrl.envs.common.search import CatalogueDocuments, RepairingIndex, analyze
from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.store.products import SEED, SIZE, catalogue, description_of

CATALOGUE = "agentrl.envs.common.catalogue:GeneratedCatalogue"
LONGEST = 128  # characters of a query; Magento's limit
MOST_TERMS = 16


def found_products(db: Database, query: str) -> list[int]:
    """The ids of the products that contain as many of the query's words as any does, best first."""
    terms = _terms(query)
    changed = {row_id: row for row_id, row in db.changes.get("product", {}).items()}
    matches = {row_id: _matched(db, row_id, terms) for row_id, row in changed.items() if row is not None}
    base = [(row_id, count) for row_id, count in _indexed(query[:LONGEST].lower()) if row_id not in changed]
    most = max([*matches.values(), *(count for _, count in base)], default=0)
    sku = db.value("SELECT id FROM product WHERE sku = ?", query.strip().upper())
    found = [row_id for row_id, count in matches.items() if count == most] if most else []
    found += [row_id for row_id, count in base if count == most]
    return list(dict.fromkeys(([] if sku is None else [sku]) + found))


def _terms(query: str) -> list[str]:
    return list(dict.fromkeys(analyze(query[:LONGEST].lower())))[:MOST_TERMS]


def _matched(db: Database, row_id: int, terms: list[str]) -> int:
    """How many of the terms the product's texts contain now."""
    product = db.get("product", row_id)
    if product is None:
        return 0
    options = db.rows("SELECT name, value FROM product_option WHERE product_id = ?", row_id)
    texts = [product["name"], product["short_description"], description_of(product), product["sku"]]
    contained = set(analyze(" ".join(texts + [f"{name} {value}" for name, value in options]).lower()))
    return sum(term in contained for term in terms)


@lru_cache(4_096)
def _indexed(query: str) -> tuple[tuple[int, int], ...]:
    """(product, how many of the terms it contains), by score. The numbers of documents are those of the catalogue."""
    terms = _terms(query)
    counts: dict[int, int] = {}
    for term in terms:
        for number in _with_term(term):
            counts[number] = counts.get(number, 0) + 1
    hits = _index().search(query, SIZE) if counts else []
    return tuple((hit.number + 1, counts[hit.number]) for hit in hits if hit.number in counts)


@lru_cache(4_096)
def _with_term(term: str) -> tuple[int, ...]:
    return tuple(hit.number for hit in _index().search(term, SIZE))


@cache
def _index() -> RepairingIndex:
    fingerprint = catalogue().fingerprint
    folder = cache_dir() / "webarena" / f"search-{fingerprint}"
    arguments = {"seed": SEED, "size": SIZE}
    return RepairingIndex(
        folder, lambda: CatalogueDocuments(CATALOGUE, arguments), fingerprint=fingerprint, processes=1
    )
