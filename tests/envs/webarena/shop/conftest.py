"""A customer of the shop, or a guest, without a browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agentrl.envs.webarena.sites.world import World
from tests.envs.webarena.visitor import Visitor


class Customer(Visitor):
    """The agent in the shop."""

    site, data = "shopping", "store"

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
    return Customer(emma.world, guest=True)
