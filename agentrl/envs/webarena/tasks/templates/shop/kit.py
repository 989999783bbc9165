"""What the templates of the shop share: ways to pages, and things to ask about."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator

from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.shop.base import FINAL_PRICE
from agentrl.envs.webarena.sites.shop.search import found_products
from agentrl.envs.webarena.sites.store.people import AGENT
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Act, Check, Click, Fill, On, Parameters, Reveal
from agentrl.envs.webarena.tasks.vocabulary import Row, done, exists

SITES = ("shopping",)
SHOP = "__SHOPPING__"
FIRST_RESULTS = 8  # a person sees these without turning the page
STRIDE = 15  # of so many products each template asks about one
PHRASE = 48  # characters of a title that a person would type

REVIEWS = Reveal("#reviews", "click", "#tab-reviews")

# ---------------------------------------------------------------------- ways


def on_product(row: Parameters, *acts: Act) -> list[On]:
    """From anywhere to a product by the search box, and do this on its page."""
    return [
        On(SHOP, [Fill("#search", row["phrase"], enter=True)]),
        On(r"/catalogsearch/result/\?q=", [Click(product_link(row["url_key"]))]),
        On(product_page(row), acts),
    ]


def product_page(row: Parameters) -> str:
    """The page of a product."""
    return re.escape(f"/{row['url_key']}.html")


def product_link(url_key: str) -> str:
    """The link to a product in a list."""
    return f"a.product-item-link[href='/{url_key}.html']"


def on_category(row: Parameters, *acts: Act) -> list[On]:
    """From anywhere to a category through the menu and the categories around it, and do this there."""
    names = row["url_path"].split("/")
    steps = [On(SHOP, [Click(f"a.level-top[href='/{names[0]}.html']")])]
    for depth in range(1, len(names)):
        here, there = "/".join(names[:depth]), "/".join(names[: depth + 1])
        steps.append(On(re.escape(f"/{here}.html"), [Click(f".filter-options a[href='/{there}.html']")]))
    return [*steps, On(category_page(row), acts)]


def category_page(row: Parameters) -> str:
    """The page of a category."""
    return re.escape(f"/{row['url_path']}.html")


def to_account(page: str) -> list[On]:
    """From anywhere to a page of the account through its menu."""
    return [
        On(SHOP, [Click("ul.links a", "My Account")]),
        On(r"/customer/account/$", [Click(f".account-nav a[href='{page}']")]),
    ]


def on_order(row: Parameters, *acts: Act) -> list[On]:
    """From anywhere to one of the customer's orders, turning the pages of the list, and do this on its page."""
    path = f"/sales/order/view/order_id/{int(row['number'])}/"
    return [
        *to_account("/sales/order/history/"),
        On("/sales/order/history/", [Click("a.page", "Next")]),
        On("/sales/order/history/", [Click(f"a.view[href='{path}']")], contains=f"{int(row['number']):09}"),
        On(re.escape(path), acts),
    ]


def checkout(row: Parameters) -> list[On]:
    """From anywhere, once something is in the cart, to a placed order."""
    address, method = Check(f"#address-{row['address_id']}"), Check(f"#s_method_{row['method_code']}")
    return [
        TO_CART,
        On("/checkout/cart/", [Click("a.checkout")]),
        On(r"/checkout/$", [address, method, Click("button.continue")]),
        On("/checkout/payment/", [Click("button.checkout")]),
        done("/checkout/onepage/success/"),
    ]


OPEN_CART = Reveal("#minicart", "click", "a.showcart")
TO_CART = On(
    SHOP,
    [OPEN_CART, Click("#minicart a.viewcart")],
    when=exists("store", "SELECT 1 FROM cart_item WHERE customer_id = ?", AGENT),
)

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


def about(row: sqlite3.Row) -> Row:
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


def about_category(category: sqlite3.Row) -> Row:
    """The parameters by which every template finds a category: "Hair Care > Hair Masks"."""
    return {"category": f"{category['parent']} > {category['name']}", "url_path": category["url_path"]}


def amount(printed: str) -> str:
    """An amount such as "$1,234.50" as an answer may spell it, without the sign."""
    grouped = printed.removeprefix("$")
    plain = grouped.replace(",", "")
    return plain if plain == grouped else f"{plain} |OR| {grouped}"
