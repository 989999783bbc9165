"""Positions written as a dictionary or as a drawing, alone or in the middle of a text."""

from __future__ import annotations

import re
from typing import NamedTuple

from agentrl.judges.grammar.vocabulary import Vocabulary
from agentrl.judges.relations import Cell, Relation, between

MAX_OBJECTS = 256

_SPACES = str.maketrans("", "", " \t|,'\"`")
_PART = re.compile(
    r"([A-Za-z][A-Za-z_0-9]{0,40})[\"']?\s*[:=]"
    r"|[\[(]\s*(-?\d{1,4})\s*,\s*(-?\d{1,4})\s*[\])]"
    r"|(?<![\w.])(-?\d{1,4})(?![\w.])"
)
_AXES = {"row": 0, "r": 0, "y": 0, "col": 1, "column": 1, "c": 1, "x": 1}
_NEUTRAL = frozenset(
    ("position", "positions", "pos", "location", "locations", "cell", "cells", "coordinates", "coordinate")
)

Cells = dict[str, list[Cell]]


class Notation(NamedTuple):
    """The claims of each dictionary and drawing of a text, and the text without them."""

    sources: list[list[Relation]]
    rest: str


def read_notation(text: str, vocabulary: Vocabulary) -> Notation:
    """Find drawings and dictionaries of positions; what is neither stays in `rest`."""
    sources: list[list[Relation]] = []
    if "\n" in text and vocabulary.drawn_row is not None:
        text = _take_drawings(text, vocabulary, sources)
    if "{" not in text:
        return Notation(sources, text)
    # Outermost braces one after the other; an unclosed one reaches to the end.
    rest, start, depth, last = [], 0, 0, 0
    for mark in re.finditer(r"[{}]", text):
        depth += 1 if mark.group() == "{" else -1
        if depth == 1 and mark.group() == "{":
            start = mark.start()
        elif depth <= 0:
            if depth == 0:
                last = _take_dictionary(text, last, start, mark.end(), vocabulary, sources, rest)
            depth = 0
    if depth > 0:
        last = _take_dictionary(text, last, start, len(text), vocabulary, sources, rest)
    return Notation(sources, " ".join([*rest, text[last:]]))


def _claims(cells: Cells, vocabulary: Vocabulary) -> list[Relation]:
    """Every thing seen from the origin; an origin in two places voids them all."""
    origins = set(cells.get(vocabulary.relations.origin.name, ()))
    if not origins:
        return []
    found = [(name, cell) for name in vocabulary.names for cell in dict.fromkeys(cells.get(name, ()))][:MAX_OBJECTS]
    if len(origins) > 1:
        return [Relation(name) for name, _ in found]
    origin = origins.pop()
    return [between(name, cell, origin) for name, cell in found]


# ---------------------------------------------------------------------- drawings


def _take_drawings(text: str, vocabulary: Vocabulary, sources: list[list[Relation]]) -> str:
    fits, rest, block = vocabulary.drawn_row, [], []
    assert fits is not None  # asked before
    for line in [*text.split("\n"), "end."]:
        row = line.translate(_SPACES)
        if fits.fullmatch(row):
            block.append((row, line))
            continue
        cells = Cells()
        for r, (drawn, _) in enumerate(block[:64]):
            for c, symbol in enumerate(drawn):
                for name in vocabulary.relations.symbols[symbol]:
                    cells.setdefault(name, []).append((r, c))
        if len(block) > 1 and (claims := _claims(cells, vocabulary)):
            sources.append(claims)
            rest.append("")
        else:
            rest += [line for _, line in block]
        block = []
        rest.append(line)
    return "\n".join(rest[:-1])


# ---------------------------------------------------------------------- dictionaries


def _take_dictionary(
    text: str, last: int, start: int, end: int, vocabulary: Vocabulary, sources: list[list[Relation]], rest: list[str]
) -> int:
    """Read the positions under the keys that they follow: pairs, or a row and a column by name."""
    cells, name, axis, half = Cells(), None, None, {}
    for key, row, column, number in _PART.findall(text[start:end]):
        if key:
            word = key.lower()
            axis = _AXES.get(word)
            if axis is None and word not in _NEUTRAL:
                # The first thing of which the key contains a word.
                key_words = vocabulary.relations.key_words
                things = (thing for thing, words in key_words if any(part in word for part in words))
                name, half = next(things, None), {}
        elif name is None:
            continue
        elif row:
            cells.setdefault(name, []).append((int(row), int(column)))
        elif axis is not None:
            half[axis] = int(number)
            if len(half) == 2:
                cells.setdefault(name, []).append((half[0], half[1]))
                half = {}
    claims = _claims(cells, vocabulary)
    if not claims:
        return last
    sources.append(claims)
    rest.append(text[last:start])
    return end
