"""What the tasks of the administration share: ways through its menu and grids, and pieces of evaluators."""

from __future__ import annotations

import calendar
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from typing import Any
from urllib.parse import quote_plus

from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Act, Choose, Click, Fill, On, Parameters, literal

ADMIN = "__SHOPPING_ADMIN__"
SITES = ("shopping_admin",)
ORDER_VIEW = "/sales/order/view/order_id/{id}/"
PRODUCT_EDIT = "/catalog/product/edit/id/{id}/"


def store(world: World) -> Database:
    """The data of the shop."""
    return world.database("store")


def rows(world: World, sql: str, *values: Any) -> list[sqlite3.Row]:
    """Rows of the shop's data."""
    return store(world).rows(sql, *values)


def column(world: World, table: str, row_id: int, name: str) -> Any:
    """One value of the shop's data; None where there is no such row."""
    row = store(world).get(table, row_id)
    return None if row is None else row[name]


# ---------------------------------------------------------------------- addresses


def page(path: str) -> str:
    """Pages whose address begins like this."""
    return ADMIN + literal(path)


def grid(path: str) -> str:
    """A grid, searched and filtered or not."""
    return page(path.rstrip("/")) + r"/?(\?|$)"


def asked(path: str, *fields: tuple[str, str]) -> str:
    """A grid or report that was asked for with all these parameters."""
    conditions = "".join(
        f"(?=.*[?&]{literal(quote_plus(name))}={literal(quote_plus(value))}(&|$))" for name, value in fields
    )
    return page(path.rstrip("/")) + rf"/?(?=\?){conditions}"


def link(path: str) -> Click:
    """The link that leads to a page of the administration."""
    return Click(f'a[href="/admin{path}"]')


# ---------------------------------------------------------------------- ways


def menu(section: str, landing: str = "", entry: str = "") -> list[On]:
    """Open a section of the menu from anywhere; on its first page, open one of its entries."""
    steps = [On(ADMIN, [Click("a.section", section)])]
    return [*steps, On(grid(landing), [Click("a.entry", entry)])] if entry else steps


def search(path: str, words: str, *acts: Act) -> list[On]:
    """Search a grid by keyword, then do something."""
    return [On(grid(path), [Fill("#fulltext", words, enter=True)]), On(asked(path, ("search", words)), acts)]


def filtered(path: str, fields: Sequence[tuple[Fill | Choose, str, str]], *acts: Act, opened: bool = False) -> list[On]:
    """Set filters of a grid (what to do, and the parameter with the value it then has), then do something."""
    button = "Search" if opened else "Apply Filters"
    setting = [*(act for act, _, _ in fields), Click("form.filters button", button)]
    opening = [] if opened else [On(grid(path), [Click("a.button", "Filters")])]
    panel = grid(path) if opened else asked(path, ("panel", "filters"))
    values = [(f"filters{name}", value) for _, name, value in fields]
    return [*opening, On(panel, setting), On(asked(path, *values), acts)]


def order_page(order: int, number: str) -> list[On]:
    """The way to the page of an order."""
    return [*menu("Sales"), *search("/sales/order/", number, link(ORDER_VIEW.format(id=order)))]


def product_page(product: int, sku: str) -> list[On]:
    """The way to the form of a product."""
    return [*menu("Catalog"), *search("/catalog/product/", sku, link(PRODUCT_EDIT.format(id=product)))]


# ---------------------------------------------------------------------- evaluators


def answer(*parts: str) -> dict[str, Any]:
    """The answer must include all of these."""
    return {"eval_types": ["string_match"], "reference_answers": {"must_include": list(parts)}}


def contents(*targets: dict[str, Any]) -> dict[str, Any]:
    """All these places must show what they should."""
    return {"eval_types": ["program_html"], "program_html": list(targets)}


def exactly(path: str, locator: str, value: str) -> dict[str, Any]:
    """What a locator finds on a page must be this. `path` "last": the page where the agent ended."""
    return _target(path, locator, exact_match=value)


def including(path: str, locator: str, *parts: str) -> dict[str, Any]:
    """What a locator finds on a page must include all of these."""
    return _target(path, locator, must_include=list(parts))


def _target(path: str, locator: str, **required: Any) -> dict[str, Any]:
    url = path if path == "last" else ADMIN + path
    return {"url": url, "locator": locator, "required_contents": required}


def value_of(name: str) -> str:
    """The locator of a field's value."""
    return f"document.querySelector('[name=\"{name}\"]').value"


def text_of(selector: str) -> str:
    """The locator of an element's text."""
    return f"document.querySelector('{selector}').outerText"


# ---------------------------------------------------------------------- values


def months() -> list[tuple[int, int]]:
    """Every whole month of business."""
    return [(year, month) for year in range(2022, 2026) for month in range(1, 13) if (year, month) < (2025, 6)]


def month_name(year: int, month: int) -> str:
    """May 2023"""
    return f"{calendar.month_name[month]} {year}"


def month_ends(year: int, month: int) -> tuple[str, str]:
    """The first and last day of a month, as a person enters them: 5/1/2023."""
    return f"{month}/1/{year}", f"{month}/{calendar.monthrange(year, month)[1]}/{year}"


def shown(day: str) -> str:
    """How a date field shows a day: 5/1/23 for 5/1/2023."""
    month, number, year = (int(part) for part in day.split("/"))
    return f"{month}/{number}/{date(year, month, number):%y}"


def some_orders(share: int) -> Callable[[World], Iterator[dict[str, Any]]]:
    """One in seven of the orders, with what can be asked about them."""

    def parameters(world: World) -> Iterator[dict[str, Any]]:
        sql = f"SELECT * FROM sales_order WHERE id % 7 = {share} AND grand_total < 1000 ORDER BY id"
        for row in rows(world, sql):
            yield {"id": row["id"], "number": row["increment_id"], "total": f"{row['grand_total']:.2f}",
                   "city": row["shipping_city"], "name": row["shipping_name"]}  # fmt: skip

    return parameters


def months_and_statuses(world: World) -> Iterator[dict[str, Any]]:
    """Months with how many orders of each status were placed in them."""
    counts: Counter[tuple[str, str]] = Counter()
    for row in rows(world, "SELECT status, substr(created_at, 1, 7) AS month FROM sales_order ORDER BY id"):
        counts[row["month"], row["status"]] += 1
    for year, month in months():
        for status in ("Complete", "Canceled", "Closed"):
            if count := counts[f"{year}-{month:02d}", status]:
                first, last = month_ends(year, month)
                yield {"month": month_name(year, month), "status": status, "first": first, "last": last, "count": count}


def by_status_and_month(values: Parameters) -> list[tuple[Fill | Choose, str, str]]:
    """Filters of the orders that leave such a month and status."""
    return [
        (Fill("#filter_created_at_from", values["first"]), "[created_at][from]", values["first"]),
        (Fill("#filter_created_at_to", values["last"]), "[created_at][to]", values["last"]),
        (Choose("#filter_status", values["status"]), "[status]", values["status"]),
    ]
