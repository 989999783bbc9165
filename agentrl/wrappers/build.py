"""Stacks of wrappers written as JSON: `[{"wrapper": "Reasoning", "strategy": "grounding"}, ...]`, inside first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import gymnasium as gym

from agentrl import wrappers as suite
from agentrl.core.errors import AgentRLError, ConfigError, did_you_mean
from agentrl.core.specs import PLACE

EXAMPLE = '[{"wrapper": "Reasoning", "strategy": "grounding"}, {"wrapper": "ReasoningReward", "judge": "rule"}]'


def wrap(env: gym.Env, wrappers: Sequence[Mapping[str, Any]]) -> gym.Env:
    """`env` inside all of them; where one does not fit, `env` is closed and a `ConfigError` says why."""
    inside = env
    try:
        if isinstance(wrappers, (str, bytes, Mapping)) or not isinstance(wrappers, Sequence):
            raise ConfigError(f"wrappers must be a list such as {EXAMPLE}")
        for place, entry in enumerate(wrappers):
            if not isinstance(entry, Mapping) or not isinstance(entry.get("wrapper"), str):
                raise ConfigError(f'each wrapper must be an object with "wrapper" and its arguments, such as {EXAMPLE}')
            name = entry["wrapper"]
            kind, arguments = _find(name), {key: value for key, value in entry.items() if key != "wrapper"}
            _check_order(kind, name, wrappers[:place], wrappers[place + 1 :])
            try:
                env = kind(env, **arguments)
            except AgentRLError:
                raise
            except TypeError as error:  # no such argument, or one is missing
                raise ConfigError(f"wrapper {name} cannot be created: {error}") from error
        return env
    except BaseException:
        inside.close()
        raise


def _check_order(kind: type, name: str, inside: Sequence[Any], outside: Sequence[Any]) -> None:
    """A wrapper that another one needs inside it, and that is listed after it, is not missing: the order is wrong."""
    needed = getattr(kind, "needs", None)
    listed = [[entry.get("wrapper") for entry in side if isinstance(entry, Mapping)] for side in (inside, outside)]
    if needed is not None and needed not in listed[0] and needed in listed[1]:
        raise ConfigError(f"wrappers are listed from the inside out: {needed} must come before {name}, which needs it")


def _find(name: str) -> type[gym.Wrapper]:
    """A wrapper of the suite by name, or any other as "module:Class"."""
    if name in suite.__all__:
        return getattr(suite, name)
    if not PLACE.fullmatch(name):
        known = ", ".join(suite.__all__)
        raise ConfigError(f"unknown wrapper {name!r}.{did_you_mean(name, suite.__all__)} Known wrappers: {known}.")
    module, _, path = name.partition(":")
    try:
        found: Any = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f"wrapper {name!r} cannot be imported: {error}; a run that is resumed finds its module by PYTHONPATH"
        ) from error
    if not isinstance(found, type) or not issubclass(found, gym.Wrapper):
        raise ConfigError(f"{name} must be a subclass of gymnasium.Wrapper; got {found!r:.80}")
    return found
