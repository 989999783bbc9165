"""The document and its elements as locators see them, with the properties and methods that they have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from cssselect import SelectorError
from lxml import html
from lxml.cssselect import CSSSelector

from agentrl.envs.webarena.evaluators.inner_text import BY_TAG, Styles, inner_text
from agentrl.envs.webarena.evaluators.values import (
    UNDEFINED,
    LocatorError,
    UnreadableLocator,
    as_text,
    get_of_list,
    is_nullish,
)

REFLECTED = {"className": "class", **{name: name for name in ("id", "title", "name", "placeholder", "alt")}}
FIELDS = frozenset({"input", "textarea", "select", "option", "button"})


@dataclass(frozen=True)
class Page:
    """What all nodes of a page share: live contents of fields, and how elements are displayed."""

    root: Any
    values: Mapping[Any, str] = field(default_factory=dict)
    styles: Styles = BY_TAG


@dataclass(frozen=True)
class TextNode:
    """A piece of text between elements, or a comment."""

    text: str


@dataclass(frozen=True)
class Document:
    """The name `document`."""

    page: Page


@dataclass(frozen=True)
class Node:
    """An element."""

    page: Page
    element: Any


# ---------------------------------------------------------------------- reading properties


def get(owner: Any, key: Any) -> Any:
    """`owner[key]`, as in JavaScript."""
    if is_nullish(owner):
        raise LocatorError(f"{owner!r} has no properties".replace("None", "null"))
    if isinstance(owner, (list, str)):
        return get_of_list(owner, key)
    if isinstance(owner, Document):
        return _get_of_document(owner, key)
    if isinstance(owner, Node):
        return _get_of_node(owner, key)
    if isinstance(owner, TextNode) and key in ("textContent", "nodeValue", "data", "wholeText"):
        return owner.text
    if key == "toString":
        return lambda *_: as_text(owner)
    return UNDEFINED


def _get_of_document(document: Document, key: Any) -> Any:
    root = Node(document.page, document.page.root)
    if key == "documentElement":
        return root
    if key in ("body", "head"):
        return _first(root, key)
    if key == "title":
        title = document.page.root.find(".//title")
        return "" if title is None else " ".join((title.text or "").split())
    if key == "getElementById":
        return lambda name: next((node for node in _all(root) if node.element.get("id") == as_text(name)), None)
    return _searching(root, key)


def _get_of_node(node: Node, key: Any) -> Any:
    if key in REFLECTED:
        return node.element.get(REFLECTED[key]) or ""
    if key in PROPERTIES:
        return PROPERTIES[key](node)
    if key in METHODS:
        return METHODS[key](node)
    return _searching(node, key)


# ---------------------------------------------------------------------- searching


def _searching(node: Node, key: Any) -> Callable[..., Any]:
    if key == "querySelector":
        return lambda selector: _first(node, selector)
    if key == "querySelectorAll":
        return lambda selector: list(_matches(node, selector))
    if key == "getElementsByClassName":
        return lambda names: list(_matches(node, "".join(f".{name}" for name in str(names).split())))
    if key == "getElementsByTagName":
        return lambda name: list(_matches(node, name))
    raise UnreadableLocator(f"the property {as_text(key)[:50]!r} of elements is not known without a browser")


def _first(node: Node, selector: Any) -> Node | None:
    return next(_matches(node, selector), None)


def _matches(node: Node, selector: Any) -> Iterator[Node]:
    """Elements below `node` that match; what stands before a space may match further up, as in browsers."""
    whole = node.element is node.page.root
    for element in _compiled(as_text(selector))(node.page.root):
        if (whole and element is not node.element) or (not whole and node.element in element.iterancestors()):
            yield Node(node.page, element)


def _all(node: Node) -> Iterator[Node]:
    return (Node(node.page, element) for element in node.element.iter("*"))


@lru_cache(512)
def _compiled(selector: str) -> CSSSelector:
    try:
        return CSSSelector(close_brackets(selector), translator="html")
    except (SelectorError, SyntaxError, ValueError) as error:
        raise LocatorError(f"{selector!r} is no CSS selector: {error}") from error


def close_brackets(selector: str) -> str:
    """The selector with a quote and a bracket that were left open at its end closed, as browsers do."""
    quote, depth = "", 0
    for sign in re.sub(r"\\.", "", selector):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        else:
            depth += (sign == "[") - (sign == "]")
    return selector + quote + "]" * max(depth, 0)


# ---------------------------------------------------------------------- elements


def _value(node: Node) -> Any:
    element, live = node.element, node.page.values.get(node.element)
    if element.tag not in FIELDS:
        return UNDEFINED
    if element.tag == "input" and _is_tick(element):
        return element.get("value", "on")
    if live is not None:
        return live
    if element.tag == "textarea":
        return str(element.xpath("string()"))
    if element.tag == "option":
        return _option_value(element)
    if element.tag == "select":
        chosen = _selected_index(node)
        return "" if chosen < 0 else _option_value(_options(element)[chosen])
    return element.get("value") or ""


def _checked(node: Node) -> Any:
    if not _is_tick(node.element):
        return False if node.element.tag == "input" else UNDEFINED
    live = node.page.values.get(node.element)
    return node.element.get("checked") is not None if live is None else bool(live)


def _selected_index(node: Node) -> Any:
    if node.element.tag != "select":
        return UNDEFINED
    options, live = _options(node.element), node.page.values.get(node.element)
    if live is not None:
        return next((place for place, option in enumerate(options) if _option_value(option) == live), -1)
    chosen = [place for place, option in enumerate(options) if option.get("selected") is not None]
    if chosen:
        return chosen[-1]
    return -1 if not options or node.element.get("multiple") is not None else 0


def _is_tick(element: Any) -> bool:
    return element.tag == "input" and (element.get("type") or "").lower() in ("checkbox", "radio")


def _options(select: Any) -> list[Any]:
    return list(select.iter("option"))


def _option_value(option: Any) -> str:
    value = option.get("value")
    return " ".join(str(option.xpath("string()")).split()) if value is None else value


def _inner_html(node: Node) -> str:
    inside = [str(html.tostring(child, encoding="unicode")) for child in node.element]
    return html_escaped(node.element.text or "") + "".join(inside)


def html_escaped(text: str) -> str:
    """Text as it stands in HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _children(node: Node) -> list[Node]:
    return [Node(node.page, child) for child in node.element if isinstance(child.tag, str)]


def _child_nodes(node: Node) -> list[Node | TextNode]:
    nodes: list[Node | TextNode] = [TextNode(node.element.text)] if node.element.text else []
    for child in node.element:
        is_element = isinstance(child.tag, str)
        nodes.append(Node(node.page, child) if is_element else TextNode(child.text or ""))
        if child.tail:
            nodes.append(TextNode(child.tail))
    return nodes


def _beside(node: Node, *, before: bool) -> Node | None:
    found = next((other for other in node.element.itersiblings(preceding=before) if isinstance(other.tag, str)), None)
    return None if found is None else Node(node.page, found)


def _parent(node: Node) -> Node | None:
    parent = node.element.getparent()
    return None if parent is None else Node(node.page, parent)


def _closest(node: Node, selector: Any) -> Node | None:
    found = set(_compiled(as_text(selector))(node.page.root))
    chain = (node.element, *node.element.iterancestors())
    return next((Node(node.page, element) for element in chain if element in found), None)


def _visible_text(node: Node) -> str:
    return inner_text(node.element, node.page.styles)


PROPERTIES: dict[str, Callable[[Node], Any]] = {
    "outerText": _visible_text,
    "innerText": _visible_text,
    "textContent": lambda node: str(node.element.xpath("string()")),
    "innerHTML": _inner_html,
    "outerHTML": lambda node: html.tostring(node.element, encoding="unicode", with_tail=False),
    "tagName": lambda node: node.element.tag.upper(),
    "value": _value,
    "checked": _checked,
    "selected": lambda node: node.element.get("selected") is not None,
    "disabled": lambda node: node.element.get("disabled") is not None,
    "selectedIndex": _selected_index,
    "options": lambda node: [Node(node.page, option) for option in _options(node.element)],
    "children": _children,
    "childElementCount": lambda node: len(_children(node)),
    "childNodes": _child_nodes,
    "firstElementChild": lambda node: next(iter(_children(node)), None),
    "lastElementChild": lambda node: next(iter(_children(node)[::-1]), None),
    "firstChild": lambda node: next(iter(_child_nodes(node)), None),
    "lastChild": lambda node: next(iter(_child_nodes(node)[::-1]), None),
    "parentElement": _parent,
    "parentNode": _parent,
    "nextElementSibling": lambda node: _beside(node, before=False),
    "previousElementSibling": lambda node: _beside(node, before=True),
}
METHODS: dict[str, Callable[[Node], Callable[..., Any]]] = {
    "getAttribute": lambda node: lambda name: node.element.get(as_text(name).lower()),
    "hasAttribute": lambda node: lambda name: node.element.get(as_text(name).lower()) is not None,
    "closest": lambda node: lambda selector: _closest(node, selector),
    "click": lambda node: lambda: UNDEFINED,  # pages without scripts have nothing that a click would unfold
}
