"""Who is put where: the state of the sentence and clause being read, and what a place in it means."""

from __future__ import annotations

from agentrl.judges.grammar.chunks import Axes, Mention, Place, Spot
from agentrl.judges.grammar.discourse import SELF, Discourse
from agentrl.judges.grammar.facts import Fact, Facts
from agentrl.judges.grammar.lexicon import ORIGIN

_THE_SELF = (Mention(ORIGIN),)
Step = tuple[int, int, int | None]  # axis, sign, number of cells


class Placing:
    """Keeps the facts that a clause claims."""

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
            self._straighten(figures)
        if grounds is None:
            self._together(figures, place)
        elif len(figures) == len(place.atoms) and self._one_each(figures, place):
            for figure, atom in zip(figures, place.atoms, strict=True):
                self._relate([figure], grounds, place._replace(atoms=(atom,)))
        elif place.either:
            self.facts.void.update(i for i in (grounds if figures == [SELF] else figures) if i != SELF)
        else:
            self._relate(figures, grounds, place)

    def _one_each(self, figures: list[int], place: Place) -> bool:
        """ "Respectively", or as many things as directions that cannot all be true of one of them."""
        if "respectively" in (self.before, self.ahead):
            return True
        counted = len(self.subject_mentions) == 1 and self.subject_mentions[0].plural
        return counted and len(figures) > 1 and SELF not in figures and _clash(_steps(place.atoms))

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

    def _together(self, figures: list[int], place: Place) -> None:
        """ "The box and the player are in the same row"."""
        origin = SELF if SELF in figures else figures[0]
        for (rows, columns), _ in place.atoms:
            for figure in figures:
                for axis, sign in ((0, rows), (1, columns)):
                    if sign is not None:
                        self.facts.add(axis, Fact(figure, origin, sign))

    def _relate(self, figures: list[int], grounds: list[int], place: Place) -> None:
        steps = _steps(place.atoms)
        if steps:
            self.placed = figures, grounds, steps
        for figure in figures:
            for member, own_steps in self._members(figure, place, steps):
                for ground in grounds:
                    self._add(member, ground, own_steps, place.direct or self.beside)

    def _straighten(self, figures: list[int]) -> None:
        """ "To the right, next to me": nothing lies to the side of what was just placed."""
        if self.placed is not None and self.placed[0] == figures and len({step[0] for step in self.placed[2]}) == 1:
            axis = 1 - self.placed[2][0][0]
            for figure in figures:
                for ground in self.placed[1]:
                    self.facts.add(axis, Fact(figure, ground, 0, 0, weak=True))

    def _members(self, figure: int, place: Place, steps: list[Step]) -> list[tuple[int, list[Step]]]:
        """The figure with all its directions; a plural whose directions clash, or which were listed one by one without
        a number of things, is spread over several members."""
        plurals = [m for m in self.subject_mentions if m.plural]
        listed = place.apart and len(place.atoms) > 1 and all(m.number is None and m.how != "both" for m in plurals)
        if len(steps) < 2 or figure == SELF or not plurals or not (listed or _clash(steps)):
            return [(figure, steps)]
        members = [figure] + [self.people.fresh_like(figure) for _ in place.atoms[1:]]
        return [(member, _steps((atom,))) for member, atom in zip(members, place.atoms, strict=True)]

    def _add(self, figure: int, ground: int, steps: list[Step], direct: bool) -> None:
        for axis, sign, cells in steps:
            self.facts.add(axis, Fact(figure, ground, sign, cells))
        if direct and steps and steps[0][1] != 0 and len({axis for axis, _, _ in steps}) == 1:
            self.facts.add(1 - steps[0][0], Fact(figure, ground, 0, 0, weak=True))


def _steps(atoms: tuple[tuple[Axes, int | None], ...]) -> list[Step]:
    return [(axis, sign, cells) for axes, cells in atoms for axis, sign in enumerate(axes) if sign is not None]


def _clash(steps: list[Step]) -> bool:
    return any(len({sign for axis, sign, _ in steps if axis == wanted}) > 1 for wanted in (0, 1))
