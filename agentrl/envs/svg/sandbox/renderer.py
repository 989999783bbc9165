"""Draws untrusted SVG: the gate in this process, then a supervised process that may hang, crash or eat memory.

    picture = shared_renderer(256).draw(code)     # uint8 [256, 256, 3], or SvgRefused

A time-out, a lack of memory and a crash are the doing of the code that was drawn; the process is replaced and the
caller gets an `SvgRefused`. A process that cannot even start is a `WorkerFault` with reason "start": nobody's score.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np

from agentrl.core.arguments import positive_number, whole_number
from agentrl.core.errors import ConfigError, MissingExtra, WorkerFault
from agentrl.core.measure import usable_cores
from agentrl.core.worker import Worker
from agentrl.envs.svg.sandbox.gate import DEFAULT_LIMITS, Limits, SvgRefused, check

TARGET = "agentrl.envs.svg.sandbox.drawer:Drawer"
MAX_SIZE = 2048
MEMORY_LIMIT = 1 << 30
SMALLEST_MEMORY = 256 << 20  # what the renderer itself maps before it draws anything
SHARED_WORKERS = 4
# How a process ended -> what that says about the code it was drawing.
INPUT_FAULTS = {
    "deadline": ("timeout", "drawing took too long"),
    "memory": ("memory", "drawing needed too much memory"),
    "died": ("crash", "the renderer did not survive it"),
}
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
            self._calls[worker] += 1
            if self._calls[worker] >= MAX_CALLS and not self._closed:
                old, worker = worker, self._make()
                with self._free:
                    del self._calls[old]
                    self._calls[worker] = 0
                    self._all[self._all.index(old)] = worker
                    self._past_restarts += old.restarts
                old.close()
            with free:
                self._idle.append(worker)
                free.notify()

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


# ---------------------------------------------------------------------- drawing


class Renderer:
    """A picture of `size` x `size` pixels for every SVG, drawn on white in up to `workers` processes.

    Processes start when they are first needed and stay warm. `deadline` is seconds for one picture, `memory_limit`
    bytes of address space of one process. Threads may share a renderer.
    """

    def __init__(
        self,
        size: int = 256,
        workers: int = 1,
        deadline: float = 3.0,
        memory_limit: int = MEMORY_LIMIT,
        limits: Limits = DEFAULT_LIMITS,
        *,
        pool: WorkerPool | None = None,
    ) -> None:
        self.size = whole_number("size", size, at_least=8, at_most=MAX_SIZE)
        self.limits, self._owns_pool = limits, pool is None
        self._pool = pool or WorkerPool(worker_maker(deadline, memory_limit), workers)

    def draw(self, code: str) -> np.ndarray:
        """The picture, uint8 [size, size, 3]; `SvgRefused` where there can be none."""
        safe = check(code, self.limits)
        try:
            with self._pool.worker() as worker:
                pixels = worker.call("draw", safe, self.size)
        except WorkerFault as fault:  # the code's, or the machinery's
            if fault.reason == "raised" and not self._pool.closed:
                line = str(fault).partition(": ")[2].partition("\n")[0][:200]
                raise SvgRefused("undrawable", f"the renderer could make nothing of it: {line}") from None
            if fault.reason in INPUT_FAULTS and not self._pool.closed:
                raise SvgRefused(*INPUT_FAULTS[fault.reason]) from None
            raise fault from None
        return np.frombuffer(bytearray(pixels), np.uint8).reshape(self.size, self.size, 3)

    def draw_many(self, codes: Sequence[str]) -> list[np.ndarray | SvgRefused]:
        """A picture or a refusal for each code, in order; with more than one worker they are drawn side by side."""
        if isinstance(codes, str):
            raise ConfigError("codes must be a list of SVG texts, not one text")
        if self._pool.workers == 1 or len(codes) < 2:
            return [self._draw_or_refuse(code) for code in codes]
        with ThreadPoolExecutor(self._pool.workers) as threads:
            return list(threads.map(self._draw_or_refuse, codes))

    def close(self) -> None:
        """End the processes; a shared renderer's are left to the others that use them."""
        if self._owns_pool:
            self._pool.close()

    @property
    def restarts(self) -> int:
        """How many processes had to be replaced so far."""
        return self._pool.restarts

    def processor_seconds(self) -> float:
        """Processor time of the drawing processes that run now; for benchmarks, while nothing is drawn."""
        return self._pool.ask_all("processor_seconds")

    def __enter__(self) -> Renderer:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _draw_or_refuse(self, code: str) -> np.ndarray | SvgRefused:
        try:
            return self.draw(code)
        except SvgRefused as refused:
            return refused


def worker_maker(deadline: float, memory_limit: int) -> Callable[[], Worker]:
    """How a pool makes a drawing process; complains about the arguments now rather than at the first picture."""
    if importlib.util.find_spec("cairosvg") is None:
        raise MissingExtra("cairosvg", "svg")
    seconds = positive_number("deadline", deadline)
    memory = whole_number("memory_limit", memory_limit, at_least=SMALLEST_MEMORY)
    # Thread pools of numerical libraries map memory in the child that drawing never uses.
    quiet = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return lambda: Worker(TARGET, environment=quiet, deadline=seconds, memory_limit=memory)


# ---------------------------------------------------------------------- one pool for the whole program

_shared: WorkerPool | None = None
_shared_lock = threading.Lock()


def shared_renderer(size: int = 256) -> Renderer:
    """A renderer on the processes that the whole program shares, however many environments there are."""
    global _shared
    with _shared_lock:
        if _shared is None or _shared.closed:
            workers = min(SHARED_WORKERS, usable_cores())
            _shared = WorkerPool(worker_maker(3.0, MEMORY_LIMIT), workers)
        return Renderer(size, pool=_shared)


def _close_shared() -> None:
    if _shared is not None:
        _shared.close()


def _forget_lock() -> None:
    """Another thread may have held the lock while this process was forked off."""
    global _shared_lock
    _shared_lock = threading.Lock()


atexit.register(_close_shared)
os.register_at_fork(after_in_child=_forget_lock)
