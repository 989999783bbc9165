"""Arguments that users give: numbers checked once, with an error that says what would have been right."""

from __future__ import annotations

import math
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
