"""Judging while others still play: a thread that settles finished trajectories as they come."""

from __future__ import annotations

import queue
import threading
import time
from typing import Any

from agentrl.core.judging import Judge
from agentrl.core.specs import resolve
from agentrl.rollout.judging import settle
from agentrl.rollout.trajectory import Trajectory


class Settler:
    """Takes trajectories with pending terms, settles them in the background, gives them back.

    What waits is asked in one go, so that a slow judge gets large batches. An outage leaves terms pending; only a wrong
    configuration raises, in `done` or `wait`, and every trajectory comes back all the same.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._asked: queue.SimpleQueue[tuple[int, Trajectory] | None] = queue.SimpleQueue()
        self._settled: queue.SimpleQueue[tuple[int, Trajectory]] = queue.SimpleQueue()
        self._open, self._closed = 0, False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._serve, name="judge", daemon=True)
        self._thread.start()

    def add(self, index: int, trajectory: Trajectory) -> None:
        """Have this one settled."""
        self._open += 1
        self._asked.put((index, trajectory))

    def done(self) -> list[tuple[int, Trajectory]]:
        """Those that came back since the last look; never waits."""
        found = []
        while not self._settled.empty():
            found.append(self._settled.get())
        self._open -= len(found)
        self._complain()
        return found

    def wait(self) -> tuple[list[tuple[int, Trajectory]], float]:
        """All others, and the seconds it took to wait for them."""
        started = time.perf_counter()
        found = [self._settled.get() for _ in range(self._open)]
        self._open = 0
        self._complain()
        return found, time.perf_counter() - started

    def close(self) -> None:
        """Ask nothing more: what still waits stays pending, and running requests are not waited for."""
        self._closed = True
        self._asked.put(None)

    def _complain(self) -> None:
        if self._error is not None:
            raise self._error

    def _serve(self) -> None:
        while (first := self._asked.get()) is not None and not self._closed:
            batch = [first]
            while not self._asked.empty() and (more := self._asked.get()) is not None:
                batch.append(more)
            self._settle(batch)
            if self._closed:
                return

    def _settle(self, batch: list[tuple[int, Trajectory]]) -> None:
        try:
            settle([trajectory for _, trajectory in batch], self._judge)
        except BaseException as error:
            self._error = error
        for one in batch:
            self._settled.put(one)


def resolved(judge: Any) -> Judge | None:
    """The judge of a spec; wrong specs are refused at once, not when the first episode ends."""
    return None if judge is None else resolve("judge", judge)
