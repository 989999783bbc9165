"""Calls as text: `search(words)`, `expand(P012345)` and `finish()`, one a line."""

from __future__ import annotations

import re
from typing import Any

from agentrl.core.parsing import Turn, extract_answer, one_line, quote, turn_of
from agentrl.envs.common.calls import Call

SEARCH, EXPAND, FINISH = "search", "expand", "finish"
MOST_CHARACTERS = 1_000  # of a query
SEPARATOR = "\n"
_NAMES = f"{SEARCH}|{EXPAND}|{FINISH}"
_CALL = re.compile(rf"({_NAMES})\s*\((.*)\)", re.IGNORECASE | re.DOTALL)
_BETWEEN = re.compile(rf"[;\n]|(?<=\)),(?=\s{{0,4}}(?:{_NAMES})\s{{0,4}}\()", re.IGNORECASE)
_LINES = re.compile(r"[;\s]+")


def plain(text: str) -> str:
    """A query as it is kept and shown: on one line, without what nobody can read and what could pass for a tag."""
    return one_line(text.replace("<", " ").replace(">", " "))


def unbroken(text: str) -> str:
    """Free text as an argument that ends no call."""
    return _LINES.sub(" ", text)


def read_turn(action: Any, most: int) -> Turn:
    """Up to `most` calls, bare or between `<answer>` tags."""
    answer, problem = extract_answer(action)
    if answer is None:
        return Turn([], problem)
    pieces = [piece for piece in map(str.strip, _BETWEEN.split(answer)) if piece]
    return turn_of(map(_read_call, pieces[:most] or [""]), max(0, len(pieces) - most))


def _read_call(piece: str) -> Call | str:
    """The call, or what is wrong with it."""
    if not piece:
        return "no call given"
    if len(piece) > MOST_CHARACTERS + 50:
        return f"a query has at most {MOST_CHARACTERS:,} characters; this call has {len(piece):,}"
    found = _CALL.fullmatch(piece)
    if found is None:
        return f"{quote(piece)} is no call of search, expand or finish"
    tool, argument = found[1].lower(), found[2].strip()
    if len(argument) > 1 and argument[0] == argument[-1] and argument[0] in "\"'":
        argument = argument[1:-1]
    argument = plain(argument)
    if len(argument) > MOST_CHARACTERS:
        return f"a query has at most {MOST_CHARACTERS:,} characters; got {len(argument):,}"
    if not argument and tool != FINISH:
        return f"{tool} needs {'words' if tool == SEARCH else 'the id of a paper'}"
    return "finish takes no argument" if argument and tool == FINISH else Call(tool, argument)
