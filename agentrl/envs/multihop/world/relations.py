"""What pages state and questions ask for, as read from `relations.toml` and `prose.toml`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from agentrl.envs.common.data_files import data_file

PACKAGE = "agentrl.envs.multihop.world"
FILES = ("names.toml", "relations.toml", "prose.toml")
Text = str | tuple["Text", ...] | list["Text"]  # words, one after the other (a tuple) or a choice among them (a list)


@dataclass(frozen=True, eq=False)
class Relation:
    """One fact that a page states of its subject."""

    name: str
    target: str  # kind of what is stated; "university" is a kind of organisation, "year" and "number" are no pages
    says: tuple[Text, ...]
    np: Sequence[str]
    ask: Sequence[str]
    clue: Sequence[str]
    least: Sequence[str] = ()
    most: Sequence[str] = ()

    @property
    def is_literal(self) -> bool:
        """Is what is stated a number, with no page of its own?"""
        return self.target in ("year", "number")


@cache
def data_digest() -> str:
    """Changes with any word of the data files."""
    return hashlib.sha256(b"".join(files(PACKAGE).joinpath(name).read_bytes() for name in FILES)).hexdigest()[:16]


@cache
def relations_of(kind: str) -> tuple[Relation, ...]:
    """What pages of a kind state."""
    rows = data_file(PACKAGE, "relations.toml").get(kind, {})
    return tuple(Relation(name, **{**row, "says": tuple(map(parse, row["says"]))}) for name, row in rows.items())


@cache
def sentences(kind: str) -> tuple[list[Text], list[Text]]:
    """What pages of a kind begin with, and what they are filled up with."""
    opens, fills = (data_file(PACKAGE, "prose.toml")[name][kind] for name in ("opens", "fills"))
    return list(map(parse, opens)), list(map(parse, fills))


def work_words() -> dict[str, dict[str, Any]]:
    """The words of each kind of work."""
    return data_file(PACKAGE, "prose.toml")["works"]


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


def choose(text: Text, draw: Callable[[], float]) -> str:
    """The sentence with every choice made."""
    if isinstance(text, str):
        return text
    if isinstance(text, list):
        return choose(text[int(draw() * len(text))], draw)
    return "".join([choose(part, draw) for part in text])
