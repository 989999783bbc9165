"""Spaces as lists of plain values and arrays, to send them to another process; equal on the other side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from agentrl.core.errors import ConfigError
from agentrl.core.spaces import AnyText


def _bound(values: np.ndarray) -> Any:
    """One number where all are equal, as they are for pictures."""
    first = values.flat[0] if values.size else values.dtype.type(0)
    return first.item() if (values == first).all() else values


def _box(low: Any, high: Any, shape: list[int], dtype: str) -> spaces.Box:
    low, high = (np.broadcast_to(np.asarray(bound, dtype), shape) for bound in (low, high))
    return spaces.Box(low.copy(), high.copy(), dtype=np.dtype(dtype).type)


# By the exact class: how it is told, and how it is made again.
_KINDS: dict[type[gym.Space], tuple[Callable[[Any], list[Any]], Callable[..., gym.Space]]] = {
    spaces.Box: (lambda s: [_bound(s.low), _bound(s.high), list(s.shape), s.dtype.str], _box),
    spaces.Discrete: (lambda s: [int(s.n), int(s.start)], lambda n, start: spaces.Discrete(n, start=start)),
    spaces.MultiDiscrete: (
        lambda s: [s.nvec, s.start, s.dtype.str],
        lambda nvec, start, dtype: spaces.MultiDiscrete(nvec, dtype=np.dtype(dtype).type, start=start),
    ),
    spaces.MultiBinary: (lambda s: [list(s.shape)], spaces.MultiBinary),
    spaces.Text: (
        lambda s: [s.max_length, s.min_length, s.characters],
        lambda most, least, characters: spaces.Text(most, min_length=least, charset=characters),
    ),
    AnyText: (
        lambda s: [list(s.words), s.max_words, s.separator],
        lambda words, most, separator: AnyText(words, max_words=most, separator=separator),
    ),
    spaces.Dict: (
        lambda s: [[name, to_plain(part)] for name, part in s.spaces.items()],
        lambda *parts: spaces.Dict({name: from_plain(part) for name, part in parts}),
    ),
    spaces.Tuple: (
        lambda s: [to_plain(part) for part in s.spaces],
        lambda *parts: spaces.Tuple([from_plain(part) for part in parts]),
    ),
}
_BY_NAME = {kind.__name__: make for kind, (_, make) in _KINDS.items()}


def to_plain(space: gym.Space) -> list[Any]:
    """`["Discrete", 4, 0]`; `ConfigError` for a kind that is not known here."""
    if type(space) not in _KINDS:
        raise ConfigError(f"a space must be one of {', '.join(_BY_NAME)} to be sent; got {type(space).__name__}")
    return [type(space).__name__, *_KINDS[type(space)][0](space)]


def from_plain(told: Any) -> gym.Space:
    """Inverse of `to_plain`."""
    name, *arguments = told
    return _BY_NAME[name](*arguments)
