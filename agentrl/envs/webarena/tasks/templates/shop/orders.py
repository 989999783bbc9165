"""Templates of the shop about the customer's orders: reading, counting, adding up, opening."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from agentrl.envs.webarena.sites.formats import money
from agentrl.envs.webarena.sites.shop.orders import PER_PAGE, STATUS
from agentrl.envs.webarena.sites.store.orders import OF_AGENT
from agentrl.envs.webarena.sites.store.people import AGENT
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Answer, Click, On, Parameters, Template
from agentrl.envs.webarena.tasks.templates.shop.parts import (
    SHOP,
    SITES,
    address,
    amount,
    answer,
    on_order,
    orders,
    store,
    to_account,
    to_order,
)

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
LAST_PAGE = rf"/sales/order/history/\?p={-(-OF_AGENT // PER_PAGE)}$"

# ---------------------------------------------------------------------- one order


def _order_fields(world: World) -> Iterator[dict[str, Any]]:
    for order in orders(world):
        values = {
            "grand total": money(order["grand_total"]),
            "status": STATUS.get(order["status"], order["status"]),
            "shipping city": order["shipping_city"],
            "shipping and handling cost": money(order["shipping_amount"]),
        }
        for what, value in values.items():
            yield {"number": order["increment_id"], "field": what, "value": value}


def _order_field_evaluation(given: Parameters) -> dict[str, Any]:
    value = given["value"]
    return answer(amount(value)) if value.startswith("$") else answer(value)


ORDER_FIELD = Template(
    "shop-order-field", SITES, "read-value",
    (
        "What is the {field} of my order {number}?",
        "Tell me the {field} of the order with the number {number}.",
        "I need the {field} of order # {number} from my account.",
    ),
    _order_fields, _order_field_evaluation,
    lambda given: [*to_order(int(given["number"])), on_order(int(given["number"]), Answer(given["value"]))],
)  # fmt: skip


def _shipments(world: World) -> Iterator[dict[str, Any]]:
    rows = store(world).rows(
        "SELECT shipment.*, sales_order.increment_id AS number FROM shipment"
        " JOIN sales_order ON sales_order.id = order_id WHERE customer_id = ? ORDER BY shipment.id", AGENT,
    )  # fmt: skip
    for row in rows:
        for what, value in (("tracking number", row["tracking_number"]), ("carrier", row["tracking_title"])):
            yield {"number": row["number"], "field": what, "value": value}


def _shipment_solution(given: Parameters) -> list[On]:
    number = int(given["number"])
    return [
        *to_order(number),
        on_order(number, Click(".order-links a", "Order Shipments")),
        On(f"/sales/order/shipment/order_id/{number}/", [Answer(given["value"])]),
    ]


TRACKING = Template(
    "shop-order-tracking", SITES, "read-value",
    (
        "What is the {field} of the shipment of my order {number}?",
        "Find the {field} under which my order {number} was sent.",
    ),
    _shipments, lambda given: answer(given["value"]), _shipment_solution, held_out=True,
)  # fmt: skip


# ---------------------------------------------------------------------- many orders


def _periods(world: World) -> Iterator[tuple[str, list[Any]]]:
    """Every year and every month since the first order, with the orders of that time."""
    rows = orders(world)
    for year in range(2022, 2026):
        yield str(year), [row for row in rows if row["created_at"].startswith(str(year))]
        for month, name in enumerate(MONTHS, start=1):
            stamp = f"{year}-{month:02}"
            if stamp <= "2025-06":
                yield f"{name} {year}", [row for row in rows if row["created_at"].startswith(stamp)]


def _read_history(result: str) -> Sequence[On]:
    """Through all pages of the list of orders to an answer."""
    return [
        *to_account("/sales/order/history/"),
        On("/sales/order/history/", [Click("a.page", "Next")]),
        On(LAST_PAGE, [Answer(result)]),
    ]


ORDER_COUNT = Template(
    "shop-count-orders", SITES, "count-items",
    (
        "How many orders did I place in {period}? Answer with the number only.",
        "Count my orders from {period}, whatever became of them. Just the number, please.",
    ),
    lambda world: ({"period": period, "value": str(len(rows))} for period, rows in _periods(world)),
    lambda given: answer(exact=given["value"]),
    lambda given: _read_history(given["value"]),
)  # fmt: skip


def _spendings(world: World) -> Iterator[dict[str, Any]]:
    for period, rows in _periods(world):
        complete = [row["grand_total"] for row in rows if row["status"] == "Complete"]
        if complete:
            yield {"period": period, "value": money(round(sum(complete), 2))}


SPENDING = Template(
    "shop-sum-orders", SITES, "sum-values",
    (
        "How much did I spend in total in {period}? Count only complete orders, by their order totals.",
        "Add up the totals of my orders of {period} whose status is Complete.",
    ),
    _spendings,
    lambda given: answer(amount(given["value"])),
    lambda given: _read_history(given["value"]),
    held_out=True,
)  # fmt: skip


# ---------------------------------------------------------------------- pages


def _papers(world: World) -> Iterator[dict[str, Any]]:
    db = store(world)
    for order in orders(world):
        yield {"number": order["increment_id"], "what": "details", "path": "view"}
        for table, what in (("invoice", "invoice"), ("shipment", "shipment"), ("creditmemo", "refund")):
            if db.value(f"SELECT count(*) FROM {table} WHERE order_id = ?", order["id"]):
                yield {"number": order["increment_id"], "what": what, "path": table}


def _paper_solution(given: Parameters) -> list[On]:
    number = int(given["number"])
    if given["path"] == "view":
        return [*to_order(number), on_order(number, Answer())]
    target = f"/sales/order/{given['path']}/order_id/{number}/"
    return [*to_order(number), on_order(number, Click(f".order-links a[href='{target}']")), On(target, [Answer()])]


OPEN_ORDER = Template(
    "shop-open-order", SITES, "open-record",
    (
        "Open the {what} of my order {number}.",
        "Take me to the page with the {what} of order # {number}.",
    ),
    _papers,
    lambda given: address(f"{SHOP}/sales/order/{given['path']}/order_id/{int(given['number'])}"),
    _paper_solution,
)  # fmt: skip

ORDERS = (ORDER_FIELD, TRACKING, ORDER_COUNT, SPENDING, OPEN_ORDER)
