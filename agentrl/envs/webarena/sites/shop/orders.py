"""The customer's orders, with their invoices, shipments and refunds."""

from __future__ import annotations

import sqlite3
from typing import Any

from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.shop.base import FINAL_PRICE, site
from agentrl.envs.webarena.sites.shop.cart import CART, add_to_cart
from agentrl.envs.webarena.sites.shop.listing import page_links
from agentrl.envs.webarena.sites.site import Context, NotFound

PER_PAGE = 10
HISTORY = "/sales/order/history/"
# What customers read in place of the words of the administration.
STATUS = {"Closed": "Closed", "Fraud": "Suspected Fraud"}
PAPERS = {
    "invoice": ("Invoices", "Invoice"),
    "shipment": ("Order Shipments", "Shipment"),
    "creditmemo": ("Refunds", "Refund"),
}


def orders_of(db: Database, customer: int, limit: int, offset: int) -> list[sqlite3.Row]:
    """A customer's orders, the latest first."""
    return db.rows(
        "SELECT * FROM sales_order WHERE customer_id = ? ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?",
        customer, limit, offset,
    )  # fmt: skip


@site.get("/sales/order/history")
def history(context: Context) -> Response:
    """All orders, ten to a page."""
    customer = context.member["id"]
    total = context.db.value("SELECT count(*) FROM sales_order WHERE customer_id = ?", customer)
    last = max(1, -(-total // PER_PAGE))
    page = min(max(1, context.number(context.query("p", "1"), 1)), last)
    return context.page(
        "order_history.html",
        orders=orders_of(context.db, customer, PER_PAGE, (page - 1) * PER_PAGE),
        total=total,
        first=(page - 1) * PER_PAGE + 1,
        pages=page_links(page, last, lambda number: f"{HISTORY}?p={number}" if number > 1 else HISTORY),
        statuses=STATUS,
    )


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
    order = context.db.row(
        "SELECT * FROM sales_order WHERE id = ? AND customer_id = ?",
        context.number(context.params["number"]), context.member["id"],
    )  # fmt: skip
    if order is None:
        raise NotFound
    return order


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
