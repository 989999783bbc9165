"""Grids: searching, filtering, sorting and paging give what SQL gives, and the address holds it all."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from agentrl.envs.webarena.sites.admin.base import SECTIONS
from agentrl.envs.webarena.sites.admin.grid import PAGE_SIZES


def test_a_filter_by_choice_is_shown_and_can_be_removed(admin: Any) -> None:
    admin.get("/admin/sales/order/?filters[status]=Canceled")
    assert admin.found() == admin.db.value("SELECT count(*) FROM sales_order WHERE status = 'Canceled'")
    assert all("Canceled" in row for row in admin.rows())
    assert "Status: Canceled" in admin.text(".admin__data-grid-filters-current")
    remove = admin.page.cssselect('[title="Remove Status"]')[0].get("href")
    assert admin.get(remove).found() == admin.db.value("SELECT count(*) FROM sales_order")
    assert not admin.page.cssselect(".admin__data-grid-filters-current")


def test_ranges_of_money_and_dates_include_both_ends(admin: Any) -> None:
    admin.get("/admin/sales/order/?filters[grand_total][from]=$100&filters[grand_total][to]=1,000.00")
    sql = "SELECT count(*) FROM sales_order WHERE grand_total BETWEEN 100 AND 1000"
    assert admin.found() == admin.db.value(sql)
    admin.get("/admin/sales/order/?filters[created_at][from]=3/1/2025&filters[created_at][to]=03/31/25")
    assert admin.found() == admin.db.value("SELECT count(*) FROM sales_order WHERE created_at LIKE '2025-03-%'")


def test_keywords_must_all_occur_and_wildcards_are_plain_signs(admin: Any) -> None:
    name = admin.db.value("SELECT billing_name FROM sales_order ORDER BY id DESC")
    first, last = name.split(" ", 1)
    admin.get(f"/admin/sales/order/?search={last}+{first.lower()}")
    assert admin.found() == admin.db.value("SELECT count(*) FROM sales_order WHERE billing_name = ?", name)
    assert admin.get("/admin/sales/order/?search=%25").found() == 0
    assert admin.get("/admin/sales/order/?search=_").found() == admin.db.value(
        "SELECT count(*) FROM sales_order WHERE customer_email LIKE '%\\_%' ESCAPE '\\'"
    )


def test_sorting_goes_both_ways_and_pages_hold_every_row_once(admin: Any) -> None:
    admin.get("/admin/customer/index/?sort=email&dir=asc&limit=50")
    emails: list[str] = []
    while True:
        emails += [row[3] for row in admin.rows()]
        onward = [link for link in admin.page.cssselect(".turn a") if link.text == "Next Page"]
        if not onward:
            break
        admin.get(onward[0].get("href"))
    assert emails == [row["email"] for row in admin.db.rows("SELECT email FROM customer ORDER BY email")]
    admin.get("/admin/customer/index/?sort=email&dir=desc")
    assert admin.rows()[0][3] == emails[-1] and len(admin.rows()) == PAGE_SIZES[0]


def test_the_filter_form_keeps_search_and_sorting(admin: Any) -> None:
    admin.get("/admin/sales/order/?panel=filters&search=emma&sort=grand_total&dir=desc")
    fields = admin.fields("/admin/sales/order/")
    assert fields["search"] == "emma" and fields["sort"] == "grand_total"
    panel = admin.page.cssselect("form.filters")[0]
    kept = {field.get("name"): field.get("value") for field in panel.cssselect("input[type=hidden]")}
    assert kept == {"search": "emma", "sort": "grand_total", "dir": "desc"}


def test_nonsense_in_the_address_is_ignored(admin: Any) -> None:
    everything = admin.get("/admin/sales/order/").found()
    for query in ("sort=id;DROP", "page=-1", "page=99999999999999999999", "limit=7", "dir=up", "filters[nothing]=1"):
        assert admin.get(f"/admin/sales/order/?{query}").found() == everything, query
    for query in (
        "filters[grand_total][from]=abc",
        "filters[created_at][to]=13/45/2025",
        "filters[grand_total][to]=nan",
    ):
        assert admin.get(f"/admin/sales/order/?{query}").status == 200, query


def test_every_grid_takes_every_parameter(admin: Any) -> None:
    grids = 0
    for path in (entry["path"] for section in SECTIONS for entry in section["entries"] if entry["path"]):
        names = [field.get("name") for field in admin.get(f"{path}?panel=filters").page.cssselect(".filters [name]")]
        if not admin.page.cssselect("table.data-grid"):
            continue
        grids += 1
        for text in ("1", "'", "a b", "6/15/2025"):
            asked = {**dict.fromkeys(names, text), "search": text, "page": text, "limit": text}
            assert admin.get(f"{path}?{urlencode(asked)}").status == 200, path
        for header in [link.get("href") for link in admin.get(path).page.cssselect("thead a")]:
            assert admin.get(header).status == 200, header
            assert admin.page.cssselect("th.sorted"), header
    assert grids > 15


def test_reviews_are_filtered_by_text_and_product(admin: Any) -> None:
    admin.get("/admin/review/product/?filters[detail]=love&filters[status]=Approved")
    sql = "SELECT count(*) FROM review WHERE detail LIKE '%love%' AND status = 'Approved'"
    assert admin.found() == admin.db.value(sql)
    pending = admin.db.value("SELECT count(*) FROM review WHERE status = 'Pending'")
    assert admin.get("/admin/review/product/pending/").found() == pending
