"""The plain values that locators work with (texts, numbers, lists), their methods, and the operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentrl.core.errors import EnvFault


class LocatorError(ValueError):
    """The expression fails on this page, as it would in a browser."""


class UnreadableLocator(EnvFault):
    """The expression uses something that is not known here. What it would give in a browser cannot be said."""


class _Undefined:
    def __repr__(self) -> str:
        return "undefined"


UNDEFINED: Any = _Undefined()


def call(function: Any, arguments: list[Any]) -> Any:
    """Call what `get` or an arrow function gave."""
    if not callable(function):
        raise LocatorError(f"{as_text(function)[:50]} is not a function")
    try:
        return function(*arguments)
    except (TypeError, AttributeError, IndexError) as error:
        raise LocatorError(f"the call fails: {error}") from error


def get_of_list(owner: list[Any] | str, key: Any) -> Any:
    """A property, method or element of a list or text."""
    if key == "length":
        return len(owner)
    if isinstance(key, int) and not isinstance(key, bool):
        return owner[key] if 0 <= key < len(owner) else UNDEFINED
    methods = TEXT_METHODS if isinstance(owner, str) else LIST_METHODS
    if key not in methods:
        raise UnreadableLocator(f"the property {as_text(key)[:50]!r} of texts and lists is not known without a browser")
    return lambda *arguments: methods[key](owner, *arguments)


# ---------------------------------------------------------------------- texts and lists


def _joined(values: list[Any], separator: Any = ",") -> str:
    return as_text(separator).join("" if is_nullish(value) else as_text(value) for value in values)


TEXT_METHODS: dict[Any, Callable[..., Any]] = {
    "toString": lambda text: text,
    "trim": lambda text: text.strip(),
    "toLowerCase": lambda text: text.lower(),
    "toUpperCase": lambda text: text.upper(),
    "includes": lambda text, part: as_text(part) in text,
    "startsWith": lambda text, part: text.startswith(as_text(part)),
    "endsWith": lambda text, part: text.endswith(as_text(part)),
    "replace": lambda text, old, new: text.replace(as_text(old), as_text(new), 1),
    "replaceAll": lambda text, old, new: text.replace(as_text(old), as_text(new)),
    "split": lambda text, separator: text.split(as_text(separator)) if separator else list(text),
    "slice": lambda text, start=0, end=None: text[start:end],
}
LIST_METHODS: dict[Any, Callable[..., Any]] = {
    "toString": _joined,
    "join": _joined,
    "map": lambda values, function: [function(value) for value in values],
    "filter": lambda values, function: [value for value in values if is_true(function(value))],
    "find": lambda values, function: next((value for value in values if is_true(function(value))), UNDEFINED),
    "includes": lambda values, value: value in values,
    "slice": lambda values, start=0, end=None: values[start:end],
    "item": lambda values, place=0: values[place] if 0 <= place < len(values) else None,
    "at": lambda values, place=0: values[place] if -len(values) <= place < len(values) else UNDEFINED,
}


# ---------------------------------------------------------------------- operators


def is_nullish(value: Any) -> bool:
    """null or undefined."""
    return value is None or value is UNDEFINED


def is_true(value: Any) -> bool:
    """What JavaScript takes for true: lists and elements always."""
    return not is_nullish(value) and (isinstance(value, list) or bool(value))


def add(sign: str, left: Any, right: Any) -> Any:
    """`+` of numbers or of texts, `-` of numbers."""
    numbers = all(isinstance(value, (int, float)) for value in (left, right))
    if sign == "-":
        if not numbers:
            raise LocatorError("only numbers can be subtracted")
        return left - right
    return left + right if numbers else as_text(left) + as_text(right)


def truth(sign: str, left: Any, right: Any) -> bool:
    """A comparison. Values of different types are never equal, except null and undefined for `==`."""
    if sign in ("==", "!=", "===", "!=="):
        equal = left == right and isinstance(left, bool) == isinstance(right, bool)
        if len(sign) == 2 and is_nullish(left) and is_nullish(right):
            equal = True
        return equal == (sign[0] == "=")
    both = (left, right)
    if not (all(isinstance(value, str) for value in both) or all(isinstance(value, (int, float)) for value in both)):
        return False
    return {"<": left < right, ">": left > right, "<=": left <= right, ">=": left >= right}[sign]


def as_text(value: Any) -> str:
    """A value as JavaScript would write it into a text."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, list):
        return _joined(value)
    return str(value)
