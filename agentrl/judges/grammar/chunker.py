"""What stands together: lexemes grouped into noun phrases, places, absolute places and clause words."""

from __future__ import annotations

import re
from functools import lru_cache

from agentrl.judges.grammar.chunks import (
    ACTIONS,
    CLAUSE_WORDS,
    INSIDE_PLACE,
    NOUN_STARTS,
    OWNERS,
    SAME,
    VERBS,
    Axes,
    Chunk,
    Mention,
    NounReader,
    Nouns,
    Place,
    Spot,
)
from agentrl.judges.grammar.tokens import lex
from agentrl.judges.grammar.vocabulary import SCENERY, Lexeme, Vocabulary

CACHED_LENGTH = 240  # longer sentences hardly ever come twice
_SENTENCE_END = re.compile(r"(?<=[.;!?])\s+")
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
SPOT_KINDS = frozenset(("pair", "row", "column", "x", "y", "corner", "number"))
_EDGES = {-1: ("first", 1), 1: ("last", 1)}  # by the sign of a direction


def chunks_of(text: str, vocabulary: Vocabulary) -> list[Chunk]:
    """The chunks of a text, sentence by sentence: agents write the same sentences over and over."""
    found: list[Chunk] = []
    for sentence in _SENTENCE_END.split(text):
        read = remembered_chunks if len(sentence) <= CACHED_LENGTH else _chunks
        found += read(sentence, vocabulary)
    return found


def _chunks(sentence: str, vocabulary: Vocabulary) -> list[Chunk]:
    return Chunker(lex(sentence, vocabulary), vocabulary).chunks()


remembered_chunks = lru_cache(maxsize=8192)(_chunks)


class _Run:
    """Directions as far as they have been read."""

    __slots__ = (
        "absolute",
        "apart",
        "article",
        "atoms",
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


class Chunker(NounReader):
    """One left-to-right pass over the lexemes; every look-ahead is bounded by the run it looks at."""

    def __init__(self, lexemes: list[Lexeme], vocabulary: Vocabulary) -> None:
        super().__init__(lexemes, vocabulary)
        self._has_spots = not SPOT_KINDS.isdisjoint(self.kinds)  # most texts have none: do not look for them

    def chunks(self) -> list[Chunk]:
        """The chunks of the whole text."""
        found: list[Chunk] = []
        i, end = 0, len(self.kinds) - 1  # the last stop is a sentinel
        kinds, lexemes = self.kinds, self.lexemes
        while i < end:
            kind = kinds[i]
            if kind in CLAUSE_WORDS:
                if kind != "stop" or not found or found[-1][0] != "stop":
                    found.append((kind, lexemes[i][1]))
                i += 1
                continue
            chunk, i = self._chunk(i)
            if chunk is not None:
                found.append(chunk)
        return found

    def _chunk(self, i: int) -> tuple[Chunk | None, int]:
        """The noun phrase or place that begins here, if any, and where to read on."""
        kinds, lexemes = self.kinds, self.lexemes
        kind = kinds[i]
        if kind == "dir" and kinds[i + 1] == "to" and kinds[i + 2] == "dir":  # from left to right
            start, end = lexemes[i].value[1:], lexemes[i + 2].value[1:]
            for axis in (0, 1):
                if start[axis] is not None and end[axis] == -start[axis]:
                    return ("order", (axis, end[axis])), i + 3
        if self._has_spots and (spot := self._spot(i)) is not None:
            return ("spot", spot[0]), spot[1]
        if kind in NOUN_STARTS and (np := self.noun_phrase(i)) is not None:
            if not np[0]:
                return None, np[1]
            mentions, i = self._more_nouns(np[0], np[1], subject=True, after_verb=kinds[i - 1] in VERBS)
            return ("np", mentions), i
        place = self._same_place(i) if kind in ("at", "arrive", "coincide") else None
        if kind in ("adjacent", "toward", "share", "align", "horizontal", "vertical"):
            place = self._alignment(i)
        elif place is None and kind in INSIDE_PLACE and kind not in _NO_PLACE_STARTS:
            place = self._directions(i) if self._atom_ahead(i) is not None else None
        if place is not None:
            return ("place", place[0]), place[1]
        if kind in ("between", "link", "to"):
            return self._landmark_alone(i)
        return None, i + 1

    def _landmark_alone(self, i: int) -> tuple[Chunk | None, int]:
        """ "Relative to the player" sets the point of view; "to the target" is where something goes."""
        kinds = self.kinds
        np = self.noun_phrase(i + 1) if kinds[i + 1] in NOUN_STARTS else None
        if np is None or not np[0]:
            infinitive = kinds[i] == "to" and kinds[i + 1] in ACTIONS and kinds[i - 1] not in ("will", "would")
            return (("goal", None) if infinitive else None), i + 1
        if kinds[i] == "between":
            mentions, after = self._more_nouns(np[0], np[1], subject=False)
            return ("between" if len(mentions) > 1 else "np", mentions), after
        word, after = self.lexemes[i].value, np[1]
        if kinds[i - 1] == "distance":  # the direction to the goal is ...
            return ("np", np[0]), after
        if (kinds[i - 1] in ("unit", "number") and word == "from") or word == "away_from":
            return ("near", np[0]), after
        if word.endswith("where"):
            return ("view", np[0]), after + (kinds[after] in ("is", "be"))
        if word == "as" and kinds[after] in VERBS:
            return None, i + 1  # "as the box is ...": the start of a clause
        return ("view" if kinds[i] == "link" else "goes_to", np[0]), after

    # ------------------------------------------------------------------ places relative to something

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
        while True:
            word = kinds[j]
            if word in ("the", "a"):
                inside = self.noun_phrase(j) is None
            elif word in SAME or word == "unit":
                inside = seen == "share" or (seen == "align" and word != "unit")
            elif word == "at":  # aligned in a column
                inside = seen == "align" and kinds[j + 2] in ("row", "column")
            else:
                inside = word in _ALIGNMENT
            if not inside:
                break
            axes = _ALIGNED.get(word, axes)
            seen = "align" if word == "align" else seen
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

    def _directions(self, i: int) -> tuple[Place, int]:
        """Directions in a row, joined or not, and the landmark that ends them."""
        kinds = self.kinds
        run = _Run(opening=i == 0 or kinds[i - 1] in ("stop", "and", "comma", "but", "while"))
        ahead: int | None = self._atom_ahead(i)
        while ahead is not None:
            i = self._direction(run, i, ahead)
            if run.grounds is None and (landmark := self._landmark(i, run.style)) is not None:
                run.grounds, i = landmark
                run.absolute = not run.grounds
                break
            if kinds[i] in _CONNECTORS:
                run.listed = kinds[i] == "comma"
                j = i + 1
                while kinds[j] in ("and", "comma", "or", "then", "filler", "now"):
                    j += 1
                end = j
                while kinds[end] in INSIDE_PLACE:
                    end += 1
                # What follows is another direction, unless an inverted clause begins with it.
                inverted = kinds[end] in ("is", "there", "will", "see", "found", "has") and not run.opening
                ahead = None if inverted else self._atom_ahead(j)
                if ahead is not None:
                    run.either |= "or" in (kinds[i], kinds[i + 1])
                    i = j
            else:
                ahead = self._atom_ahead(i) if kinds[i] in INSIDE_PLACE else None
        absolute = run.absolute and not run.grounds
        return Place(tuple(run.atoms), run.grounds or None, run.direct, run.either, absolute, apart=run.apart), i

    def _direction(self, run: _Run, i: int, atom: int) -> int:
        """Take in one direction, which stands at `atom`, with what comes before and after it; returns its end."""
        kinds = self.kinds
        run.article, cells, own = False, None, False
        for j in range(i, atom):  # articles, owners ("my left"), distances ("two cells up") and "directly"
            kind = kinds[j]
            if kind == "the" or kind == "a":
                run.article = True
            elif kind == "number" or kind == "one":
                cells = 1 if kind == "one" else self.lexemes[j].value
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
        kind, value = self.lexemes[atom]
        if kind == "dir":
            run.style = value[0]
            run.absolute |= run.style == "edge" and run.article
            run.atoms.append((value[1:], cells))
        else:
            run.style = "prep" if value == "level_with" else "same"
            run.atoms.append((_ALIGNED[kind], None))
        i = atom + 1
        while True:  # what may trail: "side", "two cells", "-adjacent", "corner", the "of" of "left of and below"
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
        end = j
        while kinds[end] in ("the", "a", "unk"):
            end += 1
        if kinds[end] == "region" or (kinds[end] == "noun" and self.lexemes[end].value[0] == SCENERY):
            return (), end + 1  # the grid, a wall: without a place of its own
        if kinds[j] == "which" and kinds[j + 1] in ("is", "stop", "comma"):  # below that
            return (Mention(None, "it"),), j + 1
        if kinds[j] not in NOUN_STARTS or (style == "prep" and not linked and self._atom_ahead(j) is not None):
            return None
        np = self.noun_phrase(j)
        return self._more_nouns(np[0], np[1], subject=False) if np and np[0] else None

    # ------------------------------------------------------------------ absolute places

    def _spot(self, i: int) -> tuple[Spot, int] | None:
        """ "(2, 3)", "row 2, column 3", "the top row", "the lower left corner"."""
        kinds = self.kinds
        row = column = None
        found = i
        while True:
            j = i
            while kinds[j] in ("at", "the", "filler", "unk", "unit") and j < i + 4:
                j += 1
            kind = kinds[j]
            if kind == "pair":
                pair = self.lexemes[j].value
                return Spot(("number", pair[0]), ("number", pair[1])), j + 1
            bare = kind == "number" and kinds[j - 1] in ("noun", "unit", "at", "colon")  # "2, 3" without brackets ...
            if bare and kinds[j + 1 : j + 3] == ["comma", "number"] and kinds[j + 3] in ("stop", "comma", "and", "is"):
                row, column = self.lexemes[j].value, self.lexemes[j + 2].value  # ... and not "2, 3 cells ..."
                return Spot(("number", row), ("number", column)), j + 3
            part = self._half_spot(j)
            if part is None:
                break
            spot, after = part
            if (spot.row and row) or (spot.column and column):
                break
            i = after
            row, column, found = spot.row or row, spot.column or column, i
            while kinds[i] in ("comma", "and", "of"):
                i += 1
        return (Spot(row, column), found) if row or column else None

    def _half_spot(self, j: int) -> tuple[Spot, int] | None:
        """A row or a column, or a whole corner."""
        kinds, lexemes = self.kinds, self.lexemes
        kind, after = kinds[j], kinds[j + 1]
        if kind in ("row", "column", "x", "y"):
            k = j + 1
            while kinds[k] in ("filler", "colon", "is") and k < j + 4:
                k += 1
            if kinds[k] == "number" and kinds[k + 1] not in ("unit", "dir"):
                value = ("number", lexemes[k].value)
                return (Spot(row=value) if kind in ("row", "y") else Spot(column=value)), k + 1
        if kind == "ordinal" and after in ("row", "column") and kinds[j + 2] != "dir":
            value = ("first", lexemes[j].value)
            return (Spot(row=value) if after == "row" else Spot(column=value)), j + 2
        if kind != "dir":
            return None
        if after in ("row", "column") and kinds[j + 2] != "of":
            _, down, along = lexemes[j].value
            return (Spot(row=_EDGES.get(down)) if after == "row" else Spot(column=_EDGES.get(along))), j + 2
        rows, columns = None, None
        while kinds[j] == "dir":
            _, down, along = lexemes[j].value
            rows, columns = (down if down is not None else rows), (along if along is not None else columns)
            j += 1
        if kinds[j] != "corner" or rows is None or columns is None:
            return None
        return Spot(_EDGES[rows], _EDGES[columns]), j + 1
