"""From the id of an environment to its class, its declared claims and its folder, for those who only have a record."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gymnasium.envs.registration import load_env_creator, registry

from agentrl.core.claims import Claims
from agentrl.core.env import AgentEnv
from agentrl.core.errors import JudgeFault
from agentrl.core.judging import JudgeRequest
from agentrl.core.state import State

_load = lru_cache(maxsize=256)(load_env_creator)


def env_class(env_id: str) -> type | None:
    """The class behind an id of Gymnasium's registry, or the loaded environment class of that name (what records of
    environments made without `gymnasium.make` hold); None if there is none. May raise `ImportError`."""
    entry_point = _entry_point(env_id)
    found = _load(entry_point) if isinstance(entry_point, str) else entry_point
    return found if isinstance(found, type) else _loaded(AgentEnv, env_id)


def env_folder(env_id: str) -> Path | None:
    """The folder of the module that holds the environment's class, found without importing that module."""
    entry_point = _entry_point(env_id)
    if entry_point is None:
        entry_point = _loaded(AgentEnv, env_id)
    module = entry_point.partition(":")[0] if isinstance(entry_point, str) else getattr(entry_point, "__module__", "")
    try:
        spec = find_spec(module) if module else None
    except (ImportError, ValueError):  # a parent is missing, or the module is __main__
        return None
    return Path(spec.origin).parent if spec is not None and spec.origin is not None else None


def claims_of(request: JudgeRequest) -> Claims:
    """What can be scored about a request: its state says so, or the class of its environment if it is a dictionary.

    `JudgeFault` says what is missing.
    """
    state = request.state
    if isinstance(state, State):
        state_type = type(state)
    elif isinstance(state, Mapping):
        state_type = state_type_of(request.env_id)
    else:
        raise JudgeFault(f"a state must be a State or a dictionary; got {type(state).__name__}")
    claims = state_type.claims()
    if claims is None:
        raise JudgeFault(f"{state_type.__name__} declares no claims")
    return claims


def state_type_of(env_id: str) -> type[State]:
    """The class of the states of an environment; `JudgeFault` says what is missing."""
    try:
        found = env_class(env_id)
    except ImportError as error:
        raise JudgeFault(f"the class of {env_id!r} cannot be imported: {error}") from error
    if found is None:
        raise JudgeFault(f"unknown environment {env_id!r}: import the package that registers it")
    state_type = getattr(found, "state_type", State)
    if state_type is State:
        raise JudgeFault(f"{found.__name__} must name the class of its states as state_type")
    return state_type


def _entry_point(env_id: str) -> Any:
    spec = registry.get(env_id)
    return None if spec is None else spec.entry_point


def _loaded(base: type, name: str) -> type | None:
    for cls in base.__subclasses__():
        found = cls if cls.__name__ == name else _loaded(cls, name)
        if found is not None:
            return found
    return None
