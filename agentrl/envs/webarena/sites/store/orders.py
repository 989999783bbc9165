"""Orders of three and a half years with everything that follows from them: items, invoices, shipments, credit memos,
comments, and the wish lists and carts of today."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any

from agentrl.envs.webarena.sites.database import START, insert_rows
from agentrl.envs.webarena.sites.formats import stamp
from agentrl.envs.webarena.sites.prose import expand, sentences
from agentrl.envs.webarena.sites.store.people import AGENT, words
from agentrl.envs.webarena.sites.store.pricing import PAYMENT_METHODS, SHIPPING_METHODS, applies, discount

ORDERS, OF_AGENT = 900, 36
FIRST_ORDER, LAST_ORDER = datetime(2022, 1, 3, 8, 0), datetime(2025, 6, 15, 21, 0)
POPULAR = 700  # products that most orders are made of
RECENT = timedelta(days=60)  # older orders are settled
_AGENT_LATELY = {  # the agent's customer has orders of every kind
    datetime(2025, 5, 9, 10, 42, 18): "Complete", datetime(2025, 5, 20, 15, 27, 51): "On Hold",
    datetime(2025, 5, 30, 8, 51, 36): "Canceled", datetime(2025, 6, 5, 19, 15, 9): "Processing",
    datetime(2025, 6, 12, 12, 33, 44): "Pending",
}  # fmt: skip
_CARRIERS = (("ups", "United Parcel Service"), ("usps", "United States Postal Service"), ("fedex", "Federal Express"))


@dataclass
class Ledger:
    """The rows of all tables that orders fill."""

    rng: Random
    products: list[sqlite3.Row]
    weights: list[float]
    options: dict[int, dict[str, list[str]]]
    rules: list[dict[str, Any]]
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def add(self, table: str, **row: Any) -> dict[str, Any]:
        """One more row; ids count from 1."""
        rows = self.tables.setdefault(table, [])
        row = {"id": len(rows) + 1, **row}
        rows.append(row)
        return row


def build_orders(connection: sqlite3.Connection) -> None:
    """Fill all tables of sales, wish lists and carts; count how often price rules were used."""
    connection.row_factory = sqlite3.Row
    rng = Random("orders")
    sold = connection.execute("SELECT * FROM product WHERE status = 1 ORDER BY id").fetchall()
    products = rng.sample(sold, POPULAR)
    options: dict[int, dict[str, list[str]]] = {}
    for row in connection.execute("SELECT * FROM product_option ORDER BY id"):
        options.setdefault(row["product_id"], {}).setdefault(row["name"], []).append(row["value"])
    rules = [dict(rule) for rule in connection.execute("SELECT * FROM cart_rule ORDER BY id")]
    ledger = Ledger(rng, products, [1 / (rank + 12) ** 0.8 for rank in range(POPULAR)], options, rules)
    customers = connection.execute("SELECT * FROM customer ORDER BY id").fetchall()
    addresses: dict[int, list[sqlite3.Row]] = {}
    for address in connection.execute("SELECT * FROM address ORDER BY id"):
        addresses.setdefault(address["customer_id"], []).append(address)
    for moment, customer in _calendar(customers, ledger.rng):
        status = _AGENT_LATELY.get(moment) or _status(moment, ledger.rng)
        _order(ledger, customer, addresses[customer["id"]], moment, status)
    for customer in customers:
        count = 7 if customer["id"] == AGENT else rng.choices((0, 1, 2, 4), (60, 18, 14, 8))[0]
        for product in rng.sample(ledger.products, count):
            added = _moment(rng, datetime.fromisoformat(customer["created_at"]), 0.5)
            ledger.add(
                "wishlist_item", customer_id=customer["id"], product_id=product["id"], options="", comment="", qty=1,
                added_at=stamp(max(added, datetime.fromisoformat(customer["created_at"]))),
            )  # fmt: skip
    for table, rows in ledger.tables.items():
        insert_rows(connection, table, rows)
    connection.execute(
        "UPDATE cart_rule SET times_used = (SELECT count(*) FROM sales_order"
        " WHERE sales_order.coupon_code = cart_rule.coupon_code) WHERE coupon_code <> ''"
    )
    connection.row_factory = None


def _calendar(customers: list[sqlite3.Row], rng: Random) -> list[tuple[datetime, sqlite3.Row]]:
    """When who orders, in order of time: busier before Christmas, nobody before they had an account."""
    agent = next(customer for customer in customers if customer["id"] == AGENT)
    before = [
        moment for moment in (_moment(rng, FIRST_ORDER, 1.0) for _ in range(2 * OF_AGENT)) if START - moment > RECENT
    ]
    found = [(moment, agent) for moment in (*before[: OF_AGENT - len(_AGENT_LATELY)], *_AGENT_LATELY)]
    others = [customer for customer in customers if customer["id"] != AGENT]
    eager = [rng.expovariate(1.0) + 0.2 for _ in others]
    while len(found) < ORDERS:
        customer = rng.choices(others, eager)[0]
        joined = datetime.fromisoformat(customer["created_at"]) + timedelta(minutes=20)
        moment = _moment(rng, FIRST_ORDER, 0.55)
        if moment > joined and (moment.month in (11, 12) or rng.random() < 0.6):
            found.append((moment, customer))
    return sorted(found, key=lambda pair: pair[0])


def _moment(rng: Random, first: datetime, growth: float) -> datetime:
    moment = first + (LAST_ORDER - first) * rng.random() ** growth
    return moment.replace(hour=rng.randrange(7, 21), minute=rng.randrange(60), second=rng.randrange(60), microsecond=0)


def _status(moment: datetime, rng: Random) -> str:
    if START - moment < RECENT:
        return rng.choices(
            ("Pending", "Processing", "Complete", "Canceled", "On Hold", "Fraud"), (34, 26, 22, 8, 7, 3)
        )[0]
    return rng.choices(("Complete", "Canceled", "Closed", "Fraud", "Pending", "On Hold"), (81, 10, 6, 1, 1, 1))[0]


def _order(ledger: Ledger, customer: sqlite3.Row, addresses: list[sqlite3.Row], moment: datetime, status: str) -> None:
    rng = ledger.rng
    chosen = rng.choices(ledger.products, ledger.weights, k=rng.choices((1, 2, 3, 4, 5), (38, 30, 18, 9, 5))[0])
    products = list({product["id"]: product for product in chosen}.values())
    number = len(ledger.tables.get("sales_order", ())) + 1
    items = [_item(ledger, number, product, moment) for product in products]
    subtotal, pieces = round(sum(item["row_total"] for item in items), 2), sum(item["qty"] for item in items)
    # Now and then one of the coupons of that day.
    day = moment.date().isoformat()
    coupons = [rule for rule in ledger.rules if rule["coupon_code"]]
    running = [rule["coupon_code"] for rule in coupons if applies(rule, subtotal, day, rule["coupon_code"])]
    code = rng.choice(running) if running and rng.random() < 0.2 else ""
    reduced = discount(subtotal, day, ledger.rules, code)
    method = rng.choice(SHIPPING_METHODS) if pieces > 2 else SHIPPING_METHODS[0]
    shipping = method.amount(pieces)
    order = ledger.add(
        "sales_order",
        increment_id=f"{number:09}", customer_id=customer["id"],
        customer_name=f"{customer['firstname']} {customer['lastname']}", customer_email=customer["email"],
        status=status, created_at=stamp(moment), updated_at=stamp(moment), subtotal=subtotal,
        shipping_amount=shipping, tax_amount=0.0, discount_amount=reduced, coupon_code=code,
        grand_total=round(subtotal + shipping - reduced, 2), shipping_method=method.label,
        payment_method=rng.choices(list(PAYMENT_METHODS.values()), (85, 15))[0],
        **printed_address("shipping", rng.choice(addresses)), **printed_address("billing", addresses[0]),
    )  # fmt: skip
    order["updated_at"] = stamp(_follow_up(ledger, order, items, moment))


def _item(ledger: Ledger, order: int, product: sqlite3.Row, moment: datetime) -> dict[str, Any]:
    rng = ledger.rng
    qty = rng.choices((1, 2, 3, 4), (78, 14, 5, 3))[0]
    on_sale = product["special_price"] is not None and START - moment < timedelta(days=60)
    price = product["special_price"] if on_sale else product["price"]
    choices = ledger.options.get(product["id"], {})
    return ledger.add(
        "order_item", order_id=order, product_id=product["id"], sku=product["sku"], name=product["name"],
        options=", ".join(f"{name}: {rng.choice(values)}" for name, values in choices.items()),
        price=price, qty=qty, qty_invoiced=0, qty_shipped=0, qty_refunded=0, row_total=round(price * qty, 2),
    )  # fmt: skip


def _follow_up(ledger: Ledger, order: dict[str, Any], items: list[dict[str, Any]], moment: datetime) -> datetime:
    """Invoice, shipment, refund and comments, as the status demands; the time of the last event."""
    rng, status = ledger.rng, order["status"]
    last = moment
    if status in ("Complete", "Closed", "Processing"):
        last = _later(last, rng, hours=30)
        for item in items:
            item["qty_invoiced"] = item["qty"]
        number = len(ledger.tables.get("invoice", ())) + 1
        ledger.add(
            "invoice", increment_id=f"{number:09}", order_id=order["id"], state="Paid",
            grand_total=order["grand_total"], created_at=stamp(last),
        )  # fmt: skip
    if status in ("Complete", "Closed"):
        last = _later(last, rng, hours=60)
        for item in items:
            item["qty_shipped"] = item["qty"]
        number = len(ledger.tables.get("shipment", ())) + 1
        carrier, title = rng.choice(_CARRIERS)
        tracking = f"{carrier[:2].upper()}{rng.randrange(10**9, 10**10)}"
        ledger.add(
            "shipment", increment_id=f"{number:09}", order_id=order["id"], carrier=carrier, tracking_title=title,
            tracking_number=tracking, created_at=stamp(last),
        )  # fmt: skip
        if rng.random() < 0.3:
            _comment(ledger, order, "packed", last, seen=1)
    if status == "Closed":
        last = _later(last, rng, hours=400)
        for item in items:
            item["qty_refunded"] = item["qty"]
        number = len(ledger.tables.get("creditmemo", ())) + 1
        ledger.add(
            "creditmemo", increment_id=f"{number:09}", order_id=order["id"], grand_total=order["grand_total"],
            created_at=stamp(last),
        )  # fmt: skip
        _comment(ledger, order, "refunded", last, seen=1)
    if status in ("Canceled", "On Hold", "Fraud"):
        last = _later(last, rng, hours=40)
        _comment(ledger, order, status, last, seen=int(status == "Canceled"))
    return last


def _comment(ledger: Ledger, order: dict[str, Any], about: str, moment: datetime, *, seen: int) -> None:
    pattern = ledger.rng.choice(words("content.toml")["comments"][about])
    text = sentences(expand(pattern, Random(f"comment {order['id']} {about}"), {}))
    ledger.add(
        "order_comment", order_id=order["id"], status=order["status"], comment=text, is_notified=seen, is_visible=seen,
        created_at=stamp(moment),
    )  # fmt: skip


def _later(moment: datetime, rng: Random, hours: int) -> datetime:
    """Some time after, but before today."""
    latest = START - timedelta(minutes=30)
    return min(moment + timedelta(minutes=rng.randrange(40, hours * 60)), max(moment, latest))


def printed_address(kind: str, address: sqlite3.Row) -> dict[str, str]:
    """An address as it stands in an order; kind: shipping or billing."""
    parts = {name: address[name] for name in ("street", "city", "region", "postcode", "country", "telephone")}
    parts["name"] = f"{address['firstname']} {address['lastname']}"
    return {f"{kind}_{name}": value for name, value in parts.items()}
