"""The pages of the shop as data: where a shopper can stand, and which strings are seen there."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import quote, quote_plus

from agentrl.envs.webshop.body import Body, Part, Parts
from agentrl.envs.webshop.goals import Goal
from agentrl.envs.webshop.product import Product

SEARCH, RESULTS, ITEM, DONE = "search", "results", "item", "done"
SUB_PAGES = ("description", "features", "reviews", "attributes")
PAGES = (SEARCH, RESULTS, ITEM, *SUB_PAGES, DONE)
RESULTS_PER_PAGE = 10
SHOP_NAME = "WebShop"
BACK, PREV, NEXT, BUY = "Back to Search", "< Prev", "Next >", "Buy Now"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a shopper stands; with the goal, all that a page depends on."""

    page: str = SEARCH
    query: str = ""  # the last search, in its plain form
    lot: int = 0  # what the random search drew
    number: int = 0  # of the results page, from 1
    asin: str = ""
    options: tuple[tuple[str, str], ...] = ()  # chosen, in the order of the first choice of each name


@dataclass(frozen=True, slots=True)
class Page:
    """What can be seen and clicked at a place."""

    kind: str
    wish: Parts  # above the body
    body: Body
    url: str
    asin: str = ""  # of the product that is open

    @property
    def parts(self) -> Parts:
        """Every visible string, in order."""
        return self.wish + self.body.parts

    @property
    def has_search_bar(self) -> bool:
        """Only the first page shows one; a search is understood everywhere."""
        return self.kind == SEARCH

    def clickables(self) -> list[str]:
        """What `click[...]` takes here."""
        return list(self.body.clickables)


# ---------------------------------------------------------------------- parts


def instruction(goal: Goal) -> Parts:
    """The wish, as it stands above every page but the last."""
    return Part("label", "Instruction:"), Part("goal", goal.instruction)


SEARCH_HEAD: Parts = (Part("shop", SHOP_NAME),)
SEARCH_BODY = Body.of((Part("button", "Search"),))
ALL_SUB_BUTTONS: Parts = tuple(Part("button", name.capitalize()) for name in SUB_PAGES)
BUY_BUTTON = Part("button", BUY)
BACK_AND_PREV: Parts = (Part("button", BACK), Part("button", PREV))


def results_body(number: int, total: int, asins: Sequence[str], listings: Sequence[tuple[str, str]]) -> Body:
    """A page of results: of each product its id, its title and its price tag.

    `Next >` is there even behind the last page, as in the benchmark.
    """
    texts = [BACK, f"Page {number} (Total results: {total})", *((PREV, NEXT) if number > 1 else (NEXT,))]
    for asin, (title, price) in zip(asins, listings, strict=True):
        texts += asin, title, price
    return Body(_results_kinds(number > 1, len(asins)), texts)


@lru_cache(maxsize=4 * RESULTS_PER_PAGE)
def _results_kinds(with_way_back: bool, products: int) -> tuple[str, ...]:
    return ("button", "heading", *("button",) * (1 + with_way_back), *("product", "title", "price") * products)


def option_parts(product: Product, chosen: Iterable[tuple[str, str]] = ()) -> Parts:
    """The options of a product, each name followed by its values."""
    marked = dict(chosen)
    found: list[Part] = []
    for name, values in product.options.items():
        found.append(Part("option_name", name))
        taken = marked.get(name)
        found += [option(value, value == taken) for value in values]
    return tuple(found)


@lru_cache(maxsize=4_096)
def option(value: str, chosen: bool) -> Part:
    """A value that can be chosen: the same few stand on most pages."""
    return Part("option", value, chosen)


def item_tail(product: Product, show_attributes: bool) -> Parts:
    """What stands below the options of a product."""
    return (
        Part("title", product.title),
        Part("price", f"Price: {product.price_tag}"),
        Part("rating", f"Rating: {product.rating}"),
        *(ALL_SUB_BUTTONS if show_attributes else ALL_SUB_BUTTONS[:-1]),
        BUY_BUTTON,
    )


def sub_page_lines(product: Product, page: str) -> Parts:
    """The strings of a sub page; there may be none."""
    lines: dict[str, Iterable[str]] = {
        "description": (product.description,),
        "features": product.bullets,
        "reviews": product.reviews,
        "attributes": (*product.attributes, product.category, product.query, product.category_path),
    }
    return tuple(Part("line", line.strip()) for line in lines[page] if line.strip())


def done_parts(product: Product, options: Iterable[tuple[str, str]], score: float) -> Parts:
    """The receipt. "Your code" is left over from the benchmark's crowd workers and always None, as are the details."""
    rows = {"asin": product.asin, "options": json.dumps(dict(options), ensure_ascii=False)}
    bought = [part for name, value in rows.items() for part in (Part("field", name), Part("value", value))]
    return (
        Part("heading", "Thank you for shopping with us!"),
        *(Part("label", "Your code:"), Part("value", "None")),
        *(Part("label", "Purchased"), *bought, Part("bought", product.title)),
        *(Part("label", "Your score (min 0.0, max 1.0)"), Part("score", str(score))),
        *(Part("label", "Reward Details"), Part("value", "None")),
    )


# ---------------------------------------------------------------------- addresses


def page_url(session: str, place: Place) -> str:
    """The address of a page in the benchmark's scheme."""
    words = _words(place.query)
    if place.page == SEARCH:
        return f"/{session}"
    if place.page == RESULTS:
        return f"/search_results/{session}/{words}/{place.number}"
    options = _options(place.options)
    if place.page == DONE:
        return f"/done/{session}/{place.asin}/{options}"
    where = f"{session}/{place.asin}/{words}/{place.number}"
    if place.page == ITEM:
        return f"/item_page/{where}/{options}"
    return f"/item_sub_page/{where}/{place.page.capitalize()}/{options}"


_words = lru_cache(maxsize=4_096)(quote_plus)


@lru_cache(maxsize=4_096)
def _options(chosen: tuple[tuple[str, str], ...]) -> str:
    return quote(json.dumps(dict(chosen)))


def available_actions(page: Page | None) -> dict[str, Any]:
    """What `info["available_actions"]` says; nothing is available once the episode is over."""
    if page is None:
        return {"has_search_bar": False, "clickables": []}
    return {"has_search_bar": page.has_search_bar, "clickables": page.clickables()}
