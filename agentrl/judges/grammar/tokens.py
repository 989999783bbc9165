"""From characters to lexemes: words, fixed phrases, numbers, coordinates and the few marks that matter."""

from __future__ import annotations

import re

from agentrl.judges.grammar.lexicon import LEXICON, LONGEST_PHRASE, PHRASES, Lexeme

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
_SYMBOLS = {  # capital letters of the drawings, used as names
    "sokoban": {"P": "player", "X": "box", "O": "target"},
    "frozenlake": {"P": "player", "G": "target", "O": "hole"},
}
_OWNERS = (["its"], ["the"], ["my"], ["his"], ["your"])  # "has to its left" is no duty
_COMPASS = {"N": "north", "E": "east", "S": "south", "W": "west"}
# "right" before one of these means "directly", unless an article or preposition makes it a noun.
_AFTER_INTENSIFIER = frozenset(
    ["above", "below", "under", "beneath", "underneath", "over", "next", "beside", "on", "at", "in", "now", "there", "here", "where", "up", "down", "atop", "adjacent"]
)
_BEFORE_NOUN_RIGHT = frozenset(["the", "poss", "poss_player", "poss_it", "to", "at", "dir", "and", "or", "comma", "filler"])
STOP, COMMA, COLON = Lexeme("stop"), Lexeme("comma"), Lexeme("colon")
_MARKS = {",": COMMA, "(": COMMA, ")": COMMA, ":": COLON, "=": COLON, "->": COLON, "&": LEXICON["and"]}
_MARKS |= {".": STOP, ";": STOP, "!": STOP, "?": Lexeme("stop", "?")}


def lex(text: str, game: str = "sokoban") -> list[Lexeme]:
    """The lexemes of a text, always ending with a stop."""
    text = text.replace("’", "'")
    found = _TOKEN.findall(text[:MAX_CHARACTERS].replace("right-", "rightward "))[:MAX_TOKENS]
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
        if word == "(" and i + 2 < total and words[i + 2] == ")" and _is_alias(lexemes, words[i + 1]):
            i += 3
            continue
        if word == "→" and LEXICON.get(words[min(i + 1, total - 1)], STOP).kind in ("dir", "at", "to"):
            lexemes.append(COLON)
        elif word == "over" and lexemes and lexemes[-1].kind == "unit":  # one tile over
            lexemes.append(LEXICON["more"])
        elif word == "right" and _is_intensifier(words, i, lexemes):
            lexemes.append(LEXICON["directly"])
        elif len(word) == 1 and found[i] in _COMPASS and words[min(i + 1, total - 1)] == "of":
            lexemes.append(LEXICON[_COMPASS[found[i]]])
        elif len(word) == 1 and found[i] in symbols:
            lexemes.append(Lexeme("noun", (symbols[found[i]], False, False)))
        elif (known := LEXICON.get(word)) is not None:
            lexemes.append(known)
        else:
            _append_other(lexemes, word, found[i])
        i += 1
    lexemes += (STOP, STOP)
    return _contracted(lexemes) if "'s" in text else lexemes


def _contracted(lexemes: list[Lexeme]) -> list[Lexeme]:
    """ "The hole's below me": an owner that opens a clause and is not followed by "left is ..." is a noun and a verb."""
    found: list[Lexeme] = []
    opening = True
    for i, lexeme in enumerate(lexemes):
        if lexeme.kind == "poss" and opening and lexemes[i + 1].kind in _PREDICATES:
            if not (lexemes[i + 1].kind == "dir" and lexemes[i + 2].kind in ("is", "side", "has", "colon", "unk")):
                found += (Lexeme("noun", (lexeme.value, False, False)), LEXICON["is"])
                continue
        found.append(lexeme)
        opening = lexeme.kind in _CLAUSE_OPENERS or (opening and lexeme.kind in ("the", "a"))
    return found


_PREDICATES = frozenset(("dir", "to", "at", "direct", "adjacent", "not"))
_CLAUSE_OPENERS = frozenset(("stop", "and", "comma", "but", "while"))


def _phrase_at(words: list[str], i: int) -> tuple[int, Lexeme] | None:
    following = words[i + 1 : i + 1 + LONGEST_PHRASE]
    for rest, lexeme in PHRASES[words[i]]:
        if following[: len(rest)] == rest and not (lexeme.kind == "goal" and following[1:2] in _OWNERS):
            return len(rest) + 1, lexeme
    return None


def _is_alias(before: list[Lexeme], word: str) -> bool:
    """ "The target (goal)", "the player (P)": another name of what came before."""
    after_noun = bool(before) and before[-1].kind in ("noun", "index")
    return after_noun and (len(word) == 1 or LEXICON.get(word, STOP).kind == "noun" or word[-1].isdigit())


def _is_intensifier(words: list[str], i: int, before: list[Lexeme]) -> bool:
    if i + 1 >= len(words) or words[i + 1] not in _AFTER_INTENSIFIER:
        return False
    return not before or before[-1].kind not in _BEFORE_NOUN_RIGHT


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
        lexemes.append(Lexeme("unk", word))
