"""Reports: their numbers equal sums that are computed here in another way, from the rows of the tables."""

from __future__ import annotations

from collections import Counter
from typing import Any

from agentrl.envs.webarena.sites.formats import money

PERIOD = "from=1/1/2024&to=12/31/2024&period_type=month"


def report(admin: Any, name: str, query: str = PERIOD) -> list[list[str]]:
    admin.get(f"/admin/reports/report_sales/{name}/?{query}")
    return [
        [" ".join(cell.text_content().split()) for cell in row.cssselect("td")]
        for row in admin.page.cssselect("tbody tr")
    ]


def orders(admin: Any, year: str = "2024") -> list[Any]:
    return [row for row in admin.db.rows("SELECT * FROM sales_order") if row["created_at"].startswith(year)]


def test_the_orders_report_counts_every_order_and_sums_what_was_not_canceled(admin: Any) -> None:
    rows, found = report(admin, "sales"), orders(admin)
    assert [row[0] for row in rows] == [f"{month}/2024" for month in range(1, 13)] + ["Total"]
    total = rows[-1]
    assert total[1] == str(len(found))
    assert total[3] == money(sum(row["grand_total"] for row in found if row["status"] != "Canceled"))
    assert total[9] == money(sum(row["grand_total"] for row in found if row["status"] == "Canceled"))
    ids = {row["id"] for row in found}
    items = sum(row["qty"] for row in admin.db.rows("SELECT * FROM order_item") if row["order_id"] in ids)
    assert total[2] == str(items)
    invoiced = sum(row["grand_total"] for row in admin.db.rows("SELECT * FROM invoice") if row["order_id"] in ids)
    assert total[4] == money(invoiced)
    march = [row for row in found if row["created_at"].startswith("2024-03")]
    assert rows[2][1] == str(len(march))


def test_a_report_is_limited_to_statuses_and_includes_both_days(admin: Any) -> None:
    rows = report(admin, "sales", f"{PERIOD}&order_statuses=Complete&order_statuses=Closed")
    assert rows[-1][1] == str(sum(row["status"] in ("Complete", "Closed") for row in orders(admin)))
    day = orders(admin)[0]["created_at"][:10]
    rows = report(admin, "sales", f"from={day}&to={day}&period_type=day")
    assert rows[-1][1] == str(sum(row["created_at"].startswith(day) for row in orders(admin)))


def test_dates_are_shown_as_the_original_does(admin: Any) -> None:
    for path in ("sales", "shipping", "tax", "bestsellers"):
        report(admin, path, "from=02/01/2023&to=2023-02-28")
        fields = {name: admin.page.cssselect(f"#sales_report_{name}")[0].get("value") for name in ("from", "to")}
        assert fields == {"from": "2/1/23", "to": "2/28/23"}
    report(admin, "sales", "from=soon&to=2/30/2023")
    assert "Enter both dates" in admin.text(".message-error")


def test_shipping_refunds_coupons_and_invoices(admin: Any) -> None:
    kept = [row for row in orders(admin) if row["status"] != "Canceled"]
    assert report(admin, "shipping")[-1][3] == money(sum(row["shipping_amount"] for row in kept))
    coupons = [row for row in kept if row["coupon_code"]]
    assert report(admin, "coupons")[-1][2:4] == [str(len(coupons)), money(sum(row["subtotal"] for row in coupons))]
    ids = {row["id"] for row in kept}
    refunds = [row["grand_total"] for row in admin.db.rows("SELECT * FROM creditmemo") if row["order_id"] in ids]
    assert report(admin, "refunded")[-1][1:] == [str(len(refunds)), money(sum(refunds))]
    invoices = [row["grand_total"] for row in admin.db.rows("SELECT * FROM invoice") if row["order_id"] in ids]
    assert report(admin, "invoiced")[-1][3] == money(sum(invoices))


def test_the_tax_report_sums_by_region(admin: Any) -> None:
    chosen = [row for row in orders(admin) if row["status"] != "Canceled"][:3]
    for row in chosen:
        admin.db.update("sales_order", row["id"], tax_amount=2.5)
    assert report(admin, "tax")[-1][3] == "$7.50"


def test_bestsellers_are_the_five_most_sold_of_each_year(admin: Any) -> None:
    ids = {row["id"] for row in orders(admin) if row["status"] != "Canceled"}
    sold: Counter[int] = Counter()
    for row in admin.db.rows("SELECT * FROM order_item"):
        if row["order_id"] in ids:
            sold[row["product_id"]] += row["qty"]
    best = sorted(sold.items(), key=lambda pair: (-pair[1], pair[0]))[:5]
    rows = report(admin, "bestsellers", "from=1/1/2024&to=12/31/2024&period_type=year")
    expected = [(admin.db.get("product", number)["name"], str(count)) for number, count in best]
    assert [(row[1], row[3]) for row in rows[:-1]] == expected


def test_a_long_report_is_paged_and_its_total_covers_all_pages(admin: Any) -> None:
    rows = report(admin, "sales", "from=1/1/2022&to=6/15/2025")
    assert len(rows) == 51 and rows[-1][1] == str(len(admin.db.rows("SELECT * FROM sales_order")))
    following = next(link for link in admin.page.cssselect(".pager a") if link.text == "Next Page")
    assert admin.get(following.get("href")).status == 200 and "Page 2 of" in admin.text(".pager")


def test_reports_follow_what_the_administrator_does(admin: Any) -> None:
    before = report(admin, "sales", "from=1/1/2025&to=6/16/2025&period_type=year")[-1]
    order = admin.db.row("SELECT * FROM sales_order WHERE status = 'Pending' ORDER BY id DESC")
    admin.post(f"/admin/sales/order/cancel/order_id/{order['id']}/")
    after = report(admin, "sales", "from=1/1/2025&to=6/16/2025&period_type=year")[-1]
    assert before[1] == after[1] and before[3] != after[3]


def test_customers_products_and_reviews_in_numbers(admin: Any) -> None:
    counts = Counter(
        row["customer_id"] for row in admin.db.rows("SELECT * FROM sales_order") if row["status"] != "Canceled"
    )
    admin.get("/admin/reports/report_customer/orders/")
    assert admin.rows()[0][2] == str(max(counts.values()))
    spent: Counter[int] = Counter()
    for row in admin.db.rows("SELECT * FROM sales_order WHERE status != 'Canceled'"):
        spent[row["customer_id"]] += row["grand_total"]
    admin.get("/admin/reports/report_customer/totals/")
    assert admin.rows()[0][4] == money(max(spent.values()))
    assert admin.get("/admin/reports/report_product/lowstock/").rows()[0][2] == "0"
    assert int(admin.get("/admin/reports/report_product/viewed/").rows()[0][4]) > 0
    reviews = Counter(row["product_id"] for row in admin.db.rows("SELECT product_id FROM review"))
    assert admin.get("/admin/reports/report_review/product/").rows()[0][2] == str(max(reviews.values()))
    writers = Counter(row[0] for row in admin.db.rows("SELECT customer_id FROM review WHERE customer_id IS NOT NULL"))
    assert admin.get("/admin/reports/report_review/customer/").rows()[0][2] == str(max(writers.values()))


def test_the_dashboard_agrees_with_the_tables(admin: Any) -> None:
    admin.get("/admin/dashboard")
    sold = [r["grand_total"] for r in admin.db.rows("SELECT * FROM sales_order")
            if r["status"] not in ("Canceled", "Closed", "Pending")]  # fmt: skip
    assert money(sum(sold)) in admin.text(".card") and money(sum(sold) / len(sold)) in admin.text(".card")
    for tab in ("bestsellers", "most-viewed", "new-customers", "customers", "nonsense"):
        admin.get(f"/admin/dashboard?tab={tab}")
        assert len(admin.page.cssselect("table.half")[-1].cssselect("tbody tr")) == 5
