"""Templates of the shop about orders: those that were placed, and what becomes one (the cart, the wish list)."""

from __future__ import annotations

import calendar
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from agentrl.envs.webarena.sites.formats import money
from agentrl.envs.webarena.sites.shop.base import options_of
from agentrl.envs.webarena.sites.shop.orders import PER_PAGE, STATUS
from agentrl.envs.webarena.sites.store.orders import OF_AGENT
from agentrl.envs.webarena.sites.store.people import AGENT
from agentrl.envs.webarena.sites.store.pricing import SHIPPING_METHODS, ShippingMethod, applies, discount
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Answer, Choose, Click, Fill, On, Parameters, Template, template
from agentrl.envs.webarena.tasks.templates.shop.kit import (
    SHOP,
    SITES,
    TO_CART,
    about,
    about_category,
    amount,
    categories,
    category_page,
    checkout,
    on_category,
    on_order,
    on_product,
    orders,
    product_link,
    product_page,
    products,
    store,
    to_account,
)
from agentrl.envs.webarena.tasks.vocabulary import Row, answer, both, done, ends_at, exists, in_turn, shows, text_of

LAST_PAGE = rf"/sales/order/history/\?p={-(-OF_AGENT // PER_PAGE)}$"
CART = f"{SHOP}/checkout/cart/"
CART_ITEMS = text_of("#shopping-cart-table")
LATEST_ORDER = "func:shopping_get_latest_order_url()"
TODAY = "2025-06-16"
IN_CART = "SELECT 1 FROM cart_item WHERE customer_id = ? AND product_id = ?"

# ---------------------------------------------------------------------- placed orders


@template(
    "shop-order-field", SITES, "read-value",
    ("What is the {field} of my order {number}?", "Tell me the {field} of the order with the number {number}.",
     "I need the {field} of order # {number} from my account."),
    lambda row: answer(amount(row["value"]) if row["value"].startswith("$") else row["value"]),
    lambda row: on_order(row, Answer(row["value"])),
)  # fmt: skip
def order_field(world: World) -> Iterator[Row]:
    for order in orders(world):
        values = {
            "grand total": money(order["grand_total"]),
            "status": STATUS.get(order["status"], order["status"]),
            "shipping city": order["shipping_city"],
            "shipping and handling cost": money(order["shipping_amount"]),
        }
        for what, value in values.items():
            yield {"number": order["increment_id"], "field": what, "value": value}


@template(
    "shop-order-tracking", SITES, "read-value",
    ("What is the {field} of the shipment of my order {number}?",
     "Find the {field} under which my order {number} was sent."),
    lambda row: answer(row["value"]),
    lambda row: [
        *on_order(row, Click(".order-links a", "Order Shipments")),
        On(f"/sales/order/shipment/order_id/{int(row['number'])}/", [Answer(row["value"])]),
    ],
    held_out=True,
)  # fmt: skip
def order_tracking(world: World) -> Iterator[Row]:
    rows = store(world).rows(
        "SELECT shipment.*, sales_order.increment_id AS number FROM shipment"
        " JOIN sales_order ON sales_order.id = order_id WHERE customer_id = ? ORDER BY shipment.id", AGENT,
    )  # fmt: skip
    for row in rows:
        for what, value in (("tracking number", row["tracking_number"]), ("carrier", row["tracking_title"])):
            yield {"number": row["number"], "field": what, "value": value}


def _periods(world: World) -> Iterator[tuple[str, list[Any]]]:
    """Every year and every month since the first order, with the orders of that time."""
    rows = orders(world)
    for year in range(2022, 2026):
        yield str(year), [row for row in rows if row["created_at"].startswith(str(year))]
        for month in range(1, 13):
            stamp = f"{year}-{month:02}"
            if stamp <= "2025-06":
                name = f"{calendar.month_name[month]} {year}"
                yield name, [row for row in rows if row["created_at"].startswith(stamp)]


def _read_history(row: Parameters) -> list[On]:
    """Through all pages of the list of orders to an answer."""
    return [
        *to_account("/sales/order/history/"),
        On("/sales/order/history/", [Click("a.page", "Next")]),
        On(LAST_PAGE, [Answer(row["value"])]),
    ]


def _open_paper(row: Parameters) -> list[On]:
    if row["path"] == "view":
        return on_order(row, Answer())
    target = f"/sales/order/{row['path']}/order_id/{int(row['number'])}/"
    return [*on_order(row, Click(f".order-links a[href='{target}']")), done(target)]


@template(
    "shop-open-order", SITES, "open-record",
    ("Open the {what} of my order {number}.", "Take me to the page with the {what} of order # {number}."),
    lambda row: ends_at(f"{SHOP}/sales/order/{row['path']}/order_id/{int(row['number'])}"), _open_paper,
)  # fmt: skip
def open_order(world: World) -> Iterator[Row]:
    for order in orders(world):
        yield {"number": order["increment_id"], "what": "details", "path": "view"}
        for table, what in (("invoice", "invoice"), ("shipment", "shipment"), ("creditmemo", "refund")):
            if store(world).value(f"SELECT count(*) FROM {table} WHERE order_id = ?", order["id"]):
                yield {"number": order["increment_id"], "what": what, "path": table}


PLACED = (
    order_field, order_tracking,
    Template(
        "shop-count-orders", SITES, "count-items",
        ("How many orders did I place in {period}? Answer with the number only.",
         "Count my orders from {period}, whatever became of them. Just the number, please."),
        lambda world: ({"period": period, "value": str(len(rows))} for period, rows in _periods(world)),
        lambda row: answer(row["value"]), _read_history,
    ),
    Template(
        "shop-sum-orders", SITES, "sum-values",
        ("How much did I spend in total in {period}? Count only complete orders, by their order totals.",
         "Add up the totals of my orders of {period} whose status is Complete."),
        lambda world: (
            {"period": period, "value": money(round(sum(complete), 2))} for period, rows in _periods(world)
            if (complete := [row["grand_total"] for row in rows if row["status"] == "Complete"])
        ),
        lambda row: answer(amount(row["value"])), _read_history, held_out=True,
    ),
    open_order,
)  # fmt: skip


# ---------------------------------------------------------------------- products for the cart


def _with_options(world: World, remainder: int) -> Iterator[Row]:
    """Products with an option value each that a person can choose by its text."""
    for row in products(world, remainder):
        chosen = []
        for name, values in options_of(store(world), row["id"]).items():
            value = values[row["id"] % len(values)]
            if next(each for each in values if value.lower() in each.lower()) != value:
                break
            chosen.append((name, value))
        else:
            wish = ", ".join(f"{name.lower()} {value}" for name, value in chosen)
            yield {**about(row), "options": chosen, "wish": f" ({wish})" if wish else "", "sku": row["sku"]}


@template(
    "shop-apply-coupon", SITES, "apply-coupon",
    ("Put \"{product}\"{wish} into my cart and apply the coupon {code}. What is the order total then?",
     "What would I pay in total for one \"{product}\"{wish} with the discount code {code}? Leave it in the cart."),
    lambda row: both(
        answer(amount(row["value"])),
        shows((CART, text_of(".cart-summary"), [row["code"]]), (CART, CART_ITEMS, [row["product"]])),
    ),
    lambda row: [
        *_add_to_cart(row, "1"), TO_CART,
        On("/checkout/cart/", [Fill("#coupon_code", row["code"]), Click("button.apply")]),
        On("/checkout/cart/", [Answer(row["value"])], contains=f"Code in use: {row['code']}"),
    ],
    held_out=True,
)  # fmt: skip
def apply_coupon(world: World) -> Iterator[Row]:
    rules = [dict(rule) for rule in store(world).rows("SELECT * FROM cart_rule ORDER BY id")]
    coded = [rule for rule in rules if rule["coupon_code"]]
    prices = {row["sku"]: row["final_price"] for row in products(world, 3)}
    for place, row in enumerate(_with_options(world, 3)):
        price = prices[row["sku"]]
        valid = [rule["coupon_code"] for rule in coded if applies(rule, price, TODAY, rule["coupon_code"])]
        if valid:
            code = valid[place % len(valid)]
            total = price + SHIPPING_METHODS[0].amount(1) - discount(price, TODAY, rules, code)
            yield {**row, "code": code, "value": money(round(total, 2))}


def _delivery(address: Any, method: ShippingMethod) -> Row:
    return {
        "street": address["street"], "address_id": address["id"], "method": method.carrier, "method_code": method.code,
    }  # fmt: skip


def _addresses(world: World) -> list[Any]:
    return store(world).rows("SELECT * FROM address WHERE customer_id = ? ORDER BY id", AGENT)


@template(
    "shop-add-to-wish-list", SITES, "add-to-list",
    ("Add \"{product}\" to my wish list.", "Put this product on my wish list: {product}",
     "I like \"{product}\". Remember it on my wish list."),
    lambda row: shows((f"{SHOP}/wishlist/", text_of(".products-grid.wishlist"), [row["product"]])),
    lambda row: [*on_product(row, Click("button.towishlist")), done("/wishlist/")],
)  # fmt: skip
def add_to_wish_list(world: World) -> Iterator[Row]:
    present = {row[0] for row in store(world).rows("SELECT product_id FROM wishlist_item WHERE customer_id = ?", AGENT)}
    return (about(row) for row in products(world, 5) if row["id"] not in present)


def _contents(row: Parameters) -> list[str]:
    """What the cart says of a product."""
    return [row["product"], *(f"{name}: {value}" for name, value in row["options"])]


def _add_to_cart(row: Parameters, qty: str) -> list[On]:
    choices = [Choose(f"select[name='super_attribute[{name.lower()}]']", value) for name, value in row["options"]]
    return on_product(row, *choices, Fill("#qty", qty), Click("#product-addtocart-button"))


def _is_ordered(row: Parameters) -> dict[str, Any]:
    return shows(
        (LATEST_ORDER, text_of(".order-details-items.ordered"), [*_contents(row), "Ordered: 1"]),
        (LATEST_ORDER, text_of(".box-address-shipping"), [row["street"]]),
        (LATEST_ORDER, text_of(".box-order-shipping-method"), [row["method"]]),
    )


@template(
    "shop-order-cheapest", SITES, "checkout",
    ("Order the cheapest product under {category} to my default address by {method}.",
     "Buy me the least expensive item of the category {category}; default address, {method} shipping."),
    _is_ordered,
    lambda row: [
        *on_category(row, Click(".sorter a", "Price")),
        On(category_page(row) + r"\?product_list_order=price$", [Click(product_link(row["url_key"]))]),
        On(product_page(row), [Click("#product-addtocart-button")]),
        *checkout(row),
    ],
    held_out=True,
)  # fmt: skip
def order_cheapest(world: World) -> Iterator[Row]:
    """Categories whose cheapest product is the only one at its price, in stock, and has nothing to choose."""
    db, delivery = store(world), _delivery(_addresses(world)[0], SHIPPING_METHODS[0])
    for category, prices in categories(world, 4):
        if prices[0] == prices[1]:
            continue
        row = db.row(
            "SELECT product.* FROM product JOIN category ON category.id = category_id WHERE product.status = 1"
            " AND (url_path = ? OR url_path LIKE ? || '/%') AND min(price, coalesce(special_price, price)) = ?",
            category["url_path"], category["url_path"], prices[0],
        )  # fmt: skip
        if row is not None and row["is_in_stock"] and not options_of(db, row["id"]):
            product = {"product": row["name"], "url_key": row["url_key"], "options": []}
            yield {**about_category(category), **product, **delivery}


@template(
    "shop-place-order", SITES, "checkout",
    ("Order one \"{product}\"{wish}, to be delivered to {street} by {method}.",
     "Buy \"{product}\"{wish}. Ship it to my address at {street} with {method} delivery."),
    _is_ordered, lambda row: [*_add_to_cart(row, "1"), *checkout(row)],
)  # fmt: skip
def place_order(world: World) -> Iterator[Row]:
    addresses = _addresses(world)
    for place, row in enumerate(_with_options(world, 4)):
        method = SHIPPING_METHODS[place // 2 % len(SHIPPING_METHODS)]
        yield {**row, **_delivery(addresses[place % len(addresses)], method)}


def _two_in_cart(row: Parameters) -> list[On]:
    second = {"phrase": row["other_phrase"], "url_key": row["other_url_key"], "options": row["other_options"]}
    first, both_there = (exists("store", IN_CART, AGENT, row[name]) for name in ("id", "other_id"))
    return in_turn(
        [*_add_to_cart(row, row["qty"]), done(SHOP, first)],
        [*_add_to_cart(second, "1"), replace(TO_CART, when=both_there), done("/checkout/cart/", both_there)],
    )


@template(
    "shop-two-to-cart", SITES, "add-to-cart",
    ("Put {qty} of \"{product}\"{wish} and one \"{other_product}\"{other_wish} into my cart, and open the cart.",
     "Two things for my cart: {qty} x \"{product}\"{wish}, and one \"{other_product}\"{other_wish}. Open it then."),
    lambda row: shows(
        (CART, CART_ITEMS, [*_contents(row), row["other_product"], *(value for _, value in row["other_options"])]),
        (CART, text_of(".cart-summary"), [row["subtotal"]]),
    ),
    _two_in_cart,
)  # fmt: skip
def two_to_cart(world: World) -> Iterator[Row]:
    known = {row["sku"]: row for row in products(world, 4)}
    rows = list(_with_options(world, 4))
    for place, (first, second) in enumerate(zip(rows[::2], rows[1::2], strict=False)):
        one, two, qty = known[first["sku"]], known[second["sku"]], 2 + place % 3
        other = {f"other_{name}": value for name, value in {**second, "id": two["id"]}.items()}
        subtotal = money(round(one["final_price"] * qty + two["final_price"], 2))
        yield {**first, **other, "id": one["id"], "qty": str(qty), "subtotal": subtotal}


BOUGHT = (
    Template(
        "shop-add-to-cart", SITES, "add-to-cart",
        ("Add {qty} of \"{product}\"{wish} to my cart.",
         "Put this into the shopping cart, quantity {qty}: {product}{wish}",
         "I want {qty} x \"{product}\"{wish}. Put it into my cart, but do not order yet."),
        lambda world: ({**row, "qty": str(1 + place % 4)} for place, row in enumerate(_with_options(world, 2))),
        lambda row: shows(
            (CART, CART_ITEMS, _contents(row)), (CART, "document.querySelector('input.qty').value", row["qty"])
        ),
        lambda row: [*_add_to_cart(row, row["qty"]), TO_CART, done("/checkout/cart/")],
    ),
    two_to_cart, apply_coupon, place_order,
    order_cheapest, add_to_wish_list,
)  # fmt: skip
TEMPLATES = (*PLACED, *BOUGHT)
