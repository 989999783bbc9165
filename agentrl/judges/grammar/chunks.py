"""The pieces that clauses are made of, and the kinds of lexemes that make them up."""

from __future__ import annotations

from typing import Any, NamedTuple

Axes = tuple[int | None, int | None]  # rows down, columns right: a sign; None is unsaid


class Mention(NamedTuple):
    """A noun phrase: which class of thing, and the words that tell one individual from another."""

    cls: str | None  # None: "one", "the other", "both", whose class the context gives
    how: str = "the"  # the a no another other both all some one count index ordinal it they
    number: int | str | None = None
    plural: bool = False


class Place(NamedTuple):
    """A spatial predicate. `atoms` are its directions in order; no `grounds` means that they were left unsaid."""

    atoms: tuple[tuple[Axes, int | None], ...] = ()  # (signs, number of cells)
    grounds: tuple[Mention, ...] | None = None
    direct: bool = False  # directly, next to: nothing lies to the side
    either: bool = False  # joined by "or"
    absolute: bool = False  # a part of the grid, not a relation between things
    reaching: bool = False  # a verb of arrival
    apart: bool = False  # a list of directions ("to the west and to the south") rather than one ("above and left")


class Spot(NamedTuple):
    """An absolute place on one or both axes: (scale, number), where numbers of one scale can be compared."""

    row: tuple[str, int] | None = None
    column: tuple[str, int] | None = None


# A piece of a clause: its kind ("np", "place", "spot", or the kind of a verb, conjunction or mark) and its value.
Chunk = tuple[str, Any]


def _kinds(words: str) -> frozenset[str]:
    return frozenset(words.split())


SAME: dict[str, Axes] = {"same_row": (0, None), "same_column": (None, 0), "same_place": (0, 0)}
ATOMS = frozenset(("dir", *SAME))  # what makes a phrase a place
OWNERS = _kinds("poss poss_self poss_it")
BEFORE_ATOM = OWNERS | _kinds("the a filler direct number one unit to at row column side unk")
INSIDE_PLACE = BEFORE_ATOM | ATOMS | _kinds("of link noun adjacent index it both region")
NOUN_STARTS = OWNERS | _kinds("the a no another other both all some one number ordinal noun it they")
VERBS = _kinds("is be was will would has see there found goal not move arrive blocks coincide")
ACTIONS = _kinds("move arrive has see unk coincide goal blocks")  # after "to": an infinitive
PREDICATES = VERBS | _kinds("unk now currently colon pair dir adjacent direct which align share")
CLAUSE_WORDS = _kinds(
    "is be was will would has with see there surrounded blocks not only goal found so_that if then move currently now "
    "and or but while stop comma colon which maybe respectively legend"
)
