"""`Storefront`: the shop as a web site that answers within the process, to one browser.

It keeps nothing between requests: an address says everything about its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import parse_qsl, urlsplit

from agentrl.envs.common.browser import Answer
from agentrl.envs.webshop.actions import plain
from agentrl.envs.webshop.addresses import address_of, place_at
from agentrl.envs.webshop.navigation import clicked, searched
from agentrl.envs.webshop.page_html import page_html
from agentrl.envs.webshop.pages import Page, Place
from agentrl.envs.webshop.shop import Shop
from agentrl.envs.webshop.site_files import photo_png, stylesheet

# For pictures: a cursor that blinks would make two of the same page differ, and results in one column would be small.
SCREEN = b"""
input { caret-color: transparent; }
@media (min-width: 900px) {
  .results > .btn { display: block; }
  .results .card { display: inline-grid; width: 49%; vertical-align: top; }
}
"""
HTML = {"content-type": "text/html; charset=utf-8", "cache-control": "no-store"}
KEPT = "max-age=86400"  # photos and style never change
NOT_FOUND = Answer(b"There is no such page.", 404, {"content-type": "text/plain"})


class Storefront:
    """Called by the gateway of a browser's window."""

    def __init__(self, shop: Shop, look: Callable[[Place], Page]) -> None:
        self.shop, self._look = shop, look
        self.session = ""  # of the goal that is shopped for
        self.lot = 0  # seed of the next search, if it is a random one

    def address(self, place: Place) -> str:
        """The address of a place in the present session."""
        return address_of(self.session, place)

    def __call__(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """The answer to a request: a page, a redirection to the page that a form leads to, a photo, the style."""
        path, place = urlsplit(url).path, place_at(url)
        if path == "/style.css":
            return Answer(stylesheet() + SCREEN, headers={"content-type": "text/css", "cache-control": KEPT})
        if path.startswith("/photo/"):
            return self._photo(path.removeprefix("/photo/").removesuffix(".png"))
        if place is None:
            return NOT_FOUND
        if method == "POST":
            after = self._after(place, dict(parse_qsl(body.decode(), keep_blank_values=True)))
            return Answer(status=303, headers={"location": self.address(after), "cache-control": "no-store"})
        return Answer(page_html(self._look(place), action=url).encode(), headers=HTML)

    def _after(self, place: Place, form: Mapping[str, str]) -> Place:
        """Where a form leads: a search, or the button that was pressed."""
        if "click" not in form:
            return searched(form["search"], self.lot)
        part = self._look(place).body.find(plain(form["click"]))
        if part is None:
            raise LookupError(f"the page has no button {form['click']!r:.80}")
        return clicked(self.shop, place, part)

    def _photo(self, asin: str) -> Answer:
        product = self.shop.product(asin)
        if product is None:
            return NOT_FOUND
        return Answer(photo_png(product), headers={"content-type": "image/png", "cache-control": KEPT})
