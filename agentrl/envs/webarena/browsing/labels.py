"""Which elements an agent can act on: the rules of WebArena-Lite's script, which follow those of Vimium.

An element is labelled if it looks clickable (by tag, role, attributes, or a hand as its pointer), if the middle of its
box lies in the viewport and is not clipped away, and if nothing inside it is labelled. One rule differs: a hand that an
element only inherits does not count, so that a link is labelled itself and not every piece within it, and <summary> is
labelled rather than the <details> around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import Any

from agentrl.envs.webarena.browsing.view import Box

_TAGS = {"input", "textarea", "select", "button", "a", "iframe", "video", "object", "embed", "summary"}
_ROLES = {"button", "tab", "link", "checkbox", "menuitem", "menuitemcheckbox", "menuitemradio", "radio"}


def clickable_by_markup(elements: Iterable[Any]) -> set[Any]:
    """Elements that look clickable whatever their style."""
    return {element for element in elements if element.tag in _TAGS or _has_clickable_attribute(element)}


def _has_clickable_attribute(element: Any) -> bool:
    if element.tag == "label":
        return labelled_control(element) is not None
    attributes = element.keys()
    if not attributes:
        return False
    get = element.get
    return (
        ("class" in attributes and "button" in get("class").lower())
        or ("role" in attributes and get("role").lower() in _ROLES)
        or ("tabindex" in attributes and get("tabindex").strip().isdigit())
        or "onclick" in attributes
        or ("contenteditable" in attributes and get("contenteditable").lower() in ("", "true", "contenteditable"))
        or (element.tag == "img" and "usemap" in attributes)
    )


def labelled_control(label: Any) -> Any:
    """The enabled control that a <label> belongs to, or None."""
    name = label.get("for")
    if name:
        root = label.getroottree()
        found = root.xpath("//*[@id=$name]", name=name)[:1]
    else:
        found = [element for element in label.iter("input", "select", "textarea", "button") if not _is_hidden(element)][
            :1
        ]
    return found[0] if found and found[0].get("disabled") is None and found[0].tag in _TAGS else None


def _is_hidden(element: Any) -> bool:
    return (element.get("type") or "").lower() == "hidden"


def choose(
    candidates: Iterable[Any],
    ends: Mapping[Any, int],
    index: Mapping[Any, int],
    boxes: Mapping[Any, Box],
    clipping: set[Any],
    viewport: tuple[int, int],
) -> tuple[Any, ...]:
    """The labelled ones of clickable elements in document order; `ends` says behind which index an element ends."""
    visible = [element for element in candidates if _is_in_sight(element, boxes, clipping, viewport)]
    kept = [
        element
        for element, following in zip_longest(visible, visible[1:])
        if following is None or index[following] >= ends[element]
    ]
    return tuple(kept)


def _is_in_sight(element: Any, boxes: Mapping[Any, Box], clipping: set[Any], viewport: tuple[int, int]) -> bool:
    box = boxes.get(element)
    if box is None or not box.width or not box.height:
        return False
    x, y = box.left + box.width / 2, box.top + box.height / 2
    if not (0 <= x < viewport[0] and 0 <= y < viewport[1]):
        return False
    return not clipping or all(
        _contains(boxes[ancestor], x, y) for ancestor in element.iterancestors() if ancestor in clipping
    )


def _contains(box: Box, x: float, y: float) -> bool:
    return box.left <= x < box.left + box.width and box.top <= y < box.top + box.height
