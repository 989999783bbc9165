"""What can happen to an order: cancel, hold, invoice, ship, refund. All of it is written to the shared tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from agentrl.envs.webarena.sites.admin.base import Refused
from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.formats import money

Quantities = Mapping[int, int]  # id of the order's item -> how many
FINISHED = ("Complete", "Closed", "Canceled")


def items(db: Database, order_id: int) -> list[sqlite3.Row]:
    """What was ordered."""
    return db.rows("SELECT * FROM order_item WHERE order_id = ? ORDER BY id", order_id)


def possible(db: Database, order: sqlite3.Row) -> set[str]:
    """What can be done with the order now: cancel, hold, unhold, invoice, ship, creditmemo."""
    if order["status"] == "On Hold":
        return {"unhold"}
    lines = items(db, order["id"])
    found: set[str] = set()
    if order["status"] not in FINISHED:
        found.add("hold")
        if any(line["qty_invoiced"] < line["qty"] for line in lines):
            found |= {"cancel", "invoice"}
        if any(line["qty_shipped"] < line["qty"] for line in lines):
            found.add("ship")
    if order["status"] != "Canceled" and any(line["qty_invoiced"] > line["qty_refunded"] for line in lines):
        found.add("creditmemo")
    return found


def require(db: Database, order: sqlite3.Row, action: str) -> None:
    """`Refused` where this cannot be done with the order."""
    if action not in possible(db, order):
        name = {"creditmemo": "refund", "unhold": "release"}.get(action, action)
        raise Refused(f"We can't {name} this order as it is now (status: {order['status']}).")


def set_status(db: Database, order_id: int, status: str) -> None:
    """Give the order another status."""
    db.update("sales_order", order_id, status=status, updated_at=db.now())


def cancel(db: Database, order: sqlite3.Row) -> None:
    """The order is not carried out; what was reserved for it is on sale again."""
    require(db, order, "cancel")
    for line in items(db, order["id"]):
        _restock(db, line["product_id"], line["qty"] - max(line["qty_shipped"], line["qty_invoiced"]))
    set_status(db, order["id"], "Canceled")


def hold(db: Database, order: sqlite3.Row) -> None:
    """Nothing is done with the order until it is released."""
    require(db, order, "hold")
    set_status(db, order["id"], "On Hold")


def unhold(db: Database, order: sqlite3.Row) -> None:
    """Release the order: it is as far as its items are."""
    require(db, order, "unhold")
    set_status(db, order["id"], _progress(db, order["id"]))


def invoice(db: Database, order: sqlite3.Row, wanted: Quantities) -> int:
    """Invoice these items; the id of the invoice. Shipping goes with the first one, the last one takes what is left."""
    require(db, order, "invoice")
    chosen = _chosen(db, order["id"], wanted, "qty", "qty_invoiced")
    for line, count in chosen:
        db.update("order_item", line["id"], qty_invoiced=line["qty_invoiced"] + count)
    before = _sum(db, "invoice", order["id"])
    share = sum(line["price"] * count for line, count in chosen)
    if all(line["qty_invoiced"] >= line["qty"] for line in items(db, order["id"])):
        total = order["grand_total"] - before
    else:
        rate = share / order["subtotal"] if order["subtotal"] else 0.0
        total = share + (order["tax_amount"] - abs(order["discount_amount"])) * rate
        total += 0.0 if before else order["shipping_amount"]
    row_id = _document(db, "invoice", order["id"], state="Paid", grand_total=round(max(total, 0.0), 2))
    set_status(db, order["id"], _progress(db, order["id"]))
    return row_id


def ship(db: Database, order: sqlite3.Row, wanted: Quantities, carrier: str, title: str, number: str) -> int:
    """Send these items; the id of the shipment."""
    require(db, order, "ship")
    for line, count in _chosen(db, order["id"], wanted, "qty", "qty_shipped"):
        db.update("order_item", line["id"], qty_shipped=line["qty_shipped"] + count)
    row_id = _document(
        db, "shipment", order["id"], carrier=carrier if number else "", tracking_title=title if number else "",
        tracking_number=number,
    )  # fmt: skip
    set_status(db, order["id"], _progress(db, order["id"]))
    return row_id


def refund(db: Database, order: sqlite3.Row, wanted: Quantities, restocked: set[int]) -> int:
    """Pay these items back; the id of the credit memo. Those in `restocked` are on sale again."""
    require(db, order, "creditmemo")
    chosen = _chosen(db, order["id"], wanted, "qty_invoiced", "qty_refunded")
    for line, count in chosen:
        db.update("order_item", line["id"], qty_refunded=line["qty_refunded"] + count)
        if line["id"] in restocked:
            _restock(db, line["product_id"], count)
    paid, before = _sum(db, "invoice", order["id"]), _sum(db, "creditmemo", order["id"])
    closed = all(line["qty_refunded"] >= line["qty"] for line in items(db, order["id"]))
    total = paid - before if closed else min(sum(line["price"] * count for line, count in chosen), paid - before)
    row_id = _document(db, "creditmemo", order["id"], grand_total=round(max(total, 0.0), 2))
    set_status(db, order["id"], "Closed" if closed else order["status"])
    return row_id


def comment(db: Database, order: sqlite3.Row, status: str, text: str, *, notified: bool, visible: bool) -> None:
    """Write a comment into the order's history."""
    db.insert(
        "order_comment", order_id=order["id"], status=status, comment=text, is_notified=int(notified),
        is_visible=int(visible), created_at=db.now(),
    )  # fmt: skip
    if status != order["status"]:
        set_status(db, order["id"], status)


def history(db: Database, order: sqlite3.Row) -> list[tuple[str, str, str]]:
    """Everything that happened, newest first: when, what kind of note, the text."""
    found: list[tuple[str, str, str]] = []
    for row in db.rows("SELECT * FROM order_comment WHERE order_id = ?", order["id"]):
        told = "Customer Notified" if row["is_notified"] else "Customer Not Notified"
        found.append((row["created_at"], f"{row['status']} | {told}", row["comment"]))
    for table, name in (("invoice", "Invoice"), ("creditmemo", "Credit memo")):
        for row in db.rows(f"SELECT * FROM {table} WHERE order_id = ?", order["id"]):
            found.append(
                (row["created_at"], name, f"{name} #{row['increment_id']} created: {money(row['grand_total'])}")
            )
    for row in db.rows("SELECT * FROM shipment WHERE order_id = ?", order["id"]):
        found.append((row["created_at"], "Shipment", f"Shipment #{row['increment_id']} created"))
        if row["tracking_number"]:
            track = f"Tracking number {row['tracking_number']} for {row['tracking_title']} assigned"
            found.append((row["created_at"], "Tracking", track))
    return sorted(found, key=lambda entry: entry[0], reverse=True)


def _restock(db: Database, product_id: int, count: int) -> None:
    product = db.get("product", product_id)
    if product is not None and count > 0:
        db.update("product", product_id, qty=product["qty"] + count, is_in_stock=1)


def _progress(db: Database, order_id: int) -> str:
    """The status that follows from what was invoiced and shipped."""
    lines = items(db, order_id)
    if all(line["qty_invoiced"] >= line["qty"] and line["qty_shipped"] >= line["qty"] for line in lines):
        return "Complete"
    return "Processing" if any(line["qty_invoiced"] or line["qty_shipped"] for line in lines) else "Pending"


def _chosen(db: Database, order_id: int, wanted: Quantities, of: str, done: str) -> list[tuple[sqlite3.Row, int]]:
    """Items with how many of each, no more than are open; `Refused` if there are none."""
    found = [
        (line, min(wanted.get(line["id"], 0), line[of] - line[done]))
        for line in items(db, order_id)
        if min(wanted.get(line["id"], 0), line[of] - line[done]) > 0
    ]
    if not found:
        raise Refused("Choose at least one item that is still open.")
    return found


def _sum(db: Database, table: str, order_id: int) -> float:
    return db.value(f"SELECT coalesce(sum(grand_total), 0) FROM {table} WHERE order_id = ?", order_id)


def _document(db: Database, table: str, order_id: int, **values: object) -> int:
    """A new invoice, shipment or credit memo with the next number."""
    number = int(db.value(f"SELECT coalesce(max(CAST(increment_id AS INTEGER)), 0) FROM {table}")) + 1
    return db.insert(table, increment_id=f"{number:09d}", order_id=order_id, created_at=db.now(), **values)
