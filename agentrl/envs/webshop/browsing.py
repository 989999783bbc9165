"""`ShopBrowser`: the shop in Chromium. Actions happen in the page; the address it leads to says where the agent is.

`Storefront` is the shop as a web site that answers within the process, to that browser. It keeps nothing between
requests: an address says everything about its place. The benchmark's scheme (`page_url`) cannot be read back: it leaves
out the lot of a random search, and a browser takes a search for ".." for the folder above.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import fields
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import msgspec
import numpy as np
from PIL import Image

from agentrl.core.errors import EnvFault
from agentrl.envs.common.browser import Answer, BrowserTab, Fence, Gateway, Window, engine
from agentrl.envs.common.browser.tab import Unresponsive
from agentrl.envs.webshop.actions import plain
from agentrl.envs.webshop.navigation import clicked, searched
from agentrl.envs.webshop.page_html import page_html, photo_png, stylesheet
from agentrl.envs.webshop.pages import BACK, PAGES, SEARCH, Page, Place
from agentrl.envs.webshop.shop import Shop

Result = TypeVar("Result")
DEADLINE = 30.0  # seconds for everything that one action needs
CLOSE_DEADLINE = 5.0
TYPED = 500  # characters; the search bar takes no more than 1,000 of those that a browser counts
# How many times the size of the picture a page may have: the first that holds all of it is chosen.
ZOOMS = (1.0, 1.25, 1.5, 1.75, 2.0, 2.5)
ORIGIN = "http://webshop.test"  # a name that no machine has; the process answers itself


def address_of(session: str, place: Place) -> str:
    """The address of a place. `session` tells visits for different goals apart."""
    known = {field.name: getattr(place, field.name) for field in fields(Place) if field.name != "page"}
    known["options"] = msgspec.json.encode(place.options).decode()
    told = {name: value for name, value in known.items() if value not in ("", 0, "[]")}
    return f"{ORIGIN}/{quote(session)}/{place.page}" + (f"?{urlencode(told)}" if told else "")


def place_at(address: str) -> Place | None:
    """The place that has this address; None where it is nobody's."""
    parts = urlsplit(address)
    page = parts.path.rpartition("/")[2]
    told = dict(parse_qsl(parts.query, keep_blank_values=True))
    if not address.startswith(f"{ORIGIN}/") or page not in PAGES:
        return None
    try:
        options = msgspec.json.decode(told.pop("options", "[]"))
        return msgspec.convert({**told, "page": page, "options": options}, Place, strict=False)
    except (msgspec.MsgspecError, ValueError):
        return None


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
NOT_FOUND = Answer(b"page not found", 404, {"content-type": "text/plain"})


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
            product = self.shop.product(path.removeprefix("/photo/").removesuffix(".png"))
            if product is None:
                return NOT_FOUND
            return Answer(photo_png(product), headers={"content-type": "image/png", "cache-control": KEPT})
        if place is None:
            return NOT_FOUND
        if method == "POST":
            form = dict(parse_qsl(body.decode(), keep_blank_values=True))
            if "click" in form:
                part = self._look(place).body.find(plain(form["click"]))
                if part is None:
                    raise LookupError(f"the page has no button {form['click']!r:.80}")
                after = clicked(self.shop, place, part)
            else:
                after = searched(form["search"], self.lot)
            return Answer(status=303, headers={"location": self.address(after), "cache-control": "no-store"})
        return Answer(page_html(self._look(place), action=url).encode(), headers=HTML)


class ShopBrowser:
    """A window of its own in the browser of this process. It opens when it is first needed, and again after a fault,
    which is an `EnvFault` once. Every call says at which place it begins. To be used by one thread at a time."""

    def __init__(self, shop: Shop, look: Callable[[Place], Page], size: int) -> None:
        self._storefront = Storefront(shop, look)
        self._look, self._size = look, size
        self._window: Window | None = None
        self._tab: BrowserTab | None = None
        self._shown = ""  # the address that the page has

    # ------------------------------------------------------------------ what a user does

    def show(self, session: str, place: Place) -> None:
        """Open the page of a place. `session` tells visits for different goals apart."""
        self._storefront.session = session
        if self._tab is not None and self._tab.gone:  # what happened before is over
            self.close()
        self._run(self._at(place))

    def search(self, place: Place, words: str, lot: int) -> Place:
        """Type words into the search bar, which other pages than the first are left for; where that leads."""
        self._storefront.lot = lot
        return self._run(self._search(place, words))

    def click(self, place: Place, wanted: str) -> Place:
        """Click what has this text; where that leads."""
        return self._run(self._press(place, wanted))

    def picture(self, place: Place) -> np.ndarray:
        """The page of a place as a browser shows it; a long one is made smaller."""
        return self._run(self._picture(place))

    def close(self) -> None:
        """Close the window; may be called twice."""
        window, self._window, self._tab = self._window, None, None
        if window is not None and window.engine is engine():
            try:
                engine().run(window.close(), CLOSE_DEADLINE)
            except EnvFault:  # the browser is gone, and the window with it
                return

    # ------------------------------------------------------------------ in the page

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        try:
            return engine().run(work, DEADLINE)
        except Unresponsive as error:
            self.close()
            raise EnvFault("the page does not respond") from error
        except BaseException:
            self.close()
            raise

    async def _at(self, place: Place) -> BrowserTab:
        """The page of the window, showing this place."""
        window, tab = self._window, self._tab
        if tab is not None and tab.gone:
            raise EnvFault("the page or its browser has crashed")
        if window is None or tab is None or window.engine is not engine():  # another's engine: this process was forked
            size = (self._size, self._size)
            self._window = window = Window(engine(), Gateway(Fence([ORIGIN]), self._storefront), size)
            await window.open()
            self._tab = tab = await window.new_tab()
            self._shown = ""
        address = self._storefront.address(place)
        if self._shown != address:
            tab.take_visits()
            await tab.goto(address, time.monotonic() + DEADLINE)
            await self._arrive(tab)
        return tab

    async def _search(self, place: Place, words: str) -> Place:
        tab = await self._at(place)
        if place.page != SEARCH:
            await self._press(place, BACK.lower())
        await tab.click(*await self._point(tab, "input", 0))
        if len(words) <= TYPED:
            await tab.insert(words)
        else:
            await tab.call("fill", 0, words, deadline=time.monotonic() + DEADLINE)
        await tab.press("Enter")
        return await self._arrive(tab)

    async def _press(self, place: Place, wanted: str) -> Place:
        tab = await self._at(place)
        number = self._look(place).body.number_of(wanted)
        assert number is not None  # the caller has seen it there
        await tab.click(*await self._point(tab, "button", number))
        return await self._arrive(tab)

    async def _point(self, tab: BrowserTab, selector: str, number: int) -> tuple[float, float]:
        point = await tab.call("aim", selector, number, deadline=time.monotonic() + DEADLINE)
        if point is None:
            raise EnvFault(f"the page lacks {selector} {number}")
        return point[0], point[1]

    async def _arrive(self, tab: BrowserTab) -> Place:
        """Wait for the page that comes next; its place."""
        deadline = time.monotonic() + DEADLINE
        while not await tab.settle(deadline, scripts=False) or not tab.visits:
            if time.monotonic() > deadline or tab.gone:
                raise EnvFault(f"the shop showed no page within {DEADLINE:g} s")
        assert self._window is not None  # its page is shown
        fault = self._window.gateway.take_fault()
        visit = tab.take_visits()[-1]
        place = None if visit.failed or fault is not None else place_at(visit.url)
        if place is None:
            raise EnvFault(f"the shop did not answer: {fault or visit.url[:200]}") from fault
        self._shown = visit.url
        return place

    async def _picture(self, place: Place) -> np.ndarray:
        tab, deadline = await self._at(place), time.monotonic() + DEADLINE
        await tab.move(0, 0)  # nothing is pointed at
        for zoom in ZOOMS:
            side = round(self._size * zoom)
            await tab.page.set_viewport_size({"width": side, "height": side})
            if await tab.call("toTop", deadline=deadline) <= side:
                break
        await tab.call("frames", deadline=deadline)  # until it is painted
        picture = await tab.screenshot((0, 0, side, side), scale=self._size / side, deadline=deadline)
        return np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"))
