"""What locators work with: the document and its elements, texts, numbers and lists, with their properties and methods,
and the operators."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from html import escape
from typing import Any

from cssselect import HTMLTranslator, SelectorError
from lxml import html
from lxml.etree import XPath, XPathError  # pyright: ignore[reportMissingImports, reportAttributeAccessIssue]

from agentrl.core.errors import EnvFault
from agentrl.envs.webarena.evaluators.inner_text import BY_TAG, Styles, inner_text

REFLECTED = {"className": "class", **{name: name for name in ("id", "title", "name", "placeholder", "alt")}}
FIELDS = frozenset({"input", "textarea", "select", "option", "button"})
MAX_WORK = 5_000_000  # of one expression: characters, list items and elements that it reads or makes, and its steps
STEP = 100  # what a step counts for
MAX_SELECTOR = 500  # characters


class LocatorError(ValueError):
    """The expression fails on this page, as it would in a browser."""


class UnreadableLocator(EnvFault):
    """The expression uses something that is not known here. What it would give in a browser cannot be said."""


class _Undefined:
    def __repr__(self) -> str:
        return "undefined"


UNDEFINED: Any = _Undefined()


class Budget:
    """What an expression may still do. A task file comes from anywhere, and fifty characters can ask for gigabytes."""

    def __init__(self) -> None:
        self._left = MAX_WORK

    def spend(self, work: int) -> None:
        """Before the work is done; `UnreadableLocator` once there was too much of it."""
        self._left -= work
        if self._left < 0:
            raise UnreadableLocator(f"the expression takes more than {MAX_WORK:,} steps")


@dataclass(frozen=True)
class Page:
    """What all nodes of a page share: contents of fields, how elements are displayed, what may still be done."""

    root: Any
    values: Mapping[Any, str] = field(default_factory=dict)
    styles: Styles = BY_TAG
    budget: Budget = field(default_factory=Budget, compare=False)

    @cached_property
    def size(self) -> int:
        """How many elements there are."""
        return elements_below(self.root)


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


def elements_below(element: Any) -> int:
    """The element and all inside it."""
    return sum(1 for _ in element.iter())


def get(owner: Any, key: Any, budget: Budget) -> Any:
    """`owner[key]`, as in JavaScript."""
    if is_nullish(owner):
        raise LocatorError(f"{owner!r} has no properties".replace("None", "null"))
    if isinstance(owner, (list, str)):
        if key == "length":
            return len(owner)
        if isinstance(key, int) and not isinstance(key, bool):
            return owner[key] if 0 <= key < len(owner) else UNDEFINED
        methods = TEXT_METHODS if isinstance(owner, str) else LIST_METHODS
        if not isinstance(key, str) or key not in methods:
            known = f"the property {as_text(key, budget)[:50]!r} of texts and lists is not known without a browser"
            raise UnreadableLocator(known)
        return lambda *arguments: _run_method(methods[key], owner, arguments, budget)
    key = as_text(key, budget)
    if isinstance(owner, Document):
        root = Node(owner.page, owner.page.root)
        budget.spend(5 * owner.page.size)
        return DOCUMENT[key](root) if key in DOCUMENT else _searching(root, key)
    if isinstance(owner, Node):
        if key in REFLECTED:
            return owner.element.get(REFLECTED[key]) or ""
        if key not in PROPERTIES:
            return _searching(owner, key)
        budget.spend(STEP if key in QUICK else 50 * elements_below(owner.element))
        found = PROPERTIES[key](owner)
        budget.spend(len(found) if isinstance(found, (str, list)) else 0)
        return found
    if isinstance(owner, TextNode) and key in ("textContent", "nodeValue", "data", "wholeText"):
        return owner.text
    if key == "toString":
        return lambda *_: as_text(owner, budget)
    return UNDEFINED


def _run_method(method: Callable[..., Any], owner: Any, arguments: tuple[Any, ...], budget: Budget) -> Any:
    """A method of a text or a list. Its result is at most as long as the owner's length times an argument's."""
    given: Sequence[Any] = arguments
    if method is _joined or (isinstance(owner, str) and method is not _sliced):
        given = [as_text(argument, budget) for argument in arguments]
    longest = max((len(text) for text in given if isinstance(text, str)), default=0)
    budget.spend(STEP + (len(owner) + 1) * (1 + longest))
    return method(as_texts(list(owner), budget) if method is _joined else owner, *given)


def call(function: Any, arguments: list[Any], budget: Budget) -> Any:
    """Call what `get` or an arrow function gave."""
    budget.spend(STEP + len(arguments))
    if not callable(function):
        raise LocatorError(f"{as_text(function, budget)[:50]} is not a function")
    try:
        return function(*arguments)
    except (TypeError, AttributeError, IndexError) as error:
        raise LocatorError(f"the call fails: {error}") from error


# ---------------------------------------------------------------------- searching


def _searching(node: Node, key: Any) -> Callable[..., Any]:
    if key == "querySelector":
        return lambda selector: _first(node, selector)
    if key == "querySelectorAll":
        return lambda selector: list(_matches(node, selector))
    if key == "getElementsByClassName":
        return lambda names: list(_matches(node, "".join(f".{name}" for name in _selector(node, names).split())))
    if key == "getElementsByTagName":
        return lambda name: list(_matches(node, name))
    raise UnreadableLocator(f"the property {key[:50]!r} of elements is not known without a browser")


def _first(node: Node, selector: Any) -> Node | None:
    return next(_matches(node, selector), None)


def _matches(node: Node, selector: Any) -> Iterator[Node]:
    """Elements below `node` that match; what stands before a space may match further up, as in browsers."""
    whole = node.element is node.page.root
    for element in _found(node, selector):
        node.page.budget.spend(STEP)
        if (whole and element is not node.element) or (not whole and node.element in element.iterancestors()):
            yield Node(node.page, element)


def _selector(node: Node, selector: Any) -> str:
    text = as_text(selector, node.page.budget)
    if len(text) > MAX_SELECTOR:
        raise UnreadableLocator(f"a CSS selector may have {MAX_SELECTOR} characters; this one has {len(text):,}")
    return text


def _found(node: Node, selector: Any) -> list[Any]:
    """All elements of the page that a selector matches. Each of its parts looks through the page once more."""
    text = _selector(node, selector)
    size, parts = node.page.size, 1 + len(re.findall(r"[\s>+~:\[]+", text))
    node.page.budget.spend(size * parts + size * size // 10 * text.count("~"))
    looked_at = _looked_at.set(node.page)
    try:
        return compiled(text)(node.page.root)
    except XPathError as error:
        raise LocatorError(f"{text!r} is no CSS selector: {error}") from error
    finally:
        _looked_at.reset(looked_at)


class _Translator(HTMLTranslator):
    """`:checked` is what is chosen now, not what the HTML says."""

    def xpath_checked_pseudo(self, xpath: Any) -> Any:
        return xpath.add_condition("live:checked(.)")


def _is_chosen(_: Any, found: list[Any]) -> bool:
    element, page = found[0], _looked_at.get()
    if element.tag != "option":
        return _checked(Node(page, element)) is True
    select = next(element.iterancestors("select"), None)
    chosen = -1 if select is None else _selected_index(Node(page, select))
    return chosen >= 0 and _options(select)[chosen] is element


_looked_at: ContextVar[Page] = ContextVar("the page that a selector is looked up on")
_LIVE = "live"


@lru_cache(512)
def compiled(selector: str) -> XPath:
    """A CSS selector, ready to be looked up; `LocatorError` if it is none that is known here."""
    try:
        path = _Translator().css_to_xpath(close_brackets(selector))
        return XPath(path, namespaces={_LIVE: _LIVE}, extensions={(_LIVE, "checked"): _is_chosen})
    except (SelectorError, SyntaxError, ValueError, XPathError) as error:
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
    return escape(node.element.text or "", quote=False) + "".join(inside)


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
    found = set(_found(node, selector))
    chain = (node.element, *node.element.iterancestors())
    return next((Node(node.page, element) for element in chain if element in found), None)


def _visible_text(node: Node) -> str:
    return inner_text(node.element, node.page.styles)


DOCUMENT: dict[Any, Callable[[Node], Any]] = {  # properties of the document, by its root
    "documentElement": lambda root: root,
    "body": lambda root: _first(root, "body"),
    "head": lambda root: _first(root, "head"),
    "title": lambda root: " ".join((root.element.findtext(".//title") or "").split()),
    "getElementById": lambda root: (
        lambda name: next(
            (Node(root.page, element) for element in root.element.iter("*") if element.get("id") == name), None
        )
    ),
}
PROPERTIES: dict[Any, Callable[[Node], Any]] = {
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
    "getAttribute": lambda node: lambda name: node.element.get(as_text(name, node.page.budget).lower()),
    "hasAttribute": lambda node: lambda name: node.element.get(as_text(name, node.page.budget).lower()) is not None,
    "closest": lambda node: lambda selector: _closest(node, selector),
    "click": lambda node: lambda: UNDEFINED,  # pages without scripts have nothing that a click would unfold
}
QUICK = frozenset(
    {
        "tagName", "checked", "selected", "disabled", "parentElement", "parentNode", "nextElementSibling",
        "previousElementSibling", "getAttribute", "hasAttribute", "closest", "click",
    }
)  # fmt: skip


# ---------------------------------------------------------------------- texts and lists


def as_texts(values: list[Any], budget: Budget) -> list[str]:
    """The items of a list as `join` writes them."""
    budget.spend(STEP * (1 + len(values)))
    return ["" if is_nullish(value) else as_text(value, budget) for value in values]


def _joined(texts: list[str], separator: str = ",") -> str:
    return separator.join(texts)


def _sliced(values: Any, start: Any = 0, end: Any = None) -> Any:
    return values[start:end]


TEXT_METHODS: dict[Any, Callable[..., Any]] = {
    "toString": lambda text: text,
    "trim": lambda text: text.strip(),
    "toLowerCase": lambda text: text.lower(),
    "toUpperCase": lambda text: text.upper(),
    "includes": lambda text, part: part in text,
    "startsWith": lambda text, part: text.startswith(part),
    "endsWith": lambda text, part: text.endswith(part),
    "replace": lambda text, old, new: text.replace(old, new, 1),
    "replaceAll": lambda text, old, new: text.replace(old, new),
    "split": lambda text, separator: text.split(separator) if separator else list(text),
    "slice": _sliced,
}
LIST_METHODS: dict[Any, Callable[..., Any]] = {
    "toString": _joined,
    "join": _joined,
    "map": lambda values, function: [function(value) for value in values],
    "filter": lambda values, function: [value for value in values if is_true(function(value))],
    "find": lambda values, function: next((value for value in values if is_true(function(value))), UNDEFINED),
    "includes": lambda values, value: any(truth("===", value, one) for one in values),
    "slice": _sliced,
    "item": lambda values, place=0: values[place] if 0 <= place < len(values) else None,
    "at": lambda values, place=0: values[place] if -len(values) <= place < len(values) else UNDEFINED,
}


# What stands behind a point in an expression, of whatever value; of these, the ones that take a CSS selector.
SELECTING = frozenset({"querySelector", "querySelectorAll", "closest"})
KNOWN = SELECTING | {"getElementsByClassName", "getElementsByTagName", "length", "nodeValue", "data", "wholeText"}
KNOWN |= {*REFLECTED, *DOCUMENT, *PROPERTIES, *TEXT_METHODS, *LIST_METHODS}


# ---------------------------------------------------------------------- operators


def is_nullish(value: Any) -> bool:
    """null or undefined."""
    return value is None or value is UNDEFINED


def is_true(value: Any) -> bool:
    """What JavaScript takes for true: lists and elements always."""
    return not is_nullish(value) and (isinstance(value, list) or bool(value))


def add(sign: str, left: Any, right: Any, budget: Budget) -> Any:
    """`+` of numbers or of texts, `-` of numbers."""
    numbers = all(isinstance(value, (int, float)) for value in (left, right))
    if sign == "-":
        if not numbers:
            raise LocatorError("only numbers can be subtracted")
        return left - right
    return left + right if numbers else as_text(left, budget) + as_text(right, budget)


def truth(sign: str, left: Any, right: Any) -> bool:
    """A comparison. Values of different types are never equal, except null and undefined for `==`."""
    if sign in ("==", "!=", "===", "!=="):
        same = left is right if isinstance(left, list) else left == right
        equal = same and isinstance(left, bool) == isinstance(right, bool)
        if len(sign) == 2 and is_nullish(left) and is_nullish(right):
            equal = True
        return equal == (sign[0] == "=")
    both = (left, right)
    if not (all(isinstance(value, str) for value in both) or all(isinstance(value, (int, float)) for value in both)):
        return False
    return {"<": left < right, ">": left > right, "<=": left <= right, ">=": left >= right}[sign]


def as_text(value: Any, budget: Budget) -> str:
    """A value as JavaScript would write it into a text."""
    if isinstance(value, str):
        budget.spend(len(value))
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, list):
        return _joined(as_texts(value, budget))
    return str(value)
