"""Places: "above and to the left of the box", "in the same row as me", "next to the player", "on the target"."""

from __future__ import annotations

from agentrl.judges.grammar.chunks import (
    INSIDE_PLACE,
    NOUN_STARTS,
    OWNERS,
    SAME,
    Axes,
    Mention,
    Place,
)
from agentrl.judges.grammar.lexicon import SCENERY
from agentrl.judges.grammar.nouns import NounReader, Nouns

_NOWHERE: Axes = (None, None)
_ALIGNED: dict[str, Axes] = {
    "horizontal": (0, None),
    "row": (0, None),
    "vertical": (None, 0),
    "column": (None, 0),
    **SAME,
}
_ALIGNED["unit"] = (0, 0)
_ALIGNMENT = frozenset(("adjacent", "toward", "align", "horizontal", "vertical", "share", "row", "column", "filler"))
_TRAILERS = frozenset(("side", "filler", "unit", "row", "column"))
_CONNECTORS = frozenset(("and", "comma", "or"))
_NO_PLACE_STARTS = frozenset(("noun", "of", "link", "it", "both", "unk"))


class _Run:
    """Directions as far as they have been read."""

    __slots__ = (
        "absolute",
        "apart",
        "article",
        "atoms",
        "cells",
        "direct",
        "either",
        "grounds",
        "listed",
        "opening",
        "own",
        "style",
    )

    def __init__(self, opening: bool) -> None:
        self.opening = opening  # does the phrase open a clause?
        self.atoms: list[tuple[Axes, int | None]] = []
        self.grounds: tuple[Mention, ...] | None = None
        self.direct = self.either = self.absolute = self.article = self.listed = self.own = False
        self.apart = True  # so far every direction stands for itself: "to the west and to the south", "left, below"
        self.style = ""  # of the last direction: prep, side, edge or same
        self.cells: int | None = None


class PlaceReader(NounReader):
    """Reads spatial predicates at a position of the lexemes."""

    def _place(self, i: int) -> tuple[Place, int] | None:
        kind = self.kinds[i]
        if kind in ("at", "arrive", "coincide"):
            on = self._same_place(i)
            if on is not None:
                return on
        if kind in ("adjacent", "toward", "share", "align", "horizontal", "vertical"):
            return self._alignment(i)
        if kind in INSIDE_PLACE and kind not in _NO_PLACE_STARTS and self._atom_ahead(i) is not None:
            return self._directions(i)
        return None

    def _same_place(self, i: int) -> tuple[Place, int] | None:
        """ "On the target", "reaches the goal", "overlaps with the box"."""
        kinds = self.kinds
        kind, j = kinds[i], i + 1
        while kinds[j] in ("at", "with", "to", "direct"):
            j += 1
        if kinds[j] not in NOUN_STARTS or (kind == "at" and self._atom_ahead(j) is not None):
            return None
        np = self.noun_phrase(j)
        if np is None or not np[0] or np[0][0].cls == SCENERY:
            return None
        grounds, after = self._more_nouns(np[0], np[1], subject=False)
        if self.kinds[after] == "side":
            return None
        on_top = self.lexemes[i].value == "on_top_of" and grounds[0].cls in self.vocabulary.solid
        atom: Axes = (-1, None) if on_top else (0, 0)
        return Place(((atom, None),), grounds, reaching=kind == "arrive"), after

    def _alignment(self, i: int) -> tuple[Place, int] | None:
        """ "Next to", "aligned vertically with", "shares a row with"."""
        kinds = self.kinds
        kind, j, axes, seen = kinds[i], i, _NOWHERE, kinds[i]
        while self._in_alignment(j, seen):
            axes = _ALIGNED.get(kinds[j], axes)
            seen = "align" if kinds[j] == "align" else seen
            j += 1
        if seen in ("horizontal", "vertical"):
            return self._directions(i + 1) if self._atom_ahead(i + 1) is not None else None
        grounds = None
        k = j + (kinds[j] in ("with", "to", "link"))
        if kinds[k] in NOUN_STARTS and self._atom_ahead(k) is None and (np := self.noun_phrase(k)) and np[0]:
            grounds, j = self._more_nouns(np[0], np[1], subject=False)
        if kinds[j] in ("horizontal", "vertical") and axes == _NOWHERE:  # in line with me vertically
            axes, j = _ALIGNED[kinds[j]], j + 1
        return Place(() if axes == _NOWHERE else ((axes, None),), grounds, direct=kind == "adjacent"), j

    def _in_alignment(self, i: int, seen: str) -> bool:
        kind = self.kinds[i]
        if kind in ("the", "a"):
            return self.noun_phrase(i) is None
        if kind in SAME or kind == "unit":
            return seen == "share" or (seen == "align" and kind != "unit")
        if kind == "at":  # aligned in a column
            return seen == "align" and self.kinds[i + 2] in ("row", "column")
        return kind in _ALIGNMENT

    def _directions(self, i: int) -> tuple[Place, int]:
        """Directions in a row, joined or not, and the landmark that ends them."""
        kinds = self.kinds
        run = _Run(opening=i == 0 or kinds[i - 1] in ("stop", "and", "comma", "but", "while"))
        ahead: int | None = self._atom_ahead(i)
        while ahead is not None:
            self._before_atom(run, i, ahead)
            self._atom(run, ahead)
            i = self._after_atom(run, ahead + 1)
            if run.grounds is None and (landmark := self._landmark(i, run.style)) is not None:
                run.grounds, i = landmark
                run.absolute = not run.grounds
                break
            if kinds[i] in _CONNECTORS:
                ahead = self._continues(i, run.opening)
                run.listed = kinds[i] == "comma"
                run.either |= ahead is not None and "or" in (kinds[i], kinds[i + 1])
                i = i if ahead is None else ahead
                ahead = None if ahead is None else self._atom_ahead(i)
            else:
                ahead = self._atom_ahead(i) if kinds[i] in INSIDE_PLACE else None
        absolute = run.absolute and not run.grounds
        return Place(tuple(run.atoms), run.grounds or None, run.direct, run.either, absolute, apart=run.apart), i

    def _before_atom(self, run: _Run, i: int, end: int) -> None:
        """Articles, owners ("my left"), distances ("two cells up") and "directly"."""
        run.article, run.cells, own = False, None, False
        for j in range(i, end):
            kind = self.kinds[j]
            if kind == "the" or kind == "a":
                run.article = True
            elif kind == "number" or kind == "one":
                run.cells = 1 if kind == "one" else self.lexemes[j].value
            elif kind == "direct":
                run.direct = True
            elif kind == "to":
                own = True
            elif kind in OWNERS:
                run.grounds = (self._owner(j),)
        if run.atoms:
            run.apart &= run.listed or (own and run.own)
        else:
            run.own = own

    def _atom(self, run: _Run, i: int) -> None:
        kind, value = self.lexemes[i]
        if kind == "dir":
            run.style = value[0]
            run.absolute |= run.style == "edge" and run.article
            run.atoms.append((value[1:], run.cells))
        else:
            run.style = "prep" if value == "level_with" else "same"
            run.atoms.append((_ALIGNED[kind], None))

    def _after_atom(self, run: _Run, i: int) -> int:
        """What may trail a direction: "side", "two cells", "-adjacent", "corner", the "of" of "left of and below"."""
        kinds = self.kinds
        while True:
            kind = kinds[i]
            if kind in ("corner", "region"):
                run.absolute = True
            elif kind == "adjacent":
                run.direct, run.style = True, "prep"
            elif kind in ("number", "one") and kinds[i + 1] == "unit":
                i += 1
            elif kind not in _TRAILERS and not (kind == "of" and kinds[i + 1] in _CONNECTORS):
                return i
            i += 1

    def _continues(self, i: int, opening: bool) -> int | None:
        """Does another direction follow a conjunction, and not the beginning of an inverted clause?"""
        kinds = self.kinds
        j = i + 1
        while kinds[j] in ("and", "comma", "or", "then", "filler", "now"):
            j += 1
        if self._atom_ahead(j) is None:
            return None
        end = j
        while kinds[end] in INSIDE_PLACE:
            end += 1
        inverted = kinds[end] in ("is", "there", "will", "see", "found", "has") and not opening
        return None if inverted else j

    def _landmark(self, i: int, style: str) -> Nouns | None:
        """What a direction is measured from; no mention when it is the grid itself."""
        kinds = self.kinds
        kind = kinds[i]
        linked = kind in ("of", "link") or (kind == "to" and self._atom_ahead(i) is None)
        if linked or (kind == "with" and style.startswith("same")):
            j = i + 1
        elif style == "prep" or (style == "edge" and kind == "at"):
            j = i + (kind == "at")
        else:
            return None
        if (end := self._outside(j)) is not None:
            return (), end
        if kinds[j] == "which" and kinds[j + 1] in ("is", "stop", "comma"):  # below that
            return (Mention(None, "it"),), j + 1
        if kinds[j] not in NOUN_STARTS or (style == "prep" and not linked and self._atom_ahead(j) is not None):
            return None
        np = self.noun_phrase(j)
        return self._more_nouns(np[0], np[1], subject=False) if np and np[0] else None

    def _outside(self, i: int) -> int | None:
        """The end of a landmark without a place of its own: the grid, a wall."""
        while self.kinds[i] in ("the", "a", "unk"):
            i += 1
        other = self.kinds[i] == "noun" and self.lexemes[i].value[0] == SCENERY
        return i + 1 if other or self.kinds[i] == "region" else None
