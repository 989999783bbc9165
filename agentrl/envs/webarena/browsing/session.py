"""`Session`: tabs with their histories, cookies, and everything that leads from page to page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any
from urllib.parse import unquote, urlsplit, urlunsplit

import msgspec

from agentrl.envs.webarena.backend import VIEWPORT, ActionFailed
from agentrl.envs.webarena.browsing import behaviours
from agentrl.envs.webarena.browsing.forms import Contents, Submission, encode, kind_of
from agentrl.envs.webarena.browsing.loading import (
    BadAddress,
    Loader,
    Page,
    SavedPage,
    blank,
    resolve,
    typed,
    without_fragment,
)
from agentrl.envs.webarena.layout.document import Document, document
from agentrl.envs.webarena.layout.page import LaidOut, laid_out
from agentrl.envs.webarena.sites.messages import Fields
from agentrl.envs.webarena.sites.world import World

Count = Annotated[int, msgspec.Meta(ge=0)]
MAX_TABS = 20
MAX_ENTRIES = 50  # of a history, as in Chromium


class SavedEntry(msgspec.Struct, forbid_unknown_fields=True):
    """An `Entry` in a snapshot; `page` is the number of its page there."""

    page: Count
    url: str
    scroll: Count
    changed: list[tuple[Count, str]]
    focus: Count | None
    selected: bool
    opened: list[Count] | None


class SavedTab(msgspec.Struct, forbid_unknown_fields=True):
    """A `Tab` in a snapshot."""

    entries: Annotated[list[SavedEntry], msgspec.Meta(min_length=1, max_length=MAX_ENTRIES)]
    place: Count


class SavedSession(msgspec.Struct, forbid_unknown_fields=True):
    """A `Session` in a snapshot."""

    tabs: Annotated[list[SavedTab], msgspec.Meta(min_length=1, max_length=MAX_TABS)]
    active: Count
    pages: list[SavedPage]
    sheets: list[str]
    cookies: dict[str, dict[str, str]]


def _may_hold(kind: str, text: str) -> bool:
    """Can a control hold this? See `forms.Contents`."""
    if kind in ("check", "radio"):
        return text in ("", "on")
    return kind != "select" or re.fullmatch(r"(?:\d{1,6}(?:,\d{1,6})*)?", text, re.ASCII) is not None


@dataclass
class Entry:
    """A page in the history of a tab, with what the user did to it. Elements are named by their numbers."""

    page: Page
    url: str  # of the page, or with another fragment
    scroll: int = 0
    changed: dict[int, str] = field(default_factory=dict)  # see `forms.Contents`
    focus: int | None = None
    selected: bool = False  # is all text of the focused field selected?
    opened: frozenset[int] | None = None  # <details>; None: those that the HTML opens

    def laid_out(self, viewport: tuple[int, int] = VIEWPORT) -> LaidOut:
        """The page with its boxes."""
        opened = self.opened
        if opened is None:
            opened = frozenset()
            if "<details" in self.page.html:
                opened = initially_open(laid_out(self.page.html, self.page.sheets, opened, viewport).document)
        return laid_out(self.page.html, self.page.sheets, opened, viewport)

    def edit(self, document: Document, edits: Sequence[behaviours.Edit]) -> list[int | None]:
        """Let the page become what its behaviours make of it; the new numbers of its elements."""
        html, numbers = behaviours.apply(document, edits)
        self.page = self.page.edited(html)
        moved = ((numbers[number], text) for number, text in self.changed.items())
        self.changed = {number: text for number, text in moved if number is not None}
        self.focus = None if self.focus is None else numbers[self.focus]
        if self.opened is not None:
            self.opened = frozenset(new for number in self.opened if (new := numbers[number]) is not None)
        return numbers

    def save(self, pages: dict[Page, int]) -> dict[str, Any]:
        """Values that msgpack can write; pages are numbered by `pages`."""
        return {
            "page": pages.setdefault(self.page, len(pages)), "url": self.url, "scroll": self.scroll,
            "changed": [[number, text] for number, text in sorted(self.changed.items())], "focus": self.focus,
            "selected": self.selected, "opened": None if self.opened is None else sorted(self.opened),
        }  # fmt: skip

    @classmethod
    def load(cls, saved: SavedEntry, pages: list[Page]) -> Entry:
        """Inverse of `save`; ValueError for an entry that nobody could have made on its page."""
        page, opened = pages[saved.page], None if saved.opened is None else frozenset(saved.opened)
        if without_fragment(saved.url) != without_fragment(page.url):
            raise ValueError("an entry has the address of another page")
        if saved.changed or saved.focus is not None or opened:
            read = document(page.html)
            kinds = {read.index[element]: kind_of(element) for element in read.controls}
            for number, text in saved.changed:
                if kinds.get(number, "button") == "button" or not _may_hold(kinds[number], text):
                    raise ValueError(f"element {number} cannot hold {text[:40]!r}")
            if max(saved.focus or 0, *(opened or (0,)), 0) >= len(read.elements):
                raise ValueError("the page has no such element")
        return cls(page, saved.url, saved.scroll, dict(saved.changed), saved.focus, saved.selected, opened)


def initially_open(document: Document) -> frozenset[int]:
    """The numbers of the <details> that the HTML opens."""
    details = document.root.iter("details")
    return frozenset(document.index[element] for element in details if element.get("open") is not None)


class Tab:
    """A tab: its history, and which entry of it is shown."""

    def __init__(self, page: Page | None = None) -> None:
        page = page or blank()
        self.entries = [Entry(page, page.url)]
        self.place = 0

    @property
    def entry(self) -> Entry:
        """What the tab shows."""
        return self.entries[self.place]

    def push(self, entry: Entry, *, replace: bool = False) -> None:
        """Show a page; what was ahead in the history is forgotten."""
        keep = self.place + (0 if replace else 1)
        self.entries[keep:] = [entry]
        del self.entries[:-MAX_ENTRIES]
        self.place = len(self.entries) - 1

    def save(self, pages: dict[Page, int]) -> dict[str, Any]:
        """Values that msgpack can write."""
        return {"entries": [entry.save(pages) for entry in self.entries], "place": self.place}

    @classmethod
    def load(cls, saved: SavedTab, pages: list[Page]) -> Tab:
        """Inverse of `save`."""
        tab = cls()
        tab.entries = [Entry.load(entry, pages) for entry in saved.entries]
        tab.place = saved.place
        if tab.place >= len(tab.entries):
            raise ValueError("the place in the history is outside of it")
        return tab


class Session:
    """Tabs, their histories, cookies. `version` grows with every change that a view could show."""

    def __init__(self, world: World, viewport: tuple[int, int]) -> None:
        self.viewport = viewport
        self.loader = Loader(world)
        self.tabs: list[Tab] = [Tab()]
        self.active = 0
        self.version = 0
        self._shown: tuple[Page, frozenset[int] | None, LaidOut] | None = None

    @property
    def tab(self) -> Tab:
        """The active tab."""
        return self.tabs[self.active]

    @property
    def entry(self) -> Entry:
        """What the active tab shows."""
        return self.tabs[self.active].entry

    @property
    def page(self) -> LaidOut:
        """What the active tab shows, with boxes.

        It is kept here: the cache of laid out pages is shared with all environments of the process, and once it has
        forgotten this page, the same text would be laid out again, with other elements than those of the view.
        """
        entry, shown = self.entry, self._shown
        if shown is None or shown[0] is not entry.page or shown[1] != entry.opened:
            self._shown = shown = (entry.page, entry.opened, entry.laid_out(self.viewport))
        return shown[2]

    @property
    def contents(self) -> Contents:
        """What the fields of the active tab hold."""
        return Contents(self.page.document, self.entry.changed)

    # ------------------------------------------------------------------ what pages do by themselves

    def fetch(self, link: str) -> Document | None:
        """A page of which this one takes a part."""
        return self.loader.part(self.entry.url, link)

    def edit(self, edits: Sequence[behaviours.Edit], element: Any = None) -> Any:
        """Change the page as its behaviours say; what became of an element, None where it is gone."""
        if not edits:
            return element
        entry, before = self.entry, self.page.document
        numbers = entry.edit(before, edits)
        self.version += 1
        elements = self.page.document.elements
        focused = None if entry.focus is None else elements[entry.focus]
        if focused is None or any(node.get("hidden") is not None for node in (focused, *focused.iterancestors())):
            entry.focus, entry.selected = None, False  # what is hidden has no keyboard
        number = None if element is None else numbers[before.index[element]]
        return None if number is None else elements[number]

    def turn(self, element: Any = None) -> Any:
        """Time has passed since somebody looked: what was to come later is there. What became of an element;
        `ActionFailed` where it is gone."""
        if not behaviours.having(self.page.document, behaviours.LATE):
            return element
        now = self.edit(behaviours.arrived(self.page.document, self.fetch), element)
        if now is None and element is not None:
            raise ActionFailed("This element is no longer on the page.")
        return now

    def point(self, element: Any) -> Any:
        """Move the pointer to an element; what became of it."""
        return self.edit(behaviours.pointed(self.page.document, element), element)

    def click(self, element: Any) -> tuple[Any, bool]:
        """Let the page do what a click does on it: what became of the element, and was that all that happens?"""
        document = self.page.document
        click = behaviours.clicked(document, element, self.fetch)
        trigger = click.trigger
        if trigger is not None:
            takes_focus = kind_of(trigger) or trigger.tag == "a"
            self.entry.focus, self.entry.selected = document.index[trigger] if takes_focus else None, False
        if click.picked is not None:
            self.contents.put(*click.picked)
        self.version += 1
        return self.edit(click.edits, element), trigger is not None

    def held(self, field: Any) -> None:
        """The text of a field has changed."""
        if field.get("data-filter") is not None:
            self.edit(behaviours.typed(self.page.document, field, self.contents.held(field)))

    def move(self, element: Any, fields: str) -> None:
        """A right click in what takes it, or a drag from there."""
        place = behaviours.ground_of(element)
        if place is not None:
            self.edit(behaviours.moved(self.page.document, place, fields, self.fetch))

    def start(self, urls: Sequence[str], cookies: Mapping[str, Mapping[str, str]]) -> None:
        """Forget everything; open these addresses in tabs with these cookies."""
        self.loader.cookies = {origin: dict(jar) for origin, jar in cookies.items()}
        self.tabs, self.active = [Tab(self.loader.load(typed_address(url))) for url in urls] or [Tab()], 0
        for tab in self.tabs:
            self._arrive(tab.entry)
        self.version += 1

    def open(self, text: str) -> None:
        """Open what a user types into the address bar."""
        self._go(typed_address(text))

    def follow(self, link: str, target: str = "") -> None:
        """Follow a link of the page."""
        url = self._resolve(link)
        if _is_new(target):
            self.new_tab(self.loader.load(url))
        elif "#" in url and without_fragment(url) == without_fragment(self.entry.url):
            # As in Chromium, the place that the fragment names takes the keyboard away from the link.
            entry = replace(self.entry, url=url, changed=dict(self.entry.changed), focus=None, selected=False)
            self.tab.push(entry, replace=url == self.entry.url)
            self._arrive(entry)
        else:
            self._go(url)

    def send(self, submission: Submission) -> None:
        """Send a form."""
        url = without_fragment(self._resolve(submission.action) if submission.action else self.entry.url)
        fields: Fields = ()
        if submission.method == "GET":
            url = urlunsplit(urlsplit(url)._replace(query=encode(submission.fields)))
        else:
            fields = submission.fields
        if _is_new(submission.target):
            self.new_tab(self.loader.load(url, submission.method, fields))
        else:
            self._go(url, submission.method, fields)

    def reload(self) -> None:
        """Ask for the page again."""
        page = self.loader.load(self.entry.url)
        self.tab.push(Entry(page, page.url), replace=True)
        self._arrive(self.entry)

    def _go(self, url: str, method: str = "GET", fields: Fields = ()) -> None:
        same = url == self.entry.url or self.entry.url == "about:blank"
        page = self.loader.load(url, method, fields)
        self.tab.push(Entry(page, page.url), replace=same)
        self._arrive(self.entry)

    def _arrive(self, entry: Entry) -> None:
        """Scroll to the fragment of the address, and focus what the page wants focused."""
        self.version += 1
        fragment = unquote(entry.url.partition("#")[2])
        if not fragment and "autofocus" not in entry.page.html:
            return
        page = entry.laid_out(self.viewport)
        target = page.document.fragment(fragment) if fragment else None
        if target is not None:
            boxes = page.at(0).boxes
            if target in boxes:
                entry.scroll = max(0, min(boxes[target].top, page.bottom))
        focused = next((element for element in page.document.controls if element.get("autofocus") is not None), None)
        if focused is not None and entry.focus is None:
            entry.focus = page.document.index[focused]

    def _resolve(self, link: str) -> str:
        return link_address(self.entry.url, self.page.document.base, link)

    def travel(self, steps: int) -> None:
        """Back (negative) or forward in the history of the tab."""
        place = self.tab.place + steps
        if not 0 <= place < len(self.tab.entries):
            where = "earlier" if steps < 0 else "later"
            raise ActionFailed(f"There is no {where} page in the history of this tab.")
        self.tab.place = place
        self.version += 1

    def scroll_to(self, place: int) -> None:
        """Scroll the page to this height, as far as it goes."""
        self.entry.scroll = max(0, min(place, self.page.bottom))
        self.version += 1
        if behaviours.having(self.page.document, behaviours.MORE):
            boxes = self.page.at(self.entry.scroll).boxes
            above = {element for element, box in boxes.items() if box.top < self.viewport[1] and box.height}
            self.edit(behaviours.scrolled(self.page.document, above.__contains__, self.fetch))

    def new_tab(self, page: Page | None = None) -> None:
        """Open a tab, which becomes the active one."""
        if len(self.tabs) >= MAX_TABS:
            raise ActionFailed(f"There are {MAX_TABS} tabs already; close one first.")
        self.tabs.append(Tab(page))
        self.active = len(self.tabs) - 1
        self._arrive(self.entry)

    def focus_tab(self, number: int) -> None:
        """Show another tab; they are numbered from 0."""
        if not 0 <= number < len(self.tabs):
            raise ActionFailed(f"There is no tab {number}; the tabs are 0 to {len(self.tabs) - 1}.")
        self.active = number
        self.version += 1

    def close_tab(self) -> None:
        """Close the active tab; the one before it is shown."""
        if len(self.tabs) == 1:
            raise ActionFailed("The only tab cannot be closed.")
        del self.tabs[self.active]
        self.active = max(0, self.active - 1)
        self.version += 1

    def save(self) -> dict[str, Any]:
        """Everything, as values that msgpack can write."""
        pages: dict[Page, int] = {}
        tabs = [tab.save(pages) for tab in self.tabs]
        sheets: dict[str, int] = {}
        saved = [page.save(sheets) for page in pages]
        cookies = {origin: dict(jar) for origin, jar in self.loader.cookies.items()}
        return {"tabs": tabs, "active": self.active, "pages": saved, "sheets": list(sheets), "cookies": cookies}

    def load(self, saved: Mapping[str, Any]) -> None:
        """Inverse of `save`; ValueError if it does not fit."""
        try:
            kept = msgspec.convert(saved, SavedSession)
            pages = [Page.load(page, kept.sheets) for page in kept.pages]
            tabs = [Tab.load(tab, pages) for tab in kept.tabs]
            shown = tabs[kept.active].entry
            if shown.scroll > shown.laid_out(self.viewport).bottom:
                raise ValueError("the page is scrolled beyond its end")
        except Exception as error:
            raise ValueError(f"the saved tabs cannot be read: {type(error).__name__}: {error}") from error
        self.tabs, self.active, self.loader.cookies = tabs, kept.active, kept.cookies
        self.version += 1


def link_address(url: str, base: str, link: str) -> str:
    """Where a link leads on a page with this address and <base>; `ActionFailed` if nowhere."""
    try:
        return resolve(resolve(url, base) if base else url, link)
    except BadAddress as error:
        raise ActionFailed(f"Nothing happened: {error}.") from error


def typed_address(text: str) -> str:
    """The address that a user types; `ActionFailed` if it is none."""
    try:
        return typed(text)
    except BadAddress as error:
        raise ActionFailed(f"Nothing was opened: {error}.") from error


def _is_new(target: str) -> bool:
    """Does a `target` attribute ask for a new tab?"""
    return target.strip().lower() not in ("", "_self", "_parent", "_top")
