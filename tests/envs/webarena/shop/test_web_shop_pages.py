"""Pages of the catalogue: every address answers, lists are sorted and filtered as they say, searches find."""

from __future__ import annotations

from typing import Any

import pytest

from agentrl.envs.webarena.sites.shop.base import decoded_path, encoded_path
from agentrl.envs.webarena.sites.shop.site import site

PRICE = "min(price, coalesce(special_price, price))"
PAGES = {
    "/": "home", "/beauty-personal-care.html": "category", "/electronics/headphones.html": "category",
    "/catalogsearch/result/?q=jacket": "search", "/catalogsearch/advanced/": "advanced-search",
    "/catalogsearch/advanced/result/?name=jam": "search", "/search/term/popular/": "search-terms",
    "/catalog/product_compare/": "compare", "/checkout/cart/": "cart", "/wishlist/": "wishlist",
    "/customer/account/": "account", "/customer/account/edit/": "account", "/customer/address/": "account",
    "/customer/address/new/": "account", "/sales/order/history/": "orders", "/review/customer/": "reviews",
    "/newsletter/manage/": "newsletter", "/contact/": "contact", "/about-us/": "text",
    "/privacy-policy-cookie-restriction-mode": "text", "/customer/account/forgotpassword/": "forgot-password",
}  # fmt: skip
MEMBERS = (
    "/wishlist/", "/customer/account/", "/customer/address/", "/sales/order/history/", "/review/customer/",
    "/newsletter/manage/", "/checkout/", "/sales/order/view/order_id/1/", "/checkout/onepage/success/",
)  # fmt: skip
HOSTILE_PATHS = (
    "/nothing", "/nothing.html", "/%00.html", "/a/b/c/d.html",
    "/sales/order/view/order_id/99999999999999999999/", "/sales/order/view/order_id/x'--/",
    "/sales/order/robbery/order_id/1/", "/review/customer/view/id/1/", "/customer/address/edit/id/1/",
    "/media/catalog/product/0.png", "/media/catalog/product/x.png",
)  # fmt: skip


@pytest.mark.parametrize(("path", "kind"), PAGES.items())
def test_pages_answer_and_name_their_kind(emma: Any, path: str, kind: str) -> None:
    emma.get(path)
    assert (emma.status, emma.kind) == (200, kind)
    assert emma.page.cssselect("#search[name=q]") and emma.text("title")


@pytest.mark.parametrize("path", MEMBERS)
def test_pages_of_members_lead_guests_to_the_login(guest: Any, path: str) -> None:
    assert guest.get(path).path == "/customer/account/login/"


@pytest.mark.parametrize("path", HOSTILE_PATHS)
def test_what_does_not_exist_or_belongs_to_others_is_not_found(emma: Any, path: str) -> None:
    assert emma.get(path).status == 404


def test_orders_of_others_are_not_shown(emma: Any) -> None:
    other = emma.db.value("SELECT id FROM sales_order WHERE customer_id <> 27")
    for path in (f"/sales/order/view/order_id/{other}/", f"/sales/order/invoice/order_id/{other}/"):
        assert emma.get(path).status == 404
    assert emma.post(f"/sales/order/reorder/order_id/{other}/").status == 404


def test_every_route_without_parameters_answers(emma: Any) -> None:
    for route in site.routes:
        path = route.pattern.pattern.removesuffix("/?").replace("\\", "")
        if route.method == "GET" and "(?P" not in path:
            assert emma.get(path).status in (200, 401), path


# ---------------------------------------------------------------------- lists


def test_a_category_holds_the_products_of_all_below_it(emma: Any) -> None:
    count = emma.db.value(
        "SELECT count(*) FROM product JOIN category ON category.id = category_id"
        " WHERE status = 1 AND url_path LIKE 'electronics/headphones/%'"
    )
    emma.get("/electronics/headphones.html")
    assert emma.text(".toolbar-amount") == f"Items 1-12 of {count}" and len(emma.names()) == 12
    names, pages = [], 0
    while True:
        names, pages = names + emma.names(), pages + 1
        if "Next" not in emma.links("a.page"):
            break
        emma.follow("a.page", "Next")
    assert len(names) == count and pages == -(-count // 12)


@pytest.mark.parametrize(("order", "column"), [("Price", PRICE), ("Product Name", "lower(name)")])
def test_sorting_follows_the_links_of_magento(emma: Any, order: str, column: str) -> None:
    emma.get("/electronics/headphones.html").follow(".sorter a", order)
    key = "price" if order == "Price" else "name"
    assert emma.path == f"/electronics/headphones.html?product_list_order={key}"
    emma.follow(".sorter a", "Set Descending Direction")
    assert emma.path.endswith(f"?product_list_order={key}&product_list_dir=desc")
    best = emma.db.value(
        f"SELECT max({column if order == 'Price' else 'lower(product.name)'}) FROM product"
        " JOIN category ON category.id = category_id WHERE status = 1 AND url_path LIKE 'electronics/headphones/%'"
    )
    first = emma.db.row("SELECT * FROM product WHERE name = ?", emma.names()[0])
    assert best == (
        min(first["price"], first["special_price"] or first["price"]) if key == "price" else first["name"].lower()
    )


def test_searches_are_sorted_in_the_order_of_parameters_that_the_benchmark_expects(emma: Any) -> None:
    emma.get("/catalogsearch/result/?q=hair+mask").follow(".sorter a", "Price").follow(
        ".sorter a", "Set Ascending Direction"
    )
    assert emma.path == "/catalogsearch/result/index/?product_list_order=price&q=hair+mask&product_list_dir=asc"
    prices = [float(price.text_content().strip("$")) for price in emma.page.cssselect(".price, .special-price")]
    assert prices == sorted(prices) and len(prices) > 3
    assert all("hair mask" in name.lower() for name in emma.names())


def test_filters_narrow_the_list_and_can_be_taken_back(emma: Any) -> None:
    emma.get("/electronics.html")
    total = emma.text(".toolbar-amount")
    label, link = next(
        (label, link) for label, link in emma.links(".filter-options a").items() if label.startswith("$")
    )
    emma.get(link)
    assert "?price=0-" in emma.path and "Price: $0.00" in emma.text(".filter-current")
    high = float(label.split("$")[2])
    assert all(
        float(price.text_content().strip("$")) <= high for price in emma.page.cssselect(".price, .special-price")
    )
    brand, link = next((brand, link) for brand, link in emma.links(".filter-options a").items() if "brand=" in link)
    emma.get(link)
    rows = [emma.db.row("SELECT brand FROM product WHERE name = ?", name) for name in emma.names()]
    assert rows and {row["brand"] for row in rows} == {brand}
    assert emma.get(emma.links("a.clear")["Clear All"]).text(".toolbar-amount") == total


@pytest.mark.parametrize(
    "query",
    ["p=-1", "p=999", "p=x", "price=x-y", "price=9-1", "product_list_limit=1000000", "product_list_order=password",
     "product_list_dir=up", "color=%27--", "cat=x"],
)  # fmt: skip
def test_nonsense_in_the_address_of_a_list_does_no_harm(emma: Any, query: str) -> None:
    assert emma.get(f"/electronics/headphones.html?{query}").status == 200
    assert emma.get(f"/catalogsearch/result/?q=jacket&{query}").status == 200


def test_long_queries_do_not_make_pages_of_megabytes(emma: Any) -> None:
    for path in ("/catalogsearch/result/?q=" + "jam+" * 50_000, "/electronics.html?junk=" + "x" * 100_000):
        assert emma.get(path).status == 200 and emma.names() and len(emma.response.text) < 200_000


def test_a_search_finds_by_title_by_sku_and_what_administrators_change(emma: Any) -> None:
    product = emma.product()
    assert emma.get(f"/catalogsearch/result/?q={product['sku']}").names() == [product["name"]]
    assert "no results" in emma.get("/catalogsearch/result/?q=qwertzuiop").text()
    emma.db.update("product", product["id"], name="Qwertzuiop of the finest kind")
    assert emma.get("/catalogsearch/result/?q=QWERTZUIOP").names() == ["Qwertzuiop of the finest kind"]
    emma.db.update("product", product["id"], status=2)
    assert emma.get("/catalogsearch/result/?q=qwertzuiop").names() == []
    assert emma.get(f"/{product['url_key']}.html").status == 404
    emma.db.insert(
        "product", sku="NEW-1", name="Zyxwvut lamp", url_key="zyxwvut-lamp", price=5.0, qty=3,
        category_id=product["category_id"], created_at=emma.db.now(), updated_at=emma.db.now(),
    )  # fmt: skip
    assert emma.get("/catalogsearch/result/?q=zyxwvut").names() == ["Zyxwvut lamp"]
    emma.get("/zyxwvut-lamp.html")
    image = emma.page.cssselect(".media img")[0].get("src")
    assert emma.get(image).response.body[:4] == b"\x89PNG"


def test_a_product_page_shows_what_the_data_say(emma: Any) -> None:
    number = emma.db.value(
        "SELECT product_id FROM review WHERE status = 'Approved' GROUP BY 1 HAVING count(*) BETWEEN 11 AND 20"
    )
    product = emma.db.get("product", number)
    emma.get(f"/{product['url_key']}.html")
    assert emma.text("h1") == product["name"] and product["sku"] in emma.text(".sku")
    approved = emma.db.rows("SELECT * FROM review WHERE product_id = ? AND status = 'Approved'", number)
    shown = emma.text(".review-content")
    emma.follow("a.page", "Next")
    shown += emma.text(".review-content")
    assert all(" ".join(review["detail"].split()) in shown for review in approved)


def test_the_home_page_leads_everywhere(emma: Any) -> None:
    for link in set(emma.get("/").links("a").values()):
        if link != "/customer/account/logout/":
            assert emma.get(link).status == 200, link


@pytest.mark.parametrize("path", ["/", "/a.html?q=1&p=2", "/\u00fc?x=\u2019"])
def test_return_addresses_survive_and_lead_nowhere_else(path: str) -> None:
    assert decoded_path(encoded_path(path), "/no") == path
    for bad in ("//example.com", "http://example.com", "/\\example.com", "/a\nb", ""):
        assert decoded_path(encoded_path(bad), "/no") == "/no"
    assert decoded_path("%%%", "/no") == decoded_path("\u00fc", "/no") == "/no"
