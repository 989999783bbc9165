"""What follows from declared relations and is needed for every text: computed once for each declaration."""

from __future__ import annotations

import re
from functools import lru_cache

from agentrl.core.claims import Relations
from agentrl.judges.grammar.lexicon import LEXICON, ORIGIN, Lexeme, build, phrases

STOP, COMMA, COLON = Lexeme("stop"), Lexeme("comma"), Lexeme("colon")
MARKS = {",": COMMA, "(": COMMA, ")": COMMA, ":": COLON, "=": COLON, "->": COLON, "&": LEXICON["and"]}
MARKS |= {".": STOP, ";": STOP, "!": STOP, "?": Lexeme("stop", "?")}
ODD_WORDS = frozenset(["(", "→", "over", "right"])  # they mean different things in different company


class Vocabulary:
    """The words, letters and drawing symbols of one declaration."""

    def __init__(self, relations: Relations) -> None:
        self.relations = relations
        self.names = tuple(thing.name for thing in relations.things if thing.key)  # what is scored
        self.unique = frozenset(thing.name for thing in relations.things if thing.unique)
        self.many = frozenset(thing.name for thing in relations.things if thing.many)
        self.solid = frozenset(self._class(each.name) for each in (relations.origin, *relations.things) if each.solid)
        table = self._table()
        self.lexicon = {word: lexeme for word, lexeme in table.items() if "_" not in word}
        self.phrases = phrases(table)
        self.longest_phrase = max(len(rest) for entries in self.phrases.values() for rest, _ in entries)
        self.seconds = {first: frozenset(rest[0] for rest, _ in ends) for first, ends in self.phrases.items()}
        self.plain = self._plain_words()
        self.letters = self._letters()
        drawn = re.escape("".join(relations.symbols))
        self.drawn_row = re.compile(f"[{drawn}]{{2,64}}") if drawn else None

    def _table(self) -> dict[str, Lexeme]:
        """The lexeme of every word and phrase."""
        return build(self.relations)

    def _plain_words(self) -> dict[str, Lexeme]:
        """The words that mean the same everywhere: most of every text."""
        return {
            word: lexeme
            for word, lexeme in (self.lexicon | MARKS).items()
            if word not in self.phrases and word not in ODD_WORDS and (len(word) > 1 or word in MARKS or word == "i")
        }

    def _letters(self) -> dict[str, Lexeme]:
        """Capital letters of drawings that stand for one thing, used as its name: "P is left of X"."""
        alone = {symbol: names[0] for symbol, names in self.relations.symbols.items() if len(names) == 1}
        return {s: Lexeme("noun", (self._class(name), False, False)) for s, name in alone.items() if s.isupper()}

    def _class(self, name: str) -> str:
        return ORIGIN if name == self.relations.origin.name else name


vocabulary_of = lru_cache(maxsize=64)(Vocabulary)
