"""`LiveBackend`: real sites in Chromium, behind a fence that lets through nothing but their addresses.

A real site keeps what an episode has done to it, so that nothing can be saved here; history and cookies are the
browser's own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from agentrl.core.errors import EnvFault, SnapshotUnsupported
from agentrl.envs.common.browser import BrowserTab, Fence, Gateway, Window, engine
from agentrl.envs.common.browser.engine import PlaywrightError
from agentrl.envs.common.browser.tab import Visit
from agentrl.envs.webarena.backend import VIEWPORT, ActionFailed, EvaluationPage, View
from agentrl.envs.webarena.browsing import chromium
from agentrl.envs.webarena.browsing.loading import BLANK, BadAddress, Page, failed, origin_of, typed, unreachable
from agentrl.envs.webarena.browsing.session import typed_address

# Failures that come of where the agent went. Every other one means that the site is down, which no agent has done.
_OWN_FAILURES = (
    "ERR_TOO_MANY_REDIRECTS", "ERR_UNSAFE_REDIRECT", "ERR_BLOCKED", "ERR_ABORTED", "ERR_UNSAFE_PORT", "ERR_INVALID",
    "ERR_UNKNOWN_URL_SCHEME", "ERR_DISALLOWED_URL_SCHEME",
)  # fmt: skip


class LiveBackend(chromium.ChromiumBackend):
    """The agent's browser on real sites; see `Backend` for what its methods do.

    `origins` are addresses such as http://localhost:7770: the only ones that can be reached. `storage_state` is what
    Playwright saves of a browser that has logged in, as a path or a dictionary; every episode starts with it.
    """

    def __init__(
        self,
        origins: Sequence[str],
        viewport: tuple[int, int] = VIEWPORT,
        deadline: float = chromium.DEADLINE,
        storage_state: Any = None,
    ) -> None:
        super().__init__(viewport, deadline)
        self.fence, self.storage_state = Fence(origins), storage_state
        self._failures: dict[BrowserTab, Page] = {}  # shown in the place of what could not be opened
        self._own: BrowserTab | None = None  # where evaluators look around

    def _open_window(self) -> Window:
        options = {} if self.storage_state is None else {"storage_state": self.storage_state}
        return Window(engine(), Gateway(self.fence), self.viewport, **options)

    def start(self, urls: Sequence[str], cookies: Mapping[str, Mapping[str, str]]) -> None:
        """Forget everything; open these addresses in tabs with these cookies by origin."""
        with self._lock:
            addresses = [typed_address(url) for url in urls] or [BLANK]
            self._act(self._start(addresses, cookies), opens=len(addresses))

    async def _start(self, addresses: list[str], cookies: Mapping[str, Mapping[str, str]]) -> None:
        self._failures, self._own = {}, None
        await self._fresh_window()
        assert self._window is not None
        for origin, jar in cookies.items():
            for name, value in jar.items():
                await self._window.context.add_cookies([{"name": name, "value": value, "url": origin}])
        self._tabs = [None] * len(addresses)
        for number, url in enumerate(addresses):
            self._activate(number)
            await self._go(url)
            # A page that fails before the agent has done anything is the site's fault.
            tab = await self._current()
            if tab.status >= 500:
                raise EnvFault(f"{url} answered with status {tab.status}")
            if self._late:
                raise EnvFault(f"{url}: {self._late}")
        self._activate(0)

    async def _go(self, url: str) -> None:
        tab = await self._current()
        self._note(await tab.goto(url, self._until()))
        await self._moved(tab, self._active)

    async def _show(self, tab: BrowserTab, number: int) -> None:
        tab.watch_status()

    async def _moved(self, tab: BrowserTab, number: int) -> None:
        """Look whether the page could be opened: `EnvFault` if a site does not answer."""
        tab.watch_status()
        visits = tab.take_visits()
        if not visits:
            return
        self._failures.pop(tab, None)
        page = self._failure(tab, visits[-1])
        if page is not None:
            await tab.write(page.html)
            self._failures[tab] = page

    def _failure(self, tab: BrowserTab, visit: Visit) -> Page | None:
        assert self._window is not None
        known = self.fence.allows(visit.url)
        if known and self._window.gateway.is_down(visit.url):
            raise EnvFault(f"{origin_of(visit.url)} does not answer")
        if not known and visit.url != BLANK:
            return unreachable(visit.url)
        if not visit.failed:
            return None
        if not any(name in tab.failure for name in _OWN_FAILURES):
            raise EnvFault(f"{visit.url} could not be opened: {tab.failure or 'the browser does not say why'}")
        return failed(visit.url, "The page could not be opened.")

    def open(self, url: str) -> None:
        """Open an address in the active tab."""
        with self._lock:
            self._act(self._go(typed_address(url)))

    @chromium.acting
    async def reload(self) -> None:
        """Ask for the page again."""
        tab = await self._current()
        await tab.session.send("Page.reload")
        await self._settle(tab)

    @chromium.acting
    async def back(self) -> None:
        """Show the page before this one."""
        await self._travel(-1)

    @chromium.acting
    async def forward(self) -> None:
        """Show the page that was left by going back."""
        await self._travel(1)

    async def _travel(self, steps: int) -> None:
        tab = await self._current()
        history = await tab.session.send("Page.getNavigationHistory")
        place = history["currentIndex"] + steps
        entries = history["entries"]
        if not 0 <= place < len(entries) or entries[place]["url"] == BLANK:
            where = "earlier" if steps < 0 else "later"
            raise ActionFailed(f"There is no {where} page in the history of this tab.")
        await tab.session.send("Page.navigateToHistoryEntry", {"entryId": entries[place]["id"]})
        await self._settle(tab)

    async def _read(self) -> dict[str, Any]:
        reading = await super()._read()
        names: list[tuple[str, str]] = []
        for tab in self._tabs:
            page = None if tab is None else self._failures.get(tab)
            if tab is None:
                names.append((BLANK, ""))
            elif page is not None:
                names.append((page.url, page.title))
            else:
                try:
                    names.append((tab.page.url, await tab.title(self._until(1.0))))
                except (PlaywrightError, EnvFault):
                    names.append((tab.page.url, ""))
        return {**reading, "tabs": names}

    def _finish_view(self, reading: dict[str, Any], document: chromium.NumberedDocument, **facts: Any) -> View:
        tab = self._tabs[self._active]
        page = self._failures.get(tab) if tab is not None else None
        answered = tab if reading["url"] != BLANK else None  # nobody answers for an empty page
        status = page.status if page is not None else 200 if answered is None else answered.status
        return View(
            url=reading["url"] if page is None else page.url,
            title=reading["title"],
            tabs=chromium.tab_names(reading["tabs"]),
            status=status,
            error=self._late or ("" if page is None else page.error),
            **facts,
        )

    @property
    def cookies(self) -> dict[str, dict[str, str]]:
        """The cookies by origin."""
        with self._lock:
            if self._window is None:
                return {}
            found: dict[str, dict[str, str]] = {}
            for cookie in self._run(self._window.context.cookies()):
                scheme = "https" if cookie.get("secure") else "http"
                origin = f"{scheme}://{cookie.get('domain', '').lstrip('.')}"
                found.setdefault(origin, {})[cookie.get("name", "")] = cookie.get("value", "")
            return found

    def evaluation_page(self, *, last: bool = False, quick: bool = False) -> EvaluationPage:
        """A page of its own in the agent's window; with `last`, the agent's own one, which must only be looked at."""
        if quick:
            raise EnvFault("real sites are looked at only when the episode is over")
        return LiveEvaluationPage(self, last)

    @chromium.on_engine
    async def look(self, last: bool, expression: str) -> str:
        """The value of an expression on the agent's page or the evaluators'."""
        return await chromium.printed(await self._looked_at(last), expression)

    async def _looked_at(self, last: bool) -> BrowserTab:
        if last:
            return await self._current()
        if self._own is None or self._own.gone:
            assert self._window is not None
            self._own = await self._window.new_tab()
            self._own.watch_status()
        return self._own

    @chromium.on_engine
    async def visit(self, url: str) -> str:
        """Open an address on the evaluators' page; where it led. `EnvFault` if it cannot be opened."""
        tab = await self._looked_at(False)
        if not await tab.goto(url, self._until()):
            raise EnvFault(f"{url} did not load within {self.deadline:g} s")
        visits = tab.take_visits()
        page = self._failure(tab, visits[-1]) if visits else None
        if page is not None:
            raise EnvFault(page.error)
        if tab.status >= 500:
            raise EnvFault(f"{url} answered with status {tab.status}")
        return tab.page.url

    @chromium.on_engine
    async def ask(self, method: str, url: str, body: Any, headers: Mapping[str, str] | None) -> Any:
        """Ask a site's REST interface; the decoded JSON."""
        assert self._window is not None
        if not self.fence.allows(url):
            raise EnvFault(f"{url} is not one of the sites")
        sent = None if body is None else json.dumps(body)
        named = {**({} if body is None else {"content-type": "application/json"}), **(headers or {})}
        answer = await self._window.context.request.fetch(url, method=method, data=sent, headers=named, max_redirects=0)
        if answer.status >= 500:
            raise EnvFault(f"{url} answered with status {answer.status}")
        try:
            return await answer.json()
        except ValueError as error:
            raise EnvFault(f"{url} answered with status {answer.status} and no JSON") from error

    @chromium.on_engine
    async def read(self, url: str) -> tuple[int, str, str]:
        """What a site answers to the agent's browser, without showing it: status, where it led, text."""
        assert self._window is not None
        try:
            answer = await self._window.context.request.get(url, timeout=self.deadline * 1000)
            text = await answer.text()
        except PlaywrightError as error:
            raise EnvFault(f"{url} does not answer: {str(error).splitlines()[0]:.200}") from None
        if answer.status >= 500:
            raise EnvFault(f"{url} answered with status {answer.status}")
        return answer.status, answer.url, text

    def save(self) -> NoReturn:
        """Real sites keep their changes: `SnapshotUnsupported`."""
        raise SnapshotUnsupported("real sites cannot be saved; use the embedded ones to fork episodes")

    def load(self, saved: Mapping[str, Any]) -> NoReturn:
        """See `save`."""
        self.save()


class LiveEvaluationPage:
    """A page of a `LiveBackend`, for evaluators."""

    def __init__(self, backend: LiveBackend, last: bool) -> None:
        self._backend, self._last = backend, last
        self._url = backend.view().url if last else BLANK

    @property
    def url(self) -> str:
        """The address of the page."""
        return self._url

    def goto(self, url: str) -> None:
        """Open an address; `EnvFault` where the site does not answer. Never on the agent's page."""
        try:
            address = typed(url)
        except BadAddress as error:
            raise EnvFault(f"{url!r} cannot be opened: {error}") from error
        self._last = False
        self._url = self._backend.visit(address)

    def content(self) -> str:
        """The HTML of the page."""
        return self._backend.look(self._last, chromium.CONTENT)

    def evaluate(self, expression: str) -> str:
        """What a JavaScript expression gives, as text; "" where it fails on the page."""
        return self._backend.look(self._last, expression)

    def request(self, method: str, url: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Any:
        """Ask the site's REST interface with a JSON body; the decoded JSON."""
        return self._backend.ask(method, url, body, headers)
