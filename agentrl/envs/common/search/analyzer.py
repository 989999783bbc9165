"""Text to search terms, as Lucene's English analyzer does it: words, possessives, lower case, stop words, stems.

    analyze("The women's T-shirts, size 3.5")  ->  ["women", "t", "shirt", "size", "3.5"]

Words follow the word boundaries of UAX #29: letters, digits and underscores hold together; `: . '` and their like join
two letters, `, . ; '` two digits; a Han or Hiragana character and an emoji are words of their own. Any string is legal.

What kind of character one is to those rules is worked out when a text first contains it: a table of Unicode would
cost every process memory and start-up time. The standard library knows categories and names but not word-break
properties, so a few rare symbols are judged by their category.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from agentrl.envs.common.search.stemmer import stem

LETTER, DIGIT, UNDERSCORE, KATAKANA, ALONE, RUN = "a0_khs"
MID_LETTER, MID_NUMBER, MID_EITHER = ":,."
CONNECTORS = "_\u202f\u203f\u2040\u2054\ufe33\ufe34\ufe4d\ufe4e\ufe4f\uff3f"  # join words, but are none themselves
EMOJI, FLAG, JOINER, ATTACHED, OTHER = "erzx "

_EXACT = {
    **dict.fromkeys(map(ord, ":\u00b7\u02d7\u0387\u05f4\u2027\ufe13\ufe55\uff1a"), MID_LETTER),
    **dict.fromkeys(map(ord, ".'\u2018\u2019\u2024\ufe52\uff07\uff0e"), MID_EITHER),
    **dict.fromkeys(
        map(ord, ",;\u037e\u0589\u060c\u060d\u066c\u07f8\u2044\ufe10\ufe14\ufe50\ufe54\uff0c\uff1b"), MID_NUMBER
    ),
    **dict.fromkeys(range(0x24B6, 0x24EA), LETTER),  # letters in circles
    # letters in boxes
    **dict.fromkeys((*range(0x1F130, 0x1F14A), *range(0x1F150, 0x1F16A), *range(0x1F170, 0x1F18A)), LETTER),
    **dict.fromkeys(range(0x1F1E6, 0x1F200), FLAG),
    **dict.fromkeys(range(0x1F3FB, 0x1F400), ATTACHED),  # skin tones
    **dict.fromkeys(range(0x3021, 0x302A), ALONE),  # numerals written among Han characters
    **dict.fromkeys((0x3007, 0x3038, 0x3039, 0x303A), ALONE),
    **dict.fromkeys((0x5F3, 0x2139, 0x3005), LETTER),
    **dict.fromkeys((*range(0x3031, 0x3036), 0x309B, 0x309C, 0x30A0), KATAKANA),
    **dict.fromkeys((*range(0x32D0, 0x32FF), *range(0x3300, 0x3358)), KATAKANA),  # in circles and squares
    **dict.fromkeys((0xFF9E, 0xFF9F), ATTACHED),  # voiced sound marks of half width
    0x66B: DIGIT,
    0x3006: OTHER,
    0x200B: OTHER,  # zero width space divides words
    0x200D: JOINER,
    **dict.fromkeys(map(ord, CONNECTORS), UNDERSCORE),
}
# Symbols of the older blocks that are pictures; most of their neighbours are not.
_OLD_PICTURES = (
    "a9 ae 203c 2049 2122 2194-2199 21a9-21aa 231a-231b 2328 2388 23cf 23e9-23f3 23f8-23fa 24c2 25aa-25ab 25b6 25c0 "
    "25fb-25fe 2600-2605 2607-2612 2614-2685 2690-2705 2708-2712 2714 2716 271d 2721 2728 2733-2734 2744 2747 274c "
    "274e 2753-2755 2757 2763-2767 2795-2797 27a1 27b0 27bf 2934-2935 2b05-2b07 2b1b-2b1c 2b50 2b55 3030 303d 3297 3299"
)
_NEW_PICTURES = (
    "1f000-1f0ff 1f10d-1f10f 1f12f 1f16c-1f171 1f17e-1f17f 1f18e 1f191-1f19a 1f201-1f20f 1f21a 1f22f 1f232-1f23a "
    "1f249-1f3fa 1f400-1f53d 1f546-1f64f 1f680-1f6ff 1f774-1f77f 1f7d5-1f7ff 1f90c-1f93a 1f93c-1f945 1f947-1faff"
)
_UNSPACED = ("THAI", "LAO", "KHMER", "MYANMAR", "TAI", "NEW", "AHOM")  # scripts that write no spaces: a run is a word
_BY_CATEGORY = {"Nd": DIGIT, "Nl": LETTER, "Cf": ATTACHED, "Mn": ATTACHED, "Me": ATTACHED, "Mc": ATTACHED}


_RANGES = [part.partition("-") for part in f"{_OLD_PICTURES} {_NEW_PICTURES}".split()]
_PICTURES = frozenset(code for a, _, b in _RANGES for code in range(int(a, 16), int(b or a, 16) + 1))


class CharacterClasses(dict[int, str]):
    """For `str.translate`: code point -> letter of its class, remembered once it has been asked for."""

    def __missing__(self, code: int) -> str:
        category, name = unicodedata.category(chr(code)), unicodedata.name(chr(code), "")
        if code in _EXACT:
            found = _EXACT[code]
        elif code in _PICTURES:
            found = EMOJI
        elif 0x2E80 <= code < 0x2FE0:  # radicals of Han characters
            found = ALONE
        elif category[0] != "L":
            found = _BY_CATEGORY.get(category, OTHER)
        elif name.startswith(("CJK ", "HIRAGANA", "HENTAIGANA", "TANGUT", "NUSHU")):
            found = ALONE
        elif name.startswith(("KATAKANA", "HALFWIDTH KATAKANA")):
            found = KATAKANA
        else:
            found = RUN if name.split(" ", 1)[0] in _UNSPACED else LETTER
        self[code] = found
        return found


# ---------------------------------------------------------------------- words and terms

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
    terms: list[str] = []
    for start in range(0, len(word), MAX_WORD):
        piece = _POSSESSIVE.sub("", word[start : start + MAX_WORD])
        # Letter by letter, as Java does: `str.lower` looks at the neighbours of a sigma and makes two of a dotted I.
        piece = piece.lower() if piece.isascii() else "".join(letter.lower()[0] for letter in piece)
        if piece not in STOP_WORDS and piece.strip(CONNECTORS):  # underscores that join nothing are no term
            terms.append(stem(piece))
    return tuple(terms)


def _unicode_words(text: str) -> list[str]:
    classes = text.translate(_classes)
    if not _ATTACHED.search(classes):
        return [text[slice(*match.span())] for match in _ANY_WORD.finditer(classes)]
    # Accents, joiners and the like are invisible to the rules, except a joiner between two pictures.
    places: list[int] = []
    for place, kind in enumerate(classes):
        if kind == JOINER:
            follows_picture = bool(places) and classes[places[-1]] == EMOJI
            if not (follows_picture and classes[place + 1 : place + 2] == EMOJI):
                continue
        elif kind == ATTACHED:
            continue
        places.append(place)
    bare = "".join([classes[place] for place in places])
    places.append(len(text))  # what is attached to the last character of a word belongs to the word
    return [text[places[match.start()] : places[match.end()]] for match in _ANY_WORD.finditer(bare)]
