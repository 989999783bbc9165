"""Checkout in two steps, as in Magento: shipping, then review and payment. It needs an account."""

from __future__ import annotations

import sqlite3
from typing import Any
from urllib.parse import urlencode

from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.shop.addresses import address_from_form, addresses_of
from agentrl.envs.webarena.sites.shop.base import cart_items, site
from agentrl.envs.webarena.sites.shop.cart import CART, Totals, rules, totals
from agentrl.envs.webarena.sites.site import Context
from agentrl.envs.webarena.sites.store.pricing import PAYMENT_METHODS, SHIPPING_METHODS, ShippingMethod, applies

CHECKOUT = "/checkout/"


@site.get("/checkout", "/checkout/index")
def shipping_step(context: Context) -> Response:
    """Where to and how."""
    items = cart_items(context.db, context.member["id"], None)
    if not items:
        return context.redirect(CART, "error: You have no items in your shopping cart.")
    pieces = sum(item["qty"] for item in items)
    return context.page(
        "checkout_shipping.html",
        items=items,
        totals=totals(context, items),
        addresses=addresses_of(context.db, context.member["id"]),
        methods=[(method, method.amount(pieces)) for method in SHIPPING_METHODS],
    )


@site.post("/checkout/shipping")
def choose_shipping(context: Context) -> Response:
    """Keep the choice in the address of the next step; a new address goes into the address book."""
    customer = context.member["id"]
    method = _method(context.form("shipping_method"))
    if method is None:
        return context.redirect(
            CHECKOUT, "error: The shipping method is missing. Select the shipping method and try again."
        )
    if context.form("new_address") == "1":
        values, missing = address_from_form(context)
        if missing:
            return context.redirect(CHECKOUT, f"error: {missing}")
        chosen = context.db.insert("address", customer_id=customer, **values)
    else:
        found = _address(context, context.number(context.form("address_id")))
        if found is None:
            return context.redirect(CHECKOUT, "error: Please choose a shipping address.")
        chosen = found["id"]
    return context.redirect(f"/checkout/payment/?{urlencode({'address_id': chosen, 'shipping_method': method.code})}")


@site.get("/checkout/payment")
def payment_step(context: Context) -> Response:
    """Review the order and say how to pay."""
    items = cart_items(context.db, context.member["id"], None)
    method = _method(context.query("shipping_method"))
    address = _address(context, context.number(context.query("address_id")))
    if not items or method is None or address is None:
        return context.redirect(CHECKOUT)
    return context.page(
        "checkout_payment.html", items=items, totals=totals(context, items, method), address=address, method=method,
        payments=PAYMENT_METHODS,
    )  # fmt: skip


@site.post("/checkout/placeOrder")
def place_order(context: Context) -> Response:
    """Turn the cart into an order."""
    customer = context.member
    items = cart_items(context.db, customer["id"], None)
    method = _method(context.form("shipping_method"))
    address = _address(context, context.number(context.form("address_id")))
    payment = PAYMENT_METHODS.get(context.form("payment_method"))
    if not items or method is None or address is None:
        return context.redirect(CHECKOUT)
    if payment is None:
        values = urlencode({"address_id": address["id"], "shipping_method": method.code})
        return context.redirect(f"/checkout/payment/?{values}", "error: Please choose a payment method.")
    short = [item["name"] for item in items if not item["is_in_stock"] or item["qty"] > item["stock"]]
    if short:
        return context.redirect(CART, f"error: The requested qty is not available: {short[0]}")
    order = _order(context, items, totals(context, items, method), method, payment, address)
    return context.redirect(f"/checkout/onepage/success/?order_id={order}")


@site.get("/checkout/onepage/success")
def success(context: Context) -> Response:
    """Thanks, with the number of the order."""
    order = context.db.row(
        "SELECT * FROM sales_order WHERE id = ? AND customer_id = ?",
        context.number(context.query("order_id")), context.member["id"],
    )  # fmt: skip
    return context.redirect(CART) if order is None else context.page("checkout_success.html", order=order)


def _method(code: str) -> ShippingMethod | None:
    return next((method for method in SHIPPING_METHODS if method.code == code), None)


def _address(context: Context, row_id: int) -> sqlite3.Row | None:
    return context.db.row("SELECT * FROM address WHERE id = ? AND customer_id = ?", row_id, context.member["id"])


def _order(
    context: Context, items: list[sqlite3.Row], cost: Totals, method: ShippingMethod, payment: str, address: sqlite3.Row
) -> int:
    """Write the order and everything that follows from it; its number."""
    db, customer = context.db, context.member
    number, now = db.value("SELECT coalesce(max(id), 0) + 1 FROM sales_order"), db.now()
    billing = db.row(
        "SELECT * FROM address WHERE customer_id = ? ORDER BY is_billing DESC, id = ? DESC, id LIMIT 1",
        customer["id"], address["id"],
    )  # fmt: skip
    db.insert(
        "sales_order", id=number, increment_id=f"{number:09}", customer_id=customer["id"],
        customer_name=f"{customer['firstname']} {customer['lastname']}", customer_email=customer["email"],
        status="Pending", created_at=now, updated_at=now, subtotal=cost.subtotal, shipping_amount=cost.shipping,
        discount_amount=cost.discount, coupon_code=cost.code, grand_total=cost.grand, shipping_method=method.label,
        payment_method=payment, **_printed("shipping", address), **_printed("billing", billing or address),
    )  # fmt: skip
    for item in items:
        product = db.get("product", item["product_id"])
        assert product is not None
        db.insert(
            "order_item", order_id=number, product_id=product["id"], sku=product["sku"], name=product["name"],
            options=item["options"], price=item["final_price"], qty=item["qty"],
            row_total=round(item["final_price"] * item["qty"], 2),
        )  # fmt: skip
        left = product["qty"] - item["qty"]
        db.update("product", product["id"], qty=left, is_in_stock=int(left > 0))
        db.delete("cart_item", item["id"])
    _use_coupon(context, cost)
    return number


def _use_coupon(context: Context, cost: Totals) -> None:
    """Count the use of the code, and free the next cart of it."""
    db = context.db
    for row in db.rows("SELECT id FROM cart_coupon WHERE customer_id = ?", context.member["id"]):
        db.delete("cart_coupon", row["id"])
    for rule in rules(db):
        if rule["coupon_code"] and applies(rule, cost.subtotal, db.now()[:10], cost.code):
            db.update("cart_rule", rule["id"], times_used=rule["times_used"] + 1)


def _printed(kind: str, address: sqlite3.Row) -> dict[str, Any]:
    """An address as it stands in an order."""
    values = {name: address[name] for name in ("street", "city", "region", "postcode", "country", "telephone")}
    values["name"] = f"{address['firstname']} {address['lastname']}"
    return {f"{kind}_{name}": value for name, value in values.items()}
