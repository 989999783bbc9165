"""Places: "above and to the left of the box", "in the same row as me", "next to the player", "on the target"."""

from __future__ import annotations

from agentrl.judges.grammar.chunks import (
    ATOMS,
    BEFORE_ATOM,
    INSIDE_PLACE,
    NOUN_STARTS,
    OWNERS,
    SAME,
    Axes,
    Mention,
    Place,
)
from agentrl.judges.grammar.nouns import NounReader

_CONNECTORS = frozenset(("and", "comma", "or"))
_NO_PLACE_STARTS = frozenset(("noun", "of", "link", "it", "both", "unk"))


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
        if (
            kind in INSIDE_PLACE
            and kind not in ("noun", "of", "link", "it", "both", "unk")
            and (self._atom_ahead(i) is not None)
        ):
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
        if np is None or not np[0] or np[0][0].cls == "other":
            return None
        grounds, after = self._more_nouns(np[0], np[1], subject=False)
        if self.kinds[after] == "side":
            return None
        on_top = self.lexemes[i].value == "on_top_of" and grounds[0].cls in ("player", "box")
        atom: Axes = (-1, None) if on_top else (0, 0)
        return Place(((atom, None),), grounds, reaching=kind == "arrive"), after

    def _alignment(self, i: int) -> tuple[Place, int] | None:
        """ "Next to", "aligned vertically with", "shares a row with"."""
        kinds = self.kinds
        kind, j, axes, seen = kinds[i], i, (None, None), kinds[i]
        while (
            kinds[j]
            in ("adjacent", "toward", "align", "horizontal", "vertical", "share", "row", "column", "the", "a", "filler")
            or (kinds[j] in SAME and seen in ("share", "align"))
            or (seen == "share" and kinds[j] == "unit")
            or (seen == "align" and kinds[j] == "at" and kinds[j + 2] in ("row", "column"))
        ):
            if kinds[j] in ("the", "a") and self._noun_next(j):
                break
            if kinds[j] in ("horizontal", "row", "same_row"):
                axes = (0, None)
            elif kinds[j] in ("vertical", "column", "same_column"):
                axes = (None, 0)
            elif kinds[j] in ("same_place", "unit"):
                axes = (0, 0)
            seen = "align" if kinds[j] == "align" else seen
            j += 1
        if seen in ("horizontal", "vertical"):
            return self._directions(i + 1) if self._atom_ahead(i + 1) is not None else None
        grounds = None
        k = j + (kinds[j] in ("with", "to", "link"))
        if kinds[k] in NOUN_STARTS and self._atom_ahead(k) is None:
            np = self.noun_phrase(k)
            if np is not None and np[0]:
                grounds, j = self._more_nouns(np[0], np[1], subject=False)
        if kinds[j] in ("horizontal", "vertical") and axes == (None, None):
            axes, j = ((0, None) if kinds[j] == "horizontal" else (None, 0)), j + 1
        atoms = () if axes == (None, None) else ((axes, None),)
        return Place(atoms, grounds, direct=kind == "adjacent"), j

    def _noun_next(self, i: int) -> bool:
        np = self.noun_phrase(i)
        return np is not None

    def _directions(self, i: int) -> tuple[Place, int]:
        """Directions in a row, joined or not, and the landmark that ends them."""
        kinds, lexemes = self.kinds, self.lexemes
        atoms: list[tuple[Axes, int | None]] = []
        grounds: tuple[Mention, ...] | None = None
        direct = either = article = absolute = False
        style, cells = "", None
        opening = i == 0 or kinds[i - 1] in ("stop", "and", "comma", "but", "while")
        while True:
            kind = kinds[i]
            if kind in ATOMS or (kind in ("row", "column") and grounds is not None and kinds[i + 1] != "dir"):
                if kind == "dir":
                    style, down, along = lexemes[i].value
                    absolute |= style == "edge" and article
                    atoms.append(((down, along), cells))
                else:
                    style = "prep" if lexemes[i].value == "level_with" else kind
                    atoms.append((SAME.get(kind) or ((0, None) if kind == "row" else (None, 0)), None))
                cells, article = None, False
                i += 1
                continue
            if atoms and grounds is None and (landmark := self._landmark(i, style)) is not None:
                grounds, i = landmark
                absolute = grounds == ()
                break
            if kind in ("row", "column") and kinds[i + 1] == "of" and not atoms:
                atoms.append(((0, None) if kind == "row" else (None, 0), None))
                style = "same_row"
            elif kind in OWNERS and self._atom_ahead(i + 1) is not None:
                grounds = (self._owner(i),)
            elif kind == "direct":
                direct = True
            elif kind == "adjacent" and atoms:  # left-adjacent to
                direct, style = True, "prep"
            elif kind in ("number", "one") and self._atom_ahead(i) is not None:
                cells = 1 if kind == "one" else lexemes[i].value
            elif kind in ("the", "a"):
                if self._atom_ahead(i) is None:
                    break
                article = True
            elif kind in ("corner", "region"):
                absolute = True
            elif kind in _CONNECTORS and atoms and (ahead := self._continues(i, opening)):
                either |= kind == "or" or kinds[i + 1] == "or"
                i = ahead
                continue
            elif (
                kind in ("side", "filler")
                or (kind == "of" and kinds[i + 1] in _CONNECTORS)
                or (kind in ("unit", "row", "column") and (atoms or cells))
            ):
                pass
            elif kind in ("number", "one") and atoms and kinds[i + 1] == "unit":
                i += 1  # down two cells
            elif kind not in BEFORE_ATOM or self._atom_ahead(i) is None:
                break
            i += 1
        if absolute and grounds:
            absolute = False
        return Place(tuple(atoms), grounds or None, direct, either, absolute), i

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

    def _landmark(self, i: int, style: str) -> tuple[tuple[Mention, ...], int] | None:
        """What a direction is measured from; an empty tuple when it is the grid itself."""
        kinds = self.kinds
        kind = kinds[i]
        if kind in ("of", "link") or (kind == "to" and self._atom_ahead(i) is None) or (kind == "with" and style.startswith("same")):
            j = i + 1
        elif style == "prep" or (style == "edge" and kind == "at"):
            j = i + (kind == "at")
        else:
            return None
        k = j
        while kinds[k] in ("the", "a", "unk"):
            k += 1
        if kinds[k] == "region" or (kinds[k] == "noun" and self.lexemes[k].value[0] == "other"):
            return (), k + 1
        if kinds[j] == "which" and kinds[j + 1] in ("is", "stop", "comma"):  # below that
            return (Mention(None, "it"),), j + 1
        if kinds[j] not in NOUN_STARTS:
            return None
        if style == "prep" and kind not in ("of", "link", "to") and self._atom_ahead(j) is not None:
            return None
        np = self.noun_phrase(j)
        if np is None or not np[0]:
            return None
        return self._more_nouns(np[0], np[1], subject=False)
