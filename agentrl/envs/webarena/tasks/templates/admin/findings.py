"""Tasks whose answer must be put together from several records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Answer, Choose, Fill, On, Parameters, Template
from agentrl.envs.webarena.tasks.templates.admin.kit import (
    ORDER_VIEW,
    SITES,
    answer,
    filtered,
    link,
    menu,
    order_page,
    page,
    rows,
    search,
)

ORDERS, REVIEWS, SHIPMENTS = "/sales/order/", "/review/product/", "/sales/shipment/"
STATUSES = ("Pending", "Processing", "Complete", "Canceled", "Closed", "On Hold", "Fraud")


def _newest_orders(world: World) -> Iterator[dict[str, Any]]:
    """The sum of the newest orders of a status, for several numbers of orders."""
    for status in STATUSES:
        totals = [row[0] for row in rows(
            world, "SELECT grand_total FROM sales_order WHERE status = ? ORDER BY id DESC LIMIT 8", status
        )]  # fmt: skip
        for count in range(2, len(totals) + 1):
            yield {"case": f"{count} {status}", "status": status, "count": count, "sum": f"{sum(totals[:count]):.2f}"}


def _sum_is(values: Parameters) -> dict[str, Any]:
    amount = float(values["sum"])
    return answer(values["sum"] if amount < 1000 else f"{amount:,.2f} |OR| {amount:.2f}")


def _add_up(values: Parameters) -> Sequence[On]:
    by_status = [(Choose("#filter_status", values["status"]), "[status]", values["status"])]
    return [*menu("Sales"), *filtered(ORDERS, by_status, Answer(f"${values['sum']}"))]


def _disliked(world: World) -> Iterator[dict[str, Any]]:
    """Products that two to four people gave one or two stars."""
    found: dict[str, list[str]] = {}
    sql = (
        "SELECT p.sku, r.nickname FROM review r JOIN product p ON p.id = r.product_id WHERE r.rating <= 2"
        " ORDER BY p.id, r.id"
    )
    for row in rows(world, sql):
        found.setdefault(row["sku"], []).append(row["nickname"])
    for sku, names in found.items():
        if 2 <= len(names) <= 4 and len(set(names)) == len(names):
            yield {"sku": sku, "names": names}


def _list_reviewers(values: Parameters) -> Sequence[On]:
    fields = [
        (Fill("#filter_rating_to", "2"), "[rating][to]", "2"),
        (Fill("#filter_sku", values["sku"]), "[sku]", values["sku"]),
    ]
    return [
        *menu("Marketing", "/sales_rule/promo_quote/", "All Reviews"),
        *filtered(REVIEWS, fields, Answer(", ".join(values["names"])), opened=True),
    ]  # fmt: skip


def _order_contents(world: World) -> Iterator[dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    sql = (
        "SELECT o.id, o.increment_id, i.sku FROM sales_order o JOIN order_item i ON i.order_id = o.id"
        " WHERE o.id % 5 = 2 ORDER BY i.id"
    )
    for row in rows(world, sql):
        case = found.setdefault(row["id"], {"id": row["id"], "number": row["increment_id"], "skus": []})
        case["skus"].append(row["sku"])
    yield from (case for case in found.values() if len(case["skus"]) > 1)


def _list_items(values: Parameters) -> Sequence[On]:
    seen = On(page(ORDER_VIEW.format(**values)), [Answer(", ".join(values["skus"]))])
    return [*order_page(values["id"], values["number"]), seen]


def _shipments(world: World) -> Iterator[dict[str, Any]]:
    sql = (
        "SELECT s.id, s.tracking_number, o.increment_id FROM shipment s JOIN sales_order o ON o.id = s.order_id"
        " WHERE s.tracking_number != '' AND s.id % 7 = 3 ORDER BY s.id"
    )
    for row in rows(world, sql):
        yield {"number": row["increment_id"], "id": row["id"], "tracking": row["tracking_number"]}


def _read_tracking(values: Parameters) -> Sequence[On]:
    path = f"/sales/shipment/view/shipment_id/{values['id']}/"
    return [
        *menu("Sales", ORDERS, "Shipments"), *search(SHIPMENTS, values["number"], link(path)),
        On(page(path), [Answer(values["tracking"])]),
    ]  # fmt: skip


TEMPLATES = (
    Template(
        "admin-sum-orders", SITES, "add-up",
        ("What is the sum of the grand totals of the last {count} orders with the status {status}?",
         "Add up the grand totals of our {count} most recent {status} orders.",
         "How much do the newest {count} {status} orders come to together?"),
        _newest_orders, _sum_is, _add_up,
    ),
    Template(
        "admin-unhappy-customers", SITES, "list-items",
        ("Who was not happy with the product {sku}? Give the nicknames of all who gave it 1 or 2 stars.",
         "List the nicknames of all reviewers who gave the product with SKU {sku} fewer than three stars."),
        _disliked, lambda values: answer(*values["names"]), _list_reviewers,
    ),
    Template(
        "admin-order-contents", SITES, "list-items",
        ("Which products are in order {number}? Give me all their SKUs.",
         "List the SKUs of everything in order #{number}."),
        _order_contents, lambda values: answer(*values["skus"]), _list_items, held_out=True,
    ),
    Template(
        "admin-tracking-number", SITES, "read-value",
        ("What is the tracking number of the shipment of order {number}?",
         "Under which tracking number was order #{number} sent?",
         "The customer of order {number} wants to follow the parcel. What is its tracking number?"),
        _shipments, lambda values: answer(values["tracking"]), _read_tracking,
    ),
)  # fmt: skip
