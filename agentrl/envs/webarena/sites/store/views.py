"""How often products were looked at, month by month: for the reports of the administration."""

from __future__ import annotations

import sqlite3
from random import Random

BOUGHT = (4, 14)  # views before a piece was sold
WISHED = (2, 9)  # views before it came onto a wish list


def build_views(connection: sqlite3.Connection) -> None:
    """What was bought or wished for had been looked at before."""
    rng = Random("views of products")
    views: dict[tuple[str, int], int] = {}
    bought = connection.execute(
        "SELECT substr(o.created_at, 1, 7), i.product_id, i.qty FROM order_item i JOIN sales_order o ON"
        " o.id = i.order_id ORDER BY i.id"
    )
    for month, product, quantity in bought:
        views[month, product] = views.get((month, product), 0) + quantity + rng.randint(*BOUGHT)
    wished = connection.execute("SELECT substr(added_at, 1, 7), product_id FROM wishlist_item ORDER BY id")
    for month, product in wished:
        views[month, product] = views.get((month, product), 0) + rng.randint(*WISHED)
    rows = [
        (number, product, month, count) for number, ((month, product), count) in enumerate(sorted(views.items()), 1)
    ]
    connection.executemany("INSERT INTO product_view (id, product_id, month, views) VALUES (?, ?, ?, ?)", rows)
