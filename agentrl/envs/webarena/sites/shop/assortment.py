"""What is on sale, as far as lists need it, as this episode has it.

Lists filter, sort and count hundreds of products at every step. Base data never changes, so that the few facts they
need are read once for the process; what the episode changed is laid over them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.shop.base import FINAL_PRICE

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
    changed = _changed_products(db, base)
    if not changed:
        return base.items
    items = {row_id: item for row_id, item in base.items.items() if row_id not in changed}
    items.update(_read(db, changed))
    return dict(sorted(items.items()))


def items_below(db: Database, url_path: str) -> list[Item]:
    """The products of a category and of all categories below it."""
    rows = db.rows("SELECT id FROM category WHERE url_path = ? OR url_path LIKE ? || '/%'", url_path, url_path)
    wanted = {row["id"] for row in rows}
    return [item for item in assortment(db).values() if item.category in wanted]


def _changed_products(db: Database, base: _Base) -> set[int]:
    changed = set(db.changes.get("product", ()))
    for option, row in db.changes.get("product_option", {}).items():
        owner = base.option_owners.get(option) if row is None else row["product_id"]
        changed |= {number for number in (owner, base.option_owners.get(option)) if number is not None}
    return changed


def _read(db: Database, products: Iterable[int]) -> dict[int, Item]:
    found = {}
    for number in products:
        row = db.row(f"{_FACTS} AND id = ?", number)
        if row is not None:
            colors = db.rows(f"{_COLORS} AND product_id = ?", number)
            found[number] = _item(row, frozenset(color["color"] for color in colors))
    return found


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
