"""WebRL's simplified HTML: the elements in view with their ids, boxes, texts and live values, on one line."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from agentrl.envs.webarena.backend import Box, View
from agentrl.envs.webarena.observing.texts import chosen_option, under_header, without_marks

# In this order; a value that an earlier attribute has is not repeated.
KEPT = ("title", "value", "type", "placeholder", "selected", "data-value", "data-text", "data-testid", "data-label")
KEPT += ("data-bbox", "data-status")
MAX_LENGTH = 500  # characters of a text or a value
_KEPT = frozenset(KEPT)
_LIVE = frozenset({"input", "select", "textarea", "option"})
_DROPPED = frozenset({"script", "style"})
_TAG = re.compile(r"[a-z][a-z0-9-]*")
_SPACES, _RUNS = re.compile(r"[^\S\u00a0]+"), re.compile(r"\s{2,}")


class _Node:
    """An element of the page, with what is known about it. What most elements lack is not set one by one."""

    given: dict[str, str] | None = None
    pieces: list[str] | None = None  # its text nodes, where there are several
    divided = False  # has it an element inside already?
    children = 0  # how many of them have content
    label: int | None = None
    box: Box | None = None
    seen = False  # does it lie in the viewport?
    keep = False

    def __init__(self, number: int, parent: _Node | None, tag: str, text: str) -> None:
        self.number = self.last = number  # places in document order: its own, and its last descendant's
        self.parent, self.tag, self.text = parent, tag, text  # the text before the first element inside

    def add(self, text: str) -> None:
        """A further text node; the first ones may be parted by comments and scripts only."""
        self.pieces = self.pieces or [self.text]
        self.pieces.append(text)
        if not self.divided:
            self.text += text


def simplified_html(view: View, *, header: bool = False) -> str:
    """The page as WebRL's agents see it, to the letter: "<" and quotation marks stand as they are, save where they
    would pass for the mark of a picture."""
    parts: list[str] = []
    open_nodes: list[_Node] = []
    for node in _printed(_outline(view)):
        while open_nodes and open_nodes[-1].last < node.number:
            parts.append(f"</{open_nodes.pop().tag}>")
        parts.append(_start_tag(node))
        if text := _clean(node.text):
            parts.append(text)
        open_nodes.append(node)
    parts.extend(f"</{node.tag}>" for node in reversed(open_nodes))
    return under_header(view, without_marks(" ".join(parts)), header)


def _outline(view: View) -> list[_Node]:
    """All elements in document order."""
    nodes: list[_Node] = []
    found: dict[Any, _Node] = {}
    chosen: set[Any] = set()
    ids, boxes, (width, height) = view.ids, view.boxes, view.viewport
    for element in view.root.iter():
        parent, tag = found.get(element.getparent()), element.tag
        if isinstance(tag, str) and tag not in _DROPPED:
            if parent is not None:
                parent.divided = True
            found[element] = node = _Node(len(nodes), parent, tag, element.text or "")
            nodes.append(node)
            if element.attrib or tag in _LIVE:
                node.given = _given(element, view, chosen)
            if element in boxes:
                node.box = left, top, wide, high = boxes[element]
                # What only touches the edge is in view.
                if left <= width and top <= height and left + wide >= 0 and top + high >= 0:
                    node.seen = node.keep = not (node.given and node.given.get("aria-hidden") == "true")
            if element in ids:
                node.label, node.keep = ids[element], True
            elif tag == "option" and parent is not None and parent.tag == "select":
                node.keep = node.keep or parent.keep
        if element.tail and parent is not None:
            parent.add(element.tail)
    return nodes


def _clean(text: str) -> str:
    """With single spaces, and not too long; a space that breaks no line stays what it is, except at the ends."""
    if "\u00a0" in text:
        return _SPACES.sub(" ", text).strip()[:MAX_LENGTH]
    return " ".join(text.split(None, MAX_LENGTH)[:MAX_LENGTH])[:MAX_LENGTH]  # no word behind these is needed


def _given(element: Any, view: View, chosen: set[Any]) -> dict[str, str] | None:
    """Attributes that may be printed, and what a form field holds at the moment."""
    tag, given = element.tag, {name: value for name, value in element.items() if name in _KEPT or name == "aria-hidden"}
    if tag not in _LIVE:
        return given or None
    value = view.values.get(element)
    if tag == "select":
        option = chosen_option(element, view)
        given["data-value"], given["data-text"] = value or "", "" if option is None else "".join(option.itertext())
        chosen.add(option)
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


def _printed(nodes: list[_Node]) -> list[_Node]:
    """Of the elements in view, the ones with an id, with content, or with two children that have content. Of the others
    only what is inside them is printed."""
    printed = []
    for node in reversed(nodes):
        has_content = bool(node.text and not node.text.isspace())
        if not has_content and node.pieces:
            has_content = not all(piece.isspace() or not piece for piece in node.pieces)
        if not has_content and node.given:
            has_content = any(
                name in _KEPT and value.strip() and not (name == "type" and value == "hidden")
                for name, value in node.given.items()
            )
        parent = node.parent
        if parent is not None:
            if parent.last < node.last:
                parent.last = node.last
            if has_content or node.children:
                parent.children += 1
        if node.keep and (has_content or node.children > 1 or (node.label is not None and node.seen)):
            printed.append(node)
    printed.reverse()
    return printed


def _start_tag(node: _Node) -> str:
    node.tag = _plain_tag(node.tag)
    given = node.given
    if given is None:
        values = [("data-text", _direct_text(node)), ("data-bbox", _place(node))]
    else:
        given.setdefault("data-text", _direct_text(node))
        given["data-bbox"] = _place(node)
        if given.get("type") == "hidden":
            del given["type"]
        values = [(name, _clean(given[name])) for name in KEPT if name in given]
    names: dict[str, str] = {}  # by value: each value once
    for name, value in values:
        names.setdefault(value, name)
    shown = "".join(f' {name}="{value}"' for value, name in names.items() if value)
    return f"<{node.tag}{shown}>" if node.label is None else f'<{node.tag} id="{node.label}"{shown}>'


@lru_cache(maxsize=256)
def _plain_tag(tag: str) -> str:
    """A page may name elements as it likes; <image> would be the mark of a picture."""
    return "img" if tag == "image" else tag if _TAG.fullmatch(tag) else "div"


def _direct_text(node: _Node) -> str:
    """Its text nodes, parted by commas."""
    if not node.pieces and (not node.text or node.text.isspace()):
        return ""  # as most elements
    pieces = node.pieces or [node.text]
    texts = (_clean(_RUNS.sub(" ", piece.strip()) if "\u00a0" in piece else piece) for piece in pieces)
    return ",".join(filter(None, texts))[:MAX_LENGTH]


def _place(node: _Node) -> str:
    return "" if node.box is None else "{},{},{},{}".format(*node.box)
