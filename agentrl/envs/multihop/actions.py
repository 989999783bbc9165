"""What an agent can write: searches and one final answer."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from agentrl.core.parsing import OPEN, Turn, extract_answer, quote

MAX_QUERY = 500  # characters
MAX_ANSWER = 200
HOW = "write search(query) lines, or the final answer between the answer tags"
_CALL = re.compile(r"\s*(search|answer)\s*\((.*)\)[\s;,.]*", re.IGNORECASE | re.DOTALL)
_BEGINS = re.compile(r"\s*(?:search|answer)\s*\(", re.IGNORECASE)
_NEXT = re.compile(r"(?<=\))[\s,;]*(?=(?:search|answer)\s*\()", re.IGNORECASE)  # a call ends where the next one begins
_QUOTES = {'"': '"', "'": "'", "\u201c": "\u201d", "\u2018": "\u2019"}


class Action(NamedTuple):
    """A search or the answer, and its words."""

    name: str
    words: str

    def __str__(self) -> str:
        return f"{self.name}({self.words})"


def read_turn(action: Any, most: int) -> Turn:
    """Up to `most` calls, bare or in one pair of tags. What stands alone in the tags, and is no call, is the answer."""
    if not isinstance(action, str):
        return Turn([], f"an action is text, not {type(action).__name__}")
    inside, problem = extract_answer(action)
    if inside is None:
        return Turn([], problem)
    if not inside.strip():
        return Turn([], f"nothing was written; {HOW}")
    if not _BEGINS.match(inside):
        if OPEN not in action:
            return Turn([], f"{quote(inside.strip())} is no search and no answer; {HOW}")
        return _turn([_checked("answer", inside)])
    pieces = _NEXT.split(inside, most)
    surplus = 1 + sum(1 for _ in _NEXT.finditer(pieces.pop())) if len(pieces) > most else 0
    calls = []
    for piece in pieces:
        found = _CALL.fullmatch(piece)
        calls.append(_checked(found[1].lower(), found[2]) if found else f"{quote(piece.strip())} is no call; {HOW}")
    return _turn(calls, surplus)


def _turn(calls: list[Action | str], surplus: int = 0) -> Turn:
    """The calls before the first one that is wrong, and what is wrong with it."""
    actions: list[Action] = []
    for call in calls:
        if isinstance(call, str):
            return Turn(actions, call, surplus)
        actions.append(call)
    return Turn(actions, None, surplus)


def _checked(name: str, words: str) -> Action | str:
    """The call, or what is wrong with it."""
    longest = MAX_QUERY if name == "search" else MAX_ANSWER
    if len(words) > 2 * longest:  # before anything is done to a megabyte
        return f"what is to be {_done(name)} has {len(words):,} characters; {longest} at most"
    words = plain(words)
    if len(words) > 1 and _QUOTES.get(words[0]) == words[-1]:
        words = words[1:-1].strip()
    if name == "search":  # search(query="...") is how some models write it
        words = re.sub(r"^query\s*[=:]\s*(['\"]?)(.*)\1$", r"\2", words).strip()
    if len(words) > longest:
        return f"what is to be {_done(name)} has {len(words):,} characters; {longest} at most"
    return Action(name, words) if words else f"nothing is to be {_done(name)}; {HOW}"


def _done(name: str) -> str:
    return "searched" if name == "search" else "answered"


def plain(text: str) -> str:
    """On one line, without control characters, and without what cannot be written as UTF-8."""
    text = text.encode("utf-8", "replace").decode()
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
