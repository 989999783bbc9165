"""The modes by name, and the short ones: the page's whole HTML, a list of what the marks in a picture stand for,
nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from lxml import html

from agentrl.envs.webarena.backend import View
from agentrl.envs.webarena.layout.page import INNERMOST, LINES, WHOLE
from agentrl.envs.webarena.observing.accessibility import accessibility_tree
from agentrl.envs.webarena.observing.compact import compact_text
from agentrl.envs.webarena.observing.simplified import simplified_html
from agentrl.envs.webarena.observing.texts import Names, harmless, squeezed, under_header, without_marks

MAX_NAME = 60
MAX_LINES = 300


def raw_html(view: View, *, header: bool = False) -> str:
    """The document as it came. What was typed is not in it, as in a page's source."""
    text = str(html.tostring(view.root, encoding="unicode", method="html", with_tail=False))
    return under_header(view, without_marks(text), header)


def marked_list(view: View, *, header: bool = False) -> str:
    """Lines such as `[12] a Checkout` and `[3] input "lamp" Search`: id, tag, contents of a field, name."""
    names = Names(view)
    lines = []
    for number, element in enumerate(view.labels[:MAX_LINES]):
        role = names.role(element)
        kind = (element.get("type") or "").lower() if element.tag == "input" else ""
        parts = [f"[{number}]", kind if kind in ("checkbox", "radio", "submit") else str(element.tag)]
        value = names.value(element, role)
        if kind in ("checkbox", "radio"):
            parts.append("(checked)" if view.values.get(element) else "(not checked)")
        elif value:
            parts.append(f'"{squeezed(value, MAX_NAME)}"')
        lines.append(" ".join([*parts, squeezed(names.name(element, role), MAX_NAME)]).rstrip())
    if len(view.labels) > MAX_LINES:
        lines.append(f"... and {len(view.labels) - MAX_LINES} more")
    return under_header(view, harmless("\n".join(lines)), header)


def nothing(view: View, *, header: bool = False) -> str:
    """No text: the picture says it all."""
    return under_header(view, "", header)


class Mode(NamedTuple):
    """How a mode writes a page and, unless said otherwise, whether tabs and address stand above it and which elements
    have ids."""

    write: Callable[..., str]
    header: bool
    labelling: str


MODES: dict[str, Mode] = {
    "simplified": Mode(simplified_html, False, INNERMOST),
    "accessibility": Mode(accessibility_tree, True, LINES),
    "html": Mode(raw_html, False, INNERMOST),
    "compact": Mode(compact_text, False, WHOLE),
    "marks": Mode(marked_list, False, WHOLE),
    "none": Mode(nothing, False, WHOLE),
}
EXPLANATIONS = {
    "simplified": "You see the part of the page that is in view as HTML; what you can act on has an id.",
    "accessibility": "You see what is in view of the page as a tree; what you can act on has an id in brackets.",
    "compact": "You see what is in view of the page line by line; what you can act on has an id in brackets.",
    "html": "You see the HTML of the whole page. What is in view and can be acted on is counted from 0, in order.",
    "marks": "Below it is a list of what you can act on: id, tag and text.",
    "none": "",
}
BESIDE_PICTURES = ("marks", "none")  # say too little without a picture


def observe(view: View, mode: str = "simplified", *, header: bool | None = None) -> str:
    """The page as text. Equal views, such as the start pages of many episodes, are written once."""
    default = MODES[mode].header
    return _written(_Shown(view), mode, default if header is None else header)


class _Shown:
    """A view that equals every other one in which an agent would see the same."""

    def __init__(self, view: View) -> None:
        self.view = view
        contents = tuple(view.values.values())
        where = view.url, view.tabs, view.active, view.scroll, view.viewport
        self._facts = (view.root, view.labels, contents, view.focused, where, view.status, view.error)
        self._hash = hash(self._facts)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Shown) and self._facts == other._facts


@lru_cache(maxsize=128)
def _written(shown: _Shown, mode: str, header: bool) -> str:
    return MODES[mode].write(shown.view, header=header)
