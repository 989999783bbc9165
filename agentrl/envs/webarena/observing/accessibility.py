"""The page as an accessibility tree in text, as WebArena shows it: roles, names and properties, indented by tabs.

Every line has an id. Containers without a name are left out, their contents move up; so is a text that one of the three
lines before it holds already. Roles, names and properties are those of Chromium; what it has changed since WebArena's
tasks were published (the addresses of links, "image" for "img") is left out.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, NamedTuple

from agentrl.envs.webarena.backend import View
from agentrl.envs.webarena.observing import texts

DEEPEST = 40  # tabs before a line; a page nested deeper is shown as if it were not
MAX_TEXT = 20_000
_BEFORE = 3  # lines that may hold a text already
_SPACES = re.compile(r"[ \t\n\r\f]+")
_INLINE = texts.INLINE | {"img", "input", "select"}
_ROLES = {
    **dict.fromkeys(("section", "address"), ""),
    **{"form": "form", "em": "emphasis", "code": "code", "time": "time", "hr": "separator"},
    **{"summary": "DisclosureTriangle", "thead": "rowgroup", "td": "cell", "label": "", "legend": ""},
    **{"strong": "", "dl": "DescriptionList", "dt": "term", "dd": "definition", "figure": "figure", "details": "group"},
    **{"sub": "subscript", "sup": "superscript", "del": "deletion", "ins": "insertion", "mark": "mark"},
}  # fmt: skip
_SECTIONS = ("article", "aside", "main", "nav", "section")  # inside which <header> is not that of the page
_DROPPED = frozenset({"", "img", "list", "banner", "navigation", "listitem"})  # unless they have a name
_NAMED = texts.FROM_CONTENT - {"listitem", "LabelText", "definition", "row"} | texts.FIELDS
_NAMED |= {"DisclosureTriangle", "img"}
# What stands in one of these is no part of the name of what it is in.
_APART = frozenset({"form", "nav", "article", "aside", "main", "header", "fieldset", "blockquote", "figure", "dialog"})
_LIVE = {"alert": "assertive", "status": "polite"}  # regions whose changes are read out
_WHOLE = frozenset({"textbox", "searchbox", "spinbutton", "combobox", "img"})  # nothing inside is looked at


class _Line(NamedTuple):
    depth: int
    element: Any  # what its id stands for: of a text, what it stands in
    text: str


def accessibility_tree(view: View, *, header: bool = True) -> str:
    """What is in view, line by line, each with its id."""
    lines = _lines(view)
    written = (f"{chr(9) * min(line.depth, DEEPEST)}[{number}] {line.text}" for number, line in enumerate(lines))
    return texts.under_header(view, "\n".join(written), header)


def with_line_ids(view: View) -> View:
    """The view with an id for every line of its tree."""
    return replace(view, labels=tuple(line.element for line in _lines(view)), ids={})


def _lines(view: View) -> list[_Line]:
    writer = _Writer(view)
    for begins, node in texts.walk(view.root):
        (writer.begin if begins else writer.end)(node)
    writer.end_of_line()
    return writer.lines


class _Names(texts.Names):
    """Names as Chromium gathers them from what an element holds."""

    def content(self, element: Any) -> str:
        """Without landmarks; labels and what fields hold stand for what is in them."""
        return texts.text_of(element, self._given)

    def _given(self, element: Any) -> str | None:
        label = element.get("aria-label")
        if label or element.tag in _APART:
            return label or ""
        return self.value(element, self.role(element)) if element.tag in ("input", "select", "textarea") else None


class _Writer:
    """Gathers lines while the tree is walked through."""

    def __init__(self, view: View) -> None:
        self.view, self.names = view, _Names(view)
        self.lines = [_Line(0, view.root, f"RootWebArea {_quoted(view.title)} focused: True")]
        self.depth = 1
        self.shown: set[Any] = set()  # elements that have a line
        self.silent: Any = None  # the element inside which nothing is shown
        self.space = True  # does the text so far end with one, or does a line begin?
        self.held: tuple[Any, int, str] | None = None  # a text whose last space counts if more follows

    def begin(self, element: Any) -> None:
        """An element begins: its line, then its text."""
        if element.tag not in _INLINE:
            self.end_of_line()
        if self.silent is not None:
            return
        if element.tag in texts.UNSEEN or element.tag == "head" or element.get("aria-hidden") == "true":
            self.silent = element
            return
        if self._is_seen(element):
            self._show(element)
        if self.silent is None:
            self._text(element, element.text)

    def _is_seen(self, element: Any) -> bool:
        box = self.view.boxes.get(element)
        return box is not None and box.width > 0 and box.height > 0 and self.view.is_visible(element)

    def end(self, node: Any) -> None:
        """An element (or a comment) is over: what comes behind it belongs to its parent."""
        if isinstance(node.tag, str) and node.tag not in _INLINE:
            self.end_of_line()
        if node is self.silent:
            self.silent = None
        if node in self.shown:
            self._let_go()
            self.depth -= 1
        if node is not self.view.root and self.silent is None:
            self._text(node.getparent(), node.tail)

    def _show(self, element: Any) -> None:
        role = self._role(element)
        name = self.names.name(element, role) if role in _NAMED else ""
        if not role and element is self.view.focused:
            name = texts.text_of(element)
        if role in ("table", "group") and len(element) and element[0].tag in ("caption", "legend"):
            name = texts.text_of(element[0])
        name = name or texts.squeezed(element.get("aria-label"), texts.MAX_NAME)
        properties = _properties(element, role, self.view)
        if name or (properties and role != "listitem") or role not in _DROPPED:
            self._let_go()
            self.lines.append(_Line(self.depth, element, " ".join([role or "generic", _quoted(name), *properties])))
            self.shown.add(element)
            self.depth += 1
        if role in _WHOLE or element.tag in ("select", "textarea", "svg", "iframe"):
            self.silent = element
            held = self.view.values.get(element) if element.tag != "select" else ""
            if role in ("textbox", "searchbox", "spinbutton"):
                self._static(element, self.depth, texts.squeezed(held, MAX_TEXT))

    def _role(self, element: Any) -> str:
        tag = element.tag
        if element.get("role") is not None:
            return self.names.role(element)
        if tag == "a" and element.get("href") is None:
            return ""
        if tag in ("header", "footer") and next(element.iterancestors(*_SECTIONS), None) is not None:
            return ""
        if tag == "section" and element.get("aria-label"):
            return "region"
        if tag == "th" and element.getparent().getparent().tag != "thead" and _begins_row(element):
            return "rowheader"
        found = _ROLES.get(tag)
        return self.names.role(element) if found is None else found

    def _text(self, element: Any, text: str | None) -> None:
        if not text or not self._is_seen(element):
            return
        clean = _SPACES.sub(" ", text)[:MAX_TEXT]
        if self.space:
            clean = clean.lstrip(" ")
        if clean:
            self._let_go()
            self.held, self.space = (element, self.depth, clean), clean.endswith(" ")

    def end_of_line(self) -> None:
        """Space at the end of a line is not shown, nor is any at the beginning of the next."""
        if self.held is not None:
            element, depth, text = self.held
            self.held = element, depth, text.rstrip(" ")
        self._let_go()
        self.space = True

    def _let_go(self) -> None:
        if self.held is not None:
            self._static(*self.held)
        self.held = None

    def _static(self, element: Any, depth: int, text: str) -> None:
        """A text, unless it was seen just before."""
        shown = _quoted(text)
        if text.strip() and all(shown[1:-1] not in line.text for line in self.lines[-_BEFORE:]):
            self.lines.append(_Line(depth, element, f"StaticText {shown}"))


def _begins_row(cell: Any) -> bool:
    return cell.getprevious() is None and any(other.tag == "td" for other in cell.itersiblings())


def _properties(element: Any, role: str, view: View) -> list[str]:
    """What Chromium says of an element beside its role and name, in its order."""
    told, tag = [], element.tag
    if role in _LIVE:
        told += [f"live: {_LIVE[role]}", "atomic: True", "relevant: additions text"]
    if element.get("disabled") is not None:
        told.append("disabled: True")
    if element is view.focused:
        told.append("focused: True")
    if role == "dialog":
        told.append(f"modal: {element.get('aria-modal') == 'true'}")
    if tag == "select" or element.get("aria-haspopup") not in (None, "false"):
        told.append("hasPopup: menu")
    if role == "tablist":
        told += ["multiselectable: False", "orientation: horizontal"]
    if role in ("textbox", "spinbutton", "columnheader", "rowheader"):
        told.append(f"required: {element.get('required') is not None or element.get('aria-required') == 'true'}")
    if role == "spinbutton":
        low, high = (element.get(name) or "0" for name in ("min", "max"))
        told += [f"valuemin: {low}", f"valuemax: {high}", f"valuetext: {view.values.get(element, '')}"]
    if role in ("checkbox", "radio", "switch"):
        checked = view.values[element] if element in view.values else element.get("aria-checked") == "true"
        told.append(f"checked: {'true' if checked else 'false'}")
    if tag == "select":
        told.append("expanded: False")
    elif element.get("aria-expanded") in ("true", "false"):
        told.append(f"expanded: {element.get('aria-expanded') == 'true'}")
    if role == "tab":
        told.append(f"selected: {element.get('aria-selected') == 'true'}")
    return told


def _quoted(text: str) -> str:
    return repr(texts.harmless(text))
