"""Lists of products: filters beside them, sorting and pages. Categories and searches share it.

All state is in the address, in the order in which Magento writes it: filters, `product_list_order`, `q`,
`product_list_dir`, `product_list_limit`, `product_list_mode`, `p`.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlencode

from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.formats import money, paging
from agentrl.envs.webarena.sites.shop.base import FINAL_PRICE, ratings_of
from agentrl.envs.webarena.sites.shop.search import MAX_LENGTH, Item
from agentrl.envs.webarena.sites.site import Context

PARAMETERS = (
    "cat", "price", "brand", "color", "name", "sku", "description", "short_description", "price[from]", "price[to]",
    "product_list_order", "q", "product_list_dir", "product_list_limit", "product_list_mode", "p",
)  # fmt: skip
LIMITS = (12, 24, 36)
ORDERS = {"position": "Position", "relevance": "Relevance", "name": "Product Name", "price": "Price"}
STEPS = (1, 2, 5, 10, 20, 30, 50, 100, 200, 300, 500)  # widths of price ranges, in dollars
MAX_CHOICES = 8  # of a filter
PRODUCTS = f"SELECT product.*, {FINAL_PRICE} AS final_price FROM product"


class Link(NamedTuple):
    """A link of a list; `count` products are behind it, `current` is where we are."""

    label: str
    url: str
    count: int = 0
    current: bool = False


class Filter(NamedTuple):
    """One block of the layered navigation."""

    title: str
    links: list[Link]


@dataclass
class Listing:
    """One page of a list of products, ready for the template."""

    context: Context
    path: str  # links go there
    orders: tuple[str, ...]  # ways of sorting; the first is how candidates come
    candidates: Sequence[Item]
    descending: bool = False  # the direction where the address gives none
    categories: Sequence[tuple[str, str, int]] = ()  # name, address and id of narrower categories
    values: dict[str, str] = field(default_factory=dict)
    products: list[Item] = field(default_factory=list)

    def __post_init__(self) -> None:
        asked = dict(self.context.request.query)
        self.values = {name: asked[name][:MAX_LENGTH] for name in PARAMETERS if asked.get(name)}
        low, high = price_range(self.values.get("price", ""))
        brand, color = (self.values.get(name, "").lower() for name in ("brand", "color"))
        fitting = [item for item in self.candidates if low <= item.price < high]
        if brand:
            fitting = [item for item in fitting if brand == item.brand.lower()]
        if color:
            fitting = [item for item in fitting if color in item.colors]
        self.products = self._sorted(fitting)
        asked_page = self.context.number(self.values.get("p", ""), 1)
        self.page, self.last_page = paging(asked_page, len(self.products), self.limit)

    # ------------------------------------------------------------------ what the address says

    @property
    def order(self) -> str:
        """How the list is sorted."""
        asked = self.values.get("product_list_order", "")
        return asked if asked in self.orders else self.orders[0]

    @property
    def is_descending(self) -> bool:
        """Largest first?"""
        return {"asc": False, "desc": True}.get(self.values.get("product_list_dir", ""), self.descending)

    @property
    def limit(self) -> int:
        """Products per page."""
        asked = self.context.number(self.values.get("product_list_limit", ""))
        return asked if asked in LIMITS else LIMITS[0]

    @property
    def mode(self) -> str:
        """ "grid" or "list"."""
        return "list" if self.values.get("product_list_mode") == "list" else "grid"

    def link(self, **changes: str | int | None) -> str:
        """The address of this list with other values; every change but of the page leads to the first page."""
        values = {name: value for name, value in self.values.items() if name != "p"} | changes
        kept = [(name, values[name]) for name in PARAMETERS if values.get(name) is not None]
        return f"{self.path}?{urlencode(kept)}" if kept else self.path

    # ------------------------------------------------------------------ what the template shows

    @property
    def shown(self) -> list[sqlite3.Row]:
        """The products of this page."""
        ids = [item.id for item in self.products[(self.page - 1) * self.limit : self.page * self.limit]]
        rows = self.context.db.rows(f"{PRODUCTS} WHERE id IN ({', '.join('?' * len(ids))})", *ids)
        return sorted(rows, key=lambda row: ids.index(row["id"]))

    @property
    def ratings(self) -> dict[int, tuple[float, int]]:
        """Stars and numbers of reviews of the products of this page."""
        shown = self.products[(self.page - 1) * self.limit : self.page * self.limit]
        return ratings_of(self.context.db, [item.id for item in shown])

    @property
    def amount(self) -> str:
        """ "Items 1-12 of 345"."""
        if len(self.products) <= self.limit:
            return f"{len(self.products)} Item{'' if len(self.products) == 1 else 's'}"
        first = (self.page - 1) * self.limit + 1
        return f"Items {first}-{min(first + self.limit - 1, len(self.products))} of {len(self.products)}"

    @property
    def sorters(self) -> list[Link]:
        """The ways of sorting."""
        return [
            Link(ORDERS[order], self.link(product_list_order=order, product_list_dir=None), current=order == self.order)
            for order in self.orders
        ]

    @property
    def direction(self) -> Link:
        """Turns the order round."""
        if self.is_descending:
            return Link("Set Ascending Direction", self.link(product_list_dir="asc"))
        return Link("Set Descending Direction", self.link(product_list_dir="desc"))

    @property
    def pages(self) -> list[Link]:
        """Links to other pages; none where there is one page only."""
        return page_links(self.page, self.last_page, lambda page: self.link(p=page if page > 1 else None))

    @property
    def limits(self) -> list[Link]:
        """How many products a page may show."""
        return [Link(str(limit), self.link(product_list_limit=limit), current=limit == self.limit) for limit in LIMITS]

    @property
    def applied(self) -> list[Link]:
        """The filters in force; each link takes one away."""
        return [
            Link(f"{name.title()}: {self._described(name)}", self.link(**{name: None}))
            for name in ("cat", "price", "brand", "color")
            if name in self.values
        ]

    @property
    def without_filters(self) -> str:
        """The address of the same list without filters."""
        return self.link(cat=None, price=None, brand=None, color=None)

    @property
    def filters(self) -> list[Filter]:
        """The layered navigation: what can be narrowed further."""
        found = []
        if self.categories:
            counts = category_counts(self.context.db, self.products)
            links = [Link(name, url, counts[row_id]) for name, url, row_id in self.categories if counts[row_id]]
            found.append(Filter("Category", links))
        if "price" not in self.values:
            found.append(Filter("Price", self._price_links()))
        brands = Counter(product.brand for product in self.products if product.brand)
        colors = Counter(color for product in self.products for color in product.colors)
        for name, counter in (("brand", brands), ("color", colors)):
            if name not in self.values:
                most = sorted(counter.items(), key=lambda pair: (-pair[1], pair[0]))[:MAX_CHOICES]
                links = [Link(label, self.link(**{name: label}), count) for label, count in most]
                found.append(Filter(name.title(), links))
        return [block for block in found if block.links]

    # ------------------------------------------------------------------ inside

    def _sorted(self, products: list[Item]) -> list[Item]:
        """Equal prices and names keep the order in which products came."""
        keys: dict[str, Callable[[Item], Any]] = {
            "name": lambda product: product.name.lower(),
            "price": lambda product: product.price,
        }
        if self.order in keys:
            return sorted(products, key=keys[self.order], reverse=self.is_descending)
        # The default is best first; turned round it is worst first.
        return products if self.is_descending == self.descending else products[::-1]

    def _price_links(self) -> list[Link]:
        if not self.products:
            return []
        prices = sorted(product.price for product in self.products)
        step = price_step(prices)
        top = 6 * step
        buckets = Counter(min(int(price // step) * step, top) for price in prices)
        links = []
        for low in sorted(buckets):
            high = None if low == top else low + step
            label = f"{money(low)} - {money(high - 0.01)}" if high else f"{money(low)} and above"
            links.append(Link(label, self.link(price=f"{low}-{high or ''}"), buckets[low]))
        return links

    def _described(self, name: str) -> str:
        value = self.values[name]
        if name == "cat":
            found = self.context.db.get("category", self.context.number(value))
            return found["name"] if found else value
        if name == "price":
            low, high = price_range(value)
            return f"{money(low)} and above" if high == float("inf") else f"{money(low)} - {money(high - 0.01)}"
        return value


def price_range(text: str) -> tuple[float, float]:
    """The limits in "10-20", "10-" or "-20"; anything else is no limit at all."""
    found = re.fullmatch(r"(\d{1,9}(?:\.\d+)?)?-(\d{1,9}(?:\.\d+)?)?", text)
    if found is None:
        return 0.0, float("inf")
    return float(found[1] or 0), float(found[2] or "inf")


def price_step(prices: Sequence[float]) -> int:
    """A round width that puts nine tenths of the prices (sorted) into six ranges or fewer."""
    typical = prices[int(len(prices) * 0.9)] if prices else 0.0
    return next((step for step in STEPS if typical <= 6 * step), STEPS[-1])


def page_links(page: int, last: int, url: Callable[[int], str]) -> list[Link]:
    """Previous, five neighbours, the last page and next."""
    if last < 2:
        return []
    first = max(1, min(page - 2, last - 4))
    numbers = range(first, min(last, first + 4) + 1)
    links = [Link("Previous", url(page - 1))] if page > 1 else []
    links += [Link(str(number), url(number), current=number == page) for number in numbers]
    if numbers[-1] < last:
        links.append(Link(str(last), url(last)))
    return links + ([Link("Next", url(page + 1))] if page < last else [])


def category_counts(db: Database, products: Sequence[Item]) -> Counter[int]:
    """How many of the products lie in each category or below it."""
    parents = {row["id"]: row["parent_id"] for row in db.rows("SELECT id, parent_id FROM category")}
    counts: Counter[int] = Counter()
    for category, count in Counter(product.category for product in products).items():
        step: int | None = category
        while step is not None:
            counts[step] += count
            step = parents.get(step)
    return counts
