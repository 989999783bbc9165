"""At which points a text says that named things are, and how many of them are right."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from agentrl.core.claims import Points, Relations, Thing
from agentrl.core.errors import JudgeFault
from agentrl.judges.grammar.chunker import chunks_of
from agentrl.judges.grammar.chunks import Spot
from agentrl.judges.grammar.clauses import JOINTS, ClauseReader
from agentrl.judges.grammar.discourse import Discourse
from agentrl.judges.grammar.facts import Facts
from agentrl.judges.grammar.tokens import MAX_CHARACTERS
from agentrl.judges.grammar.vocabulary import ORIGIN, Lexeme, Vocabulary, build

ROUNDING = 1e-9  # a difference of exactly the tolerance is within it, whatever floating point makes of it
Point = tuple[float, ...]
NamedPoints = tuple[tuple[str, Point], ...]


def true_points(declared: Points, facts: Mapping[str, Any]) -> dict[str, Point]:
    """Name -> point of every thing of a state; `JudgeFault` if there is none or one is not a point."""
    keys = [key for key in facts if isinstance(key, str) and key.endswith(declared.ending) and key != declared.ending]
    if not keys:
        raise JudgeFault(f"the state has no key that ends in {declared.ending}")
    found = {}
    for key in keys[:MAX_NAMES]:
        value = facts[key]
        numbers = isinstance(value, (list, tuple)) and [type(part) in (int, float) for part in value] == [True] * 3
        if not numbers or not all(math.isfinite(part) for part in value):
            raise JudgeFault(f"{key} must be three numbers; got {value!r:.60}")
        found[key.removesuffix(declared.ending)] = tuple(float(part) for part in value)
    return found


def read_points(text: str, declared: Points, names: tuple[str, ...], prediction: bool) -> NamedPoints:
    """Everything a text says about where the things of these names are, or will be."""
    text, points = with_numbered_points(text[:MAX_CHARACTERS], prediction)
    if not points:
        return ()
    vocabulary = point_vocabulary(declared, names, prediction)
    people, facts = Discourse(vocabulary), Facts()
    reader = PointReader(prediction, people, facts)
    reader.read(chunks_of(text, vocabulary))
    points.append(())  # of `NOWHERE`: no point is near it
    said = [(people.classes[figure], points[number]) for figure, number in reader.said if number < len(points)]
    return tuple((name, point) for name, point in said if name in names)


remembered_points = lru_cache(maxsize=2048)(read_points)


def score_points(
    declared: Points, said: Iterable[tuple[str, Point]], true: Mapping[str, Point]
) -> tuple[float, dict[str, Any]]:
    """The share of the things that are right, and how it came about.

    A thing counts when every point that was named for it is right: naming several to choose from earns nothing.
    """
    claimed: dict[str, list[Point]] = {}
    for name, point in said:
        if name in true and point not in (points := claimed.setdefault(name, [])):
            points.append(point)
    right = []
    for name, points in claimed.items():
        there, most = true[name], declared.tolerance + ROUNDING
        near = [len(p) == len(there) and all(abs(a - b) <= most for a, b in zip(p, there, strict=True)) for p in points]
        if all(near):
            right.append(name)
    evidence = {
        "claimed": {name: [list(point) for point in points] for name, points in claimed.items()},
        "true": {name: list(point) for name, point in true.items()},
        "right": right,
        "wrong": [name for name in claimed if name not in right],
    }
    return len(right) / len(true), evidence


# ---------------------------------------------------------------------- the grammar of named things at coordinates
#
# The grammar reads pairs of numbers as absolute places. Points of three numbers are written down in a list first, and
# the text refers to them by the pair (place in the list, 0).

_NUMBER = r"[-+]?\d{1,9}(?:\.\d{1,9})?"
_UNIT = r"\s?(?:mm|millimet(?:er|re)s?)?"
_AXIS = rf"[\s\"']{{0,3}}(?:=|:|is|of)[\s\"']{{0,3}}({_NUMBER}){_UNIT}"
_NEXT = r"[\s,;\"']{1,5}(?:and\s)?[\"']?"
_AXES = re.compile(rf"\bx{_AXIS}{_NEXT}y{_AXIS}{_NEXT}z{_AXIS}", re.IGNORECASE)
_RUN = re.compile(rf"[(\[<]?\s?(?<![\w.]){_NUMBER}{_UNIT}(?:\s?,\s?{_NUMBER}{_UNIT})+\s?[)\]>]?")
_CALL = re.compile(r"\b(?:pick|place|push)\s?\([^()]{0,120}\)")  # an action is no description
_FROM_TO = re.compile(r"\bfrom (\(\d+, 0\)) to (\(\d+, 0\))")
_PICK = "pick picks picking picked pick_up grasp grasps grasping grab grabs grabbing lift lifting"
_PUT = "place put puts putting stack stacks stacking drop drops release releases push pushes pushing move moves"
_DOUBTS = "might may could might_be may_be could_be"
_OBSERVER = "robot gripper arm hand effector end_effector"
MAX_POINTS = 256
NOWHERE = -1
MAX_NAMES = 64


class PointVocabulary(Vocabulary):
    """The words for things with names; directions say nothing here."""

    def __init__(self, relations: Relations, prediction: bool) -> None:
        self.prediction = prediction
        super().__init__(relations)

    def _table(self) -> dict[str, Lexeme]:
        table = build(self.relations)
        table |= {word: Lexeme("filler", word) for word, lexeme in table.items() if lexeme.kind == "dir"}
        # What is picked is where it is said to be; what is put down will be there.
        pick, put = ("goal", "will") if self.prediction else ("see", "goal")
        table |= {word: Lexeme("maybe", word) for word in _DOUBTS.split()}
        table |= {word: Lexeme(pick, word) for word in _PICK.split()}
        table |= {word: Lexeme(put, word) for word in _PUT.split()}
        return table


@lru_cache(maxsize=512)
def point_vocabulary(declared: Points, names: tuple[str, ...], prediction: bool) -> PointVocabulary:
    """The vocabulary for things of these names."""
    nouns = point_nouns(declared, names)
    things = tuple(Thing(name, " ".join(nouns[name]), key=name, unique=True) for name in names)
    return PointVocabulary(Relations(Thing(ORIGIN, _OBSERVER), things), prediction)


def point_nouns(declared: Points, names: tuple[str, ...]) -> dict[str, list[str]]:
    """Name -> every noun for the thing, phrases joined by "_"."""
    found = {}
    firsts, heads = [name.partition("_")[0] for name in names], [name.rpartition("_")[2] for name in names]
    for name, first, head in zip(names, firsts, heads, strict=True):
        # "the cube", where there is one cube
        alone = [head, *declared.synonyms.get(head, "").split()] if heads.count(head) == 1 else []
        short = [f"{first}_one"] if firsts.count(first) == 1 else []
        # The name in all combinations of its words' synonyms.
        choices = [[word, *declared.synonyms.get(word, "").split()] for word in name.split("_")[:4]]
        whole = ["_".join(each) for each in itertools.islice(itertools.product(*choices), 64)]
        found[name] = whole + alone + short
    return found


def with_numbered_points(text: str, prediction: bool) -> tuple[str, list[Point]]:
    """A text in which points are numbered, and the points. Other runs of numbers are left out."""
    points: list[Point] = []

    def number(coordinates: list[str]) -> str:
        if len(coordinates) != 3 or len(points) >= MAX_POINTS:
            return " "
        points.append(tuple(float(each) for each in coordinates))
        return f" ({len(points) - 1}, 0) "

    text = _CALL.sub(" ", text.replace("\u2212", "-").replace("\u2019", "'"))
    text = re.sub(r"\s+", " ", re.sub(r"'s (?:\w+ )?(?=position|location|coordinates)", " ", text))
    text = _AXES.sub(lambda found: f" ({', '.join(found.groups())}) ", text)
    text = _RUN.sub(lambda found: number(re.findall(_NUMBER, found[0])), text)
    text = re.sub(r" +", " ", text)
    return _FROM_TO.sub(r"to \2" if prediction else r"at \1", text), points


class PointReader(ClauseReader):
    """Notes who is said to be at which point."""

    def __init__(self, prediction: bool, people: Discourse, facts: Facts) -> None:
        self.said: list[tuple[int, int]] = []  # individual, number of the point
        self._begun = 0
        self._turn: tuple[list[int], int] = [], 0
        super().__init__(prediction, people, facts)

    def _stop(self, mark: object) -> None:
        if mark == "?":
            del self.said[self._begun :]
        super()._stop(mark)
        self._begun = len(self.said)

    def _verb(self, kind: str, word: object) -> None:
        if kind != "would" or word == "should":  # "(1, 2, 3) would be the position of the apple" concludes
            super()._verb(kind, word)

    def _spot(self, spot: Spot) -> None:
        """A point belongs to the subject, a second one after a landmark to the landmark; or it opens a clause."""
        if self.subject is not None and self.before in JOINTS and self.ahead in ("is", "would", "will"):
            self._close()  # "... and (1, 2, 3) is the position of the apple"
            self._start_clause()
            self.subject = None
        placed = self.subject and any(figure in self.subject for figure, _ in self.said[self._begun :])
        near = [figure for figure in self.sentence[-1:] if figure not in (self.subject or ())]
        if placed and near and self.before in ("place", "comma"):
            self._put_spot(near, spot)
        elif self.before == "place" and self.subject:
            self._put_spot(self.subject, spot)
        else:
            super()._spot(spot)

    def _put_spot(self, figures: list[int], spot: Spot) -> None:
        if spot.row is None or not self._claimed():
            return
        number = NOWHERE if self.before == "or" else spot.row[1]  # a choice of points is none
        if len(figures) > 1:  # as many points as things: one each
            turn = self._turn[1] if self._turn[0] == figures else 0
            self._turn = figures, turn + 1
            figures = figures[turn : turn + 1] or figures
        self.said += [(figure, number) for figure in figures]
