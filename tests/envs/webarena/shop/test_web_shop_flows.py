"""What customers do: carts, orders, wish lists, reviews, accounts, addresses, newsletter, messages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentrl.envs.webarena.sites.formats import money
from agentrl.envs.webarena.sites.messages import Request
from agentrl.envs.webarena.sites.shop.base import cart_items, subtotal
from agentrl.envs.webarena.sites.store.people import AGENT
from agentrl.envs.webarena.sites.world import World

ADDRESS = {
    "firstname": "Emma", "lastname": "Lopez", "telephone": "555", "street[0]": "1 New Road", "city": "Reno",
    "region": "Nevada", "postcode": "89501", "country_id": "US",
}  # fmt: skip
FLAT, BEST = "flatrate_flatrate", "tablerate_bestway"
# ---------------------------------------------------------------------- cart and checkout


def test_a_cart_becomes_an_order_with_the_right_totals(emma: Any) -> None:
    product = emma.product("price BETWEEN 40 AND 90 AND qty > 20")
    emma.add_to_cart(product, 2)
    assert "You added" in emma.text(".message") and emma.text(".counter-number") == "2"
    (item,) = cart_items(emma.db, AGENT, None)
    assert item["qty"] == 2 and subtotal([item]) == round(2 * product["final_price"], 2)
    emma.post("/checkout/cart/couponPost/", {"coupon_code": "welcome10", "remove": "0"})
    reduced = round(2 * product["final_price"] * 0.1, 2)
    assert money(-reduced) in emma.text(".totals")
    emma.get("/checkout/")
    home = emma.db.row("SELECT * FROM address WHERE customer_id = ? AND is_shipping = 0", AGENT)
    emma.post("/checkout/shipping/", {"address_id": home["id"], "shipping_method": BEST})
    fields = {
        field.get("name"): field.get("value") for field in emma.page.cssselect("#co-payment-form input[type=hidden]")
    }
    emma.post("/checkout/placeOrder/", {**fields, "payment_method": "checkmo"})
    assert emma.kind == "success" and emma.get("/checkout/cart/").text(".counter-number") == "0"
    order = emma.db.row("SELECT * FROM sales_order ORDER BY id DESC LIMIT 1")
    assert order["grand_total"] == round(2 * product["final_price"] - reduced + 15, 2)
    assert order["coupon_code"] == "WELCOME10" and order["status"] == "Pending"
    assert emma.db.get("product", product["id"])["qty"] == product["qty"] - 2
    emma.get(f"/sales/order/view/order_id/{order['id']}/")
    assert product["name"] in emma.text(".order-details-items.ordered")
    assert home["street"] in emma.text(".box-address-shipping") and "Best Way" in emma.text(
        ".box-order-shipping-method"
    )
    assert emma.links("#my-orders-table a") == {} and emma.get("/sales/order/history/").text("td.id").startswith(
        order["increment_id"]
    )


def test_a_new_address_can_be_given_at_the_checkout(emma: Any) -> None:
    emma.add_to_cart(emma.product())
    emma.post("/checkout/shipping/", {**ADDRESS, "new_address": "1", "shipping_method": FLAT})
    assert "1 New Road" in emma.text(".two-boxes") and "1 New Road" in emma.get("/customer/address/").text()
    emma.post("/checkout/shipping/", {"new_address": "1", "shipping_method": FLAT})
    assert "Please fill in" in emma.text(".message-error")


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"address_id": "1", "shipping_method": FLAT}, "choose a shipping address"),  # somebody else's
        ({"address_id": "x"}, "shipping method is missing"),
    ],
)
def test_a_checkout_without_address_or_method_says_so(emma: Any, form: dict[str, str], words: str) -> None:
    emma.add_to_cart(emma.product())
    assert words in emma.post("/checkout/shipping/", form).text(".message-error")
    assert emma.post("/checkout/placeOrder/", form).kind == "checkout"


@pytest.mark.parametrize("change", [{"status": 2}, {"is_in_stock": 0}, {"qty": 1}])
def test_what_goes_off_sale_in_the_meantime_is_not_ordered(emma: Any, change: dict[str, int]) -> None:
    product, home = emma.product(), emma.db.value("SELECT min(id) FROM address WHERE customer_id = ?", AGENT)
    emma.add_to_cart(product, 2)
    emma.db.update("product", product["id"], **change)
    emma.post("/checkout/placeOrder/", {"address_id": home, "shipping_method": FLAT, "payment_method": "checkmo"})
    assert emma.kind == "cart" and product["name"] in emma.text(".message-error")


def test_quantities_change_and_lines_go(emma: Any) -> None:
    product = emma.product("qty > 50")
    emma.add_to_cart(product)
    emma.add_to_cart(product)
    item = emma.db.row("SELECT * FROM cart_item")
    assert item["qty"] == 2
    for wanted, left in (("5", 5), ("x", 5), ("-3", 5), ("1000000", 5), ("", 5)):
        emma.post(
            "/checkout/cart/updatePost/", {f"cart[{item['id']}][qty]": wanted, "update_cart_action": "update_qty"}
        )
        assert emma.db.get("cart_item", item["id"])["qty"] == left
    emma.post("/checkout/cart/updatePost/", {"remove": item["id"]})
    assert emma.db.get("cart_item", item["id"]) is None
    emma.add_to_cart(product)
    emma.post("/checkout/cart/updatePost/", {"update_cart_action": "empty_cart"})
    assert "no items" in emma.text() and emma.get("/checkout/").path == "/checkout/cart/"


@pytest.mark.parametrize("qty", ["0", "-1", "x", "", "99999999999999", "1.5"])
def test_impossible_quantities_are_refused(emma: Any, qty: str) -> None:
    emma.add_to_cart(emma.product("id NOT IN (SELECT product_id FROM product_option)"), qty)
    assert emma.text(".message-error") and emma.db.value("SELECT count(*) FROM cart_item") == 0


def test_options_must_be_chosen_from_those_on_offer(emma: Any) -> None:
    product = emma.product("id IN (SELECT product_id FROM product_option WHERE name = 'Color')")
    for value in ("", "no such color"):
        emma.post(f"/checkout/cart/add/product/{product['id']}/", {"qty": "1", "super_attribute[color]": value})
        assert "choose options" in emma.text(".message-error")


def test_what_is_sold_out_cannot_be_bought(emma: Any) -> None:
    product = emma.db.row(
        "SELECT * FROM product WHERE is_in_stock = 0 AND status = 1"
        " AND id NOT IN (SELECT product_id FROM product_option)"
    )
    emma.post(f"/checkout/cart/add/product/{product['id']}/", {"qty": "1"})
    assert "not available" in emma.text(".message-error")
    assert not emma.page.cssselect("#product-addtocart-button")


@pytest.mark.parametrize("code", ["NOPE", "", "BLACK23", "STAFF40", "' OR 1=1", "x" * 100_000])
def test_codes_that_do_not_hold_are_refused(emma: Any, code: str) -> None:
    emma.add_to_cart(emma.product())
    emma.post("/checkout/cart/couponPost/", {"coupon_code": code, "remove": "0"})
    assert "is not valid" in emma.text(".message-error") and emma.db.value("SELECT count(*) FROM cart_coupon") == 0


def test_a_guest_keeps_the_cart_when_signing_in(guest: Any) -> None:
    product = guest.product()
    guest.add_to_cart(product, 3)
    assert guest.text(".counter-number") == "3"
    guest.post(
        "/customer/account/loginPost/", {"login[username]": "Emma.Lopez@gmail.com", "login[password]": "Password.123"}
    )
    assert guest.kind == "account" and guest.text(".counter-number") == "3"
    guest.get("/customer/account/logout/")
    assert guest.get("/").text(".counter-number") == "0" and "Sign In" in guest.text(".links")


def test_an_order_can_be_ordered_again(emma: Any) -> None:
    order = emma.db.row(
        "SELECT order_id, sum(order_item.qty) AS pieces FROM order_item JOIN sales_order ON sales_order.id = order_id"
        " JOIN product ON product.id = product_id WHERE customer_id = ? GROUP BY order_id HAVING min(product.qty) > 10",
        AGENT,
    )  # fmt: skip
    emma.post(f"/sales/order/reorder/order_id/{order['order_id']}/")
    assert emma.kind == "cart" and emma.text(".counter-number") == str(order["pieces"])


def test_papers_of_an_order_have_pages(emma: Any) -> None:
    number = emma.db.value("SELECT max(id) FROM sales_order WHERE customer_id = ? AND status = 'Closed'", AGENT)
    for paper in ("invoice", "shipment", "creditmemo"):
        row = emma.db.row(f"SELECT * FROM {paper} WHERE order_id = ?", number)
        assert f"#{row['increment_id']}" in emma.get(f"/sales/order/{paper}/order_id/{number}/").text("h2")


# ---------------------------------------------------------------------- lists and reviews


def test_the_wish_list_takes_keeps_and_gives_back(emma: Any) -> None:
    product = emma.product("id NOT IN (SELECT product_id FROM product_option) AND qty > 10")
    emma.post(f"/checkout/cart/add/product/{product['id']}/", {"qty": "2", "addto": "wishlist"})
    assert emma.kind == "wishlist" and product["name"] in emma.text(".products-grid.wishlist")
    item = emma.db.row("SELECT * FROM wishlist_item WHERE product_id = ? AND customer_id = ?", product["id"], AGENT)
    emma.post(
        "/wishlist/index/update/", {f"description[{item['id']}]": "for Ana", f"qty[{item['id']}]": "3", "do": "update"}
    )
    assert "for Ana" in emma.text("textarea.comment")
    emma.post("/wishlist/index/update/", {"cart": item["id"]})
    assert emma.text(".counter-number") == "3" and product["name"] not in emma.text(".wishlist")
    other = emma.db.value("SELECT min(id) FROM wishlist_item WHERE customer_id = ?", AGENT)
    emma.post("/wishlist/index/update/", {"remove": other})
    assert emma.db.get("wishlist_item", other) is None
    assert emma.post("/wishlist/index/update/", {"remove": "1"}).status in (200, 404)


def test_products_are_compared(emma: Any) -> None:
    for number in (5, 6, 5):
        emma.post("/catalog/product_compare/add/", {"product": number})
    emma.get("/catalog/product_compare/")
    assert len(emma.page.cssselect("#product-comparison .product-item-name")) == 2
    emma.post("/catalog/product_compare/clear/")
    assert "no items to compare" in emma.text()


def test_a_review_waits_for_approval(emma: Any) -> None:
    product = emma.product()
    review = {"nickname": "Em", "title": "So so", "detail": "It squeaks.", "ratings[4]": "2"}
    emma.post(f"/review/product/post/id/{product['id']}/", review)
    assert "submitted your review" in emma.text(".message") and "It squeaks." not in emma.text(".review-content")
    row = emma.db.row("SELECT * FROM review ORDER BY id DESC LIMIT 1")
    assert (row["status"], row["rating"], row["customer_id"]) == ("Pending", 2, AGENT)
    emma.db.update("review", row["id"], status="Approved")
    assert "It squeaks." in emma.get(f"/{product['url_key']}.html").text(".review-content")
    assert "So so" in emma.get("/review/customer/").text()
    for gap in ({"title": " "}, {"ratings[4]": "6"}, {"ratings[4]": ""}):
        assert emma.post(f"/review/product/post/id/{product['id']}/", {**review, **gap}).text(".message-error")


# ---------------------------------------------------------------------- account


def test_addresses_come_change_and_go(emma: Any) -> None:
    emma.post("/customer/address/formPost/", ADDRESS)
    assert "1 New Road" in emma.text("#additional-addresses-table")
    number = emma.db.value("SELECT max(id) FROM address")
    emma.post(f"/customer/address/formPost/id/{number}/", {**ADDRESS, "city": "Sparks", "default_shipping": "1"})
    assert "Sparks" in emma.text(".box-address-shipping") and "Sparks" not in emma.text(".box-address-billing")
    assert emma.db.value("SELECT count(*) FROM address WHERE customer_id = ? AND is_shipping = 1", AGENT) == 1
    assert emma.post("/customer/address/delete/", {"id": number}).text(".message-error")
    assert emma.post("/customer/address/delete/", {"id": 1}).status == 404  # not hers
    other = emma.db.value("SELECT max(id) FROM address WHERE customer_id = ? AND is_shipping + is_billing = 0", AGENT)
    emma.post("/customer/address/delete/", {"id": other})
    assert emma.db.get("address", other) is None


def test_an_account_is_opened_and_changed(guest: Any) -> None:
    form = {
        "firstname": "Ada",
        "lastname": "Byron",
        "email": "ada@example.org",
        "password": "engines1",
        "password_confirmation": "engines1",
    }
    assert guest.post("/customer/account/createpost/", {**form, "email": "emma.lopez@gmail.com"}).text(".message-error")
    assert guest.post("/customer/account/createpost/", {**form, "password": "short"}).text(".message-error")
    guest.post("/customer/account/createpost/", {**form, "is_subscribed": "1"})
    assert guest.kind == "account" and "Ada Byron" in guest.text(".box-information")
    names = {"firstname": "Ada", "lastname": "Lovelace"}
    assert "Ada Lovelace" in guest.post("/customer/account/editPost/", names).text(".box-information")
    wrong = {**names, "email": "x@example.org", "change_email": "1", "current_password": "wrong"}
    assert guest.post("/customer/account/editPost/", wrong).text(".message-error")
    assert (
        "x@example.org" in guest.post("/customer/account/editPost/", {**wrong, "current_password": "engines1"}).text()
    )


def test_the_newsletter_is_ordered_and_left(emma: Any) -> None:
    box = '[title="General Subscription"]'
    for wanted in ({"is_subscribed": "1"}, {}):
        emma.post("/newsletter/manage/save/", wanted)
        checked = emma.get("/newsletter/manage/").page.cssselect(box)[0].get("checked") is not None
        assert checked == bool(wanted)
    assert "Thank you" in emma.post("/newsletter/subscriber/new/", {"email": "new@example.org"}).text(".message")
    assert emma.post("/newsletter/subscriber/new/", {"email": "new@example.org"}).text(".message-error")


def test_a_message_is_kept(emma: Any) -> None:
    emma.get("/contact/")
    assert emma.page.cssselect('[title="What\u2019s on your mind?"]')
    emma.post("/contact/index/post/", {"name": "Emma", "email": "emma@example.org", "comment": "Hello"})
    assert "Thanks for contacting us" in emma.text(".message")
    assert emma.db.value("SELECT comment FROM contact_message") == "Hello"
    assert emma.post("/contact/index/post/", {"name": "Emma", "email": "nowhere", "comment": "Hello"}).text(
        ".message-error"
    )


# ---------------------------------------------------------------------- REST


def rest(world: World, method: str, path: str, body: Any = None, token: str = "") -> tuple[int, Any]:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    content = json.dumps(body).encode() if body is not None else b""
    response = world.fetch(Request(method, f"http://shopping.localhost{path}", body=content, headers=headers))
    return response.status, json.loads(response.text)


def test_the_rest_interface_serves_the_helpers_of_the_benchmark(emma: Any) -> None:
    account = {"username": "admin", "password": "admin1234"}
    status, token = rest(emma.world, "POST", "/rest/default/V1/integration/admin/token", account)
    assert status == 200 and isinstance(token, str)
    newest = (
        "/rest/V1/orders?searchCriteria[sortOrders][0][field]=created_at&searchCriteria[sortOrders][0][direction]=DESC"
        "&searchCriteria[pageSize]=1"
    )
    status, found = rest(emma.world, "GET", newest, token=token)
    last = emma.db.row("SELECT * FROM sales_order ORDER BY created_at DESC LIMIT 1")
    assert [order["increment_id"] for order in found["items"]] == [last["increment_id"]] and found["total_count"] == 900
    sku = emma.db.value("SELECT sku FROM product JOIN review ON product.id = product_id LIMIT 1")
    status, reviews = rest(emma.world, "GET", f"/rest/V1/products/{sku}/reviews", token=token)
    assert reviews[-1]["ratings"][0]["rating_name"] == "Rating" and reviews[-1]["nickname"]
    field = "searchCriteria[filter_groups][0][filters][0]"
    status, found = rest(emma.world, "GET", f"/rest/V1/orders?{field}[field]=status&{field}[value]=Fraud", token=token)
    assert {order["status"] for order in found["items"]} == {"Fraud"}


@pytest.mark.parametrize("token", ["", "x", "null"])
def test_the_rest_interface_needs_a_token(emma: Any, token: str) -> None:
    assert rest(emma.world, "GET", "/rest/V1/orders", token=token)[0] == 401
    for body in ({}, [], {"username": "admin", "password": "x"}, {"username": {"a": 1}, "password": None}):
        assert rest(emma.world, "POST", "/rest/V1/integration/admin/token", body)[0] == 401
