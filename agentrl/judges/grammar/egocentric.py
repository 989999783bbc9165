"""English about what is where as an agent sees it: ahead, behind, left and right instead of rows and columns.

The grammar stays the same. Ahead is a row further up and behind one further down, "slightly" is a distance of no cell,
and heights are left out: above a thing is where that thing is.
"""

from __future__ import annotations

import itertools
import re
from functools import lru_cache

from agentrl.core.claims import Bearing, Relations, Thing
from agentrl.judges.grammar.chunks import Mention, Place
from agentrl.judges.grammar.clauses import ClauseReader
from agentrl.judges.grammar.discourse import SELF, Discourse
from agentrl.judges.grammar.facts import Fact, Facts
from agentrl.judges.grammar.lexicon import DOWN, LEFT, ORIGIN, RIGHT, UP, Lexeme, build
from agentrl.judges.grammar.vocabulary import Vocabulary

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

    def _move(self, word: object) -> None:
        super()._move(word)
        self.turning = word in _TURN.split()

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
        if self.moving and self.prediction and self._note_move(figures, place):
            return
        super()._put(figures, place)

    def _grounds(self, figures: list[int], place: Place) -> list[int] | None:
        return [SELF] if place.grounds is None else super()._grounds(figures, place)

    def _object(self, people: list[int], mentions: tuple[Mention, ...]) -> None:
        wanted, owner = self.wants, self.subject or []
        super()._object(people, mentions)
        if wanted == "with" and SELF not in owner and self._claimed():  # "a bed with a pillow"
            for person, thing, axis in itertools.product(people, owner, (0, 1)):
                self.facts.add(axis, Fact(person, thing, 0, weak=True))

    def _maybe(self, word: object) -> None:
        if self.before == "or":  # "on the left or maybe on the right"
            self.facts.void.update(self.subject or [])
        super()._maybe(word)

    def _note_move(self, figures: list[int], place: Place) -> bool:
        if figures == [SELF]:
            return self._note_way(place)
        if not figures or self.turning:
            return False
        self.moving = False  # "the target will shift to the left": that is where it will be
        super()._put(figures, place)
        self.moving = True
        return True

    def _note_way(self, place: Place) -> bool:
        own = place.grounds is None or place.grounds == (Mention(ORIGIN),)
        if not place.atoms or not own:
            return False
        if self.prediction and not self.turning and self._claimed():
            self.ways.append(place)
        return True


EgocentricReader.handlers = {
    **ClauseReader.handlers,
    "place": EgocentricReader._place,
    "move": EgocentricReader._move,
    "maybe": EgocentricReader._maybe,
}
