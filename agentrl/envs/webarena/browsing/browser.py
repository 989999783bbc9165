"""`BrowserBackend`: the embedded sites in Chromium. The sites answer in this process; no request leaves it.

The browser shows and acts; history, cookies and answers are kept here, in the same form as without a browser. So an
episode can be saved and restored exactly, and a snapshot of one back end restores in the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from agentrl.core.errors import EnvFault
from agentrl.envs.common.browser import Answer, BrowserTab, Fence, Gateway, Window, engine
from agentrl.envs.common.browser.tab import Visit
from agentrl.envs.webarena.backend import VIEWPORT, EvaluationPage, View
from agentrl.envs.webarena.browsing import chromium
from agentrl.envs.webarena.browsing.behaviours import EDITED, LATE, dragged
from agentrl.envs.webarena.browsing.dom import DomEvaluationPage
from agentrl.envs.webarena.browsing.forms import Contents
from agentrl.envs.webarena.browsing.input import check_click
from agentrl.envs.webarena.browsing.loading import (
    BLANK,
    MAX_REDIRECTS,
    BadAddress,
    Loader,
    Page,
    blank,
    failed,
    origin_of,
    typed,
    unreachable,
    without_fragment,
)
from agentrl.envs.webarena.browsing.session import Entry, Session, Tab, typed_address
from agentrl.envs.webarena.layout.document import serialise
from agentrl.envs.webarena.sites.messages import Request
from agentrl.envs.webarena.sites.places import PLACES
from agentrl.envs.webarena.sites.world import World, place_of

_HTML = {"content-type": "text/html; charset=utf-8", "cache-control": "no-store"}
_MAX_PAGES = 50
_TURNS = "window.agentrlTurns = true;"  # on these pages time passes with the actions of the agent


class Responding:
    """Called by the gateway. Cookies are the loader's, not the browser's: they are saved with the episode."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader
        self._pages: dict[str, Page] = {}  # what was answered last, by address
        self._stored: dict[str, Page] = {}  # what to answer once, in the place of the site
        self._redirects = 0  # in a row

    def store(self, page: Page) -> None:
        """Answer the next question for its address with this page: the user goes back to it."""
        self._stored[without_fragment(page.url)] = page

    def page(self, url: str) -> Page | None:
        """What the browser got from this address."""
        return self._pages.get(without_fragment(url))

    def __call__(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """The answer to a request of the browser."""
        if headers.get("sec-fetch-dest") == "empty" and method == "GET":  # a page of which the present one takes a part
            return self._fetched(url)
        if headers.get("sec-fetch-dest") != "document":
            # Style sheets and pictures. Asked for without cookies: they must not use up a message meant for a page.
            if method != "GET" or urlsplit(url).path == "/favicon.ico":
                return Answer(status=404)
            part = self.loader.world.fetch(Request("GET", url))
            data = part.body.encode() if isinstance(part.body, str) else part.body
            return Answer(data, part.status, {"content-type": part.content_type, "cache-control": part.cache_control})
        stored = self._stored.pop(url, None)
        if stored is None:
            typed = headers.get("content-type", "").lower().startswith("application/x-www-form-urlencoded")
            form = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True) if typed else []
            cookies = self.loader.cookies.get(origin_of(url), {})
            response = self.loader.fetch(Request(method, url, tuple(form), cookies, b"" if typed else body))
            if response.location is not None and 300 <= response.status < 400:
                self._redirects += 1
                if self._redirects <= MAX_REDIRECTS:  # send the browser on, as often as without one
                    return Answer(status=303, headers={"location": response.location, "cache-control": "no-store"})
                self._redirects = 0
                return self._shown(failed(url, "The page redirects too often."))
            stored = self.loader.page(url, response)
        self._redirects = 0
        return self._shown(stored)

    def _fetched(self, url: str) -> Answer:
        found = self.loader.fetch(Request("GET", url, (), self.loader.cookies.get(origin_of(url), {})))
        headers = {**_HTML, "content-type": found.content_type}
        if found.location is not None and 300 <= found.status < 400:
            return Answer(status=303, headers={**headers, "location": found.location})
        return Answer(found.text.encode(), found.status, headers)

    def refuse(self, url: str) -> Answer:
        """The page in the place of one that may not be opened."""
        return self._shown(unreachable(url))

    def _shown(self, page: Page) -> Answer:
        while len(self._pages) >= _MAX_PAGES:
            del self._pages[next(iter(self._pages))]
        self._pages[without_fragment(page.url)] = page
        return Answer(page.html.encode(), page.status, _HTML)


class BrowserEvaluationPage:
    """A page beside those of the agent. All evaluations of an episode share one page of the browser, which shows what
    it is asked about; cookies that it gets stay with it."""

    def __init__(self, backend: BrowserBackend, entry: Entry, cookies: dict[str, dict[str, str]]) -> None:
        self._backend, self._cookies = backend, cookies
        self._entry = entry  # shown when somebody looks

    @property
    def url(self) -> str:
        """The address of the page."""
        return self._entry.url

    def goto(self, url: str) -> None:
        """Open an address; `EnvFault` where no site answers under it."""
        try:
            address = typed(url)
        except BadAddress as error:
            raise EnvFault(f"{url!r} cannot be opened: {error}") from error
        self._entry = self._backend.visited(address, self._cookies)

    def content(self) -> str:
        """The HTML of the page: attributes as they are in the page, not what fields hold."""
        return self._backend.evaluated(chromium.CONTENT, self._entry)

    def evaluate(self, expression: str) -> str:
        """What a JavaScript expression gives, as text; "" where it fails on the page, as in the benchmark."""
        return self._backend.evaluated(expression, self._entry)

    def request(self, method: str, url: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Any:
        """Ask the site's REST interface with a JSON body; the decoded JSON."""
        return DomEvaluationPage(Loader(self._backend.world, self._cookies)).request(method, url, body, headers)


class BrowserBackend(chromium.ChromiumBackend):
    """The agent's browser over a world of embedded sites; see `Backend` for what its methods do."""

    scripts = False

    def __init__(self, world: World, viewport: tuple[int, int] = VIEWPORT, deadline: float = chromium.DEADLINE) -> None:
        super().__init__(viewport, deadline)
        self.world = world
        self._session = Session(world, viewport)
        self._responding = Responding(self._session.loader)
        self._evaluation: BrowserTab | None = None
        self._evaluated: Entry | None = None  # what the page for evaluation shows

    def _open_window(self) -> Window:
        fence = Fence(place.origin for place in PLACES.values())
        gateway = Gateway(fence, self._responding, self._responding.refuse)
        return Window(engine(), gateway, self.viewport, script=_TURNS)

    def start(self, urls: Sequence[str], cookies: Mapping[str, Mapping[str, str]]) -> None:
        """Forget everything; open these addresses in tabs with these cookies by origin."""
        with self._lock:
            addresses = [typed_address(url) for url in urls] or [BLANK]
            self._session.loader.cookies = {origin: dict(jar) for origin, jar in cookies.items()}
            self._session.tabs, self._session.active = [Tab() for _ in addresses], 0
            self._act(self._start(addresses), opens=len(addresses))

    async def _start(self, addresses: list[str]) -> None:
        await self._reuse_window(len(addresses))
        for number, url in enumerate(addresses):
            self._activate(number)
            await self._go(url)
        self._activate(0)

    def _activate(self, number: int) -> None:
        super()._activate(number)
        self._session.active = number

    async def _reuse_window(self, tabs: int) -> None:
        """A window without pages. The embedded sites leave nothing in a browser, whose cookies are kept here: the
        window of the episode before serves again, with one of its pages."""
        window, kept = self._window, [tab for tab in (*self._tabs, self._evaluation) if tab is not None]
        self._evaluation = self._evaluated = None
        if window is None or not kept or any(tab.gone for tab in kept):
            await self._fresh_window()
            kept = []
        for tab in kept[1:]:
            await tab.page.close()
        self._tabs = [*kept[:1], *[None] * (tabs - len(kept[:1]))]

    async def _go(self, url: str) -> None:
        """Open an address in the active tab."""
        tab = await self._current()
        entry = self._session.tabs[self._active].entry
        if url == BLANK:
            self._session.tabs[self._active].push(Entry(blank(), BLANK), replace=entry.url == BLANK)
            await self._show(tab, self._active)
            return
        self._note(await self._ask(tab, url))
        await self._moved(tab, self._active)

    async def _ask(self, tab: BrowserTab, url: str) -> bool:
        """Ask for an address, even where the browser would only scroll; False if it takes too long."""
        if without_fragment(url) == without_fragment(tab.page.url):
            await tab.goto(BLANK, self._until())
        tab.take_visits()
        return await tab.goto(url, self._until())

    async def _moved(self, tab: BrowserTab, number: int) -> None:
        """Keep the history of a tab that went elsewhere."""
        self._raise_fault()
        while number >= len(self._session.tabs):  # opened by a page
            self._session.tabs.append(Tab())
        history = self._session.tabs[number]
        for visit in tab.take_visits():
            entry = self._entry(visit, history.entry)
            same = visit.asked == history.entry.url or history.entry.url == BLANK
            history.push(entry, replace=same)
        if history.entry.page.error and tab.page.url.startswith("chrome-error"):
            await self._show(tab, number)

    def _raise_fault(self) -> None:
        """A site that failed to answer is nothing that the agent did."""
        fault = self._window.gateway.take_fault() if self._window is not None else None
        if fault is not None:
            raise fault if isinstance(fault, EnvFault) else EnvFault(f"a site did not answer: {fault}") from fault

    def _entry(self, visit: Visit, before: Entry) -> Entry:
        if visit.same_document:
            return replace(before, url=visit.url, changed=dict(before.changed))
        page = self._responding.page(visit.url)
        if visit.failed:
            page = unreachable(visit.url) if place_of(visit.url) is None else failed(visit.url, "It failed to load.")
        return Entry(page or blank(), visit.url)

    async def _show(self, tab: BrowserTab, number: int) -> None:
        """Show the newest entry of a tab again, as it was left."""
        await self._show_entry(tab, self._session.tabs[number].entry)

    async def _show_entry(self, tab: BrowserTab, entry: Entry) -> None:
        """Show a page out of the history in a page of the browser."""
        page, until = entry.page, self._until()
        if page.url == BLANK or place_of(page.url) is None or page.error:
            await tab.goto(BLANK, until)
            if page.url != BLANK:
                await tab.write(page.html)
        else:
            self._responding.store(page)
            await self._ask(tab, entry.url)
        tab.take_visits()
        saved = {
            "changed": [[number, text] for number, text in entry.changed.items()], "scroll": entry.scroll,
            "focus": entry.focus, "selected": entry.selected,
            "opened": None if entry.opened is None else sorted(entry.opened),
        }  # fmt: skip
        await tab.call("restore", saved, deadline=until)

    def open(self, url: str) -> None:
        """Open an address in the active tab."""
        with self._lock:
            address = typed_address(url)
            self.view()
            self._act(self._go(address))

    @chromium.acting
    async def reload(self) -> None:
        """Ask for the page again."""
        url, tab = self._session.entry.url, await self._current()
        self._note(await self._ask(tab, url))
        await self._moved(tab, self._active)

    def back(self) -> None:
        """Show the page before this one, as it was left."""
        self._travel(-1)

    def forward(self) -> None:
        """Show the page that was left by going back."""
        self._travel(1)

    def _travel(self, steps: int) -> None:
        with self._lock:
            self.view()  # the page is left as it is now
            self._session.travel(steps)
            self._act(self._shown_again())

    async def _shown_again(self) -> None:
        await self._show(await self._current(), self._active)

    def new_tab(self) -> None:
        """Open an empty tab and show it."""
        with self._lock:
            self.view()
            super().new_tab()
            self._session.tabs.append(Tab())

    def focus_tab(self, number: int) -> None:
        """Show the tab with this number, from 0."""
        with self._lock:
            self.view()
            super().focus_tab(number)

    def close_tab(self) -> None:
        """Close the active tab."""
        with self._lock:
            number = self._active
            super().close_tab()
            del self._session.tabs[number]

    def _finish_view(self, reading: dict[str, Any], document: chromium.NumberedDocument, **facts: Any) -> View:
        entry, root = self._session.entry, document.root
        if root.get(EDITED) is not None and (html := serialise(root)) != entry.page.html:
            entry.page = entry.page.edited(html)  # what the page has made of itself is a part of its history
        entry.scroll, entry.focus, entry.selected = reading["scroll"], reading["focus"], reading["selected"]
        entry.changed = {number: text for number, text in reading["changed"]}
        if reading["opened"] or entry.opened is not None or "<details" in entry.page.html:
            entry.opened = frozenset(reading["opened"])
        tabs = chromium.tab_names([(tab.entry.url, tab.entry.page.title) for tab in self._session.tabs])
        return View(
            url=entry.url, title=document.title, tabs=tabs, status=entry.page.status,
            error=self._late or entry.page.error, **facts,
        )  # fmt: skip

    async def _turn(self, tab: BrowserTab) -> None:
        if LATE in self._session.entry.page.html:
            await tab.call("turn", deadline=self._until())

    async def _before_leaving(self, tab: BrowserTab) -> None:
        left, entry = await tab.call("left", deadline=self._until()), self._session.entry
        entry.changed = {number: text for number, text in left["changed"]}
        entry.focus, entry.selected = left["focus"], left["selected"]

    def _check_click(self, element: Any) -> None:
        document = self._document
        assert document is not None  # the element comes out of it
        entry = self._session.entry
        check_click(element, document, Contents(document, entry.changed), entry.url)
        link = next((node for node in (element, *element.iterancestors("a")) if node.tag == "a"), None)
        if link is not None:  # should the click lead away, the page is left with the keyboard on the link
            entry.focus, entry.selected = document.index.get(link), False

    def _check_drag(self, element: Any) -> None:
        dragged(element)

    @property
    def cookies(self) -> dict[str, dict[str, str]]:
        """The cookies by origin."""
        return self._session.loader.cookies

    def evaluation_page(self, *, last: bool = False, quick: bool = False) -> EvaluationPage:
        """A page of its own with the agent's cookies; with `last`, one that shows what the active tab shows; with
        `quick`, without the browser: on these sites both find the same."""
        with self._lock:
            if last:
                self.view()
            entry = self._session.entry if last else Entry(blank(), BLANK)
            entry = replace(entry, changed=dict(entry.changed))  # as it is now
            cookies = {origin: dict(jar) for origin, jar in self.cookies.items()}
            if not quick:
                return BrowserEvaluationPage(self, entry, cookies)
            page = DomEvaluationPage(Loader(self.world, cookies))
            page.show(entry)
            return page

    def visited(self, url: str, cookies: dict[str, dict[str, str]]) -> Entry:
        """What the page for evaluation finds under an address, with cookies of its own; `EnvFault` if nothing."""
        with self._lock:
            kept, self._session.loader.cookies = self._session.loader.cookies, cookies
            try:
                self._evaluated = self._run(self._visit(url))
            finally:
                self._session.loader.cookies = kept
            if self._evaluated.page.error:
                raise EnvFault(self._evaluated.page.error)
            return self._evaluated

    async def _visit(self, url: str) -> Entry:
        tab = await self._evaluation_tab()
        if not await self._ask(tab, url):
            raise EnvFault(f"{url} did not load within {self.deadline:g} s")
        await tab.call("turn", deadline=self._until())
        self._raise_fault()
        visits = tab.take_visits()
        return self._entry(visits[-1], Entry(blank(), BLANK)) if visits else Entry(blank(), BLANK)

    @chromium.on_engine
    async def evaluated(self, expression: str, entry: Entry) -> str:
        """The value of an expression on a page as text; "" where it fails there, as in the benchmark."""
        tab = await self._evaluation_tab()
        if self._evaluated is not entry:
            await self._show_entry(tab, entry)
            self._evaluated = entry
        return await chromium.printed(tab, expression)

    async def _evaluation_tab(self) -> BrowserTab:
        """The page of the browser on which evaluators look around."""
        assert self._window is not None  # since `start`
        if self._evaluation is None:
            self._evaluation = await self._window.new_tab()
        return self._evaluation

    def save(self) -> dict[str, Any]:
        """Tabs, history, cookies, scroll, form contents, as values that msgpack can write."""
        with self._lock:
            self.view()  # the newest state of the page belongs to it
            return self._session.save()

    def load(self, saved: Mapping[str, Any]) -> None:
        """Inverse of `save`; ValueError if it does not fit, and then nothing changes."""
        with self._lock:
            self._session.load(saved)
            self._act(self._loaded(), opens=1)

    async def _loaded(self) -> None:
        await self._reuse_window(len(self._session.tabs))
        self._active = self._session.active
        if self._active and self._tabs:  # the page that is there already serves the tab that is shown
            self._tabs[0], self._tabs[self._active] = None, self._tabs[0]
        await self._shown_again()

    async def _close_window(self) -> None:
        self._evaluation = self._evaluated = None
        await super()._close_window()

    def __getstate__(self) -> dict[str, Any]:
        return {"world": self.world, "viewport": self.viewport, "deadline": self.deadline, "saved": self.save()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        BrowserBackend.__init__(self, state["world"], state["viewport"], state["deadline"])
        self.load(state["saved"])
