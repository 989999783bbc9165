"""The page in at most 800 tokens, for small models: one short line for each element with an id and each run of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentrl.envs.webarena.browsing.view import View
from agentrl.envs.webarena.observing.names import Names, labels_of_fields
from agentrl.envs.webarena.observing.texts import UNSEEN, harmless, squeezed, under_header, walk, written
from agentrl.envs.webarena.observing.texts import header as header_of
from agentrl.envs.webarena.observing.tokens import token_bound

MOST_TOKENS = 800
_SURELY = 0.97  # of the tokens are given away: the estimate may be a little low
_CLOSING = 25  # tokens of what is said beside the page: what is missing, why a page could not be shown
_CHROME = frozenset({"nav", "header", "footer", "aside"})
_INLINE = frozenset({"a", "abbr", "b", "bdi", "cite", "code", "em", "font", "i", "kbd", "label", "mark", "q", "s"})
_INLINE |= {"samp", "small", "span", "strong", "sub", "sup", "time", "u", "var"}
_CELLS = frozenset({"td", "th"})
_KINDS = {"combobox": "select", "searchbox": "textbox", "spinbutton": "textbox"}
# How long texts, names and lists of options may be; the first that fits is taken.
_LEVELS = ((400, 120, 20), (200, 80, 12), (120, 60, 8), (80, 40, 4), (50, 28, 2), (30, 18, 0))


@dataclass(slots=True)
class _Item:
    """One line to be."""

    chrome: bool  # part of what is the same on every page: navigation, header, footer
    text: str  # a run of text, or the name of the element
    label: int | None = None
    kind: str = ""
    value: str = ""
    options: Sequence[str] = ()

    def line(self, longest_text: int, longest_name: int, most_options: int) -> str:
        if self.label is None:
            return squeezed(self.text, longest_text)
        parts = [f"[{self.label}] {self.kind}"]
        name = squeezed(self.text, longest_name)
        if self.kind == "select":
            parts.append(
                f"{name}: {squeezed(self.value, longest_name)}" if name else squeezed(self.value, longest_name)
            )
            shown = [squeezed(option, longest_name) for option in self.options[:most_options]]
            if shown:
                more = f" and {len(self.options) - len(shown)} more" if len(shown) < len(self.options) else ""
                parts.append(f"| options {', '.join(shown)}{more}")
        else:
            parts += [name] if name else []
            parts += [f"= {squeezed(self.value, longest_name)}"] if self.value else []
        return " ".join(parts)


def compact_text(view: View, *, header: bool = False, most_tokens: int = MOST_TOKENS) -> str:
    """Elements and texts in view. Where they do not fit, texts are shortened first, then left out, then what stands in
    navigation, headers and footers, then elements from the end; the last line says how much is missing."""
    items = _Gatherer(view).items
    above = token_bound(header_of(view)) if header else 0
    scroll = _scroll_line(view)
    told = above + token_bound(f"{squeezed(view.error, 300)} {scroll}") + _CLOSING
    lines = _fitted(items, round(_SURELY * most_tokens) - told)
    return under_header(view, written("\n".join([*lines, scroll] if scroll else lines)), header)


def _scroll_line(view: View) -> str:
    ways = [way for way, there in (("up", view.scroll > 0), ("down", _is_more_below(view))) if there]
    return f"(scroll {' or '.join(ways)} for more)" if ways else ""


def _is_more_below(view: View) -> bool:
    return view.scroll + view.viewport[1] < view.height


def _fitted(items: list[_Item], room: int) -> list[str]:
    lines: list[str] = []
    costs: list[int] = []
    for level in _LEVELS:
        lines = [harmless(item.line(*level)) for item in items]
        costs = [token_bound(line) + 1 for line in lines]
        if sum(costs) <= room:
            return lines
    return _cut(items, lines, costs, room)


def _cut(items: list[_Item], lines: list[str], costs: list[int], room: int) -> list[str]:
    """Leave lines out, the least useful first, until the rest fits."""
    order = sorted(range(len(items)), key=lambda place: (_worth(items[place]), -place))
    total, gone = sum(costs), set()
    for place in order:
        if total <= room:
            break
        gone.add(place)
        total -= costs[place]
    kept = [line for place, line in enumerate(lines) if place not in gone]
    elements = sum(items[place].label is not None for place in gone)
    return [*kept, f"({elements} elements and {len(gone) - elements} texts left out)"]


def _worth(item: _Item) -> int:
    return (0 if item.chrome else 1) if item.label is None else (2 if item.chrome else 3)


class _Gatherer:
    """Gathers lines while the tree is walked through."""

    def __init__(self, view: View) -> None:
        self.view, self.names = view, Names(view)
        self.items: list[_Item] = []
        self.run: list[str] = []  # pieces of the text that the next line will have
        self.chrome = 0  # how many headers, navigations and the like we are inside of
        self.silent: Any = None  # the element inside which texts are not shown
        self.seen: dict[tuple[str, str], int] = {}  # links by address and name: pictures link where titles do
        self.field_labels = labels_of_fields(view, self.names)
        for begins, node in walk(view.root):
            (self._begin if begins else self._end)(node)
        self._flush()

    def _begin(self, element: Any) -> None:
        tag = element.tag
        if tag in _CHROME:
            self._flush()
            self.chrome += 1
        elif tag in _CELLS:
            self._piece("|" if self.run else "")
        elif tag not in _INLINE:
            self._flush()
        label = self.view.ids.get(element)
        if label is not None:
            self._flush()
            self.items.append(self._item(element, label))
        hides = label is not None or tag in UNSEEN or tag in ("head", "select") or element in self.field_labels
        if self.silent is None and (hides or element.get("aria-hidden") == "true"):
            self.silent = element
        if tag[0] == "h" and tag[1:].isdigit():
            self._piece("#")
        if self.view.is_visible(element):
            self._piece(element.text)

    def _end(self, node: Any) -> None:
        tag = node.tag
        if node is self.silent:
            self.silent = None
        if isinstance(tag, str) and tag not in _INLINE and tag not in _CELLS:
            self._flush()
            self.chrome -= tag in _CHROME
        if node is not self.view.root and node.tail and self.view.is_visible(node.getparent()):
            self._piece(node.tail)

    def _piece(self, text: str | None) -> None:
        if text and self.silent is None and not text.isspace():
            self.run.append(text)

    def _flush(self) -> None:
        if self.run:
            text = squeezed(" ".join(self.run), 2_000).strip("| ")
            if text and text != "#":
                self.items.append(_Item(self.chrome > 0, text))
            self.run = []

    def _item(self, element: Any, label: int) -> _Item:
        role = self.names.role(element) or "element"
        kind = _KINDS.get(role, role)
        item = _Item(self.chrome > 0, self.names.name(element, role), label, kind, self.names.value(element, role))
        if kind in ("checkbox", "radio"):
            item.value = "on" if self.view.values.get(element) else "off"
        elif kind == "select":
            item.options = [squeezed("".join(option.itertext()), 120) for option in element.iter("option")]
        elif kind == "link" and item.text:
            first = self.seen.setdefault((element.get("href", ""), item.text), label)
            item.text = item.text if first == label else f"same as {first}"
        return item
