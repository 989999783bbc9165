"""`DomBackend`: browsing without a browser. Pages are parsed, laid out and acted on in this process."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from agentrl.core.errors import EnvFault
from agentrl.envs.webarena.backend import VIEWPORT, Tab, View
from agentrl.envs.webarena.browsing.behaviours import dragged, ground_of
from agentrl.envs.webarena.browsing.forms import Contents, kind_of
from agentrl.envs.webarena.browsing.input import (
    accepted_text,
    activate,
    check_button,
    control_of,
    focus,
    focused_element,
    labelled_element,
    option_with,
    press,
    press_enter,
    scroll_step,
    write_focused,
)
from agentrl.envs.webarena.browsing.loading import BadAddress, Loader, blank, origin_of, resolved, typed
from agentrl.envs.webarena.browsing.session import Entry, Session
from agentrl.envs.webarena.evaluators.locators import evaluate_locator
from agentrl.envs.webarena.layout.document import serialise
from agentrl.envs.webarena.layout.page import LINES, WHOLE
from agentrl.envs.webarena.observing.accessibility import with_line_ids
from agentrl.envs.webarena.picturing.images import Images
from agentrl.envs.webarena.picturing.painter import Painter
from agentrl.envs.webarena.sites.messages import Request
from agentrl.envs.webarena.sites.world import World, place_of


class DomEvaluationPage:
    """A page beside those of the agent; what it does changes nothing that the agent sees."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        page = blank()
        self._entry = Entry(page, page.url)

    @property
    def url(self) -> str:
        """The address of the page."""
        return self._entry.url

    def show(self, entry: Entry) -> None:
        """Show a page as it is in a tab, form contents included."""
        self._entry = Entry(entry.page, entry.url, entry.scroll, dict(entry.changed), opened=entry.opened)

    def goto(self, url: str) -> None:
        """Open an address; `EnvFault` where no site answers under it, or only that it has failed."""
        try:
            page = self._loader.load(typed(url))
        except BadAddress as error:
            raise EnvFault(f"{url!r} cannot be opened: {error}") from error
        if page.error:
            raise EnvFault(page.error)
        if page.status >= 500:
            raise EnvFault(f"{url} answered with status {page.status}")
        self._entry = Entry(self._loader.whole_page(page), page.url)

    def content(self) -> str:
        """The HTML of the page: attributes as they are in the page, not what fields hold."""
        root = self._entry.laid_out().document.root
        return serialise(root)

    def evaluate(self, expression: str) -> str:
        """What a JavaScript expression such as `document.querySelector(...).outerText` gives, as text."""
        laid_out = self._entry.laid_out()
        document = laid_out.document
        contents = Contents(document, self._entry.changed)
        values = {control: contents.value(control) for control in document.controls if kind_of(control) != "button"}
        return evaluate_locator(expression, document.root, values, laid_out)

    def request(self, method: str, url: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Any:
        """Ask the site's REST interface with a JSON body; the decoded JSON."""
        named = {name.lower(): value for name, value in (headers or {}).items()}
        data = b"" if body is None else json.dumps(body).encode()
        if data:
            named.setdefault("content-type", "application/json")
        response = self._loader.fetch(Request(method.upper(), typed(url), body=data, headers=named))
        if response.status >= 500:
            raise EnvFault(f"{url} answered with status {response.status}")
        try:
            return json.loads(response.text)
        except ValueError as error:
            raise EnvFault(f"{url} answered with status {response.status} and no JSON") from error


class DomBackend:
    """The agent's browser over a world of embedded sites; see `Backend` for what its methods do.

    It runs no scripts, but knows what those of the sites do (`behaviours`); pictures of pages are drawn from their
    layout. May be used from several threads, one call at a time.
    """

    labelling = WHOLE

    def __init__(self, world: World, viewport: tuple[int, int] = VIEWPORT) -> None:
        self.world, self.viewport = world, viewport
        self._session = Session(world, viewport)
        self._lock = threading.RLock()
        self._images = Images(self._fetch_image)
        self._view: tuple[int, View] | None = None  # with the version of the session that it shows

    def start(self, urls: Sequence[str], cookies: Mapping[str, Mapping[str, str]]) -> None:
        """Forget everything; open these addresses in tabs with these cookies by origin."""
        with self._lock:
            self._images.clear()
            self._session.start(urls, cookies)

    def view(self) -> View:
        """The active tab at this moment."""
        with self._lock:
            session = self._session
            if self._view is None or self._view[0] != session.version:
                entry, page = session.entry, session.page
                boxes, labels, further = page.at(entry.scroll, self.labelling)
                tabs = tuple(Tab(tab.entry.url, tab.entry.page.title) for tab in session.tabs)
                view = View(
                    entry.url, entry.page.title, page.document.root, boxes, labels, session.contents.values(), tabs,
                    session.active, entry.scroll, page.height, focused_element(session), entry.page.status,
                    self.viewport, entry.page.error, further=further,
                )  # fmt: skip
                self._view = (session.version, with_line_ids(view) if self.labelling == LINES else view)
            return self._view[1]

    def refresh(self) -> None:
        """Let come what was to come later."""
        with self._lock:
            self._session.turn()

    def picture(self, top: int, height: int) -> np.ndarray:
        """The page from `top` on, drawn in this process: close to what a browser shows."""
        with self._lock:
            view, page = self.view(), self._session.page
            base = resolved(view.url, page.document.base) or view.url
            painter = Painter(view, page.styles, self._images, lambda link: resolved(base, link))
            return painter.paint(page.everything(view.scroll), self.viewport[0], top, height)

    def _fetch_image(self, url: str) -> tuple[str, bytes]:
        """A picture on a page: its type and its contents, both empty where there is none."""
        if place_of(url) is None:
            return "", b""
        response = self.world.fetch(Request("GET", url, (), self.cookies.get(origin_of(url), {})))
        body = response.body.encode() if isinstance(response.body, str) else response.body
        return (response.content_type, body) if response.status == 200 else ("", b"")

    def _control(self, number: int) -> Any:
        return control_of(labelled_element(self.view(), number), self._session.page.document)

    def open(self, url: str) -> None:
        """Open an address in the active tab."""
        with self._lock:
            self._session.open(url)

    def click(self, element: int, button: str = "left") -> None:
        """Click an element. A right click opens the menu of a page that has one, a middle click a link in a new tab."""
        with self._lock:
            self._click(*self._seen_in(labelled_element(self.view(), element)), button)

    def _click(self, found: Any, at: tuple[float, float] | None, button: str) -> None:
        """Click an element, `at` a point of the viewport or in its middle."""
        check_button(button)
        session = self._session
        found = session.turn(found)
        tab, left, page = session.tab, session.entry, session.entry.page
        if found.tag != "select":  # see `ChromiumBackend.click`
            found = session.point(found)
        if button == "left":
            activate(session, found)
            if session.tab is tab and session.entry is not left:
                left.page = page  # what opened under the pointer on its way is no part of the history
        elif button == "right":
            session.move(found, "x={}&y={}".format(*self._within(found, at)))
        elif next(found.iterancestors("a"), found).get("href") is not None:
            activate(session, found, new_tab=True)

    def _within(self, element: Any, at: tuple[float, float] | None) -> tuple[int, int]:
        """Where a point, or the middle of an element, is in what takes right clicks around it."""
        boxes = self._session.page.at(self._session.entry.scroll).boxes
        around = boxes.get(ground_of(element)) or boxes[element]
        if at is None:
            box = boxes[element]
            at = box.left + box.width / 2, box.top + box.height / 2
        return int(at[0] - around.left), int(at[1] - around.top)

    def click_at(self, left: float, top: float, button: str = "left") -> None:
        """Click whatever is seen at this point of the viewport."""
        with self._lock:
            self._click(self._seen_at(left, top), (left, top), button)

    def _seen_at(self, left: float, top: float) -> Any:
        return self._session.page.element_at(left, top, self._session.entry.scroll)

    def _seen_in(self, element: Any) -> tuple[Any, tuple[float, float] | None]:
        """What the pointer meets in the middle of an element, itself or something within it; and that point."""
        at = self._session.page.middle(element, self._session.entry.scroll)
        seen = self._seen_at(*at) if at is not None and len(element) else element
        return seen if element in seen.iterancestors() else element, at

    def hover(self, element: int) -> None:
        """Move the mouse to an element."""
        with self._lock:
            found, _ = self._seen_in(labelled_element(self.view(), element))
            self._session.point(self._session.turn(found))

    def drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Drag what stands at one place of the window to another."""
        with self._lock:
            session = self._session
            place = session.turn(dragged(self._seen_at(*start)))
            place, _ = session.click(session.point(place))
            focus(session, place)
            session.move(place, f"dx={end[0] - start[0]}&dy={end[1] - start[1]}")

    def move_to(self, left: float, top: float) -> None:
        """Move the mouse to this point of the viewport."""
        with self._lock:
            self._session.point(self._session.turn(self._seen_at(left, top)))

    def type(self, element: int, text: str, *, enter: bool = False) -> None:
        """Replace the contents of a field by `text`; with `enter`, press Enter as well."""
        with self._lock:
            field = self._control(element)
            accepted = accepted_text(field, text)
            session = self._session
            field, _ = session.click(session.point(session.turn(field)))
            focus(session, field)
            session.contents.put(field, accepted)
            session.held(field)
            if enter:
                press_enter(session, focused_element(session))

    def press(self, key: str) -> None:
        """Press a key or combination on the focused element."""
        with self._lock:
            press(self._session, key)

    def write(self, text: str) -> None:
        """Type into the field that has the keyboard, behind what it holds."""
        with self._lock:
            for number, line in enumerate(text.split("\n")):
                if number:
                    press(self._session, "Enter")
                write_focused(self._session, line)

    def scroll(self, direction: str) -> None:
        """Scroll "up" or "down" by two thirds of the viewport."""
        with self._lock:
            step = scroll_step(direction, self.viewport)
            self._session.turn()
            self._session.scroll_to(self._session.entry.scroll + step)

    def select(self, element: int, option: str) -> None:
        """Choose the first option whose text contains `option`, in either case of letters."""
        with self._lock:
            found = self._control(element)
            number = option_with(option, found)
            found = self._session.turn(found)
            focus(self._session, found)
            self._session.contents.put(found, str(number))

    def back(self) -> None:
        """Show the page before this one, as it was left."""
        with self._lock:
            self._session.travel(-1)

    def forward(self) -> None:
        """Show the page that was left by going back."""
        with self._lock:
            self._session.travel(1)

    def new_tab(self) -> None:
        """Open an empty tab and show it."""
        with self._lock:
            self._session.new_tab()

    def focus_tab(self, number: int) -> None:
        """Show the tab with this number, from 0."""
        with self._lock:
            self._session.focus_tab(number)

    def close_tab(self) -> None:
        """Close the active tab."""
        with self._lock:
            self._session.close_tab()

    @property
    def cookies(self) -> dict[str, dict[str, str]]:
        """The cookies by origin."""
        return self._session.loader.cookies

    def evaluation_page(self, *, last: bool = False, quick: bool = False) -> DomEvaluationPage:
        """A fresh page with the agent's cookies; with `last`, one that shows what the active tab shows."""
        with self._lock:
            session = self._session
            cookies = {origin: dict(jar) for origin, jar in session.loader.cookies.items()}
            page = DomEvaluationPage(Loader(self.world, cookies))
            if last:
                page.show(session.entry)
            return page

    def save(self) -> dict[str, Any]:
        """Tabs, history, cookies, scroll, form contents, as values that msgpack can write."""
        with self._lock:
            return self._session.save()

    def load(self, saved: Mapping[str, Any]) -> None:
        """Inverse of `save`; ValueError if it does not fit, and then nothing changes."""
        with self._lock:
            self._session.load(saved)

    def close(self) -> None:
        """Nothing is held open."""

    def __getstate__(self) -> dict[str, Any]:
        return {"world": self.world, "viewport": self.viewport, "saved": self.save()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        DomBackend.__init__(self, state["world"], state["viewport"])
        self.load(state["saved"])
