"""The pieces that clauses are made of, and the kinds of lexemes that make them up."""

from __future__ import annotations

from typing import Any, NamedTuple

from agentrl.judges.grammar.vocabulary import ORIGIN, SCENERY, Lexeme, Vocabulary

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


MAX_COUNT = 16
MAX_NOUN_PHRASE = 12  # words before the noun; keeps every look-ahead short
_CONTRASTS = frozenset(("nearest", "closest", "farthest", "furthest", "nearer", "closer", "last", "final", "next"))
_PARTS = frozenset(("half", "halves", "most", "majority", "minority", "part", "portion", "fraction", "share", "bulk"))
_PARTS |= {"third", "thirds", "quarter", "quarters", "fourths", "fifths", "percent", "percentage"}
_BEFORE_OF = frozenset(("of", "comma", "colon", "filler", "or", "unk", "while"))
_MAX_BEFORE_OF = 5
_PARTITIVES = frozenset(("count", "one", "both", "all", "some", "no", "ordinal", "another", "other"))
Nouns = tuple[tuple[Mention, ...], int]  # the mentions and where they end


class NounReader:
    """Reads noun phrases at a position of the lexemes."""

    def __init__(self, lexemes: list[Lexeme], vocabulary: Vocabulary) -> None:
        self.lexemes, self.vocabulary = lexemes, vocabulary
        self.kinds = [lexeme[0] for lexeme in lexemes]
        self._several = False  # was the last thing named more than one?

    def noun_phrase(self, i: int) -> Nouns | None:
        """A tuple of one mention and where it ends; no mention for a word that only floats there."""
        kinds, lexemes = self.kinds, self.lexemes
        if kinds[i] == "noun":
            return self._noun(i, None, None)
        if kinds[i + 1] == "noun" and kinds[i] in ("the", "a"):  # most of them
            return self._noun(i + 1, "some" if self._is_part_of(i) else kinds[i], None)
        how, number, det, unknown, label = "some" if self._is_part_of(i) else None, None, False, False, None
        floating = kinds[i] in ("both", "all") and kinds[i - 1] in ("is", "be", "will")  # "they are both above"
        for _ in range(MAX_NOUN_PHRASE):
            kind = kinds[i]
            if kind == "noun":
                return self._noun(i, how, label if label and number is None and how in (None, "the") else number)
            if kind in ("the", "a", "no", "another", "other", "both", "all", "some"):
                if how in (None, "the", "a", "all") or kind in ("no", "other"):
                    how = kind
                det = True
            elif kind == "number":
                how, number = (how if how in ("both", "all", "one") else "count"), min(lexemes[i].value, MAX_COUNT)
            elif kind == "ordinal":
                how, number = "ordinal", lexemes[i].value
            elif kind == "one":
                if how in (None, "the", "all", "some"):
                    how = "one"
            elif kind == "of" and how in _PARTITIVES:
                pass
            elif kind in OWNERS:
                after = i + 1 + (kinds[i + 1] in ("filler", "unk"))  # my current position
                if kinds[after] in ("unit", "region") and kinds[after + 1] != "dir":
                    return (self._owner(i),), after + 1
                det = True
            elif kind == "unk" and (det or how):
                unknown = True
                label = lexemes[i].value if lexemes[i].value in _CONTRASTS else label
            elif kind == "dir" and det and (noun := self._attributive(i)):  # the left box
                label, i = str(lexemes[i].value), noun - 1
            elif kind == "filler" and (det or how):
                pass
            elif kind in ("it", "they"):
                return (Mention(None, how or kind, None, kind == "they" and how not in ("one", "another")),), i + 1
            elif floating and how in ("both", "all"):
                return (), i
            else:
                return self._headless(i, how, number, unknown)
            i += 1
        return None

    def _is_part_of(self, i: int) -> bool:
        """Does "half of", "most of" stand before? How many that is, nobody said: one thing is claimed, not all."""
        if self.kinds[i] not in ("the", "all", "they"):
            return False
        before = range(i - 1, max(-1, i - 1 - _MAX_BEFORE_OF), -1) if self.kinds[i - 1] == "of" else range(i - 1, i)
        for j in before:  # half (or so) of
            if j >= 0 and self.lexemes[j].value in _PARTS:
                return True
            if self.kinds[j] not in _BEFORE_OF:
                return False
        return False

    def _attributive(self, i: int) -> int | None:
        while self.kinds[i] == "dir":
            i += 1
        return i if self.kinds[i] == "noun" and not self.lexemes[i].value[2] else None

    def _owner(self, i: int) -> Mention:
        kind = self.kinds[i]
        if kind == "poss_it":
            return Mention(None, "it")
        return Mention(self.lexemes[i].value if kind == "poss" else ORIGIN)

    def _noun(self, i: int, how: str | None, number: int | str | None) -> Nouns:
        kinds = self.kinds
        cls, plural, person = self.lexemes[i].value
        i += 1
        while not person and kinds[i] == "noun" and not self.lexemes[i].value[2]:  # goal marker, player character
            cls, plural, _ = self.lexemes[i].value
            i += 1
        if kinds[i] == "unit" and not person:  # goal square, box positions
            plural |= self.lexemes[i].value.endswith("s")
            i += 1
        named = kinds[i] == "index"
        if kinds[i] == "number":  # "box 2", and no distance or coordinate
            after = kinds[i + 1]
            pair = after == "comma" and kinds[i + 2] == "number"
            named = after not in ("unit", "row", "column", "dir", "to") and not pair
        if named:
            return (Mention(cls, "index", self.lexemes[i].value),), i + 1
        if cls not in (ORIGIN, SCENERY):
            self._several = plural
        if how == "all" and number is not None:
            how = "count"
        if how == "both" and not plural:  # both the box and ...
            how = "the"
        plural = plural and how not in ("one", "another")
        return (Mention(cls, how or ("some" if plural else "bare"), number, plural),), i

    def _headless(self, i: int, how: str | None, number: int | None, unknown: bool) -> Nouns | None:
        """ "One", "the other", "the second" without a noun; or a thing that the grammar does not know."""
        kind = self.kinds[i]
        spread = self._several and self.kinds[i - 2] in ("comma", "and", "colon")  # "two boxes, one up and one down"
        distance = kind in ("unit", "row", "column", "side") or (
            kind == "dir" and self.lexemes[i].value[0] == "side" and how in ("one", "count") and not spread
        )
        if how == "count" and number and (kind in VERBS or (spread and kind in ("to", "at", "dir"))):
            return (Mention(None, how, number, number > 1),), i
        if how in ("another", "other", "both", "all", "one", "ordinal") and not distance:
            if unknown and kind in ATOMS:
                return None
            return (Mention(None, how, number, how in ("both", "all")),), i
        if unknown and kind in CLAUSE_WORDS and kind not in ("and", "comma", "or"):
            return (Mention(SCENERY),), i
        return None

    def _more_nouns(
        self, mentions: tuple[Mention, ...], i: int, subject: bool, after_verb: bool = False
    ) -> tuple[tuple[Mention, ...], int]:
        """ "The box, the target and the hole". After a place, nouns that begin a clause of their own stay out."""
        kinds = self.kinds
        kept = mentions, i  # up to the last comma: what follows it may be the subject of the next clause
        while kinds[i] in ("and", "comma"):
            j = i + 1 + (kinds[i + 1] in ("and", "comma"))
            np = self.noun_phrase(j) if kinds[j] in NOUN_STARTS else None
            if np is None or not np[0]:
                break
            if kinds[i] == "comma" and kinds[j - 1] != "and":
                kept = mentions, i
            after = kinds[np[1]]
            joined = subject and kinds[j - 1] == "and" and not (after_verb and after in VERBS)
            clause = after in PREDICATES or after == "at"  # what is said about these nouns follows them
            if not clause and after in ("to", "link", *SAME, "number", "one", "poss", "poss_self"):
                clause = self._atom_ahead(np[1]) is not None
            if (clause and not joined) or np[0][0] in mentions:
                return (mentions, i) if subject or len(kept[0]) == len(mentions) or kinds[i] == "comma" else kept
            mentions, i = mentions + np[0], np[1]
        return mentions, i

    def _atom_ahead(self, i: int) -> int | None:
        """Where the next direction stands if only articles, distances and owners come before it."""
        kinds = self.kinds
        for j in range(i, min(i + 9, len(kinds))):
            if kinds[j] in ATOMS:
                return j
            if kinds[j] == "one":  # "one up" and "one cell" are distances, "one above me" is a thing
                prep = kinds[j + 1] == "dir" and self.lexemes[j + 1].value[0] == "prep"
                if prep or kinds[j + 1] not in ("dir", "unit", "row", "column", "filler"):
                    return None
            if kinds[j] in ("row", "column") and kinds[j - 1] in OWNERS:
                return j
            if kinds[j] in ("row", "column") and kinds[j + 1] == "of":
                return j
            if kinds[j] not in BEFORE_ATOM or (kinds[j] == "unk" and kinds[j - 1] not in ("the", "filler")):
                return None
        return None
