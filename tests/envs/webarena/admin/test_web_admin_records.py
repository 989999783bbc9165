"""Products, reviews, pages, customers, rules: what is saved is in the tables that the storefront reads."""

from __future__ import annotations

from typing import Any

import pytest


def test_price_stock_status_and_sale_of_a_product(admin: Any) -> None:
    path, save = "/admin/catalog/product/edit/id/7/", "/admin/catalog/product/save/id/7/"
    admin.get(path)
    before = dict(admin.db.get("product", 7))
    admin.submit(
        save, **{
            "product[price]": "27", "product[status]": "2", "product[sale]": "0",
            "product[quantity_and_stock_status][qty]": "5", "product[quantity_and_stock_status][is_in_stock]": "0",
        },
    )  # fmt: skip
    product = admin.db.get("product", 7)
    values = [product[name] for name in ("price", "status", "sale", "qty", "is_in_stock")]
    assert values == [27.0, 2, 1, 5, 0]
    unchanged = ("name", "sku", "url_key", "description", "short_description", "category_id", "weight", "is_new")
    assert all(product[name] == before[name] for name in unchanged)
    fields = admin.fields(save)
    assert fields["product[price]"] == "27.00" and fields["product[status]"] == "2"
    assert admin.page.cssselect('input[name="product[sale]"]')[0].get("value") == "1"


def test_a_product_is_refused_with_the_reason(admin: Any) -> None:
    save = "/admin/catalog/product/save/id/7/"
    taken = admin.db.get("product", 8)["sku"]
    for name, value, reason in (
        ("product[price]", "-3", "Price"), ("product[price]", "1e400", "Price"), ("product[name]", " ", "Product Name"),
        ("product[sku]", taken, "already used"), ("product[sku]", "x" * 65, "at most 64"),
        ("product[quantity_and_stock_status][qty]", "1.5", "whole"),
        ("product[category_ids]", "9999", "no such category"),
    ):  # fmt: skip
        admin.get("/admin/catalog/product/edit/id/7/")
        before = admin.db.writes
        admin.submit(save, **{name: value})
        assert reason in admin.text(".message-error"), (name, value)
        assert (
            admin.db.row("SELECT updated_at FROM product WHERE id = 7")[0] < "2025-06-16" and before <= admin.db.writes
        )


def test_a_new_product_is_added(admin: Any) -> None:
    admin.get("/admin/catalog/product/new/")
    values = {"product[name]": "Lark Mug", "product[price]": "12.50", "product[category_ids]": "Electronics"}
    admin.submit("/admin/catalog/product/save/", **values, **{"product[quantity_and_stock_status][qty]": "40"})
    product = admin.db.row("SELECT * FROM product WHERE name = 'Lark Mug'")
    assert (product["price"], product["qty"], product["status"], product["url_key"]) == (12.5, 40, 1, "lark-mug")


def test_a_configuration_is_added_and_removed(admin: Any) -> None:
    path = "/admin/catalog/product/option/id/7/"
    admin.post(path, {"option[name]": "Size", "option[value]": "Giant"})
    admin.post(path, {"option[name]": "Color", "option[value]": "Lark Blue"})
    sku = admin.db.get("product", 7)["sku"]
    assert f"{sku}-Giant-Lark Blue" in admin.text('[data-index="configurable"]')
    admin.post(path, {"option[name]": "Color", "option[value]": "Lark Blue"})
    assert "already" in admin.text(".message-error")
    option = admin.db.value("SELECT id FROM product_option WHERE product_id = 7 AND value = 'Lark Blue'")
    admin.post(path, {"selected": option, "remove": "1"})
    assert "Lark Blue" not in admin.text('[data-index="configurable"]')


def test_marked_products_are_disabled_updated_and_deleted(admin: Any) -> None:
    marked = [("selected", 3), ("selected", 4)]
    admin.post("/admin/catalog/product/massAction/", [*marked, ("action", "disable")])
    assert [admin.db.get("product", number)["status"] for number in (3, 4, 5)] == [2, 2, 1]
    admin.post("/admin/catalog/product/massAction/", [*marked, ("action", "update")])
    assert admin.kind == "products_update"
    admin.post("/admin/catalog/product_action_attribute/save/", [*marked, ("attributes[price]", "9.99")])
    assert [admin.db.get("product", number)["price"] for number in (3, 4)] == [9.99, 9.99]
    admin.post("/admin/catalog/product/massAction/", [*marked, ("action", "delete")])
    assert not admin.db.rows("SELECT id FROM review WHERE product_id = 3")
    assert admin.db.get("product", 3) is None and admin.get("/admin/catalog/product/edit/id/3/").status == 404
    admin.post("/admin/catalog/product/massAction/", [("action", "delete")])
    assert "selected" in admin.text(".message-error")


def test_reviews_are_approved_edited_and_deleted(admin: Any) -> None:
    first, second, third = [row[0] for row in admin.db.rows("SELECT id FROM review WHERE status = 'Pending' LIMIT 3")]
    admin.get(f"/admin/review/product/edit/id/{first}/")
    admin.submit(f"/admin/review/product/save/id/{first}/", status_id="1", nickname="Someone")
    assert (
        admin.db.get("review", first)["status"] == "Approved" and admin.db.get("review", first)["nickname"] == "Someone"
    )
    admin.post("/admin/review/product/massAction/", {"selected": second, "action": "status-Not Approved"})
    assert admin.db.get("review", second)["status"] == "Not Approved"
    admin.post(f"/admin/review/product/delete/id/{third}/")
    assert admin.db.get("review", third) is None


def test_a_page_is_edited_created_and_deleted(admin: Any) -> None:
    admin.get("/admin/cms/page/edit/page_id/1/")
    admin.submit("/admin/cms/page/save/page_id/1/", title="This is the home page!!")
    assert admin.page.cssselect('input[name="title"]')[0].get("value") == "This is the home page!!"
    admin.get("/admin/cms/page/new/")
    admin.submit("/admin/cms/page/save/", title="Summer Hours", content="Open until eight.")
    page = admin.db.row("SELECT * FROM cms_page WHERE identifier = 'summer-hours'")
    assert page["content"] == "Open until eight." and page["is_active"] == 1
    admin.get("/admin/cms/page/new/")
    admin.submit("/admin/cms/page/save/", title="Again", identifier="summer-hours")
    assert "already exists" in admin.text(".message-error")
    admin.post(f"/admin/cms/page/delete/page_id/{page['id']}/")
    assert admin.db.get("cms_page", page["id"]) is None


def test_a_customer_is_edited_and_unsubscribed(admin: Any) -> None:
    customer = admin.db.row("SELECT * FROM customer WHERE subscribed = 1")
    path = f"/admin/customer/index/edit/id/{customer['id']}/tab/account/"
    save = f"/admin/customer/index/save/id/{customer['id']}/"
    admin.get(path)
    admin.submit(save, **{"customer[group_id]": "Wholesale", "customer[lastname]": "Larkin"})
    after = admin.db.get("customer", customer["id"])
    assert (after["group_name"], after["lastname"], after["email"]) == ("Wholesale", "Larkin", customer["email"])
    admin.get(path)
    admin.submit(
        save, **{"customer[email]": admin.db.value("SELECT email FROM customer WHERE id != ?", customer["id"])}
    )
    assert "already exists" in admin.text(".message-error")
    admin.post(f"/admin/customer/index/newsletter/id/{customer['id']}/")
    assert admin.db.get("customer", customer["id"])["subscribed"] == 0
    entries = admin.db.rows("SELECT status FROM newsletter_subscriber WHERE customer_id = ?", customer["id"])
    assert all(entry["status"] == "Unsubscribed" for entry in entries)


def test_every_tab_of_a_customer_shows_what_is_theirs(admin: Any) -> None:
    number = admin.db.value("SELECT id FROM customer WHERE email = 'emma.lopez@gmail.com'")
    path = f"/admin/customer/index/edit/id/{number}/tab"
    orders = admin.db.value("SELECT count(*) FROM sales_order WHERE customer_id = ?", number)
    assert admin.get(f"{path}/orders/").found() == orders
    for tab in ("view", "account", "addresses", "newsletter", "reviews", "cart", "wishlist"):
        assert admin.get(f"{path}/{tab}/").status == 200
    assert len(admin.page.cssselect("table.grid tbody tr")) == admin.db.value(
        "SELECT count(*) FROM wishlist_item WHERE customer_id = ?", number
    )


def test_the_address_book_of_a_customer(admin: Any) -> None:
    number = admin.db.value("SELECT customer_id FROM address GROUP BY customer_id HAVING count(*) > 1")
    first = admin.db.row("SELECT * FROM address WHERE customer_id = ? AND is_billing = 1", number)
    admin.get(f"/admin/customer/address/new/parent_id/{number}/")
    values = {"street[0]": "1 Lark Lane", "city": "Petaluma", "region": "California", "postcode": "94952"}
    path = f"/admin/customer/address/save/parent_id/{number}/"
    admin.submit(path, **values, telephone="7075550100", default_billing="1")
    new = admin.db.row("SELECT * FROM address WHERE street = '1 Lark Lane'")
    assert new["is_billing"] == 1 and admin.db.get("address", first["id"])["is_billing"] == 0
    admin.get(f"/admin/customer/address/edit/id/{first['id']}/")
    admin.submit(f"/admin/customer/address/save/id/{first['id']}/", city="Sebastopol")
    assert "Sebastopol" in admin.text("table.grid") and "1 Lark Lane" in admin.text("table.grid")
    assert admin.db.get("address", first["id"])["street"] == first["street"]
    admin.post(f"/admin/customer/address/delete/id/{new['id']}/")
    assert admin.db.get("address", new["id"]) is None
    admin.post(path, {**values, "city": ""})
    assert "required" in admin.text(".message-error")


def test_a_cart_price_rule_is_created_and_refused(admin: Any) -> None:
    form = {"name": "Larks", "coupon_code": "LARK20", "simple_action": "by_percent", "discount_amount": "20"}
    admin.get("/admin/sales_rule/promo_quote/new/")
    admin.submit("/admin/sales_rule/promo_quote/save/", **form, from_date="7/1/2025", to_date="7/31/2025")
    rule = admin.db.row("SELECT * FROM cart_rule WHERE coupon_code = 'LARK20'")
    assert (rule["discount_amount"], rule["from_date"], rule["is_active"]) == (20.0, "2025-07-01", 1)
    assert admin.fields(f"/admin/sales_rule/promo_quote/save/id/{rule['id']}/")["from_date"] == "7/1/25"
    for changes, reason in (
        ({}, "already exists"), ({"coupon_code": "A", "discount_amount": "101"}, "at most 100"),
        ({"coupon_code": "A", "from_date": "soon"}, "must be a date"),
        ({"coupon_code": "A", "from_date": "7/2/2025", "to_date": "7/1/2025"}, "must follow"),
    ):  # fmt: skip
        admin.post("/admin/sales_rule/promo_quote/save/", {**form, **changes})
        assert reason in admin.text(".message-error")


@pytest.mark.parametrize("path", ["/admin/search/term/", "/admin/newsletter/subscriber/"])
def test_marked_records_are_deleted(admin: Any, path: str) -> None:
    before = admin.get(path).found()
    admin.post(f"{path}massAction/", [("selected", 1), ("selected", 2), ("selected", 10**8), ("action", "delete")])
    assert admin.found() == before - 2
