"""Which elements an agent can act on: the rules of WebArena-Lite's script, which follow those of Vimium.

An element is labelled if it looks clickable (by tag, role, attributes, or a hand as its pointer), if the middle of its
box on any line lies in the viewport and is not clipped away, and if nothing inside it is labelled. Two rules differ: a
hand that an element only inherits does not count, so that a link is labelled itself and not every piece within it; and
<summary> is labelled rather than the <details> around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from agentrl.envs.webarena.browsing.document import Document
from agentrl.envs.webarena.browsing.view import Box

_TAGS = {"input", "textarea", "select", "button", "a", "iframe", "video", "object", "embed", "summary"}
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


def clickable_by_markup(document: Document) -> set[Any]:
    """Elements of a page that look clickable whatever their style."""
    found = set(document.root.iter(*_TAGS))
    found.update(label for label in document.root.iter("label") if labelled_control(label, document) is not None)
    for name, pattern in _RARE.items():
        if pattern.search(document.html):
            values = ((element, element.get(name)) for element in document.elements)
            found.update(element for element, value in values if value is not None and _makes_clickable(name, value))
    return found


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
        found = next((element for element in label.iter(*_CONTROLS) if not _is_hidden(element)), None)
    return None if found is None or found.get("disabled") is not None else found


def _is_hidden(element: Any) -> bool:
    return (element.get("type") or "").lower() == "hidden"


def choose(
    candidates: Iterable[Any],
    boxes: Mapping[Any, Box],
    further: Mapping[Any, Sequence[Box]],
    clipping: set[Any],
    viewport: tuple[int, int],
) -> tuple[Any, ...]:
    """The labelled ones of clickable elements, which are in document order; `further` has boxes on later lines."""
    visible = []
    for element in candidates:
        parts = [boxes[element], *further.get(element, ())] if element in boxes else []
        if any([_is_in_sight(element, part, boxes, clipping, viewport) for part in parts]):
            visible.append(element)
    return tuple(
        element
        for element, following in zip_longest(visible, visible[1:])
        if following is None or not len(element) or element not in following.iterancestors()
    )


def _is_in_sight(
    element: Any, box: Box, boxes: Mapping[Any, Box], clipping: set[Any], viewport: tuple[int, int]
) -> bool:
    if not box.width or not box.height:
        return False
    x, y = box.left + box.width / 2, box.top + box.height / 2
    if not (0 <= x < viewport[0] and 0 <= y < viewport[1]):
        return False
    return not clipping or all(
        _contains(boxes[ancestor], x, y) for ancestor in element.iterancestors() if ancestor in clipping
    )


def _contains(box: Box, x: float, y: float) -> bool:
    return box.left <= x < box.left + box.width and box.top <= y < box.top + box.height
