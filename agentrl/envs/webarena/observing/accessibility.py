"""The page as an accessibility tree in text, as WebArena shows it: roles and names, indented by tabs."""

from __future__ import annotations

from typing import Any

from agentrl.envs.webarena.backend import View
from agentrl.envs.webarena.observing import texts

DEEPEST = 40  # tabs before a line; a page nested deeper is shown as if it were not
MAX_TEXT = 1_000


def accessibility_tree(view: View, *, header: bool = True) -> str:
    """Elements in view. Only those an agent can act on have an id in brackets."""
    writer = _Writer(view)
    for begins, node in texts.walk(view.root):
        if begins:
            writer.begin(node)
        else:
            writer.end(node)
    return texts.under_header(view, "\n".join(writer.lines), header)


class _Writer:
    """Writes lines while the tree is walked through."""

    def __init__(self, view: View) -> None:
        self.view, self.names = view, texts.Names(view)
        root = f"RootWebArea {_quoted(view.title)}{'' if view.focused is not None else ' focused: True'}"
        self.lines = [root]
        self.holds_labels = texts.labelled_ancestors(view)
        self.field_labels = texts.labels_of_fields(view, self.names)
        self.depth = 1
        self.shown: set[Any] = set()  # elements that have a line, or will have one with their first contents
        self.waiting: list[tuple[Any, int, str]] = []  # containers whose line is written with their first contents
        self.silent: Any = None  # the element inside which texts are not shown: its name has them, or it is hidden

    def begin(self, element: Any) -> None:
        """An element begins: its line, then its text."""
        if element.tag in texts.UNSEEN or element.tag == "head":
            self._be_silent(element)
            return
        label = self.view.ids.get(element)
        in_view = label is not None or self.view.is_visible(element)
        if in_view and (label is not None or self.silent is None):
            self._show(element, label)
        if element.get("aria-hidden") == "true":
            self._be_silent(element)
        if in_view:
            self._text(element.text)

    def end(self, node: Any) -> None:
        """An element (or a comment) is over: what comes behind it belongs to its parent."""
        if node is self.silent:
            self.silent = None
        if node in self.shown:
            self.depth -= 1
            if self.waiting and self.waiting[-1][0] is node:
                self.waiting.pop()
        parent = node.getparent() if node is not self.view.root else None
        if node.tail and parent is not None and (parent in self.view.ids or self.view.is_visible(parent)):
            self._text(node.tail)

    def _show(self, element: Any, label: int | None) -> None:
        role = self.names.role(element)
        if label is None and (not role or (role == "img" and not self.names.name(element, role))):
            return
        if label is None and role == "LabelText":
            if element in self.field_labels:
                self._be_silent(element)
            return
        by_content = role in texts.FROM_CONTENT and element not in self.holds_labels
        has_name = label is not None or by_content or role in texts.FIELDS
        if has_name or role == "img":
            self._line(f"{_line(element, role or 'generic', label, self.names)}")
            self._be_silent(element)
            if element.tag == "select":
                chosen = texts.chosen_option(element, self.view)
                for option in element.iter("option"):
                    mark = " selected: True" if option is chosen else ""
                    text = texts.squeezed("".join(option.itertext()), texts.MAX_NAME)
                    self.lines.append("\t" * min(self.depth + 1, DEEPEST) + f"option {_quoted(text)}{mark}")
        else:
            name = self.names.name(element, role) if role not in texts.FROM_CONTENT else ""
            self.waiting.append((element, self.depth, f"{role} {_quoted(name)}" if name else role))
        self.shown.add(element)
        self.depth += 1

    def _text(self, text: str | None) -> None:
        if self.silent is None and text and (clean := texts.squeezed(text, MAX_TEXT)):
            self._line(f"StaticText {_quoted(clean)}")

    def _line(self, line: str) -> None:
        for _, depth, waiting in self.waiting:
            self.lines.append("\t" * min(depth, DEEPEST) + waiting)
        self.waiting.clear()
        self.lines.append("\t" * min(self.depth, DEEPEST) + line)

    def _be_silent(self, element: Any) -> None:
        self.silent = element if self.silent is None else self.silent


def _line(element: Any, role: str, label: int | None, names: texts.Names) -> str:
    parts = [] if label is None else [f"[{label}]"]
    parts += [role, _quoted(names.name(element, role))]
    value = names.value(element, role)
    if value:
        parts.append(f"value: {_quoted(value)}")
    view = names.view
    if element is view.focused:
        parts.append("focused: True")
    if element.tag == "select" or element.get("aria-haspopup"):
        parts.append("hasPopup: menu")
    if element.get("aria-expanded") in ("true", "false"):
        parts.append(f"expanded: {element.get('aria-expanded') == 'true'}")
    if role in ("checkbox", "radio", "switch"):
        checked = view.values[element] if element in view.values else element.get("aria-checked") == "true"
        parts.append(f"checked: {'true' if checked else 'false'}")
    if element.get("required") is not None or element.get("aria-required") == "true":
        parts.append("required: True")
    if element.get("disabled") is not None:
        parts.append("disabled: True")
    return " ".join(parts)


def _quoted(text: str) -> str:
    return repr(texts.harmless(text))
