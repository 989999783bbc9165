"""Pages as a browser reads them: a tree whose elements have the numbers that they have in the browser."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from agentrl.envs.webarena.browsing.document import Document, strip_attributes

ATTRIBUTE = "data-agentrl-n"  # set by the browser's script


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
