"""As much of Ray as runs on a cluster need, on this machine: actors are processes, which can be stopped and killed.

The processes are forked before anything else goes on, and each waits to become an actor.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import pickle
import signal
import threading
import time
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from dataclasses import dataclass
from queue import Queue
from types import SimpleNamespace
from typing import Any


class RayError(Exception):
    """Of any kind."""


class GetTimeoutError(RayError):
    """No answer yet."""


class RayActorError(RayError):
    """The actor has ended."""


class NodeDiedError(RayError):
    """Never happens."""


class RayTaskError(RayError):
    """The method raised."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


@dataclass
class Stored:
    """What was put into the object store."""

    value: Any


def serve(pipe: Any) -> None:
    """In a process of an actor: make it, then answer one call after the other."""
    kind, given = pickle.loads(pipe.recv_bytes())
    actor = kind(*given)
    while True:
        number, method, given = pickle.loads(pipe.recv_bytes())
        try:
            told = number, True, getattr(actor, method)(*given)
        except Exception as error:
            told = number, False, error
        pipe.send_bytes(pickle.dumps(told))


class Actor:
    """The handle of one; `actor.method.remote(...)` gives a future, and waits for nothing."""

    def __init__(self, ray: LittleRay, process: Any, pipe: Any, kind: type, given: tuple[Any, ...]) -> None:
        self._ray, self._pipe, self._kind, self._calls = ray, pipe, kind, itertools.count()
        self._waiting: dict[int, Future[Any]] = {}
        self._outbox: Queue[Any] = Queue()
        self.process = process
        self._outbox.put((kind, plain(given)))
        for work in (self._send, self._read):
            threading.Thread(target=work, daemon=True).start()

    def _send(self) -> None:
        try:
            while True:
                self._pipe.send_bytes(pickle.dumps(self._outbox.get()))
        except OSError:
            pass  # `_read` says so

    def _read(self) -> None:
        try:
            while True:
                number, fine, value = pickle.loads(self._pipe.recv_bytes())
                future = self._waiting.pop(number)
                future.set_result(value) if fine else future.set_exception(RayTaskError(value))
        except (EOFError, OSError):
            for future in self._waiting.values():
                future.set_exception(RayActorError("the actor has ended"))

    def __getattr__(self, method: str) -> Any:
        if method.startswith("_"):
            raise AttributeError(method)
        return SimpleNamespace(remote=lambda *given: self._call(method, given))

    def _call(self, method: str, given: tuple[Any, ...]) -> Future[Any]:
        number, future = next(self._calls), Future[Any]()
        self._waiting[number] = future
        self._ray.told(self.process.pid, f"{self._kind.__name__}.{method}")
        self._outbox.put((number, method, plain(given)))
        return future


def plain(given: tuple[Any, ...]) -> list[Any]:
    """Arguments as an actor gets them."""
    return [one.value if isinstance(one, Stored) else one for one in given]


class LittleRay:
    """The module. The `nth` call of a method of a kind of actors finds its process stopped."""

    exceptions = SimpleNamespace(
        RayError=RayError,
        GetTimeoutError=GetTimeoutError,
        RayActorError=RayActorError,
        NodeDiedError=NodeDiedError,
        RayTaskError=RayTaskError,
    )
    util = SimpleNamespace(remove_placement_group=lambda group: None)

    def __init__(self, actors: int, stopped: str = "", nth: tuple[int, ...] = ()) -> None:
        self._stopped, self._nth, self._told = stopped, nth, 0
        self._processes, self.actors = list[tuple[Any, Any]](), list[Actor]()
        context = multiprocessing.get_context("fork")
        for _ in range(actors):
            here, there = context.Pipe()
            process = context.Process(target=serve, args=(there,), daemon=True)
            process.start()
            there.close()
            self._processes.append((process, here))

    def told(self, pid: int, method: str) -> None:
        """An actor is about to be called."""
        if method == self._stopped:
            self._told += 1
            if self._told in self._nth:
                os.kill(pid, signal.SIGSTOP)

    def remote(self, kind: type) -> Any:
        """Makes actors of a class, wherever."""
        made = SimpleNamespace(remote=lambda *given: self._made(kind, given))
        return SimpleNamespace(options=lambda **options: made)

    def _made(self, kind: type, given: tuple[Any, ...]) -> Actor:
        self.actors.append(Actor(self, *self._processes[len(self.actors)], kind, given))
        return self.actors[-1]

    def put(self, value: Any) -> Stored:
        """Into the object store, as it is now."""
        return Stored(pickle.loads(pickle.dumps(value)))

    def get(self, asked: Any, timeout: float | None = None) -> Any:
        """The results of one call, or of several."""
        until = None if timeout is None else time.monotonic() + timeout
        results = []
        for future in asked if isinstance(asked, list) else [asked]:
            try:
                results.append(future.result(None if until is None else max(0.0, until - time.monotonic())))
            except Late:
                raise GetTimeoutError("no answer yet") from None
        return results if isinstance(asked, list) else results[0]

    def kill(self, actor: Actor) -> None:
        """End it, whatever it does."""
        actor.process.kill()

    def nodes(self) -> list[dict[str, Any]]:
        """This machine."""
        return [{"Alive": True}]

    def is_initialized(self) -> bool:
        """It needs no connection."""
        return True

    def shutdown(self) -> None:
        """End all processes."""
        for process, _ in self._processes:
            process.kill()
            process.join()
