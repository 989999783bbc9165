"""Templates of the shop that change something: cart, orders, lists, reviews, the account."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from random import Random
from typing import Any

from agentrl.envs.webarena.sites.shop.base import options_of
from agentrl.envs.webarena.sites.store.people import AGENT
from agentrl.envs.webarena.sites.store.pricing import SHIPPING_METHODS, applies, discount, money
from agentrl.envs.webarena.sites.store.words import words
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.shop_parts import (
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
    orders,
    pages,
    products,
    search_for,
    store,
    text_of,
    to_account,
    to_category,
)
from agentrl.envs.webarena.tasks.template import (
    Act,
    Answer,
    Check,
    Choose,
    Click,
    Fill,
    On,
    Parameters,
    Template,
    literal,
)

CART = f"{SHOP}/checkout/cart/"
CART_ITEMS = text_of("#shopping-cart-table")
LATEST_ORDER = "func:shopping_get_latest_order_url()"
TODAY = "2025-06-16"
NICKNAMES = ("Emma", "EmmaL", "Lopez", "E. Lopez", "Em from San Mateo")
RATING, AUTHOR = "func:shopping_get_sku_latest_review_rating", "func:shopping_get_sku_latest_review_author"


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
        "Put {qty} piece(s) of this into the shopping cart: {product}{wish}",
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
        **answer(amount(float(given["value"][1:].replace(",", "")))),
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

# ---------------------------------------------------------------------- lists and reviews


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


def _reviews(world: World) -> Iterator[dict[str, Any]]:
    titles = words("reviews.toml")["titles"]
    for row in products(world, 6):
        stars = 1 + row["id"] // 15 % 5
        texts = titles[str(stars)]
        yield {
            **about(row), "sku": row["sku"], "stars": stars, "nickname": NICKNAMES[row["id"] % len(NICKNAMES)],
            "title": texts[row["id"] % len(texts)].format(noun=row["kind"], brand=row["brand"]),
        }  # fmt: skip


def _review_solution(given: Parameters) -> list[On]:
    acts = [
        Check(f"#Rating_{given['stars']}"),
        Fill("#nickname_field", given["nickname"]),
        Fill("#summary_field", given["title"]),
        Fill("#review_field", given["title"]),
        Click("button.submit"),
    ]
    return [
        *search_for(given["phrase"], given["url_key"]),
        on_product(given["url_key"], acts),
        on_product(given["url_key"], [Answer()], when=_has_reviewed),
    ]


def _has_reviewed(world: World) -> bool:
    return bool(store(world).changes.get("review"))


REVIEW = Template(
    "shop-write-review", SITES, "fill-form",
    (
        "Write a review of \"{product}\": {stars} of 5 stars, nickname \"{nickname}\", summary and text \"{title}\".",
        "Rate \"{product}\" with {stars} star(s) as \"{nickname}\". Use \"{title}\" as the summary and as the review.",
    ),
    _reviews,
    lambda given: pages(
        ("last", f"{RATING}('{given['sku']}')", {"exact_match": str(20 * given["stars"])}),
        ("last", f"{AUTHOR}('{given['sku']}')", {"exact_match": given["nickname"]}),
    ),
    _review_solution,
)  # fmt: skip

# ---------------------------------------------------------------------- account


def _new_addresses(world: World) -> Iterator[dict[str, Any]]:
    rng, texts = Random("new addresses"), words("people.toml")
    for _ in range(150):
        city, region, postcode, area = rng.choice(texts["cities"])
        yield {
            "street": f"{rng.randrange(2, 990)} {rng.choice(texts['streets'])}", "city": city, "region": region,
            "postcode": postcode, "telephone": f"{area}555{rng.randrange(100, 9999):04}",
        }  # fmt: skip


def _address_acts(given: Parameters) -> list[Act]:
    fields = {
        "telephone": "#telephone",
        "street": "#street_1",
        "city": "#city",
        "region": "#region",
        "postcode": "#zip",
    }
    return [*(Fill(selector, given[name]) for name, selector in fields.items()), Click("button.save")]


def _has_address(given: Parameters) -> Any:
    return lambda world: bool(
        store(world).value("SELECT count(*) FROM address WHERE customer_id = ? AND street = ?", AGENT, given["street"])
    )


ADD_ADDRESS = Template(
    "shop-add-address", SITES, "fill-form",
    (
        "Add a new address to my address book: {street}, {city}, {region} {postcode}, phone {telephone}.",
        "I also live at {street}, {city}, {region} {postcode} (phone {telephone}). Put that into my address book.",
    ),
    _new_addresses,
    lambda given: pages((
        f"{SHOP}/customer/address/", text_of("#additional-addresses-table"),
        {"must_include": [given[name] for name in ("street", "city", "region", "postcode", "telephone")]},
    )),
    lambda given: [
        *to_account("/customer/address/"),
        On(r"/customer/address/$", [Click("a.add")]),
        On("/customer/address/new/", _address_acts(given)),
        On(r"/customer/address/$", [Answer()], when=_has_address(given)),
    ],
)  # fmt: skip

MOVE = Template(
    "shop-change-default-address", SITES, "edit-record",
    (
        "I have moved. Change my default shipping address to {street}, {city}, {region} {postcode}, phone {telephone}.",
        "Update the default shipping address of my account: {street}, {city}, {region} {postcode}, phone {telephone}.",
    ),
    lambda world: (
        {**row, "street": f"{row['street']}, Apt {place % 40 + 1}"} for place, row in enumerate(_new_addresses(world))
    ),
    lambda given: pages((
        f"{SHOP}/customer/address/", text_of(".box-address-shipping"),
        {"must_include": [given[name] for name in ("street", "city", "region", "postcode", "telephone")]},
    )),
    lambda given: [
        *to_account("/customer/address/"),
        On(r"/customer/address/$", [Click(".box-address-shipping a.edit")]),
        On("/customer/address/edit/", _address_acts(given)),
        On(r"/customer/address/$", [Answer()], when=_has_address(given)),
    ],
)  # fmt: skip


def _new_names(world: World) -> Iterator[dict[str, Any]]:
    rng, texts = Random("new names"), words("people.toml")
    for last in rng.sample(texts["last_names"], 90):
        yield {
            "lastname": last if rng.random() < 0.5 else f"Lopez-{last}",
            "firstname": rng.choice(("Emma", "Emilia", "Em")),
        }


def _is_renamed(given: Parameters) -> Any:
    return lambda world: store(world).value("SELECT lastname FROM customer WHERE id = ?", AGENT) == given["lastname"]


RENAME = Template(
    "shop-change-name", SITES, "edit-record",
    (
        "Change the name of my account to {firstname} {lastname}.",
        "I am called {firstname} {lastname} now. Update my account information.",
    ),
    _new_names,
    lambda given: pages((
        f"{SHOP}/customer/account/", text_of(".box-information"),
        {"must_include": [f"{given['firstname']} {given['lastname']}"]},
    )),
    lambda given: [
        *to_account("/customer/account/edit/"),
        On("/customer/account/edit/", [
            Fill("#firstname", given["firstname"]), Fill("#lastname", given["lastname"]), Click("button.save"),
        ]),
        On(r"/customer/account/$", [Answer()], when=_is_renamed(given)),
    ],
)  # fmt: skip

# ---------------------------------------------------------------------- messages

MESSAGE = "document.querySelector('[title=\"What\u2019s on your mind?\"]').value"
TROUBLES = {
    "refund": "I would like a refund for order {number}.",
    "exchange": "Please exchange the items of order {number} for new ones.",
    "question about the delivery": "When will order {number} be delivered?",
    "request for an invoice copy": "Please send me a copy of the invoice of order {number}.",
}


def _messages(world: World) -> Iterator[dict[str, Any]]:
    for order in orders(world):
        for what, text in TROUBLES.items():
            yield {"number": order["increment_id"], "what": what, "text": text.format(number=order["increment_id"])}


DRAFT = Template(
    "shop-draft-message", SITES, "fill-form",
    (
        "Draft a message in the shop's contact form ({what}): \"{text}\" Do not submit it yet, I want to check it.",
        "Fill in the contact form with this text, but do not send it: {text}",
    ),
    _messages,
    lambda given: {
        **pages(("last", MESSAGE, {"must_include": [given["text"]]})),
        "eval_types": ["program_html", "url_match"], "reference_url": f"{SHOP}/contact", "url_note": "GOLD in PRED",
    },
    lambda given: [
        On(SHOP, [Click("ul.footer a", "Contact Us")]),
        On("/contact/", [Fill("#comment", given["text"]), Answer()]),
    ],
)  # fmt: skip

CHANGING = (ADD_TO_CART, COUPON, BUY, BUY_CHEAPEST, WISH, REVIEW, ADD_ADDRESS, MOVE, RENAME, DRAFT)
