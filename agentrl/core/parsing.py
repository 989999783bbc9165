"""From what a model wrote to a list of primitive actions: total functions that never raise on any string."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

OPEN, CLOSE = "<answer>", "</answer>"


class Turn(NamedTuple):
    """What one action of the policy asks for."""

    actions: list[Any]  # primitive actions to run, in order
    error: str | None = None  # what is wrong with the first invalid one; running stops there
    surplus: int = 0  # how many more were written than a turn may hold


def quote(text: str, length: int = 40) -> str:
    """A short, printable form of hostile text (it will stand in an observation).

    Without "<": an echoed `<image>` would count as a picture's place, an echoed chat marker as the end of a message.
    """
    return ascii(text if len(text) <= length else text[:length] + "...").replace("<", "\\x3c")


def one_line(text: str) -> str:
    """On one line, with single spaces, also for what cannot be printed."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def extract_answer(text: Any) -> tuple[str | None, str | None]:
    """`(answer, None)` or `(None, problem)`: one closed answer pair, or no tag and the whole text."""
    if not isinstance(text, str):
        return None, f"an action is text, not {type(text).__name__}"
    opened, closed = text.count(OPEN), text.count(CLOSE)
    if opened == closed == 0:
        return text, None
    if opened != 1 or closed != 1:
        return None, f"expected one {OPEN}...{CLOSE} pair, found {opened} opening and {closed} closing tags"
    start, end = text.index(OPEN) + len(OPEN), text.index(CLOSE)
    if end < start:
        return None, f"{CLOSE} stands before {OPEN}"
    return text[start:end], None


def turn_of(readings: Iterable[Any], surplus: int = 0) -> Turn:
    """A turn of the actions before the first text among the readings, which says what is wrong there."""
    actions = []
    for reading in readings:
        if isinstance(reading, str):
            return Turn(actions, reading, surplus)
        actions.append(reading)
    return Turn(actions, None, surplus)


def parse_turn(text: Any, grammar: Mapping[str, Any], max_actions: int, separator: str = ",") -> Turn:
    """Read up to `max_actions` names of `grammar` (keys casefolded) from a bare or tagged response."""
    answer, problem = extract_answer(text)
    if answer is None:
        return Turn([], problem)
    if not answer.strip():
        return Turn([], "no action given")
    # Split no further than needed: the text may be a million actions long.
    pieces = answer.split(separator, max_actions)
    surplus = pieces.pop().count(separator) + 1 if len(pieces) > max_actions else 0
    actions = []
    for piece in pieces:
        action = grammar.get(piece.strip().casefold())
        if action is None:
            return Turn(actions, f"{quote(piece.strip())} is not an action", surplus)
        actions.append(action)
    return Turn(actions, None, surplus)
