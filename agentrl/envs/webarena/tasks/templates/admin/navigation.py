"""Tasks that end on a certain page: a record, or a grid with filters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Answer, Fill, On, Parameters, Template
from agentrl.envs.webarena.tasks.templates.admin.kit import (
    ADMIN,
    ORDER_VIEW,
    PRODUCT_EDIT,
    SITES,
    by_status_and_month,
    filtered,
    including,
    link,
    menu,
    months_and_statuses,
    order_page,
    page,
    rows,
    search,
    shown,
    some_orders,
    text_of,
)

ORDERS, CUSTOMERS = "/sales/order/", "/customer/index/"
FILTERS = text_of("div.admin__data-grid-filters-current")


def _is_at(path: Callable[[Parameters], str]) -> Callable[[Parameters], dict[str, Any]]:
    return lambda values: {
        "eval_types": ["url_match"], "reference_url": ADMIN + path(values), "url_note": "EXACT",
    }  # fmt: skip


def _shows(path: str, *parts: str) -> dict[str, Any]:
    """The agent ends on a grid with these filters."""
    return {
        "eval_types": ["url_match", "program_html"], "reference_url": ADMIN + path, "url_note": "GOLD in PRED",
        "program_html": [including("last", FILTERS, *parts)],
    }  # fmt: skip


def _products(world: World) -> Iterator[dict[str, Any]]:
    for row in rows(world, "SELECT id, sku, name FROM product WHERE id % 40 = 17 ORDER BY id"):
        yield dict(row)


def _open_product(values: Parameters) -> Sequence[On]:
    path = PRODUCT_EDIT.format(**values)
    found = search("/catalog/product/", values["sku"], link(path))
    return [*menu("Catalog"), *found, On(page(path), [Answer()])]


def _regions(world: World) -> Iterator[dict[str, Any]]:
    sql = "SELECT region, city, count(*) AS number FROM address GROUP BY region, city ORDER BY region, city"
    for row in rows(world, sql):
        yield {"city": row["city"], "region": row["region"]}


def _show_region(values: Parameters) -> Sequence[On]:
    fields = [
        (Fill("#filter_region", values["region"]), "[region]", values["region"]),
        (Fill("#filter_city", values["city"]), "[city]", values["city"]),
    ]
    return [*menu("Customers"), *filtered(CUSTOMERS, fields, Answer())]


def _open_order(values: Parameters) -> Sequence[On]:
    return [*order_page(values["id"], values["number"]), On(page(ORDER_VIEW.format(**values)), [Answer()])]


TEMPLATES = (
    Template(
        "admin-filter-orders", SITES, "filter-list",
        ("Show all {status} orders that were placed in {month}.",
         "List the orders of {month} with the status {status}.",
         "Filter the orders: status {status}, purchased from {first} to {last}."),
        months_and_statuses,
        lambda values: _shows(ORDERS, values["status"], f"{shown(values['first'])} - {shown(values['last'])}"),
        lambda values: [*menu("Sales"), *filtered(ORDERS, by_status_and_month(values), Answer())],
    ),
    Template(
        "admin-filter-customers", SITES, "filter-list",
        ("Show the customers who live in {city}, {region}.",
         "List all customers from {city} in {region}, using the filters."),
        _regions, lambda values: _shows(CUSTOMERS, f"State/Province: {values['region']}", f"City: {values['city']}"),
        _show_region, held_out=True,
    ),
    Template(
        "admin-open-order", SITES, "open-record",
        ("Open the page of order {number}.", "Show me the details of order #{number}.", "Bring up order {number}."),
        some_orders(6), _is_at(lambda values: ORDER_VIEW.format(**values)), _open_order,
    ),
    Template(
        "admin-open-product", SITES, "open-record",
        ("Open the product with the SKU {sku} for editing.", 'Go to the edit page of "{name}" (SKU {sku}).',
         "Bring up the form of product {sku}."),
        _products, _is_at(lambda values: PRODUCT_EDIT.format(**values)), _open_product,
    ),
)  # fmt: skip
