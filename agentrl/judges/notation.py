"""Positions written as a dictionary or as a drawing, alone or in the middle of a text."""

from __future__ import annotations

import re
from typing import NamedTuple

from agentrl.judges.relations import CLASSES, Cell, Game, Relation, between

MAX_OBJECTS = 256  # a lake of 32 by 32 tiles has about 200 holes

_SYMBOLS: dict[Game, dict[str, tuple[str, ...]]] = {
    "sokoban": {
        **{symbol: () for symbol in "#_.-"},
        "O": ("target",),
        "X": ("box",),
        "P": ("player",),
        "*": ("box", "target"),
        "S": ("player", "target"),
    },
    "frozenlake": {
        **{symbol: () for symbol in "_.-"},
        "O": ("hole",),
        "G": ("target",),
        "P": ("player",),
        "X": ("player", "hole"),
        "*": ("player", "target"),
    },
}
_ROWS = {game: re.compile(f"[{re.escape(''.join(symbols))}]{{2,64}}") for game, symbols in _SYMBOLS.items()}
_SPACES = str.maketrans("", "", " \t|,'\"`")
_PART = re.compile(
    r"([A-Za-z][A-Za-z_0-9]{0,40})[\"']?\s*[:=]"
    r"|[\[(]\s*(-?\d{1,4})\s*,\s*(-?\d{1,4})\s*[\])]"
    r"|(?<![\w.])(-?\d{1,4})(?![\w.])"
)
_KEYS = (  # what a key that contains the word is about; the first that fits
    ("player", ("player", "agent", "worker", "you")),
    ("box", ("box", "crate")),
    ("target", ("target", "goal", "gift", "destination")),
    ("hole", ("hole", "pit")),
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


def read_notation(text: str, game: Game) -> Notation:
    """Find drawings and dictionaries of positions; what is neither stays in `rest`."""
    sources: list[list[Relation]] = []
    if "\n" in text:
        text = _take_drawings(text, game, sources)
    if "{" in text:
        text = _take_dictionaries(text, game, sources)
    return Notation(sources, text)


def _claims(cells: Cells, game: Game) -> list[Relation]:
    """Every object seen from the player; a player in two places voids them all."""
    players = set(cells.get("player", ()))
    if not players:
        return []
    found = [(name, cell) for name in CLASSES[game] for cell in dict.fromkeys(cells.get(name, ()))][:MAX_OBJECTS]
    if len(players) > 1:
        return [Relation(name) for name, _ in found]
    player = players.pop()
    return [between(name, cell, player) for name, cell in found]


# ---------------------------------------------------------------------- drawings


def _take_drawings(text: str, game: Game, sources: list[list[Relation]]) -> str:
    fits, rest, block = _ROWS[game], [], []
    for line in [*text.split("\n"), "end."]:
        row = line.translate(_SPACES)
        if fits.fullmatch(row):
            block.append((row, line))
            continue
        if len(block) > 1 and (claims := _claims(_drawn([row for row, _ in block], game), game)):
            sources.append(claims)
            rest.append("")
        else:
            rest += [line for _, line in block]
        block = []
        rest.append(line)
    return "\n".join(rest[:-1])


def _drawn(rows: list[str], game: Game) -> Cells:
    symbols, cells = _SYMBOLS[game], Cells()
    for r, row in enumerate(rows[:64]):
        for c, symbol in enumerate(row):
            for name in symbols[symbol]:
                cells.setdefault(name, []).append((r, c))
    return cells


# ---------------------------------------------------------------------- dictionaries


def _take_dictionaries(text: str, game: Game, sources: list[list[Relation]]) -> str:
    """Outermost braces one after the other; an unclosed one reaches to the end."""
    rest, start, depth, last = [], 0, 0, 0
    for mark in re.finditer(r"[{}]", text):
        depth += 1 if mark.group() == "{" else -1
        if depth == 1 and mark.group() == "{":
            start = mark.start()
        elif depth <= 0:
            if depth == 0:
                last = _take_dictionary(text, last, start, mark.end(), game, sources, rest)
            depth = 0
    if depth > 0:
        last = _take_dictionary(text, last, start, len(text), game, sources, rest)
    return " ".join([*rest, text[last:]])


def _take_dictionary(
    text: str, last: int, start: int, end: int, game: Game, sources: list[list[Relation]], rest: list[str]
) -> int:
    claims = _claims(_listed(text[start:end]), game)
    if not claims:
        return last
    sources.append(claims)
    rest.append(text[last:start])
    return end


def _listed(text: str) -> Cells:
    """Positions under the keys they follow: pairs, or a row and a column by name."""
    cells, name, axis, half = Cells(), None, None, {}
    for key, row, column, number in _PART.findall(text):
        if key:
            word = key.lower()
            axis = _AXES.get(word)
            if axis is None and word not in _NEUTRAL:
                name, half = _kind(word), {}
        elif name is None:
            continue
        elif row:
            cells.setdefault(name, []).append((int(row), int(column)))
        elif axis is not None:
            half[axis] = int(number)
            if len(half) == 2:
                cells.setdefault(name, []).append((half[0], half[1]))
                half = {}
    return cells


def _kind(key: str) -> str | None:
    return next((name for name, words in _KEYS if any(word in key for word in words)), None)
