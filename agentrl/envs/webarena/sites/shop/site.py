"""`site`: the storefront with all its pages."""

from __future__ import annotations

from agentrl.envs.webarena.sites.shop import account, cart, catalog, orders, product, rest
from agentrl.envs.webarena.sites.shop.base import site

__all__ = ["site"]
PAGES = (account, cart, catalog, orders, product, rest)

# Routes are tried in the order in which they were registered: those that match any name at the root come last.
site.get("/{path:path}.html")(catalog.category_or_product)
site.get("/{identifier}")(catalog.text_page)
