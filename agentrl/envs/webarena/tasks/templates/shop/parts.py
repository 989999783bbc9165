"""What the templates of the shop share: evaluators, ways to pages, and things to ask about."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.shop.base import FINAL_PRICE
from agentrl.envs.webarena.sites.shop.search import found_products
from agentrl.envs.webarena.sites.store.people import AGENT
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Act, Answer, Check, Click, Fill, On, literal

SITES = ("shopping",)
SHOP = "__SHOPPING__"
FIRST_RESULTS = 8  # a person sees these without turning the page
STRIDE = 15  # of so many products each template asks about one
PHRASE = 48  # characters of a title that a person would type

# ---------------------------------------------------------------------- evaluators


def answer(*parts: str, exact: str | None = None) -> dict[str, Any]:
    """The answer must contain all parts, or be exactly one text."""
    wanted: dict[str, Any] = {"must_include": list(parts)} if exact is None else {"exact_match": exact}
    return {"eval_types": ["string_match"], "reference_answers": wanted}


def address(*urls: str, exact: bool = False) -> dict[str, Any]:
    """The agent must end at one of these addresses."""
    note = "EXACT" if exact else "GOLD in PRED"
    return {"eval_types": ["url_match"], "reference_url": " |OR| ".join(urls), "url_note": note}


def pages(*targets: tuple[str, str, dict[str, Any]]) -> dict[str, Any]:
    """Pages must look so: (address, locator, required contents) each."""
    keys = ("url", "locator", "required_contents")
    return {"eval_types": ["program_html"], "program_html": [dict(zip(keys, each, strict=True)) for each in targets]}


def amount(printed: str) -> str:
    """An amount such as "$1,234.50" as an answer may spell it, without the sign."""
    grouped = printed.removeprefix("$")
    plain = grouped.replace(",", "")
    return plain if plain == grouped else f"{plain} |OR| {grouped}"


def text_of(selector: str) -> str:
    """The locator of an element's text."""
    return f"document.querySelector('{selector}').outerText"


# ---------------------------------------------------------------------- ways


def search_for(phrase: str, url_key: str) -> list[On]:
    """From anywhere to a product by the search box."""
    return [
        On(SHOP, [Fill("#search", phrase, enter=True)]),
        On(r"/catalogsearch/result/\?q=", [Click(f"a.product-item-link[href='/{url_key}.html']")]),
    ]


def on_product(url_key: str, acts: Sequence[Act], when: Callable[[World], bool] | None = None) -> On:
    """What to do on the page of a product."""
    return On(literal(f"/{url_key}.html"), acts, when=when)


def to_category(url_path: str) -> list[On]:
    """From anywhere to a category through the menu and the categories around it."""
    names = url_path.split("/")
    steps = [On(SHOP, [Click(f"a.level-top[href='/{names[0]}.html']")])]
    for depth in range(1, len(names)):
        here, there = "/".join(names[:depth]), "/".join(names[: depth + 1])
        steps.append(On(literal(f"/{here}.html"), [Click(f".filter-options a[href='/{there}.html']")]))
    return steps


def to_account(page: str) -> list[On]:
    """From anywhere to a page of the account through its menu."""
    return [
        On(SHOP, [Click("ul.links a", "My Account")]),
        On(r"/customer/account/$", [Click(f".account-nav a[href='{page}']")]),
    ]


def to_order(number: int) -> list[On]:
    """From anywhere to one of the customer's orders, turning the pages of the list."""
    link = f"a.view[href='/sales/order/view/order_id/{number}/']"
    return [
        *to_account("/sales/order/history/"),
        On("/sales/order/history/", [Click("a.page", "Next")]),
        On("/sales/order/history/", [Click(link)], contains=f"{number:09}"),
    ]


def on_order(number: int, *acts: Act) -> On:
    """What to do on the page of an order."""
    return On(literal(f"/sales/order/view/order_id/{number}/"), acts)


def checkout(address_id: int, method: str) -> list[On]:
    """From the cart to a placed order."""
    return [
        On("/checkout/cart/", [Click("a.checkout")]),
        On(r"/checkout/$", [Check(f"#address-{address_id}"), Check(f"#s_method_{method}"), Click("button.continue")]),
        On("/checkout/payment/", [Click("button.checkout")]),
        On("/checkout/onepage/success/", [Answer()]),
    ]


def in_cart(world: World) -> bool:
    """Has the customer put anything into the cart?"""
    return bool(store(world).value("SELECT count(*) FROM cart_item WHERE customer_id = ?", AGENT))


# ---------------------------------------------------------------------- things to ask about


def store(world: World) -> Database:
    """The shop's data."""
    return world.database("store")


def phrase_of(name: str) -> str:
    """The beginning of a title, as a person would type it into the search box."""
    return name[:PHRASE].rsplit(" ", 1)[0].rstrip(" ,-") if len(name) > PHRASE else name


def products(world: World, remainder: int) -> Iterator[sqlite3.Row]:
    """Products in stock that a search for the beginning of their title brings up; those whose id leaves this remainder,
    so that templates ask about different ones."""
    return (row for row in _in_stock(world) if row["id"] % STRIDE == remainder and _is_findable(world, row))


def reviewed_products(world: World, least: int, most: int) -> Iterator[tuple[sqlite3.Row, list[sqlite3.Row]]]:
    """Products with about so many approved reviews, and these, oldest first."""
    reviews: dict[int, list[sqlite3.Row]] = {}
    for review in store(world).rows("SELECT * FROM review WHERE status = 'Approved' ORDER BY id"):
        reviews.setdefault(review["product_id"], []).append(review)
    for row in _in_stock(world):
        found = reviews.get(row["id"], [])
        if least <= len(found) <= most and _is_findable(world, row):
            yield row, found


def _in_stock(world: World) -> list[sqlite3.Row]:
    return store(world).rows(
        f"SELECT *, {FINAL_PRICE} AS final_price FROM product WHERE status = 1 AND is_in_stock = 1 AND qty >= 10"
        " AND name IN (SELECT name FROM product GROUP BY name HAVING count(*) = 1) ORDER BY id"
    )


def _is_findable(world: World, row: sqlite3.Row) -> bool:
    return row["id"] in found_products(store(world), phrase_of(row["name"]))[:FIRST_RESULTS]


def about(row: sqlite3.Row) -> dict[str, Any]:
    """The parameters by which every template finds a product."""
    return {"product": row["name"], "phrase": phrase_of(row["name"]), "url_key": row["url_key"]}


def orders(world: World) -> list[sqlite3.Row]:
    """The customer's orders, oldest first."""
    return store(world).rows("SELECT * FROM sales_order WHERE customer_id = ? ORDER BY id", AGENT)


def categories(world: World, smallest: int = 1) -> Iterator[tuple[sqlite3.Row, list[float]]]:
    """Categories below the top with at least so many products, and the prices of these, sorted."""
    db = store(world)
    prices: dict[str, list[float]] = {}
    for row in db.rows(
        f"SELECT url_path, {FINAL_PRICE} AS price FROM product JOIN category ON category.id = category_id"
        " WHERE status = 1 ORDER BY price"
    ):
        names = row["url_path"].split("/")
        for depth in range(2, len(names) + 1):
            prices.setdefault("/".join(names[:depth]), []).append(row["price"])
    for category in db.rows(
        "SELECT category.*, parent.name AS parent FROM category"
        " JOIN category AS parent ON parent.id = category.parent_id ORDER BY category.id"
    ):
        found = prices.get(category["url_path"], [])
        if len(found) >= smallest:
            yield category, found


def named(category: sqlite3.Row) -> str:
    """A category with the one around it: "Hair Care > Hair Masks"."""
    return f"{category['parent']} > {category['name']}"
