"""Reviews: who wrote what about which product, with stars that fit the words."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from random import Random
from typing import Any

from agentrl.envs.webarena.sites.formats import stamp
from agentrl.envs.webarena.sites.prose import expand, heading, sentences
from agentrl.envs.webarena.sites.store.people import AGENT, words
from agentrl.envs.webarena.sites.store.products import catalogue, product_values

EVERYWHERE = "general"  # aspects of every category


@dataclass(frozen=True)
class Aspect:
    """One thing that people judge. `name` completes "reviewers who mention ..."."""

    name: str
    praise: tuple[str, ...]
    complaint: tuple[str, ...]
    is_general: bool  # of every product


@cache
def aspects(category: str, section: str) -> tuple[Aspect, ...]:
    """What is said about products of a category of the catalogue ("beauty") and a section of it ("Hair Care")."""
    listed = words("reviews.toml")["aspects"]
    fitting = [entry for entry in listed[category] if section in entry.get("where", (section,))]
    return tuple(
        Aspect(entry["name"], tuple(entry["praise"]), tuple(entry["complaint"]), entry in listed[EVERYWHERE])
        for entry in (*fitting, *listed[EVERYWHERE])
    )


def complaints(category: str, section: str, detail: str) -> list[str]:
    """The names of the aspects that a review of a product complains about."""
    said = detail.lower()
    return [
        aspect.name
        for aspect in aspects(category, section)
        if any(sentence.rstrip(".").lower() in said for sentence in aspect.complaint)
    ]


MAX_PER_PRODUCT = 24
REVIEWED, POPULAR = 930, 450  # products, and those among them that were ordered
PENDING, REFUSED = 0.016, 0.006  # shares of the reviews
OF_AGENT = 9
_FIRST, _LAST = datetime(2022, 1, 15), datetime(2025, 6, 15, 20, 0)
_PRODUCTS = (
    "SELECT product.id, catalogue_index, section.name FROM product"
    " JOIN category ON category.id = category_id JOIN category AS section ON section.id = category.parent_id"
)
Review = tuple[int, int | None, str, str, str, int, str, str]


def build_reviews(connection: sqlite3.Connection) -> None:
    """Fill `review`."""
    rng = Random("reviews")
    people = connection.execute(
        "SELECT id, firstname, created_at FROM customer WHERE id <> ? ORDER BY id", (AGENT,)
    ).fetchall()
    products = connection.execute(f"{_PRODUCTS} WHERE product.status = 1 ORDER BY product.id").fetchall()
    sold = {number for (number,) in connection.execute("SELECT DISTINCT product_id FROM order_item")}
    popular = [product for product in products if product[0] in sold]
    others = [product for product in products if product[0] not in sold]
    rows: list[Review] = []
    for product in (*rng.sample(popular, POPULAR), *rng.sample(others, REVIEWED - POPULAR)):
        count = min(MAX_PER_PRODUCT, 1 + int(rng.expovariate(0.2)))
        mean = rng.choice((2.2, 3.0, 3.6, 4.0, 4.4, 4.7))
        nicknames = rng.sample(words("people.toml")["nicknames"], count)
        titles: set[str] = set()
        for nickname in nicknames:
            review = _review(product, max(1, min(5, round(rng.gauss(mean, 1.1)))), rng)
            while review[1] in titles:
                review = (review[0], title_of(product[1], review[3], rng), *review[2:])
            titles.add(review[1])
            customer, name = _author(people, nickname, review[-1], rng)
            rows.append((review[0], customer, name, *review[1:]))
    rows += _of_agent(connection, rng)
    rows.sort(key=lambda row: row[-1])
    names = "product_id, customer_id, nickname, title, detail, rating, status, created_at"
    connection.executemany(f"INSERT INTO review ({names}) VALUES ({', '.join('?' * 8)})", rows)


def _author(people: list[tuple[int, str, str]], nickname: str, written: str, rng: Random) -> tuple[int | None, str]:
    """A customer of that time under the first name, now and then, or a guest under any name."""
    number, firstname, joined = rng.choice(people)
    if joined < written and rng.random() < 0.2:
        return number, firstname
    return None, nickname + rng.choice(("", "", "", f" {chr(65 + rng.randrange(26))}.", str(rng.randrange(60, 99))))


def _review(product: Sequence[Any], stars: int, rng: Random) -> tuple[int, str, str, int, str, str]:
    """Product, title, text, stars, status and time of a review by somebody."""
    number, index, section = product
    written = _FIRST + (_LAST - _FIRST) * rng.random() ** 0.7
    draw = rng.random()
    status = "Approved"
    if draw < PENDING:
        status, written = "Pending", _LAST - timedelta(days=40) * rng.random()
    elif draw < PENDING + REFUSED:
        status = "Not Approved"
    title = title_of(index, stars, rng)
    detail = _detail(words("reviews.toml"), aspects(catalogue().filed(index)[0], section), stars, rng)
    values = product_values(index)
    text = sentences("".join(expand(part, rng, values) for part in detail))
    return number, title, text, stars, status, stamp(written)


def title_of(index: int, stars: int, rng: Random) -> str:
    """What a review of product number `index` of the catalogue is called."""
    return heading(expand(rng.choice(words("reviews.toml")["titles"][str(stars)]), rng, product_values(index)))


def _detail(texts: dict[str, Any], known: Sequence[Aspect], stars: int, rng: Random) -> list[str]:
    """Patterns of an opening, two or three aspects, a closing. Praise and complaint in the proportion of the stars."""
    good = stars >= 3
    mood = "good" if good else "bad"
    chosen = rng.sample(known, rng.choice((2, 2, 3)))
    parts = [rng.choice(texts["openings"][mood])]
    for aspect in chosen[:-1]:
        parts += [" ", *_sentence(texts, aspect, good, rng)]
    mixed = stars in (2, 3, 4) and rng.random() < 0.85
    if mixed:
        parts += [" ", rng.choice(texts["turns"])]
    parts += [" ", *_sentence(texts, chosen[-1], good != mixed, rng)]
    if not mixed and rng.random() < 0.9:
        parts += [" ", rng.choice(texts["closings"][mood])]
    return parts


def _sentence(texts: dict[str, Any], aspect: Aspect, good: bool, rng: Random) -> list[str]:
    """What is said of an aspect, and under which circumstances."""
    said, draw = rng.choice(aspect.praise if good else aspect.complaint), rng.random()
    parts = [said]
    if draw < 0.5 and not aspect.is_general:
        parts = [rng.choice(texts["leads"]) + " ", said if said.startswith("I ") else said[0].lower() + said[1:]]
    if draw > 0.3 and said.endswith("."):
        parts[-1:] = [parts[-1][:-1], rng.choice(texts["tails"]["good" if good else "bad"]) + "."]
    return parts


def _of_agent(connection: sqlite3.Connection, rng: Random) -> list[Review]:
    """Reviews by the agent's customer of things she had bought, shortly after they arrived."""
    bought = connection.execute(
        "SELECT product_id, min(sales_order.created_at) FROM sales_order JOIN order_item ON order_id = sales_order.id"
        " JOIN product ON product.id = product_id AND product.status = 1 WHERE customer_id = ?"
        " AND sales_order.status = 'Complete' AND sales_order.created_at < '2025-05-01'"
        " GROUP BY product_id ORDER BY product_id",
        (AGENT,),
    ).fetchall()
    rows: list[Review] = []
    for number, ordered in rng.sample(bought, OF_AGENT):
        product = connection.execute(f"{_PRODUCTS} WHERE product.id = ?", (number,)).fetchone()
        review = _review(product, rng.choice((1, 2, 3, 4, 4, 5, 5)), rng)
        written = datetime.fromisoformat(ordered) + timedelta(days=rng.randrange(9, 30), hours=rng.randrange(9))
        rows.append((review[0], AGENT, "Emma", *review[1:4], "Approved", stamp(written)))
    return rows
