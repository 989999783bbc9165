"""What is on sale, and which products a search finds: those with the most of its words, the best first.

Lists filter, sort and count hundreds of products at every step. Base data never changes, so that the few facts they
need are read once for the process; what the episode changed is laid over them. The search index is that of the
catalogue, built once and kept in the cache. Products that the episode added or changed are compared by their texts as
they are now.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from agentrl.core.cache import cache_dir
from agentrl.envs.common.search import CatalogueDocuments, RepairingIndex, analyze
from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.shop.base import FINAL_PRICE
from agentrl.envs.webarena.sites.store.products import SEED, SIZE, catalogue, description_of

_FACTS = f"SELECT id, sku, name, {FINAL_PRICE} AS price, brand, category_id FROM product WHERE status = 1"
_COLORS = "SELECT id, product_id, lower(value) AS color FROM product_option WHERE name = 'Color'"


class Item(NamedTuple):
    """A product in a list."""

    id: int
    sku: str
    name: str
    price: float  # what a customer pays
    brand: str
    category: int
    colors: frozenset[str]  # in lower case


class _Base(NamedTuple):
    items: dict[int, Item]
    option_owners: dict[int, int]  # option -> product


def assortment(db: Database) -> Mapping[int, Item]:
    """Everything that is on sale, by id, in order of the ids."""
    base = _base(db.path)
    changed = set(db.changes.get("product", ()))
    for option, row in db.changes.get("product_option", {}).items():
        owner = base.option_owners.get(option) if row is None else row["product_id"]
        changed |= {number for number in (owner, base.option_owners.get(option)) if number is not None}
    if not changed:
        return base.items
    items = {row_id: item for row_id, item in base.items.items() if row_id not in changed}
    for number in changed:
        fact = db.row(f"{_FACTS} AND id = ?", number)
        if fact is not None:
            colors = db.rows(f"{_COLORS} AND product_id = ?", number)
            items[number] = _item(fact, frozenset(color["color"] for color in colors))
    return dict(sorted(items.items()))


def items_below(db: Database, url_path: str) -> list[Item]:
    """The products of a category and of all categories below it."""
    rows = db.rows("SELECT id FROM category WHERE url_path = ? OR url_path LIKE ? || '/%'", url_path, url_path)
    wanted = {row["id"] for row in rows}
    return [item for item in assortment(db).values() if item.category in wanted]


@lru_cache(4)
def _base(path: Path) -> _Base:
    db = Database(path)  # beside the episode's own, which may have changes
    try:
        colors: dict[int, set[str]] = {}
        for row in db.rows(_COLORS):
            colors.setdefault(row["product_id"], set()).add(row["color"])
        owners = {row["id"]: row["product_id"] for row in db.rows("SELECT id, product_id FROM product_option")}
        rows = db.rows(f"{_FACTS} ORDER BY id")
        return _Base({row["id"]: _item(row, frozenset(colors.get(row["id"], ()))) for row in rows}, owners)
    finally:
        db.close()


def _item(row: sqlite3.Row, colors: frozenset[str]) -> Item:
    return Item(row["id"], row["sku"], row["name"], row["price"], row["brand"], row["category_id"], colors)


# ---------------------------------------------------------------------- searching

CATALOGUE = "agentrl.envs.common.catalogue:GeneratedCatalogue"
MAX_LENGTH = 128  # characters of a value: dozens of links of a list repeat it
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
