"""Templates of the shop that put products somewhere: into the cart, into orders, on the wish list."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

from agentrl.envs.webarena.sites.formats import money
from agentrl.envs.webarena.sites.shop.base import options_of
from agentrl.envs.webarena.sites.store.people import AGENT
from agentrl.envs.webarena.sites.store.pricing import SHIPPING_METHODS, applies, discount
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import (
    Act,
    Answer,
    Choose,
    Click,
    Fill,
    On,
    Parameters,
    Template,
    literal,
)
from agentrl.envs.webarena.tasks.templates.shop.parts import (
    SHOP,
    SITES,
    about,
    amount,
    answer,
    categories,
    checkout,
    in_cart,
    named,
    on_product,
    pages,
    products,
    search_for,
    store,
    text_of,
    to_category,
)

CART = f"{SHOP}/checkout/cart/"
CART_ITEMS = text_of("#shopping-cart-table")
LATEST_ORDER = "func:shopping_get_latest_order_url()"
TODAY = "2025-06-16"


def _choices(world: World, row: sqlite3.Row) -> list[tuple[str, str]] | None:
    """An option value each that a person can choose by its text; None where there is none."""
    chosen = []
    for name, values in options_of(store(world), row["id"]).items():
        value = values[row["id"] % len(values)]
        if next(each for each in values if value.lower() in each.lower()) != value:
            return None
        chosen.append((name, value))
    return chosen


def _with_options(world: World, remainder: int) -> Iterator[dict[str, Any]]:
    for row in products(world, remainder):
        chosen = _choices(world, row)
        if chosen is not None:
            wish = ", ".join(f"{name.lower()} {value}" for name, value in chosen)
            yield {**about(row), "options": chosen, "wish": f" ({wish})" if wish else "", "sku": row["sku"]}


def _choose(given: Parameters) -> list[Act]:
    return [Choose(f"select[name='super_attribute[{name.lower()}]']", value) for name, value in given["options"]]


# ---------------------------------------------------------------------- cart


def _cart_additions(world: World) -> Iterator[dict[str, Any]]:
    for place, given in enumerate(_with_options(world, 2)):
        yield {**given, "qty": str(1 + place % 4)}


def _cart_contents(given: Parameters) -> list[str]:
    return [given["product"], *(f"{name}: {value}" for name, value in given["options"])]


def _add_to_cart(given: Parameters, qty: str) -> list[On]:
    acts = [*_choose(given), Fill("#qty", qty), Click("#product-addtocart-button")]
    return [
        *search_for(given["phrase"], given["url_key"]),
        on_product(given["url_key"], acts),
        On(SHOP, [Click("a.showcart")], when=in_cart),
    ]


ADD_TO_CART = Template(
    "shop-add-to-cart", SITES, "add-to-cart",
    (
        "Add {qty} of \"{product}\"{wish} to my cart.",
        "Put this into the shopping cart, quantity {qty}: {product}{wish}",
        "I want {qty} x \"{product}\"{wish}. Put it into my cart, but do not order yet.",
    ),
    _cart_additions,
    lambda given: pages(
        (CART, CART_ITEMS, {"must_include": _cart_contents(given)}),
        (CART, "document.querySelector('input.qty').value", {"exact_match": given["qty"]}),
    ),
    lambda given: [*_add_to_cart(given, given["qty"]), On("/checkout/cart/", [Answer()])],
)  # fmt: skip


def _coupons(world: World) -> Iterator[dict[str, Any]]:
    rules = [dict(rule) for rule in store(world).rows("SELECT * FROM cart_rule ORDER BY id")]
    prices = {row["sku"]: row["final_price"] for row in products(world, 3)}
    for place, given in enumerate(_with_options(world, 3)):
        price = prices[given["sku"]]
        valid = [
            rule["coupon_code"]
            for rule in rules
            if rule["coupon_code"] and applies(rule, price, TODAY, rule["coupon_code"])
        ]
        if valid:
            code = valid[place % len(valid)]
            total = price + SHIPPING_METHODS[0].amount(1) - discount(price, TODAY, rules, code)
            yield {**given, "code": code, "value": money(round(total, 2))}


def _coupon_solution(given: Parameters) -> list[On]:
    return [
        *_add_to_cart(given, "1"),
        On("/checkout/cart/", [Fill("#coupon_code", given["code"]), Click("button.apply")]),
        On("/checkout/cart/", [Answer(given["value"])], contains=f"Code in use: {given['code']}"),
    ]


COUPON = Template(
    "shop-apply-coupon", SITES, "apply-coupon",
    (
        "Put \"{product}\"{wish} into my cart and apply the coupon {code}. What is the order total then?",
        "What would I pay in total for one \"{product}\"{wish} with the discount code {code}? Leave it in the cart.",
    ),
    _coupons,
    lambda given: {
        **pages(
            (CART, text_of(".cart-summary"), {"must_include": [given["code"]]}),
            (CART, CART_ITEMS, {"must_include": [given["product"]]}),
        ),
        **answer(amount(given["value"])),
        "eval_types": ["string_match", "program_html"],
    },
    _coupon_solution, held_out=True,
)  # fmt: skip

# ---------------------------------------------------------------------- ordering


def _addresses(world: World) -> list[sqlite3.Row]:
    return store(world).rows("SELECT * FROM address WHERE customer_id = ? ORDER BY id", AGENT)


def _purchases(world: World) -> Iterator[dict[str, Any]]:
    addresses = _addresses(world)
    for place, given in enumerate(_with_options(world, 4)):
        address, method = addresses[place % len(addresses)], SHIPPING_METHODS[place // 2 % len(SHIPPING_METHODS)]
        yield {
            **given, "street": address["street"], "address_id": address["id"], "method": method.carrier,
            "method_code": method.code,
        }  # fmt: skip


def _purchase_evaluation(given: Parameters) -> dict[str, Any]:
    return pages(
        (
            LATEST_ORDER,
            text_of(".order-details-items.ordered"),
            {"must_include": [*_cart_contents(given), "Ordered: 1"]},
        ),
        (LATEST_ORDER, text_of(".box-address-shipping"), {"must_include": [given["street"]]}),
        (LATEST_ORDER, text_of(".box-order-shipping-method"), {"must_include": [given["method"]]}),
    )


BUY = Template(
    "shop-place-order", SITES, "checkout",
    (
        "Order one \"{product}\"{wish}, to be delivered to {street} by {method}.",
        "Buy \"{product}\"{wish}. Ship it to my address at {street} with {method} delivery.",
    ),
    _purchases, _purchase_evaluation,
    lambda given: [*_add_to_cart(given, "1"), *checkout(given["address_id"], given["method_code"])],
)  # fmt: skip


def _cheapest(world: World) -> Iterator[dict[str, Any]]:
    """Categories whose cheapest product is the only one at its price, in stock, and has nothing to choose."""
    db, addresses = store(world), _addresses(world)
    for category, prices in categories(world, 4):
        if prices[0] == prices[1]:
            continue
        row = db.row(
            "SELECT product.* FROM product JOIN category ON category.id = category_id WHERE product.status = 1"
            " AND (url_path = ? OR url_path LIKE ? || '/%') AND min(price, coalesce(special_price, price)) = ?",
            category["url_path"], category["url_path"], prices[0],
        )  # fmt: skip
        if row is not None and row["is_in_stock"] and not options_of(db, row["id"]):
            yield {
                "category": named(category), "url_path": category["url_path"], "product": row["name"],
                "url_key": row["url_key"], "options": [], "street": addresses[0]["street"],
                "address_id": addresses[0]["id"], "method": SHIPPING_METHODS[0].carrier,
                "method_code": SHIPPING_METHODS[0].code,
            }  # fmt: skip


def _cheapest_solution(given: Parameters) -> list[On]:
    path = literal(f"/{given['url_path']}.html")
    return [
        *to_category(given["url_path"]),
        On(path, [Click(".sorter a", "Price")]),
        On(path + r"\?product_list_order=price$", [Click(f"a.product-item-link[href='/{given['url_key']}.html']")]),
        on_product(given["url_key"], [Click("#product-addtocart-button")]),
        On(SHOP, [Click("a.showcart")], when=in_cart),
        *checkout(given["address_id"], given["method_code"]),
    ]


BUY_CHEAPEST = Template(
    "shop-order-cheapest", SITES, "checkout",
    (
        "Order the cheapest product under {category} to my default address by {method}.",
        "Buy me the least expensive item of the category {category}; default address, {method} shipping.",
    ),
    _cheapest, _purchase_evaluation, _cheapest_solution, held_out=True,
)  # fmt: skip

# ---------------------------------------------------------------------- the wish list


def _wishes(world: World) -> Iterator[dict[str, Any]]:
    present = {row[0] for row in store(world).rows("SELECT product_id FROM wishlist_item WHERE customer_id = ?", AGENT)}
    return (about(row) for row in products(world, 5) if row["id"] not in present)


WISH = Template(
    "shop-add-to-wish-list", SITES, "add-to-list",
    (
        "Add \"{product}\" to my wish list.",
        "Put this product on my wish list: {product}",
        "I like \"{product}\". Remember it on my wish list.",
    ),
    _wishes,
    lambda given: pages(
        (f"{SHOP}/wishlist/", text_of(".products-grid.wishlist"), {"must_include": [given["product"]]})
    ),
    lambda given: [
        *search_for(given["phrase"], given["url_key"]),
        on_product(given["url_key"], [Click("button.towishlist")]),
        On("/wishlist/", [Answer()]),
    ],
)  # fmt: skip

BUYING = (ADD_TO_CART, COUPON, BUY, BUY_CHEAPEST, WISH)
