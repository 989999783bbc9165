"""`BrowserTab`: one page of a window. Everything is awaited on the engine's loop.

Our script (`script.js`) lives in a JavaScript world of its own: it sees the page, and the page cannot change what it
sees. Waiting follows what the page signals: navigations that it starts and ends, animation frames, never a fixed time.
"""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import Coroutine
from contextlib import suppress
from importlib.resources import files
from typing import Any, NamedTuple

from playwright.async_api import CDPSession, Page, Request, Response
from playwright.async_api import Error as PlaywrightError

from agentrl.core.errors import EnvFault

WORLD = "agentrl"
SCRIPT = files("agentrl.envs.common.browser").joinpath("script.js").read_text()
_EVENTS = (
    "Page.frameRequestedNavigation", "Page.frameStartedLoading", "Page.frameStartedNavigating", "Page.frameNavigated",
    "Page.frameStoppedLoading", "Page.navigatedWithinDocument", "Page.windowOpen", "Runtime.executionContextCreated",
    "Runtime.executionContextDestroyed", "Runtime.executionContextsCleared",
)  # fmt: skip
_HANDLERS = "[...document.querySelectorAll('*')].map((e, n) => e.onclick ? n : -1).filter((n) => n >= 0)"
_START_WAIT, _FRAME_WAIT, _RESCUE_WAIT = 5.0, 5.0, 2.0  # seconds: the most that a lost signal costs
_INPUT_WAIT = 10.0  # seconds that a page may take to react to input


class Unresponsive(EnvFault):
    """The page's own scripts keep it busy."""

    def __init__(self) -> None:
        super().__init__("the page does not respond: its scripts are busy")


class Visit(NamedTuple):
    """The main frame has gone somewhere."""

    url: str
    asked: str  # the address before redirects
    same_document: bool = False  # only the fragment changed
    failed: bool = False  # the address could not be opened


class BrowserTab:
    """A page with its state: is it loading, where has it been, is it still there?"""

    def __init__(self, page: Page, session: CDPSession) -> None:
        self.page, self.session = page, session
        self.visits: list[Visit] = []  # since somebody looked
        self.popups = 0  # windows that the page has asked for and that are not there yet
        self.gone = False  # closed or crashed
        self.status, self.failure = 200, ""  # of the last document, once `watch_status` was called
        self._watched = False
        self._pending: set[asyncio.Task[Any]] = set()  # questions to the page
        self._pausing: asyncio.Task[Any] | None = None
        self._frame = ""
        self._world: str | None = None
        self._world_made = asyncio.Event()
        self._started, self._idle = asyncio.Event(), asyncio.Event()
        self._idle.set()
        self._requested = False
        self._asked = ""

    @classmethod
    async def attach(cls, page: Page) -> BrowserTab:
        """Take over a page, new or opened by another one."""
        session = await page.context.new_cdp_session(page)
        tab = cls(page, session)
        for name in _EVENTS:
            session.on(name, lambda event, name=name: tab._seen(name, event))
        for name in ("close", "crash"):
            page.on(name, lambda *_: tab._lost())
        tab._frame = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        await session.send("Page.enable")
        await session.send("Runtime.enable")
        await session.send(
            "Page.addScriptToEvaluateOnNewDocument", {"source": SCRIPT, "worldName": WORLD, "runImmediately": True}
        )
        return tab

    # ------------------------------------------------------------------ signals

    def _seen(self, name: str, event: dict[str, Any]) -> None:
        if name == "Runtime.executionContextCreated":
            context = event["context"]
            if context["name"] == WORLD and context.get("auxData", {}).get("frameId") == self._frame:
                self._world = context["uniqueId"]
                self._world_made.set()
        elif name.startswith("Runtime."):
            if name.endswith("Cleared") or event.get("executionContextUniqueId") == self._world:
                self._world = None
                self._world_made.clear()
                if self._pausing is not None:  # its page is gone, and its answer with it
                    self._pausing.cancel()
        elif name == "Page.windowOpen":
            self.popups += 1
        elif event.get("frameId", event.get("frame", {}).get("id")) == self._frame:
            self._moved(name.removeprefix("Page."), event)

    def _moved(self, name: str, event: dict[str, Any]) -> None:
        if name == "frameRequestedNavigation":
            here = event.get("disposition", "currentTab") == "currentTab"
            self._requested |= here
            self.popups += not here and event["disposition"] != "download"
        elif name.startswith("frameStarted"):
            self._asked = event.get("url", self._asked)
            self._started.set()
            self._idle.clear()
        elif name == "frameNavigated":
            frame = event["frame"]
            failed = frame.get("unreachableUrl")
            url = failed or frame["url"] + frame.get("urlFragment", "")
            self.visits.append(Visit(url, self._asked or url, failed=bool(failed)))
            self._asked = ""
        elif name == "navigatedWithinDocument":
            self.visits.append(Visit(event["url"], event["url"], same_document=True))
        elif name == "frameStoppedLoading":
            self._idle.set()

    def _lost(self) -> None:
        self.gone = True
        for event in (self._idle, self._started, self._world_made):
            event.set()
        for task in (*self._pending, self._pausing):  # a page that is gone answers nothing
            if task:
                task.cancel()

    def watch_status(self) -> None:
        """Keep `status` and `failure` up to date; sites in this process tell them themselves."""
        if not self._watched:
            self._watched = True
            self.page.on("response", self._answered)
            self.page.on("requestfailed", self._failed)

    def _answered(self, response: Response) -> None:
        if self._is_document(response.request):
            self.status, self.failure = response.status, ""

    def _failed(self, request: Request) -> None:
        if self._is_document(request):
            self.failure = request.failure or ""

    def _is_document(self, request: Request) -> bool:
        try:
            return request.is_navigation_request() and request.frame == self.page.main_frame
        except PlaywrightError:  # the frame is not there yet, or not any more
            return False

    def take_visits(self) -> list[Visit]:
        """Where the page has been since the last call."""
        visits, self.visits = self.visits, []
        return visits

    # ------------------------------------------------------------------ waiting

    async def settle(self, deadline: float, *, scripts: bool = True) -> bool:
        """Wait until what the last input has caused is done; False if the page was still loading at the deadline (a
        moment of `time.monotonic`). A page with scripts gets two animation frames to show what it has to show."""
        if not self._requested and not self._started.is_set():  # it is not on its way elsewhere
            # Let the page do what it has begun. One that goes away meanwhile needs no pause.
            limit = min(deadline, time.monotonic() + _FRAME_WAIT)
            self._pausing = asyncio.ensure_future(self._evaluate(f"agentrl.{'frames' if scripts else 'tick'}()"))
            try:
                await asyncio.wait({self._pausing}, timeout=max(0.0, limit - time.monotonic()))
                if self._pausing.done() and not self._pausing.cancelled():
                    self._pausing.exception()  # does not matter
            finally:
                self._pausing.cancel()
            self._pausing = None
        return await self._loaded(deadline)

    async def _loaded(self, deadline: float) -> bool:
        if self._requested and not self._started.is_set():
            await _wait(self._started, min(deadline, time.monotonic() + _START_WAIT))
        done = await _wait(self._idle, deadline)
        self._requested = False
        self._started.clear()
        if not done:
            await self._rescue(self.session.send("Page.stopLoading"))
        return done

    # ------------------------------------------------------------------ going and reading

    async def goto(self, url: str, deadline: float) -> bool:
        """Open an address; False if it has not loaded at the deadline."""
        try:
            answer = await asyncio.wait_for(
                self.session.send("Page.navigate", {"url": url}), max(0.1, deadline - time.monotonic())
            )
        except TimeoutError:
            await self._rescue(self.session.send("Page.stopLoading"))
            return False
        self._requested = "loaderId" in answer and not answer.get("isDownload")
        return await self._loaded(deadline)

    async def ready(self, deadline: float) -> None:
        """Wait for a page that somebody else has opened, whose first signals were missed."""
        try:
            await self.page.wait_for_load_state("load", timeout=max(100.0, (deadline - time.monotonic()) * 1000))
            frame = (await self.session.send("Page.getFrameTree"))["frameTree"]["frame"]
        except PlaywrightError:
            return
        self.visits = []
        self._moved("frameNavigated", {"frame": frame})

    async def title(self, deadline: float) -> str:
        """What the page is called; empty if it does not say so in time."""
        try:
            return await asyncio.wait_for(self._evaluate("document.title"), max(0.1, deadline - time.monotonic())) or ""
        except TimeoutError:
            return ""

    async def write(self, text: str) -> None:
        """Show this HTML in the place of the page."""
        await self.session.send("Page.setDocumentContent", {"frameId": self._frame, "html": text})

    async def call(self, name: str, *arguments: Any, deadline: float) -> Any:
        """Call a function of our script. A page that went elsewhere meanwhile is asked again; `Unresponsive` if its own
        scripts let nobody in."""
        expression = f"agentrl.{name}({', '.join(map(json.dumps, arguments))})"
        while True:
            self._check()
            if not await _wait(self._world_made, deadline):
                raise Unresponsive
            try:
                return await self._answer(self._evaluate(expression), deadline)
            except PlaywrightError as error:
                self._check()
                why = str(error)
                if "context" not in why.lower() and "navigated" not in why and "Cannot find" not in why:
                    raise  # it did not go elsewhere
                if time.monotonic() > deadline:  # it goes elsewhere all the time
                    raise Unresponsive from error
                await _wait(self._idle, deadline)

    async def handlers(self, deadline: float) -> list[int]:
        """The numbers of the elements to which scripts have given an `onclick`, which only the page's own world shows.
        The page may say what it likes."""
        try:
            found = await self._answer(self._evaluate(_HANDLERS, own_world=False), deadline)
        except Unresponsive:
            raise
        except (EnvFault, PlaywrightError):  # its scripts have broken what was asked, or it went elsewhere
            return []
        return [number for number in found if isinstance(number, int)] if isinstance(found, list) else []

    async def screenshot(
        self, area: tuple[int, int, int, int], *, beyond: bool = False, scale: float = 1.0, deadline: float
    ) -> bytes:
        """A part of the page (left, top, width, height) as a PNG file; `beyond`: does it reach out of the viewport?"""
        left, top, width, height = area
        clip = {"x": left, "y": top, "width": width, "height": height, "scale": scale}
        options = {"format": "png", "clip": clip, "captureBeyondViewport": beyond, "optimizeForSpeed": True}
        self._check()
        work = self.session.send("Page.captureScreenshot", options)
        try:
            answer = await asyncio.wait_for(work, max(0.1, deadline - time.monotonic()))
        except TimeoutError:
            raise Unresponsive from None
        return base64.b64decode(answer["data"])

    async def _evaluate(self, expression: str, *, own_world: bool = True) -> Any:
        options = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        if own_world and self._world is not None:
            options["uniqueContextId"] = self._world
        answer = await self.session.send("Runtime.evaluate", options)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise EnvFault(
                f"the page could not be read: {details.get('exception', {}).get('description', details)!s:.300}"
            )
        return answer["result"].get("value")

    async def _answer(self, work: Coroutine[Any, Any, Any], deadline: float) -> Any:
        """What the browser answers; `Unresponsive` if it is late, `EnvFault` if the page crashes meanwhile."""
        task = asyncio.ensure_future(work)
        self._pending.add(task)
        try:
            return await asyncio.wait_for(task, max(0.1, deadline - time.monotonic()))
        except TimeoutError:
            await self._rescue(self.session.send("Runtime.terminateExecution"))
            raise Unresponsive from None
        except asyncio.CancelledError:
            self._check()
            raise
        finally:
            self._pending.discard(task)

    async def _rescue(self, work: Any) -> None:
        """Something that helps, or does not matter."""
        with suppress(PlaywrightError, TimeoutError):
            await asyncio.wait_for(work, _RESCUE_WAIT)

    def _check(self) -> None:
        if self.gone:
            raise EnvFault("the page or its browser has crashed")

    # ------------------------------------------------------------------ input

    async def click(self, x: float, y: float, button: str = "left", *, deadline: float | None = None) -> None:
        """Press and release a button of the mouse."""
        await self._input(self.page.mouse.click(x, y, button=button), deadline)  # pyright: ignore[reportArgumentType]

    async def move(self, x: float, y: float, *, deadline: float | None = None) -> None:
        """Move the mouse."""
        await self._input(self.page.mouse.move(x, y), deadline)

    async def drag(self, start: tuple[int, int], end: tuple[int, int], *, deadline: float | None = None) -> None:
        """Move the mouse to one place, press its left button, and release it at another."""
        mouse = self.page.mouse
        for work in (mouse.move(*start), mouse.down(), mouse.move(*end), mouse.up()):
            await self._input(work, deadline)

    async def press(self, keys: str, *, deadline: float | None = None) -> None:
        """A key or combination in Playwright's spelling."""
        await self._input(self.page.keyboard.press(keys), deadline)

    async def insert(self, text: str, *, deadline: float | None = None) -> None:
        """Write at the cursor, as an input method does."""
        await self._input(self.session.send("Input.insertText", {"text": text}), deadline)

    async def _input(self, work: Coroutine[Any, Any, Any], deadline: float | None) -> None:
        """The browser answers when the page has taken the input in; `Unresponsive` if what it does then never ends."""
        await self._answer(work, time.monotonic() + _INPUT_WAIT if deadline is None else deadline)


async def _wait(event: asyncio.Event, deadline: float) -> bool:
    """Wait for an event up to a moment of `time.monotonic`."""
    if event.is_set():
        return True
    try:
        await asyncio.wait_for(event.wait(), max(0.0, deadline - time.monotonic()))
    except TimeoutError:
        return False
    return True
