"""`site`: the storefront with all its pages."""

from __future__ import annotations

from agentrl.envs.webarena.sites.shop import (
    account,
    addresses,
    cart,
    catalog,
    checkout,
    content,
    orders,
    product,
    rest,
    reviews,
    wishes,
    wishlist,
)
from agentrl.envs.webarena.sites.shop.base import site

__all__ = ["site"]
PAGES = (account, addresses, cart, catalog, checkout, content, orders, product, rest, reviews, wishes, wishlist)

# Routes are tried in the order in which they were registered: those that match any name at the root come last.
site.get("/{path:path}.html")(catalog.category_or_product)
site.get("/{identifier}")(content.text_page)
