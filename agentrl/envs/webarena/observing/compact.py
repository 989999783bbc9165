"""The page in at most 800 tokens, for small models: one short line for each element with an id and each run of text."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from agentrl.envs.common.data_files import data_file
from agentrl.envs.webarena.backend import View
from agentrl.envs.webarena.observing import texts
from agentrl.envs.webarena.observing.texts import header as header_of

MAX_TOKENS = 800
_SURELY = 0.97  # of the tokens are given away: the estimate may be a little low
_CLOSING = 25  # tokens of what is said beside the page: what is missing, why a page could not be shown
_CHROME = frozenset({"nav", "header", "footer", "aside"})
_CELLS = frozenset({"td", "th"})
_KINDS = {"combobox": "select", "searchbox": "textbox", "spinbutton": "textbox"}
_ROWS = frozenset({"tr", "li", "article", "form", "section", "dt", "dd"})
_MAX_KEPT = 200
# A number has a token for each digit, and one for the space before it; signs have at most as many as bytes in UTF-8.
_PIECES = re.compile(r" ?[A-Za-z]+|\.{3}| (?=[^ -~])| (?=[0-9])|[^ A-Za-z]")
# The hundred most frequent pairs of letters in English: words made of other pairs fall apart into more tokens.
_PAIRS = frozenset(
    re.findall(
        "..",
        "erteorstitinthedatesdereanonarhemaentarafondniadnengsecounleelomvealrorilaeaetchhahoceasiltometrntoo"
        "ouicloisaiaceeothilirdcktibeecwillmopawacapersshfisikebaryayweutprnoavdamitsurolvissusrtghgefaigieboam",
    )
)
_MAX_WORD = 30


def token_bound(text: str) -> int:
    """How many SmolLM2 tokens a text has at most, without its tokenizer: an estimate that may be low for a word but not
    for a page, and a tenth too high for most pages. The tests compare it with the tokenizer."""
    total = 0.0
    for piece in _PIECES.findall(text):
        if piece.isascii():
            total += _kept_word_cost(piece) if len(piece) <= _MAX_WORD else _word_cost(piece)
        else:
            total += len(piece.encode("utf-8", "replace"))
    return math.ceil(total)


def _word_cost(piece: str) -> float:
    word = piece[1:] if piece[0] == " " else piece
    size = len(word)
    if size <= 1 or piece in _one_token_pieces():
        return 1
    if not word[1:].islower():  # capitals seldom stand together in a token
        return max(1, 0.8 * size)
    split = 0 if piece[0] == " " or word.islower() else 0.7  # "Paid" at the start of a line is "P" and "aid"
    rare = sum(pair not in _PAIRS for pair in map("".join, pairwise(word.lower())))
    if 2 * rare < size:
        return 1.15 + 0.2 * max(0, size - 4) + 0.3 * rare + split
    return 1.2 * (1 + 0.15 * max(0, size - 4) + 0.5 * rare) + split


_kept_word_cost = lru_cache(maxsize=16_384)(_word_cost)  # pages are made of the same words


@cache
def _one_token_pieces() -> frozenset[str]:
    lists = data_file("agentrl.envs.webarena.observing", "one_token_words.toml")
    return frozenset([*(f" {word}" for word in lists["behind_space"].split()), *lists["elsewhere"].split()])


class _Level(NamedTuple):
    """How much of everything is shown. Dense pages have several elements on a line, and links without the word."""

    text: int  # characters of a run of text
    name: int  # of an element's name
    options: int  # of a list
    chrome: int  # characters in navigation, headers and footers
    dense: bool = False


# The first that fits is taken. Where none does, all elements are shown briefly, and one end of the page in more detail.
_LEVELS = (_Level(400, 120, 20, 60), _Level(200, 80, 12, 40), _Level(120, 60, 8, 30))
_BRIEF = _Level(0, 22, 0, 12, dense=True)
_GRADES = (_Level(30, 30, 0, 14, True), _Level(60, 44, 2, 18, True), _Level(120, 60, 4, 24, True))


@dataclass(slots=True)
class _Item:
    """An element or a run of text."""

    chrome: bool  # part of what is the same on every page: navigation, header, footer
    row: int  # items of one row stand side by side
    text: str  # a run of text, or the name of the element
    label: int | None = None
    kind: str = ""
    value: str = ""
    options: Sequence[str] = ()

    def shown(self, level: _Level) -> str:
        """How it is written."""
        if self.label is None:
            return texts.squeezed(self.text, min(level.text, 2 * level.chrome) if self.chrome else level.text)
        longest = min(level.name, level.chrome) if self.chrome else level.name
        parts = [f"[{self.label}]"] if level.dense and self.kind == "link" else [f"[{self.label}] {self.kind}"]
        name = texts.squeezed(self.text, longest)
        if self.kind == "select":
            value = texts.squeezed(self.value, longest)
            shown = [texts.squeezed(option, level.name) for option in self.options[: level.options]]
            more = f" and {len(self.options) - len(shown)} more" if len(shown) < len(self.options) else ""
            parts.append(f"{name}: {value}" if name else value)
            if shown:
                parts.append(f"| options {', '.join(shown)}{more}")
        else:
            parts += [name] if name else []
            parts += [f"= {texts.squeezed(self.value, longest)}"] if self.value else []
        return " ".join(parts)


def compact_text(view: View, *, header: bool = False, most_tokens: int = MAX_TOKENS) -> str:
    """Elements and texts in view. Where they do not fit, names and texts are shortened. Where that does not help, texts
    are left out from the bottom (at the end of a page from the top: scrolling shows what is missing), then elements of
    navigation, headers and footers, then others. A line says how much is missing."""
    items = _Gatherer(view).items
    above = token_bound(header_of(view)) if header else 0
    above_view, below_view = view.scroll > 0, view.scroll + view.viewport[1] < view.height
    ways = [way for way, there in (("up", above_view), ("down", below_view)) if there]
    scroll = f"(scroll {' or '.join(ways)} for more)" if ways else ""
    told = above + token_bound(f"{texts.squeezed(view.error, 300)} {scroll}") + _CLOSING
    lines = _fitted(items, round(_SURELY * most_tokens) - told, at_end=above_view and not below_view)
    return texts.under_header(view, texts.written("\n".join([*lines, scroll] if scroll else lines)), header)


def _fitted(items: list[_Item], room: int, at_end: bool) -> list[str]:
    for level in _LEVELS:
        pieces, costs = _written_at(level, items)
        if sum(costs) + len(items) <= room:  # a line break each
            return pieces
    pieces, costs = _written_at(_BRIEF, items)
    costs = [0 if item.label is None else cost for item, cost in zip(items, costs, strict=True)]
    room -= len({item.row for item in items if item.label is not None})  # line breaks
    gone: set[int] = set()  # the elements that must be left out for the others to fit
    total = sum(costs)
    labelled = [place for place, item in enumerate(items) if item.label is not None]
    for place in sorted(labelled, key=lambda place: (not items[place].chrome, -place)):
        if total <= room:
            break
        gone.add(place)
        total -= costs[place]
    room -= sum(cost for place, cost in enumerate(costs) if place not in gone)
    order = sorted(range(len(items)), key=lambda place: (items[place].chrome, -place if at_end else place))
    told = _tell_more(items, pieces, costs, order, room) if not gone else set()
    gone |= {place for place, item in enumerate(items) if item.label is None and place not in told}
    lines: list[str] = []
    row = -1
    for place, item in enumerate(items):
        if place in gone:
            continue
        if item.row == row and item.label is not None:  # neighbours of a row stand on one line
            lines[-1] += " " + pieces[place]
        else:
            lines.append(pieces[place])
        row = item.row
    elements = sum(items[place].label is not None for place in gone)
    return [*lines, f"({elements} elements and {len(gone) - elements} texts left out)"] if gone else lines


def _written_at(level: _Level, items: list[_Item]) -> tuple[list[str], list[int]]:
    """Every item as text, and what it costs."""
    pieces = [texts.harmless(item.shown(level)) for item in items]
    return pieces, [_kept_cost(piece) if len(piece) <= _MAX_KEPT else token_bound(piece) for piece in pieces]


def _tell_more(items: list[_Item], pieces: list[str], costs: list[int], order: Sequence[int], room: int) -> set[int]:
    """Replace pieces by longer ones as long as there is room: first a little of everything, then more, each time in
    this order. Which were replaced."""
    told: set[int] = set()
    for grade in _GRADES:
        longer, prices = _written_at(grade, items)
        for place in order:
            price = prices[place] + (items[place].label is None)  # a text needs a line break
            if price - costs[place] <= room:
                room -= price - costs[place]
                pieces[place], costs[place] = longer[place], price
                told.add(place)
            elif items[place].label is None:
                break  # what comes behind is not told in this detail
    return told


_kept_cost = lru_cache(maxsize=8_192)(token_bound)  # pages of a site share most of their lines


class _Gatherer:
    """Gathers lines while the tree is walked through."""

    def __init__(self, view: View) -> None:
        self.view, self.names = view, texts.Names(view)
        self.items: list[_Item] = []
        self.run: list[str] = []  # pieces of the text that the next line will have
        self.row = 0  # changes where another row, list entry or part of the page begins
        self.chrome = 0  # how many headers, navigations and the like we are inside of
        self.silent: Any = None  # the element inside which texts are not shown
        self.seen: dict[tuple[str, str], int] = {}  # links by address and name: pictures link where titles do
        self.field_labels = texts.labels_of_fields(view, self.names)
        for begins, node in texts.walk(view.root):
            (self._begin if begins else self._end)(node)
        self._flush()

    def _begin(self, element: Any) -> None:
        tag = element.tag
        if tag in _ROWS or tag in _CHROME:
            self._flush()
            self.row += 1
            self.chrome += tag in _CHROME
        elif tag in _CELLS:
            self._piece("|" if self.run else "")
        elif tag not in texts.INLINE:
            self._flush()
        label = self.view.ids.get(element)
        if label is not None:
            self._flush()
            role = self.names.role(element) or "element"
            kind = _KINDS.get(role, role)
            name, value = self.names.name(element, role), self.names.value(element, role)
            item = _Item(self.chrome > 0, self.row, name, label, kind, value)
            if kind in ("checkbox", "radio"):
                item.value = "on" if self.view.values.get(element) else ""
            elif kind == "select":
                item.options = [texts.squeezed("".join(option.itertext()), 120) for option in element.iter("option")]
            elif kind == "link" and name:
                first = self.seen.setdefault((element.get("href", ""), name), label)
                item.text = name if first == label else f"same as {first}"
            self.items.append(item)
        hides = label is not None or tag in texts.UNSEEN or tag in ("head", "select") or element in self.field_labels
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
        if isinstance(tag, str) and tag not in texts.INLINE and tag not in _CELLS:
            self._flush()
            self.chrome -= tag in _CHROME
            self.row += tag in _ROWS or tag in _CHROME
        if node is not self.view.root and node.tail and self.view.is_visible(node.getparent()):
            self._piece(node.tail)

    def _piece(self, text: str | None) -> None:
        if text and self.silent is None and not text.isspace():
            self.run.append(text)

    def _flush(self) -> None:
        if self.run:
            text = texts.squeezed(" ".join(self.run), 2_000).strip("| ")
            if text and text != "#":
                self.items.append(_Item(self.chrome > 0, self.row, text))
            self.run = []
