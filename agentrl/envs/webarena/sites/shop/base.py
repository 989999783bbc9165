"""The shop's `site` object, what every page of it shows, and the queries that several pages share."""

from __future__ import annotations

import base64
import binascii
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.formats import money, short_date
from agentrl.envs.webarena.sites.site import Context, Site, existing
from agentrl.envs.webarena.sites.store.pricing import STORE_NAME

# What a customer pays for one piece, as SQL over `product`.
FINAL_PRICE = "min(product.price, coalesce(product.special_price, product.price))"
WISH_LIST = "/wishlist/"
MAX_RETURN = 600


class Shop(Site):
    """The storefront."""

    def shared(self, context: Context) -> Mapping[str, Any]:
        """Menu, counts of the cart and wish list, and how to print money."""
        db, user = context.db, context.user
        wishes = 0
        if user is not None:
            wishes = db.value("SELECT count(*) FROM wishlist_item WHERE customer_id = ?", user["id"])
        # The address of this page, to come back to; a very long one is not worth repeating.
        path = context.request.url.removeprefix(context.request.origin) or "/"
        path = path if len(path) <= MAX_RETURN else context.request.path[:MAX_RETURN]
        menu = db.rows("SELECT id, name, url_path FROM category WHERE parent_id IS NULL ORDER BY position")
        children = "SELECT name, url_path FROM category WHERE parent_id = ? ORDER BY position"
        cart = cart_items(db, *cart_owner(context))
        return {
            "store": STORE_NAME, "menu": menu,
            "submenus": {category["id"]: db.rows(children, category["id"]) for category in menu},
            "cart": cart, "cart_count": sum(item["qty"] for item in cart), "cart_total": subtotal(cart),
            "wish_count": wishes, "money": money, "day": short_date, "stars": stars, "searched": "",
            "back": encoded_path(path),
        }  # fmt: skip


site = Shop("shopping", "shop", "shop_session", user_table="customer", login_path="/customer/account/login/")


def cart_owner(context: Context) -> tuple[int | None, int | None]:
    """Customer or, for a guest, session: whose cart it is."""
    if context.session is None:
        return None, None
    return context.session["user_id"], context.session["id"]


def owner_column(customer: int | None, session: int | None) -> tuple[str, int | None]:
    """The column of tables of carts and the like that names this owner, and its value."""
    return ("customer_id", customer) if customer is not None else ("session_id", session)


def cart_items(db: Database, customer: int | None, session: int | None) -> list[sqlite3.Row]:
    """The lines of a cart with their products, oldest first."""
    column, value = owner_column(customer, session)
    return db.rows(
        f"SELECT cart_item.*, product.name, product.sku, product.url_key, product.qty AS stock,"
        f" product.is_in_stock AND product.status = 1 AS is_in_stock,"
        f" {FINAL_PRICE} AS final_price FROM cart_item JOIN product ON product.id = product_id"
        f" WHERE cart_item.{column} = ? ORDER BY cart_item.id",
        value,
    )


def subtotal(items: Iterable[Mapping[str, Any] | sqlite3.Row]) -> float:
    """What the lines of a cart cost together."""
    return round(sum(round(item["final_price"] * item["qty"], 2) for item in items), 2)


def product_by_id(db: Database, row_id: int) -> sqlite3.Row:
    """A product that is on sale; `NotFound` otherwise."""
    return existing(db.row(f"SELECT *, {FINAL_PRICE} AS final_price FROM product WHERE id = ? AND status = 1", row_id))


def options_of(db: Database, product: int) -> dict[str, list[str]]:
    """What a customer has to choose: the values by the name of the option."""
    found: dict[str, list[str]] = {}
    for row in db.rows("SELECT name, value FROM product_option WHERE product_id = ? ORDER BY position, id", product):
        found.setdefault(row["name"], []).append(row["value"])
    return found


def chosen_options(context: Context, product: int) -> str | None:
    """The chosen values as "Color: Blue, Size: M"; None where one is missing or not on offer."""
    chosen = []
    for name, values in options_of(context.db, product).items():
        value = context.form(f"super_attribute[{name.lower()}]")
        if value not in values:
            return None
        chosen.append(f"{name}: {value}")
    return ", ".join(chosen)


def orders_of(db: Database, customer: int, limit: int, offset: int) -> list[sqlite3.Row]:
    """A customer's orders, the latest first."""
    return db.rows(
        "SELECT * FROM sales_order WHERE customer_id = ? ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?",
        customer, limit, offset,
    )  # fmt: skip


def ratings_of(db: Database, products: Iterable[int]) -> dict[int, tuple[float, int]]:
    """Average stars and number of the approved reviews of products that have any."""
    ids = [int(product) for product in products]
    rows = db.rows(
        "SELECT product_id, avg(rating) AS stars, count(*) AS reviews FROM review WHERE status = 'Approved'"
        f" AND product_id IN ({', '.join('?' * len(ids))}) GROUP BY product_id",
        *ids,
    )
    return {row["product_id"]: (row["stars"], row["reviews"]) for row in rows}


def stars(rating: float) -> str:
    """Full and empty stars."""
    full = max(0, min(5, round(rating)))
    return "\u2605" * full + "\u2606" * (5 - full)


def encoded_path(path: str) -> str:
    """An address as a part of another one, the way Magento does it (`uenc`)."""
    return base64.urlsafe_b64encode(path.encode()).decode().rstrip("=")


def decoded_path(text: str, default: str) -> str:
    """The inverse; anything that does not lead to a page of this site becomes the default."""
    try:
        path = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
    except (binascii.Error, ValueError):
        return default
    return path if path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() else default
