"""`Engine`: the one Chromium of this process, driven by Playwright on an event loop in the background.

It starts when it is first needed and again after it has died. A forked child starts one of its own. The
memory of pages has a limit: a script that eats all of it loses its page, and the machine goes on (on Linux). Limits of
the kernel would not do: Chromium reserves far more than it uses.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import signal
import threading
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from agentrl.core.background import BackgroundLoop
from agentrl.core.errors import AgentRLError, EnvFault, MissingExtra
from agentrl.envs.common.browser.chromium import NOWHERE, THROUGH_PROXY, UNWANTED, find_chromium, flags

try:
    from playwright.async_api import Browser, BrowserContext, Playwright, async_playwright
    from playwright.async_api import Error as PlaywrightError
except ImportError as error:  # pragma: no cover (set-up installs it)
    raise MissingExtra("playwright", "browser") from error

log = logging.getLogger(__name__)
Result = TypeVar("Result")
START_DEADLINE, CLOSE_DEADLINE = 60.0, 5.0  # seconds
GRACE = 10.0  # beyond the deadline of a call: the loop itself is stuck then
MAX_COUNT = 2 << 30  # bytes in use by the pages of one site in one window
_PAUSE = 0.5  # seconds between two looks
_PROCESSES = Path("/proc")


async def guard_memory(browser: int, most: int = MAX_COUNT) -> None:
    """End pages of the browser with this process id that use more memory. Runs until it is cancelled."""
    while _PROCESSES.exists():
        await asyncio.sleep(_PAUSE)
        await asyncio.to_thread(_end_large, browser, most)


def _end_large(browser: int, most: int) -> None:
    for forked_from in _children(browser):
        for pid in _children(forked_from):
            with suppress(OSError, ValueError):  # it ended meanwhile
                folder = _PROCESSES / str(pid)
                used = int((folder / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
                if used > most and "--type=renderer" in (folder / "cmdline").read_text():
                    log.warning("ended a page that used %d MB", used >> 20)
                    os.kill(pid, signal.SIGKILL)


def _children(pid: int) -> list[int]:
    with suppress(OSError, ValueError):
        return [int(child) for child in (_PROCESSES / f"{pid}/task/{pid}/children").read_text().split()]
    return []


log = logging.getLogger(__name__)


class Engine:
    """Runs coroutines for callers in any thread, and opens contexts in a browser that is alive."""

    def __init__(self) -> None:
        self._loop = BackgroundLoop("agentrl-browser")
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._guard: asyncio.Future[None] | None = None
        self._starting: asyncio.Lock | None = None
        self._ends_at_exit = False
        self._pid = os.getpid()

    def run(self, work: Coroutine[Any, Any, Result], deadline: float) -> Result:
        """Do something on the loop and wait for it; `EnvFault` if the browser fails or takes too long."""
        if self._loop.owns_this_thread():
            work.close()
            raise RuntimeError("waiting for the browser on its own thread would never end; await instead")
        future = self._loop.submit(asyncio.wait_for(work, deadline))
        try:
            return future.result(deadline + GRACE)
        except AgentRLError:
            raise
        except TimeoutError as error:
            raise EnvFault(f"the browser did not answer within {deadline:g} s") from error
        except PlaywrightError as error:
            raise EnvFault(f"the browser failed: {_first_line(error)}") from error
        except BaseException:
            future.cancel()
            raise

    async def context(self, **options: Any) -> BrowserContext:
        """A fresh context in a living browser. Awaited on the loop."""
        for last in (False, True):
            browser = await self.browser()
            try:
                return await browser.new_context(**options)
            except PlaywrightError:
                if last or browser.is_connected():
                    raise
        raise AssertionError  # the loop has returned or raised

    async def browser(self) -> Browser:
        """The browser, started if there is none. Awaited on the loop."""
        self._starting = self._starting or asyncio.Lock()
        async with self._starting:
            if self._browser is None or not self._browser.is_connected():
                await self._stop()
                try:
                    await asyncio.wait_for(self._start(), START_DEADLINE)
                except (PlaywrightError, OSError, TimeoutError) as error:
                    await self._stop()
                    raise EnvFault(f"Chromium could not be started: {_first_line(error)}") from error
            assert self._browser is not None
            return self._browser

    async def _start(self) -> None:
        path = find_chromium()
        if not self._ends_at_exit:  # registered behind the loop's own end, so that it comes before
            atexit.register(self.close)
            self._ends_at_exit = True
        self._playwright = await async_playwright().start()
        self._browser = await self._playwright.chromium.launch(
            executable_path=path, args=flags(), ignore_default_args=UNWANTED, timeout=START_DEADLINE * 1000,
            proxy={"server": NOWHERE, "bypass": THROUGH_PROXY},
            handle_sigint=False, handle_sigterm=False, handle_sighup=False,
        )  # fmt: skip
        self._guard = asyncio.ensure_future(guard_memory(await process_of(self._browser)))
        log.debug("started %s", path)

    async def _stop(self) -> None:
        if self._guard is not None:
            self._guard.cancel()
        browser, self._browser = self._browser, None
        playwright, self._playwright = self._playwright, None
        if browser is not None and not browser.is_connected():
            browser = None
        for closing in (browser and browser.close, playwright and playwright.stop):
            if closing is not None:
                try:
                    await asyncio.wait_for(closing(), CLOSE_DEADLINE)
                except (Exception, asyncio.CancelledError):  # it is gone already
                    log.debug("closing the browser failed", exc_info=True)

    def close(self) -> None:
        """End the browser; the next use starts a fresh one."""
        if self._pid != os.getpid():  # a parent's browser is the parent's
            return
        if self._playwright is not None:
            try:
                self.run(self._stop(), 3 * CLOSE_DEADLINE)
            except (EnvFault, RuntimeError):
                log.debug("closing the browser failed", exc_info=True)
        self._starting = None
        self._loop.close()


_engines: dict[int, Engine] = {}  # by process
_guard = threading.Lock()


def engine() -> Engine:
    """The engine of this process."""
    with _guard:
        found = _engines.get(os.getpid())
        if found is None:
            found = _engines[os.getpid()] = Engine()
        return found


async def process_of(browser: Browser) -> int:
    """The process id of a browser."""
    session = await browser.new_browser_cdp_session()
    processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
    await session.detach()
    return next(process["id"] for process in processes if process["type"] == "browser")


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
