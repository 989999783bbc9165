"""Checkout in two steps, as in Magento (shipping, then review and payment), and the customer's orders."""

from __future__ import annotations

import sqlite3
from typing import Any
from urllib.parse import urlencode

from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.formats import paging
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.shop.account import address_from_form, addresses_of, own_address
from agentrl.envs.webarena.sites.shop.base import FINAL_PRICE, cart_items, orders_of, site
from agentrl.envs.webarena.sites.shop.cart import CART, Totals, add_to_cart, rules, totals
from agentrl.envs.webarena.sites.shop.listing import page_links
from agentrl.envs.webarena.sites.site import Context, NotFound
from agentrl.envs.webarena.sites.store.orders import printed_address
from agentrl.envs.webarena.sites.store.pricing import PAYMENT_METHODS, SHIPPING_METHODS, ShippingMethod, applies

# ---------------------------------------------------------------------- checkout

CHECKOUT = "/checkout/"


@site.get("/checkout", "/checkout/index")
def shipping_step(context: Context) -> Response:
    """Where to and how."""
    items = cart_items(context.db, context.member["id"], None)
    if not items:
        return context.redirect(CART, "error: You have no items in your shopping cart.")
    pieces = sum(item["qty"] for item in items)
    return context.page(
        "checkout_shipping.html", items=items, totals=totals(context, items),
        addresses=addresses_of(context.db, context.member["id"]),
        methods=[(method, method.amount(pieces)) for method in SHIPPING_METHODS],
    )  # fmt: skip


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
        found = own_address(context, context.form("address_id"))
        if found is None:
            return context.redirect(CHECKOUT, "error: Please choose a shipping address.")
        chosen = found["id"]
    return context.redirect(f"/checkout/payment/?{urlencode({'address_id': chosen, 'shipping_method': method.code})}")


@site.get("/checkout/payment")
def payment_step(context: Context) -> Response:
    """Review the order and say how to pay."""
    items = cart_items(context.db, context.member["id"], None)
    method = _method(context.query("shipping_method"))
    address = own_address(context, context.query("address_id"))
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
    address = own_address(context, context.form("address_id"))
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
        payment_method=payment, **printed_address("shipping", address),
        **printed_address("billing", billing or address),
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
    # Count the use of the code, and free the next cart of it.
    for row in db.rows("SELECT id FROM cart_coupon WHERE customer_id = ?", customer["id"]):
        db.delete("cart_coupon", row["id"])
    for rule in rules(db):
        if rule["coupon_code"] and applies(rule, cost.subtotal, db.now()[:10], cost.code):
            db.update("cart_rule", rule["id"], times_used=rule["times_used"] + 1)
    return number


# ---------------------------------------------------------------------- orders, invoices, shipments, refunds

PER_PAGE = 10
HISTORY = "/sales/order/history/"
# What customers read in place of the words of the administration.
STATUS = {"Closed": "Closed", "Fraud": "Suspected Fraud"}
PAPERS = {
    "invoice": ("Invoices", "Invoice"),
    "shipment": ("Order Shipments", "Shipment"),
    "creditmemo": ("Refunds", "Refund"),
}


@site.get("/sales/order/history")
def history(context: Context) -> Response:
    """All orders, ten to a page."""
    customer = context.member["id"]
    total = context.db.value("SELECT count(*) FROM sales_order WHERE customer_id = ?", customer)
    page, last = paging(context.number(context.query("p"), 1), total, PER_PAGE)
    return context.page(
        "order_history.html", orders=orders_of(context.db, customer, PER_PAGE, (page - 1) * PER_PAGE), total=total,
        first=(page - 1) * PER_PAGE + 1,
        pages=page_links(page, last, lambda number: f"{HISTORY}?p={number}" if number > 1 else HISTORY),
        statuses=STATUS,
    )  # fmt: skip


@site.get("/sales/order/view/order_id/{number}")
def order_page(context: Context) -> Response:
    """One order."""
    order = own_order(context)
    comments = context.db.rows(
        "SELECT * FROM order_comment WHERE order_id = ? AND is_visible = 1 ORDER BY created_at, id", order["id"]
    )
    return context.page("order.html", **_common(context, order), comments=comments)


@site.get("/sales/order/{paper}/order_id/{number}")
def papers(context: Context) -> Response:
    """The invoices, shipments or refunds of an order."""
    paper = context.params["paper"]
    if paper not in PAPERS:
        raise NotFound
    order = own_order(context)
    rows = context.db.rows(f"SELECT * FROM {paper} WHERE order_id = ? ORDER BY id", order["id"])
    return context.page("order_papers.html", **_common(context, order), paper=paper, label=PAPERS[paper][1], rows=rows)


@site.post("/sales/order/reorder/order_id/{number}")
def reorder(context: Context) -> Response:
    """Put everything that is still sold into the cart again."""
    order = own_order(context)
    problems = []
    for item in _items(context.db, order["id"]):
        product = context.db.row(
            f"SELECT *, {FINAL_PRICE} AS final_price FROM product WHERE id = ? AND status = 1", item["product_id"]
        )
        if product is None or add_to_cart(context, product, item["options"], item["qty"]):
            problems.append(item["name"])
    return context.redirect(CART, f"error: Not available at the moment: {'; '.join(problems)}" if problems else "")


def own_order(context: Context) -> sqlite3.Row:
    """The order of the path, if it is the customer's. Its number is that of its increment id."""
    return context.record("sales_order", "number", customer_id=context.member["id"])


def _items(db: Database, order: int) -> list[sqlite3.Row]:
    return db.rows(
        "SELECT order_item.*, product.url_key, product.status AS product_status FROM order_item"
        " LEFT JOIN product ON product.id = product_id WHERE order_id = ? ORDER BY order_item.id",
        order,
    )


def _common(context: Context, order: sqlite3.Row) -> dict[str, Any]:
    """What all pages about an order show."""
    tabs = [("Items Ordered", f"/sales/order/view/order_id/{order['id']}/", "view")]
    for table, (label, _) in PAPERS.items():
        if context.db.value(f"SELECT count(*) FROM {table} WHERE order_id = ?", order["id"]):
            tabs.append((label, f"/sales/order/{table}/order_id/{order['id']}/", table))
    status = STATUS.get(order["status"], order["status"])
    return {"order": order, "shown_status": status, "items": _items(context.db, order["id"]), "tabs": tabs}
