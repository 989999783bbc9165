"""What stands together: lexemes grouped into noun phrases, places ("above and to the left of the box") and verbs."""

from __future__ import annotations

from typing import Any, NamedTuple

from agentrl.judges.lexicon import Lexeme

Axes = tuple[int | None, int | None]  # rows down, columns right: a sign or a number of cells; None is unsaid
MAX_COUNT = 16


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


class Spot(NamedTuple):
    """An absolute place on one or both axes: (scale, number), where numbers of one scale can be compared."""

    row: tuple[str, int] | None = None
    column: tuple[str, int] | None = None


class Chunk(NamedTuple):
    """A piece of a clause: "np", "place", "spot" or the kind of a verb, conjunction or mark."""

    kind: str
    value: Any = None


_SAME: dict[str, Axes] = {"same_row": (0, None), "same_column": (None, 0), "same_place": (0, 0)}
_ATOMS = frozenset(("dir", *_SAME))
_SKIPPED_BEFORE_ATOM = frozenset(
    "the a filler direct number one unit to at poss poss_player poss_it row column side unk".split()
)
_INSIDE_PLACE = _SKIPPED_BEFORE_ATOM | _ATOMS | {"of", "link", "noun", "adjacent", "index", "it", "both", "region"}
_VERBS = frozenset("is be was will would has see there found goal not move arrive blocks coincide".split())
_CONNECTORS = frozenset(("and", "comma", "or", "but"))
_NP_STARTS = frozenset(
    "the a no another other both all some one number ordinal noun it they poss poss_player poss_it".split()
)
_CLAUSE_WORDS = frozenset(
    "is be was will would has with see there surrounded blocks not only goal found so_that if then move currently now "
    "and or but while stop comma colon which between".split()
)


class Chunker:
    """One left-to-right pass over the lexemes; every look-ahead is bounded by the run it looks at."""

    def __init__(self, lexemes: list[Lexeme]) -> None:
        self.lexemes = lexemes
        self.kinds = [lexeme.kind for lexeme in lexemes]

    def chunks(self) -> list[Chunk]:
        """The chunks of the whole text."""
        found: list[Chunk] = []
        i, end = 0, len(self.kinds) - 1  # the last stop is a sentinel
        while i < end:
            chunk, i = self._chunk(i)
            if chunk is not None:
                found.append(chunk)
        return found

    def _chunk(self, i: int) -> tuple[Chunk | None, int]:
        kind = self.kinds[i]
        if kind in _CLAUSE_WORDS:
            return Chunk(kind, self.lexemes[i].value), i + 1
        if (spot := self._spot(i)) is not None:
            return Chunk("spot", spot[0]), spot[1]
        if kind in _NP_STARTS and (np := self.noun_phrase(i)) is not None:
            if np[0] == "skip":
                return None, np[1]
            mentions, i = self._more_nouns(np[0], np[1], subject=True)
            return Chunk("np", mentions), i
        if (place := self._place(i)) is not None:
            return Chunk("place", place[0]), place[1]
        if kind in ("link", "to"):
            return self._landmark_alone(i)
        return None, i + 1

    def _landmark_alone(self, i: int) -> tuple[Chunk | None, int]:
        """ "Relative to the player" sets the point of view; "to the target" is where something goes."""
        np = self.noun_phrase(i + 1) if self.kinds[i + 1] in _NP_STARTS else None
        if np is None or np[0] == "skip":
            return None, i + 1
        word, after = self.lexemes[i].value, np[1]
        if word.endswith("where"):
            return Chunk("view", np[0]), after + (self.kinds[after] in ("is", "be"))
        if self.kinds[i] == "link" and self.kinds[after] in _VERBS:
            return None, i + 1  # "as the box is ...": the start of a clause
        return Chunk("view" if self.kinds[i] == "link" else "goes_to", np[0]), after

    # ------------------------------------------------------------------ noun phrases

    def noun_phrase(self, i: int) -> tuple[Any, int] | None:
        """A tuple of one mention and where it ends; "skip" for a phrase about something unknown."""
        kinds, lexemes = self.kinds, self.lexemes
        how, number, det, unknown = None, None, False, False
        while True:
            kind = kinds[i]
            if kind == "noun":
                return self._noun(i, how, number)
            if kind in ("the", "a", "no", "another", "other", "both", "all", "some"):
                if how in (None, "the", "a", "all") or kind in ("no", "other"):
                    how = kind
                det = True
            elif kind == "number":
                how, number = ("both" if how == "both" else "count"), min(lexemes[i].value, MAX_COUNT)
            elif kind == "ordinal":
                how, number = "ordinal", lexemes[i].value
            elif kind == "one":
                if how in (None, "the", "all", "some"):
                    how = "one"
            elif kind == "of" and how in ("count", "one", "both", "all", "some", "no", "ordinal", "another", "other"):
                pass
            elif kind in ("poss", "poss_player", "poss_it"):
                if kinds[i + 1] in ("unit", "region") and kinds[i + 2] != "dir":  # my position, the box's location
                    return (self._owner(i),), i + 2
                det = True
            elif kind == "unk" and (det or how):
                unknown = True
            elif kind == "filler" and det:
                pass
            elif kind in ("it", "they"):
                return (Mention(None, kind if how is None else how, None, kind == "they"),), i + 1
            else:
                return self._headless(i, how, number, unknown)
            i += 1

    def _owner(self, i: int) -> Mention:
        kind = self.kinds[i]
        if kind == "poss_it":
            return Mention(None, "it")
        return Mention(self.lexemes[i].value if kind == "poss" else "player")

    def _noun(self, i: int, how: str | None, number: int | None) -> tuple[tuple[Mention], int]:
        kinds = self.kinds
        cls, plural, person = self.lexemes[i].value
        i += 1
        while not person and kinds[i] == "noun" and not self.lexemes[i].value[2]:  # goal marker, player character
            cls, plural, _ = self.lexemes[i].value
            i += 1
        if kinds[i] == "unit" and not person:  # goal square, box positions
            plural |= self.lexemes[i].value.endswith("s")
            i += 1
        if kinds[i] == "index" or (kinds[i] == "number" and kinds[i + 1] in ("is", "colon", "will", "has", "comma")):
            return (Mention(cls, "index", self.lexemes[i].value),), i + 1
        if kinds[i] == "number" and kinds[i + 1] not in ("unit", "row", "column", "dir", "to"):
            return (Mention(cls, "index", self.lexemes[i].value),), i + 1
        return (Mention(cls, how or ("some" if plural else "the"), number, plural),), i

    def _headless(self, i: int, how: str | None, number: int | None, unknown: bool) -> tuple[Any, int] | None:
        """ "One", "the other", "the second" without a noun; or a thing that the grammar does not know."""
        kind = self.kinds[i]
        distance = kind in ("unit", "row", "column", "side") or (
            kind == "dir" and self.lexemes[i].value[0] == "side" and how in ("one", "count")
        )
        if how in ("another", "other", "both", "all", "one", "ordinal") and not distance:
            if unknown and kind in _ATOMS:
                return None
            return (Mention(None, how, number, how in ("both", "all")),), i
        if unknown and kind in _CLAUSE_WORDS and kind not in ("and", "comma", "or"):
            return (Mention("other"),), i
        return None

    def _more_nouns(self, mentions: tuple[Mention, ...], i: int, subject: bool) -> tuple[tuple[Mention, ...], int]:
        """ "The box, the target and the hole". After a place, a noun that begins a clause of its own stays out."""
        kinds = self.kinds
        while kinds[i] in ("and", "comma"):
            j = i + 1 + (kinds[i + 1] in ("and", "comma"))
            np = self.noun_phrase(j) if kinds[j] in _NP_STARTS else None
            if np is None or np[0] == "skip":
                break
            alone = kinds[i] == "comma" and kinds[j - 1] != "and" and kinds[np[1]] not in ("and", "comma")
            if self._begins_clause(np[1]) and (not subject or alone):
                break
            mentions, i = mentions + np[0], np[1]
        return mentions, i

    def _begins_clause(self, i: int) -> bool:
        """Is the noun phrase that ends here followed by what is said about it?"""
        kind = self.kinds[i]
        if kind in _VERBS or kind in ("colon", "pair", "dir", "adjacent", "direct", "which", "arrive", "align", "share"):
            return True
        return kind in ("to", "at", "link", *_SAME, "number", "one", "poss", "poss_player") and (
            self._atom_ahead(i) is not None or kind == "at"
        )

    # ------------------------------------------------------------------ places

    def _atom_ahead(self, i: int) -> int | None:
        """Where the next direction stands if only articles, distances and owners come before it."""
        kinds = self.kinds
        for j in range(i, min(i + 9, len(kinds))):
            if kinds[j] in _ATOMS:
                return j
            if kinds[j] == "one" and kinds[j + 1] not in ("unit", "row", "column", "dir", "filler"):
                return None
            if kinds[j] in ("row", "column") and kinds[j - 1] in ("poss", "poss_player", "poss_it"):
                return j
            if kinds[j] in ("row", "column") and kinds[j + 1] == "of":
                return j
            if kinds[j] not in _SKIPPED_BEFORE_ATOM or (kinds[j] == "unk" and kinds[j - 1] not in ("the", "filler")):
                return None
        return None

    def _place(self, i: int) -> tuple[Place, int] | None:
        kind = self.kinds[i]
        if kind in ("at", "arrive", "coincide"):
            on = self._same_place(i)
            if on is not None:
                return on
        if kind in ("adjacent", "share", "align", "horizontal", "vertical"):
            return self._alignment(i)
        if kind in _INSIDE_PLACE and kind not in ("noun", "of", "link", "it", "both", "unk") and (
            self._atom_ahead(i) is not None
        ):
            return self._directions(i)
        return None

    def _same_place(self, i: int) -> tuple[Place, int] | None:
        """ "On the target", "reaches the goal", "overlaps with the box"."""
        kinds = self.kinds
        kind, j = kinds[i], i + 1
        while kinds[j] in ("at", "with", "to", "direct"):
            j += 1
        if kinds[j] not in _NP_STARTS or (kind == "at" and self._atom_ahead(j) is not None):
            return None
        np = self.noun_phrase(j)
        if np is None or np[0] == "skip" or np[0][0].cls == "other":
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
        while kinds[j] in ("adjacent", "align", "horizontal", "vertical", "share", "row", "column", "the", "a", "filler") or (
            kinds[j] in _SAME and seen in ("share", "align")
        ) or (seen == "share" and kinds[j] == "unit") or (seen == "align" and kinds[j] == "at" and kinds[j + 2] in ("row", "column")):
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
        if kinds[k] in _NP_STARTS and self._atom_ahead(k) is None:
            np = self.noun_phrase(k)
            if np is not None and np[0] != "skip":
                grounds, j = self._more_nouns(np[0], np[1], subject=False)
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
        while True:
            kind = kinds[i]
            if kind in _ATOMS or (kind in ("row", "column") and grounds is not None and kinds[i + 1] != "dir"):
                if kind == "dir":
                    style, down, along = lexemes[i].value
                    absolute |= style == "edge" and article
                    atoms.append(((down, along), cells))
                else:
                    style = kind
                    atoms.append((_SAME.get(kind) or ((0, None) if kind == "row" else (None, 0)), None))
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
            elif kind in ("poss", "poss_player", "poss_it") and self._atom_ahead(i + 1) is not None:
                grounds = (self._owner(i),)
            elif kind == "direct":
                direct = True
            elif kind in ("number", "one") and self._atom_ahead(i) is not None:
                cells = 1 if kind == "one" else lexemes[i].value
            elif kind in ("the", "a"):
                if self._atom_ahead(i) is None:
                    break
                article = True
            elif kind in ("corner", "region"):
                absolute = True
            elif kind in _CONNECTORS and atoms and (ahead := self._continues(i)):
                either |= kind == "or" or kinds[i + 1] == "or"
                i = ahead
                continue
            elif kind in ("side", "filler") or (kind in ("unit", "row", "column") and (atoms or cells)):
                pass
            elif kind in ("number", "one") and atoms and kinds[i + 1] == "unit":
                i += 1  # down two cells
            elif kind not in _SKIPPED_BEFORE_ATOM or self._atom_ahead(i) is None:
                break
            i += 1
        if absolute and grounds:
            absolute = False
        return Place(tuple(atoms), grounds or None, direct, either, absolute), i

    def _continues(self, i: int) -> int | None:
        """Does another direction follow a conjunction, and not the beginning of an inverted clause?"""
        kinds = self.kinds
        j = i + 1
        while kinds[j] in ("and", "comma", "or", "but", "then", "filler", "be", "now"):
            j += 1
        if self._atom_ahead(j) is None:
            return None
        end = j
        while kinds[end] in _INSIDE_PLACE:
            end += 1
        inverted = kinds[end] in ("is", "there", "will", "see", "found", "has") and not (
            kinds[end - 1] == "noun" and kinds[i] == "comma" and False
        )
        return None if inverted else j

    def _landmark(self, i: int, style: str) -> tuple[tuple[Mention, ...], int] | None:
        """What a direction is measured from; an empty tuple when it is the grid itself."""
        kinds = self.kinds
        kind = kinds[i]
        if kind in ("of", "link") or (kind == "to" and self._atom_ahead(i) is None):
            j = i + 1
        elif kind == "with" and style.startswith("same"):
            j = i + 1
        elif style == "prep" or (style == "edge" and kind == "at"):
            j = i + (kind == "at")
        else:
            return None
        if kinds[j] == "both":
            j += 1
        k = j
        while kinds[k] in ("the", "a", "unk"):
            k += 1
        if kinds[k] == "region" or (kinds[k] == "noun" and self.lexemes[k].value[0] == "other"):
            return (), k + 1
        if kinds[j] not in _NP_STARTS:
            return None
        if style == "prep" and kind not in ("of", "link", "to") and self._atom_ahead(j) is not None:
            return None
        np = self.noun_phrase(j)
        if np is None or np[0] == "skip":
            return None
        return self._more_nouns(np[0], np[1], subject=False)

    # ------------------------------------------------------------------ absolute places

    def _spot(self, i: int) -> tuple[Spot, int] | None:
        """ "(2, 3)", "row 2, column 3", "the top row", "the lower left corner"."""
        kinds = self.kinds
        row = column = None
        found = i
        while True:
            j = i
            while kinds[j] in ("at", "the", "filler", "unk") and j < i + 4:
                j += 1
            kind = kinds[j]
            if kind == "pair":
                pair = self.lexemes[j].value
                return Spot(("number", pair[0]), ("number", pair[1])), j + 1
            part = self._half_spot(j)
            if part is None:
                break
            spot, i = part
            row, column, found = spot.row or row, spot.column or column, i
            while kinds[i] in ("comma", "and", "of"):
                i += 1
        return (Spot(row, column), found) if row or column else None

    def _half_spot(self, j: int) -> tuple[Spot, int] | None:
        kinds, lexemes = self.kinds, self.lexemes
        kind, after = kinds[j], kinds[j + 1]
        if kind in ("row", "column", "x", "y"):
            k = j + 1
            while kinds[k] in ("filler", "colon", "is") and k < j + 4:
                k += 1
            if kinds[k] == "number" and kinds[k + 1] not in ("unit", "row", "column", "dir"):
                value = ("number", lexemes[k].value)
                return (Spot(row=value) if kind in ("row", "y") else Spot(column=value)), k + 1
        if kind == "ordinal" and after in ("row", "column") and kinds[j + 2] != "dir":
            value = ("first", lexemes[j].value)
            return (Spot(row=value) if after == "row" else Spot(column=value)), j + 2
        if kind == "dir" and after in ("row", "column") and kinds[j + 2] != "of":
            return self._edge(lexemes[j].value, after), j + 2
        if kind == "dir":
            return self._corner(j)
        return None

    def _edge(self, value: tuple[str, int | None, int | None], axis: str) -> Spot:
        _, down, along = value
        sign = down if axis == "row" else along
        if sign is None:
            return Spot()
        edge = ("first", 1) if sign < 0 else ("last", 1)
        return Spot(row=edge) if axis == "row" else Spot(column=edge)

    def _corner(self, j: int) -> tuple[Spot, int] | None:
        rows, columns = None, None
        while self.kinds[j] == "dir":
            _, down, along = self.lexemes[j].value
            rows, columns = (down if down is not None else rows), (along if along is not None else columns)
            j += 1
        if self.kinds[j] != "corner" or rows is None or columns is None:
            return None
        edges = {-1: ("first", 1), 1: ("last", 1)}
        return Spot(edges[rows], edges[columns]), j + 1
