"""From characters to lexemes: words, fixed phrases, numbers, coordinates and the few marks that matter."""

from __future__ import annotations

import re

from agentrl.judges.lexicon import LEXICON, PHRASES, Lexeme

MAX_CHARACTERS = 6000  # a description is a few sentences; what comes after is not read
MAX_TOKENS = 1200

_TOKEN = re.compile(
    r"[(\[]\s*-?\d{1,4}\s*,\s*-?\d{1,4}\s*[)\]]"  # (2, 3)
    r"|[A-Za-z]+(?:'[A-Za-z]+)?\d{0,3}"
    r"|\d{1,6}(?:st|nd|rd|th)?"
    r"|->|=|[.,;:!?()&]|\s[-–—]+\s|[–—]"
    r"|\n\s*(?=[A-Z*•#\d\n-])"
    r"|[←↑→↓↖↗↘↙⬅⬆➡⬇]"
)
_PAIR = re.compile(r"-?\d+")
_SUFFIXES = {"s": "is", "re": "is", "m": "is", "ll": "will", "d": "would"}
_STOPS = frozenset(".;!?")
_SYMBOLS = {  # capital letters of the drawings, used as names
    "sokoban": {"P": "player", "X": "box", "O": "target"},
    "frozenlake": {"P": "player", "G": "target", "O": "hole"},
}
# "right" before one of these means "directly", unless an article or preposition makes it a noun.
_AFTER_INTENSIFIER = frozenset(
    "above below under beneath underneath over next beside on at in now there here where up down atop adjacent".split()
)
_BEFORE_NOUN_RIGHT = frozenset(
    "the my your his her its their our to far upper lower top bottom up down left and or , on further farther".split()
)
STOP, COMMA = Lexeme("stop"), Lexeme("comma")
_MARKS = {",": COMMA, "(": COMMA, ")": COMMA, ":": Lexeme("colon"), "=": Lexeme("colon"), "->": Lexeme("colon")}
_MARKS |= {mark: STOP for mark in _STOPS} | {"&": LEXICON["and"]}
_UNKNOWN = Lexeme("unk")


def lex(text: str, game: str = "sokoban") -> list[Lexeme]:
    """The lexemes of a text, always ending with a stop."""
    found = _TOKEN.findall(text[:MAX_CHARACTERS].replace("’", "'"))[:MAX_TOKENS]
    words = [word.lower() for word in found]
    symbols = _SYMBOLS.get(game, {})
    lexemes: list[Lexeme] = []
    i, total = 0, len(words)
    while i < total:
        word = words[i]
        if word in PHRASES and (phrase := _phrase_at(words, i)):
            lexemes.append(phrase[1])
            i += phrase[0]
            continue
        if word == "right" and _is_intensifier(words, i):
            lexemes.append(LEXICON["directly"])
        elif len(word) == 1 and found[i] in symbols:
            lexemes.append(Lexeme("noun", (symbols[found[i]], False, False)))
        elif (known := LEXICON.get(word)) is not None:
            lexemes.append(known)
        else:
            _append_other(lexemes, word, found[i])
        i += 1
    lexemes += (STOP, STOP)
    return lexemes


def _phrase_at(words: list[str], i: int) -> tuple[int, Lexeme] | None:
    for rest, lexeme in PHRASES[words[i]]:
        if tuple(words[i + 1 : i + 1 + len(rest)]) == rest:
            return len(rest) + 1, lexeme
    return None


def _is_intensifier(words: list[str], i: int) -> bool:
    if i + 1 >= len(words) or words[i + 1] not in _AFTER_INTENSIFIER:
        return False
    before = words[i - 1] if i else ""
    return before not in _BEFORE_NOUN_RIGHT and not before.endswith("'s")


def _append_other(lexemes: list[Lexeme], word: str, raw: str) -> None:
    """Marks, numbers, coordinates, contractions, possessives and numbered nouns such as box0."""
    first = word[0]
    if word in _MARKS:
        lexemes.append(_MARKS[word])
    elif first in "([":
        row, column = _PAIR.findall(word)
        lexemes.append(Lexeme("pair", (int(row), int(column))))
    elif first.isdigit():
        lexemes.append(Lexeme("number", int(word)) if word.isdigit() else Lexeme("ordinal", int(word[:-2])))
    elif first == "\n":
        lexemes.append(STOP)
    elif not first.isalpha():
        lexemes.append(COMMA)  # a dash
    else:
        _append_word(lexemes, word, raw)


def _append_word(lexemes: list[Lexeme], word: str, raw: str) -> None:
    base, apostrophe, suffix = word.partition("'")
    name = base.rstrip("0123456789")
    known = LEXICON.get(name)
    if apostrophe and known is not None:
        if known.kind == "noun" and suffix == "s" and not known.value[2]:
            lexemes.append(Lexeme("poss", known.value[0]))
        else:
            lexemes += (known, LEXICON[_SUFFIXES[suffix]]) if suffix in _SUFFIXES else (known,)
    elif known is not None and known.kind == "noun" and name != base:
        lexemes += (known, Lexeme("index", int(base[len(name) :])))
    elif len(raw) == 1 and raw in "ABCDEF":
        lexemes.append(Lexeme("index", raw))
    else:
        lexemes.append(_UNKNOWN)
