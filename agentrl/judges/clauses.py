"""Who is where: reads the chunks of a text clause by clause and keeps what is claimed.

Not claimed, and so left out: what is negated, wished for, planned, supposed or past; in a description of the present
also what is only going to be; in a prediction also what is said to be so before the move.
"""

from __future__ import annotations

from agentrl.judges.discourse import PLAYER, Discourse
from agentrl.judges.facts import Fact, Facts
from agentrl.judges.phrases import Axes, Chunk, Mention, Place, Spot

_OPENERS = frozenset(("", "stop", "and", "comma", "but", "while", "or", "if", "then", "which", "so_that", "there", "now"))
_JOINTS = frozenset(("and", "comma", "but", "while", "or"))
_FINITE_AFTER = _JOINTS | {"np", "there", "which", "place", "spot", "colon", "", "stop", "then", "now", "view", "currently"}
_VERBAL = frozenset(("is", "be", "was", "will", "would", "has", "move", "goal", "not", "colon", "see", "found", "spot"))


class ClauseReader:
    """A small state machine; one instance reads one text."""

    def __init__(self, prediction: bool, people: Discourse, facts: Facts) -> None:
        self.prediction, self.people, self.facts = prediction, people, facts
        self._start_sentence()
        self.previous_subject: list[int] = []

    def read(self, chunks: list[Chunk]) -> None:
        """Take in every chunk, in order."""
        total = len(chunks)
        for index, (kind, value) in enumerate(chunks):
            self.ahead = chunks[index + 1].kind if index + 1 < total else "stop"
            handler = _HANDLERS.get(kind)
            if handler is not None:
                handler(self, value)
            self.before, self.before_value = kind, value
        self._close()

    # ------------------------------------------------------------------ clause by clause

    def _start_sentence(self) -> None:
        self.before, self.before_value, self.ahead = "", None, "stop"
        self.view: list[int] = [PLAYER]
        self.supposed = False
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
        self.pending = False

    def _close(self) -> None:
        if self.pending and self.subject is not None:
            self._place_fronted()
        if self.subject:
            self.previous_subject = self.subject
        self.pending = False

    def _stop(self, _: object) -> None:
        self._close()
        self._start_sentence()

    def _joint(self, _: object) -> None:
        self.negated = False
        if self.before != "if":
            self.supposed = False

    def _and(self, _: object) -> None:
        pass

    def _but(self, value: object) -> None:
        self._joint(value)
        self.supposed = self.currently = False

    # ------------------------------------------------------------------ noun phrases

    def _np(self, mentions: tuple[Mention, ...]) -> None:
        if self.before == "not" and self.subject is not None and self.wants == "":
            return  # "the target, not the box, is ..."
        avoid = [] if self.wants == "" else (self.subject or [])
        people = self.people.refer_all(mentions, avoid, self._antecedents())
        self.sentence += people
        if mentions[0].how == "no":
            self.negated = True
        if self.wants:
            self._object(people, mentions)
        elif self.fronted and self.subject is None:
            self._new_subject(people, mentions)
            if self.ahead in _VERBAL and self.before not in ("is", "be", "there", "found", "has"):
                self.pending = True
            else:
                self._place_fronted()
        elif self.before in _OPENERS or self.subject is None:
            self._begin(people, mentions)
        else:
            self._new_subject(people, mentions)

    def _antecedents(self) -> list[int]:
        return self.subject or self.previous_subject

    def _begin(self, people: list[int], mentions: tuple[Mention, ...]) -> None:
        """A noun phrase where a clause may begin."""
        keep_negation = self.negated and (self.before in ("not", "there") or mentions[0].how == "no")
        self._close()
        self._start_clause(gapped=self.ahead in ("place", "spot") or self.before in ("so_that", "if"))
        self.negated = keep_negation
        self._new_subject(people, mentions)

    def _new_subject(self, people: list[int], mentions: tuple[Mention, ...]) -> None:
        if self.subject:
            self.previous_subject = self.subject
        self.subject, self.subject_mentions = people, mentions

    def _object(self, people: list[int], mentions: tuple[Mention, ...]) -> None:
        """What someone has, sees or pushes becomes what the next place is about."""
        owner = self.subject
        wanted, self.wants = self.wants, ""
        if wanted == "has" and owner is not None and not self.fronted:
            self.ground = owner
        elif wanted in ("has", "with", "see", "surrounded"):
            self.ground = owner if wanted == "surrounded" else None
        self._new_subject(people, mentions)
        if self.fronted:
            self._place_fronted()

    def _which(self, _: object) -> None:
        if self.ahead in ("np", "there"):
            return  # "I see that the box ..."
        last = self._latest()
        if last:
            self.previous_subject = self.subject or []
            other = [i for i in (self.subject or []) if i not in last]
            self._start_clause()
            self.subject, self.subject_mentions = last, ()
            self.ground = other or None

    def _latest(self) -> list[int]:
        """The thing named last, which a relative clause is about."""
        return self.sentence[-1:]

    # ------------------------------------------------------------------ verbs and moods

    def _is(self, _: object) -> None:
        if self.before in _FINITE_AFTER:
            self.wished = self.moving = self.past = False
            self.future = False
            if self.before in _JOINTS:
                self.negated = False
        self.wants = ""

    def _be(self, _: object) -> None:
        """A participle right after a landmark is about the landmark: "the player, located at (2, 3)"."""
        if self.ahead == "spot" and self.before in ("comma", "place") and self.sentence:
            self.subject = self.sentence[-1:]

    def _was(self, _: object) -> None:
        self.past = True

    def _will(self, _: object) -> None:
        if self.before in _FINITE_AFTER:
            self.wished = self.moving = False
        self.future = True
        if self.before in _JOINTS:
            self.negated = False

    def _would(self, value: object) -> None:
        if self.prediction:
            self._will(value)
        else:
            self.wished = True

    def _has(self, _: object) -> None:
        if self.ahead in ("be", "move", "was"):
            return  # "has been", "has moved"
        if self.before in _FINITE_AFTER:
            self.wished = self.moving = False
        self.wants = "has"

    def _with(self, _: object) -> None:
        self.wants = "with"
        self.moving = False

    def _see(self, _: object) -> None:
        if self.ahead == "np":
            self.wants = "see"

    def _surrounded(self, _: object) -> None:
        self.wants = "surrounded"

    def _there(self, _: object) -> None:
        if self.before in _OPENERS:
            fronted = self.fronted if self.subject is None else []
            self._close()
            self._start_clause()
            self.fronted, self.subject = fronted, None

    def _not(self, _: object) -> None:
        self.negated = True

    def _goal(self, _: object) -> None:
        self.wished = True

    def _found(self, _: object) -> None:
        self.wished = False

    def _if(self, _: object) -> None:
        self.supposed = True

    def _so_that(self, _: object) -> None:
        self.wished = not self.prediction

    def _then(self, _: object) -> None:
        self.supposed = False

    def _now(self, _: object) -> None:
        self.supposed = False

    def _move(self, _: object) -> None:
        self.moving = True
        self.fronted = []
        self.wants = "move" if self.ahead == "np" else ""

    def _currently(self, _: object) -> None:
        self.currently, self.supposed = True, False

    def _colon(self, value: object) -> None:
        self._is(value)

    def _view(self, mentions: tuple[Mention, ...]) -> None:
        self.view = self.people.refer_all(mentions) or self.view

    # ------------------------------------------------------------------ places

    def _claimed(self) -> bool:
        if self.negated or self.wished or self.supposed or self.past:
            return False
        return not self.currently if self.prediction else not self.future

    def _place(self, place: Place) -> None:
        if self.subject is None:
            self.fronted.append(place)
        else:
            self.pending = False
            self._put(self.subject, place)

    def _place_fronted(self) -> None:
        self.pending = False
        fronted, self.fronted = self.fronted, []
        for place in fronted:
            if isinstance(place, Spot):
                self._put_spot(self.subject or [], place)
            else:
                self._put(self.subject or [], place)

    def _goes_to(self, mentions: tuple[Mention, ...]) -> None:
        if self.moving and self.prediction and self.subject:
            self._put(self.subject, Place((((0, 0), None),), mentions, reaching=True))

    def _between(self, _: object) -> None:
        self.wants = ""

    def _spot(self, spot: Spot) -> None:
        if self.before == "place" and self.sentence:
            self._put_spot(self.sentence[-1:], spot)
        elif self.subject is None:
            self.fronted.append(spot)
        else:
            self._put_spot(self.subject, spot)

    def _put_spot(self, figures: list[int], spot: Spot) -> None:
        if not self._claimed():
            return
        plural = len(self.subject_mentions) == 1 and self.subject_mentions[0].plural
        free = [i for i in figures if i not in self.facts.spots]
        if plural and figures != [PLAYER]:
            self.facts.add_spot(free[0] if free else self.people.fresh_like(figures[0]), spot) if figures else None
            return
        for figure in figures:
            self.facts.add_spot(figure, spot)

    def _put(self, figures: list[int], place: Place) -> None:
        """Keep that the figures are at the place, if that is claimed at all."""
        grounds = self._grounds(figures, place)
        explicit = place.grounds is not None
        if place.absolute or not self._claimed():
            return
        if self.moving and not place.reaching and not (self.prediction and explicit):
            return
        if grounds is None:
            self._together(figures, place)
        elif place.either:
            self.facts.void.update(i for i in (grounds if figures == [PLAYER] else figures) if i != PLAYER)
        else:
            self._relate(figures, grounds, place)

    def _grounds(self, figures: list[int], place: Place) -> list[int] | None:
        """The landmarks; None when the figures are only compared with each other."""
        if place.grounds is not None:
            avoid = figures
            found = self.people.refer_all(place.grounds, avoid, self._antecedents_of(figures))
            self.sentence += found
            self.ground = found
            return found
        if len(figures) > 1 and any(0 in axes for axes, _ in place.atoms) and self.ground is None:
            return None
        if self.ground is not None:
            return self.ground
        return self.view

    def _antecedents_of(self, figures: list[int]) -> list[int]:
        return [i for i in [*(self.subject or []), *self.previous_subject] if i not in figures]

    def _together(self, figures: list[int], place: Place) -> None:
        """ "The box and the player are in the same row"."""
        origin = PLAYER if PLAYER in figures else figures[0]
        for (rows, columns), _ in place.atoms:
            for figure in figures:
                for axis, sign in ((0, rows), (1, columns)):
                    if sign is not None:
                        self.facts.add(axis, Fact(figure, origin, sign))

    def _relate(self, figures: list[int], grounds: list[int], place: Place) -> None:
        for figure in figures:
            for signs, cells in self._members(figure, place):
                member = signs[0]
                for ground in grounds:
                    self._add(member, ground, signs[1], cells, place.direct)

    def _members(self, figure: int, place: Place) -> list[tuple[tuple[int, list[tuple[int, int, int | None]]], None]]:
        """The figure with all its directions; a plural whose directions clash is spread over several members."""
        atoms = [
            (axis, sign, cells) for axes, cells in place.atoms for axis, sign in enumerate(axes) if sign is not None
        ]
        plural = any(m.plural for m in self.subject_mentions) and figure != PLAYER
        if plural and _clash(atoms):
            members = [figure] + [self.people.fresh_like(figure) for _ in place.atoms[1:]]
            return [
                ((m, [(axis, sign, cells) for axis, sign in enumerate(axes) if sign is not None]), None)
                for m, (axes, cells) in zip(members, place.atoms, strict=True)
            ]
        return [((figure, atoms), None)]

    def _add(self, figure: int, ground: int, atoms: list[tuple[int, int, int | None]], _: object, direct: bool) -> None:
        for axis, sign, cells in atoms:
            self.facts.add(axis, Fact(figure, ground, sign, cells))
        axes = {axis for axis, _, _ in atoms}
        if direct and len(axes) == 1 and atoms[0][1] != 0:
            self.facts.add(1 - axes.pop(), Fact(figure, ground, 0, 0, weak=True))


def _clash(atoms: list[tuple[int, int, int | None]]) -> bool:
    return any(len({sign for axis, sign, _ in atoms if axis == wanted}) > 1 for wanted in (0, 1))


_HANDLERS = {
    "np": ClauseReader._np,
    "place": ClauseReader._place,
    "spot": ClauseReader._spot,
    "stop": ClauseReader._stop,
    "comma": ClauseReader._joint,
    "and": ClauseReader._and,
    "or": ClauseReader._and,
    "but": ClauseReader._but,
    "while": ClauseReader._but,
    "is": ClauseReader._is,
    "be": ClauseReader._be,
    "was": ClauseReader._was,
    "will": ClauseReader._will,
    "would": ClauseReader._would,
    "has": ClauseReader._has,
    "with": ClauseReader._with,
    "see": ClauseReader._see,
    "surrounded": ClauseReader._surrounded,
    "there": ClauseReader._there,
    "not": ClauseReader._not,
    "goal": ClauseReader._goal,
    "found": ClauseReader._found,
    "if": ClauseReader._if,
    "so_that": ClauseReader._so_that,
    "then": ClauseReader._then,
    "now": ClauseReader._now,
    "move": ClauseReader._move,
    "currently": ClauseReader._currently,
    "colon": ClauseReader._colon,
    "view": ClauseReader._view,
    "goes_to": ClauseReader._goes_to,
    "which": ClauseReader._which,
    "between": ClauseReader._between,
}
