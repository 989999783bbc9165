"""`Window`: the browser of one episode: a context, its gateway and its tabs. Awaited on the engine's loop."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import Any

from playwright.async_api import BrowserContext, Page
from playwright.async_api import Error as PlaywrightError

from agentrl.envs.common.browser.chromium import THROUGH_PROXY
from agentrl.envs.common.browser.engine import Engine
from agentrl.envs.common.browser.gateway import Gateway
from agentrl.envs.common.browser.tab import BrowserTab

# Peer connections have no way out; without them a page cannot even try. Printing would wait for a user. A service
# worker would answer for the site; the gateway refuses its script as well, where it can see it. What goes to the
# console passes through the driver that all windows share: a page that floods it would delay them.
_FORBIDDEN = """
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "print"]) delete window[name];
if (window.ServiceWorkerContainer)
  ServiceWorkerContainer.prototype.register = () => Promise.reject(new DOMException("blocked", "SecurityError"));
for (const name of Object.keys(console)) if (typeof console[name] === "function") console[name] = () => undefined;
for (const kind of ["error", "unhandledrejection"]) addEventListener(kind, (event) => event.preventDefault(), true);
"""
MAX_POPUPS = 10  # that wait to be looked at; more are closed as they come
_POPUP_WAIT = 5.0  # seconds: the most that a window costs which the browser did not open


class Window:
    """Shares nothing with other windows: cookies, storage, cache and connections are its own."""

    def __init__(
        self, engine: Engine, gateway: Gateway, viewport: tuple[int, int], *, script: str = "", **options: Any
    ) -> None:
        self.engine, self.gateway, self.viewport = engine, gateway, viewport
        self._script = script  # run on every page before its own
        self._options = options  # more for Playwright's `new_context`, such as storage_state
        self._context: BrowserContext | None = None
        self._own = 0  # pages being opened by us
        self._closing: set[asyncio.Future[None]] = set()
        self._popups: asyncio.Queue[Page] = asyncio.Queue()

    async def open(self) -> None:
        """Make the context. Nothing is asked for, stored or permitted that a page did not bring itself."""
        proxy = await self.gateway.open()
        width, height = self.viewport
        self._context = await self.engine.context(
            viewport={"width": width, "height": height}, screen={"width": width, "height": height},
            device_scale_factor=1, service_workers="block", accept_downloads=False, permissions=[], locale="en-US",
            timezone_id="UTC", reduced_motion="reduce", proxy={"server": proxy, "bypass": THROUGH_PROXY},
            **self._options,
        )  # fmt: skip
        await self._context.add_init_script(_FORBIDDEN + self._script)
        self._context.on("page", self._page_opened)

    @property
    def context(self) -> BrowserContext:
        """The context of Playwright."""
        assert self._context is not None  # since `open`
        return self._context

    def _page_opened(self, page: Page) -> None:
        if self._own:
            return
        if self._popups.qsize() < MAX_POPUPS:
            self._popups.put_nowait(page)
        else:
            closing = asyncio.ensure_future(self._close_page(page))
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    async def new_tab(self) -> BrowserTab:
        """An empty page."""
        self._own += 1
        try:
            page = await self.context.new_page()
        finally:
            self._own -= 1
        return await BrowserTab.attach(page)

    async def popups(self, opener: BrowserTab, deadline: float) -> list[BrowserTab]:
        """The windows that a page has opened since the last call, loaded."""
        found: list[BrowserTab] = []
        for _ in range(MAX_POPUPS):
            if opener.popups <= 0 and self._popups.empty():
                break
            opener.popups -= 1
            try:
                page = await asyncio.wait_for(
                    self._popups.get(), max(0.1, min(_POPUP_WAIT, deadline - time.monotonic()))
                )
                found.append(await BrowserTab.attach(page))
            except (TimeoutError, PlaywrightError):  # blocked, or closed again
                continue
        opener.popups = 0
        for tab in found:
            await tab.ready(deadline)
        return found

    async def close(self) -> None:
        """Close everything; a browser that is gone is closed already."""
        context, self._context = self._context, None
        await self.gateway.close()
        if context is not None:
            with suppress(PlaywrightError):
                await context.close()

    async def _close_page(self, page: Page) -> None:
        with suppress(PlaywrightError):
            await page.close()
