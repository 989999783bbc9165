"""The visitors of the shop: each has an environment of its own. Looking at the shop makes nobody a visitor, only using
it does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from agentrl.core.errors import ConfigError
from agentrl.envs.common.serving.visitors import NoRoom, Visitors
from agentrl.envs.webshop.env import WebShopEnv

ShopFull = NoRoom


class Visitor:
    """One shopping trip after the other, one request at a time."""

    def __init__(self, env: WebShopEnv, task: str | None = None) -> None:
        self.env, self.lock = env, threading.Lock()
        self.info: dict[str, Any] = env.reset(options={"task": task})[1]

    def act(self, action: str) -> None:
        """One turn; after the end nothing happens any more."""
        with self.lock:
            if self.info["available_actions"]["clickables"]:
                self.info = self.env.step(action)[4]

    def next_goal(self) -> None:
        """The next goal of the split."""
        with self.lock:
            self.info = self.env.reset()[1]

    def close(self) -> None:
        """The visitor is gone."""
        self.env.close()


class Sessions(Visitors[Visitor]):
    """Visitors by name; those who were idle too long are forgotten."""

    def __init__(
        self, make: Callable[[], WebShopEnv], most: int, idle: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(most, idle, clock)
        self._make = make

    def admit(self, task: str | None = None) -> tuple[str, Visitor]:
        """A new visitor and its secret name; `ShopFull` where there is no room.

        `task` is the goal it has already been shown; one that does not exist is as good as none.
        """
        return self.welcome(lambda: self._visitor(task))

    def _visitor(self, task: str | None) -> Visitor:
        try:
            return Visitor(self._make(), task)
        except ConfigError:
            return Visitor(self._make())
