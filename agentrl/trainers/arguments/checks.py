"""What options must be."""

from __future__ import annotations

from typing import Any

from agentrl.core.arguments import finite_number, whole_number
from agentrl.core.errors import ConfigError


def check_group_size(size: int) -> None:
    """`ConfigError` for a group of one."""
    if size < 2:
        raise ConfigError(f"group_size must be at least 2, or there is nothing to compare with; got {size}")


def fraction(name: str, value: float) -> float:
    """A discount, a lambda or a share: a number from 0 to 1."""
    if not 0.0 <= finite_number(name, value) <= 1.0:
        raise ConfigError(f"{name} must lie between 0 and 1; got {value!r}")
    return float(value)


def whole(arguments: Any, at_least: int, names: str) -> None:
    """`ConfigError` unless all of these options are whole numbers that are not smaller."""
    for name in names.split():
        whole_number(name, getattr(arguments, name), at_least=at_least)


def positive(arguments: Any, names: str) -> None:
    """`ConfigError` unless all of these options are numbers above 0."""
    for name in names.split():
        if finite_number(name, value := getattr(arguments, name)) <= 0:
            raise ConfigError(f"{name} must be above 0; got {value!r}")


def not_negative(arguments: Any, names: str) -> None:
    """`ConfigError` unless all of these options are numbers of at least 0."""
    for name in names.split():
        if finite_number(name, value := getattr(arguments, name)) < 0:
            raise ConfigError(f"{name} must not be negative; got {value!r}")
