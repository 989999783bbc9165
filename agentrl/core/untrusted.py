"""What a file of unknown origin may say about environments: a record, a plan, the folder of a run, a task.

It may name those that are registered here, with arguments that their classes call safe (`AgentEnv.safe_arguments`). A
module, a program, a file, an address or a key comes from the user alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import gymnasium as gym

from agentrl.core.env import AgentEnv, keyword_arguments
from agentrl.core.env_class import env_class
from agentrl.core.errors import ConfigError

MAX_TEXT, MAX_LIST = 200, 1000
_own: ContextVar[tuple[Mapping[str, Any], ...]] = ContextVar("own", default=())


@contextmanager
def trusted_arguments(arguments: Iterable[Mapping[str, Any]]) -> Iterator[None]:
    """Inside, a file may also give the arguments that the user gave to this process, with the same values."""
    token = _own.set(tuple(arguments))
    try:
        yield
    finally:
        _own.reset(token)


def check_environment(env_id: Any, kwargs: Any) -> None:
    """`ConfigError` for an environment or an argument that a file of unknown origin may not name."""
    if not isinstance(env_id, str) or env_id not in gym.registry:
        raise ConfigError(f"an environment that a file names must be registered here; got {env_id!r:.80}")
    if not isinstance(kwargs, Mapping):
        raise ConfigError(f"the arguments of an environment must be an object; got {type(kwargs).__name__}")
    names = unsafe_arguments(env_id, kwargs)
    if names:
        raise ConfigError(f"{', '.join(names)} of {env_id} must be given by you, not by a file")


def unsafe_arguments(env_id: str, kwargs: Mapping[str, Any]) -> list[str]:
    """The arguments of a registered environment that only the user may give, sorted."""
    found = env_class(env_id)
    ours = found if isinstance(found, type) and issubclass(found, AgentEnv) else None
    usual = {**({} if ours is None else keyword_arguments(ours)), **gym.registry[env_id].kwargs}
    bases = () if ours is None else ours.__mro__
    safe = {name for base in bases for name in vars(base).get("safe_arguments", ())}
    own = _own.get()
    return sorted(
        str(name)
        for name, value in kwargs.items()
        if not (name in safe and _is_plain(value))
        and not (name in usual and type(value) is type(usual[name]) and value == usual[name])
        and not any(name in given and given[name] == value for given in own)
    )


def _is_plain(value: Any, nested: bool = False) -> bool:
    """A number, a word, or a list of such: nothing that describes an object."""
    if isinstance(value, (list, tuple)) and not nested:
        return len(value) <= MAX_LIST and all(_is_plain(item, nested=True) for item in value)
    return value is None or isinstance(value, (int, float)) or (isinstance(value, str) and len(value) <= MAX_TEXT)
