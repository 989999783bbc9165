"""A task as its BDDL file describes it: things, regions, the start and the goal.

Names of things are made lower case, as in LIBERO. A region `NAME` on `TARGET` is called `TARGET_NAME` elsewhere in the
file. Files may declare regions on things that they do not have (LIBERO-Goal does, on a dish drainer): these are read,
and mean nothing until the start or the goal uses one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isfinite
from typing import NamedTuple

from agentrl.core.errors import ConfigError, did_you_mean

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


# ---------------------------------------------------------------------- problems

ARGUMENTS = {"in": 2, "on": 2, "open": 1, "close": 1, "turnon": 1, "turnoff": 1}  # predicate -> how many
SECTIONS = (":domain", ":language", ":regions", ":fixtures", ":objects", ":obj_of_interest", ":init", ":goal")


class Fact(NamedTuple):
    """A predicate and what it is about."""

    predicate: str  # in, on, open, close, turnon, turnoff
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join((self.predicate.capitalize(), *self.arguments))


@dataclass(frozen=True)
class Condition:
    """Facts joined by and, or and not."""

    operator: str  # and, or, not
    parts: tuple[Condition | Fact, ...]

    def facts(self) -> Iterator[Fact]:
        """All facts in it, in order."""
        for part in self.parts:
            yield from (part,) if isinstance(part, Fact) else part.facts()


@dataclass(frozen=True)
class Region:
    """A part of a thing: rectangles on it, or a place that belongs to its shape when there are none."""

    target: str
    rectangles: tuple[tuple[float, float, float, float], ...] = ()  # least x, least y, largest x, largest y
    yaw: tuple[float, float] | None = None  # least and largest turn of what stands there


@dataclass(frozen=True)
class Problem:
    """All that a file says."""

    name: str  # such as libero_kitchen_tabletop_manipulation
    language: str
    fixtures: dict[str, str]  # name -> type; the table is one of them
    objects: dict[str, str]  # name -> type
    regions: dict[str, Region]
    interest: tuple[str, ...]  # what the task is about
    start: tuple[Fact, ...]
    goal: Condition


def read_problem(text: str) -> Problem:
    """Read a file; `ConfigError` of one sentence with the line if it is not as expected."""
    file = read_brackets(text)
    if file.head != "define":
        raise problem(file.line, "the file must begin with (define")
    sections: dict[str, Group] = {}
    for section in file.groups():
        if section.head in sections:
            raise problem(section.line, f"there is more than one section {section.head}")
        sections[section.head] = section
    for name in ("problem", *SECTIONS):
        if name not in sections:
            raise problem(file.line, f"the section ({name} ...) is missing")
    header = sections["problem"].words()
    if len(header) != 1:
        raise problem(sections["problem"].line, "(problem NAME) was expected")
    objects, fixtures = _typed(sections[":objects"]), _typed(sections[":fixtures"])
    if twice := set(objects) & set(fixtures):
        raise problem(sections[":objects"].line, f"{min(twice)!a} is an object and a fixture")
    regions = _regions(sections[":regions"])
    names = [*objects, *fixtures, *regions]
    goal = sections[":goal"].groups()
    if len(goal) != 1:
        raise problem(sections[":goal"].line, "the goal must be one condition")
    return Problem(
        name=header[0].text.lower(),
        language=" ".join(word.text for word in sections[":language"].words()),
        fixtures=fixtures,
        objects=objects,
        regions=regions,
        interest=tuple(_known(word, names) for word in sections[":obj_of_interest"].words()),
        start=tuple(_fact(group, names) for group in sections[":init"].groups()),
        goal=_condition(goal[0], names),
    )


def _typed(section: Group) -> dict[str, str]:
    """`a b - type c - other` as a table."""
    found: dict[str, str] = {}
    waiting: list[Word] = []
    words = iter(section.words())
    for word in words:
        if word.text != "-":
            waiting.append(word)
            continue
        kind = next(words, None)
        if kind is None or not waiting:
            raise problem(word.line, "NAME - TYPE was expected")
        for name in waiting:
            if name.text.lower() in found:
                raise problem(name.line, f"{name.text!a} is declared twice")
            found[name.text.lower()] = kind.text.lower()
        waiting = []
    if waiting:
        raise problem(waiting[0].line, f"{waiting[0].text!a} has no type")
    return found


def _regions(section: Group) -> dict[str, Region]:
    found: dict[str, Region] = {}
    for group in section.groups():
        parts = {part.head: part for part in group.groups()}
        target = parts[":target"].words() if ":target" in parts else []
        if not group.head or len(target) != 1:
            raise problem(group.line, "a region must be (NAME (:target THING) ...)")
        name = f"{target[0].text.lower()}_{group.head}"
        if name in found:
            raise problem(group.line, f"the region {name!a} is declared twice")
        rectangles, yaw = [], None
        for row in _rows(parts[":ranges"]) if ":ranges" in parts else []:
            x0, y0, x1, y1 = _numbers(row, 4)
            if x0 > x1 or y0 > y1:
                raise problem(row.line, "a range must be least x, least y, largest x, largest y")
            rectangles.append((x0, y0, x1, y1))
        if ":yaw_rotation" in parts and (rows := _rows(parts[":yaw_rotation"])):
            one, other = _numbers(rows[-1], 2)
            yaw = min(one, other), max(one, other)
        found[name] = Region(target[0].text.lower(), tuple(rectangles), yaw)
    return found


def _rows(group: Group) -> list[Group]:
    """The lists in `(:ranges ((...) (...)))`."""
    inner = group.groups()
    if len(inner) != 1:
        raise problem(group.line, f"({group.head} ((...) ...)) was expected")
    return inner[0].groups(start=0)


def _numbers(group: Group, count: int) -> list[float]:
    words = group.words(start=0)
    if len(words) != count:
        raise problem(group.line, f"{count} numbers were expected; got {len(words)}")
    values: list[float] = []
    for word in words:
        try:
            values.append(float(word.text))
        except ValueError:
            values.append(float("nan"))
        if not isfinite(values[-1]):
            raise problem(word.line, f"a number was expected; got {word.text[:40]!a}")
    return values


def _condition(group: Group, names: list[str]) -> Condition:
    """A condition; a single fact is a condition that joins one."""
    if group.head not in ("and", "or", "not"):
        return Condition("and", (_fact(group, names),))
    parts = group.groups()
    if not parts or (group.head == "not" and len(parts) != 1):
        raise problem(group.line, f"({group.head} ...) must have {'one part' if group.head == 'not' else 'parts'}")
    inner = tuple(
        _condition(part, names) if part.head in ("and", "or", "not") else _fact(part, names) for part in parts
    )
    return Condition(group.head, inner)


def _fact(group: Group, names: list[str]) -> Fact:
    if group.head not in ARGUMENTS:
        raise problem(group.line, f"unknown predicate {group.head[:40]!a}.{did_you_mean(group.head, ARGUMENTS)}")
    words = group.words()
    if len(words) != ARGUMENTS[group.head]:
        raise problem(group.line, f"{group.head} takes {ARGUMENTS[group.head]} names; got {len(words)}")
    return Fact(group.head, tuple(_known(word, names) for word in words))


def _known(word: Word, names: list[str]) -> str:
    name = word.text.lower()
    if name not in names:
        raise problem(word.line, f"unknown name {name[:80]!a}.{did_you_mean(name, names)}")
    return name
