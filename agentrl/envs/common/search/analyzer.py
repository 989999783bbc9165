"""Text to search terms, as Lucene's English analyzer does it: words, possessives, lower case, stop words, stems.

    analyze("The women's T-shirts, size 3.5")  ->  ["women", "t", "shirt", "size", "3.5"]

Words follow the word boundaries of UAX #29: letters, digits and underscores hold together; `: . '` and their like join
two letters, `, . ; '` two digits; a Han or Hiragana character and an emoji are words of their own. Any string is legal.
"""

from __future__ import annotations

import re
from functools import lru_cache

from agentrl.envs.common.search.characters import ATTACHED, CONNECTORS, EMOJI, JOINER, CharacterClasses
from agentrl.envs.common.search.stemmer import stem

_STOPS = """
a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to
was will with
"""
STOP_WORDS = frozenset(_STOPS.split())
MAX_WORD = 255  # Lucene cuts longer ones into pieces of this length
QUERY_CHARACTERS = 1 << 16  # what follows is not read, so that no query costs more than some hundredths of a second
QUERY_TERMS = 1024  # distinct ones; Lucene refuses a query with more clauses, we leave the rest out

_ASCII_WORD = re.compile(r"[a-z0-9_]+(?:(?:(?<=[a-z])[:.'](?=[a-z])|(?<=[0-9])[,;.'](?=[0-9]))[a-z0-9_]+)*")
_ANY_WORD = re.compile(r"[a0_]+(?:(?:(?<=a)[:.](?=a)|(?<=0)[,.](?=0))[a0_]+)*|k+|h|s+|e(?:ze)*|rr")
_ATTACHED = re.compile(f"[{ATTACHED}{JOINER}]+")
# Lower case, and a space for whatever is neither part of a word nor able to join two parts of one.
_SPACED = {code: chr(code).lower() if chr(code).isalnum() or chr(code) in "_:.',;" else " " for code in range(128)}
_POSSESSIVE = re.compile("['\u2019\uff07][sS]$")
_classes = CharacterClasses()


def analyze(text: str) -> list[str]:
    """The terms of a text, in order."""
    return [term for word in words(text) for term in terms_of(word)]


def analyze_query(text: str) -> dict[str, int]:
    """The distinct terms of a query and how often it says each, in order of appearance; bounded for any length."""
    counts: dict[str, int] = {}
    for word in words(text[:QUERY_CHARACTERS]):
        for term in terms_of(word):
            if term in counts or len(counts) < QUERY_TERMS:
                counts[term] = counts.get(term, 0) + 1
    return counts


def words(text: str) -> list[str]:
    """The words of a text before anything is done to them (but plain ASCII comes back in lower case)."""
    return _ASCII_WORD.findall(text.lower()) if text.isascii() else _unicode_words(text)


def pieces(text: str) -> list[str]:
    """Parts of a text that hold whole words, perhaps with commas and full stops: several times quicker than `words`.

    For callers that cache the terms of each piece, as texts repeat them: `analyze(text)` is the terms of all pieces.
    """
    return text.translate(_SPACED).split() if text.isascii() else _unicode_words(text)


@lru_cache(maxsize=1 << 16)
def terms_of(word: str) -> tuple[str, ...]:
    """The terms that one word stands for: usually one, none for a stop word, several for an endless word."""
    pieces = [word[i : i + MAX_WORD] for i in range(0, len(word), MAX_WORD)]
    return tuple(term for piece in pieces if (term := _term(piece)))


def _term(word: str) -> str:
    """Empty for a stop word, and for underscores that join nothing."""
    word = _lower(_POSSESSIVE.sub("", word))
    return "" if word in STOP_WORDS or not word.strip(CONNECTORS) else stem(word)


def _lower(word: str) -> str:
    """Letter by letter, as Java does: `str.lower` looks at the neighbours of a sigma and makes two of a dotted I."""
    return word.lower() if word.isascii() else "".join(letter.lower()[0] for letter in word)


def _unicode_words(text: str) -> list[str]:
    classes = text.translate(_classes)
    if not _ATTACHED.search(classes):
        return [text[slice(*match.span())] for match in _ANY_WORD.finditer(classes)]
    places = _places_that_count(classes)
    bare = "".join([classes[place] for place in places])
    places.append(len(text))  # what is attached to the last character of a word belongs to the word
    return [text[places[match.start()] : places[match.end()]] for match in _ANY_WORD.finditer(bare)]


def _places_that_count(classes: str) -> list[int]:
    """Accents, joiners and the like are invisible to the rules, except a joiner between two pictures."""
    places: list[int] = []
    for place, kind in enumerate(classes):
        if kind == JOINER:
            follows_picture = bool(places) and classes[places[-1]] == EMOJI
            if not (follows_picture and classes[place + 1 : place + 2] == EMOJI):
                continue
        elif kind == ATTACHED:
            continue
        places.append(place)
    return places
