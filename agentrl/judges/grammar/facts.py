"""What follows from what was said: facts between individuals become relations to the player, or void each other."""

from __future__ import annotations

from typing import NamedTuple

from agentrl.judges.grammar.chunks import Spot
from agentrl.judges.grammar.discourse import SELF, Discourse
from agentrl.judges.relations import Horizontal, Relation, Vertical

MAX_FACTS = 400
VERTICAL: tuple[Vertical, ...] = ("same", "below", "above")  # by sign: 0, 1, -1
HORIZONTAL: tuple[Horizontal, ...] = ("same", "right", "left")


class Fact(NamedTuple):
    """On one axis `figure` lies at `sign` from `ground`; weak facts ("directly above": no step aside) give way."""

    figure: int
    ground: int
    sign: int
    cells: int | None = None
    weak: bool = False


Bookmark = tuple[int, int, "set[int] | frozenset[int]"]
_NOBODY: frozenset[int] = frozenset()
Value = tuple[int, int | None]  # sign and number of cells, seen from the player


class Facts:
    """Everything a text says, axis by axis (0: rows, 1: columns)."""

    def __init__(self) -> None:
        self.axes: tuple[list[Fact], list[Fact]] = ([], [])
        self.spots: dict[int, list[Spot]] = {}
        self.middles: list[tuple[int, int, int]] = []  # who lies between whom
        self.void: set[int] = set()

    def add(self, axis: int, fact: Fact) -> None:
        """Keep a fact; a text with hundreds of them is read no further."""
        if fact.figure != fact.ground and len(self.axes[axis]) < MAX_FACTS:
            self.axes[axis].append(fact)

    def add_spot(self, individual: int, spot: Spot) -> None:
        """Keep an absolute place."""
        self.spots.setdefault(individual, []).append(spot)

    def bookmark(self) -> Bookmark:
        """Where the text stands, for `forget`."""
        return len(self.axes[0]), len(self.axes[1]), set(self.void) if self.void else _NOBODY

    def forget(self, mark: Bookmark) -> None:
        """Take back what was said since the bookmark: it turned out to be a question."""
        del self.axes[0][mark[0] :]
        del self.axes[1][mark[1] :]
        self.void = set(mark[2])

    # ------------------------------------------------------------------ solving

    def relations(self, people: Discourse, counts: dict[str, int]) -> tuple[list[Relation], list[str]]:
        """Claims about the player's surroundings in order of mention, and the classes of those that void themselves."""
        rows, columns = self.solve()
        claims = []
        for individual in sorted({*rows, *columns, *self.void}):
            cls, down, along = people.classes[individual], rows.get(individual), columns.get(individual)
            if individual in self.void:
                claims.append((individual, Relation(cls)))
            else:
                vertical, horizontal = down and VERTICAL[down[0]], along and HORIZONTAL[along[0]]
                claims.append((individual, Relation(cls, vertical, horizontal)))
        # What is said of all is spread over the members.
        for cls, everyone in people.everyone.items():
            common = next((relation for individual, relation in claims if individual == everyone), None)
            if common is None:
                continue
            members = [i for i, relation in claims if relation.object == cls and i != everyone]
            if members:
                claims = [(i, r.completed_by(common) if i in members else r) for i, r in claims if i != everyone]
            else:
                claims = [entry for entry in claims if entry[0] != everyone]
                claims += [(-1, common)] * min(counts.get(cls, 1), 99)
        # What was only said twice counts once.
        found: list[Relation] = []
        seen: set[Relation] = set()
        for individual, relation in claims:
            if individual != -1 and individual not in people.distinct:
                if relation in seen:
                    continue
                seen.add(relation)
            found.append(relation)
        return found, [people.classes[i] for i in sorted(self.void)]

    def solve(self) -> tuple[dict[int, Value], dict[int, Value]]:
        """Where each individual is, seen from the player, by rows and by columns; `void` has who is nowhere."""
        if self.spots:
            self._compare_spots()
        values = self._solve(0), self._solve(1)
        for figure, one, other in self.middles:
            if SELF in (one, other):  # what lies between the player and a thing lies in the direction of that thing
                far = other if one == SELF else one
                for known, unknown in ((figure, far), (far, figure)):
                    for along in values:
                        if known in along and unknown not in along:
                            along[unknown] = along[known][0], None
        for facts, along in zip(self.axes, values, strict=True):  # above what is above is above
            between = [fact for fact in facts if fact[0] != SELF != fact[1]]
            for _ in range(3 if between and along else 0):
                before = len(along)
                for figure, ground, sign, cells, _ in between:
                    if (ground in along) == (figure in along):
                        continue
                    known, unknown, step = (ground, figure, sign) if ground in along else (figure, ground, -sign)
                    if (value := _sum(along[known], (step, cells))) is not None:
                        along[unknown] = value
                if len(along) == before:
                    break
        return values

    def _solve(self, axis: int) -> dict[int, Value]:
        """What is said directly about each individual and the player; contradictions void the individual."""
        strong: dict[int, Value] = {}
        weak: dict[int, Value] = {}
        for figure, ground, sign, cells, gives_way in self.axes[axis]:
            if ground == SELF:
                individual = figure
            elif figure == SELF:
                individual, sign = ground, -sign
            else:
                continue
            known = (weak if gives_way else strong).setdefault(individual, (sign, cells))
            if known[0] != sign:
                self.void.add(individual)
        values = {**weak, **strong}
        for individual in self.void:
            values.pop(individual, None)
        return values

    def _compare_spots(self) -> None:
        mine = self.spots.get(SELF, [])
        for individual, spots in self.spots.items():
            if individual == SELF:
                continue
            for axis in (0, 1):
                here, there = _on_axis(mine, axis), _on_axis(spots, axis)
                if len(here) > 1 and there:
                    self.void.add(individual)  # a player in two places is nowhere
                for spot in there:
                    if len(here) != 1:
                        continue
                    (scale, number), (my_scale, mine_at) = spot, next(iter(here))
                    sign = (number > mine_at) - (number < mine_at)
                    if scale == my_scale:
                        self.add(axis, Fact(individual, SELF, -sign if scale == "last" else sign))
                    elif number == mine_at == 1 and {scale, my_scale} == {"first", "last"}:  # these two rows differ
                        self.add(axis, Fact(individual, SELF, 1 if scale == "last" else -1))


def _on_axis(spots: list[Spot], axis: int) -> set[tuple[str, int]]:
    return {place for spot in spots if (place := spot[axis]) is not None}


def _sum(one: Value, other: Value) -> Value | None:
    """Two steps one after the other, when the result is certain."""
    (sign, cells), (more, further) = one, other
    if sign == 0 or more == 0:
        return other if sign == 0 else one
    if sign == more:
        return sign, None if cells is None or further is None else cells + further
    if cells is None or further is None:
        return None
    total = sign * cells + more * further
    return (total > 0) - (total < 0), abs(total)
