"""Noun phrases: "the box", "two of the holes", "the other one", "the box, the target and the hole"."""

from __future__ import annotations

from agentrl.judges.grammar.chunks import (
    ATOMS,
    BEFORE_ATOM,
    CLAUSE_WORDS,
    NOUN_STARTS,
    OWNERS,
    PREDICATES,
    SAME,
    VERBS,
    Mention,
)
from agentrl.judges.grammar.lexicon import ORIGIN, SCENERY, Lexeme
from agentrl.judges.grammar.vocabulary import Vocabulary

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
        if kinds[i] == "index" or (kinds[i] == "number" and self._is_index(i)):
            return (Mention(cls, "index", self.lexemes[i].value),), i + 1
        if cls not in (ORIGIN, SCENERY):
            self._several = plural
        if how == "all" and number is not None:
            how = "count"
        if how == "both" and not plural:  # both the box and ...
            how = "the"
        plural = plural and how not in ("one", "another")
        return (Mention(cls, how or ("some" if plural else "bare"), number, plural),), i

    def _is_index(self, i: int) -> bool:
        """Is the number after a noun its name ("box 2"), not a distance or a coordinate?"""
        after = self.kinds[i + 1]
        bare_pair = after == "comma" and self.kinds[i + 2] == "number"
        return after not in ("unit", "row", "column", "dir", "to") and not bare_pair

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
            joined = subject and kinds[j - 1] == "and" and not (after_verb and kinds[np[1]] in VERBS)
            if (self._begins_clause(np[1]) and not joined) or np[0][0] in mentions:
                return (mentions, i) if subject or len(kept[0]) == len(mentions) or kinds[i] == "comma" else kept
            mentions, i = mentions + np[0], np[1]
        return mentions, i

    def _begins_clause(self, i: int) -> bool:
        """Is the noun phrase that ends here followed by what is said about it?"""
        kind = self.kinds[i]
        if kind in PREDICATES:
            return True
        return kind in ("to", "at", "link", *SAME, "number", "one", "poss", "poss_self") and (
            self._atom_ahead(i) is not None or kind == "at"
        )

    # ------------------------------------------------------------------ is it a place?

    def _atom_ahead(self, i: int) -> int | None:
        """Where the next direction stands if only articles, distances and owners come before it."""
        kinds = self.kinds
        for j in range(i, min(i + 9, len(kinds))):
            if kinds[j] in ATOMS:
                return j
            if kinds[j] == "one" and not self._is_distance(j):
                return None
            if kinds[j] in ("row", "column") and kinds[j - 1] in OWNERS:
                return j
            if kinds[j] in ("row", "column") and kinds[j + 1] == "of":
                return j
            if kinds[j] not in BEFORE_ATOM or (kinds[j] == "unk" and kinds[j - 1] not in ("the", "filler")):
                return None
        return None

    def _is_distance(self, i: int) -> bool:
        """Is this "one" a number of cells ("one up") and not a thing ("one above me")?"""
        after = self.kinds[i + 1]
        if after == "dir":
            return self.lexemes[i + 1].value[0] != "prep"
        return after in ("unit", "row", "column", "filler")
