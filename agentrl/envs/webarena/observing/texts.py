"""What the modes share: clean strings, the lines above a page, a walk through the tree without recursion, and what
assistive technology would call an element: its role and its name, by a subset of the rules for accessible names, and
what it holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from agentrl.envs.webarena.backend import View
from agentrl.envs.webarena.layout.document import option_value

UNSEEN = frozenset({"script", "style", "template", "noscript"})  # what they hold is no text of the page
# Where a text goes on in the same line; other elements begin and end one.
INLINE = frozenset({"a", "abbr", "b", "bdi", "cite", "code", "em", "font", "i", "kbd", "label", "mark", "q", "s"})
INLINE |= {"samp", "small", "span", "strong", "sub", "sup", "time", "u", "var"}
MAX_ADDRESS = 300
# "<" before any of these could begin a tag: the mark of a picture, the end of a chat message.
_TAG_LIKE = re.compile(r"<(?=[A-Za-z/|!?_])")
# Where tags are meant: inside attributes and scripts "<" may stand unescaped.
_MARKS = re.compile(r"<(?=image\s*/?>|\|)", re.IGNORECASE)


def squeezed(text: str | None, longest: int | None = None) -> str:
    """The text with single spaces, cut with "..." where it is too long."""
    if not text:
        return ""
    # A field may hold a megabyte: of words that are cut anyway only the first ones are looked at.
    clean = " ".join(text.split() if longest is None else text.split(None, longest)[: longest + 1])
    return clean if longest is None or len(clean) <= longest else clean[: max(longest - 3, 1)].rstrip() + "..."


def harmless(text: str) -> str:
    """The text without anything that could pass for a tag; "a < b" stays."""
    return _TAG_LIKE.sub("&lt;", text) if "<" in text else text


def without_marks(text: str) -> str:
    """HTML in which nothing passes for the mark of a picture or of a chat; the rest stays as it is."""
    return _MARKS.sub("&lt;", text) if "<image" in text.lower() or "<|" in text else text


def written(text: str) -> str:
    """The text without what UTF-8 cannot hold (a field may contain half a surrogate pair)."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def header(view: View) -> str:
    """The open tabs and the address, as WebArena's prompts show them."""
    tabs = []
    for number, tab in enumerate(view.tabs):
        tabs.append(f"Tab {number}{' (current)' if number == view.active else ''}: {squeezed(tab.title, 100)}")
    return harmless(f"{' | '.join(tabs)}\nURL: {squeezed(view.url, MAX_ADDRESS)}")


def under_header(view: View, text: str, with_header: bool) -> str:
    """The page below its tabs and address, if these are wanted, and below the reason why it could not be shown."""
    lines = [header(view)] if with_header else []
    if view.error:
        lines.append(harmless(f"This page could not be shown: {squeezed(view.error, 300)}"))
    return written("\n".join([*lines, text]))


def walk(root: Any) -> Iterator[tuple[bool, Any]]:
    """Every element twice: (True, element) where it begins, (False, element) where it ends. Comments come once, as
    (False, comment): their tails are text of the page."""
    stack: list[Any] = []
    for node in root.iter():
        parent = node.getparent()
        while stack and stack[-1] is not parent:
            yield False, stack.pop()
        if isinstance(node.tag, str):
            stack.append(node)
            yield True, node
        else:
            yield False, node
    while stack:
        yield False, stack.pop()


def chosen_option(select: Any, view: View) -> Any:
    """The <option> that a <select> shows; None if it has none."""
    value = view.values.get(select)
    first = None
    for option in select.iter("option"):
        if value is not None and option_value(option) == value:
            return option
        first = option if first is None else first
    return first


MAX_NAME = 300
_MAX_STEPS = 400  # that a name is gathered from: links inside links inside links ... must not cost their square
_BUTTONS = {"submit": "Submit", "reset": "Reset", "button": "", "image": "Submit"}
_INPUTS = {**dict.fromkeys(_BUTTONS, "button"), "file": "button", "checkbox": "checkbox", "radio": "radio"}
_INPUTS |= {"search": "searchbox", "number": "spinbutton", "range": "slider", "hidden": ""}
_ROLES = {
    **{"a": "link", "area": "link", "button": "button", "textarea": "textbox", "select": "combobox"},
    **{f"h{level}": "heading" for level in range(1, 7)},
    **{"img": "img", "svg": "img", "table": "table", "tr": "row", "td": "cell", "th": "columnheader"},
    **{"label": "LabelText", "option": "option"},
    **{"ul": "list", "ol": "list", "li": "listitem", "dl": "list", "dt": "term", "dd": "definition"},
    **{"nav": "navigation", "main": "main", "header": "banner", "footer": "contentinfo", "aside": "complementary"},
    **{"article": "article", "fieldset": "group", "summary": "button", "iframe": "Iframe", "dialog": "dialog"},
    **{"blockquote": "blockquote", "progress": "progressbar", "meter": "meter", "video": "Video", "form": "form"},
}  # fmt: skip
# Those whose name is the text inside them.
FROM_CONTENT = frozenset(
    {"link", "button", "heading", "cell", "columnheader", "rowheader", "gridcell", "option", "tab"}
)
FROM_CONTENT |= {"listitem", "term", "definition", "LabelText", "menuitem", "treeitem", "tooltip", "switch", "caption"}
FIELDS = frozenset({"textbox", "searchbox", "spinbutton", "combobox", "slider", "checkbox", "radio", "switch"})
_NO_ROLES = ("", "presentation", "none", "generic")
MAX_TOLD = 60  # characters of an element's name in `info["told_actions"]`


def told(action: str, view: View, element: int | None) -> str:
    """An action in words: with the name of the element of this view that it is done to. Ids change from page to page,
    and a reader of the history has no page."""
    if element is None or not 0 <= element < len(view.labels):
        return action
    names, chosen = Names(view), meant(view.labels[element])
    name = names.name(chosen, names.role(chosen))[:MAX_TOLD]
    return f"{action} ({name})" if name else action


def meant(element: Any) -> Any:
    """What a click on the element is for: the link or button around it, if it stands in one; else the element."""
    return next((around for around in (element, *element.iterancestors()) if around.tag in ("a", "button")), element)


class Names:
    """Roles and names of the elements of one view."""

    def __init__(self, view: View) -> None:
        self.view = view
        self._labels: dict[str, Any] | None = None

    def role(self, element: Any) -> str:
        """The role; empty for elements that only hold others."""
        given = element.get("role")
        if given is not None:
            first = given.split()[0] if given.split() else ""
            return "" if first in _NO_ROLES else first if first.isalpha() else ""
        tag = element.tag
        if tag == "input":
            return _INPUTS.get(element.get("type", "text").lower(), "textbox")
        if tag == "a" and element.get("href") is None and element not in self.view.ids:
            return ""
        if tag == "form":
            return "form" if element.get("aria-label") else ""
        return _ROLES.get(tag, "")

    def name(self, element: Any, role: str) -> str:
        """The name; empty if it has none."""
        others = element.get("aria-labelledby")
        if others:
            # As a variable: the name may hold quotation marks.
            found = [self.view.root.xpath("//*[@id = $name]", name=name)[:1] for name in others.split()[:5]]
            text = " ".join(text_of(other) for first in found for other in first)
            if text:
                return squeezed(text, MAX_NAME)
        name, tag = squeezed(element.get("aria-label"), MAX_NAME), element.tag
        is_field = tag in ("input", "select", "textarea")
        if name:
            return name
        if tag == "img":
            name = squeezed(element.get("alt"), MAX_NAME)
        elif tag == "input" and role == "button":
            kind = element.get("type", "").lower()
            name = squeezed(element.get("value") or element.get("alt") or _BUTTONS.get(kind), MAX_NAME)
        elif is_field:
            label = self.label_of(element)
            name = "" if label is None else text_of(label, lambda node: "" if node is element else None)
        if not name and (role in FROM_CONTENT or element in self.view.ids):
            name = "" if is_field else self.content(element)
        elif not name and tag in ("table", "fieldset"):
            first = next(iter(element), None)
            name = text_of(first) if first is not None and first.tag in ("caption", "legend") else ""
        return name or squeezed(element.get("title") or element.get("placeholder"), MAX_NAME)

    def content(self, element: Any) -> str:
        """The name that comes of what an element holds."""
        return text_of(element)

    def label_of(self, field: Any) -> Any:
        """The <label> of a form field; None if it has none."""
        if self._labels is None:
            self._labels = {}
            for label in self.view.root.iter("label"):
                self._labels.setdefault(label.get("for", ""), label)
        found = self._labels.get(field.get("id") or "\0")
        if found is not None or "" not in self._labels:
            return found
        parent = field.getparent()
        for _ in range(5):  # a label stands close around its field
            if parent is None or parent.tag == "label":
                return parent
            parent = parent.getparent()
        return None

    def value(self, element: Any, role: str) -> str:
        """What a field holds: text, or the text of the chosen option."""
        if element.tag == "select":
            option = chosen_option(element, self.view)
            return "" if option is None else squeezed("".join(option.itertext()), MAX_NAME)
        if role in ("textbox", "searchbox", "spinbutton", "slider"):
            return squeezed(self.view.values.get(element), MAX_NAME)
        return ""


def text_of(element: Any, instead: Callable[[Any], str | None] = lambda node: None) -> str:
    """The text inside an element, with the alternative texts of pictures; cut where it is very long. `instead` may give
    the text of an element in it, in place of what that holds."""
    if not len(element):
        return squeezed(element.get("alt") if element.tag == "img" else element.text, MAX_NAME)
    parts: list[str] = []
    length = 0
    hidden: Any = None
    for count, (begins, node) in enumerate(walk(element)):
        if length > MAX_NAME or count > _MAX_STEPS:
            break
        piece = node.tail if not begins else node.get("alt") if node.tag == "img" else node.text
        if begins and hidden is None and node is not element:
            given = "" if node.tag in UNSEEN else instead(node)
            if given is not None:
                hidden, piece = node, given
        elif hidden is not None and (begins or node is not hidden):
            continue
        elif not begins:
            hidden = None
        if isinstance(node.tag, str) and node.tag not in INLINE:
            parts.append(" ")
        if piece and (begins or node is not element):
            parts.append(piece)
            length += len(piece)
    return squeezed("".join(parts), MAX_NAME)


def labels_of_fields(view: View, names: Names) -> set[Any]:
    """The <label> elements whose text is the name of a field in view: it need not be shown twice."""
    fields = (element for element in view.labels if element.tag in ("input", "select", "textarea"))
    return {label for label in map(names.label_of, fields) if label is not None and label not in view.ids}
