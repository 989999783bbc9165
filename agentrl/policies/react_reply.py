"""Reading a reply of the form "Thought: ... Action: ...", with the slips that models make.

Repairs change the form of what was said, never its content: marks around it go, and where an environment names its
actions, those names are found in the line of the action. What cannot be read goes to the environment as it stands,
which then says so; no action is made up.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import gymnasium as gym

MAX_LENGTH = 20_000  # letters of a reply that are looked at, from its end
# No pattern here may run across lines or match one text in two ways: models write hostile repetitions by themselves.
_START = r"^[ \t>*_#`-]*"
_LABEL = re.compile(_START + r"(?:final +)?(?:action|answer)(?: ?\d+)?[*_` \t]*[:=][*_`]*[ \t]*", re.I | re.M)
_NEXT = re.compile(_START + r"(?:observation|thought|example)(?: ?\d+)?[*_` \t]*[:.]", re.I | re.M)
_MADE_UP = re.compile(_START + r"(?:observation|example \d+)[*_` \t]*[:.]", re.I | re.M)
_OPEN, _CLOSE = re.compile(r"<(?:answer|action)>", re.I), re.compile(r"</(?:answer|action)>", re.I)
_MARKS = "`*_\"' \t\r\n[](){}<>"
_PAIRS = ("**", "**"), ("`", "`"), ('"', '"'), ("'", "'"), ("[", "]"), ("(", ")")
_GLUE = re.compile(r"(?:\s|[,;|.>/&+-]|\band\b|\bthen\b|\b(?:move|go|step|walk|push)\b|\d+[.)])*", re.I)


class Grammar(NamedTuple):
    """The names of an environment's actions, and how it joins several; no names: anything may be an action."""

    names: tuple[str, ...] = ()
    separator: str = ", "

    @classmethod
    def of(cls, env: gym.Env | None) -> Grammar:
        """What an environment says about itself."""
        base: Any = None if env is None else env.unwrapped
        return cls(tuple(getattr(base, "action_names", ())), str(getattr(base, "action_separator", ", ")))


ANYTHING = Grammar()


def read_reply(text: str, grammar: Grammar = ANYTHING) -> tuple[str, str]:
    """(the action, how it was read: "clean", "repaired" or "unread")."""
    said = text[-MAX_LENGTH:]
    said = said[: found.start()] if (found := _made_up(said)) else said
    line, labelled = _last_action(said)
    if line is None:
        return text, "unread"
    action = _by_names(line, grammar) if grammar.names else _unwrapped(line)
    if not action:
        return (line.strip() or text), "unread"
    clean = labelled and said == text and text.rstrip().endswith(f"Action: {action}")
    return action, "clean" if clean else "repaired"


def _made_up(text: str) -> re.Match[str] | None:
    """Where a model goes on to play the environment too: nothing behind that was an answer to a real observation."""
    first = _LABEL.search(text)
    return _MADE_UP.search(text, first.end()) if first else None


def _last_action(text: str) -> tuple[str | None, bool]:
    """What stands behind the last label; or inside the last tags; or on the only line. And: was it labelled?"""
    if labels := list(_LABEL.finditer(text)):
        rest = text[labels[-1].end() :]
        rest = rest[: following.start()] if (following := _NEXT.search(rest)) else rest
        inside = _inside_tags(rest)
        return (_first_line(rest), True) if inside is None else (inside, False)
    if (inside := _inside_tags(text)) is not None:
        return inside, False
    lines = text.strip().splitlines()
    return (lines[0], False) if len(lines) == 1 else (None, False)


def _inside_tags(text: str) -> str | None:
    """What stands inside the last closed pair of tags."""
    closed = list(_CLOSE.finditer(text))
    opened = [tag for tag in _OPEN.finditer(text) if closed and tag.end() <= closed[-1].start()]
    return text[opened[-1].end() : closed[-1].start()] if opened else None


def _first_line(text: str) -> str:
    """The action's line; a label alone on its line is followed by it."""
    return next((line for line in text.splitlines() if line.strip(_MARKS)), "")


def _unwrapped(line: str) -> str:
    """Without marks that stand around the whole; those inside may be part of the action."""
    line, before = line.strip(), None
    while line != before:
        before = line
        for left, right in _PAIRS:
            if len(line) > len(left) + len(right) and line.startswith(left) and line.endswith(right):
                inner = line[len(left) : -len(right)]
                # click('a') and type('b'): the first quote and the last are not a pair.
                line = line if left in inner or right in inner else inner.strip()
    return line


def _by_names(line: str, grammar: Grammar) -> str | None:
    """The actions named in a line that holds little else; None where it is a sentence or nothing of the kind."""
    names = {name.casefold(): name for name in grammar.names}
    pattern = re.compile(
        "|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in sorted(names, key=len, reverse=True)), re.I
    )
    found, rest = [], []
    start = 0
    for match in pattern.finditer(line):
        found.append(names[match[0].casefold()])
        rest.append(line[start : match.start()])
        start = match.end()
    rest.append(line[start:])
    plain = all(_GLUE.fullmatch(piece.strip(_MARKS)) for piece in rest)
    return grammar.separator.join(found) if found and plain else None
