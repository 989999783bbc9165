"""What every back end offers: `dom` (no browser) and `browser` (Chromium), and the `View` of a page that it gives.
Environments, observations and evaluators know only this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

VIEWPORT = (1280, 720)


class Box(NamedTuple):
    """Where an element is, in pixels of the viewport: negative above and left of it."""

    left: int
    top: int
    width: int
    height: int


class Tab(NamedTuple):
    """One of the open tabs."""

    url: str
    title: str


@dataclass(frozen=True, eq=False)
class View:
    """The active tab. `root` is the <html> element (lxml); the dictionaries are keyed by its elements.

    Live contents of form fields are in `values`, not in the attributes of the tree: text of inputs and text areas, the
    value of a select, "on" or "" of check boxes and radio buttons. An element without a box is not displayed. `labels`
    are the elements an agent can act on, in document order: the place in the list is the element's id.
    """

    url: str
    title: str
    root: Any
    boxes: dict[Any, Box]
    labels: tuple[Any, ...]
    values: dict[Any, str]
    tabs: tuple[Tab, ...]
    active: int  # which of the tabs
    scroll: int = 0  # pixels from the top
    height: int = 0  # of the whole page
    focused: Any = None  # the element that has the keyboard
    status: int = 200
    viewport: tuple[int, int] = VIEWPORT
    error: str = ""  # why the page could not be shown, if it could not
    ids: dict[Any, int] = field(default_factory=dict)  # label -> id; filled in
    further: Mapping[Any, tuple[Box, ...]] = field(default_factory=dict)  # where labels go on: boxes on later lines

    def __post_init__(self) -> None:
        # From behind, so that what stands there twice has its first number.
        self.ids.update(zip(reversed(self.labels), range(len(self.labels) - 1, -1, -1), strict=True))

    def is_visible(self, element: Any) -> bool:
        """Does any part of the element lie within the viewport?"""
        box = self.boxes.get(element)
        if box is None:
            return False
        width, height = self.viewport
        return box.left < width and box.top < height and box.left + box.width > 0 and box.top + box.height > 0


class ActionFailed(Exception):
    """The action cannot be done on this page; the message is one sentence for the agent."""


class EvaluationPage(Protocol):
    """A page beside those of the agent, with the agent's cookies, on which evaluators look around."""

    @property
    def url(self) -> str: ...
    def goto(self, url: str) -> None:
        """Open an address; `EnvFault` where the site does not answer."""

    def content(self) -> str:
        """The HTML of the page."""
        ...

    def evaluate(self, expression: str) -> str:
        """What a JavaScript expression such as `document.querySelector(...).outerText` gives, as text."""
        ...

    def request(self, method: str, url: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Any:
        """Ask the site's REST interface with a JSON body; the decoded JSON."""
        ...


class Backend(Protocol):
    """The agent's browser. Elements are named by their ids in the newest view. Actions that cannot be done raise
    `ActionFailed` and change nothing. Between a view and the next action time passes: what a page of the embedded sites
    was to show later is there before the action."""

    labelling: str  # which elements have ids: `INNERMOST`, `WHOLE` or `LINES` of `layout.page`; set before `start`

    def start(self, urls: Sequence[str], cookies: Mapping[str, Mapping[str, str]]) -> None:
        """Forget everything; open these addresses in tabs (the first is active) with these cookies by origin."""

    def view(self) -> View:
        """The active tab at this moment; the same object until something changes."""
        ...

    def refresh(self) -> None:
        """Look at the page anew: it may have changed by itself."""

    def picture(self, top: int, height: int) -> np.ndarray:
        """The page as a picture of this height from `top` on (both within the page), uint8 [height, width, 3]."""
        ...

    @property
    def cookies(self) -> Mapping[str, Mapping[str, str]]:
        """The cookies of the agent's browser by origin."""
        ...

    def open(self, url: str) -> None: ...
    def click(self, element: int, button: str = "left") -> None: ...
    def hover(self, element: int) -> None: ...
    def click_at(self, left: float, top: float, button: str = "left") -> None:
        """Click whatever is seen at this point of the viewport."""

    def move_to(self, left: float, top: float) -> None:
        """Move the mouse to this point of the viewport."""

    def write(self, text: str) -> None:
        """Type into the field that has the keyboard, behind what it holds; a line break presses Enter."""

    def drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Press the left button at one place of the viewport and release it at another. Of the embedded sites, only the
        map can be dragged."""

    def type(self, element: int, text: str, *, enter: bool = False) -> None:
        """Replace the contents of a field by `text`; with `enter`, press Enter as well."""

    def press(self, key: str) -> None:
        """A key or combination such as "Enter", "Tab", "Escape", "Control+A", on the focused element."""

    def scroll(self, direction: str) -> None:
        """ "up" or "down", by two thirds of the viewport."""

    def select(self, element: int, option: str) -> None:
        """Choose the first option whose text contains `option`, in either case of letters."""

    def back(self) -> None: ...
    def forward(self) -> None: ...
    def new_tab(self) -> None: ...
    def focus_tab(self, number: int) -> None: ...
    def close_tab(self) -> None: ...
    def evaluation_page(self, *, last: bool = False, quick: bool = False) -> EvaluationPage:
        """A fresh page; with `last`, one that shows what the active tab shows (form contents included). `quick`: for
        looks at every step, which may do without the browser where the result is the same."""
        ...

    def save(self) -> dict[str, Any]:
        """Tabs, history, cookies, scroll, form contents, as values that msgpack can write."""
        ...

    def load(self, saved: Mapping[str, Any]) -> None:
        """Inverse of `save`; ValueError if it does not fit."""

    def close(self) -> None: ...
