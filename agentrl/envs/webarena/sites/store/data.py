"""The base data of the shop: one catalogue, its customers, and three and a half years of business."""

from __future__ import annotations

import sqlite3
from importlib.resources import files
from random import Random

from agentrl.envs.webarena.sites.database import insert_rows
from agentrl.envs.webarena.sites.site import session_token
from agentrl.envs.webarena.sites.store.orders import build_orders
from agentrl.envs.webarena.sites.store.people import AGENT, PACKAGE, build_customers, words
from agentrl.envs.webarena.sites.store.products import build_products
from agentrl.envs.webarena.sites.store.reviews import build_reviews

VERSION = 6  # raise it with every change of the schema or of what is generated
BOUGHT = (4, 14)  # views before a piece was sold
WISHED = (2, 9)  # views before it came onto a wish list
_CREATED = "2021-10-04 08:30:00"
_FOUND_NOTHING = ("typewriter ribbon", "snow globe", "tuba", "chess clock")


def build_content(connection: sqlite3.Connection) -> None:
    """Fill `cms_page`, `cart_rule`, `search_term`, `admin_user`, and the sessions of the agent."""
    texts = words("content.toml")
    for page in texts["pages"]:
        insert_rows(connection, "cms_page", [{**page, "created_at": _CREATED, "updated_at": _CREATED}])
    for rule in texts["rules"]:
        insert_rows(connection, "cart_rule", [rule])
    # What visitors looked for: kinds of products, a brand now and then, and things that we do not have.
    rng = Random("search terms")
    kinds = [kind for (kind,) in connection.execute("SELECT DISTINCT kind FROM product ORDER BY kind")]
    brands = [brand for (brand,) in connection.execute("SELECT DISTINCT brand FROM product ORDER BY brand")]
    terms = [*rng.sample(kinds, 64), *(brand.lower() for brand in rng.sample(brands, 12)), *_FOUND_NOTHING]
    rng.shuffle(terms)
    rows = []
    for rank, term in enumerate(terms):
        found = connection.execute("SELECT count(*) FROM product WHERE name LIKE ?", (f"%{term}%",)).fetchone()[0]
        rows.append((term, found, max(1, int(420 / (rank + 3)) + rng.randrange(6))))
    connection.executemany("INSERT INTO search_term (query, results, uses) VALUES (?, ?, ?)", rows)
    users = [
        ("admin", "admin1234", "Avery", "Holt", "admin@larkfield.example"),
        ("warehouse", "pallets99", "Bo", "Lindqvist", "warehouse@larkfield.example"),
    ]
    connection.executemany(
        "INSERT INTO admin_user (username, password, firstname, lastname, email) VALUES (?, ?, ?, ?, ?)", users
    )
    sessions = [("shopping", "emma.lopez@gmail.com", AGENT), ("shopping_admin", "admin", 1)]
    connection.executemany(
        "INSERT INTO session (site, token, user_id) VALUES (?, ?, ?)",
        [(site, session_token(site, key), user) for site, key, user in sessions],
    )


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
