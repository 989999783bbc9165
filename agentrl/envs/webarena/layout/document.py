"""HTML text as a tree that layouts and forms can trust: a root, a body, rows within table bodies, bounded depth."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import Any

from agentrl.core.errors import MissingExtra

try:
    from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]
except ImportError as error:  # pragma: no cover (set-up installs it)
    raise MissingExtra("lxml", "web") from error

MAX_DEPTH = 96  # deeper elements become neighbours; Chromium does the same at 512
_PARSER = etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_pis=True)
XPath, strip_attributes = etree.XPath, etree.strip_attributes
_TOO_DEEP = XPath(f"boolean({'/*' * (MAX_DEPTH + 1)})")
# Attributes that need no value. The parser gives them their names as values, browsers nothing.
_BARE = ("selected", "checked", "disabled", "required", "readonly", "multiple", "open", "hidden", "autofocus")
_BARE_ONES = XPath("//*[" + " or ".join(f"@{name}='{name}'" for name in _BARE) + "]")
BUTTON_TYPES = {"submit", "button", "reset", "image"}
_HALVES = re.compile("[\ud800-\udfff]")


def whole(text: str) -> str:
    """The text without halves of characters, which cannot be sent or saved."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _HALVES.sub("\ufffd", text)
    return text


def parse(html: str) -> Any:
    """The <html> element of a page, whatever the text is."""
    data = whole(html).replace("\x00", "\ufffd").encode()
    try:
        root = etree.fromstring(data, _PARSER) if data.strip() else None
    except etree.LxmlError:
        root = None
    if root is None or root.tag != "html":
        root = etree.fromstring(b"<html><head></head><body></body></html>", _PARSER)
    if root.find("body") is None and root.find("frameset") is None:
        etree.SubElement(root, "body")
    if root.find("head") is None:
        root.insert(0, etree.Element("head"))
    for element in _BARE_ONES(root):
        for name in _BARE:
            if element.get(name) == name:
                element.set(name, "")
    if _TOO_DEEP(root):
        _bound_depth(root)
    # Browsers put rows that stand directly in a table into a <tbody>.
    for table in root.iter("table"):
        body = None
        for child in list(table):
            if child.tag != "tr":
                body = None
            elif body is None:
                body = table.makeelement("tbody")
                child.addprevious(body)
                body.append(child)
            else:
                body.append(child)
    return root


def _bound_depth(root: Any) -> None:
    """Move what is nested too deep beside its parent, so that nobody's recursion is."""
    depth = 0
    deep = []
    for event, element in etree.iterwalk(root, events=("start", "end")):
        depth += 1 if event == "start" else -1
        if event == "start" and depth == MAX_DEPTH + 1:
            deep.append(element)
    for element in deep:  # all descendants become its neighbours, in the same order
        place = element
        for descendant in list(element.iterdescendants()):
            tail, descendant.tail = descendant.tail, None
            place.addnext(descendant)
            descendant.tail = tail
            place = descendant


def serialise(root: Any) -> str:
    """The HTML of a page as a browser writes it."""
    return "<!DOCTYPE html>" + etree.tostring(root, encoding="unicode", method="html")


def options_of(select: Any) -> list[Any]:
    """The options of a <select>."""
    return list(select.iter("option"))


def option_text(option: Any) -> str:
    """What a user reads."""
    return " ".join("".join(option.itertext()).split())


def option_value(option: Any) -> str:
    """What a form sends."""
    value = option.get("value")
    return option_text(option) if value is None else value


def kind_of(element: Any) -> str:
    """ "text", "textarea", "select", "check", "radio", "button", "hidden", or "" for what is no control."""
    tag = element.tag
    if tag in ("textarea", "select"):
        return tag
    if tag == "button":
        return "button"
    if tag != "input":
        return ""
    kind = input_type(element)
    if kind in BUTTON_TYPES:
        return "button"
    return {"checkbox": "check", "radio": "radio", "hidden": "hidden"}.get(kind, "text")


def input_type(element: Any) -> str:
    """The type of an <input>, "text" where it says nothing."""
    return (element.get("type") or "text").strip().lower()


class Document:
    """A parsed page. Nobody may change its tree: pages with the same text share it."""

    def __init__(self, html: str) -> None:
        self.html, self.root = html, parse(html)
        # Kept, because dictionaries are keyed by these very objects.
        self.elements: list[Any] = list(self.root.iter("*"))
        self.index: dict[Any, int] = dict(zip(self.elements, range(len(self.elements)), strict=True))
        title = self.root.find("head/title")
        if title is None:
            title = next(self.root.iter("title"), None)
        self.title = "" if title is None else " ".join((title.text or "").split())
        self.having: dict[str, list[Any]] = {}  # by attribute; see `behaviours`
        self.controls: list[Any] = list(self.root.iter("input", "textarea", "select", "button"))
        self.fields = [control for control in self.controls if kind_of(control) not in ("button", "hidden")]

    @property
    def base(self) -> str:
        """The address in <base href>, against which links are read; mostly empty."""
        found = self.root.find("head/base")
        return "" if found is None else found.get("href", "")

    def sheets(self) -> list[tuple[str, str]]:
        """Style sheets in order: ("href", address) or ("text", contents)."""
        found = []
        for element in self.root.iter("link", "style"):
            if element.tag == "style":
                found.append(("text", element.text or ""))
            elif "stylesheet" in (element.get("rel") or "").lower().split() and element.get("href"):
                found.append(("href", element.get("href")))
        return found

    @cached_property
    def identified(self) -> dict[str, Any]:
        """Elements by their ids; of several with the same id, the first."""
        return {element.get("id"): element for element in reversed(self.elements) if element.get("id") is not None}

    def fragment(self, name: str) -> Any:
        """The element that `#name` leads to."""
        found = self.identified.get(name)
        if found is None:
            found = next((link for link in self.root.iter("a") if link.get("name") == name), None)
        return found


@lru_cache(96)
def document(html: str) -> Document:
    """The parsed page with this text; what was read last is kept."""
    return Document(html)
