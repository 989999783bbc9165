"""What pages do by themselves, without a browser; `sites/static/behaviours.js` does the same in one.

Attributes say what a page does. Elements are named by their ids; what is hidden has the attribute `hidden`.

- `data-hover="menu"`: while the pointer is on this element, the menu is shown.
- `data-opens="panel"`: a click shows the panel, or hides it. A panel with `data-popup` is hidden by a click elsewhere
  and by Escape, one with `data-modal` by Escape; both by a click on `data-closes` in it.
- `data-tab="panel"`: a click shows this panel instead of those of the tabs beside it.
- `data-swap="panel"`: a click fetches the link's page and takes the element with this id from it (or several).
- `data-pick="field" data-value="7"`: a click writes the value into the field and closes what it stands in.
- `data-filter="list"`: of the list, only what contains the text of this field is shown.
- `data-late="address"`: the element comes later, from the page of that address.
- `data-more="list"`: scrolled into view, the page of the link in it is fetched, and its list goes on here.
- `data-at="address" data-moves="map"`: a right click fetches the address with the place (`x`, `y`), dragging with the
  distance (`dx`, `dy`), and takes these elements from it.

Links lead to the same without a script, where something is fetched. A function says what becomes of one event as
`Edit`s of a page, which nobody may change; `apply` makes the page that comes of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

from agentrl.envs.webarena.backend import ActionFailed
from agentrl.envs.webarena.layout.document import Document, XPath, serialise

EDITED = "data-edited"  # of the root: the page is not as the site sent it
LATE, MORE = "data-late", "data-more"
_TRIGGERS = ("data-opens", "data-closes", "data-tab", "data-swap", "data-pick")
_PANELS = ("data-popup", "data-modal")
_having: dict[str, Any] = {}
Fetch = Callable[[str], Document | None]


class Edit(NamedTuple):
    """One change of an element: an attribute (None: taken away), or, by "replace" and "append", what stands there."""

    element: Any
    name: str
    value: Any


class Click(NamedTuple):
    """What a click on a page does."""

    edits: list[Edit]
    trigger: Any = None  # the element that does it instead of what the browser would do
    picked: tuple[Any, str] | None = None  # a field and what it holds then


def having(document: Document, name: str) -> list[Any]:
    """The elements with an attribute, in order; kept, because every action asks for some."""
    found = document.having.get(name)
    if found is None:
        if name not in _having:
            _having[name] = XPath(f"//*[@{name}]")
        found = document.having[name] = _having[name](document.root) if name in document.html else []
    return found


def pointed(document: Document, element: Any) -> list[Edit]:
    """The pointer is on an element now."""
    places = having(document, "data-hover")
    around = {element, *element.iterancestors()} if places else ()
    return [
        edit for place in places for edit in _shown(document.identified.get(place.get("data-hover")), place in around)
    ]


def clicked(document: Document, element: Any, fetch: Fetch) -> Click:
    """An element was clicked."""
    edits = [
        edit
        for panel in having(document, "data-popup")
        if not _is_near(element, panel)
        for edit in _shown(panel, False)
    ]
    trigger = trigger_of(document, element)
    if trigger is None:
        return Click(edits)
    get, named = trigger.get, document.identified.get
    picked = None
    if (name := get("data-opens")) is not None:
        panel = named(name)
        edits += _shown(panel, panel is not None and panel.get("hidden") is not None)
    elif get("data-tab") is not None:
        for other in trigger.getparent():
            if other.get("data-tab") is not None:
                names = [word for word in (other.get("class") or "").split() if word != "here"]
                edits.append(Edit(other, "class", " ".join([*names, "here"] if other is trigger else names)))
                edits += _shown(named(other.get("data-tab")), other is trigger)
    elif (names := get("data-swap")) is not None:
        edits += _replaced(document, names, fetch(get("href") or ""))
    else:
        field = named(get("data-pick") or "")
        if field is not None:
            picked = field, get("data-value") or ""
        panels = (node for node in trigger.iterancestors() if any(node.get(name) is not None for name in _PANELS))
        edits += _shown(next(panels, None), False)
    return Click(edits, trigger, picked)


def trigger_of(document: Document, element: Any) -> Any:
    """What a click on an element sets off on the page; None where the browser does what it does anyway."""
    names = [name for name in _TRIGGERS if having(document, name)]
    nodes = (element, *element.iterancestors()) if names else ()
    return next((node for node in nodes if any(node.get(name) is not None for name in names)), None)


def typed(document: Document, field: Any, text: str) -> list[Edit]:
    """A field holds this text now."""
    entries = document.identified.get(field.get("data-filter") or "", ())
    wanted = text.strip().lower()
    return [edit for entry in entries for edit in _shown(entry, wanted in "".join(entry.itertext()).lower())]


def escaped(document: Document) -> list[Edit]:
    """Escape was pressed: the last panel that is open closes."""
    panels = {panel for name in _PANELS for panel in having(document, name) if panel.get("hidden") is None}
    return _shown(max(panels, key=document.index.__getitem__, default=None), False)


def arrived(document: Document, fetch: Fetch) -> list[Edit]:
    """What was to come later has come."""
    late = [element for element in having(document, LATE) if element.get("id")]
    return [edit for element in late for edit in _replaced(document, element.get("id"), fetch(element.get(LATE)))]


def scrolled(document: Document, is_above: Callable[[Any], bool], fetch: Fetch) -> list[Edit]:
    """The page was scrolled; `is_above`: does an element begin above the lower edge of what is in view?"""
    edits: list[Edit] = []
    for sentinel in having(document, MORE):
        link = next(sentinel.iter("a"), None)
        page = fetch(link.get("href")) if link is not None and is_above(sentinel) else None
        name = sentinel.get(MORE)
        if page is not None and name in document.identified and name in page.identified:
            edits.append(Edit(document.identified[name], "append", list(page.identified[name].iterchildren("*"))))
            edits.append(Edit(sentinel, "replace", next(iter(having(page, MORE)), None)))
    return edits


def moved(document: Document, place: Any, fields: str, fetch: Fetch) -> list[Edit]:
    """A right click on a place, or a drag from it; `fields` tell where or how far."""
    return _replaced(document, place.get("data-moves") or "", fetch(f"{place.get('data-at')}&{fields}"))


def ground_of(element: Any) -> Any:
    """What around an element takes right clicks and drags, or None."""
    return next((node for node in (element, *element.iterancestors()) if node.get("data-at") is not None), None)


def dragged(element: Any) -> Any:
    """What a drag from an element moves; `ActionFailed` where that is nothing."""
    nodes = () if element is None else (element, *element.iterancestors())
    ground = ground_of(element) if nodes else None
    if ground is None or any(node.tag in ("a", "button") for node in nodes):
        raise ActionFailed("There is nothing here that can be dragged.")
    return ground


def _shown(panel: Any, shown: bool) -> list[Edit]:
    if panel is None or (panel.get("hidden") is None) == shown:
        return []
    return [Edit(panel, "hidden", None if shown else "")]


def _is_near(element: Any, panel: Any) -> bool:
    """Does an element stand in a panel, or in what opens it?"""
    nodes = (element, *element.iterancestors())
    return any(node is panel or (panel.get("id") and node.get("data-opens") == panel.get("id")) for node in nodes)


def _replaced(document: Document, names: str, page: Document | None) -> list[Edit]:
    if page is None:
        return []
    ids = [name for name in names.split(" ") if name in document.identified and name in page.identified]
    return [Edit(document.identified[name], "replace", page.identified[name]) for name in ids]


def apply(document: Document, edits: Iterable[Edit]) -> tuple[str, list[int | None]]:
    """The HTML of the edited page, and for every element of this one its number there, None for those that are gone."""
    root = deepcopy(document.root)
    copies: Sequence[Any] = list(root.iter("*"))
    root.set(EDITED, "")
    for element, name, value in edits:
        copy = copies[document.index[element]]
        if name == "append":
            for child in map(deepcopy, value):
                child.tail = None
                copy.append(child)
        elif name == "replace":
            _become(copy, value)
        elif value is None:
            copy.attrib.pop(name, None)
        else:
            copy.set(name, value)
    numbers = {element: number for number, element in enumerate(root.iter("*"))}
    return serialise(root), [numbers.get(copy) for copy in copies]


def _become(element: Any, other: Any) -> None:
    """Put a copy of another element, or nothing, in the place of an element."""
    parent, tail = element.getparent(), element.tail
    if other is not None:
        new = deepcopy(other)
        new.tail, element.tail = tail, None
        parent.replace(element, new)
    else:
        before = element.getprevious()
        if before is None:
            parent.text = (parent.text or "") + (tail or "")
        else:
            before.tail = (before.tail or "") + (tail or "")
        element.tail = None
        parent.remove(element)
