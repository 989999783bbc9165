"""The visitors of the shop: each has an environment of its own, found by a secret name; their number is limited.

Looking at the shop makes nobody a visitor, only using it does. Where there is no room, those who used it once and never
came back make room for others.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from typing import Any

from agentrl.core.errors import ConfigError
from agentrl.envs.webshop.env import WebShopEnv


class ShopFull(Exception):
    """As many visitors as allowed are shopping at the moment."""


class Visitor:
    """One shopping trip after the other, one request at a time."""

    def __init__(self, env: WebShopEnv, task: str | None = None) -> None:
        self.env, self.lock = env, threading.Lock()
        self.info: dict[str, Any] = env.reset(options={"task": task})[1]
        self.seen, self.came_back = 0.0, False

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
                visitor.seen, visitor.came_back = self._clock(), True
            return visitor

    def admit(self, task: str | None = None) -> tuple[str, Visitor]:
        """A new visitor and its secret name; `ShopFull` where there is no room.

        `task` is the goal it has already been shown; one that does not exist is as good as none.
        """
        with self._lock:
            self._forget_idle()
            self._make_room()
            try:
                visitor = Visitor(self._make(), task)
            except ConfigError:
                visitor = Visitor(self._make())
            name, visitor.seen = secrets.token_urlsafe(24), self._clock()
            self._visitors[name] = visitor
            return name, visitor

    def _make_room(self) -> None:
        if len(self._visitors) < self._most:
            return
        passers_by = [name for name, visitor in self._visitors.items() if not visitor.came_back]
        if not passers_by:
            raise ShopFull
        self._forget(min(passers_by, key=lambda name: self._visitors[name].seen))

    def _forget_idle(self) -> None:
        limit = self._clock() - self._idle
        for name in [name for name, visitor in self._visitors.items() if visitor.seen < limit]:
            self._forget(name)

    def _forget(self, name: str) -> None:
        self._visitors.pop(name).env.close()
