"""Pages laid out, and which of their elements an agent can act on.

An element is labelled if it looks clickable (by tag, role, attributes, or a hand as its pointer), if the middle of its
box on any line lies in the viewport and is not clipped away, and if nothing inside it is labelled. The rules are those
of WebRL's script, which follow Vimium's: `INNERMOST`. As a hand is inherited, of a link with a <span> inside it is the
<span> that has the label. `WHOLE` differs in two rules: an inherited hand does not count, so that a link is labelled
itself and not every piece within it, and <summary> is labelled rather than the <details> around it.
"""

from __future__ import annotations

import math
import re
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from agentrl.envs.webarena.backend import Box
from agentrl.envs.webarena.layout.blocks import Layer, Placed, lay_out, lay_out_with_texts
from agentrl.envs.webarena.layout.document import Document, document
from agentrl.envs.webarena.layout.style import Chain, Style, cascade

CACHE_SIZE = 128
INNERMOST, WHOLE, LINES = "innermost", "whole", "lines"  # the last: every line of the accessibility tree
_TAGS = {"input", "textarea", "select", "button", "a", "iframe", "video", "object", "embed"}
# Attributes that make other elements clickable, and how they look in HTML; most pages have few of them.
_RARE = {
    name: re.compile(pattern)
    for name, pattern in (
        ("role", "role="), ("tabindex", "tabindex="), ("contenteditable", "contenteditable"), ("onclick", "onclick="),
        ("usemap", "usemap="), ("class", "class=[\"']?[^\"'>]*[bB]utton"),
    )
}  # fmt: skip
_CONTROLS = ("input", "select", "textarea", "button")
_ROLES = {"button", "tab", "link", "checkbox", "menuitem", "menuitemcheckbox", "menuitemradio", "radio"}


def _makes_clickable(name: str, value: str) -> bool:
    """Does an attribute with this value make an element clickable?"""
    value = value.strip().lower()
    match name:
        case "role":
            return value in _ROLES
        case "tabindex":
            return value.isdigit()
        case "contenteditable":
            return value in ("", "true", "contenteditable")
        case "class":
            return "button" in value
    return True


def labelled_control(label: Any, document: Document) -> Any:
    """The enabled control that a <label> belongs to, or None."""
    name = label.get("for")
    if name is not None:
        found = document.identified.get(name)
        if found is None or found.tag not in _CONTROLS:
            return None
    else:
        inside = label.iter(*_CONTROLS)
        found = next((element for element in inside if (element.get("type") or "").lower() != "hidden"), None)
    return None if found is None or found.get("disabled") is not None else found


class Seen(NamedTuple):
    """A page that is scrolled to some place. Boxes are in pixels of the viewport."""

    boxes: dict[Any, Box]
    labels: tuple[Any, ...]  # the labelled elements
    further: dict[Any, tuple[Box, ...]]  # boxes of these on later lines


class LaidOut:
    """A page with the boxes of its elements. Nobody may change it."""

    def __init__(self, document: Document, sheets: tuple[str, ...], opened: frozenset[int], viewport: tuple[int, int]):
        self.document, self.viewport = document, viewport
        self._details = details = {document.elements[number] for number in opened}
        self._cascade = cascade(sheets)
        self._placement = lay_out(document.root, self._cascade, details, viewport)
        self.height = max(math.floor(self._placement.height + 0.5), viewport[1])
        self._seen: dict[tuple[int, str], Seen] = {}
        self._clickable: dict[str, list[Any]] = {}

    @property
    def bottom(self) -> int:
        """How far the page can be scrolled."""
        return self.height - self.viewport[1]

    def at(self, scroll: int, rule: str = WHOLE) -> Seen:
        """What is seen when the page is scrolled this far; `rule`: which elements are labelled."""
        found = self._seen.get((scroll, rule))
        if found is None:
            if len(self._seen) >= 8:
                self._seen.clear()
            boxes = {placed[0]: _box(placed, scroll) for placed in self._placement.boxes}
            layers = self._placement.layers
            for layer in layers:
                boxes |= {placed[0]: _box(placed, 0 if layer.is_fixed else scroll) for placed in layer.placed}
            further = self._placement.further  # boxes on later lines
            visible = []
            for element in self._clickables(rule):
                if any(self._is_in_sight(element, part, boxes) for part in self._parts(element, scroll, boxes)):
                    visible.append(element)
            # What follows an element directly tells whether anything inside it is labelled.
            pairs = pairwise(visible)
            labels = [element for element, after in pairs if not len(element) or element not in after.iterancestors()]
            labels += visible[-1:]
            lines = {one: tuple(_box(placed, scroll) for placed in further[one]) for one in labels if one in further}
            found = self._seen[scroll, rule] = Seen(boxes, tuple(labels), lines)
        return found

    def _parts(self, element: Any, scroll: int, boxes: dict[Any, Box]) -> list[Box]:
        """The box of an element and those on its later lines."""
        parts = [boxes[element]] if element in boxes else []
        return parts + [_box(placed, scroll) for placed in self._placement.further.get(element, ())]

    def _is_in_sight(self, element: Any, box: Box, boxes: dict[Any, Box]) -> bool:
        """Does the middle of a box lie in the viewport, not clipped away and with nothing over it?"""
        x, y = box.left + box.width / 2, box.top + box.height / 2
        if not (box.width and box.height and 0 <= x < self.viewport[0] and 0 <= y < self.viewport[1]):
            return False
        return not self._is_hidden_at(element, x, y, boxes)

    def middle(self, element: Any, scroll: int) -> tuple[float, float] | None:
        """Of the first of an element's boxes whose middle is in sight."""
        boxes = self.at(scroll).boxes
        for part in self._parts(element, scroll, boxes):
            if self._is_in_sight(element, part, boxes):
                return part.left + part.width / 2, part.top + part.height / 2
        return None

    def element_at(self, left: float, top: float, scroll: int) -> Any:
        """What is seen at a point of the viewport: of the elements whose boxes hold it, the last in document order."""
        boxes, found = self.at(scroll).boxes, self.document.root
        for element in self.document.elements:
            if element in boxes and element not in self._placement.invisible:
                parts = self._parts(element, scroll, boxes)
                if any(_holds(part, left, top) for part in parts) and not self._is_hidden_at(element, left, top, boxes):
                    found = element
        return found

    def _is_hidden_at(self, element: Any, left: float, top: float, boxes: dict[Any, Box]) -> bool:
        """Is this point outside of an ancestor that shows nothing outside, or does something lie over it?"""
        clipping = self._placement.clipping
        ancestors = element.iterancestors() if clipping else ()
        if any(ancestor in clipping and not _holds(boxes[ancestor], left, top) for ancestor in ancestors):
            return True
        for layer in reversed(self._placement.layers):
            over = layer.element
            if _holds(boxes[over], left, top) and over not in self._placement.invisible:
                return not (element is over or over in element.iterancestors() or element in over.iterancestors())
        return False

    def display(self, element: Any) -> str:
        """How an element is displayed, in the words of CSS."""
        hidden = element.get("hidden") is not None or (element.get("type") == "hidden" and element.tag == "input")
        return "none" if hidden else self._chain(element).style.display

    def keeps_space(self, element: Any) -> bool:
        """Is white space in an element shown as it is?"""
        return self._chain(element).style.white_space in ("pre", "pre-wrap", "break-spaces")

    def _chain(self, element: Any) -> Chain:
        parent, get = element.getparent(), element.get
        above = self._cascade.root if parent is None else self._chain(parent)
        return above.child(element.tag, get("class"), get("id"), get("style"))

    def everything(self, scroll: int) -> list[Placed]:
        """All that is to be seen when the page is scrolled this far, texts as well; see `Layout`. What lies over the
        page comes first."""
        flow, layers = self._everything
        found: list[Placed] = []
        for layer in reversed(layers):
            down = scroll if layer.is_fixed else 0
            found += [(thing, x, y + down, width, height) for thing, x, y, width, height in layer.placed]
        return found + flow if found else flow

    @cached_property
    def _everything(self) -> tuple[list[Placed], list[Layer]]:
        return lay_out_with_texts(self.document.root, self._cascade, self._details, self.viewport)

    @cached_property
    def styles(self) -> dict[Any, Style]:
        """The styles of all elements."""
        chains: dict[Any, Chain] = {}
        for element in self.document.elements:
            get, parent = element.get, chains.get(element.getparent(), self._cascade.root)
            chains[element] = parent.child(element.tag, get("class"), get("id"), get("style"))
        return {element: chain.style for element, chain in chains.items()}

    def _clickables(self, rule: str) -> list[Any]:
        """Elements that could be labelled, in document order."""
        if rule in self._clickable:
            return self._clickable[rule]
        document, placed = self.document, self._placement
        if rule == INNERMOST:
            found = set(document.root.iter(*_TAGS, "details")) | placed.hands
        else:
            found = set(document.root.iter(*_TAGS, "summary")) | placed.pointers
        found.update(label for label in document.root.iter("label") if labelled_control(label, document) is not None)
        for name, pattern in _RARE.items():
            if pattern.search(document.html):
                values = ((element, element.get(name)) for element in document.elements)
                found.update(
                    element for element, value in values if value is not None and _makes_clickable(name, value)
                )
        self._clickable[rule] = sorted(found - placed.invisible, key=document.index.__getitem__)
        return self._clickable[rule]


def _holds(box: Box, x: float, y: float) -> bool:
    return box.left <= x < box.left + box.width and box.top <= y < box.top + box.height


def _box(placed: Placed, scroll: int) -> Box:
    """A box in whole pixels of the viewport: its edges are rounded, as WebRL's script does it."""
    _, left, top, width, height = placed
    floor = math.floor
    first, upper = floor(left + 0.5), floor(top + 0.5)
    return Box(first, upper - scroll, floor(left + width + 0.5) - first, floor(top + height + 0.5) - upper)


@lru_cache(CACHE_SIZE)
def laid_out(html: str, sheets: tuple[str, ...], opened: frozenset[int], viewport: tuple[int, int]) -> LaidOut:
    """The page with this text and these style sheets; `opened` are the numbers of its open <details>."""
    return LaidOut(document(html), sheets, opened, viewport)
