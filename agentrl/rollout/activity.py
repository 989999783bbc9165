"""What simulators, generators and the trainer do all the time: utilisation, queue, sizes of batches, a timeline."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

SPANS = 4000  # of the timeline: the newest
SIMULATORS, GENERATORS, TRAINER = "simulators", "generators", "trainer"


@dataclass
class Span:
    """A worker was busy with `size` requests, slots or episodes."""

    group: str
    worker: int
    begin: float
    end: float
    size: int

    def to_json(self) -> list[Any]:
        """As a row."""
        return [self.group, self.worker, round(self.begin, 4), round(self.end, 4), self.size]


class Activity:
    """Collects spans of any thread, and adds them up for one window of time after the other."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.clock, self._lock = clock, threading.Lock()
        self.workers = {SIMULATORS: 1, GENERATORS: 1, TRAINER: 1}
        self._zero = self._window = self._looked = clock()
        self._open: dict[int, Span] = {}
        self._done: list[Span] = []  # of this window
        self._kept: deque[Span] = deque(maxlen=SPANS)
        self._length = self._longest = 0
        self._area = 0.0  # of the queue's length over time
        self._marks: deque[tuple[float, int]] = deque(maxlen=100)

    @contextlib.contextmanager
    def busy(self, group: str, worker: int, size: int) -> Iterator[None]:
        """Inside, this worker works."""
        span = self.begin(group, worker, size)
        try:
            yield
        finally:
            self.end(span)

    def begin(self, group: str, worker: int, size: int) -> Span:
        """A worker begins to work."""
        span = Span(group, worker, self.clock(), 0.0, size)
        with self._lock:
            self._open[id(span)] = span
        return span

    def end(self, span: Span) -> None:
        """It is done."""
        with self._lock:
            if self._open.pop(id(span), None) is not None:
                span.end = self.clock()
                self._done.append(span)
                self._kept.append(span)

    def queue(self, length: int) -> None:
        """So many requests wait from now on."""
        with self._lock:
            self._look()
            self._length, self._longest = length, max(self._longest, length)

    def mark(self, iteration: int) -> None:
        """An update is done."""
        with self._lock:
            self._marks.append((self.clock(), iteration))

    def _look(self) -> None:
        now = self.clock()
        self._area, self._looked = self._area + self._length * (now - self._looked), now

    def window(self) -> dict[str, Any]:
        """Metrics since the last look."""
        with self._lock:
            self._look()
            begin, now = self._window, self._looked
            seconds = max(now - begin, 1e-9)
            spent, sizes = dict.fromkeys(self.workers, 0.0), {group: Counter[int]() for group in self.workers}
            for span in self._done:
                spent[span.group] += span.end - max(span.begin, begin)
                sizes[span.group][span.size] += 1
            for span in self._open.values():
                spent[span.group] += now - max(span.begin, begin)
            found = {
                "utilisation": {group: spent[group] / seconds / count for group, count in self.workers.items()},
                "queue": {"mean": self._area / seconds, "max": self._longest},
                "generator_batches": histogram(sizes[GENERATORS]),
                "simulator_batches": histogram(sizes[SIMULATORS]),
            }
            self._done, self._window, self._area, self._longest = [], now, 0.0, self._length
            return found

    def timeline(self) -> dict[str, Any]:
        """The newest spans, in seconds since the beginning, and when updates were done."""
        with self._lock:
            rows = [Span(s.group, s.worker, s.begin - self._zero, s.end - self._zero, s.size) for s in self._kept]
            marks = [[round(at - self._zero, 4), iteration] for at, iteration in self._marks]
        spans = [span.to_json() for span in sorted(rows, key=lambda span: span.begin)]
        return {"schema": 1, "workers": dict(self.workers), "spans": spans, "updates": marks}


def histogram(counts: Counter[int]) -> dict[str, int]:
    """As JSON, in order."""
    return {str(size): counts[size] for size in sorted(counts)}


def over_processes(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Metrics that several processes found, as those of all: shares and means are averaged, of what is longest (and of
    the machines that each sees) the most counts, and everything else is counted together."""
    found: dict[str, Any] = {}
    for name in {name: None for part in parts for name in part}:
        values: list[Any] = [part[name] for part in parts if name in part]
        if name == "utilisation":
            found[name] = {group: sum(one[group] for one in values) / len(values) for group in values[0]}
        elif name == "mean":
            found[name] = sum(values) / len(values)
        elif name in ("max", "wait_seconds", "machines"):
            found[name] = max(values)
        else:
            found[name] = over_processes(values) if isinstance(values[0], dict) else sum(values)
    return found
