"""A task as its BDDL file describes it: things, regions, the start and the goal.

Names of things are made lower case, as in LIBERO. A region `NAME` on `TARGET` is called `TARGET_NAME` elsewhere in the
file. Files may declare regions on things that they do not have (LIBERO-Goal does, on a dish drainer): these are read,
and mean nothing until the start or the goal uses one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

from agentrl.core.errors import did_you_mean
from agentrl.envs.libero.bddl.brackets import Group, Word, problem, read_brackets

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
    sections = _sections(file)
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


def _sections(file: Group) -> dict[str, Group]:
    found: dict[str, Group] = {}
    for group in file.groups():
        if group.head in found:
            raise problem(group.line, f"there is more than one section {group.head}")
        found[group.head] = group
    for name in ("problem", *SECTIONS):
        if name not in found:
            raise problem(file.line, f"the section ({name} ...) is missing")
    return found


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
        found[name] = Region(
            target[0].text.lower(), _rectangles(parts.get(":ranges")), _yaw(parts.get(":yaw_rotation"))
        )
    return found


def _rectangles(group: Group | None) -> tuple[tuple[float, float, float, float], ...]:
    found = []
    for rectangle in [] if group is None else _rows(group):
        numbers = _numbers(rectangle, 4)
        if numbers[0] > numbers[2] or numbers[1] > numbers[3]:
            raise problem(rectangle.line, "a range must be least x, least y, largest x, largest y")
        found.append((numbers[0], numbers[1], numbers[2], numbers[3]))
    return tuple(found)


def _yaw(group: Group | None) -> tuple[float, float] | None:
    rows = [] if group is None else _rows(group)
    if not rows:
        return None
    least, largest = _numbers(rows[-1], 2)
    return min(least, largest), max(least, largest)


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
    return [_number(word) for word in words]


def _number(word: Word) -> float:
    try:
        value = float(word.text)
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise problem(word.line, f"a number was expected; got {word.text[:40]!a}")
    return value


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
