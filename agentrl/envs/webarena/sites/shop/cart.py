"""The shopping cart with its totals, and the wish list."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any

from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.shop.base import (
    FINAL_PRICE,
    WISH_LIST,
    cart_items,
    cart_owner,
    chosen_options,
    decoded_path,
    options_of,
    owner_column,
    product_by_id,
    ratings_of,
    site,
    subtotal,
)
from agentrl.envs.webarena.sites.shop.product import compare_add
from agentrl.envs.webarena.sites.site import Context, NotFound
from agentrl.envs.webarena.sites.store.pricing import SHIPPING_METHODS, ShippingMethod, applies, discount

CART = "/checkout/cart/"
MAX_PIECES = 10_000  # of one line


@dataclass(frozen=True)
class Totals:
    """What a cart costs."""

    subtotal: float
    discount: float
    shipping: float
    method: ShippingMethod
    code: str

    @property
    def grand(self) -> float:
        """All together."""
        return round(self.subtotal - self.discount + self.shipping, 2)


def totals(context: Context, items: list[sqlite3.Row], method: ShippingMethod = SHIPPING_METHODS[0]) -> Totals:
    """The totals of the visitor's cart if it is sent by this method."""
    row, amount = _coupon_row(context), subtotal(items)
    code = "" if row is None else row["code"]
    reduced = discount(amount, context.db.now()[:10], rules(context.db), code)
    return Totals(amount, reduced, method.amount(sum(item["qty"] for item in items)), method, code)


def rules(db: Database) -> list[dict[str, Any]]:
    """All cart price rules."""
    return [dict(rule) for rule in db.rows("SELECT * FROM cart_rule ORDER BY id")]


def _coupon_row(context: Context) -> sqlite3.Row | None:
    """The code that was applied to the visitor's cart."""
    column, value = owner_column(*cart_owner(context))
    return context.db.row(f"SELECT * FROM cart_coupon WHERE {column} = ?", value)


@site.get("/checkout/cart", "/checkout/cart/index")
def cart_page(context: Context) -> Response:
    """Everything in the cart."""
    items = cart_items(context.db, *cart_owner(context))
    return context.page("cart.html", items=items, totals=totals(context, items))


@site.post(
    "/checkout/cart/add", "/checkout/cart/add/product/{product}", "/checkout/cart/add/uenc/{uenc}/product/{product}"
)
def cart_add(context: Context) -> Response:
    """Put a product into the cart and stay on the page. Other buttons of the form put it on other lists."""
    if context.form("addto") in ("wishlist", "compare"):
        return wish_add(context) if context.form("addto") == "wishlist" else compare_add(context)
    product = product_by_id(context.db, context.number(context.params.get("product") or context.form("product")))
    path = f"/{product['url_key']}.html"
    options = chosen_options(context, product["id"])
    if options is None:
        return context.redirect(path, "error: You need to choose options for your item.")
    problem = add_to_cart(context, product, options, context.number(context.form("qty", "1").strip(), 0))
    if problem:
        return context.redirect(path, f"error: {problem}")
    back = decoded_path(context.params.get("uenc", ""), path)
    return context.redirect(back, f"You added {product['name']} to your shopping cart.")


def add_to_cart(context: Context, product: sqlite3.Row, options: str, qty: int) -> str:
    """Add pieces to the visitor's cart; why it cannot be done, or ""."""
    if qty < 1:
        return "Please enter a quantity greater than 0."
    context.visit()
    customer, session = cart_owner(context)
    present = [
        item
        for item in cart_items(context.db, customer, session)
        if item["product_id"] == product["id"] and item["options"] == options
    ]
    wanted = qty + sum(item["qty"] for item in present)
    if not product["is_in_stock"] or product["qty"] < 1:
        return "Product that you are trying to add is not available."
    if wanted > min(product["qty"], MAX_PIECES):
        return "The requested qty is not available."
    if present:
        context.db.update("cart_item", present[0]["id"], qty=wanted)
        return ""
    column, owner = owner_column(customer, session)
    context.db.insert("cart_item", product_id=product["id"], options=options, qty=qty, **{column: owner})
    return ""


@site.post("/checkout/cart/updatePost")
def cart_update(context: Context) -> Response:
    """Change quantities (zero removes a line), or empty the cart."""
    items = cart_items(context.db, *cart_owner(context))
    if context.form("update_cart_action") == "empty_cart":
        for item in items:
            context.db.delete("cart_item", item["id"])
        return context.redirect(CART)
    if removed := context.number(context.form("remove")):
        for item in items:
            if item["id"] == removed:
                context.db.delete("cart_item", removed)
        return context.redirect(CART)
    for item in items:
        wanted = context.number(context.form(f"cart[{item['id']}][qty]"), item["qty"])
        if wanted == 0:
            context.db.delete("cart_item", item["id"])
        elif wanted > min(item["stock"], MAX_PIECES):
            return context.redirect(CART, f"error: The requested qty is not available: {item['name']}")
        elif wanted != item["qty"]:
            context.db.update("cart_item", item["id"], qty=wanted)
    return context.redirect(CART)


@site.post("/checkout/cart/couponPost")
def coupon(context: Context) -> Response:
    """Apply a coupon code, or take it back."""
    row, code = _coupon_row(context), context.form("coupon_code").strip()
    if context.form("remove") == "1":
        if row is not None:
            context.db.delete("cart_coupon", row["id"])
        return context.redirect(CART, "You canceled the coupon code.")
    amount, today = subtotal(cart_items(context.db, *cart_owner(context))), context.db.now()[:10]
    fitting = [rule for rule in rules(context.db) if rule["coupon_code"] and applies(rule, amount, today, code)]
    if not code or not fitting:
        return context.redirect(CART, f'error: The coupon code "{code[:80]}" is not valid.')
    context.visit()
    if row is not None:
        context.db.delete("cart_coupon", row["id"])
    column, owner = owner_column(*cart_owner(context))
    context.db.insert("cart_coupon", code=fitting[0]["coupon_code"], **{column: owner})
    return context.redirect(CART, f'You used coupon code "{fitting[0]["coupon_code"]}".')


# ---------------------------------------------------------------------- the wish list


def wish_add(context: Context) -> Response:
    """Put a product on the list; once more of it where it is there already."""
    customer = context.member["id"]
    product = product_by_id(context.db, context.number(context.params.get("product") or context.form("product")))
    qty = max(1, context.number(context.form("qty", "1"), 1, 10_000))
    options = chosen_options(context, product["id"]) or ""
    present = context.db.row(
        "SELECT * FROM wishlist_item WHERE customer_id = ? AND product_id = ? AND options = ?",
        customer, product["id"], options,
    )  # fmt: skip
    if present is not None:
        context.db.update("wishlist_item", present["id"], qty=min(present["qty"] + qty, 10_000))
    else:
        context.db.insert(
            "wishlist_item", customer_id=customer, product_id=product["id"], options=options, qty=qty,
            added_at=context.db.now(),
        )  # fmt: skip
    return context.redirect(WISH_LIST, f"{product['name']} has been added to your Wish List.")


@site.get("/wishlist", "/wishlist/index/index")
def wish_list(context: Context) -> Response:
    """Everything on the list."""
    items = _wished(context)
    return context.page(
        "wishlist.html", items=items, ratings=ratings_of(context.db, [item["product_id"] for item in items])
    )


@site.post("/wishlist/index/update")
def wish_update(context: Context) -> Response:
    """Save comments and quantities."""
    for item in _wished(context):
        comment = context.form(f"description[{item['id']}]", item["comment"])
        qty = max(1, context.number(context.form(f"qty[{item['id']}]"), item["qty"], 10_000))
        if (comment, qty) != (item["comment"], item["qty"]):
            context.db.update("wishlist_item", item["id"], comment=comment, qty=qty)
    target = context.form("cart")
    if target:
        return _to_cart(context, [_own_wish(context, target)])
    if context.form("do") == "all":
        return _to_cart(context, _wished(context))
    if context.form("remove"):
        item = _own_wish(context, context.form("remove"))
        context.db.delete("wishlist_item", item["id"])
        return context.redirect(WISH_LIST, f"{item['name']} has been removed from your Wish List.")
    return context.redirect(WISH_LIST, "Your Wish List has been updated.")


def _to_cart(context: Context, items: list[sqlite3.Row]) -> Response:
    """Move items to the cart; those that need a choice lead to the product's page."""
    for item in items:
        product = product_by_id(context.db, item["product_id"])
        path = f"/{product['url_key']}.html"
        if options_of(context.db, product["id"]) and not item["options"]:
            return context.redirect(path, "error: You need to choose options for your item.")
        problem = add_to_cart(context, product, item["options"], item["qty"])
        if problem:
            return context.redirect(WISH_LIST, f"error: {problem}")
        context.db.delete("wishlist_item", item["id"])
    names = items[0]["name"] if len(items) == 1 else f"{len(items)} products"
    return context.redirect(WISH_LIST, f"You added {names} to your shopping cart." if items else "")


def _wished(context: Context) -> list[sqlite3.Row]:
    return context.db.rows(
        f"SELECT wishlist_item.*, product.name, url_key, is_in_stock, {FINAL_PRICE} AS final_price FROM wishlist_item"
        " JOIN product ON product.id = product_id WHERE wishlist_item.customer_id = ? AND status = 1"
        " ORDER BY wishlist_item.id",
        context.member["id"],
    )


def _own_wish(context: Context, number: str) -> sqlite3.Row:
    wanted = context.number(number)
    for item in _wished(context):
        if item["id"] == wanted:
            return item
    raise NotFound
