"""The visitors of the shop: each has an environment of its own, found by a secret name; their number is limited."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from typing import Any

from agentrl.envs.webshop.env import WebShopEnv


class ShopFull(Exception):
    """As many visitors as allowed are shopping at the moment."""


class Visitor:
    """One shopping trip after the other, one request at a time."""

    def __init__(self, env: WebShopEnv) -> None:
        self.env, self.lock = env, threading.Lock()
        self.info: dict[str, Any] = env.reset()[1]
        self.seen = 0.0

    def act(self, action: str) -> None:
        """One turn; after the end nothing happens any more."""
        with self.lock:
            if self.info["available_actions"]["clickables"]:
                self.info = self.env.step(action)[4]

    def next_goal(self) -> None:
        """The next goal of the split."""
        with self.lock:
            self.info = self.env.reset()[1]


class Sessions:
    """Visitors by name; those who were idle too long are forgotten."""

    def __init__(
        self, make: Callable[[], WebShopEnv], most: int, idle: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._make, self._most, self._idle, self._clock = make, most, idle, clock
        self._visitors: dict[str, Visitor] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._visitors)

    def find(self, name: str | None) -> Visitor | None:
        """The visitor of this name, if there is one who was here lately."""
        with self._lock:
            self._forget_idle()
            visitor = self._visitors.get(name or "")
            if visitor is not None:
                visitor.seen = self._clock()
            return visitor

    def admit(self) -> tuple[str, Visitor]:
        """A new visitor and its secret name; `ShopFull` where there is no room."""
        with self._lock:
            self._forget_idle()
            if len(self._visitors) >= self._most:
                raise ShopFull
            name, visitor = secrets.token_urlsafe(24), Visitor(self._make())
            visitor.seen = self._clock()
            self._visitors[name] = visitor
            return name, visitor

    def _forget_idle(self) -> None:
        limit = self._clock() - self._idle
        for name in [name for name, visitor in self._visitors.items() if visitor.seen < limit]:
            self._visitors.pop(name).env.close()
