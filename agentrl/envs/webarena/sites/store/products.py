"""Products and their categories, from the generated catalogue. Long texts stay there: `text_of` gives them."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cache, lru_cache
from random import Random
from typing import Any

from agentrl.envs.common.catalogue import GeneratedCatalogue, Product
from agentrl.envs.common.catalogue.families import charm
from agentrl.envs.common.catalogue.product import NO_PRICE, path_names
from agentrl.envs.webarena.sites.database import START
from agentrl.envs.webarena.sites.formats import slug, stamp
from agentrl.envs.webarena.sites.prose import expand, sentences
from agentrl.envs.webarena.sites.store.people import words

SEED, SIZE = 0, 4_000
DISABLED, OUT_OF_STOCK, ON_SALE, NEW = 0.008, 0.04, 0.08, 0.05  # shares of all products
LONGEST = 12  # sentences of the catalogue in a description; those that state attributes come first
_SENTENCE = re.compile(r"(?<=[.?!]) ")
SHOP_OPENED = datetime(2021, 10, 4, 8, 30)


@cache
def catalogue() -> GeneratedCatalogue:
    """The catalogue that the shop sells."""
    return GeneratedCatalogue(seed=SEED, size=SIZE)


def catalogue_product(product: Mapping[str, Any] | sqlite3.Row) -> Product | None:
    """The catalogue's record of a row of `product`; None for what an administrator added."""
    index = product["catalogue_index"]
    return None if index is None else catalogue().product(index)


def description_of(product: Mapping[str, Any] | sqlite3.Row) -> str:
    """The long text: an administrator's, or else the catalogue's with some notes of the shop."""
    record = catalogue_product(product)
    if product["description"] or record is None:
        return product["description"]
    index = product["catalogue_index"]
    rng, notes = Random(f"notes {index}"), words("content.toml")["products"]["notes"]
    said = _SENTENCE.split(record.description)[:LONGEST]
    chosen = rng.sample(notes, min(1 + len(said) // 2, len(notes)))
    added = " ".join(expand(note, rng, product_values(index)) for note in chosen)
    return f"{' '.join(said)} {sentences(added)}"


def bullets_of(product: Mapping[str, Any] | sqlite3.Row) -> tuple[str, ...]:
    """The short points above the long text: the catalogue's, with what the shop knows of them."""
    record = catalogue_product(product)
    if product["short_description"] or record is None:
        return (product["short_description"],) if product["short_description"] else ()
    index = product["catalogue_index"]
    rng, tails = Random(f"points {index}"), words("content.toml")["products"]["tails"]
    return tuple(
        sentences(point[:-1] + expand(rng.choice(tails), rng, {}) + ".") if point.endswith(".") else point
        for point in record.bullets
    )


@lru_cache(64)
def product_values(index: int) -> dict[str, str | list[str]]:
    """What the texts may say of product number `index`: what it is, what it has, what it is for, which versions."""
    traits, options = catalogue().traits(index), catalogue().product(index).options
    noun, article, this = traits.family.noun.name, "a ", "this "
    if traits.family.noun.plural:
        article, this = "", "these "
    shapes = {"adjective": "{1} {0}", "with": "{0} with {1}", "for": "{0} for {1}"}
    things = [shapes[known.kind].format(noun, known.text) for known in traits.variant.attributes] or [noun]
    versions = [f"the {value} version" for values in options.values() for value in values]
    return {
        "noun": noun, "this": this + noun, "a": article + noun, "thing": things, "item": [article + "{thing}"],
        "use": traits.family.use, "version": versions or [f"the {noun} in the picture"], "brand": traits.brand,
    }  # fmt: skip


def build_products(connection: sqlite3.Connection) -> None:
    """Fill `category`, `product` and `product_option`."""
    records = [catalogue().product(index) for index in range(SIZE)]
    # All categories, outer ones first.
    paths = sorted({path_names(record.category_path) for record in records})
    ids: dict[tuple[str, ...], int] = {}
    for depth in (1, 2, 3):
        for path in sorted({path[:depth] for path in paths}):
            ids[path] = len(ids) + 1
            parent = ids.get(path[:-1])
            url_path = "/".join(slug(name.replace("'", "")) for name in path)
            row = (ids[path], parent, path[-1], url_path, ids[path])
            connection.execute("INSERT INTO category VALUES (?, ?, ?, ?, ?)", row)
    rng = Random("products")
    taken: set[str] = set()
    products, options = [], []
    for index, record in enumerate(records):
        url_key = slug(record.title.replace("'", ""))[:120].strip("-")
        if url_key in taken:
            url_key = f"{url_key}-{record.asin.lower()}"
        taken.add(url_key)
        products.append(_row(index, record, url_key, ids[path_names(record.category_path)], rng))
        for name, values in record.options.items():
            options += [(index + 1, name.title(), value, place) for place, value in enumerate(values)]
    names = (
        "id, sku, name, url_key, category_id, brand, kind, price, special_price, qty, is_in_stock, status, sale,"
        " is_new, weight, catalogue_index, created_at, updated_at"
    )
    connection.executemany(f"INSERT INTO product ({names}) VALUES ({', '.join('?' * 18)})", products)
    connection.executemany(
        "INSERT INTO product_option (product_id, name, value, position) VALUES (?, ?, ?, ?)", options
    )


def _row(index: int, record: Product, url_key: str, category: int, rng: Random) -> tuple[Any, ...]:
    traits = catalogue().traits(index)
    # The catalogue gives siblings one price, and a fixed one where it is unknown; in a shop they differ a little.
    usual = traits.family.noun.price if record.pricing == NO_PRICE else record.price
    price = round(charm(usual * rng.uniform(0.8, 1.25), rng.randrange(65536)), 2)
    special = round(price * (1 - rng.choice((0.1, 0.15, 0.2, 0.25, 0.3))), 2) if rng.random() < ON_SALE else None
    quantity = 0 if rng.random() < OUT_OF_STOCK else rng.choice((rng.randrange(1, 6), *[rng.randrange(6, 400)] * 9))
    is_new = rng.random() < NEW
    last = timedelta(days=80) if is_new else START - SHOP_OPENED - timedelta(days=100)
    created = START - last * rng.random() - timedelta(hours=2) if is_new else SHOP_OPENED + last * rng.random() ** 2
    updated = created + (START - timedelta(hours=1) - created) * rng.random()
    return (
        index + 1, record.asin, record.title, url_key, category, traits.brand, record.query, price, special, quantity,
        int(quantity > 0), 2 if rng.random() < DISABLED else 1, int(special is not None), int(is_new),
        round(rng.uniform(0.2, 6.0), 1), index, stamp(created), stamp(updated),
    )  # fmt: skip
