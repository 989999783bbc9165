"""Tasks of the administration that end on a certain page, and those that change orders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Answer, Check, Choose, Click, Fill, On, Parameters, Template, template
from agentrl.envs.webarena.tasks.templates.admin.kit import (
    ADMIN,
    CUSTOMERS,
    ORDER_VIEW,
    ORDERS,
    PRODUCT_EDIT,
    SITES,
    by_status_and_month,
    filtered,
    is_set,
    menu,
    months_and_statuses,
    on_order,
    on_product,
    page,
    shown,
    some_orders,
)
from agentrl.envs.webarena.tasks.vocabulary import Row, both, done, ends_at, exists, in_turn, query, shows, text_of

OPEN = "('Pending', 'Fraud')"  # nothing of these orders is invoiced or shipped
HISTORY = ADMIN + "/sales/order/commentsHistory/order_id/{id}/"
CARRIERS = ("DHL", "Federal Express", "United Parcel Service", "United States Postal Service")
STREETS = ("Oak Avenue", "Linden Street", "Harbor Road", "Mill Lane", "Sunset Boulevard", "Orchard Way")
CITIES = (("New York", "New York", "10001"), ("Pittsburgh", "Pennsylvania", "15213"), ("Portland", "Oregon", "97205"),
          ("Austin", "Texas", "78701"), ("Boulder", "Colorado", "80302"))  # fmt: skip
ADDRESS = {"street": "street[0]", "city": "city", "region": "region", "postcode": "postcode"}  # columns and fields
IS_SENT = "SELECT 1 FROM shipment WHERE order_id = ? AND tracking_number = ?"
IS_TOLD = "SELECT 1 FROM order_comment WHERE order_id = ? AND comment = ? AND is_notified"
NOTES = (
    "The parcel leaves our warehouse on Monday.", "We have checked your new address.",
    "One item is delayed by two days.", "A gift card is added to the parcel.", "Please leave the box at the back door.",
)  # fmt: skip

APOLOGIES = (
    "We are sorry, this item is no longer made.", "As you wished, nothing will be sent.",
    "Your money is on its way back.", "The second order stays as it is.", "Please order again with your new address.",
)  # fmt: skip

# ---------------------------------------------------------------------- pages


def _filtered_by(path: str, *parts: str) -> dict:
    """The agent ends on a grid with these filters."""
    return both(ends_at(ADMIN + path), shows(("last", text_of("div.admin__data-grid-filters-current"), parts)))


PAGES = (
    Template(
        "admin-filter-orders", SITES, "filter-list",
        ("Show all {status} orders that were placed in {month}.",
         "List the orders of {month} with the status {status}.",
         "Filter the orders: status {status}, purchased from {first} to {last}."),
        months_and_statuses,
        lambda row: _filtered_by(ORDERS, row["status"], f"{shown(row['first'])} - {shown(row['last'])}"),
        lambda row: [*menu("Sales"), *filtered(ORDERS, by_status_and_month(row), Answer())],
    ),
    Template(
        "admin-filter-customers", SITES, "filter-list",
        ("Show the customers who live in {city}, {region}.",
         "List all customers from {city} in {region}, using the filters."),
        lambda world: query(world, "store", "SELECT DISTINCT city, region FROM address ORDER BY region, city"),
        lambda row: _filtered_by(CUSTOMERS, f"State/Province: {row['region']}", f"City: {row['city']}"),
        lambda row: [
            *menu("Customers"),
            *filtered(CUSTOMERS, [Fill("#filter_region", row["region"]), Fill("#filter_city", row["city"])], Answer()),
        ],
        held_out=True,
    ),
    Template(
        "admin-open-order", SITES, "open-record",
        ("Open the page of order {number}.", "Show me the details of order #{number}.", "Bring up order {number}."),
        lambda world: some_orders(world, 6), lambda row: ends_at(ADMIN + ORDER_VIEW.format(**row), exact=True),
        lambda row: on_order(row, Answer()),
    ),
    Template(
        "admin-open-product", SITES, "open-record",
        ("Open the product with the SKU {sku} for editing.", 'Go to the edit page of "{name}" (SKU {sku}).',
         "Bring up the form of product {sku}."),
        lambda world: query(world, "store", "SELECT id, sku, name FROM product WHERE id % 40 = 17 ORDER BY id"),
        lambda row: ends_at(ADMIN + PRODUCT_EDIT.format(**row), exact=True), lambda row: on_product(row, Answer()),
    ),
)  # fmt: skip


# ---------------------------------------------------------------------- changes of orders


def _orders(world: World, where: str) -> list[Row]:
    return query(world, "store", f"SELECT id, increment_id AS number FROM sales_order WHERE {where} ORDER BY id")


def _view(row: Parameters) -> str:
    return ADMIN + ORDER_VIEW.format(**row)


def _has_status(row: Parameters, status: str) -> dict:
    return shows((_view(row), text_of("#order_status"), status))


def _change(row: Parameters, press: Click, form: str, acts: list, when: Callable[[World], bool]) -> list[On]:
    """Open the order and one of its forms, fill it in, and be done on the order's page."""
    return [*on_order(row, press), On(page(form.format(**row)), acts), done(page(ORDER_VIEW.format(**row)), when)]


def _is_shipped(row: Parameters) -> dict:
    said = f"Tracking number {row['tracking']} for {row['carrier']} assigned"
    return shows((HISTORY.format(**row) + "active_tab/order_shipments/", "", [said]))


def _ship(row: Parameters) -> list[On]:
    return _change(
        row, Click("a.button", "Ship"), "/admin/order_shipment/new/order_id/{id}/",
        [Choose("#trackingC1", row["carrier"]), Fill("#trackingT1", row["carrier"]),
         Fill("#trackingN1", row["tracking"]), Click("button", "Submit Shipment")],
        exists("store", IS_SENT, row["id"], row["tracking"]),
    )  # fmt: skip


@template(
    "admin-ship-order", SITES, "fulfil-order",
    ("Ship order {number} with {carrier}, tracking number {tracking}.",
     "Order #{number} has left the house: create the shipment of all its items with the {carrier} tracking number "
     "{tracking}.",
     "Update order {number} with the {carrier} tracking number {tracking} by creating its shipment."),
    lambda row: _is_shipped(row), lambda row: _ship(row),
)  # fmt: skip
def ship_order(world: World) -> Iterator[Row]:
    return _parcels(world, f"status IN {OPEN} OR status = 'Processing'")


def _parcels(world: World, where: str) -> Iterator[Row]:
    for row in _orders(world, where):
        rng = Random(f"ship {row['id']}")
        yield {**row, "carrier": rng.choice(CARRIERS), "tracking": str(rng.randrange(10**9, 10**10))}


@template(
    "admin-order-address", SITES, "edit-record",
    ("Change the shipping address of order {number} to {street}, {city}, {region}, {postcode}.",
     "Order #{number} must go to {street}, {city}, {region} {postcode} instead. Correct its shipping address.",
     "Modify where order {number} is shipped: {street} in {city}, {region}, {postcode}."),
    lambda row: shows(
        (_view(row), text_of(".order-shipping-address .address"), [row[name] for name in ADDRESS])
    ),
    lambda row: _change(
        row, Click(".order-shipping-address a", "Edit"), f"/sales/order/address/address_id/{2 * row['id']}/",
        [*(Fill(f'[name="{field}"]', row[name]) for name, field in ADDRESS.items()),
         Click("button", "Save Order Address")],
        is_set("sales_order", row["id"], **{f"shipping_{name}": row[name] for name in ADDRESS}),
    ),
)  # fmt: skip
def order_address(world: World) -> Iterator[Row]:
    for row in _orders(world, "id % 8 = 3"):
        rng = Random(f"address {row['id']}")
        city, region, postcode = rng.choice(CITIES)
        street = f"{rng.randrange(10, 990)} {rng.choice(STREETS)}"
        yield {**row, "street": street, "city": city, "region": region, "postcode": postcode}


def _press(row: Parameters, label: str, status: str) -> list[On]:
    """Open the order, press the button, and be done."""
    achieved = is_set("sales_order", row["id"], status=status)
    return [*on_order(row, Click("button", label)), done(page(ORDER_VIEW.format(**row)), achieved)]


def _invoiced(row: Parameters) -> tuple[str, str, list[str]]:
    return f"{ADMIN}/sales/invoice/?filters[order_number]={row['number']}", text_of("tr.data-row"), [row["number"]]


def _invoice(row: Parameters) -> list[On]:
    return _change(
        row, Click("a.button", "Invoice"), "/sales/order_invoice/new/order_id/{id}/",
        [Click("button", "Submit Invoice")], exists("store", "SELECT 1 FROM invoice WHERE order_id = ?", row["id"]),
    )  # fmt: skip


def _is_told(row: Parameters) -> dict:
    return shows((HISTORY.format(**row), text_of(".history"), [row["comment"], "Customer Notified"]))


def _tell(row: Parameters) -> list[On]:
    return [
        *on_order(row, Fill("#history_comment", row["comment"]), Check("#history_notify"),
                  Click("button", "Submit Comment")),
        done(page(ORDER_VIEW.format(**row)), exists("store", IS_TOLD, row["id"], row["comment"])),
    ]  # fmt: skip


CHANGES = (
    Template(
        "admin-cancel-order", SITES, "change-order-status",
        ("Cancel order {number}.", "The customer does not want order #{number} any more. Please cancel it.",
         "Please see to it that order {number} gets the status Canceled."),
        lambda world: _orders(world, f"status IN {OPEN}"), lambda row: _has_status(row, "Canceled"),
        lambda row: _press(row, "Cancel", "Canceled"),
    ),
    Template(
        "admin-hold-order", SITES, "change-order-status",
        ("Put order {number} on hold.", "Hold order #{number} until we have spoken to the customer."),
        lambda world: _orders(world, f"status IN {OPEN} OR status = 'Processing'"),
        lambda row: _has_status(row, "On Hold"), lambda row: _press(row, "Hold", "On Hold"), held_out=True,
    ),
    Template(
        "admin-invoice-order", SITES, "fulfil-order",
        ("Invoice everything in order {number}.", "Create the invoice for all items of order #{number}.",
         "Order {number} has been paid. Make out an invoice for it."),
        lambda world: _orders(world, f"status IN {OPEN}"),
        lambda row: shows((_view(row), text_of("#order_status"), "Processing"), _invoiced(row)), _invoice,
    ),
    ship_order,
    Template(
        "admin-invoice-and-ship", SITES, "fulfil-order",
        ("Invoice order {number}, and then ship it with {carrier}, tracking number {tracking}.",
         "Order #{number} is paid and on its way: make out its invoice and its shipment ({carrier}, {tracking})."),
        lambda world: _parcels(world, f"status IN {OPEN}"),
        lambda row: both(_is_shipped(row), shows(_invoiced(row))),
        lambda row: in_turn(_invoice(row), _ship(row)),
    ),
    Template(
        "admin-cancel-and-tell", SITES, "change-order-status",
        ('Cancel order {number}, and write the comment "{comment}" on it with a notification to the customer.',
         'Order #{number} is off: cancel it and tell the customer by email, in a comment: "{comment}"'),
        lambda world: (
            {**row, "comment": APOLOGIES[row["id"] % len(APOLOGIES)]} for row in _orders(world, f"status IN {OPEN}")
        ),
        lambda row: both(_has_status(row, "Canceled"), _is_told(row)),
        lambda row: in_turn(_press(row, "Cancel", "Canceled"), _tell(row)),
    ),
    Template(
        "admin-refund-order", SITES, "refund-order",
        ("Refund order {number} completely.", "Create a credit memo over everything in order #{number}."),
        lambda world: _orders(world, "status = 'Complete' AND id % 8 = 5"), lambda row: _has_status(row, "Closed"),
        lambda row: _change(
            row, Click("a.button", "Credit Memo"), "/sales/order_creditmemo/new/order_id/{id}/",
            [Click("button", "Refund Offline")], is_set("sales_order", row["id"], status="Closed"),
        ),
        held_out=True,
    ),
    Template(
        "admin-comment-order", SITES, "write-comment",
        ('Write the comment "{comment}" on order {number} and notify the customer by email.',
         'Tell the customer of order #{number} by email: "{comment}" Use a comment on the order.',
         'Notify the customer of order {number} with the message "{comment}"'),
        lambda world: ({**row, "comment": NOTES[row["id"] % len(NOTES)]} for row in _orders(world, "id % 9 = 4")),
        _is_told, _tell,
    ),
    order_address,
)  # fmt: skip
TEMPLATES = (*PAGES, *CHANGES)
