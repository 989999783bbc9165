"""Which products a search finds: those with the most of its words, the best first.

The index is that of the catalogue, built once and kept in the cache. Products that the episode added or changed are
compared by their texts as they are now.
"""

from __future__ import annotations

from collections import Counter
from functools import cache, lru_cache

from agentrl.core.cache import cache_dir
from agentrl.envs.common.search import CatalogueDocuments, RepairingIndex, analyze
from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.shop.listing import MAX_LENGTH
from agentrl.envs.webarena.sites.store.products import SEED, SIZE, catalogue, description_of

CATALOGUE = "agentrl.envs.common.catalogue:GeneratedCatalogue"
MAX_TERMS = 16


def found_products(db: Database, query: str) -> list[int]:
    """The ids of the products that contain as many of the query's words as any does, best first."""
    terms = _terms(query)
    changed = db.changes.get("product", {})
    matches = {row_id: _matched(db, row_id, terms) for row_id, row in changed.items() if row is not None}
    best, count = _indexed(query[:MAX_LENGTH].lower())
    base = [row_id for row_id in best if row_id not in changed]
    most = max([*matches.values(), count if base else 0], default=0)
    sku = db.value("SELECT id FROM product WHERE sku = ?", query.strip().upper())
    found = [] if sku is None else [sku]
    if most:
        found += [row_id for row_id, matched in matches.items() if matched == most]
        found += base if count == most else []
    return list(dict.fromkeys(found))


def _terms(query: str) -> list[str]:
    return list(dict.fromkeys(analyze(query[:MAX_LENGTH].lower())))[:MAX_TERMS]


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
def _indexed(query: str) -> tuple[tuple[int, ...], int]:
    """The products of base data with the most of the query's terms, by score, and how many terms that is. Documents are
    numbered as the catalogue numbers its products."""
    holders = sorted((_with_term(term) for term in _terms(query)), key=len)
    holders = [numbers for numbers in holders if numbers]
    if not holders:
        return (), 0
    matched, count = frozenset.intersection(*holders), len(holders)
    if not matched:
        counts = Counter(number for numbers in holders for number in numbers)
        count = max(counts.values())
        matched = frozenset(number for number, times in counts.items() if times == count)
    return tuple(number + 1 for number in _by_score(query, matched)), count


def _by_score(query: str, wanted: frozenset[int]) -> list[int]:
    """These documents, best first. They have most of the terms, so that they are among the first hits as a rule."""
    found: list[int] = []
    for most in (128, 1024, SIZE):
        found = [hit.number for hit in _index().search(query, most) if hit.number in wanted]
        if len(found) == len(wanted):
            break
    return found


@lru_cache(4_096)
def _with_term(term: str) -> frozenset[int]:
    return frozenset(hit.number for hit in _index().search(term, SIZE))


@cache
def _index() -> RepairingIndex:
    fingerprint = catalogue().fingerprint
    folder = cache_dir() / "webarena" / f"search-{fingerprint}"
    arguments = {"seed": SEED, "size": SIZE}
    return RepairingIndex(
        folder, lambda: CatalogueDocuments(CATALOGUE, arguments), fingerprint=fingerprint, processes=1
    )
