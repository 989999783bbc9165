"""The dashboard: sales so far, the newest orders, what is searched for and bought."""

from __future__ import annotations

import sqlite3

from agentrl.envs.webarena.sites.admin.base import money, site
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context

TABS = (
    ("bestsellers", "Bestsellers"), ("most-viewed", "Most Viewed Products"), ("new-customers", "New Customers"),
    ("customers", "Customers"),
)  # fmt: skip
TAB_QUERIES = {
    "bestsellers": (
        ("Product", "Price", "Quantity"),
        "SELECT p.name, p.price, sum(i.qty) AS quantity, '/admin/catalog/product/edit/id/' || p.id"
        " || '/' FROM order_item i JOIN sales_order o ON o.id = i.order_id JOIN product p ON p.id = i.product_id"
        " WHERE o.status != 'Canceled' GROUP BY p.id ORDER BY quantity DESC, p.id LIMIT 5",
    ),
    "most-viewed": (
        ("Product", "Price", "Views"),
        "SELECT p.name, p.price, sum(v.views) AS number, '/admin/catalog/product/edit/id/' || p.id"
        " || '/' FROM product_view v JOIN product p ON p.id = v.product_id GROUP BY p.id ORDER BY number DESC, p.id"
        " LIMIT 5",
    ),
    "new-customers": (
        ("Customer", "Orders", "Total"),
        "SELECT c.firstname || ' ' || c.lastname, count(o.id), coalesce(sum(o.grand_total), 0.0),"
        " '/admin/customer/index/edit/id/' || c.id || '/' FROM customer c LEFT JOIN sales_order o"
        " ON o.customer_id = c.id AND o.status != 'Canceled' GROUP BY c.id"
        " ORDER BY c.created_at DESC, c.id DESC LIMIT 5",
    ),
    "customers": (
        ("Customer", "Orders", "Total"),
        "SELECT c.firstname || ' ' || c.lastname, count(o.id) AS orders, sum(o.grand_total),"
        " '/admin/customer/index/edit/id/' || c.id || '/' FROM customer c JOIN sales_order o ON o.customer_id = c.id"
        " WHERE o.status != 'Canceled' GROUP BY c.id ORDER BY orders DESC, sum(o.grand_total) DESC LIMIT 5",
    ),
}  # fmt: skip
SALES = (
    "SELECT coalesce(sum(grand_total), 0) AS lifetime, coalesce(avg(grand_total), 0) AS average,"
    " coalesce(sum(tax_amount), 0) AS tax, coalesce(sum(shipping_amount), 0) AS shipping"
    " FROM sales_order WHERE status NOT IN ('Canceled', 'Closed', 'Pending')"
)
LAST_ORDERS = (
    "SELECT o.id, o.customer_name, o.grand_total, (SELECT sum(qty) FROM order_item i WHERE i.order_id = o.id) AS items"
    " FROM sales_order o ORDER BY o.created_at DESC, o.id DESC LIMIT 5"
)


def _shown(row: sqlite3.Row) -> list[object]:
    return [money(value) if isinstance(value, float) else value for value in row]


@site.get("/admin/dashboard", "/admin/admin/dashboard", "/admin/admin/dashboard/index")
def dashboard(context: Context) -> Response:
    """The first page of the administration."""
    _ = context.member
    db = context.db
    tab = context.query("tab") if context.query("tab") in TAB_QUERIES else TABS[0][0]
    headings, query = TAB_QUERIES[tab]
    return context.page(
        "dashboard.html", kind="dashboard", title="Dashboard", sales=db.row(SALES), last_orders=db.rows(LAST_ORDERS),
        last_terms=db.rows("SELECT * FROM search_term ORDER BY id DESC LIMIT 5"),
        top_terms=db.rows("SELECT * FROM search_term ORDER BY uses DESC, id LIMIT 5"),
        tabs=TABS, tab=tab, headings=headings, rows=[_shown(row) for row in db.rows(query)],
    )  # fmt: skip
