"""A few supervised workers that many callers share."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from agentrl.core.arguments import whole_number
from agentrl.core.errors import WorkerFault
from agentrl.core.worker import Worker

MAX_WORKERS = 256
MAX_CALLS = 20_000  # then a process makes room for a fresh one, so that what a library leaks never adds up


class WorkerPool:
    """Up to `workers` processes, made by `make`; the one used last is used first, so idle ones never start."""

    def __init__(self, make: Callable[[], Worker], workers: int) -> None:
        self.workers = whole_number("workers", workers, at_least=1, at_most=MAX_WORKERS)
        self._make, self._closed, self._past_restarts = make, False, 0
        self._fill()

    def _fill(self) -> None:
        self._owner = os.getpid()
        self._free = threading.Condition()
        self._all = [self._make() for _ in range(self.workers)]
        self._idle = list(reversed(self._all))
        self._calls = dict.fromkeys(self._all, 0)

    @contextmanager
    def worker(self) -> Iterator[Worker]:
        """A worker for one call; waits until one is free."""
        if self._owner != os.getpid():  # after a fork, locks and processes are the other program's
            self._fill()
        free = self._free
        with free:
            free.wait_for(lambda: self._idle or self._closed)
            if self._closed:
                raise WorkerFault("the renderer is closed", "died")
            worker = self._idle.pop()
        try:
            yield worker
        finally:
            worker = self._renewed(worker)
            with free:
                self._idle.append(worker)
                free.notify()

    def _renewed(self, worker: Worker) -> Worker:
        """The worker itself, or another one in its place after very many calls."""
        self._calls[worker] += 1
        if self._calls[worker] < MAX_CALLS or self._closed:
            return worker
        fresh = self._make()
        with self._free:
            del self._calls[worker]
            self._calls[fresh] = 0
            self._all[self._all.index(worker)] = fresh
            self._past_restarts += worker.restarts
        worker.close()
        return fresh

    def ask_all(self, method: str) -> float:
        """The sum of a number that every running process knows."""
        return sum(worker.call(method) for worker in self._all if worker.alive)

    @property
    def restarts(self) -> int:
        """How many processes were lost and replaced so far."""
        return self._past_restarts + sum(worker.restarts for worker in self._all)

    @property
    def closed(self) -> bool:
        """Has `close` been called?"""
        return self._closed

    def close(self) -> None:
        """End every process; calls in flight fail. May be called twice."""
        self._closed = True
        if self._owner == os.getpid():
            with self._free:
                self._free.notify_all()
            for worker in self._all:
                worker.close()
