"""LIBERO's instructions in other words.

An instruction is read as requests: what to do, with which thing, and where to. A request has a few sentences for each
level: other verbs at level 1, another order of the words at level 2, the wish in place of the deed and other names of
things at level 3. Thing and place keep their descriptions, so that it stays clear which of two bowls is meant.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from agentrl.core.errors import ConfigError

_PLACE = r"(?:on top of|on|in|inside|under|to the (?:left|right|front) of)\b.*"
_FORMS = {
    "move": re.compile(rf"(?:put|place) (?P<thing>.+?) (?P<place>{_PLACE})"),
    "stack": re.compile(r"stack (?P<thing>.+?) (?P<place>on .+)"),
    "push": re.compile(r"push (?P<thing>.+?) (?P<place>to .+)"),
    "turn on": re.compile(r"turn on (?P<thing>.+)"),
    "turn off": re.compile(r"turn off (?P<thing>.+)"),
    "open": re.compile(r"open (?P<thing>.+)"),
    "close": re.compile(r"close (?P<thing>.+)"),
}
_PICKED = re.compile(r"pick up (?P<thing>.+) and (?:place|put) it (?P<place>.+)")
_LATER = re.compile(r" and (?=(?:put|close|open|place) )")

_WISH = "I would like {thing} to be"
_END = "when you are finished"
WORDINGS: dict[str, tuple[tuple[str, ...], ...]] = {  # by level, from 1
    "move": (
        (
            "take {thing} and set {it} {place}", "grab {thing} and put {it} {place}",
            "lift {thing} and place {it} {place}",
        ),
        ("{thing} should be taken and put {place}", "find {thing}, and then set {it} down {place}"),
        (f"{_WISH} {{place}} {_END}", "what belongs {place} is {thing}"),
    ),
    "stack": (
        ("take {thing} and set {it} {place}", "pile {thing} {place}"),
        ("{thing} should be stacked {place}", "find {thing}, and then stack {it} {place}"),
        (f"{_WISH} {{place}} {_END}", "what belongs {place} is {thing}"),
    ),
    "push": (
        ("slide {thing} {place}", "shove {thing} {place}"),
        ("{thing} should be pushed {place}", "find {thing}, and then push {it} {place}"),
        (f"{_WISH} pushed {{place}}", "what has to be pushed {place} is {thing}"),
    ),
    "turn on": (
        ("switch on {thing}", "switch {thing} on"),
        ("{thing} should be switched on", "find {thing}, and then switch {it} on"),
        (f"{_WISH} on {_END}", "do not leave {thing} switched off"),
    ),
    "turn off": (
        ("switch off {thing}", "switch {thing} off"),
        ("{thing} should be switched off", "find {thing}, and then switch {it} off"),
        (f"{_WISH} off {_END}", "do not leave {thing} switched on"),
    ),
    "open": (
        ("pull {thing} open", "open up {thing}"),
        ("{thing} should be opened", "find {thing}, and then open {it}"),
        (f"{_WISH} open {_END}", "do not leave {thing} shut"),
    ),
    "close": (
        ("shut {thing}", "push {thing} shut"),
        ("{thing} should be shut", "find {thing}, and then shut {it}"),
        (f"{_WISH} closed {_END}", "do not leave {thing} open"),
    ),
}  # fmt: skip
JOINED = (" and ", ", then ", "; also, ")
NAMES = {  # at level 3
    "frying pan": "skillet",
    "mug": "cup",
    "stove": "cooker",
    "moka pot": "coffee maker",
    "wine bottle": "bottle of wine",
    "cookie box": "box of cookies",
    "cream cheese box": "box of cream cheese",
    "next to": "beside",
    "from table center": "in the middle of the table",
}


class Request(NamedTuple):
    """One thing that is asked for."""

    action: str  # a key of `WORDINGS`
    thing: str  # with its article
    place: str = ""  # with its preposition; empty where nothing is carried


def read_requests(instruction: str) -> list[Request]:
    """What an instruction of LIBERO asks for, "it" replaced by what it means; `ConfigError` for other sentences."""
    if found := _PICKED.fullmatch(instruction):
        return [Request("move", found["thing"], found["place"])]
    requests: list[Request] = []
    for clause in _LATER.split(instruction):
        action, found = next(((name, m) for name, form in _FORMS.items() if (m := form.fullmatch(clause))), ("", None))
        if found is None:
            raise ConfigError(f"there is no paraphrase of {instruction!r}")
        thing, place = found["thing"], found.groupdict().get("place") or ""
        if requests:  # "it" is what was named before
            thing, place = _resolved(thing, place, requests[-1])
        requests.append(Request(action, thing, place))
    return requests


def _resolved(thing: str, place: str, before: Request) -> tuple[str, str]:
    where = re.sub(r"^(?:on top of|on|in) ", "", before.place)
    if thing == "it":  # a drawer or door that something was put into
        thing = where
    if place == "on top of it":  # of the cabinet, not of its drawer
        place = f"on top of {before.thing.rpartition(' of ')[2]}"
    if place in ("in it", "inside", "on it"):
        place = f"{'on' if place == 'on it' else 'in'} {before.thing}"
    return thing, place


def paraphrase(instruction: str, level: int, random: np.random.Generator) -> str:
    """The same request in words of a level."""
    parts = []
    for action, thing, place in read_requests(instruction):
        wording = WORDINGS[action][level - 1]
        it = "them" if thing == "them" or thing.startswith("both ") else "it"
        subject = "both bowls" if thing == "them" else thing  # only stacked bowls are carried together
        parts.append(wording[int(random.integers(len(wording)))].format(thing=subject, it=it, place=place))
    said = JOINED[level - 1].join(parts)
    for name, other in NAMES.items() if level == 3 else ():
        said = said.replace(name, other)
    return said
