"""The actions of an agent: `pick(x,y,z)`, `place(x,y,z)` and `push(x1,y1,z1,x2,y2,z2)`, read from any text."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from agentrl.core.parsing import Turn, extract_answer, quote
from agentrl.envs.primitiveskill.backend import WORKSPACE, Backend, Point, Result

SEPARATOR = "|"
COUNTS = {"pick": 3, "place": 3, "push": 6}  # numbers of each action
USAGE = "pick(x,y,z), place(x,y,z) or push(x1,y1,z1,x2,y2,z2)"
# re.ASCII: a digit is one of 0 to 9, not every character that Unicode calls a digit.
CALL = re.compile(r"\s*([a-z]+)\s*\(([^()]*)\)\s*", re.ASCII | re.IGNORECASE)
WHOLE = re.compile(r"\s*([+-]?\d+)\s*", re.ASCII)
LONGEST = 200  # characters of an action; six numbers need far fewer


class Action(NamedTuple):
    """One primitive with its whole numbers of millimetres."""

    verb: str
    numbers: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.verb}({','.join(map(str, self.numbers))})"

    def run(self, backend: Backend) -> Result:
        """Let the arm do it."""
        points = [_point(self.numbers[i : i + 3]) for i in range(0, len(self.numbers), 3)]
        return getattr(backend, self.verb)(*points)


def pick(at: Point) -> Action:
    """Grasp what is at a point."""
    return Action("pick", rounded(at))


def place(at: Point) -> Action:
    """Put down what is held."""
    return Action("place", rounded(at))


def push(start: Point, end: Point) -> Action:
    """Move the closed gripper from one point to another."""
    return Action("push", (*rounded(start), *rounded(end)))


def rounded(point: Point) -> tuple[int, int, int]:
    """Whole millimetres inside the workspace."""
    x, y, z = (round(min(max(value, low), high)) for value, (low, high) in zip(point, WORKSPACE, strict=True))
    return x, y, z


def read_turn(text: Any, max_actions: int) -> Turn:
    """Up to `max_actions` actions of a bare or tagged response; total, whatever the response is."""
    if not isinstance(text, str):
        return Turn([], f"an action is text, not {type(text).__name__}")
    answer, problem = extract_answer(text)
    if answer is None:
        return Turn([], problem)
    if not answer.strip():
        return Turn([], f"no action given; use {USAGE}")
    # Split no further than needed: the text may be a million actions long.
    pieces = answer.split(SEPARATOR, max_actions)
    surplus = pieces.pop().count(SEPARATOR) + 1 if len(pieces) > max_actions else 0
    actions: list[Action] = []
    for piece in pieces:
        action = read_action(piece)
        if isinstance(action, str):
            return Turn(actions, action, surplus)
        actions.append(action)
    return Turn(actions, None, surplus)


def read_action(text: str) -> Action | str:
    """The action, or what is wrong with it."""
    call = CALL.fullmatch(text) if len(text) <= LONGEST else None
    if call is None:
        return f"{quote(text.strip())} is not an action; use {USAGE}"
    verb, numbers = call[1].lower(), call[2].split(",")
    if verb not in COUNTS:
        return f"{quote(call[1])} is not an action; use {USAGE}"
    if len(numbers) != COUNTS[verb] or not call[2].strip():
        return f"{verb} takes {COUNTS[verb]} numbers; got {len(numbers) if call[2].strip() else 0}"
    for number in numbers:
        if not WHOLE.fullmatch(number):
            return f"coordinates are whole numbers of millimetres; got {quote(number.strip())}"
    return _inside(Action(verb, tuple(map(int, numbers))))


def _inside(action: Action) -> Action | str:
    """The action, or the first coordinate that is outside the workspace."""
    for place, number in enumerate(action.numbers):
        low, high = WORKSPACE[place % 3]
        if not low <= number <= high:
            name = "xyz"[place % 3] + (str(place // 3 + 1) if len(action.numbers) > 3 else "")
            return f"{name} = {_short(number)} is outside the workspace, {low:g} to {high:g} mm; the arm did not move"
    return action


def _short(number: int) -> str:
    text = str(number)
    return text if len(text) <= 12 else f"{text[:9]}..."


def _point(numbers: tuple[int, ...]) -> Point:
    x, y, z = map(float, numbers)
    return x, y, z
