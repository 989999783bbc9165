"""`ChromiumBackend`: what browsing in Chromium is on any site. `browser` and `live` add where the pages come from."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from functools import lru_cache, wraps
from io import BytesIO
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from PIL import Image

from agentrl.core.errors import EnvFault
from agentrl.envs.common.browser import BrowserTab, Window, engine
from agentrl.envs.common.browser.engine import START_DEADLINE, PlaywrightError
from agentrl.envs.common.browser.tab import Unresponsive
from agentrl.envs.webarena.backend import VIEWPORT, ActionFailed, Box, View
from agentrl.envs.webarena.backend import Tab as TabName
from agentrl.envs.webarena.browsing.input import (
    accepted_text,
    check_button,
    control_of,
    is_known,
    labelled_element,
    normal,
    option_with,
    scroll_step,
    unknown_key,
)
from agentrl.envs.webarena.browsing.session import MAX_TABS
from agentrl.envs.webarena.layout.document import Document, strip_attributes
from agentrl.envs.webarena.layout.page import INNERMOST, LINES, WHOLE
from agentrl.envs.webarena.observing.accessibility import with_line_ids

CONTENT = "'<!DOCTYPE html>' + document.documentElement.outerHTML"
Result = TypeVar("Result")
Parameters = ParamSpec("Parameters")
ATTRIBUTE = "data-agentrl-n"  # set by the browser's script
DEADLINE = 30.0  # seconds that a page may take for one action
_MARGIN = 10.0  # more for the work around it
_READING = 10.0  # seconds for reading a page whose scripts may be busy
_BUSY = "The page does not respond: its scripts are busy."
_INSERTED = 5_000  # characters; longer texts are put into the field at once
_KEYS = {
    **{name.lower(): name for name in ("Enter", "Tab", "Escape", "Backspace", "Delete", "Home", "End", "Space")},
    **{f"arrow{way.lower()}": f"Arrow{way}" for way in ("Up", "Down", "Left", "Right")},
    **{name.lower(): name for name in ("PageUp", "PageDown", "Insert", "CapsLock", "Control", "Shift", "Alt")},
    **{f"f{number}": f"F{number}" for number in range(1, 13)},
}


class NumberedDocument(Document):
    """A page out of a browser. `elements` has None in the place of an element that was left out."""

    def __init__(self, html: str) -> None:
        super().__init__(html)
        numbers = {element: int(element.get(ATTRIBUTE, -1)) for element in self.elements}
        self.elements = [None] * (max(numbers.values(), default=-1) + 1)
        for element, number in numbers.items():
            if number >= 0:
                self.elements[number] = element
        self.index: dict[Any, int] = {element: number for element, number in numbers.items() if number >= 0}
        strip_attributes(self.root, ATTRIBUTE)
        self.controls = [control for control in self.controls if control in self.index]


@lru_cache(64)
def numbered_document(html: str) -> NumberedDocument:
    """The same tree for the same text: a page that has not changed keeps its elements."""
    return NumberedDocument(html)


def on_engine(
    work: Callable[Concatenate[Any, Parameters], Coroutine[Any, Any, Result]],
) -> Callable[Concatenate[Any, Parameters], Result]:
    """Let any thread call an asynchronous method of a back end, one call at a time."""

    @wraps(work)
    def call(self: Any, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        with self._lock:
            return self._run(work(self, *args, **kwargs))

    return call


def acting(work: Callable[[Any], Coroutine[Any, Any, None]]) -> Callable[[Any], None]:
    """The same for what may change the page."""

    @wraps(work)
    def act(self: Any) -> None:
        with self._lock:
            self._act(work(self))

    return act


class ChromiumBackend(ABC):
    """See `Backend` for what the methods do. May be used from several threads, one call at a time."""

    scripts = True  # do the pages have any?
    labelling = WHOLE

    def __init__(self, viewport: tuple[int, int] = VIEWPORT, deadline: float = DEADLINE) -> None:
        self.viewport, self.deadline = viewport, deadline
        self._lock = threading.RLock()
        self._window: Window | None = None
        self._tabs: list[BrowserTab | None] = []  # None: to be shown when somebody looks at it
        self._active = 0
        self._view: View | None = None
        self._last_view: View | None = None  # shown again where nothing has changed
        self._document: NumberedDocument | None = None
        self._late = ""  # why the page may not be whole

    @abstractmethod
    async def _show(self, tab: BrowserTab, number: int) -> None:
        """Let a fresh page show what the tab of this number shows."""

    @abstractmethod
    async def _moved(self, tab: BrowserTab, number: int) -> None:
        """The page may have gone elsewhere."""

    @abstractmethod
    def _open_window(self) -> Window: ...

    @abstractmethod
    def _finish_view(self, reading: dict[str, Any], document: NumberedDocument, **facts: Any) -> View: ...

    def _check_click(self, element: Any) -> None:  # noqa: B027 (a hook)
        """`ActionFailed` where the click is known to be refused."""

    def _check_drag(self, element: Any) -> None:  # noqa: B027 (a hook)
        """`ActionFailed` where nothing can be dragged."""

    def _run(self, work: Coroutine[Any, Any, Result], more: float = 0.0) -> Result:
        return engine().run(work, self.deadline + _MARGIN + more)

    def _act(self, work: Coroutine[Any, Any, Any], *, opens: int = 0) -> None:
        """Do something that may change the page; `opens`: how many tabs it opens, perhaps in a new browser."""
        try:
            self._run(work, START_DEADLINE + opens * self.deadline if opens else 0.0)
        except Unresponsive:
            self._late = _BUSY
        finally:
            self._view = None

    def _activate(self, number: int) -> None:
        self._active, self._view = number, None

    def _until(self, most: float = float("inf")) -> float:
        return time.monotonic() + min(self.deadline, most)

    async def _current(self) -> BrowserTab:
        """The page of the active tab."""
        tab = self._tabs[self._active]
        if tab is None:
            assert self._window is not None  # since `start`
            tab = await self._window.new_tab()
            self._tabs[self._active] = tab
            await self._show(tab, self._active)
        return tab

    async def _settle(self, tab: BrowserTab) -> None:
        """Wait for what an action has caused, and take in the windows it has opened."""
        until = self._until()
        number = self._tabs.index(tab)
        self._note(await tab.settle(until, scripts=self.scripts))
        assert self._window is not None
        popups = await self._window.popups(tab, until)
        await self._moved(tab, number)
        for popup in popups:  # becomes the active tab; beyond the limit it is closed
            if len(self._tabs) >= MAX_TABS:
                await popup.page.close()
                raise ActionFailed(f"There are {MAX_TABS} tabs already; close one first.")
            self._tabs.append(popup)
            self._activate(len(self._tabs) - 1)
            await self._moved(popup, self._active)

    def _note(self, done: bool) -> None:
        self._late = "" if done else f"The page did not finish loading within {self.deadline:g} seconds."

    def view(self) -> View:
        """The active tab at this moment."""
        with self._lock:
            if self._view is not None:
                return self._view
            reading = self._run(self._read())
            document = self._document = numbered_document(reading["html"])
            elements = document.elements
            there = {number for number, element in enumerate(elements) if element is not None}
            rows = zip(*[iter(reading["boxes"])] * 5, strict=True)
            view = self._finish_view(
                reading,
                document,
                root=document.root,
                boxes={elements[row[0]]: Box._make(row[1:]) for row in rows if row[0] in there},
                labels=tuple(elements[number] for number in reading["labels"] if number in there),
                values={elements[number]: text for number, text in reading["values"] if number in there},
                active=self._active,
                scroll=reading["scroll"],
                height=max(reading["height"], self.viewport[1]),
                focused=elements[reading["focus"]] if reading["focus"] in there else None,
                viewport=self.viewport,
                further={
                    elements[number]: tuple(Box._make(line) for line in lines)
                    for number, lines in reading["further"]
                    if number in there
                },
            )
            view = with_line_ids(view) if self.labelling == LINES else view
            last = self._last_view
            self._view = self._last_view = last if last is not None and vars(last) == vars(view) else view
            return self._view

    @acting
    async def refresh(self) -> None:
        """Look at the page anew."""
        tab = await self._current()
        await self._turn(tab)
        await self._settle(tab)

    async def _read(self) -> dict[str, Any]:
        tab = await self._current()
        for _ in range(2):
            try:
                told = self.scripts and self.labelling == INNERMOST
                handlers = await tab.handlers(self._until(_READING)) if told else []
                found = await tab.call("read", self.labelling, handlers, deadline=self._until(_READING))
            except Unresponsive:
                self._late = _BUSY
                continue
            if found is not None:
                return found
        return {**_NOTHING, "url": tab.page.url}

    def picture(self, top: int, height: int) -> np.ndarray:
        """The page from `top` on, as the browser shows it."""
        with self._lock:
            scroll = self.view().scroll
            beyond = top < scroll or top + height > scroll + self.viewport[1]
            try:
                data = self._run(self._screenshot(top, height, beyond))
            except Unresponsive:  # scripts keep the page busy: nothing is seen of it
                return np.full((height, self.viewport[0], 3), 128, np.uint8)
        return np.asarray(Image.open(BytesIO(data)).convert("RGB"))

    async def _screenshot(self, top: int, height: int, beyond: bool) -> bytes:
        area = (0, top, self.viewport[0], height)
        return await (await self._current()).screenshot(area, beyond=beyond, deadline=self._until(_READING))

    def _control(self, number: int) -> Any:
        found = labelled_element(self.view(), number)
        assert self._document is not None
        return control_of(found, self._document)

    def _number(self, element: Any) -> int:
        assert self._document is not None  # elements come out of it
        return self._document.index[element]

    def click(self, element: int, button: str = "left") -> None:
        """Click the middle of an element."""
        with self._lock:
            found = labelled_element(self.view(), element)
            check_button(button)
            if button == "left":
                self._check_click(found)
            control = self._control(element)
            if control.tag == "select":
                # A click would open a menu that lies over the page and swallows the next click.
                self._act(self._call("focus", self._number(control)))
            else:
                self._act(self._point_at(self._number(found), button))

    def click_at(self, left: float, top: float, button: str = "left") -> None:
        """Click whatever is seen at this point of the viewport."""
        with self._lock:
            check_button(button)
            found = self._element_at(left, top)
            if found is not None and button == "left":
                self._check_click(found)
            if found is not None and found.tag == "select":
                self._act(self._call("focus", self._number(found)))  # see `click`
            else:
                self._act(self._point_at((left, top), button))

    def _element_at(self, left: float, top: float) -> Any:
        self.view()  # what the page holds now belongs to the history
        number = self._run(self._found_at(left, top))
        return None if number is None or self._document is None else self._document.elements[number]

    async def _found_at(self, left: float, top: float) -> int | None:
        return await (await self._current()).call("at", left, top, deadline=self._until())

    def move_to(self, left: float, top: float) -> None:
        """Move the mouse to this point of the viewport."""
        with self._lock:
            self._act(self._point_at((left, top)))

    async def _turn(self, tab: BrowserTab) -> None:  # noqa: B027 (a hook)
        """Time has passed since somebody looked."""

    async def _call(self, function: str, *arguments: Any) -> None:
        """Let a function of the page's script act, and wait for what comes of it."""
        tab = await self._current()
        await self._turn(tab)
        await tab.call(function, *arguments, deadline=self._until())
        await self._settle(tab)

    async def _point_at(self, place: int | tuple[float, float], button: str | None = None) -> None:
        """Move the mouse to an element or a point and, with a button, click it."""
        tab = await self._current()
        await self._turn(tab)
        point = await self._point(tab, place) if isinstance(place, int) else place
        if button is None:
            await tab.move(*point, deadline=self._until())
        else:
            await tab.click(*point, button, deadline=self._until())
        await self._settle(tab)

    async def _point(self, tab: BrowserTab, number: int) -> tuple[float, float]:
        point = await tab.call("point", number, deadline=self._until())
        if point is None:
            raise ActionFailed("This element is no longer on the page.")
        return point[0], point[1]

    def hover(self, element: int) -> None:
        """Move the mouse to an element."""
        with self._lock:
            self._act(self._point_at(self._number(labelled_element(self.view(), element))))

    def drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Press the left button at one place of the viewport and release it at another."""
        with self._lock:
            self._check_drag(self._element_at(*start))
            self._act(self._drag(start, end))

    async def _drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        tab = await self._current()
        await self._turn(tab)
        await tab.drag(start, end, deadline=self._until())
        await self._settle(tab)

    def type(self, element: int, text: str, *, enter: bool = False) -> None:
        """Replace the contents of a field by `text`; with `enter`, press Enter as well."""
        with self._lock:
            field = self._control(element)
            accepted = text if field.get("contenteditable") is not None else accepted_text(field, text)
            self._act(self._type(self._number(field), accepted, enter))

    async def _type(self, number: int, text: str, enter: bool) -> None:
        tab = await self._current()
        await self._turn(tab)
        until = self._until()
        await tab.click(*await self._point(tab, number), deadline=until)
        typable = await tab.call("selectAll", number, deadline=until)
        if typable and 0 < len(text) <= _INSERTED:
            await tab.insert(text, deadline=until)
        else:
            await tab.call("fill", number, text, deadline=until)
        if enter:
            await self._before_leaving(tab)
            await tab.press("Enter", deadline=until)
        await self._settle(tab)

    async def _before_leaving(self, tab: BrowserTab) -> None:  # noqa: B027 (a hook)
        """The page has changed and may be left now."""

    def press(self, key: str) -> None:
        """Press a key or combination on the focused element."""
        with self._lock:
            keys = normal(key)
            # What a browser's window does with keys; a browser without one does nothing.
            own = {
                "f5": self.reload, "control+r": self.reload, "alt+arrowleft": self.back, "alt+arrowright": self.forward,
                "control+t": self.new_tab, "control+w": self.close_tab,
            }.get(keys)  # fmt: skip
            if own is not None:
                own()
            elif is_known(key):
                self.view()  # what the page holds now belongs to the history
                names = [key] if len(key) == 1 else keys.split("+") if keys != "+" else ["+"]
                self._act(self._press("+".join(_KEYS.get(name, name) for name in names)))
            else:
                raise unknown_key(key)

    async def _press(self, keys: str) -> None:
        tab = await self._current()
        await self._turn(tab)
        await tab.press(keys, deadline=self._until())
        await self._settle(tab)

    def write(self, text: str) -> None:
        """Type into the field that has the keyboard, behind what it holds."""
        with self._lock:
            self.view()
            self._act(self._write(text))

    async def _write(self, text: str) -> None:
        tab, until = await self._current(), self._until()
        await tab.call("toEnd", deadline=until)
        for number, line in enumerate(text.split("\n")):
            if number:
                await self._before_leaving(tab)
                await tab.press("Enter", deadline=until)
            for start in range(0, len(line), _INSERTED):
                await tab.insert(line[start : start + _INSERTED], deadline=until)
        await self._settle(tab)

    def scroll(self, direction: str) -> None:
        """Scroll "up" or "down" by two thirds of the viewport."""
        with self._lock:
            self._act(self._call("scroll", scroll_step(direction, self.viewport)))

    def select(self, element: int, option: str) -> None:
        """Choose the first option whose text contains `option`, in either case of letters."""
        with self._lock:
            found = self._control(element)
            self._act(self._call("choose", self._number(found), option_with(option, found)))

    @abstractmethod
    def reload(self) -> None:
        """Ask for the page again."""

    @abstractmethod
    def back(self) -> None:
        """Show the page before this one."""

    @abstractmethod
    def forward(self) -> None:
        """Show the page that was left by going back."""

    def new_tab(self) -> None:
        """Open an empty tab and show it."""
        with self._lock:
            if len(self._tabs) >= MAX_TABS:
                raise ActionFailed(f"There are {MAX_TABS} tabs already; close one first.")
            self._tabs.append(None)
            self._activate(len(self._tabs) - 1)

    def focus_tab(self, number: int) -> None:
        """Show the tab with this number, from 0."""
        with self._lock:
            if not 0 <= number < len(self._tabs):
                raise ActionFailed(f"There is no tab {number}; the tabs are 0 to {len(self._tabs) - 1}.")
            self._activate(number)

    def close_tab(self) -> None:
        """Close the active tab; the one before it is shown."""
        with self._lock:
            if len(self._tabs) == 1:
                raise ActionFailed("The only tab cannot be closed.")
            tab = self._tabs.pop(self._active)
            self._activate(max(0, self._active - 1))
            if tab is not None:
                self._run(tab.page.close())

    async def _fresh_window(self) -> None:
        await self._close_window()
        window = self._open_window()
        await window.open()
        self._window = window

    async def _close_window(self) -> None:
        window, self._window = self._window, None
        self._tabs, self._active = [], 0
        if window is not None:
            await window.close()

    def close(self) -> None:
        """Close the window; may be called twice."""
        with self._lock:
            self._view = self._document = None
            if self._window is None:
                return
            try:
                self._run(self._close_window())
            except EnvFault:  # the browser is gone, and the window with it
                self._window = None


_NOTHING: dict[str, Any] = {
    "html": "<html><head></head><body></body></html>", "boxes": [], "labels": [], "further": [], "values": [],
    "changed": [], "focus": None, "selected": False, "opened": [], "scroll": 0, "height": 0, "title": "",
}  # fmt: skip


def tab_names(found: list[tuple[str, str]]) -> tuple[TabName, ...]:
    """Addresses and titles as a view has them."""
    return tuple(TabName(url, title) for url, title in found)


async def printed(tab: BrowserTab, expression: str) -> str:
    """The value of an expression as the benchmark's evaluator prints it."""
    try:
        return str(await tab.page.evaluate(expression))
    except PlaywrightError as error:
        if tab.gone:
            raise EnvFault("the page or its browser has crashed") from error
        return ""
