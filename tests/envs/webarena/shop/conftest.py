"""A browser without a screen, in the shop as its customer or as a guest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin

import pytest
from lxml import html

from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.messages import Request, Response
from agentrl.envs.webarena.sites.places import PLACES, cookies
from agentrl.envs.webarena.sites.world import World

ORIGIN = PLACES["shopping"].origin


class Customer:
    """Opens pages and sends forms; follows redirects; keeps cookies."""

    def __init__(self, world: World, *, signed_in: bool = True) -> None:
        self.world = world
        self.cookies: dict[str, str] = dict(cookies(("shopping",))[ORIGIN]) if signed_in else {}
        self.url, self.response = ORIGIN, Response()

    @property
    def db(self) -> Database:
        return self.world.database("store")

    def get(self, path: str) -> Customer:
        return self._ask("GET", path)

    def post(self, path: str, form: dict[str, Any] | None = None) -> Customer:
        return self._ask("POST", path, tuple((name, str(value)) for name, value in (form or {}).items()))

    def _ask(self, method: str, path: str, form: tuple[tuple[str, str], ...] = ()) -> Customer:
        self.url = urljoin(self.url, path)
        self.response = self.world.fetch(Request(method, self.url, form, dict(self.cookies)))
        for name, value in self.response.cookies.items():
            if value is None:
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = value
        return self if self.response.location is None else self._ask("GET", self.response.location)

    @property
    def status(self) -> int:
        return self.response.status

    @property
    def path(self) -> str:
        return self.url.removeprefix(ORIGIN)

    @property
    def page(self) -> Any:
        return html.fromstring(self.response.text)

    @property
    def kind(self) -> str:
        return self.page.xpath("//body")[0].get("data-page")

    def text(self, selector: str = "body") -> str:
        """The text of all that match, with single spaces."""
        return " ".join(" ".join(found.text_content().split()) for found in self.page.cssselect(selector))

    def links(self, selector: str) -> dict[str, str]:
        """Address by text of the links that match."""
        return {" ".join(link.text_content().split()): link.get("href") for link in self.page.cssselect(selector)}

    def names(self) -> list[str]:
        """The products of the list on the page."""
        return [link.text_content() for link in self.page.cssselect("a.product-item-link")]

    def follow(self, selector: str, text: str) -> Customer:
        return self.get(self.links(selector)[text])

    def add_to_cart(self, product: Any, qty: int = 1) -> Customer:
        """Put a product into the cart, with the first value of every option."""
        form: dict[str, Any] = {"qty": qty}
        for row in self.db.rows("SELECT name, value FROM product_option WHERE product_id = ?", product["id"]):
            form.setdefault(f"super_attribute[{row['name'].lower()}]", row["value"])
        return self.post(f"/checkout/cart/add/product/{product['id']}/", form)

    def product(self, where: str = "qty > 20", *values: Any) -> Any:
        """The first product in stock for which a condition holds."""
        return self.db.row(
            "SELECT *, min(price, coalesce(special_price, price)) AS final_price FROM product"
            f" WHERE status = 1 AND is_in_stock = 1 AND {where} ORDER BY id LIMIT 1", *values
        )  # fmt: skip


@pytest.fixture(scope="session")
def shop_world() -> Iterator[World]:
    world = World()
    yield world
    world.close()


@pytest.fixture
def emma(shop_world: World) -> Iterator[Customer]:
    """The agent's customer; every test begins with the base data."""
    shop_world.clear()
    yield Customer(shop_world)
    shop_world.clear()


@pytest.fixture
def guest(emma: Customer) -> Customer:
    """Somebody without an account."""
    return Customer(emma.world, signed_in=False)
