"""Requests of many episodes, gathered into batches for the engines that answer them (dynamic batching).

A batch goes when `max_batch` requests wait, when the oldest of them has waited `max_wait_ms`, or when no other can
come. The queue knows no thread and no clock: whoever uses it says what time it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from agentrl.core.arguments import finite_number, whole_number
from agentrl.core.errors import ConfigError, did_you_mean

Asked = TypeVar("Asked")
Key = Callable[["Request[Any]"], Any]  # requests with the lowest go first
Route = Callable[["Request[Any]", int], int | None]  # of how many engines which one; None: whichever is free first


@dataclass(eq=False)
class Request(Generic[Asked]):
    """What an episode asks."""

    asked: Asked
    slot: int  # in which its episode is played
    turn: int  # of its episode, from 0
    arrived: float
    engine: int | None = None  # where it was routed to


KEYS: dict[str, Key] = {
    "arrival": lambda request: request.arrived,
    "slot": lambda request: request.slot,
    "turn": lambda request: -request.turn,  # the episodes that are furthest: they end soonest
}
ROUTES: dict[str, Route] = {
    "any": lambda request, engines: None,
    "slot": lambda request, engines: request.slot % engines,  # a slot always asks the same engine
}


class RequestQueue(Generic[Asked]):
    """The requests that wait, in the order of a key.

    `key` and `route` are names of `KEYS` and `ROUTES`, or functions of a request. What has waited too long goes before
    everything else, whatever its key says.
    """

    def __init__(
        self,
        *,
        max_batch: int,
        max_wait_ms: float = math.inf,
        engines: int = 1,
        key: str | Key = "arrival",
        route: str | Route = "any",
    ) -> None:
        self.max_batch = whole_number("max_batch", max_batch, at_least=1)
        if max_wait_ms != math.inf and finite_number("max_wait_ms", max_wait_ms) < 0:
            raise ConfigError(f"max_wait_ms must be 0 or more; got {max_wait_ms!r}")
        self.max_wait, self.engines = max_wait_ms / 1000, whole_number("engines", engines, at_least=1)
        self._key: Key = named("queue_key", key, KEYS)
        self._route: Route = named("routing", route, ROUTES)
        self._waiting: list[Request[Asked]] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, request: Request[Asked]) -> None:
        """Wait for an engine."""
        request.engine = self._route(request, self.engines)
        if request.engine is not None and not 0 <= request.engine < self.engines:
            raise ConfigError(f"routing must give a number below {self.engines}, or None; got {request.engine!r}")
        self._waiting.append(request)

    def take(self, engine: int, now: float, *, more: bool) -> list[Request[Asked]]:
        """The batch that this engine should answer now; empty where it should wait. `more`: may other requests come?

        Its rows are in the order of their slots, so that equal requests make equal batches.
        """
        mine = self._of(engine)
        overdue = [request for request in mine if now - request.arrived >= self.max_wait]
        if not mine or (len(mine) < self.max_batch and more and not overdue):
            return []
        late = set(map(id, overdue))
        mine.sort(key=lambda request: (id(request) not in late, self._key(request)))
        batch = mine[: self.max_batch]
        taken = set(map(id, batch))
        self._waiting = [request for request in self._waiting if id(request) not in taken]
        return sorted(batch, key=lambda request: request.slot)

    def seconds_left(self, engine: int, now: float) -> float | None:
        """Until its oldest request has waited long enough; None where no time limit is running."""
        mine = self._of(engine)
        if not mine or self.max_wait == math.inf:
            return None
        return max(0.0, min(request.arrived for request in mine) + self.max_wait - now)

    def _of(self, engine: int) -> list[Request[Asked]]:
        return [request for request in self._waiting if request.engine in (None, engine)]


def named(option: str, value: str | Callable[..., Any], known: dict[str, Any]) -> Any:
    """A function, or the one with this name."""
    if callable(value):
        return value
    if value not in known:
        hint = did_you_mean(str(value), known)
        raise ConfigError(f"{option} must be a function or one of {', '.join(known)}; got {value!r}.{hint}")
    return known[value]
