"""What was drawn and scored lately: the same target comes back every turn and in every episode of a group."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

import numpy as np

from agentrl.envs.svg.sandbox.refusal import SvgRefused
from agentrl.envs.svg.sandbox.renderer import shared_renderer

Value = TypeVar("Value")
PICTURE_BYTES = 32 << 20


class Recent(Generic[Value]):
    """A least-recently-used store with a limit on the sum of sizes. Threads may share it."""

    def __init__(self, limit: int, size: Callable[[Value], int] = lambda value: 1) -> None:
        self.limit, self.held, self._size = limit, 0, size
        self._entries: OrderedDict[Hashable, Value] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """What is stored under `key`, made now if there is nothing."""
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
                return self._entries[key]
        value = make()  # not under the lock: it may take long, and two threads rarely want the same
        with self._lock:
            if key not in self._entries:
                self._entries[key] = value
                self.held += self._size(value)
            while self.held > self.limit and len(self._entries) > 1:
                self.held -= self._size(self._entries.popitem(last=False)[1])
        return value


_pictures: Recent[np.ndarray] = Recent(PICTURE_BYTES, lambda picture: picture.nbytes)


def draw(code: str, size: int) -> np.ndarray:
    """The picture of an SVG, not to be written to; `SvgRefused` where it cannot be drawn."""
    return _pictures.get((code, size), lambda: _draw_now(code, size))


def _draw_now(code: str, size: int) -> np.ndarray:
    renderer = shared_renderer(size)
    try:
        picture = renderer.draw(code)
    except SvgRefused as refused:
        if refused.reason != "crash":
            raise
        # Processes also die for reasons of their own; code that really kills the renderer does so again.
        picture = renderer.draw(code)
    picture.flags.writeable = False
    return picture
