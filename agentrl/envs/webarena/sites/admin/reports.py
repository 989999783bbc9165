"""The dashboard and the reports: sales in a span of time, and sums about products, customers and reviews."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import urlencode

from agentrl.envs.webarena.sites.admin.base import ORDER_STATUSES, site
from agentrl.envs.webarena.sites.admin.grid import Column, Grid, grid_page
from agentrl.envs.webarena.sites.formats import day, money, paging, read_date, short_date
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context

# ---------------------------------------------------------------------- the dashboard

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


@site.get("/admin/dashboard", "/admin/admin/dashboard", "/admin/admin/dashboard/index")
def dashboard(context: Context) -> Response:
    """The first page of the administration."""
    _ = context.member
    db = context.db
    tab = context.query("tab") if context.query("tab") in TAB_QUERIES else TABS[0][0]
    headings, query = TAB_QUERIES[tab]
    rows = [[money(value) if isinstance(value, float) else value for value in row] for row in db.rows(query)]
    return context.page(
        "dashboard.html", kind="dashboard", title="Dashboard", sales=db.row(SALES), last_orders=db.rows(LAST_ORDERS),
        last_terms=db.rows("SELECT * FROM search_term ORDER BY id DESC LIMIT 5"),
        top_terms=db.rows("SELECT * FROM search_term ORDER BY uses DESC, id LIMIT 5"),
        tabs=TABS, tab=tab, headings=headings, rows=rows,
    )  # fmt: skip


# ---------------------------------------------------------------------- products, customers, reviews

CUSTOMER_SUMS = (
    "SELECT c.id AS id, c.firstname || ' ' || c.lastname AS name, c.email AS email, count(o.id) AS orders,"
    " coalesce(round(avg(o.grand_total), 2), 0.0) AS average, coalesce(sum(o.grand_total), 0.0) AS total,"
    " max(o.created_at) AS last_order"
    " FROM customer c JOIN sales_order o ON o.customer_id = c.id AND o.status != 'Canceled' GROUP BY c.id"
)
CUSTOMER_COLUMNS = (
    Column("name", "Customer"), Column("email", "Email", width=260), Column("orders", "Orders", "number", 100),
    Column("average", "Average", "money", 120), Column("total", "Total", "money", 130),
    Column("last_order", "Last Order", "date", 180),
)  # fmt: skip
GRIDS = (
    ("report_viewed", Grid(
        "/admin/reports/report_product/viewed/", "Product Views Report",
        "SELECT v.id AS id, v.month AS month, p.name AS product, p.sku AS sku, p.price AS price, v.views AS views"
        " FROM product_view v JOIN product p ON p.id = v.product_id",
        (
            Column("month", "Month", width=100), Column("product", "Product"), Column("sku", "SKU", width=150),
            Column("price", "Price", "money", 110), Column("views", "Views", "number", 90),
        ), sort="views", open_filters=True,
    )),
    ("report_lowstock", Grid(
        "/admin/reports/report_product/lowstock/", "Low Stock Report",
        "SELECT id, name, sku, qty FROM product WHERE status = 1",
        (Column("name", "Product"), Column("sku", "SKU", width=180), Column("qty", "Stock Qty", "number", 140)),
        sort="qty", descending=False, open_filters=True, edit="/admin/catalog/product/edit/id/{id}/",
    )),
    ("report_customer_orders", Grid(
        "/admin/reports/report_customer/orders/", "Order Count Report", CUSTOMER_SUMS, CUSTOMER_COLUMNS, sort="orders",
        open_filters=True, edit="/admin/customer/index/edit/id/{id}/", edit_label="View",
    )),
    ("report_customer_totals", Grid(
        "/admin/reports/report_customer/totals/", "Order Total Report", CUSTOMER_SUMS, CUSTOMER_COLUMNS, sort="total",
        open_filters=True, edit="/admin/customer/index/edit/id/{id}/", edit_label="View",
    )),
    ("report_review_customer", Grid(
        "/admin/reports/report_review/customer/", "Customer Reviews Report",
        "SELECT c.id AS id, c.firstname || ' ' || c.lastname AS name, c.email AS email, count(r.id) AS reviews"
        " FROM customer c JOIN review r ON r.customer_id = c.id GROUP BY c.id",
        (Column("name", "Customer"), Column("email", "Email", width=320), Column("reviews", "Reviews", "number", 120)),
        sort="reviews", open_filters=True, edit="/admin/customer/index/edit/id/{id}/tab/reviews/",
        edit_label="Show Reviews",
    )),
    ("report_review_product", Grid(
        "/admin/reports/report_review/product/", "Product Reviews Report",
        "SELECT p.id AS id, p.name AS name, p.sku AS sku, reviews, average, approved, last_review FROM ("
        "SELECT product_id, count(*) AS reviews, round(avg(rating), 2) AS average, max(created_at) AS last_review,"
        " round(avg(CASE WHEN status = 'Approved' THEN rating END), 2) AS approved FROM review GROUP BY product_id"
        ") r JOIN product p ON p.id = r.product_id",
        (
            Column("name", "Product"), Column("sku", "SKU", width=140), Column("reviews", "Reviews", "number", 90),
            Column("average", "Average", "number", 90), Column("approved", "Average (Approved)", "number", 140),
            Column("last_review", "Last Review", "date", 180),
        ),
        sort="reviews", open_filters=True, edit="/admin/catalog/product/edit/id/{id}/", edit_label="Product",
    )),
)  # fmt: skip
for _name, _grid in GRIDS:
    grid_page(_grid, _name)


# ---------------------------------------------------------------------- sales

ROWS = 50  # on a page
PERIODS = {"day": 10, "month": 7, "year": 4}  # how much of "2025-06-15" names the interval
TYPES = {"created_at": "Order Created", "updated_at": "Order Updated"}
ORDERS = (
    "(SELECT o.*, (SELECT sum(qty) FROM order_item i WHERE i.order_id = o.id) AS items,"
    " coalesce((SELECT sum(grand_total) FROM invoice d WHERE d.order_id = o.id), 0.0) AS invoiced,"
    " coalesce((SELECT sum(grand_total) FROM invoice d WHERE d.order_id = o.id AND d.state = 'Paid'), 0.0) AS paid,"
    " coalesce((SELECT sum(grand_total) FROM creditmemo d WHERE d.order_id = o.id), 0.0) AS refunded"
    " FROM sales_order o) o"
)
ITEMS = f"{ORDERS} JOIN order_item i ON i.order_id = o.id"
SOLD = "CASE WHEN o.status = 'Canceled' THEN 0.0 ELSE {} END"


@dataclass(frozen=True)
class Report:
    """A kind of report: columns are heading, kind (text, number, money, price) and SQL over the orders."""

    name: str
    title: str
    columns: tuple[tuple[str, str, str], ...]
    source: str = ORDERS
    where: str = "1"
    groups: str = ""  # columns beside the interval that rows are grouped by
    order: str = ""
    best: int = 0  # rows of an interval; 0: all

    def query(self, interval: str, conditions: str) -> str:
        """The rows of the report, by interval."""
        values = ", ".join(sql for _, _, sql in self.columns)
        groups = f", {self.groups}" if self.groups else ""
        return (
            f"SELECT {interval} AS interval, {values} FROM {self.source} WHERE {self.where} AND {conditions}"
            f" GROUP BY interval{groups} ORDER BY interval{', ' + self.order if self.order else ''}"
        )


def _sum(expression: str) -> str:
    return f"sum({SOLD.format(expression)})"


REPORTS = (
    Report("sales", "Orders Report", (
        ("Orders", "number", "count(*)"), ("Sales Items", "number", "sum(o.items)"),
        ("Sales Total", "money", _sum("o.grand_total")), ("Invoiced", "money", "sum(o.invoiced)"),
        ("Refunded", "money", "sum(o.refunded)"), ("Sales Tax", "money", _sum("o.tax_amount")),
        ("Sales Shipping", "money", _sum("o.shipping_amount")),
        ("Sales Discount", "money", _sum("abs(o.discount_amount)")),
        ("Canceled", "money", "sum(CASE WHEN o.status = 'Canceled' THEN o.grand_total ELSE 0.0 END)"),
    )),
    Report("tax", "Tax Report", (
        ("Tax", "text", "'US-' || o.shipping_region || '-Rate'"), ("Orders", "number", "count(*)"),
        ("Tax Amount", "money", "sum(o.tax_amount)"),
    ), where="o.status != 'Canceled' AND o.tax_amount > 0", groups="o.shipping_region", order="o.shipping_region"),
    Report("invoiced", "Invoice Report", (
        ("Orders", "number", "count(*)"), ("Invoiced Orders", "number", "sum(o.invoiced > 0)"),
        ("Total Invoiced", "money", "sum(o.invoiced)"), ("Paid Invoices", "money", "sum(o.paid)"),
        ("Unpaid Invoices", "money", "sum(o.invoiced - o.paid)"),
    )),
    Report("shipping", "Shipping Report", (
        ("Carrier/Method", "text", "o.shipping_method"), ("Orders", "number", "count(*)"),
        ("Total Sales Shipping", "money", "sum(o.shipping_amount)"),
    ), where="o.status != 'Canceled'", groups="o.shipping_method", order="o.shipping_method"),
    Report("refunded", "Refunds Report", (
        ("Refunded Orders", "number", "count(*)"), ("Total Refunded", "money", "sum(o.refunded)"),
    ), where="o.refunded > 0"),
    Report("coupons", "Coupons Report", (
        ("Coupon Code", "text", "o.coupon_code"), ("Uses", "number", "count(*)"),
        ("Sales Subtotal", "money", "sum(o.subtotal)"), ("Sales Discount", "money", "sum(abs(o.discount_amount))"),
        ("Sales Total", "money", "sum(o.grand_total)"),
    ), where="o.status != 'Canceled' AND o.coupon_code != ''", groups="o.coupon_code", order="o.coupon_code"),
    Report("bestsellers", "Bestsellers Report", (
        ("Product", "text", "i.name"), ("Price", "price", "max(i.price)"), ("Order Quantity", "number", "sum(i.qty)"),
    ), source=ITEMS, where="o.status != 'Canceled'", groups="i.product_id",
        order="sum(i.qty) DESC, i.product_id", best=5),
)  # fmt: skip


@dataclass(frozen=True)
class Choice:
    """What the form of a report asks for."""

    type: str
    period: str
    first: date | None
    last: date | None
    statuses: tuple[str, ...]

    @classmethod
    def of(cls, context: Context) -> Choice:
        """Read it from the address; what makes no sense is left out."""
        wanted = {value for key, value in context.request.query if key == "order_statuses"}
        return cls(
            context.query("report_type") if context.query("report_type") in TYPES else "created_at",
            context.query("period_type") if context.query("period_type") in PERIODS else "day",
            read_date(context.query("from")), read_date(context.query("to")),
            tuple(status for status in ORDER_STATUSES if status in wanted),
        )  # fmt: skip

    def conditions(self) -> tuple[str, list[str]]:
        """The part of a query that the choice stands for, and its values."""
        assert self.first is not None and self.last is not None
        sql, values = f"o.{self.type} >= ? AND o.{self.type} <= ?", [f"{self.first}", f"{self.last} 23:59:59"]
        if self.statuses:
            sql += f" AND o.status IN ({', '.join('?' * len(self.statuses))})"
            values.extend(self.statuses)
        return sql, values

    @property
    def is_whole(self) -> bool:
        """Are both days there?"""
        return self.first is not None and self.last is not None


def report_rows(context: Context, report: Report, choice: Choice) -> list[tuple[Any, ...]]:
    """All rows of a report; the best of each interval where it has only those."""
    conditions, values = choice.conditions()
    interval = f"substr(o.{choice.type}, 1, {PERIODS[choice.period]})"
    rows = [tuple(row) for row in context.db.rows(report.query(interval, conditions), *values)]
    if not report.best:
        return rows
    places: dict[str, int] = {}
    kept = []
    for row in rows:
        places[row[0]] = places.get(row[0], 0) + 1
        if places[row[0]] <= report.best:
            kept.append(row)
    return kept


def totals(report: Report, rows: list[tuple[Any, ...]]) -> list[str]:
    """The last row: sums of what can be added up."""
    found = []
    for index, (_, kind, _) in enumerate(report.columns, 1):
        found.append(_shown(sum(row[index] for row in rows), kind) if kind in ("number", "money") else "")
    return found


def _shown(value: Any, kind: str) -> str:
    return money(value) if kind in ("money", "price") else str(value)


def _interval(text: str) -> str:
    """How an interval is written: Jun 15, 2025 or 6/2025 or 2025."""
    if len(text) == PERIODS["month"]:
        return f"{int(text[5:])}/{text[:4]}"
    return day(text) if len(text) == PERIODS["day"] else text


def _register(report: Report) -> None:
    path = f"/admin/reports/report_sales/{report.name}/"

    @site.get(path)
    def show(context: Context) -> Response:
        _ = context.member
        choice = Choice.of(context)
        rows = report_rows(context, report, choice) if choice.is_whole else []
        page, pages = paging(context.number(context.query("p"), 1), len(rows), ROWS)
        shown = [
            [
                _interval(row[0]),
                *(_shown(value, kind) for value, (_, kind, _) in zip(row[1:], report.columns, strict=True)),
            ]
            for row in rows[(page - 1) * ROWS : page * ROWS]
        ]
        asked = [(key, value) for key, value in context.request.query if key != "p"]
        return context.page(
            "report_sales.html", kind="report", title=report.title, report=report, action=path, choice=choice,
            rows=shown, periods=tuple(PERIODS), types=TYPES, statuses=ORDER_STATUSES, page=page, pages=pages,
            totals=totals(report, rows) if rows else [], link=f"{path}?{urlencode(asked)}&p=",
            first=short_date(f"{choice.first or context.query('from')}"),
            last=short_date(f"{choice.last or context.query('to')}"),
            wrong=bool(context.query("from") or context.query("to")) and not choice.is_whole,
        )  # fmt: skip


for _report in REPORTS:
    _register(_report)
