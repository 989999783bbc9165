"""The wish list."""

from __future__ import annotations

import sqlite3

from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.shop.base import FINAL_PRICE, WISH_LIST, options_of, product_by_id, ratings_of, site
from agentrl.envs.webarena.sites.shop.cart import add_to_cart
from agentrl.envs.webarena.sites.site import Context, NotFound


@site.get("/wishlist", "/wishlist/index/index")
def wish_list(context: Context) -> Response:
    """Everything on the list."""
    items = _items(context)
    return context.page(
        "wishlist.html", items=items, ratings=ratings_of(context.db, [item["product_id"] for item in items])
    )


@site.post("/wishlist/index/update")
def update(context: Context) -> Response:
    """Save comments and quantities."""
    for item in _items(context):
        comment = context.form(f"description[{item['id']}]", item["comment"])
        qty = max(1, context.number(context.form(f"qty[{item['id']}]"), item["qty"], 10_000))
        if (comment, qty) != (item["comment"], item["qty"]):
            context.db.update("wishlist_item", item["id"], comment=comment, qty=qty)
    target = context.form("cart")
    if target:
        return _to_cart(context, [_own(context, target)])
    if context.form("do") == "all":
        return _to_cart(context, _items(context))
    if context.form("remove"):
        item = _own(context, context.form("remove"))
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


def _items(context: Context) -> list[sqlite3.Row]:
    return context.db.rows(
        f"SELECT wishlist_item.*, product.name, url_key, is_in_stock, {FINAL_PRICE} AS final_price FROM wishlist_item"
        " JOIN product ON product.id = product_id WHERE wishlist_item.customer_id = ? AND status = 1"
        " ORDER BY wishlist_item.id",
        context.member["id"],
    )


def _own(context: Context, number: str) -> sqlite3.Row:
    wanted = context.number(number)
    for item in _items(context):
        if item["id"] == wanted:
            return item
    raise NotFound
