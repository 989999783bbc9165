"""The base data of the shop: one catalogue, its customers, and three and a half years of business."""

from __future__ import annotations

import sqlite3
from importlib.resources import files

from agentrl.envs.webarena.sites.store.content import build_content
from agentrl.envs.webarena.sites.store.orders import build_orders
from agentrl.envs.webarena.sites.store.people import build_customers
from agentrl.envs.webarena.sites.store.products import build_products
from agentrl.envs.webarena.sites.store.reviews import build_reviews
from agentrl.envs.webarena.sites.store.views import build_views

PACKAGE = "agentrl.envs.webarena.sites.store"
VERSION = 6  # raise it with every change of the schema or of what is generated


def build(connection: sqlite3.Connection) -> None:
    """Create and fill all tables."""
    connection.executescript(files(PACKAGE).joinpath("schema.sql").read_text())
    connection.execute("BEGIN")  # a script commits what came before it
    build_products(connection)
    build_customers(connection)
    build_content(connection)
    build_orders(connection)
    build_reviews(connection)
    build_views(connection)
