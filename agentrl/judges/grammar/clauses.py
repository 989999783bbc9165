"""Who is where: reads the chunks of a text clause by clause and keeps what is claimed.

Not claimed, and so left out: what is negated, wished for, planned, supposed or past; in a description of the present
also what is only going to be; in a prediction also what is said to be so before the move.
"""

from __future__ import annotations

import itertools
from typing import Any

from agentrl.judges.grammar.chunks import Axes, Chunk, Mention, Place, Spot
from agentrl.judges.grammar.discourse import SELF, Discourse
from agentrl.judges.grammar.facts import Fact, Facts
from agentrl.judges.grammar.vocabulary import ORIGIN, SCENERY

_THE_SELF = (Mention(ORIGIN),)
Step = tuple[int, int, int | None]  # axis, sign, number of cells

_OPENERS = frozenset(
    ("", "stop", "and", "comma", "but", "while", "or", "if", "then", "which", "so_that", "there", "now", "colon")
)
JOINTS = frozenset(("and", "comma", "but", "while", "or"))
_FINITE_AFTER = JOINTS | frozenset(
    ("", "np", "there", "which", "place", "spot", "colon", "stop", "then", "now", "view", "currently")
)
_BASE_FORMS = frozenset(
    ("stand", "lie", "sit", "remain", "stay", "end_up", "end", "start", "exist", "appear", "seem", "become", "land")
)
_CONDITIONS = frozenset(("if", "unless", "suppose", "supposing", "assuming", "whether", "in_case", "provided"))
_INVERTERS = frozenset(("there", "is", "found", "will", "has", "see"))
_VERBAL = frozenset(("is", "be", "was", "will", "would", "has", "move", "goal", "not", "colon", "see", "found", "spot"))
_AFTER_A_SUBJECT = (_VERBAL | {"place"}) - {"see", "has"}
_IDLE = frozenset(("and", "or", "only", "blocks", "respectively"))  # they matter only to what stands beside them
_VERBS = frozenset(("is", "colon", "be", "will", "would", "has", "with", "see", "surrounded", "move", "there", "which"))


class ClauseReader:
    """A small state machine; one instance reads one text."""

    def __init__(self, prediction: bool, people: Discourse, facts: Facts) -> None:
        self.prediction, self.people, self.facts = prediction, people, facts
        self.previous_subject: list[int] = []
        self._start_sentence()

    def _start_sentence(self) -> None:
        self.mark = self.facts.bookmark()
        self.before, self.ahead, self.beyond = "", "stop", "stop"
        self.doubtful = self.acted = self.supposed = False
        self.order: tuple[int, int] | None = None
        self.view: list[int] = [SELF]
        self.sentence: list[int] = []
        self.subject: list[int] | None = None
        self.subject_mentions: tuple[Mention, ...] = ()
        self._start_clause()

    def _start_clause(self, gapped: bool = False) -> None:
        self.negated = self.moving = self.currently = False
        if not gapped:
            self.wished = self.future = self.past = False
        self.fronted: list[Place | Spot] = []
        self.wants = ""
        self.ground: list[int] | None = None  # what a place without landmark is measured from
        self.pending = self.beside = self.participle = False
        self.actor: list[int] | None = None  # who pushes, while the subject is what is pushed
        self.owner: list[int] | None = None  # who has what the subject is
        self.placed: tuple[list[int], list[int], list[Step]] | None = None  # the last figures, grounds and steps

    def _claimed(self) -> bool:
        if self.negated or self.wished or self.supposed or self.past or self.doubtful:
            return False
        return not self.currently if self.prediction else not self.future

    def _place_fronted(self) -> None:
        self.pending = False
        fronted, self.fronted = self.fronted, []
        for place in fronted:
            if isinstance(place, Spot):
                self._put_spot(self.subject or [], place)
            else:
                self._put(self.subject or [], place)

    def _put_spot(self, figures: list[int], spot: Spot) -> None:
        if not self._claimed():
            return
        plural = len(self.subject_mentions) == 1 and self.subject_mentions[0].plural
        if plural and figures and figures != [SELF]:  # "holes at (1, 2) and (3, 4)": one each
            free = [i for i in figures if i not in self.facts.spots]
            figures = free[:1] or [self.people.fresh_like(figures[0])]
        for figure in figures:
            self.facts.add_spot(figure, spot)

    def read(self, chunks: list[Chunk]) -> None:
        """Take in every chunk, in order."""
        kinds = [kind for kind, _ in chunks] + ["stop", "stop"]
        for index, (kind, value) in enumerate(chunks):
            if kind not in _IDLE:
                self.ahead, self.beyond = kinds[index + 1], kinds[index + 2]
                if kind == "np":
                    self._noun_phrase(value)
                elif kind == "place":
                    self._place(value)
                elif kind == "spot":
                    self._spot(value)
                elif kind == "stop":
                    self._stop(value)
                elif kind in _VERBS:
                    self._verb(kind, value)
                elif kind in ("view", "goes_to", "near", "between"):
                    self._landmark(kind, value)
                else:
                    self._modify(kind, value)
            self.before = kind
        self._close()

    def _close(self) -> None:
        if self.pending and self.subject is not None:
            self._place_fronted()
        if self.subject:
            self.previous_subject = self.subject
        self.pending = False

    def _stop(self, mark: object) -> None:
        self._close()
        if mark == "?":
            self.facts.forget(self.mark)
        self._start_sentence()

    # ------------------------------------------------------------------ noun phrases

    def _noun_phrase(self, mentions: tuple[Mention, ...]) -> None:
        avoid, prefer = self.subject if self.wants else None, None
        if mentions[0].cls is None:  # "it" as a subject: what was spoken of before, hardly ever the origin
            prefer = [i for i in (self.subject or self.previous_subject) if i != SELF]
        people = self.people.refer_all(mentions, avoid, prefer)
        if self.before == "not" and self.subject is not None and self.wants == "":
            return  # "the target, not the box, is ..."
        if not people and mentions[0].cls == SCENERY and self.before not in _OPENERS:
            return  # "blocks the way"
        main = self.ahead in ("will", "would") or (self.acted and self.ahead in _VERBAL)
        if main and self.before not in JOINTS:
            self.supposed = False  # "after these moves I will ...": the main clause, without a comma
        if self.order and len(people) > 1:
            axis, sign = self.order
            for first, second in itertools.pairwise(people):
                self.facts.add(axis, Fact(second, first, sign))
        if mentions[0].how == "no":
            self.negated = True
        if self.wants:
            self._object(people, mentions)
        elif self.fronted and self.subject is None:
            self._new_subject(people, mentions)
            verb_follows = self.ahead in _VERBAL and self.before not in ("is", "be", "there", "found", "has")
            if verb_follows and not self.participle:
                self.pending = True
            else:
                self._place_fronted()
        else:
            if self.before in _OPENERS or self.subject is None:  # a clause may begin here
                keep_negation = self.negated and (self.before in ("not", "there") or mentions[0].how == "no")
                currently = self.currently and self.subject is None
                self._close()
                self._start_clause(gapped=self.ahead in ("place", "spot") or self.before in ("so_that", "if"))
                self.negated, self.currently = keep_negation, currently
            self._new_subject(people, mentions)
        self.sentence += people

    def _new_subject(self, people: list[int], mentions: tuple[Mention, ...]) -> None:
        if self.subject:
            self.previous_subject = self.subject
        self.subject, self.subject_mentions = people, mentions

    def _object(self, people: list[int], mentions: tuple[Mention, ...]) -> None:
        """What someone has, sees or pushes becomes what the next place is about."""
        owner = self.subject
        wanted, self.wants = self.wants, ""
        if wanted == "move" and self.actor is None:
            self.actor = owner
        if wanted == "has":
            self.owner = owner
        if wanted == "has" and owner is not None and not self.fronted:
            self.ground = owner
        elif wanted in ("has", "with", "see", "surrounded"):
            self.ground = owner if wanted == "surrounded" else None
        self._new_subject(people, mentions)
        if self.fronted:
            self._place_fronted()

    def _landmark(self, kind: str, mentions: tuple[Mention, ...]) -> None:
        """Noun phrases that place nothing by themselves: a point of view, an aim, a neighbour, the ends of a line."""
        if kind == "goes_to":
            if self.moving and self.prediction and self.subject:
                self._put(self.subject, Place((((0, 0), None),), mentions, reaching=True))
            return
        found = self.people.refer_all(mentions)
        if kind == "view" and self.subject is None:
            self.view = found or self.view
        elif kind == "view":
            if found and found != self.subject:  # "the position of the box relative to the player"
                self.ground = found
        else:
            self.sentence += found
            if kind == "between" and len(found) == 2 and self.subject and self._claimed():
                self.facts.middles += [(figure, found[0], found[1]) for figure in self.subject]

    # ------------------------------------------------------------------ verbs and moods

    def _resume(self) -> None:
        """ "... pushes the box and is": back to who pushes."""
        if self.before in JOINTS and self.actor:
            self.subject, self.actor = self.actor, None

    def _verb(self, kind: str, word: object) -> None:
        finite, joined = self.before in _FINITE_AFTER, self.before in JOINTS
        match kind:
            case "is" | "colon":
                self.acted = True
                self._resume()
                if joined and word in _BASE_FORMS and (self.wished or self.future):
                    return  # "should go around and stand"
                if finite:
                    self.wished = self.moving = self.past = self.future = False
                self.negated = self.negated and not joined
                self.wants = ""
            case "be":  # a participle right after a landmark is about the landmark: "the player, located at (2, 3)"
                if self.ahead == "spot" and self.before in ("comma", "place") and self.sentence:
                    self.subject = self.sentence[-1:]
                elif self.subject is None and self.before in _OPENERS and not self.fronted:
                    self.participle = True  # "being in the same row as the box, the player ..."
                elif self.before == "comma":
                    self._resume()
                    self.wished = self.moving = False
            case "will":
                self._resume()
                if finite:
                    self.wished = self.moving = False
                self.future = True
                self.negated = self.negated and not joined
            case "would":
                duty = word == "should" and self.ahead == "move" and self.subject == [SELF]
                if self.prediction and not duty:
                    self._verb("will", word)
                else:
                    self.wished = True
            case "has" if self.ahead not in ("be", "move", "was"):  # not "has been", "has moved"
                self._resume()
                if finite:
                    self.wished = self.moving = False
                self.wants = "has"
            case "with":
                self.wants = "with"
                self.moving = False
            case "see" if self.ahead == "np":
                self.wants = "see"
                self.future = self.wished = False
            case "surrounded":
                self.wants = "surrounded"
            case "move":
                self.moving = self.acted = True
                self.fronted = []
                self.wants = "move" if self.ahead == "np" else ""
            case "there" if self.before in _OPENERS:
                fronted = self.fronted if self.subject is None else []
                self._close()
                self._start_clause()
                self.fronted, self.subject = fronted, None
            case "which" if self.ahead not in ("np", "there") and self.sentence:  # not "I see that the box ..."
                last = self.sentence[-1:]  # a relative clause is about the thing named last
                self.previous_subject = self.subject or []
                other = [i for i in (self.subject or []) if i not in last]
                beside = self.beside
                self._start_clause()
                self.subject, self.subject_mentions, self.beside = last, (), beside
                self.ground = other or None

    def _modify(self, kind: str, value: Any) -> None:
        """Words that say whether a clause is claimed at all."""
        match kind:
            case "comma":
                self.negated = self.supposed = False
            case "but" | "while":
                self.negated = self.supposed = self.currently = self.doubtful = False
            case "was":
                self.past = True
            case "not":
                self.negated = True
            case "goal":
                self.wished = True
            case "found":
                self.wished = False
            case "if":  # claims nothing; what follows from an "if" is no description of the present either
                self.supposed, self.acted = True, False
                self.doubtful |= value in _CONDITIONS and not self.prediction
            case "so_that":  # a purpose; in a prediction it will come about, unless the means is only wished for
                self.supposed, self.acted = self.wished or not self.prediction, False
            case "then" | "now":
                self.supposed = False
                self.doubtful = self.doubtful and value == "then"
            case "maybe":
                self.doubtful = True
            case "legend":  # "Symbols: ... P you, * you on the goal" explains; it describes nothing
                self.doubtful |= self.ahead == "colon"
            case "currently":
                self.currently, self.supposed, self.doubtful = True, False, False
            case "order":
                self.order = value

    # ------------------------------------------------------------------ places

    def _place(self, place: Place) -> None:
        if self.ahead in _INVERTERS:
            inverted = self.ahead == "there" or self.beyond in ("np", "be", "there")
        else:
            inverted = self.ahead == "np" and self.beyond not in _AFTER_A_SUBJECT
        if inverted and self.subject is not None and self.before in JOINTS:  # "... and to the left is the box"
            owner = self.owner
            self._close()
            self._start_clause()
            self.subject = None
            self.previous_subject = owner or self.previous_subject
        if self.wants in ("has", "see") and self.ahead == "np":  # "has to its left the box"
            self.fronted.append(place)
            return
        if self.subject is None:
            self.fronted.append(place)
        else:
            self.pending = False
            self._put(self.subject, place)

    def _spot(self, spot: Spot) -> None:
        if self.before == "place" and self.sentence:
            self._put_spot(self.sentence[-1:], spot)
        elif self.subject is None:
            self.fronted.append(spot)
        else:
            self._put_spot(self.subject, spot)

    def _put(self, figures: list[int], place: Place) -> None:
        """Keep that the figures are at the place, if that is claimed at all."""
        grounds = self._grounds(figures, place)
        explicit = place.grounds is not None
        if place.absolute or not self._claimed():
            return
        if self.moving and not place.reaching and not (self.prediction and explicit):
            return
        if place.direct and not place.atoms:
            self.beside = True
            # "To the right, next to me": nothing lies to the side of what was just placed.
            if self.placed is not None and self.placed[0] == figures and len({step[0] for step in self.placed[2]}) == 1:
                axis = 1 - self.placed[2][0][0]
                for figure, ground in itertools.product(figures, self.placed[1]):
                    self.facts.add(axis, Fact(figure, ground, 0, 0, weak=True))
        # "Respectively", or as many things as directions that cannot all be true of one of them.
        counted = len(self.subject_mentions) == 1 and self.subject_mentions[0].plural
        one_each = len(figures) == len(place.atoms) and (
            "respectively" in (self.before, self.ahead)
            or (counted and len(figures) > 1 and SELF not in figures and _clash(_steps(place.atoms)))
        )
        if grounds is None:  # "the box and the player are in the same row"
            origin = SELF if SELF in figures else figures[0]
            for axes, _ in place.atoms:
                for figure, (axis, sign) in itertools.product(figures, enumerate(axes)):
                    if sign is not None:
                        self.facts.add(axis, Fact(figure, origin, sign))
        elif one_each:
            for figure, atom in zip(figures, place.atoms, strict=True):
                self._relate([figure], grounds, place._replace(atoms=(atom,)))
        elif place.either:
            self.facts.void.update(i for i in (grounds if figures == [SELF] else figures) if i != SELF)
        else:
            self._relate(figures, grounds, place)

    def _grounds(self, figures: list[int], place: Place) -> list[int] | None:
        """The landmarks; None when the figures are only compared with each other."""
        if place.grounds is not None:
            if place.grounds == _THE_SELF:
                found = self.people.refer(place.grounds[0])
            else:
                earlier = [*(self.ground or []), *(self.subject or []), *self.previous_subject]
                found = self.people.refer_all(place.grounds, figures, earlier)
            self.sentence += found
            self.ground = found
            return found
        if len(figures) > 1 and any(0 in axes for axes, _ in place.atoms) and self.ground is None:
            return None
        if self.ground is not None:
            return self.ground
        return self.view

    def _relate(self, figures: list[int], grounds: list[int], place: Place) -> None:
        steps = _steps(place.atoms)
        if steps:
            self.placed = figures, grounds, steps
        # A plural whose directions clash, or which were listed one by one without a number of things, is spread over
        # several members; everyone else has all the directions.
        plurals = [m for m in self.subject_mentions if m.plural]
        listed = place.apart and len(place.atoms) > 1 and all(m.number is None and m.how != "both" for m in plurals)
        spread = len(steps) > 1 and plurals and (listed or _clash(steps))
        members: list[tuple[int, list[Step]]] = []
        for figure in figures:
            if spread and figure != SELF:
                each = [figure] + [self.people.fresh_like(figure) for _ in place.atoms[1:]]
                members += [(member, _steps((atom,))) for member, atom in zip(each, place.atoms, strict=True)]
            else:
                members.append((figure, steps))
        direct = place.direct or self.beside
        for (member, own), ground in itertools.product(members, grounds):
            for axis, sign, cells in own:
                self.facts.add(axis, Fact(member, ground, sign, cells))
            if direct and own and own[0][1] != 0 and len({axis for axis, _, _ in own}) == 1:
                self.facts.add(1 - own[0][0], Fact(member, ground, 0, 0, weak=True))


def _steps(atoms: tuple[tuple[Axes, int | None], ...]) -> list[Step]:
    return [(axis, sign, cells) for axes, cells in atoms for axis, sign in enumerate(axes) if sign is not None]


def _clash(steps: list[Step]) -> bool:
    return any(len({sign for axis, sign, _ in steps if axis == wanted}) > 1 for wanted in (0, 1))
