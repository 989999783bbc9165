"""The one font of the embedded sites (Pillow's own), how wide its characters are, and texts as lines see them:
collapsed white space, words that may stand on lines of their own.

Pages switch kerning and ligatures off, so that a text is as wide as its characters together. Widths are in thousandths
of the font size.
"""

from __future__ import annotations

import re
import struct
import unicodedata
from bisect import bisect_right
from functools import cache
from io import BytesIO
from itertools import accumulate
from typing import NamedTuple

from PIL import ImageFont

from agentrl.core.cache import on_forget

# Heights above and below the baseline, in thousandths; browsers round them to whole pixels for every size.
ASCENT, DESCENT = 970, 230
X_HEIGHT = 530  # of small letters
_WIDE = 1000  # characters of East Asia, pictures


@cache
def font_file() -> bytes:
    """The font as a TrueType file."""
    source = ImageFont.load_default(14).path  # type: ignore[union-attr]
    assert isinstance(source, BytesIO)
    return source.getvalue()


class _Widths(dict[str, int]):
    """Width by character; those that the font lacks are estimated, because a browser takes them from another font."""

    def __init__(self, own: dict[str, int]) -> None:
        super().__init__(own)
        self.own = frozenset(own)  # the characters of the font

    def __missing__(self, character: str) -> int:
        plain = unicodedata.normalize("NFD", character)[0]
        if character == "\xa0":
            width = self[" "]
        elif unicodedata.combining(character) or unicodedata.category(character) in ("Cc", "Cf", "Mn", "Me"):
            width = 0
        elif plain != character and plain in _ACCENTED:
            width = _ACCENTED[plain]
        elif unicodedata.east_asian_width(character) in "WF":
            width = _WIDE
        else:
            width = _FALLBACK.get(character, 600)
        self[character] = width
        return width


# Widths in the fonts that browsers mostly fall back to, Liberation Sans and DejaVu Sans: of letters with accents, by
# plain letter, and of signs.
_LETTERS = {
    222: "jl", 278: "fiIt", 333: "r", 500: "cksvxyzJ", 556: "abdeghnopquL", 611: "FTZ", 667: "ABEKPSVXY",
    722: "wCDHNRU", 778: "GOQ", 833: "mM", 944: "W",
}  # fmt: skip
_SIGNS = {
    62: "\u200a", 108: "\u202f", 188: "\u2032", 200: "\u2009", 222: "\u201a", 333: "\u2010\u2011\u201e\xa1\xb2\xb3",
    350: "\u2022", 354: "\u2033", 500: "\u2002\u2191\u2193", 502: "\u25b8\u25be", 537: "\xb6",
    549: "\xf7\u2248\u2264\u2265", 556: "\u2013\u20ac\xa3\xa5\xa7\u2020\u2021\u0141", 576: "\xb5",
    584: "\xd7\u2212", 594: "\u2665", 604: "\u25a0\u25a1\u25cb\u25cf", 611: "\xbf\xdf\xf8", 713: "\u221e",
    737: "\xae", 769: "\u25b6\u25c0\u25c6", 834: "\xbc\xbd\xbe", 838: "\u2713\u2714\u2715\u2717", 889: "\xe6",
    896: "\u2605\u2606\u2630\u2661\u2699", 990: "\u25b2\u25bc\u25ba",
    1000: "\u2003\u2014\u2030\u2190\u2192\u2194",
}  # fmt: skip
_ACCENTED = {letter: width for width, letters in _LETTERS.items() for letter in letters}
_FALLBACK = {sign: width for width, signs in _SIGNS.items() for sign in signs}


@cache
def widths() -> _Widths:
    """Width of every character in thousandths of the font size."""
    data = font_file()
    tables = {}
    for number in range(struct.unpack_from(">H", data, 4)[0]):
        tag, _, offset, _ = struct.unpack_from(">4sLLL", data, 12 + 16 * number)
        tables[tag] = offset
    count = struct.unpack_from(">H", data, tables[b"hhea"] + 34)[0]
    advances = [struct.unpack_from(">H", data, tables[b"hmtx"] + 4 * number)[0] for number in range(count)]
    return _Widths({character: advances[min(glyph, len(advances) - 1)] for character, glyph in _glyphs(data, tables)})


def _glyphs(data: bytes, tables: dict[bytes, int]) -> list[tuple[str, int]]:
    """Which glyph stands for which character (table `cmap`, format 4, which Pillow's font has)."""
    start = tables[b"cmap"]
    (tables_there,) = struct.unpack_from(">H", data, start + 2)
    places = [struct.unpack_from(">HHL", data, start + 4 + 8 * number) for number in range(tables_there)]
    table = start + next(offset for platform, encoding, offset in places if (platform, encoding) == (3, 1))
    count = struct.unpack_from(">H", data, table + 6)[0] // 2

    def column(number: int, kind: str) -> tuple[int, ...]:
        # The columns stand one after the other, with a padding of two bytes behind the first.
        return struct.unpack_from(f">{count}{kind}", data, table + 14 + 2 * count * number + (2 if number else 0))

    found = []
    ranges_at = table + 16 + 6 * count
    rows = zip(column(0, "H"), column(1, "H"), column(2, "h"), column(3, "H"), strict=True)
    for row, (end, first, delta, jump) in enumerate(rows):
        for code in range(first, min(end, 0xFFFE) + 1):
            glyph = code
            if jump:
                glyph = struct.unpack_from(">H", data, ranges_at + 2 * row + jump + 2 * (code - first))[0]
            found.append((chr(code), (glyph + delta) & 0xFFFF))
    return found


def text_width(text: str) -> int:
    """How wide a text is on one line, in thousandths of the font size."""
    return sum(map(widths().__getitem__, text))


_SPACES = re.compile(r"[ \t\n\r\f]+")
# Where a line may end within a word, as observed in Chromium: behind hyphens, question marks and dashes, before opening
# brackets that follow a sign, around ideographs.
_IDEOGRAPH = "\u2e80-\ua4cf\uac00-\ud7a3"
_LETTER = r"A-Za-z\u00c0-\u024f"
_BREAKS = re.compile(
    rf"(?<=[{_LETTER}0-9]-)(?=[0-9])"
    rf"|(?<=-)(?=[\"#%&'(*+\-<=>@\[\\^_`{{|~{_LETTER}])"
    rf"|(?<=\?)(?=[#$%&(*+\-0-9<=>@\[\\^_`{{|~{_LETTER}])"
    rf"|(?<=[\u2026\u2013\u2014])(?=[#$%&(*+0-9<=>@\[\\^_`{{~{_LETTER}])"
    r"|(?<=[!\"#%&)*+,.:;=>\\\]|}~])(?=[(<\[{])"
    rf"|(?<=[{_LETTER}0-9])(?=\u2014)"
    rf"|(?<=[{_LETTER}0-9%),.:;\]!?{_IDEOGRAPH}])(?=[{_IDEOGRAPH}])"
    rf"|(?<=[{_IDEOGRAPH}])(?=[#$&(*+0-9<=>@\[\\^_`{{~{_LETTER}])"
)
_NEEDS_BREAKS = re.compile(rf"[-?(<\[{{\u2013\u2014\u2026{_IDEOGRAPH}]")
CACHE_SIZE = 20_000
_LONG = 2_000  # longer texts are not worth keeping


class Word(NamedTuple):
    """A part of a text that stays on one line if it fits, in thousandths of the font size."""

    text: str
    width: int
    space: bool  # is there a space before it?


class Run(NamedTuple):
    """A piece of text with its white space collapsed."""

    words: tuple[Word, ...]
    width: int  # on one line, without space at its ends
    leading: bool  # begins with space
    trailing: bool  # ends with space


_SPACE_WIDTH = widths()[" "]
_runs: dict[str, Run] = {}
on_forget.append(_runs.clear)


def run_of(text: str) -> Run:
    """The words of a text; what was read last is kept."""
    found = _runs.get(text)
    if found is None:
        width_of = widths().__getitem__
        parts = _SPACES.split(text)
        leading, trailing = parts[0] == "", parts[-1] == ""
        words: list[Word] = []
        total = 0
        for part in filter(None, parts):
            space = bool(words) or leading
            total += _SPACE_WIDTH if words else 0
            for piece in filter(None, _BREAKS.split(part) if _NEEDS_BREAKS.search(part) else (part,)):
                width = sum(map(width_of, piece))
                words.append(Word(piece, width, space))
                total += width
                space = False
        found = Run(tuple(words), total, leading and len(parts) > 1, trailing and len(parts) > 1)
        if len(text) <= _LONG:
            if len(_runs) >= CACHE_SIZE:
                _runs.clear()
            _runs[text] = found
    return found


def may_break(before: str, after: str) -> bool:
    """May a line end between two texts that no space parts?"""
    pair = before + after
    return _NEEDS_BREAKS.search(pair) is not None and any(found.start() == 1 for found in _BREAKS.finditer(pair))


def line_widths(run: Run, size: float, limit: float, anywhere: bool) -> list[int]:
    """The lines of a text that begins on a line of its own, by their widths in thousandths of the font size."""
    limit = limit * 1000 / size + 0.5 if size else float("inf")
    if run.width <= limit:
        return [run.width] if run.words else []
    lines: list[int] = []
    used = 0
    for word, width, space in run.words:
        wanted = used + width + (_SPACE_WIDTH if space and used else 0)
        if wanted <= limit:
            used = wanted
            continue
        if used:
            lines.append(used)
        used = width
        if width > limit and anywhere:
            *whole, used = _broken(word, limit)
            lines += whole
    return [*lines, used]


def _broken(word: str, limit: float) -> list[int]:
    """A word too long for a line, broken anywhere: the widths of its parts."""
    ends = list(accumulate(map(widths().__getitem__, word)))
    parts: list[int] = []
    start, done = 0, 0
    while start < len(ends):
        end = max(bisect_right(ends, done + limit, start), start + 1)
        parts.append(ends[end - 1] - done)
        start, done = end, ends[end - 1]
    return parts
