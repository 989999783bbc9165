"""English about named things at coordinates: who is said to be at which point.

The grammar reads pairs of numbers as absolute places. Points of three numbers are written down in a list first, and
the text refers to them by the pair (place in the list, 0).
"""

from __future__ import annotations

import itertools
import re
from functools import lru_cache

from agentrl.core.claims import Points, Relations, Thing
from agentrl.judges.grammar.chunks import Spot
from agentrl.judges.grammar.clauses import JOINTS, ClauseReader
from agentrl.judges.grammar.discourse import Discourse
from agentrl.judges.grammar.facts import Facts
from agentrl.judges.grammar.lexicon import ORIGIN, Lexeme, build
from agentrl.judges.grammar.vocabulary import Vocabulary

Point = tuple[float, ...]

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
        alone = [head] if heads.count(head) == 1 else []  # "the cube", where there is one cube
        short = [f"{first}_one"] if firsts.count(first) == 1 else []
        found[name] = _nouns(name, alone, declared) + short
    return found


def _nouns(name: str, alone: list[str], declared: Points) -> list[str]:
    """The name in all combinations of its words' synonyms, and the head noun where it is enough."""
    words = name.split("_")[:4]
    choices = [[word, *declared.synonyms.get(word, "").split()] for word in words]
    found = ["_".join(each) for each in itertools.islice(itertools.product(*choices), 64)]
    return found + [other for head in alone for other in (head, *declared.synonyms.get(head, "").split())]


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

    def _would(self, value: object) -> None:
        """ "(1, 2, 3) would be the position of the apple" is a conclusion, not a wish."""
        if value == "should":
            super()._would(value)

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


PointReader.handlers = {
    **ClauseReader.handlers,
    "stop": PointReader._stop,
    "would": PointReader._would,
    "spot": PointReader._spot,
}
