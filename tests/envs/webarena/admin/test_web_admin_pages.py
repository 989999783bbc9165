"""The administration's pages: all answer, none without signing in, strange ids and texts break nothing."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

import pytest

from agentrl.envs.webarena.sites.admin.base import SECTIONS
from agentrl.envs.webarena.sites.admin.site import site

EXAMPLES = {"id": "1", "address_id": "1", "tab": "orders", "name": "general", "rest": "set/4/type/simple"}
HOSTILE = "<script>alert(1)</script> '\"; DROP TABLE product;-- {{ 7*7 }} {% raw %} %s \x00 \u202e ünïcode"


def example(pattern: re.Pattern[str], examples: dict[str, str] = EXAMPLES) -> str:
    """An address that a route answers."""
    text = pattern.pattern.removesuffix("/?")
    text = re.sub(r"\(\?P<(\w+)>[^)]*\)", lambda found: examples.get(found[1], "1"), text)
    return re.sub(r"\\(.)", r"\1", text)


GETS = sorted({example(route.pattern) for route in site.routes if route.method == "GET"})
POSTS = sorted({example(route.pattern) for route in site.routes if route.method == "POST"})
WITHOUT_ACCOUNT = ("/admin", "/admin/admin", "/admin/admin/auth/login", "/admin/admin/auth/logout")


def test_every_page_answers_and_names_its_kind(admin: Any) -> None:
    for path in GETS:
        if "logout" in path:
            continue
        admin.get(path)
        assert admin.status == 200, path
        assert admin.kind and "Something went wrong" not in admin.text(), path


def test_no_page_is_shown_or_changed_without_signing_in(admin: Any, stranger: Any) -> None:
    before = admin.world.writes
    for path in [*GETS, *POSTS]:
        if path in WITHOUT_ACCOUNT:
            continue
        method = stranger.post if path in POSTS else stranger.get
        assert method(path).kind == "login", path
    assert admin.world.writes == before


def test_signing_in_and_out(stranger: Any) -> None:
    page = stranger.get("/admin").page
    assert page.cssselect('[placeholder="user name"]') and page.cssselect('[placeholder="password"]')
    stranger.submit("/admin/", **{"login[username]": "admin", "login[password]": "wrong"})
    assert stranger.kind == "login" and "incorrect" in stranger.text()
    stranger.submit("/admin/", **{"login[username]": "admin", "login[password]": "admin1234"})
    assert stranger.kind == "dashboard"
    assert stranger.get("/admin/admin/auth/logout/").kind == "login"
    assert stranger.get("/admin/sales/order/").kind == "login"


def test_every_menu_entry_leads_to_a_page_of_its_section(admin: Any) -> None:
    for section in SECTIONS:
        for entry in section["entries"]:
            if entry["path"]:
                admin.get(entry["path"])
                assert admin.status == 200, entry
                assert admin.text(".entry-open") == entry["label"], entry
                assert admin.text(".section-open") == section["label"], entry


@pytest.mark.parametrize("number", ["0", "999999999", "99999999999999999999", "-1", "1e9", "abc", "%27", "1.5", "٣"])
def test_strange_ids_are_not_found(admin: Any, number: str) -> None:
    strange = dict.fromkeys(("id", "address_id"), number)
    for route in site.routes:
        if "(?P<id>" in route.pattern.pattern or "(?P<address_id>" in route.pattern.pattern:
            method = admin.get if route.method == "GET" else admin.post
            path = example(route.pattern, {**EXAMPLES, **strange})
            if "system_config" not in path:
                assert method(path).status == 404, path


def test_hostile_text_in_every_field_of_every_form_is_never_an_error(admin: Any) -> None:
    seen: set[str] = set()
    for path in [*GETS, "/admin/sales/order_invoice/new/order_id/899", "/admin/admin/order_shipment/new/order_id/899"]:
        if "logout" in path:
            continue
        for form in admin.get(path).page.cssselect("form"):
            action, method = form.get("action"), form.get("method")
            names = [field.get("name") for field in form.cssselect("input, select, textarea") if field.get("name")]
            if action in seen:
                continue
            seen.add(action)
            for text in (HOSTILE, HOSTILE * 100, ""):
                if method == "post":
                    admin.post(action, dict.fromkeys(names, text))
                else:
                    admin.get(f"{action}?{urlencode(dict.fromkeys(names, text))}")
                assert admin.status in (200, 404), (path, action)
                assert "<script>" not in admin.response.text, (path, action)
            admin.world.clear()
    assert len(seen) > 50


def test_hostile_text_is_stored_and_shown_as_it_was_written(admin: Any) -> None:
    text = HOSTILE.replace("\x00", "").strip()
    admin.get("/admin/catalog/product/edit/id/5/")
    admin.submit(
        "/admin/catalog/product/save/id/5/",
        **{"product[name]": text, "product[description]": text, "product[brand]": text},
    )
    product = admin.db.get("product", 5)
    assert (product["name"], product["description"], product["brand"]) == (text, text, text)
    assert admin.fields("/admin/catalog/product/save/id/5/")["product[name]"] == text
    admin.get("/admin/cms/page/edit/page_id/2/")
    admin.submit("/admin/cms/page/save/page_id/2/", title=text, content=text)
    assert admin.db.get("cms_page", 2)["content"] == text
    assert admin.fields("/admin/cms/page/save/page_id/2/")["title"] == text
    admin.get("/admin/sales/order/view/order_id/9/")
    admin.post(
        "/admin/sales/order/addComment/order_id/9/", {"history[status]": "Complete", "history[comment]": text * 9000}
    )
    assert admin.db.value("SELECT comment FROM order_comment WHERE order_id = 9 ORDER BY id DESC") == text * 9000
    assert text in admin.page.cssselect(".history-text")[0].text_content()


@pytest.mark.parametrize(
    ("path", "selector"),
    [
        ("/admin/catalog/product/edit/id/126/", 'input[name="product[sale]"]'),
        ("/admin/catalog/product/edit/id/478/", '[name="product[status]"]'),
        ("/admin/catalog/product/edit/id/1481/", '[name="product[price]"]'),
        ("/admin/catalog/product/edit/id/1861/", '[name="product[quantity_and_stock_status][is_in_stock]"]'),
        ("/admin/catalog/product/edit/id/872/", '[name="product[quantity_and_stock_status][qty]"]'),
        ("/admin/catalog/product/edit/id/110/", '[data-index="configurable"]'),
        ("/admin/sales/order/view/order_id/302/", "#order_status"),
        ("/admin/sales/order/?filters[status]=Canceled", "div.admin__data-grid-filters-current"),
        ("/admin/cms/page/edit/page_id/2/", 'input[name="title"]'),
        ("/admin/reports/report_sales/sales", '[id="sales_report_from"]'),
        ("/admin/reports/report_sales/shipping", '[id="sales_report_to"]'),
        ("/admin/admin/system_design_theme/edit/id/1", "h1"),
        ("/admin/customer/index/", "table.data-grid"),
    ],
)
def test_what_the_official_evaluators_look_for_is_there(admin: Any, path: str, selector: str) -> None:
    assert len(admin.get(path).page.cssselect(selector)) == 1


def test_settings_and_account_of_the_administrator(admin: Any) -> None:
    admin.get("/admin/admin/system_account/")
    action = "/admin/admin/system_account/save/"
    admin.submit(action, firstname="Ada", current_password="wrong")
    assert "invalid" in admin.text(".message-error")
    admin.submit(action, firstname="Ada", current_password="admin1234")
    assert admin.db.value("SELECT firstname FROM admin_user WHERE username = 'admin'") == "Ada"
    assert "Ada" in admin.response.text
