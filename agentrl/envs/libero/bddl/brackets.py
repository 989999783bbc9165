"""Bracketed lists of words, each with the line it stands on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from agentrl.core.errors import ConfigError

MAX_LENGTH = 1 << 20  # characters of a file
DEEPEST = 32
_TOKEN = re.compile(r";[^\n]*|[()]|[^\s();]+")


@dataclass(frozen=True)
class Word:
    """One word of a file."""

    text: str
    line: int


@dataclass(frozen=True)
class Group:
    """What stands between two brackets."""

    line: int
    items: list[Word | Group] = field(default_factory=list)

    @property
    def head(self) -> str:
        """The first word in lower case; empty if there is none."""
        first = self.items[0] if self.items else None
        return first.text.lower() if isinstance(first, Word) else ""

    def words(self, start: int = 1) -> list[Word]:
        """The items from `start` on, all of which must be words."""
        for item in self.items[start:]:
            if isinstance(item, Group):
                raise problem(item.line, "a word was expected; got '('")
        return [item for item in self.items[start:] if isinstance(item, Word)]

    def groups(self, start: int = 1) -> list[Group]:
        """The items from `start` on, all of which must be in brackets."""
        for item in self.items[start:]:
            if isinstance(item, Word):
                raise problem(item.line, f"'(' was expected; got {item.text!a}")
        return [item for item in self.items[start:] if isinstance(item, Group)]


def problem(line: int, text: str) -> ConfigError:
    """An error that names the line."""
    return ConfigError(f"BDDL, line {line}: {text}")


def read_brackets(text: str) -> Group:
    """The only list of a file."""
    if len(text) > MAX_LENGTH:
        raise ConfigError(f"BDDL: a file must be at most {MAX_LENGTH} characters; got {len(text)}")
    open_groups: list[Group] = []
    found: Group | None = None
    for token, line in _tokens(text):
        if found is not None:
            raise problem(line, f"nothing was expected after the last ')'; got {token[:40]!a}")
        if token == "(":
            if len(open_groups) == DEEPEST:
                raise problem(line, f"brackets must be at most {DEEPEST} deep")
            open_groups.append(Group(line))
        elif not open_groups:
            raise problem(line, f"'(' was expected; got {token[:40]!a}")
        elif token == ")":
            done = open_groups.pop()
            if open_groups:
                open_groups[-1].items.append(done)
            else:
                found = done
        else:
            open_groups[-1].items.append(Word(token, line))
    if found is None:
        where = open_groups[-1].line if open_groups else 1
        raise problem(where, "this '(' is never closed" if open_groups else "the file is empty")
    return found


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    line, position = 1, 0
    for match in _TOKEN.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        if not match.group().startswith(";"):
            yield match.group(), line
