"""What the tasks of the administration share: ways through its menu and grids, conditions, months and orders."""

from __future__ import annotations

import calendar
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import quote_plus

from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Act, Check, Choose, Click, Fill, On, Parameters
from agentrl.envs.webarena.tasks.vocabulary import Row, query

ADMIN = "__SHOPPING_ADMIN__"
SITES = ("shopping_admin",)
ORDERS, CUSTOMERS, PRODUCTS = "/sales/order/", "/customer/index/", "/catalog/product/"
REVIEWS, RULES, TERMS = "/review/product/", "/sales_rule/promo_quote/", "/search/term/"
LANDINGS = {"Sales": ORDERS, "Marketing": RULES, "Reports": "/reports/report_sales/sales/"}  # where a section opens
ORDER_VIEW = "/sales/order/view/order_id/{id}/"
PRODUCT_EDIT = "/catalog/product/edit/id/{id}/"
CUSTOMER_EDIT = "/customer/index/edit/id/{id}/"


def is_set(table: str, row_id: int, **columns: Any) -> Callable[[World], bool]:
    """Does a row of the shop's data have these values?"""

    def achieved(world: World) -> bool:
        row = world.database("store").get(table, row_id)
        return row is not None and all(row[name] == value for name, value in columns.items())

    return achieved


# ---------------------------------------------------------------------- addresses


def page(path: str) -> str:
    """Pages whose address begins like this."""
    return ADMIN + re.escape(path)


def grid(path: str) -> str:
    """A grid, searched and filtered or not."""
    return page(path.rstrip("/")) + r"/?(\?|$)"


def asked(path: str, *fields: tuple[str, str]) -> str:
    """A grid or report that was asked for with all these parameters."""
    conditions = "".join(
        f"(?=.*[?&]{re.escape(quote_plus(name))}={re.escape(quote_plus(value))}(&|$))" for name, value in fields
    )
    return page(path.rstrip("/")) + rf"/?(?=\?){conditions}"


def link(path: str) -> Click:
    """The link that leads to a page of the administration."""
    return Click(f'a[href="/admin{path}"]')


# ---------------------------------------------------------------------- ways


def menu(section: str, entry: str = "") -> list[On]:
    """Open a section of the menu from anywhere; on its first page, open one of its entries."""
    steps = [On(ADMIN, [Click("a.section", section)])]
    return [*steps, On(grid(LANDINGS[section]), [Click("a.entry", entry)])] if entry else steps


def search(path: str, words: str, *acts: Act) -> list[On]:
    """Search a grid by keyword, then do something."""
    return [On(grid(path), [Fill("#fulltext", words, enter=True)]), On(asked(path, ("search", words)), acts)]


def filtered(path: str, fields: Sequence[Fill | Choose], *acts: Act, opened: bool = False) -> list[On]:
    """Set filters of a grid, then do something. `opened`: its filters are shown from the beginning."""
    values = []
    for field in fields:  # #filter_created_at_from becomes filters[created_at][from]
        name, end = re.fullmatch(r"#filter_(.+?)(_from|_to)?", field.selector).groups()  # pyright: ignore
        value = field.text if isinstance(field, Fill) else field.option
        values.append((f"filters[{name}]" + (f"[{end[1:]}]" if end else ""), value))
    button = Click("form.filters button", "Search" if opened else "Apply Filters")
    result = On(asked(path, *values), acts)
    if opened:
        return [On(grid(path), [*fields, button]), result]
    panel = asked(path, ("panel", "filters"))
    return [On(grid(path), [Click("a.button", "Filters")]), On(panel, [*fields, button]), result]


def selected(numbers: Sequence[int], action: str) -> list[Act]:
    """Mark rows of a grid and choose what to do with them."""
    marks = [Check(f'input[name="selected"][value="{number}"]') for number in numbers]
    return [*marks, Choose('select[name="action"]', action), Click("button", "Submit")]


def on_record(section: str, entry: str, listing: str, words: str, path: str, *acts: Act) -> list[On]:
    """Search a grid of the menu for a record, and do this on its page."""
    return [*menu(section, entry), *search(listing, words, link(path)), On(page(path), acts)]


def on_order(row: Parameters, *acts: Act) -> list[On]:
    """Find an order by its number, and do this on its page."""
    return on_record("Sales", "", ORDERS, row["number"], ORDER_VIEW.format(**row), *acts)


def on_product(row: Parameters, *acts: Act) -> list[On]:
    """Find a product by its SKU, and do this on its form."""
    return on_record("Catalog", "", PRODUCTS, row["sku"], PRODUCT_EDIT.format(**row), *acts)


def on_customer(row: Parameters, words: str, tab: str) -> list[On]:
    """Find a customer, and open a tab of the page."""
    return on_record("Customers", "", CUSTOMERS, words, CUSTOMER_EDIT.format(**row), Click("a.tab", tab))


# ---------------------------------------------------------------------- values


def months() -> list[tuple[int, int]]:
    """Every whole month of business."""
    return [(year, month) for year in range(2022, 2026) for month in range(1, 13) if (year, month) < (2025, 6)]


def about_month(year: int, month: int) -> Row:
    """May 2023, with its first and last day as a person enters them: 5/1/2023."""
    first, last = f"{month}/1/{year}", f"{month}/{calendar.monthrange(year, month)[1]}/{year}"
    return {"month": f"{calendar.month_name[month]} {year}", "first": first, "last": last}


def shown(day: str) -> str:
    """How a date field shows a day: 5/1/23 for 5/1/2023."""
    month, number, year = day.split("/")
    return f"{month}/{number}/{year[-2:]}"


def some_orders(world: World, share: int) -> Iterator[Row]:
    """One in seven of the orders, with what can be asked about them."""
    sql = f"SELECT * FROM sales_order WHERE id % 7 = {share} AND grand_total < 1000 ORDER BY id"
    for row in query(world, "store", sql):
        yield {"id": row["id"], "number": row["increment_id"], "total": f"{row['grand_total']:.2f}",
               "city": row["shipping_city"], "name": row["shipping_name"]}  # fmt: skip


def months_and_statuses(world: World) -> Iterator[Row]:
    """Months with how many orders of each status were placed in them."""
    sql = "SELECT status, substr(created_at, 1, 7) AS month FROM sales_order"
    counts = Counter((row["month"], row["status"]) for row in query(world, "store", sql))
    for year, month in months():
        for status in ("Complete", "Canceled", "Closed"):
            if count := counts[f"{year}-{month:02d}", status]:
                time = about_month(year, month)
                yield {"month": time.pop("month"), "status": status, **time, "count": count}


def by_status_and_month(row: Parameters) -> list[Fill | Choose]:
    """Filters of the orders that leave such a month and status."""
    return [
        Fill("#filter_created_at_from", row["first"]), Fill("#filter_created_at_to", row["last"]),
        Choose("#filter_status", row["status"]),
    ]  # fmt: skip
