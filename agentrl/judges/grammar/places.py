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
        """The end of a landmark that is no thing of the game: the grid, a wall."""
        while self.kinds[i] in ("the", "a", "unk"):
            i += 1
        other = self.kinds[i] == "noun" and self.lexemes[i].value[0] == "other"
        return i + 1 if other or self.kinds[i] == "region" else None
