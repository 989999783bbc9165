"""What the tests of the shop share: a small shop, one product by hand, HTML read by an outside parser."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from agentrl.envs.common.catalogue.product import Product
from agentrl.envs.webshop.env import WebShopEnv

SMALL = 1_000

SHIRT = Product(
    asin="B06Y3VLDFB",
    title="Plain Shirt for Long Days",
    description="A shirt.\nIt has two sleeves.",
    bullets=("Machine wash", "100% cotton"),
    category="fashion",
    category_path="Clothing \u203a Men \u203a Shirts",
    query="shirt",
    pricing=(19.99, 27.99),
    price=20.5,
    options={"size": ("x-small", "large"), "color": ("black", "navy")},
    attributes=("machine wash", "slim fit"),
)


def small_shop(**arguments: Any) -> WebShopEnv:
    """A shop of a thousand products, quick to build."""
    return WebShopEnv(**{"catalogue_size": SMALL, "split": "test", **arguments})


class VisibleStrings(HTMLParser):
    """The strings a browser would show, in order; what stands in the head is not shown."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._hidden += tag in ("head", "script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("head", "script", "style")

    def handle_data(self, data: str) -> None:
        if not self._hidden and data.strip():
            self.found.append(data.strip())


def visible_strings(document: str) -> list[str]:
    """All strings of an HTML document that can be seen."""
    reader = VisibleStrings()
    reader.feed(document)
    reader.close()
    return reader.found


def tags_of(document: str) -> list[tuple[str, dict[str, str | None]]]:
    """All opening tags of an HTML document with their attributes."""
    reader = VisibleStrings()
    reader.feed(document)
    reader.close()
    return reader.tags
