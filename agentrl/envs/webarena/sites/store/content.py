"""Pages of plain text, cart price rules, search terms and the administrators."""

from __future__ import annotations

import sqlite3
from random import Random
from typing import Any

from agentrl.envs.webarena.sites.site import session_token
from agentrl.envs.webarena.sites.store.people import AGENT
from agentrl.envs.webarena.sites.store.words import words

STORE_NAME = "Larkfield Market"
_CREATED = "2021-10-04 08:30:00"
_FOUND_NOTHING = ("typewriter ribbon", "snow globe", "tuba", "chess clock")


def build_content(connection: sqlite3.Connection) -> None:
    """Fill `cms_page`, `cart_rule`, `search_term`, `admin_user`, and the sessions of the agent."""
    texts = words("content.toml")
    for page in texts["pages"]:
        _insert(connection, "cms_page", {**page, "created_at": _CREATED, "updated_at": _CREATED})
    for rule in texts["rules"]:
        _insert(connection, "cart_rule", rule)
    _build_search_terms(connection)
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


def _insert(connection: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    marks = ", ".join(f":{name}" for name in row)
    connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", row)


def _build_search_terms(connection: sqlite3.Connection) -> None:
    """What visitors looked for: kinds of products, a brand now and then, and things that we do not have."""
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
