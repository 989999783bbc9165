"""The two actions of the shop, `search[words]` and `click[what]`, read from whatever a model wrote."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

from agentrl.core.parsing import Turn, extract_answer, quote

MAX_SEARCH = 1000  # characters: no wish comes near, and a megabyte would live on in every address and snapshot
MAX_CLICK = 500  # no button or option value comes near
MAX_KEPT = 200  # characters of an action that is remembered
HOW = "write search[words] or click[something on the page]"
_NEXT = re.compile(r"\](?=[\s,;]*(?:search|click)\s*\[)", re.IGNORECASE)
_NAME = re.compile(r"\s*(search|click)\s*\[", re.IGNORECASE)
_OPENED, _CLOSED = re.compile("<action>", re.IGNORECASE), re.compile("</action>", re.IGNORECASE)
UNTAGGED = "put your reasoning between <think> and </think>, then one action between <action> and </action>"


class Action(NamedTuple):
    """`search` or `click`, and what."""

    name: str
    argument: str  # lower case, single spaces

    def __str__(self) -> str:
        return f"{self.name}[{self.argument}]"


def read_turn(action: Any) -> Turn:
    """One action out of any value; more than one are surplus."""
    answer, problem = extract_answer(action)
    if answer is None:
        return Turn([], problem)
    if not answer.strip():
        return Turn([], f"no action given; {HOW}")
    first, surplus = answer, 0
    if "[" in answer.partition("]")[2]:  # seldom: something begins behind the first end
        ends = [match.end() for match in _NEXT.finditer(answer)]
        first, surplus = (answer[: ends[0]], len(ends)) if ends else (answer, 0)
    found, problem = (_parse if len(first) > MAX_KEPT else _parse_again)(first)
    return Turn([], problem, surplus) if found is None else Turn([found], None, surplus)


def read_tagged_turn(action: Any) -> Turn:
    """One action from a reply with `<think>` and `<action>` tags. What can be read in another reply runs, too, and the
    missing form is its error."""
    if not isinstance(action, str):
        return read_turn(action)
    opened = _OPENED.search(action)
    closed = _CLOSED.search(action, opened.end()) if opened else None
    if opened is None or closed is None:
        return read_turn(action)._replace(error=UNTAGGED)
    turn = read_turn(action[opened.end() : closed.start()])
    thought = "</think>" in action.partition("<think>")[2]
    return turn if turn.error or thought else turn._replace(error=UNTAGGED)


def tagged_reply(action: str) -> str:
    """A reply that `read_tagged_turn` reads as this action."""
    return f"<think>My next step is {action}.</think><action>{action}</action>"


def _parse(text: str) -> tuple[Action | None, str | None]:
    name, end = _NAME.match(text), text.rfind("]")
    if name is None:
        return None, f"{quote(text.strip())} is not an action; {HOW}"
    # As in the benchmark words may follow an action, unless further brackets make it unclear where it ends.
    if end < name.end() or (text[end + 1 :].strip() and text.count("[") > 1):
        return None, f"{quote(text.strip())} does not end with a bracket; {HOW}"
    argument, verb = text[name.end() : end], name[1].lower()
    longest = MAX_SEARCH if verb == "search" else MAX_CLICK
    if len(argument) > longest:
        return None, f"what stands between the brackets of {verb} has {len(argument):,} characters; {longest:,} at most"
    words = plain(argument)
    if not words:
        return None, f"nothing stands between the brackets of {verb}; {HOW}"
    return Action(verb, words), None


_parse_again = lru_cache(maxsize=4_096)(_parse)  # of the same few clicks most episodes are made


def plain(text: str) -> str:
    """Lower case, single spaces, nothing that cannot be written as UTF-8."""
    return " ".join(text.encode("utf-8", "replace").decode().lower().split())
