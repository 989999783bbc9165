"""Tabs and their histories: which pages were visited, how far each is scrolled, and what its fields hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agentrl.envs.webarena.browsing.document import Document
from agentrl.envs.webarena.browsing.forms import Contents
from agentrl.envs.webarena.browsing.loading import Page, blank
from agentrl.envs.webarena.browsing.page import LaidOut, laid_out
from agentrl.envs.webarena.browsing.view import VIEWPORT

MAX_ENTRIES = 50  # of a history, as in Chromium


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

    def contents(self, document: Document) -> Contents:
        """What the fields hold."""
        return Contents(document, self.changed)

    def save(self, pages: dict[Page, int]) -> dict[str, Any]:
        """Values that msgpack can write; pages are numbered by `pages`."""
        return {
            "page": pages.setdefault(self.page, len(pages)), "url": self.url, "scroll": self.scroll,
            "changed": [[number, text] for number, text in sorted(self.changed.items())], "focus": self.focus,
            "selected": self.selected, "opened": None if self.opened is None else sorted(self.opened),
        }  # fmt: skip

    @classmethod
    def load(cls, saved: Mapping[str, Any], pages: list[Page]) -> Entry:
        """Inverse of `save`."""
        opened = saved["opened"]
        return cls(
            pages[saved["page"]], saved["url"], saved["scroll"], {number: text for number, text in saved["changed"]},
            saved["focus"], saved["selected"], None if opened is None else frozenset(opened),
        )  # fmt: skip


def initially_open(document: Document) -> frozenset[int]:
    """The numbers of the <details> that the HTML opens."""
    return frozenset(
        number
        for number, element in enumerate(document.elements)
        if element.tag == "details" and element.get("open") is not None
    )


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
    def load(cls, saved: Mapping[str, Any], pages: list[Page]) -> Tab:
        """Inverse of `save`."""
        tab = cls()
        tab.entries = [Entry.load(entry, pages) for entry in saved["entries"]]
        tab.place = saved["place"]
        if not 0 <= tab.place < len(tab.entries):
            raise ValueError("the place in the history is outside of it")
        return tab
