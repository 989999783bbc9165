"""Where a text says the target is, seen from the agent, and whether that is right."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from agentrl.core.claims import Bearing, Relations, Thing
from agentrl.core.errors import JudgeFault
from agentrl.judges.grammar.chunker import chunks_of
from agentrl.judges.grammar.chunks import Mention, Place
from agentrl.judges.grammar.clauses import ClauseReader
from agentrl.judges.grammar.discourse import SELF, Discourse
from agentrl.judges.grammar.facts import Fact, Facts, Value
from agentrl.judges.grammar.tokens import MAX_CHARACTERS
from agentrl.judges.grammar.vocabulary import DOWN, LEFT, ORIGIN, RIGHT, UP, Lexeme, Vocabulary, build

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
    text = text[:MAX_CHARACTERS]
    found: list[Said] = []
    if "{" in text:  # what stands in a dictionary under the key of the direction
        key = re.compile(rf"\b{re.escape(declared.direction_key)}[\"']?\s*[:=]\s*[\"']?(\w{{1,20}})", re.IGNORECASE)
        for block in _BRACES.findall(text):
            for word in key.findall(block):
                direction: str = SPELLINGS.get(word.lower(), "") or word.lower()
                found.append(Said(frozenset([direction]), voided=direction not in DIRECTIONS))
        text = _BRACES.sub(" . ", text)
    text, distances = in_plain_words(text, prediction)
    vocabulary = egocentric_vocabulary(declared, name)
    people, facts = Discourse(vocabulary), Facts()
    reader = EgocentricReader(prediction, people, facts)
    reader.read(chunks_of(text, vocabulary))
    rows, columns = facts.solve()
    # Another thing of the target's type may be in sight: "the target" is surer.
    named = [people.classes.index(each) for each in (TARGET, NAMED) if each in people.classes]
    target = next((each for each in named if each in facts.void or each in rows or each in columns), None)
    if target in facts.void:
        found.append(Said(voided=True))
    elif target is not None:
        found.append(_said(rows.get(target), columns.get(target)))
    else:  # the agent's own way counts where nothing is said about the target itself
        for way in reader.ways:
            found += [_said(*(None if sign is None else (sign, cells) for sign in axes)) for axes, cells in way.atoms]
        found.append(Said(voided=any(way.either for way in reader.ways)))
    return BearingReading(together(found), tuple(distances))


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


def _said(row: Value | None, column: Value | None) -> Said:
    named = [(_ROWS, row), (_COLUMNS, column)]
    found = [(names[value[0]], value[1] == 0) for names, value in named if value is not None and value[0] != 0]
    slightly = frozenset(each for each, slight in found if slight and each in ("left", "right"))
    return Said(frozenset(each for each, _ in found) - slightly, slightly)


def together(parts: Iterable[Said], voided: bool = False) -> Said:
    """Everything that was said; opposites leave nothing."""
    parts = list(parts)
    directions = frozenset().union(*(part.directions for part in parts))
    slightly = frozenset().union(*(part.slightly for part in parts)) - directions
    clash = any(pair <= directions | slightly for pair in _OPPOSITES)
    return Said(directions, slightly, voided or clash or any(part.voided for part in parts))


# ---------------------------------------------------------------------- the grammar of what an agent sees
#
# Ahead, behind, left and right instead of rows and columns, otherwise the same grammar: ahead is a row further up and
# behind one further down, "slightly" is a distance of no cell, and heights are left out: above a thing is where that
# thing is.

TARGET, NAMED = "target", "named"  # whatever is called the target, and whatever has the target's name

# Words by what they mean here; "_" joins a phrase.
_AHEAD = "ahead forward forwards front onward onwards ↑ ⬆"
_BACK = "back backward backwards rear backside ↓ ⬇"
_LEFT = "left leftward leftwards lefthand leftside leftmost left_hand ← ⬅"
_RIGHT = "right rightward rightwards righthand rightside rightmost right_hand → ➡"
_SLIGHTLY = "slightly a_bit a_little a_little_bit a_touch somewhat marginally a_tad slight"
_TURN = "turn turns turning turned rotate rotates rotating rotated spin spins spinning look looks looking tilt tilts"
_MOVES = "strafe strafes strafing sidestep sidesteps continue continues continuing approach by_moving by_going"
_SEES = "make_out can_make_out spot spots can_spot recognise recognize"
_DOUBTS = "might may could might_be may_be could_be would_like"
_HEIGHTS = "up upper top down lower bottom higher upwards downwards topmost bottommost"
_OVER_AND_UNDER = "above over atop below under underneath beneath"
_ROOMS = (
    "room kitchen bedroom bathroom livingroom corridor hallway home house apartment"  # without a place of their own
)
_FIXTURES = tuple(
    Thing(words.split()[0], words) for words in ("door doorway entrance exit", "wall", "floor", "ceiling")
)
_CLOCK = {"12": "ahead", "1": "ahead right", "2": "ahead right", "3": "right", "6": "behind", "9": "left"}
_CLOCK |= {"10": "ahead left", "11": "ahead left"}
_GO = "go|goes|going|walk|walks|walking|move|moves|moving|continue|continues|continuing"
_FRAME = r"(?:the |my |our )?(?:\w+ )?(?:image|view|frame|picture|screen|vision|sight|photo)"

# What is put in other words before the grammar reads it.
_DISTANCE = re.compile(
    r"\(?\b(?:about |around |roughly |approximately |only )*(\d+(?:\.\d+)?) ?-?(?:m|cm|meters?|metres?|ft|feet)\b\)?"
)
_AIM = r"(?:find|reach|look for|looking for|go to|navigate to|get to)"
_COMMON = (
    (
        re.compile(
            rf",? (?:that |which )?(?:i|we) (?:\w+ ){{0,4}}{_AIM}\b,?(?= (?:is|lies|sits|stands|appears|will)\b)"
        ),
        "",
    ),
    (re.compile(r"\b(\d+) o'? ?clock\b"), lambda found: _CLOCK.get(found[1], "")),
    (re.compile(r"\bat (?:my |your |the )?(?=(?:ahead|left|right|behind)\b)"), ""),
    (re.compile(r"(?<!the )(?<!my )(?<!to )(?<!our )\b(?:right|dead) (?=ahead|behind|in front)"), "directly "),
    (re.compile(rf"\b({_GO}) straight(?! ahead| forward)\b"), r"\1 forward"),
)
_DESCRIPTION = (
    (re.compile(r"\bin front of (?=(?:me|us|you|myself|the (?:agent|robot|camera|player|viewer))\b)"), "ahead of "),
    (re.compile(r"\bbefore (?=(?:me|us|you)\b)"), "ahead of "),
    (re.compile(r"\bin (?:the |my |our )?front(?! of| of\b|-)\b(?! left| right)"), "ahead"),
    (re.compile(r"\b(?:facing|face|faces) (?=(?:the|a|an|it)\b)"), "having ahead "),
    (
        re.compile(
            rf"\b(?:in|at|near|toward|towards|occup\w+|fill\w*) the (?:very )?(?:center|centre|middle) of {_FRAME}"
        ),
        "is ahead",
    ),
    (re.compile(r"\bopposite (?:of )?(?:me|us)\b"), "ahead of me"),
)


class EgocentricVocabulary(Vocabulary):
    """The words for one target among the things of a declaration."""

    def _table(self) -> dict[str, Lexeme]:
        table = {word: lexeme for word, lexeme in build(self.relations).items() if lexeme.kind != "dir"}
        table |= {word: Lexeme("at", word) for word in _OVER_AND_UNDER.split()}
        table |= {word: Lexeme("filler", word) for word in _HEIGHTS.split()}
        table |= {word: Lexeme("move", word) for word in f"{_TURN} {_MOVES}".split()}
        table |= {word: Lexeme("see", word) for word in _SEES.split()}
        table |= {word: Lexeme("maybe", word) for word in _DOUBTS.split()}
        table |= {word: Lexeme("number", 0) for word in _SLIGHTLY.split()}
        table |= {"in_front_of": Lexeme("toward", "near"), "behind": Lexeme("dir", ("prep", *DOWN))}
        for words, axes in ((_AHEAD, UP), (_BACK, DOWN), (_LEFT, LEFT), (_RIGHT, RIGHT)):
            table |= {word: Lexeme("dir", ("side", *axes)) for word in words.split()}
        for word in ("facing", "level"):
            table.pop(word, None)
        return table


@lru_cache(maxsize=512)
def egocentric_vocabulary(declared: Bearing, name: str) -> EgocentricVocabulary:
    """The vocabulary for a target of that name."""
    others = []
    for each in declared.synonyms:
        if each != name:
            nouns = nouns_of(each, declared)
            others.append(Thing(each, nouns, " ".join(f"{noun}s" for noun in nouns.split())))
    named = Thing(NAMED, f"{nouns_of(name, declared)} {plain_words(name)[-1]}", key=NAMED, unique=True)
    target = Thing(TARGET, declared.words, key=TARGET, unique=True)
    things = (*_FIXTURES, *others, named, target)  # later nouns win
    return EgocentricVocabulary(Relations(Thing(ORIGIN, declared.observer), things, scenery=_ROOMS))


def target_nouns(declared: Bearing, name: str) -> list[str]:
    """Every noun for a target of that name, phrases joined by "_"."""
    return f"{declared.words} {nouns_of(name, declared)} {plain_words(name)[-1]}".split()


def plain_words(name: str) -> list[str]:
    """ "GarbageCan", "garbage_can" and "garbage can" -> ["garbage", "can"]."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)[:6]] or ["target"]


def nouns_of(name: str, declared: Bearing) -> str:
    """Every noun for a thing of that name."""
    words = plain_words(name)
    return " ".join(("_".join(words), "".join(words), declared.synonyms.get(name, "")))


def in_plain_words(text: str, prediction: bool) -> tuple[str, list[float]]:
    """A text without its distances, which are returned, and in words that the grammar knows.

    In a prediction "in front of" stays what it is, no exact direction.
    """
    text = re.sub(r"(?<=\w)-(?=\w)", " ", text.lower().replace("\u2019", "'"))
    distances = [float(number) for number in _DISTANCE.findall(text)[:16]]
    text = _DISTANCE.sub(" ", text)
    for pattern, words in _COMMON if prediction else _COMMON + _DESCRIPTION:
        text = pattern.sub(words, text)
    return text, distances


class EgocentricReader(ClauseReader):
    """Reads places as the agent sees them, and notes where a prediction says that the agent will go."""

    def __init__(self, prediction: bool, people: Discourse, facts: Facts) -> None:
        super().__init__(prediction, people, facts)
        self.ways: list[Place] = []  # where the agent moves to, without a landmark
        self.turning = False
        people.refer(Mention(TARGET))  # what "it" means before anything else was named

    def _start_clause(self, gapped: bool = False) -> None:
        super()._start_clause(gapped)
        self.turning = False

    def _verb(self, kind: str, word: object) -> None:
        super()._verb(kind, word)
        if kind == "move":
            self.turning = word in _TURN.split()

    def _modify(self, kind: str, value: Any) -> None:
        if kind == "maybe" and self.before == "or":  # "on the left or maybe on the right"
            self.facts.void.update(self.subject or [])
        super()._modify(kind, value)

    def _place(self, place: Place) -> None:
        if self.moving and self.subject is None and self._note_way(place):  # "Moving left."
            return
        super()._place(place)

    def _put(self, figures: list[int], place: Place) -> None:
        if place.absolute:  # a part of the picture
            place = place._replace(absolute=False, grounds=None)
        if SELF in figures and not any(any(axes) for axes, _ in place.atoms):  # "I am at the target"
            place = place._replace(atoms=())
        elif place.direct and not place.atoms and place.grounds:  # what stands next to a thing is where that thing is
            place = place._replace(atoms=(((0, 0), None),), direct=False)
        if not (self.moving and self.prediction):
            super()._put(figures, place)
        elif figures == [SELF]:
            if not self._note_way(place):
                super()._put(figures, place)
        else:
            self.moving = bool(self.turning or not figures)  # "the target will shift to the left": there it will be
            super()._put(figures, place)
            self.moving = True

    def _grounds(self, figures: list[int], place: Place) -> list[int] | None:
        return [SELF] if place.grounds is None else super()._grounds(figures, place)

    def _object(self, people: list[int], mentions: tuple[Mention, ...]) -> None:
        wanted, owner = self.wants, self.subject or []
        super()._object(people, mentions)
        if wanted == "with" and SELF not in owner and self._claimed():  # "a bed with a pillow"
            for person, thing, axis in itertools.product(people, owner, (0, 1)):
                self.facts.add(axis, Fact(person, thing, 0, weak=True))

    def _note_way(self, place: Place) -> bool:
        own = place.grounds is None or place.grounds == (Mention(ORIGIN),)
        if not place.atoms or not own:
            return False
        if self.prediction and not self.turning and self._claimed():
            self.ways.append(place)
        return True
