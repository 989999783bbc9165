"""Arguments that users give, checked once, with an error that says what would have been right."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from agentrl.core.errors import ConfigError


def whole_number(name: str, value: Any, *, at_least: int, at_most: int | None = None) -> int:
    """`value` as an int, or a `ConfigError` that says what it should have been."""
    fits = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not fits or value < at_least or (at_most is not None and value > at_most):
        upper = "" if at_most is None else f" and at most {at_most}"
        raise ConfigError(f"{name} must be a whole number of at least {at_least}{upper}; got {value!r}")
    return int(value)


def finite_number(name: str, value: Any) -> float:
    """`value` as a finite float, or a `ConfigError`."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not math.isfinite(value):
        raise ConfigError(f"{name} must be a finite number; got {value!r}")
    return float(value)


def positive_number(name: str, value: Any) -> float:
    """`value` as a float above zero, or a `ConfigError`."""
    if (number := finite_number(name, value)) <= 0:
        raise ConfigError(f"{name} must be above zero; got {value!r}")
    return number


def number_from_zero(name: str, value: Any) -> float:
    """`value` as a float of zero or more, or a `ConfigError`."""
    if (number := finite_number(name, value)) < 0:
        raise ConfigError(f"{name} must be at least zero; got {value!r}")
    return number


def one_of(name: str, value: Any, known: Iterable[Any]) -> Any:
    """`value`, or a `ConfigError` that lists what it may be."""
    known = tuple(known)
    if not any(value is each or (isinstance(each, str) and value == each) for each in known):
        raise ConfigError(f"{name} must be one of {', '.join(map(str, known))}; got {value!r}")
    return value


def true_or_false(name: str, value: Any) -> bool:
    """`value`, or a `ConfigError` for what is no bool."""
    if not isinstance(value, bool):
        raise ConfigError(f"{name} must be True or False; got {value!r}")
    return value


def optional_path(name: str, value: Any) -> str | None:
    """A path as text, None as it is, or a `ConfigError`."""
    if value is not None and not isinstance(value, (str, os.PathLike)):
        raise ConfigError(f"{name} must be a path or None; got {value!r}")
    return None if value is None else os.fspath(value)
