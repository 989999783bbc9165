"""The shop's data agree with themselves: totals, papers, dates, counts; and they come out the same every time."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest

from agentrl.envs.webarena.sites.database import START
from agentrl.envs.webarena.sites.places import base_file
from agentrl.envs.webarena.sites.site import SESSION_TABLE
from agentrl.envs.webarena.sites.store import data
from agentrl.envs.webarena.sites.store.people import words
from agentrl.envs.webarena.sites.store.products import catalogue
from agentrl.envs.webarena.sites.store.reviews import aspects, complaints


def test_totals_of_orders_are_the_sums_of_their_parts(emma: Any) -> None:
    for order in emma.db.rows("SELECT * FROM sales_order"):
        items = emma.db.rows("SELECT * FROM order_item WHERE order_id = ?", order["id"])
        assert items and all(item["row_total"] == round(item["price"] * item["qty"], 2) for item in items)
        assert order["subtotal"] == round(sum(item["row_total"] for item in items), 2)
        parts = order["subtotal"] + order["shipping_amount"] + order["tax_amount"] - order["discount_amount"]
        assert order["grand_total"] == round(parts, 2) > 0
        assert int(order["increment_id"]) == order["id"]


@pytest.mark.parametrize(
    ("table", "statuses"),
    [
        ("invoice", {"Complete", "Closed", "Processing"}),
        ("shipment", {"Complete", "Closed"}),
        ("creditmemo", {"Closed"}),
    ],
)
def test_exactly_the_orders_whose_status_says_so_have_papers(emma: Any, table: str, statuses: set[str]) -> None:
    with_paper = {row[0] for row in emma.db.rows(f"SELECT order_id FROM {table}")}
    expected = {row["id"] for row in emma.db.rows("SELECT * FROM sales_order") if row["status"] in statuses}
    assert with_paper == expected


def test_nothing_happens_before_its_cause_or_after_the_start(emma: Any) -> None:
    for table in ("product", "customer", "review", "sales_order", "invoice", "shipment", "creditmemo", "order_comment"):
        assert emma.db.value(f"SELECT max(created_at) FROM {table}") < START.isoformat(" ")
    for table in ("invoice", "shipment", "creditmemo", "order_comment"):
        early = f"SELECT count(*) FROM {table} AS paper JOIN sales_order ON sales_order.id = order_id"
        assert emma.db.value(f"{early} WHERE paper.created_at < sales_order.created_at") == 0
    for table in ("sales_order", "review"):
        early = f"SELECT count(*) FROM {table} JOIN customer ON customer.id = customer_id"
        assert emma.db.value(f"{early} WHERE {table}.created_at < customer.created_at") == 0


def test_there_is_plenty_of_everything(emma: Any) -> None:
    least = {"product": 4000, "customer": 150, "sales_order": 900, "review": 4500, "category": 250, "cart_rule": 12}
    for table, count in least.items():
        assert emma.db.value(f"SELECT count(*) FROM {table}") >= count
    assert emma.db.value("SELECT count(*) FROM review WHERE status = 'Pending'") >= 60
    assert emma.db.value("SELECT count(DISTINCT detail) FROM review") > 4400
    mine = emma.db.rows("SELECT DISTINCT status FROM sales_order WHERE customer_id = 27")
    assert {row[0] for row in mine} >= {"Pending", "Processing", "Complete", "Canceled", "Closed", "On Hold"}
    assert base_file("store").stat().st_size < 15e6


def test_every_category_has_products_and_addresses_are_unique(emma: Any) -> None:
    leaves = emma.db.rows(
        "SELECT id FROM category WHERE id NOT IN (SELECT parent_id FROM category WHERE parent_id IS NOT NULL)"
    )
    filled = {row[0] for row in emma.db.rows("SELECT DISTINCT category_id FROM product")}
    assert filled == {row["id"] for row in leaves}
    assert not emma.db.rows("SELECT 1 FROM product JOIN category ON url_key = url_path")


def test_sentences_belong_to_one_aspect_only() -> None:
    """So that a review complains about what it is asked about, and about nothing else."""
    for category in ("electronics", "beauty", "fashion", "garden", "grocery"):
        for section in {
            name for entry in words("reviews.toml")["aspects"][category] for name in entry.get("where", [])
        }:
            listed = aspects(category, section)
            said = [text for aspect in listed for text in (*aspect.praise, *aspect.complaint)]
            sentences = [text.rstrip(".").lower() for text in said]
            assert len(sentences) == len(set(sentences))
            assert not any(one != other and one in other for one in sentences for other in sentences)


def test_reviews_complain_as_their_stars_say(emma: Any) -> None:
    rows = emma.db.rows(
        "SELECT rating, detail, product.catalogue_index, section.name FROM review"
        " JOIN product ON product.id = product_id"
        " JOIN category ON category.id = category_id JOIN category AS section ON section.id = category.parent_id"
    )
    for stars, detail, index, section in rows:
        found = complaints(catalogue().filed(index)[0], section, detail)
        assert len(found) in {1: (2, 3), 2: (1, 2, 3), 3: (0, 1), 4: (0, 1), 5: (0,)}[stars], (stars, found, detail)


def test_the_same_data_come_out_again() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(SESSION_TABLE)
    data.build(connection)
    built = sqlite3.connect(base_file("store"))
    tables = [name for (name,) in built.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    for table in tables:
        query = f"SELECT * FROM {table} ORDER BY id"
        assert connection.execute(query).fetchall() == built.execute(query).fetchall(), table
    connection.close()
    built.close()
