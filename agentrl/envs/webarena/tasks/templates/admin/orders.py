"""Tasks that change orders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from typing import Any

from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Answer, Check, Choose, Click, Fill, On, Parameters, Template
from agentrl.envs.webarena.tasks.templates.admin.kit import (
    ORDER_VIEW,
    SITES,
    column,
    contents,
    exactly,
    including,
    order_page,
    page,
    rows,
    store,
    text_of,
)

OPEN = "('Pending', 'Fraud')"  # nothing of these orders is invoiced or shipped
HISTORY = "/sales/order/commentsHistory/order_id/{id}/"
CARRIERS = ("DHL", "Federal Express", "United Parcel Service", "United States Postal Service")
STREETS = ("Oak Avenue", "Linden Street", "Harbor Road", "Mill Lane", "Sunset Boulevard", "Orchard Way")
CITIES = (("New York", "New York", "10001"), ("Pittsburgh", "Pennsylvania", "15213"), ("Portland", "Oregon", "97205"),
          ("Austin", "Texas", "78701"), ("Boulder", "Colorado", "80302"))  # fmt: skip
NOTES = (
    "The parcel leaves our warehouse on Monday.", "We have checked your new address.",
    "One item is delayed by two days.", "A gift card is added to the parcel.", "Please leave the box at the back door.",
)  # fmt: skip


def _orders(where: str) -> Callable[[World], Iterator[dict[str, Any]]]:
    def parameters(world: World) -> Iterator[dict[str, Any]]:
        for row in rows(world, f"SELECT id, increment_id FROM sales_order WHERE {where} ORDER BY id"):
            yield {"id": row["id"], "number": row["increment_id"]}

    return parameters


def _has_status(values: Parameters, status: str) -> Callable[[World], bool]:
    return lambda world: column(world, "sales_order", values["id"], "status") == status


def _view(values: Parameters) -> str:
    return page(ORDER_VIEW.format(**values))


def _button(label: str, status: str) -> Callable[[Parameters], Sequence[On]]:
    """Open the order, press the button, and be done."""

    def solution(values: Parameters) -> Sequence[On]:
        return [
            *order_page(values["id"], values["number"]), On(_view(values), [Click("button", label)]),
            On(_view(values), [Answer()], when=_has_status(values, status)),
        ]  # fmt: skip

    return solution


def _status_is(status: str) -> Callable[[Parameters], dict[str, Any]]:
    return lambda values: contents(exactly(ORDER_VIEW.format(**values), text_of("#order_status"), status))


# ---------------------------------------------------------------------- invoices and shipments


def _invoice(values: Parameters) -> Sequence[On]:
    return [
        *order_page(values["id"], values["number"]), On(_view(values), [Click("a.button", "Invoice")]),
        On(page(f"/sales/order_invoice/new/order_id/{values['id']}/"), [Click("button", "Submit Invoice")]),
        On(_view(values), [Answer()], when=_has_status(values, "Processing")),
    ]  # fmt: skip


def _invoiced(values: Parameters) -> dict[str, Any]:
    listed = f"/sales/invoice/?filters[order_number]={values['number']}"
    return contents(
        exactly(ORDER_VIEW.format(**values), text_of("#order_status"), "Processing"),
        including(listed, text_of("tr.data-row"), values["number"]),
    )


def _shipments(world: World) -> Iterator[dict[str, Any]]:
    for values in _orders(f"status IN {OPEN} OR status = 'Processing'")(world):
        rng = Random(f"ship {values['id']}")
        yield {**values, "carrier": rng.choice(CARRIERS), "tracking": str(rng.randrange(10**9, 10**10))}


def _ship(values: Parameters) -> Sequence[On]:
    shipping = [
        Choose("#trackingC1", values["carrier"]), Fill("#trackingT1", values["carrier"]),
        Fill("#trackingN1", values["tracking"]), Click("button", "Submit Shipment"),
    ]  # fmt: skip

    def shipped(world: World) -> bool:
        found = rows(world, "SELECT tracking_number FROM shipment WHERE order_id = ?", values["id"])
        return any(row["tracking_number"] == values["tracking"] for row in found)

    return [
        *order_page(values["id"], values["number"]), On(_view(values), [Click("a.button", "Ship")]),
        On(page(f"/admin/order_shipment/new/order_id/{values['id']}/"), shipping),
        On(_view(values), [Answer()], when=shipped),
    ]  # fmt: skip


def _shipped(values: Parameters) -> dict[str, Any]:
    tracked = f"Tracking number {values['tracking']} for {values['carrier']} assigned"
    return contents(including(HISTORY.format(**values) + "active_tab/order_shipments/", "", tracked))


def _refund(values: Parameters) -> Sequence[On]:
    return [
        *order_page(values["id"], values["number"]), On(_view(values), [Click("a.button", "Credit Memo")]),
        On(page(f"/sales/order_creditmemo/new/order_id/{values['id']}/"), [Click("button", "Refund Offline")]),
        On(_view(values), [Answer()], when=_has_status(values, "Closed")),
    ]  # fmt: skip


# ---------------------------------------------------------------------- comments and addresses


def _comments(world: World) -> Iterable[dict[str, Any]]:
    for values in _orders("id % 9 = 4")(world):
        yield {**values, "comment": NOTES[values["id"] % len(NOTES)]}


def _comment(values: Parameters) -> Sequence[On]:
    def written(world: World) -> bool:
        found = rows(world, "SELECT * FROM order_comment WHERE order_id = ?", values["id"])
        return any(row["comment"] == values["comment"] and row["is_notified"] for row in found)

    writing = [
        Fill("#history_comment", values["comment"]), Check("#history_notify"), Click("button", "Submit Comment"),
    ]  # fmt: skip
    return [
        *order_page(values["id"], values["number"]), On(_view(values), writing),
        On(_view(values), [Answer()], when=written),
    ]  # fmt: skip


def _commented(values: Parameters) -> dict[str, Any]:
    return contents(including(HISTORY.format(**values), text_of(".history"), values["comment"], "Customer Notified"))


def _addresses(world: World) -> Iterator[dict[str, Any]]:
    for values in _orders("id % 8 = 3")(world):
        rng = Random(f"address {values['id']}")
        city, region, postcode = rng.choice(CITIES)
        street = f"{rng.randrange(10, 990)} {rng.choice(STREETS)}"
        yield {**values, "street": street, "city": city, "region": region, "postcode": postcode}


def _address(values: Parameters) -> Sequence[On]:
    names = {"street[0]": "street", "city": "city", "region": "region", "postcode": "postcode"}
    filling = [Fill(f'[name="{field}"]', values[name]) for field, name in names.items()]

    def saved(world: World) -> bool:
        order = store(world).get("sales_order", values["id"])
        return order is not None and all(order[f"shipping_{name}"] == values[name] for name in names.values())

    return [
        *order_page(values["id"], values["number"]),
        On(_view(values), [Click(".order-shipping-address a", "Edit")]),
        On(page(f"/sales/order/address/address_id/{2 * values['id']}/"), [*filling, Click("button",
        "Save Order Address")]),
        On(_view(values), [Answer()], when=saved),
    ]  # fmt: skip


def _moved(values: Parameters) -> dict[str, Any]:
    parts = [values[name] for name in ("street", "city", "region", "postcode")]
    return contents(including(ORDER_VIEW.format(**values), text_of(".order-shipping-address .address"), *parts))


TEMPLATES = (
    Template(
        "admin-cancel-order", SITES, "change-order-status",
        ("Cancel order {number}.", "The customer does not want order #{number} any more. Please cancel it.",
         "Please see to it that order {number} gets the status Canceled."),
        _orders(f"status IN {OPEN}"), _status_is("Canceled"), _button("Cancel", "Canceled"),
    ),
    Template(
        "admin-hold-order", SITES, "change-order-status",
        ("Put order {number} on hold.", "Hold order #{number} until we have spoken to the customer."),
        _orders(f"status IN {OPEN} OR status = 'Processing'"), _status_is("On Hold"), _button("Hold", "On Hold"),
        held_out=True,
    ),
    Template(
        "admin-invoice-order", SITES, "fulfil-order",
        ("Invoice everything in order {number}.", "Create the invoice for all items of order #{number}.",
         "Order {number} has been paid. Make out an invoice for it."),
        _orders(f"status IN {OPEN}"), _invoiced, _invoice,
    ),
    Template(
        "admin-ship-order", SITES, "fulfil-order",
        ("Ship order {number} with {carrier}, tracking number {tracking}.",
         "Order #{number} has left the house: create the shipment of all its items with the {carrier} tracking number "
         "{tracking}.",
         "Update order {number} with the {carrier} tracking number {tracking} by creating its shipment."),
        _shipments, _shipped, _ship,
    ),
    Template(
        "admin-refund-order", SITES, "refund-order",
        ("Refund order {number} completely.", "Create a credit memo over everything in order #{number}."),
        _orders("status = 'Complete' AND id % 8 = 5"), _status_is("Closed"), _refund, held_out=True,
    ),
    Template(
        "admin-comment-order", SITES, "write-comment",
        ('Write the comment "{comment}" on order {number} and notify the customer by email.',
         'Tell the customer of order #{number} by email: "{comment}" Use a comment on the order.',
         'Notify the customer of order {number} with the message "{comment}"'),
        _comments, _commented, _comment,
    ),
    Template(
        "admin-order-address", SITES, "edit-record",
        ("Change the shipping address of order {number} to {street}, {city}, {region}, {postcode}.",
         "Order #{number} must go to {street}, {city}, {region} {postcode} instead. Correct its shipping address.",
         "Modify where order {number} is shipped: {street} in {city}, {region}, {postcode}."),
        _addresses, _moved, _address,
    ),
)  # fmt: skip
