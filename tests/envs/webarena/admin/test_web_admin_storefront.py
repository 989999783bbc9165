"""What an administrator changes is what customers see."""

from __future__ import annotations

from typing import Any


def test_an_address_outside_the_administration_belongs_to_the_storefront(admin: Any) -> None:
    product = admin.db.get("product", 12)
    admin.get(f"/admin/../{product['url_key']}.html")
    assert admin.status == 200 and product["name"] in admin.text()
    assert admin.get("/static/admin.css").status == 200 and admin.get("/static/shop.css").status == 200


def test_a_new_product_is_on_sale_until_it_is_disabled(admin: Any) -> None:
    admin.get("/admin/catalog/product/new/")
    values = {"product[name]": "Lark Mug", "product[price]": "12.50", "product[category_ids]": "Electronics"}
    admin.submit("/admin/catalog/product/save/", **values, **{"product[quantity_and_stock_status][qty]": "40"})
    number = admin.db.value("SELECT id FROM product WHERE name = 'Lark Mug'")
    assert admin.get("/lark-mug.html").status == 200 and "$12.50" in admin.text()
    admin.post("/admin/catalog/product/massAction/", {"selected": number, "action": "disable"})
    assert admin.get("/lark-mug.html").status == 404


def test_a_text_of_a_product_is_shown_to_customers(admin: Any) -> None:
    admin.get("/admin/catalog/product/edit/id/7/")
    admin.submit("/admin/catalog/product/save/id/7/", **{"product[description]": "As quiet as a lark is loud."})
    admin.get(f"/{admin.db.get('product', 7)['url_key']}.html")
    assert "As quiet as a lark is loud." in admin.text()


def test_a_page_is_readable_as_long_as_it_is_enabled(admin: Any) -> None:
    admin.get("/admin/cms/page/new/")
    admin.submit("/admin/cms/page/save/", title="Summer Hours", content="Open until eight.")
    page = admin.db.value("SELECT id FROM cms_page WHERE identifier = 'summer-hours'")
    assert "Open until eight." in admin.get("/summer-hours").text()
    admin.post("/admin/cms/page/massAction/", {"selected": page, "action": "disable"})
    assert admin.get("/summer-hours").status == 404


def test_an_approved_review_appears_and_a_deleted_one_does_not(admin: Any) -> None:
    review = admin.db.row("SELECT * FROM review WHERE status = 'Pending' ORDER BY id DESC")
    address = f"/{admin.db.get('product', review['product_id'])['url_key']}.html"
    assert review["title"] not in admin.get(address).text()
    admin.post("/admin/review/product/massAction/", {"selected": review["id"], "action": "status-Approved"})
    assert review["title"] in admin.get(address).text()
