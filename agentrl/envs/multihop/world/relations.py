"""What pages state and questions ask for, as read from `relations.toml` and `prose.toml`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from agentrl.envs.common.data_files import data_file

FOLDER = Path(__file__).parent
FILES = ("names.toml", "relations.toml", "prose.toml")
LITERALS = ("year", "number")
Text = str | tuple["Text", ...] | list["Text"]  # words, one after the other (a tuple) or a choice among them (a list)
Draw = Callable[[], float]


@dataclass(frozen=True, eq=False)
class Relation:
    """One fact that a page states of its subject."""

    kind: str  # of the subject
    name: str
    target: str  # kind of what is stated; "university" is a kind of organisation, "year" and "number" are no pages
    says: tuple[Text, ...]
    np: tuple[str, ...]
    ask: tuple[str, ...]
    clue: tuple[str, ...]
    least: tuple[str, ...] = ()
    most: tuple[str, ...] = ()

    @property
    def is_literal(self) -> bool:
        """Is what is stated a number, with no page of its own?"""
        return self.target in LITERALS


@dataclass(frozen=True, eq=False)
class Phrases:
    """The sentences of all kinds of pages."""

    opens: dict[str, tuple[Text, ...]]
    fills: dict[str, tuple[Text, ...]]
    works: dict[str, dict[str, Any]]


@cache
def data_digest() -> str:
    """Changes with any word of the data files."""
    return hashlib.sha256(b"".join((FOLDER / name).read_bytes() for name in FILES)).hexdigest()[:16]


@cache
def relations() -> dict[str, tuple[Relation, ...]]:
    """Kind of a page -> what it states."""
    found = data_file("agentrl.envs.multihop.world", "relations.toml")
    return {kind: tuple(_relation(kind, name, row) for name, row in rows.items()) for kind, rows in found.items()}


def _relation(kind: str, name: str, row: dict[str, Any]) -> Relation:
    lists = {key: tuple(row.get(key, ())) for key in ("np", "ask", "clue", "least", "most")}
    return Relation(kind, name, row["target"], tuple(map(parse, row["says"])), **lists)


@cache
def phrases() -> Phrases:
    """The sentences around what is stated."""
    found = data_file("agentrl.envs.multihop.world", "prose.toml")
    tables = ({kind: tuple(map(parse, lines)) for kind, lines in found[name].items()} for name in ("opens", "fills"))
    return Phrases(*tables, works=found["works"])


# ---------------------------------------------------------------------- choices


def parse(source: str) -> Text:
    """A sentence with choices: "a [small|large [red|blue]] house"."""
    levels: list[list[list[Text]]] = [[[]]]  # of each open bracket, the parts of each of its choices so far
    for token in re.split(r"([\[|\]])", source):
        if token == "[":
            levels.append([[]])
        elif token in ("|", "]") and len(levels) == 1:
            raise ValueError(f"a bracket is closed that was not opened: {source!r}")
        elif token == "|":
            levels[-1].append([])
        elif token == "]":
            choices: list[Text] = [tuple(parts) for parts in levels.pop()]
            levels[-1][-1].append(choices)
        elif token:
            levels[-1][-1].append(token)
    if len(levels) > 1:
        raise ValueError(f"a bracket is left open: {source!r}")
    return tuple(levels[0][0])


def choose(text: Text, draw: Draw) -> str:
    """The sentence with every choice made."""
    if isinstance(text, str):
        return text
    if isinstance(text, list):
        return choose(text[int(draw() * len(text))], draw)
    return "".join([choose(part, draw) for part in text])
