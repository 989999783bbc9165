"""Texts as lines see them: collapsed white space, words that may stand on lines of their own, and their widths."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate
from typing import NamedTuple

from agentrl.envs.webarena.browsing.font import widths

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


def run_of(text: str) -> Run:
    """The words of a text; what was read last is kept."""
    found = _runs.get(text)
    if found is None:
        found = _read(text)
        if len(text) <= _LONG:
            if len(_runs) >= CACHE_SIZE:
                _runs.clear()
            _runs[text] = found
    return found


def _read(text: str) -> Run:
    width_of = widths().__getitem__
    parts = _SPACES.split(text)
    leading, trailing = parts[0] == "", parts[-1] == ""
    words: list[Word] = []
    total = 0
    for part in parts:
        if not part:
            continue
        space = bool(words) or leading
        total += _SPACE_WIDTH if words else 0
        for piece in _BREAKS.split(part) if _NEEDS_BREAKS.search(part) else (part,):
            if piece:
                width = sum(map(width_of, piece))
                words.append(Word(piece, width, space))
                total += width
                space = False
    return Run(tuple(words), total, leading and len(parts) > 1, trailing and len(parts) > 1)


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
