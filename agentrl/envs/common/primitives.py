"""Actions of an arm that are written as calls with whole numbers, such as `pick(40,-110,20)`, read from any text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from agentrl.core.parsing import Turn, extract_answer, quote, turn_of
from agentrl.core.tools import function_schema

Point = tuple[float, float, float]  # millimetres
SEPARATOR = "|"
UNITS = {"x": "mm", "y": "mm", "z": "mm"}  # of parameters; the others are degrees
# re.ASCII: a digit is one of 0 to 9, not every character that Unicode calls a digit.
CALL = re.compile(r"\s*([a-z]+)\s*\(([^()]*)\)\s*", re.ASCII | re.IGNORECASE)
WHOLE = re.compile(r"\s*([+-]?\d+)\s*", re.ASCII)
MAX_LENGTH = 200  # characters of an action; six numbers need far fewer


class Result(NamedTuple):
    """What a primitive did. A failed one may have moved things: its effect stays."""

    done: bool
    feedback: str  # one sentence


class Action(NamedTuple):
    """One primitive with its whole numbers of millimetres."""

    verb: str
    numbers: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.verb}({','.join(map(str, self.numbers))})"

    def points(self) -> list[Point]:
        """The numbers in threes."""
        numbers = list(map(float, self.numbers))
        return [(numbers[i], numbers[i + 1], numbers[i + 2]) for i in range(0, len(numbers) - 2, 3)]


class Grammar:
    """The primitives of a kind of arm: the parameters of each verb, and the limits of each parameter.

    A parameter may carry a number (`x1`, `x2`); its limits are those of the name without it.
    """

    def __init__(self, verbs: Mapping[str, Sequence[str]], limits: Mapping[str, tuple[float, float]]) -> None:
        self.verbs, self.limits = {verb: tuple(names) for verb, names in verbs.items()}, dict(limits)
        usages = [f"{verb}({','.join(names)})" for verb, names in self.verbs.items()]
        self.usage = f"{', '.join(usages[:-1])} or {usages[-1]}"

    def rounded(self, point: Sequence[float]) -> tuple[int, int, int]:
        """Whole millimetres inside the limits of x, y and z."""
        x, y, z = (
            round(min(max(value, self.limits[axis][0]), self.limits[axis][1]))
            for axis, value in zip("xyz", point, strict=True)
        )
        return x, y, z

    # ---------------------------------------------------------------- reading

    def read_turn(self, text: Any, max_actions: int) -> Turn:
        """Up to `max_actions` actions of a bare or tagged response; total, whatever the response is."""
        answer, problem = extract_answer(text)
        if answer is None:
            return Turn([], problem)
        if not answer.strip():
            return Turn([], f"no action given; use {self.usage}")
        # Split no further than needed: the text may be a million actions long.
        pieces = answer.split(SEPARATOR, max_actions)
        surplus = pieces.pop().count(SEPARATOR) + 1 if len(pieces) > max_actions else 0
        return turn_of(map(self.read_action, pieces), surplus)

    def read_action(self, text: str) -> Action | str:
        """The action, or what is wrong with it."""
        call = CALL.fullmatch(text) if len(text) <= MAX_LENGTH else None
        if call is None:
            return f"{quote(text.strip())} is not an action; use {self.usage}"
        verb, numbers = call[1].lower(), call[2].split(",")
        if verb not in self.verbs:
            return f"{quote(call[1])} is not an action; use {self.usage}"
        count = len(self.verbs[verb])
        if len(numbers) != count or not call[2].strip():
            return f"{verb} takes {count} numbers; got {len(numbers) if call[2].strip() else 0}"
        for number in numbers:
            if not WHOLE.fullmatch(number):
                return f"coordinates are whole numbers of millimetres; got {quote(number.strip())}"
        action = Action(verb, tuple(map(int, numbers)))
        for name, number in zip(self.verbs[verb], action.numbers, strict=True):
            axis = name.rstrip("0123456789")
            low, high = self.limits[axis]
            if not low <= number <= high:
                where = "is outside the workspace," if axis in UNITS else "must be from"
                shown, unit = str(number), UNITS.get(axis, "degrees")
                shown = shown if len(shown) <= 12 else f"{shown[:9]}..."
                return f"{name} = {shown} {where} {low:g} to {high:g} {unit}; the arm did not move"
        return action

    # ---------------------------------------------------------------- tools

    def tools(self, summaries: Mapping[str, str]) -> list[dict[str, Any]]:
        """The verbs as tool schemas; `summaries` says what each does."""
        schemas = []
        for verb, names in self.verbs.items():
            units = {name: UNITS.get(name.rstrip("0123456789"), "degrees") for name in names}
            parameters = {name: {"type": "integer", "description": unit} for name, unit in units.items()}
            schemas.append(function_schema(verb, summaries[verb], parameters))
        return schemas

    def tool_action(self, name: str, arguments: Mapping[str, Any]) -> str | None:
        """A call of a tool as text; None if the tool is unknown."""
        if name not in self.verbs:
            return None
        return f"{name}({','.join(str(arguments[key]) for key in self.verbs[name])})"

    def tool_calls(self, turn: str) -> list[dict[str, Any]]:
        """The actions of a turn as calls of tools."""
        calls = [self.read_action(part) for part in turn.split(SEPARATOR)]
        return [
            {"name": call.verb, "arguments": dict(zip(self.verbs[call.verb], call.numbers, strict=True))}
            for call in calls
            if isinstance(call, Action)
        ]
