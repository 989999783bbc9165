"""The visitors of a site: each has something of its own, found by a secret name; their number is limited.

Where there is no room, those who came once and never again make room for others, then those who left longest ago.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar


class Closable(Protocol):
    """What a visitor has."""

    def close(self) -> None:
        """The visitor is gone."""
        ...


V = TypeVar("V", bound=Closable)
AWAY = 60.0  # seconds after which somebody who came back may lose the place to somebody new


class NoRoom(Exception):
    """As many visitors as allowed are there at the moment."""


@dataclass
class _Kept(Generic[V]):
    visitor: V
    seen: float
    came_back: bool = False


class Visitors(Generic[V]):
    """Visitors by name; those who were idle too long (seconds) are forgotten."""

    def __init__(self, most: int, idle: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._idle, self._clock = most, idle, clock
        self._kept: dict[str, _Kept[V]] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, name: object) -> bool:
        """Is there a visitor of this name? To be asked about is not to come back."""
        with self._lock:
            self._forget_idle()
            return name in self._kept

    def find(self, name: str | None) -> V | None:
        """The visitor of this name, if there is one who was here lately."""
        with self._lock:
            self._forget_idle()
            kept = self._kept.get(name or "")
            if kept is None:
                return None
            kept.seen, kept.came_back = self._clock(), True
            return kept.visitor

    def welcome(self, make: Callable[[], V]) -> tuple[str, V]:
        """A new visitor and its secret name; `NoRoom` where there is none."""
        with self._lock:
            self._forget_idle()
            if len(self._kept) >= self._most:
                passers_by = [name for name, kept in self._kept.items() if not kept.came_back]
                left = [name for name, kept in self._kept.items() if kept.seen <= self._clock() - AWAY]
                if not (passers_by or left):
                    raise NoRoom
                self._forget(min(passers_by or left, key=lambda name: self._kept[name].seen))
            visitor, name = make(), secrets.token_urlsafe(24)
            self._kept[name] = _Kept(visitor, self._clock())
            return name, visitor

    def forget(self, name: str | None) -> None:
        """Forget a visitor; an unknown name changes nothing."""
        with self._lock:
            if name in self._kept:
                self._forget(name)

    def _forget_idle(self) -> None:
        limit = self._clock() - self._idle
        for name in [name for name, kept in self._kept.items() if kept.seen < limit]:
            self._forget(name)

    def _forget(self, name: str) -> None:
        self._kept.pop(name).visitor.close()
