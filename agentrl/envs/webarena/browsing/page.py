"""Pages laid out, kept by their text: the same page in another step or episode costs a look-up."""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from typing import Any

from agentrl.envs.webarena.browsing.document import Document, document
from agentrl.envs.webarena.browsing.labels import choose, clickable_by_markup
from agentrl.envs.webarena.browsing.layout import Placed, lay_out, lay_out_with_texts
from agentrl.envs.webarena.browsing.style import Chain, Style, cascade
from agentrl.envs.webarena.browsing.view import Box

CACHE_SIZE = 128


class LaidOut:
    """A page with the boxes of its elements. Nobody may change it."""

    def __init__(self, document: Document, sheets: tuple[str, ...], opened: frozenset[int], viewport: tuple[int, int]):
        self.document, self.viewport = document, viewport
        self._details = details = {document.elements[number] for number in opened}
        self._cascade = cascade(sheets)
        self._placement = lay_out(document.root, self._cascade, details, viewport[0])
        self.height = max(math.floor(self._placement.height + 0.5), viewport[1])
        self._seen: dict[int, tuple[dict[Any, Box], tuple[Any, ...]]] = {}

    @property
    def bottom(self) -> int:
        """How far the page can be scrolled."""
        return self.height - self.viewport[1]

    def at(self, scroll: int) -> tuple[dict[Any, Box], tuple[Any, ...]]:
        """The boxes in pixels of the viewport, and the labelled elements, when the page is scrolled this far."""
        found = self._seen.get(scroll)
        if found is None:
            if len(self._seen) >= 8:
                self._seen.clear()
            boxes = {placed[0]: _box(placed, scroll) for placed in self._placement.boxes}
            found = self._seen[scroll] = (boxes, self._labels(boxes, scroll))
        return found

    def _labels(self, boxes: dict[Any, Box], scroll: int) -> tuple[Any, ...]:
        further = {
            element: [_box(placed, scroll) for placed in parts] for element, parts in self._placement.further.items()
        }
        return choose(self._clickables, boxes, further, self._placement.clipping, self.viewport)

    def style(self, element: Any) -> Style:
        """The style of an element."""
        return self._chain(element).style

    def _chain(self, element: Any) -> Chain:
        parent, get = element.getparent(), element.get
        above = self._cascade.root if parent is None else self._chain(parent)
        return above.child(element.tag, get("class"), get("id"), get("style"))

    @cached_property
    def everything(self) -> list[Placed]:
        """All that is to be seen, texts as well; see `Layout`."""
        return lay_out_with_texts(self.document.root, self._cascade, self._details, self.viewport[0])

    @cached_property
    def styles(self) -> dict[Any, Style]:
        """The styles of all elements."""
        chains: dict[Any, Chain] = {}
        for element in self.document.elements:
            get, parent = element.get, chains.get(element.getparent(), self._cascade.root)
            chains[element] = parent.child(element.tag, get("class"), get("id"), get("style"))
        return {element: chain.style for element, chain in chains.items()}

    @cached_property
    def _clickables(self) -> list[Any]:
        """Elements that could be labelled, in document order."""
        found = (clickable_by_markup(self.document) | self._placement.pointers) - self._placement.invisible
        return sorted(found, key=self.document.index.__getitem__)


def _box(placed: Placed, scroll: int) -> Box:
    """A box in whole pixels of the viewport, as a script rounds it."""
    _, left, top, width, height = placed
    floor = math.floor
    return Box(floor(left + 0.5), floor(top + 0.5) - scroll, floor(width + 0.5), floor(height + 0.5))


@lru_cache(CACHE_SIZE)
def laid_out(html: str, sheets: tuple[str, ...], opened: frozenset[int], viewport: tuple[int, int]) -> LaidOut:
    """The page with this text and these style sheets; `opened` are the numbers of its open <details>."""
    return LaidOut(document(html), sheets, opened, viewport)
