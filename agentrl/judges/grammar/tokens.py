"""From characters to lexemes: words, fixed phrases, numbers, coordinates and the few marks that matter."""

from __future__ import annotations

import re

from agentrl.judges.grammar.vocabulary import COLON, COMMA, LEXICON, MARKS, ODD_WORDS, STOP, Lexeme, Vocabulary

MAX_CHARACTERS = 6000  # a description is a few sentences; what comes after is not read
MAX_TOKENS = 1200

_TOKEN = re.compile(
    r"[A-Za-z]+(?:'[A-Za-z]+)?\d{0,3}"
    r"|[(\[]\s*-?\d{1,4}\s*,\s*-?\d{1,4}\s*[)\]]"  # (2, 3)
    r"|\d{1,6}(?:st|nd|rd|th)?"
    r"|->|=|[.,;:!?()&]|\s[-\u2013\u2014]+\s|[\u2013\u2014]"
    r"|\n\s*(?=[A-Z*•#\d\n-]|(?:(?:the|an?|my) )?\w{1,12} (?:is|are|will|lies)\b)"  # a line of its own, not a wrap
    r"|[←↑→↓↖↗↘↙⬅⬆➡⬇]"
)
_PAIR = re.compile(r"-?\d+")
_SUFFIXES = {"s": "is", "re": "is", "m": "is", "ll": "will", "d": "would"}
_COMPASS = {"N": "north", "E": "east", "S": "south", "W": "west"}
_OWNERS = (["its"], ["the"], ["my"], ["his"], ["your"])  # "has to its left" is no duty


def _words(words: str) -> frozenset[str]:
    return frozenset(words.split())


# "right" before one of these means "directly", unless the kind of lexeme before it makes it a noun.
_AFTER_INTENSIFIER = _words(
    "above below under beneath underneath over next beside on at in now there here where up down atop adjacent"
)
_BEFORE_NOUN_RIGHT = _words("the poss poss_self poss_it to at dir and or comma filler")
_PREDICATES = _words("dir to at direct adjacent not")
_CLAUSE_OPENERS = _words("stop and comma but while")


def lex(text: str, vocabulary: Vocabulary) -> list[Lexeme]:
    """The lexemes of a text, always ending with two stops."""
    text = text[:MAX_CHARACTERS].replace("\u2019", "'").replace("right-", "rightward ")
    found = _TOKEN.findall(text)[:MAX_TOKENS]
    words = [word.lower() for word in found]
    words.append("")  # there is always a next word
    plain_words, seconds, lexicon = vocabulary.plain, vocabulary.seconds, vocabulary.lexicon
    lexemes: list[Lexeme] = []
    i, total = 0, len(found)
    while i < total:
        word = words[i]
        plain = plain_words.get(word)
        if plain is not None:
            lexemes.append(plain)
            i += 1
        elif word in seconds and words[i + 1] in seconds[word] and (phrase := _phrase_at(words, i, vocabulary)):
            lexemes.append(phrase[1])
            i += phrase[0]
        elif word in ODD_WORDS and (odd := _odd(words, i, lexemes, lexicon)):
            lexemes += odd[1]
            i += odd[0]
        else:
            raw = found[i]
            if len(word) > 1:
                known = lexicon.get(word)
            elif raw in _COMPASS and words[i + 1] == "of":
                known = LEXICON[_COMPASS[raw]]
            else:  # "a", "I", a mark, or the symbol of a drawing used as a name
                known = vocabulary.letters.get(raw) or lexicon.get(word)
            if known is not None:
                lexemes.append(known)
            else:
                _append_other(lexemes, word, raw, lexicon)
            i += 1
    lexemes += (STOP, STOP)
    return _contracted(lexemes) if "'s" in text else lexemes


def _phrase_at(words: list[str], i: int, vocabulary: Vocabulary) -> tuple[int, Lexeme] | None:
    following = words[i + 1 : i + 1 + vocabulary.longest_phrase]
    for rest, lexeme in vocabulary.phrases[words[i]]:
        if following[: len(rest)] == rest and not (lexeme.kind == "goal" and following[1:2] in _OWNERS):
            return len(rest) + 1, lexeme
    return None


def _odd(
    words: list[str], i: int, before: list[Lexeme], lexicon: dict[str, Lexeme]
) -> tuple[int, tuple[Lexeme, ...]] | None:
    """How many words to take and what they mean here; None for the usual meaning."""
    word, after = words[i], words[i + 1] if i + 1 < len(words) else ""
    if word == "(":  # "the target (goal)", "the player (P)": another name of what came before
        closed = words[i + 2 : i + 3] == [")"] and before and before[-1].kind in ("noun", "index")
        alias = closed and (len(after) == 1 or lexicon.get(after, STOP).kind == "noun" or after[-1].isdigit())
        return (3, ()) if alias else None
    if word == "→":
        return (1, (COLON,)) if lexicon.get(after, STOP).kind in ("dir", "at", "to") else None
    if word == "over":  # one tile over
        return (1, (LEXICON["more"],)) if before and before[-1].kind == "unit" else None
    intensifier = after in _AFTER_INTENSIFIER and not (before and before[-1].kind in _BEFORE_NOUN_RIGHT)
    return (1, (LEXICON["directly"],)) if intensifier else None


def _contracted(lexemes: list[Lexeme]) -> list[Lexeme]:
    """ "The hole's below me": an owner that opens a clause is a noun and a verb, unless it owns what follows."""
    found: list[Lexeme] = []
    opening = True
    for i, lexeme in enumerate(lexemes):
        if lexeme.kind == "poss" and opening:
            after, then = lexemes[i + 1].kind, lexemes[i + 2].kind
            owned = after == "dir" and then in ("is", "side", "has", "colon", "unk")
            if after in _PREDICATES and not owned:
                found += (Lexeme("noun", (lexeme.value, False, False)), LEXICON["is"])
                continue
        found.append(lexeme)
        opening = lexeme.kind in _CLAUSE_OPENERS or (opening and lexeme.kind in ("the", "a"))
    return found


def _append_other(lexemes: list[Lexeme], word: str, raw: str, lexicon: dict[str, Lexeme]) -> None:
    """Marks, numbers, coordinates, contractions, possessives and numbered nouns such as box0."""
    first = word[0]
    base, apostrophe, suffix = word.partition("'")
    name = base.rstrip("0123456789")
    known = lexicon.get(name)
    if word in MARKS:
        lexemes.append(MARKS[word])
    elif first in "([":
        row, column = _PAIR.findall(word)
        lexemes.append(Lexeme("pair", (int(row), int(column))))
    elif first.isdigit():
        lexemes.append(Lexeme("number", int(word)) if word.isdigit() else Lexeme("ordinal", int(word[:-2])))
    elif first == "\n":
        lexemes.append(STOP)
    elif not first.isalpha():
        lexemes.append(COMMA)  # a dash
    elif apostrophe and known is not None:
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
