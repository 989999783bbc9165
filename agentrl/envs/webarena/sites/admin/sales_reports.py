"""Reports about sales over a time: orders, tax, invoices, shipping, refunds, coupons and bestsellers.

A report is asked for by GET parameters: `report_type` (created_at or updated_at of the orders), `period_type` (day,
month, year), `from` and `to` (6/15/2025; both days belong to the report) and any number of `order_statuses`. Canceled
orders count as orders; their money is in the column "Canceled" alone, as in the original.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import urlencode

from agentrl.envs.webarena.sites.admin.base import ORDER_STATUSES, day, money, read_date, short_date, site
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context

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
        pages = max(1, -(-len(rows) // ROWS))
        page = min(max(context.number(context.query("p"), 1), 1), pages)
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
