"""Who is where: reads the chunks of a text clause by clause and keeps what is claimed.

Not claimed, and so left out: what is negated, wished for, planned, supposed or past; in a description of the present
also what is only going to be; in a prediction also what is said to be so before the move.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import ClassVar

from agentrl.judges.grammar.chunks import Chunk, Mention, Place, Spot
from agentrl.judges.grammar.discourse import SELF
from agentrl.judges.grammar.facts import Fact
from agentrl.judges.grammar.lexicon import SCENERY
from agentrl.judges.grammar.placing import Placing

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


class ClauseReader(Placing):
    """A small state machine; one instance reads one text."""

    handlers: ClassVar[dict[str, Callable[..., None]]]  # kind of chunk -> method

    def read(self, chunks: list[Chunk]) -> None:
        """Take in every chunk, in order."""
        kinds = [kind for kind, _ in chunks] + ["stop", "stop"]
        for index, (kind, value) in enumerate(chunks):
            handler = self.handlers.get(kind)
            if handler is not None:
                self.ahead, self.beyond = kinds[index + 1], kinds[index + 2]
                handler(self, value)
            self.before = kind
        self._close()

    # ------------------------------------------------------------------ clause by clause

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

    def _joint(self, _: object) -> None:
        self.negated = self.supposed = False

    def _but(self, value: object) -> None:
        self._joint(value)
        self.currently = self.doubtful = False

    # ------------------------------------------------------------------ noun phrases

    def _np(self, mentions: tuple[Mention, ...]) -> None:
        avoid = self.subject if self.wants else None
        people = self.people.refer_all(mentions, avoid, self._antecedents() if mentions[0].cls is None else None)
        if self.before == "not" and self.subject is not None and self.wants == "":
            return  # "the target, not the box, is ..."
        if not people and mentions[0].cls == SCENERY and self.before not in _OPENERS:
            return  # "blocks the way"
        main = self.ahead in ("will", "would") or (self.acted and self.ahead in _VERBAL)
        if main and self.before not in JOINTS:
            self.supposed = False  # "after these moves I will ...": the main clause, without a comma
        self._take_np(people, mentions)
        self.sentence += people

    def _take_np(self, people: list[int], mentions: tuple[Mention, ...]) -> None:
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
            if self.participle:
                self._place_fronted()
            elif self.ahead in _VERBAL and self.before not in ("is", "be", "there", "found", "has"):
                self.pending = True
            else:
                self._place_fronted()
        elif self.before in _OPENERS or self.subject is None:
            self._begin(people, mentions)
        else:
            self._new_subject(people, mentions)

    def _antecedents(self) -> list[int]:
        """What "it" as a subject means: what was spoken of before, hardly ever the origin."""
        return [i for i in (self.subject or self.previous_subject) if i != SELF]

    def _begin(self, people: list[int], mentions: tuple[Mention, ...]) -> None:
        """A noun phrase where a clause may begin."""
        keep_negation = self.negated and (self.before in ("not", "there") or mentions[0].how == "no")
        currently = self.currently and self.subject is None
        self._close()
        self._start_clause(gapped=self.ahead in ("place", "spot") or self.before in ("so_that", "if"))
        self.negated, self.currently = keep_negation, currently
        self._new_subject(people, mentions)

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

    def _which(self, _: object) -> None:
        if self.ahead in ("np", "there"):
            return  # "I see that the box ..."
        last = self.sentence[-1:]  # a relative clause is about the thing named last
        if last:
            self.previous_subject = self.subject or []
            other = [i for i in (self.subject or []) if i not in last]
            beside = self.beside
            self._start_clause()
            self.subject, self.subject_mentions, self.beside = last, (), beside
            self.ground = other or None

    # ------------------------------------------------------------------ verbs and moods

    def _resume(self) -> None:
        """ "... pushes the box and is": back to who pushes."""
        if self.before in JOINTS and self.actor:
            self.subject, self.actor = self.actor, None

    def _is(self, value: object) -> None:
        self.acted = True
        self._resume()
        if self.before in JOINTS and value in _BASE_FORMS and (self.wished or self.future):
            return  # "should go around and stand"
        if self.before in _FINITE_AFTER:
            self.wished = self.moving = self.past = self.future = False
            if self.before in JOINTS:
                self.negated = False
        self.wants = ""

    def _be(self, _: object) -> None:
        """A participle right after a landmark is about the landmark: "the player, located at (2, 3)"."""
        if self.ahead == "spot" and self.before in ("comma", "place") and self.sentence:
            self.subject = self.sentence[-1:]
        elif self.subject is None and self.before in _OPENERS and not self.fronted:
            self.participle = True  # "being in the same row as the box, the player ..."
        elif self.before == "comma":
            self._resume()
            self.wished = self.moving = False

    def _was(self, _: object) -> None:
        self.past = True

    def _will(self, _: object) -> None:
        self._resume()
        if self.before in _FINITE_AFTER:
            self.wished = self.moving = False
        self.future = True
        if self.before in JOINTS:
            self.negated = False

    def _would(self, value: object) -> None:
        duty = value == "should" and self.ahead == "move" and self.subject == [SELF]
        if self.prediction and not duty:
            self._will(value)
        else:
            self.wished = True

    def _has(self, _: object) -> None:
        if self.ahead in ("be", "move", "was"):
            return  # "has been", "has moved"
        self._resume()
        if self.before in _FINITE_AFTER:
            self.wished = self.moving = False
        self.wants = "has"

    def _with(self, _: object) -> None:
        self.wants = "with"
        self.moving = False

    def _see(self, _: object) -> None:
        if self.ahead == "np":
            self.wants = "see"
            self.future = self.wished = False

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

    def _if(self, word: object) -> None:
        """A subordinate clause claims nothing; what follows from an "if" is no description of the present either."""
        self.supposed, self.acted = True, False
        self.doubtful |= word in _CONDITIONS and not self.prediction

    def _so_that(self, _: object) -> None:
        """A purpose; in a prediction it is what will come about, unless the means is only wished for."""
        self.supposed, self.acted = self.wished or not self.prediction, False

    def _then(self, word: object) -> None:
        self.supposed = False
        self.doubtful = self.doubtful and word == "then"

    def _move(self, _: object) -> None:
        self.moving = self.acted = True
        self.fronted = []
        self.wants = "move" if self.ahead == "np" else ""

    def _maybe(self, _: object) -> None:
        self.doubtful = True

    def _legend(self, _: object) -> None:
        """ "Symbols: ... P you, * you on the goal" explains; it describes nothing."""
        self.doubtful |= self.ahead == "colon"

    def _currently(self, _: object) -> None:
        self.currently, self.supposed, self.doubtful = True, False, False

    def _view(self, mentions: tuple[Mention, ...]) -> None:
        found = self.people.refer_all(mentions)
        if self.subject is None:
            self.view = found or self.view
        elif found and found != self.subject:  # "the position of the box relative to the player"
            self.ground = found

    # ------------------------------------------------------------------ places

    def _inverts(self) -> bool:
        """Does this place open a clause of its own, as in "... and to the left is the box"?"""
        if self.subject is None or self.before not in JOINTS:
            return False
        if self.ahead in _INVERTERS:
            return self.ahead == "there" or self.beyond in ("np", "be", "there")
        return self.ahead == "np" and (self.beyond in ("see", "has") or self.beyond not in _VERBAL | {"place"})

    def _place(self, place: Place) -> None:
        if self._inverts():
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

    def _goes_to(self, mentions: tuple[Mention, ...]) -> None:
        if self.moving and self.prediction and self.subject:
            self._put(self.subject, Place((((0, 0), None),), mentions, reaching=True))

    def _near(self, mentions: tuple[Mention, ...]) -> None:
        """ "Two tiles away from the goal": no direction, but the goal has been named."""
        self.sentence += self.people.refer_all(mentions)

    def _order(self, value: tuple[int, int]) -> None:
        self.order = value

    def _between(self, mentions: tuple[Mention, ...]) -> None:
        ends = self.people.refer_all(mentions)
        self.sentence += ends
        if len(ends) == 2 and self.subject and self._claimed():
            self.facts.middles += [(figure, ends[0], ends[1]) for figure in self.subject]

    def _spot(self, spot: Spot) -> None:
        if self.before == "place" and self.sentence:
            self._put_spot(self.sentence[-1:], spot)
        elif self.subject is None:
            self.fronted.append(spot)
        else:
            self._put_spot(self.subject, spot)


ClauseReader.handlers = {
    "np": ClauseReader._np,
    "place": ClauseReader._place,
    "spot": ClauseReader._spot,
    "stop": ClauseReader._stop,
    "comma": ClauseReader._joint,
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
    "maybe": ClauseReader._maybe,
    "now": ClauseReader._then,
    "move": ClauseReader._move,
    "legend": ClauseReader._legend,
    "currently": ClauseReader._currently,
    "colon": ClauseReader._is,
    "view": ClauseReader._view,
    "goes_to": ClauseReader._goes_to,
    "which": ClauseReader._which,
    "near": ClauseReader._near,
    "order": ClauseReader._order,
    "between": ClauseReader._between,
}
