"""Where a text says the target is, seen from the agent, and whether that is right."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from agentrl.core.claims import Bearing
from agentrl.core.errors import JudgeFault
from agentrl.judges.english import chunks_of
from agentrl.judges.grammar.chunks import Place
from agentrl.judges.grammar.discourse import Discourse
from agentrl.judges.grammar.egocentric import (
    NAMED,
    TARGET,
    EgocentricReader,
    egocentric_vocabulary,
    in_plain_words,
)
from agentrl.judges.grammar.facts import Facts, Value
from agentrl.judges.grammar.tokens import MAX_CHARACTERS

DIRECTIONS = ("ahead", "left", "right", "behind")
SPELLINGS = {"front": "ahead", "forward": "ahead", "back": "behind", "backward": "behind"}
_ROWS, _COLUMNS = {-1: "ahead", 1: "behind"}, {-1: "left", 1: "right"}
_OPPOSITES = ({"ahead", "behind"}, {"left", "right"})
_BRACES = re.compile(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*){0,64}\}?")


class Said(NamedTuple):
    """What a text says about the target's direction; a voided claim contradicts itself or leaves a choice."""

    directions: frozenset[str] = frozenset()
    slightly: frozenset[str] = frozenset()  # left or right, but not much
    voided: bool = False

    def to_json(self) -> list[str]:
        """The directions in a fixed order."""
        named = [each for each in DIRECTIONS if each in self.directions]
        return named + [f"slightly {each}" for each in DIRECTIONS if each in self.slightly]


class BearingReading(NamedTuple):
    """What a text says, and the distances in it."""

    said: Said
    distances: tuple[float, ...]


def read_bearing(text: str, declared: Bearing, name: str, prediction: bool) -> BearingReading:
    """What a text says about where the target of that name is, or will be."""
    listed, text = _take_dictionaries(text[:MAX_CHARACTERS], declared)
    text, distances = in_plain_words(text, prediction)
    return BearingReading(together([*listed, _read_english(text, declared, name, prediction)]), tuple(distances))


remembered_bearing = lru_cache(maxsize=2048)(read_bearing)


def true_bearing(declared: Bearing, facts: Mapping[str, Any]) -> tuple[str, str]:
    """(name of the target, its direction) of a state; `JudgeFault` if it has none."""
    name, direction = facts.get(declared.name_key), facts.get(declared.direction_key)
    if not isinstance(name, str):
        raise JudgeFault(f"{declared.name_key} must be text; got {type(name).__name__}")
    found = SPELLINGS.get(direction, direction) if isinstance(direction, str) else None
    if found not in DIRECTIONS:
        raise JudgeFault(f"{declared.direction_key} must be one of {', '.join(DIRECTIONS)}; got {direction!r:.60}")
    return name, found


def score_bearing(
    declared: Bearing, said: Said, facts: Mapping[str, Any], prediction: bool
) -> tuple[float, dict[str, Any]]:
    """1 or 0, and how it came about."""
    _, true = true_bearing(declared, facts)
    evidence = {"claimed": said.to_json(), "true": true, "voided": said.voided}
    evidence |= {"true_distance": facts.get(declared.distance_key)} if declared.distance_key else {}
    return float(is_right(said, true, prediction)), evidence


def is_right(said: Said, true: str, prediction: bool) -> bool:
    """A description must include the direction, a prediction must be that direction and no other.

    Slight directions are beside the point where another is named. Alone they mean ahead; in a description they also
    include the side.
    """
    if said.voided:
        return False
    if said.directions:
        return said.directions == {true} if prediction else true in said.directions
    if not said.slightly:
        return False
    return true == "ahead" or (not prediction and true in said.slightly)


def _read_english(text: str, declared: Bearing, name: str, prediction: bool) -> Said:
    vocabulary = egocentric_vocabulary(declared, name)
    people, facts = Discourse(vocabulary), Facts()
    reader = EgocentricReader(prediction, people, facts)
    reader.read(chunks_of(text, vocabulary))
    rows, columns = facts.solve()
    for wanted in (TARGET, NAMED):  # another thing of the target's type may be in sight: "the target" is surer
        individual = people.classes.index(wanted) if wanted in people.classes else -1
        if individual in facts.void:
            return Said(voided=True)
        if individual in rows or individual in columns:
            return _said(rows.get(individual), columns.get(individual))
    return _way(reader.ways)


def _said(row: Value | None, column: Value | None) -> Said:
    named = [(_ROWS, row), (_COLUMNS, column)]
    found = [(names[value[0]], value[1] == 0) for names, value in named if value is not None and value[0] != 0]
    slightly = frozenset(each for each, slight in found if slight and each in ("left", "right"))
    return Said(frozenset(each for each, _ in found) - slightly, slightly)


def _way(ways: Iterable[Place]) -> Said:
    """The agent's own way counts where nothing is said about the target itself."""
    found = [
        _said((axes[0], cells) if axes[0] is not None else None, (axes[1], cells) if axes[1] is not None else None)
        for way in ways
        for axes, cells in way.atoms
    ]
    return together(found, voided=any(way.either for way in ways))


def together(parts: Iterable[Said], voided: bool = False) -> Said:
    """Everything that was said; opposites leave nothing."""
    parts = list(parts)
    directions = frozenset().union(*(part.directions for part in parts))
    slightly = frozenset().union(*(part.slightly for part in parts)) - directions
    clash = any(pair <= directions | slightly for pair in _OPPOSITES)
    return Said(directions, slightly, voided or clash or any(part.voided for part in parts))


def _take_dictionaries(text: str, declared: Bearing) -> tuple[list[Said], str]:
    """What stands under the key of the direction, and the text without its dictionaries."""
    if "{" not in text:
        return [], text
    key = re.compile(rf"\b{re.escape(declared.direction_key)}[\"']?\s*[:=]\s*[\"']?(\w{{1,20}})", re.IGNORECASE)
    found: list[Said] = []
    for block in _BRACES.findall(text):
        for word in key.findall(block):
            direction: str = SPELLINGS.get(word.lower(), "") or word.lower()
            found.append(Said(frozenset([direction]), voided=direction not in DIRECTIONS))
    return found, _BRACES.sub(" . ", text)
