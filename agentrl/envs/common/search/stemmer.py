"""Porter's stemmer with its author's two later extensions (bli -> ble, logi -> log), as Lucene applies it.

A word is seen as a row of vowels and consonants; the *measure* of a beginning is how often a vowel is followed by a
consonant in it, roughly its number of syllables. Every step takes an ending off, or changes it, if what is left before
it measures enough. Words of one or two letters stay as they are. Letters outside a-z count as consonants.
"""

from __future__ import annotations

VOWELS = frozenset("aeiou")
DOUBLES_THAT_STAY = frozenset("lsz")

STEP_TWO = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
STEP_THREE = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_DROPPED = "al ance ence er ic able ible ant ement ment ent ou ism ate iti ous ive ize"
STEP_FOUR = {**dict.fromkeys(_DROPPED.split(), ""), "sion": "s", "tion": "t"}


def stem(word: str) -> str:
    """The stem of a lower-case word."""
    if len(word) <= 2:
        return word
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    word = _past_and_progressive(word)
    if word.endswith("y") and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    word = _replace_ending(word, STEP_TWO, above=0)
    word = _replace_ending(word, STEP_THREE, above=0)
    word = _replace_ending(word, STEP_FOUR, above=1)
    if word.endswith("e"):
        measure = _measure(word)
        if measure > 1 or (measure == 1 and not _is_short_syllable(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _shape(letters: str) -> str:
    """The letters as "c" and "v"; y is a vowel after a consonant."""
    shape = ""
    for letter in letters:
        is_vowel = letter in VOWELS or (letter == "y" and shape[-1:] == "c")
        shape += "v" if is_vowel else "c"
    return shape


def _measure(letters: str) -> int:
    return _shape(letters).count("vc")


def _is_short_syllable(letters: str) -> bool:
    """Does it end in consonant, vowel, consonant, as "hop" does (not w, x or y: "snow", "box", "tray")?"""
    return _shape(letters)[-3:] == "cvc" and letters[-1] not in "wxy"


def _past_and_progressive(word: str) -> str:
    """A word without -ed or -ing, mended: "hopp" was "hop", "creat" was "create", "fil" was "file"."""
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    ending = "ed" if word.endswith("ed") else "ing" if word.endswith("ing") else ""
    rest = word.removesuffix(ending)
    if not ending or "v" not in _shape(rest):
        return word
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if len(rest) > 1 and rest[-1] == rest[-2] and _shape(rest)[-1] == "c":  # a double consonant
        return rest if rest[-1] in DOUBLES_THAT_STAY else rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _is_short_syllable(rest) else rest


def _replace_ending(word: str, endings: dict[str, str], above: int) -> str:
    """The longest ending that fits decides, even if what is left before it is too short to change anything."""
    for length in range(min(7, len(word)), 1, -1):
        replacement = endings.get(word[-length:])
        if replacement is not None:
            kept = word[:-length] + (replacement if above else "")  # the s or t of -sion, -tion belongs to the rest
            return word[:-length] + replacement if _measure(kept) > above else word
    return word
