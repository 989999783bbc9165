"""What kind of character each one is to the word rules of UAX #29, in the letters that `analyzer` matches on.

Worked out one character at a time, when a text first contains it: a table of all of Unicode would cost every process
memory and start-up time. The standard library knows categories and names but not word-break properties, so a few rare
symbols are judged by their category.
"""

from __future__ import annotations

import unicodedata

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
_BY_CATEGORY = {"Nd": DIGIT, "Nl": LETTER, "Cf": ATTACHED, "Mn": ATTACHED, "Me": ATTACHED}


def _codes(ranges: str) -> frozenset[int]:
    pairs = [part.partition("-") for part in ranges.split()]
    return frozenset(code for a, _, b in pairs for code in range(int(a, 16), int(b or a, 16) + 1))


_PICTURES = _codes(f"{_OLD_PICTURES} {_NEW_PICTURES}")


class CharacterClasses(dict[int, str]):
    """For `str.translate`: code point -> letter of its class, remembered once it has been asked for."""

    def __missing__(self, code: int) -> str:
        found = self[code] = _classify(code)
        return found


def _classify(code: int) -> str:
    if code in _EXACT:
        return _EXACT[code]
    if code in _PICTURES:
        return EMOJI
    category = unicodedata.category(chr(code))
    if 0x2E80 <= code < 0x2FE0:  # radicals of Han characters
        return ALONE
    if category[0] == "L":
        return _kind_of_letter(chr(code))
    return ATTACHED if category == "Mc" else _BY_CATEGORY.get(category, OTHER)


def _kind_of_letter(letter: str) -> str:
    name = unicodedata.name(letter, "")
    if name.startswith(("CJK ", "HIRAGANA", "HENTAIGANA", "TANGUT", "NUSHU")):
        return ALONE
    if name.startswith(("KATAKANA", "HALFWIDTH KATAKANA")):
        return KATAKANA
    return RUN if name.split(" ", 1)[0] in _UNSPACED else LETTER
