"""Putting products on the wish list, from a product's page or from lists."""

from __future__ import annotations

from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.shop.base import WISH_LIST, chosen_options, product_by_id, site
from agentrl.envs.webarena.sites.site import Context


@site.post("/wishlist/index/add", "/wishlist/index/add/product/{product}")
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
