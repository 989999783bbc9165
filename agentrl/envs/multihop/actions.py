"""What an agent can write: searches and one final answer."""

from __future__ import annotations

import re
from typing import Any

from agentrl.core.parsing import OPEN, Turn, extract_answer, one_line, quote, turn_of
from agentrl.envs.common.calls import Call

MAX_QUERY = 500  # characters
MAX_ANSWER = 200
HOW = "write search(query) lines, or the final answer between the answer tags"
_CALL = re.compile(r"\s*(search|answer)\s*\((.*)\)[\s;,.]*", re.IGNORECASE | re.DOTALL)
_BEGINS = re.compile(r"\s*(?:search|answer)\s*\(", re.IGNORECASE)
_NEXT = re.compile(r"(?<=\))[\s,;]*(?=(?:search|answer)\s*\()", re.IGNORECASE)  # a call ends where the next one begins
_QUOTES = {'"': '"', "'": "'", "\u201c": "\u201d", "\u2018": "\u2019"}


def read_turn(action: Any, most: int) -> Turn:
    """Up to `most` calls, bare or in one pair of tags. What stands alone in the tags, and is no call, is the answer."""
    inside, problem = extract_answer(action)
    if inside is None:
        return Turn([], problem)
    if not inside.strip():
        return Turn([], f"nothing was written; {HOW}")
    if not _BEGINS.match(inside):
        wrong = f"{quote(inside.strip())} is no search and no answer; {HOW}"
        return turn_of([_checked("answer", inside) if OPEN in action else wrong])
    pieces = _NEXT.split(inside, most)
    surplus = 1 + sum(1 for _ in _NEXT.finditer(pieces.pop())) if len(pieces) > most else 0
    return turn_of(map(_read_call, pieces), surplus)


def _read_call(piece: str) -> Call | str:
    """The call, or what is wrong with it."""
    found = _CALL.fullmatch(piece)
    return _checked(found[1].lower(), found[2]) if found else f"{quote(piece.strip())} is no call; {HOW}"


def _checked(name: str, words: str) -> Call | str:
    """The call with these words, or what is wrong with them."""
    longest, done = (MAX_QUERY, "searched") if name == "search" else (MAX_ANSWER, "answered")
    too_long = f"what is to be {done} has {{:,}} characters; {longest} at most"
    if len(words) > 2 * longest:  # before anything is done to a megabyte
        return too_long.format(len(words))
    words = plain(words)
    if len(words) > 1 and _QUOTES.get(words[0]) == words[-1]:
        words = words[1:-1].strip()
    if name == "search":  # search(query="...") is how some models write it
        words = re.sub(r"^query\s*[=:]\s*(['\"]?)(.*)\1$", r"\2", words).strip()
    if len(words) > longest:
        return too_long.format(len(words))
    return Call(name, words) if words else f"nothing is to be {done}; {HOW}"


def plain(text: str) -> str:
    """On one line, without control characters, and without what cannot be written as UTF-8."""
    return one_line(text.encode("utf-8", "replace").decode())
