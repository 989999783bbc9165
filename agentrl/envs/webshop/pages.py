"""The pages of the shop as data: where an agent can be, and which strings it sees there.

Text, rich text, HTML and picture (`page_text`, `page_html`, `page_picture`) are all made from the same strings.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote, quote_plus

from agentrl.envs.common.catalogue.product import Product

SEARCH, RESULTS, ITEM, DONE = "search", "results", "item", "done"
SUB_PAGES = ("description", "features", "reviews", "attributes")
PAGES = (SEARCH, RESULTS, ITEM, *SUB_PAGES, DONE)
RESULTS_PER_PAGE = 10
SHOP_NAME = "WebShop"
BACK, PREV, NEXT, BUY = "Back to Search", "< Prev", "Next >", "Buy Now"
SEPARATOR = " [SEP] "
CLICKABLE = frozenset({"button", "product", "option"})


# ---------------------------------------------------------------------- what a page is made of


class Part(NamedTuple):
    """One visible string of a page. `kind` says what it is:

    `shop`, `label`, `goal`, `heading`, `button`, `product` (the id that opens it), `title`, `price`, `rating`,
    `option_name`, `option`, `line` (of a sub page); on the last page `field`, `value`, `bought` and `score`.
    """

    kind: str
    text: str
    chosen: bool = False  # of an option


Parts = tuple[Part, ...]
SHOWN_BLANK = frozenset({"line"})  # an empty title is no string in the benchmark's pages; a blank feature is
Targets = tuple[tuple[str, ...], tuple[int, ...]]


class Body:
    """What a place shows below the instruction, and what of it can be clicked: the same for every agent there.

    Thousands are remembered, and text and clicks need strings only. So strings are kept in plain tuples, which cost
    the garbage collector nothing, and parts are made of them when the page is drawn.
    """

    __slots__ = ("_chosen", "_kinds", "_parts", "_targets", "_texts", "clickables", "text")

    def __init__(self, kinds: Sequence[str], texts: Sequence[str]) -> None:
        self._kinds, self._texts = tuple(kinds), tuple(texts)
        self._chosen: tuple[int, ...] = ()  # places of options
        self._parts: Parts | None = None
        self._targets: Targets | None = None  # made at the first click
        # Each name once, in the benchmark's order: buttons and ids in lower case, then option values as they are.
        pressed, values = [], []
        for kind, text in zip(self._kinds, self._texts, strict=True):
            if kind == "option":
                values.append(text)
            elif kind in CLICKABLE:
                pressed.append(text.lower())
        self.clickables = tuple(dict.fromkeys(pressed + values))
        if "" in texts:
            texts = [text for kind, text in zip(kinds, texts, strict=True) if text or kind in SHOWN_BLANK]
        self.text = SEPARATOR.join(texts)

    def choosing(self, options: Iterable[tuple[str, str]]) -> Body:
        """The same with these options chosen, (name, value) each. Shares everything that a choice does not change."""
        wanted = dict(options)
        if not wanted:
            return self
        other = object.__new__(Body)
        other._kinds, other._texts, other._parts = self._kinds, self._texts, None
        other.clickables, other.text = self.clickables, self.text
        other._targets = self._targets or self._aim()
        places: list[int] = []  # where these options' values stand
        value: str | None = None
        for place, kind in enumerate(self._kinds):
            if kind == "option":
                if self._texts[place] == value:
                    places.append(place)
            elif kind == "option_name":
                value = wanted.get(self._texts[place])
        other._chosen = tuple(places)
        return other

    @property
    def parts(self) -> Parts:
        """Every visible string, in order."""
        if self._parts is None:
            self._parts = tuple([self._part(place) for place in range(len(self._texts))])
        return self._parts

    def _part(self, place: int) -> Part:
        return Part(self._kinds[place], self._texts[place], place in self._chosen)

    def find(self, wanted: str) -> Part | None:
        """What `click[wanted]` means here: a button before an option; of two options one that is not chosen yet."""
        number = self.number_of(wanted)
        return None if number is None else self._part((self._targets or self._aim())[1][number])

    def number_of(self, wanted: str) -> int | None:
        """The place of that among everything that can be clicked, from 0."""
        names, places = self._targets or self._aim()
        if wanted not in names:
            return None
        if names.count(wanted) == 1:
            return names.index(wanted)
        found = [number for number, name in enumerate(names) if name == wanted]
        buttons = [number for number in found if self._kinds[places[number]] != "option"]
        return next((number for number in buttons or found if places[number] not in self._chosen), found[-1])

    def _aim(self) -> Targets:
        """Of everything that can be clicked the name in its plain form, and its place."""
        places = tuple([place for place, kind in enumerate(self._kinds) if kind in CLICKABLE])
        names = tuple([" ".join(self._texts[place].lower().split()) for place in places])
        self._targets = self.clickables if names == self.clickables else names, places
        return self._targets


@dataclass(frozen=True, slots=True)
class Place:
    """Where an agent is; with the goal, all that a page depends on."""

    page: str = SEARCH
    query: str = ""  # the last search, in its plain form
    lot: int = 0  # seed of the random search
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
    opened: frozenset[str] = frozenset()  # ids of products that were opened since the search page

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


# ---------------------------------------------------------------------- every kind of page


@lru_cache(maxsize=4_096)
def instruction(text: str) -> Parts:
    """A goal's instruction, as it stands above every page but the last."""
    return Part("label", "Instruction:"), Part("goal", text)


SEARCH_HEAD: Parts = (Part("shop", SHOP_NAME),)
SEARCH_BODY = Body(("button",), ("Search",))
SUB_BUTTONS = tuple(name.capitalize() for name in SUB_PAGES)


def results_body(number: int, total: int, asins: Sequence[str], listings: Sequence[tuple[str, str]]) -> Body:
    """A page of results: of each product its id, its title and its price tag.

    `Next >` is there even after the last page, as in the benchmark.
    """
    texts = [BACK, f"Page {number} (Total results: {total})", *((PREV, NEXT) if number > 1 else (NEXT,))]
    for asin, (title, price) in zip(asins, listings, strict=True):
        texts += asin, title, price
    return Body(_results_kinds(number > 1, len(asins)), texts)


@lru_cache(maxsize=4 * RESULTS_PER_PAGE)
def _results_kinds(with_way_back: bool, products: int) -> tuple[str, ...]:
    return ("button", "heading", *("button",) * (1 + with_way_back), *("product", "title", "price") * products)


def item_body(product: Product, show_attributes: bool = False) -> Body:
    """The page of a product: its options, each name followed by its values, then what it is and costs, and buttons."""
    kinds, texts = ["button", "button"], [BACK, PREV]
    for name, values in product.options.items():
        kinds += ["option_name", *["option"] * len(values)]
        texts += [name, *values]
    buttons = SUB_BUTTONS if show_attributes else SUB_BUTTONS[:-1]
    texts += [product.title, f"Price: {product.price_tag}", f"Rating: {product.rating}", *buttons, BUY]
    kinds += ["title", "price", "rating", *["button"] * (len(buttons) + 1)]
    return Body(kinds, texts)


def sub_page_body(product: Product, page: str) -> Body:
    """What a sub page tells of a product; it may be nothing."""
    if page == "description":
        lines = _written([product.description])
    elif page == "features":
        lines = _listed(product.bullets)
    elif page == "reviews":
        lines = _written(product.reviews)
    else:
        lines = [*_listed(product.attributes), *_written((product.category, product.query, product.category_path))]
    return Body(["button", "button", *["line"] * len(lines)], [BACK, PREV, *lines])


def _written(texts: Iterable[str]) -> list[str]:
    """The texts that are not blank."""
    return [text.strip() for text in texts if text.strip()]


def _listed(items: Iterable[str]) -> list[str]:
    """The items of a list. A blank one is an empty string, and one with a line break in it nothing: the benchmark's
    pages have a space before every item, and its reader leaves out strings that are only line breaks."""
    return [item.strip() for item in items if item.strip() or "\n" not in item]


def done_body(product: Product, options: Iterable[tuple[str, str]], score: float) -> Body:
    """The receipt. "Your code" is left over from the benchmark's crowd workers and always None, as are the details."""
    bought = {"asin": product.asin, "options": json.dumps(dict(options), ensure_ascii=False)}
    rows = (
        ("heading", "Thank you for shopping with us!"),
        *(("label", "Your code:"), ("value", "None")),
        ("label", "Purchased"),
        *(row for name, value in bought.items() for row in (("field", name), ("value", value))),
        ("bought", product.title),
        *(("label", "Your score (min 0.0, max 1.0)"), ("score", str(score))),
        *(("label", "Reward Details"), ("value", "None")),
    )
    return Body([kind for kind, _ in rows], [text for _, text in rows])


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
