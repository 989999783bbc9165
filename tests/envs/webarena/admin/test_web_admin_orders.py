"""Orders: what is done with them shows in their status, their documents and the stock."""

from __future__ import annotations

from typing import Any

import pytest


def order_with(admin: Any, status: str) -> int:
    return admin.db.value("SELECT id FROM sales_order WHERE status = ? ORDER BY id DESC", status)


def status(admin: Any, order: int) -> str:
    admin.get(f"/admin/sales/order/view/order_id/{order}/")
    return admin.text("#order_status")


def test_cancelling_returns_what_was_reserved_to_stock(admin: Any) -> None:
    order = order_with(admin, "Pending")
    item = admin.db.row("SELECT * FROM order_item WHERE order_id = ?", order)
    before = admin.db.get("product", item["product_id"])["qty"]
    assert status(admin, order) == "Pending"
    admin.submit(f"/admin/sales/order/cancel/order_id/{order}/")
    assert "canceled" in admin.text(".message") and admin.text("#order_status") == "Canceled"
    assert admin.db.get("product", item["product_id"])["qty"] == before + item["qty"]
    admin.post(f"/admin/sales/order/cancel/order_id/{order}/")
    assert "can't cancel" in admin.text(".message-error")
    assert admin.db.get("product", item["product_id"])["qty"] == before + item["qty"]


def test_an_order_on_hold_can_only_be_released(admin: Any) -> None:
    order = order_with(admin, "Pending")
    admin.post(f"/admin/sales/order/hold/order_id/{order}/")
    assert status(admin, order) == "On Hold"
    admin.post(f"/admin/sales/order/cancel/order_id/{order}/")
    assert status(admin, order) == "On Hold"
    admin.get(f"/admin/sales/order_invoice/new/order_id/{order}/")
    assert "can't invoice" in admin.text(".message-error")
    admin.post(f"/admin/sales/order/unhold/order_id/{order}/")
    assert status(admin, order) == "Pending"


def test_invoice_and_shipment_complete_an_order(admin: Any) -> None:
    order = order_with(admin, "Pending")
    total = admin.db.get("sales_order", order)["grand_total"]
    admin.get(f"/admin/sales/order_invoice/new/order_id/{order}/")
    admin.submit(f"/admin/sales/order_invoice/save/order_id/{order}/")
    assert status(admin, order) == "Processing"
    assert admin.db.value("SELECT grand_total FROM invoice WHERE order_id = ?", order) == pytest.approx(total)
    admin.get(f"/admin/admin/order_shipment/new/order_id/{order}/")
    track = {"tracking[1][carrier_code]": "dhl", "tracking[1][title]": "DHL", "tracking[1][number]": "24353446464"}
    admin.submit(f"/admin/admin/order_shipment/save/order_id/{order}/", **track)
    assert status(admin, order) == "Complete"
    admin.get(f"/admin/sales/order/commentsHistory/order_id/{order}/active_tab/order_shipments/")
    assert "Tracking number 24353446464 for DHL assigned" in admin.response.text
    newest = admin.db.value("SELECT max(increment_id) FROM shipment")
    assert admin.get("/admin/sales/shipment/").rows()[0][0] == newest


def test_parts_of_an_order_are_invoiced_one_after_the_other(admin: Any) -> None:
    order = admin.db.value(
        "SELECT o.id FROM sales_order o WHERE o.status = 'Pending' AND (SELECT sum(qty) FROM order_item i"
        " WHERE i.order_id = o.id) > 1 AND (SELECT count(*) FROM order_item i WHERE i.order_id = o.id) > 1"
    )
    total = admin.db.get("sales_order", order)["grand_total"]
    items = admin.db.rows("SELECT * FROM order_item WHERE order_id = ?", order)
    path = f"/admin/sales/order_invoice/save/order_id/{order}/"
    admin.post(path, {f"invoice[items][{items[0]['id']}]": 1})
    assert status(admin, order) == "Processing"
    first = admin.db.value("SELECT grand_total FROM invoice WHERE order_id = ?", order)
    assert 0 < first < total
    admin.post(path, {f"invoice[items][{item['id']}]": 999 for item in items})
    sums = admin.db.value("SELECT sum(grand_total) FROM invoice WHERE order_id = ?", order)
    assert sums == pytest.approx(total)
    admin.post(path, {f"invoice[items][{item['id']}]": 1 for item in items})
    assert "can't invoice" in admin.text(".message-error")


def test_a_refund_closes_the_order_and_restocks_what_is_ticked(admin: Any) -> None:
    order = order_with(admin, "Complete")
    item = admin.db.row("SELECT * FROM order_item WHERE order_id = ?", order)
    before = admin.db.get("product", item["product_id"])["qty"]
    admin.get(f"/admin/sales/order_creditmemo/new/order_id/{order}/")
    ticked = {f"creditmemo[items][{item['id']}][back_to_stock]": "1"}
    admin.submit(f"/admin/sales/order_creditmemo/save/order_id/{order}/", **ticked)
    assert status(admin, order) == "Closed"
    assert admin.db.get("product", item["product_id"])["qty"] == before + item["qty"]
    paid = admin.db.value("SELECT sum(grand_total) FROM invoice WHERE order_id = ?", order)
    assert admin.db.value("SELECT grand_total FROM creditmemo WHERE order_id = ?", order) == pytest.approx(paid)


def test_a_tracking_number_can_be_added_to_a_shipment(admin: Any) -> None:
    shipment = admin.db.row("SELECT * FROM shipment ORDER BY id DESC")
    admin.get(f"/admin/sales/shipment/view/shipment_id/{shipment['id']}/")
    admin.submit(f"/admin/admin/order_shipment/addTrack/shipment_id/{shipment['id']}/", carrier="dhl", number="77 88")
    assert "DHL: 77 88" in admin.text("#shipment_tracking_info")


def test_comments_may_change_the_status_within_its_state_only(admin: Any) -> None:
    order = order_with(admin, "Processing")
    path = f"/admin/sales/order/addComment/order_id/{order}/"
    admin.get(f"/admin/sales/order/view/order_id/{order}/")
    admin.submit(path, **{"history[comment]": "Looked into it", "history[status]": "Fraud"})
    assert admin.text("#order_status") == "Fraud" and "Looked into it" in admin.text(".history-text")
    admin.post(path, {"history[comment]": "x", "history[status]": "Complete"})
    assert "cannot be given" in admin.text(".message-error")
    admin.post(path, {"history[comment]": "  ", "history[status]": "Fraud"})
    assert "missing" in admin.text(".message-error")


def test_an_address_of_an_order_is_changed_without_touching_the_other(admin: Any) -> None:
    admin.get("/admin/sales/order/view/order_id/299/")
    link = admin.page.cssselect(".order-shipping-address a")[0].get("href")
    before = admin.db.get("sales_order", 299)
    admin.get(link)
    values = {"street[0]": "456 Oak Avenue", "city": "New York", "region": "New York", "postcode": "10001"}
    admin.submit(link.replace("address/address_id", "addressSave/address_id"), **values)
    after = admin.db.get("sales_order", 299)
    assert (after["shipping_street"], after["shipping_postcode"]) == ("456 Oak Avenue", "10001")
    assert after["shipping_name"] == before["shipping_name"]
    assert after["billing_street"] == before["billing_street"]
    assert "456 Oak Avenue" in admin.response.text


def test_marked_orders_are_cancelled_and_others_left_alone(admin: Any) -> None:
    pending, complete = order_with(admin, "Pending"), order_with(admin, "Complete")
    marked = [("selected", pending), ("selected", complete), ("selected", "x"), ("action", "cancel")]
    admin.post("/admin/sales/order/massAction/", marked)
    assert "1 order" in admin.text(".message")
    assert (status(admin, pending), status(admin, complete)) == ("Canceled", "Complete")
