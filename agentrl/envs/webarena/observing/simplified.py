"""WebRL's simplified HTML: the elements in view with their ids, boxes, texts and live values, on one line."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from agentrl.envs.webarena.backend import Box, View
from agentrl.envs.webarena.observing.texts import chosen_option, under_header, without_marks

# In this order; a value that an earlier attribute has is not repeated.
KEPT = ("title", "value", "type", "placeholder", "selected", "data-value", "data-text", "data-testid", "data-label")
_BEHIND = ("data-bbox", "data-status")
MAX_LENGTH = 500  # characters of a text or a value
_KEPT = frozenset(KEPT + _BEHIND)
_LIVE = frozenset({"input", "select", "textarea", "option"})
_DROPPED, _HIDDEN = frozenset({"script", "style"}), ("aria-hidden", "true")
_TAG = re.compile(r"[a-z][a-z0-9-]*")
_SPACES, _RUNS = re.compile(r"[^\S\u00a0]+"), re.compile(r"\s{2,}")


class _Node:
    """An element of a page, with what is known about it in all views."""

    __slots__ = (
        "divided", "element", "given", "has_content", "hidden", "last", "number", "parent", "pieces", "tag", "text",
        "words", "written",
    )  # fmt: skip

    def __init__(self, number: int, parent: _Node | None, element: Any, tag: str) -> None:
        self.number = self.last = number  # places in document order: its own, and its last descendant's
        self.parent, self.element, self.tag = parent, element, tag
        self.text: str = element.text or ""  # before the first element inside
        self.pieces: list[str] | None = None  # its text nodes, where there are several
        self.given: dict[str, str] | None = None
        self.written: tuple[str, Any] | None = None  # see `_attributes`
        self.words = ""  # its text as it is printed, once it was
        self.divided = self.hidden = self.has_content = False  # `divided`: has it an element inside already?

    def add(self, text: str) -> None:
        """A further text node; the first ones may be parted by comments and scripts only."""
        self.pieces = self.pieces or [self.text]
        self.pieces.append(text)
        if not self.divided:
            self.text += text


# An element that is printed: with its attributes and what a field holds at the moment, its id and its place.
Shown = tuple[_Node, dict[str, str] | None, int | None, Box | None]


def simplified_html(view: View, *, header: bool = False) -> str:
    """The page as WebRL's agents see it, to the letter: "<" and quotation marks stand as they are, save where they
    would pass for the mark of a picture."""
    parts: list[str] = []
    open_nodes: list[_Node] = []
    for shown in _shown(view):
        node = shown[0]
        while open_nodes and open_nodes[-1].last < node.number:
            parts.append(f"</{_plain_tag(open_nodes.pop().tag)}>")
        parts.append(_start_tag(shown))
        if node.words:
            parts.append(node.words)
        open_nodes.append(node)
    parts.extend(f"</{_plain_tag(node.tag)}>" for node in reversed(open_nodes))
    return under_header(view, without_marks(" ".join(parts)), header)


@lru_cache(maxsize=96)
def _outline(root: Any) -> list[_Node]:
    """All elements of a page in document order: the same in all its views."""
    nodes: list[_Node] = []
    found: dict[Any, _Node] = {}
    for element in root.iter():
        parent, tag = found.get(element.getparent()), element.tag
        if isinstance(tag, str) and tag not in _DROPPED:
            if parent is not None:
                parent.divided = True
            found[element] = node = _Node(len(nodes), parent, element, tag)
            nodes.append(node)
            if attributes := element.items():
                node.given = {name: value for name, value in attributes if name in _KEPT} or None
                node.hidden = _HIDDEN in attributes
        if element.tail and parent is not None:
            parent.add(element.tail)
    for node in reversed(nodes):
        parent, text = node.parent, node.text
        if text and not text.isspace():
            node.has_content = True
        elif node.given or node.pieces:
            spaces = all(piece.isspace() or not piece for piece in node.pieces or ())
            node.has_content = not spaces or _says(node.given or {})
        if parent is not None and parent.last < node.last:
            parent.last = node.last
    return nodes


def _says(given: dict[str, str]) -> bool:
    """Is any attribute worth printing?"""
    return any(value.strip() and not (name == "type" and value == "hidden") for name, value in given.items())


def _clean(text: str) -> str:
    """With single spaces, and not too long; a space that breaks no line stays what it is, except at the ends."""
    if "\u00a0" in text:
        return _SPACES.sub(" ", text).strip()[:MAX_LENGTH]
    return " ".join(text.split(None, MAX_LENGTH)[:MAX_LENGTH])[:MAX_LENGTH]  # no word behind these is needed


def _live(element: Any, given: dict[str, str] | None, view: View, chosen: set[Any]) -> dict[str, str]:
    """Attributes that may be printed, and what a form field holds at the moment."""
    tag, given, value = element.tag, {**(given or {})}, view.values.get(element)
    if tag == "select":
        option = chosen_option(element, view)
        given["data-value"], given["data-text"] = value or "", "" if option is None else "".join(option.itertext())
    elif tag == "option":
        if element in chosen:
            given["data-status"] = "selected"
    elif given.get("type", "").lower() in ("checkbox", "radio"):
        if given["type"] == "checkbox":
            given["data-status"] = "checked" if value else "not-checked"
        given["data-value"] = given.get("value", "on")  # what a form sends if it is checked
    else:  # of buttons and hidden fields there is no live value
        given["data-value"] = given.get("value", "") if value is None else value
    return given


def _shown(view: View) -> list[Shown]:
    """Of the elements in view, the ones with an id, with content, or with two children that have content. Of the others
    only what is inside them is printed."""
    nodes, ids, boxes = _outline(view.root), view.ids, view.boxes
    children = [0] * len(nodes)  # how many of them have content
    chosen = {chosen_option(node.element, view) for node in nodes if node.tag == "select"}
    found: list[Shown] = []
    for node in reversed(nodes):
        element, given, has_content = node.element, node.given, node.has_content
        if node.tag in _LIVE:
            given = _live(element, given, view, chosen)
            has_content = has_content or _says(given)
        count = children[node.number]
        if (has_content or count) and node.parent is not None:
            children[node.parent.number] += 1
        label = ids.get(element)
        if has_content or count > 1 or label is not None:
            seen = _is_seen(node, view)
            if seen or ((has_content or count > 1) and (label is not None or _is_option_of_shown(node, view))):
                found.append((node, given, label, boxes.get(element)))
    found.reverse()
    return found


def _is_seen(node: _Node, view: View) -> bool:
    """Does it lie in the viewport? What only touches the edge does."""
    box = view.boxes.get(node.element)
    if box is None or node.hidden:
        return False
    left, top, wide, high = box
    width, height = view.viewport
    return left <= width and top <= height and left + wide >= 0 and top + high >= 0


def _is_option_of_shown(node: _Node, view: View) -> bool:
    around = node.parent
    if node.tag != "option" or around is None or around.tag != "select":
        return False
    return around.element in view.ids or _is_seen(around, view)


def _start_tag(shown: Shown) -> str:
    node, given, label, box = shown
    tag, (attributes, values) = _plain_tag(node.tag), _attributes(node, given)
    place = "" if box is None else "{},{},{},{}".format(*box)
    if place and place not in values:
        attributes += f' data-bbox="{place}"'
    status = _clean(given.get("data-status", "")) if given else ""
    if status and status != place and status not in values:
        attributes += f' data-status="{status}"'
    return f"<{tag}{attributes}>" if label is None else f'<{tag} id="{label}"{attributes}>'


def _attributes(node: _Node, given: dict[str, str] | None) -> tuple[str, Any]:
    """Those before the place, each value once, and the values. Kept where they are the same in all views."""
    if node.written is not None and given is node.given:
        return node.written
    direct = _direct_text(node)
    node.words = _clean(node.text) if node.pieces or "\u00a0" in node.text else direct
    told = {name: _clean(value) for name, value in given.items()} if given else {}
    told.setdefault("data-text", direct)  # cut already; a space at its end stays
    if told.get("type") == "hidden":
        del told["type"]
    names: dict[str, str] = {}  # by value
    for name in KEPT:
        if name in told:
            names.setdefault(told[name], name)
    found = "".join(f' {name}="{value}"' for value, name in names.items() if value), names.keys()
    if given is node.given:
        node.written = found
    return found


@lru_cache(maxsize=256)
def _plain_tag(tag: str) -> str:
    """A page may name elements as it likes; <image> would be the mark of a picture."""
    return "img" if tag == "image" else tag if _TAG.fullmatch(tag) else "div"


def _direct_text(node: _Node) -> str:
    """Its text nodes, parted by commas."""
    if not node.pieces and "\u00a0" not in node.text:
        return _clean(node.text)  # of most elements
    pieces = node.pieces or [node.text]
    texts = (_clean(_RUNS.sub(" ", piece.strip()) if "\u00a0" in piece else piece) for piece in pieces)
    return ",".join(filter(None, texts))[:MAX_LENGTH]
