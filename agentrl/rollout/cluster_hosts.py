"""Hosts on the machines of a cluster: actors with many slots each, told of all of them in one message."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from agentrl.core.errors import ConfigError, WorkerFault
from agentrl.core.worker_child import decode, encode
from agentrl.rollout.cluster import ANYWHERE
from agentrl.rollout.hosts import START_SECONDS, EnvHost, Host


class HostActor:
    """What runs there. Messages are those of a host on this machine; its observations travel with them."""

    def __init__(self) -> None:
        self._host = EnvHost(None)

    def play(self, message: bytes) -> bytes:
        """`EnvHost.play`, of what was sent."""
        return bytes(encode(self._host.play(*decode(message))))

    def ready(self) -> bool:
        """Does it answer?"""
        return True


class ActorLife:
    """An actor from its start to its end, as `Host` uses a process."""

    pid = None

    def __init__(self, ray: Any, options: dict[str, Any]) -> None:
        self._ray, self.alive, self._calls = ray, True, 0
        self._lock = threading.Lock()
        self._actor = ray.remote(HostActor).options(max_restarts=0, **options).remote()
        self._result(self._actor.ready.remote(), START_SECONDS, "the start")

    @property
    def busy(self) -> bool:
        """Does anybody wait for an answer?"""
        return self._calls > 0

    def send(self, method: str, *args: Any, deadline: float) -> Callable[[], Any]:
        """Begin a call; what this returns waits for its result."""
        try:
            message = bytes(encode(args))
        except TypeError as error:
            raise ConfigError(f"the arguments of {method} cannot be sent to a cluster: {error}") from error
        if not self.alive:
            raise WorkerFault("the actor has ended", "died")
        with self._lock:
            self._calls += 1
        reference = getattr(self._actor, method).remote(message)

        def result() -> Any:
            try:
                return decode(self._result(reference, deadline, f"{method}()"))
            finally:
                with self._lock:
                    self._calls -= 1

        return result

    def _result(self, reference: Any, seconds: float, what: str) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(reference, timeout=seconds)
        except errors.GetTimeoutError:
            self.close()
            raise WorkerFault(f"{what} on the cluster gave no answer within {seconds:g} s", "deadline") from None
        except errors.RayError as error:
            self.close()
            raise WorkerFault(f"{what} on the cluster: {type(error).__name__}: {error}", "died") from error

    def close(self) -> None:
        """End it at once; a call that somebody waits for fails."""
        self.alive = False
        self._ray.kill(self._actor)


class ClusterHost(Host):
    """A host whose process is an actor. The first is where `options` say; one that takes its place after it died is on
    any machine that is left."""

    def __init__(self, ray: Any, options: dict[str, Any], timeout: float | None = None) -> None:
        super().__init__(timeout)
        self._ray, self._options, self.starts = ray, options, 0

    def _begin(self) -> None:
        self.starts += 1
        options, self._options = self._options, ANYWHERE
        self._life = ActorLife(self._ray, options)

    def kill(self) -> None:
        """End the actor at once; whoever waits for an answer gets a fault."""
        if (life := self._life) is not None:
            life.close()
