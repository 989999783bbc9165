"""Signs of life inside long parts of a run: how far it is, and how long the rest will take."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

SECONDS_BETWEEN_LINES = 10.0
Seen = Callable[[int], Any]  # told how many sequences of a mini-batch are being read


def ignore(count: int) -> None:
    """For those who need no progress."""


class Progress:
    """Call it once for each thing done; use as a context manager around all of them.

    It reports a line now and then, also while the first thing is being done, and nothing where all is done sooner.
    """

    def __init__(
        self, report: Callable[[str], Any], label: str, total: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._report, self._label, self._total, self._clock = report, label, total, clock
        self._done, self._started = 0, clock()
        self._spoke = self._started
        self._first: tuple[float, int] | None = None  # when the first were done, and how many these were
        self._speaking, self._over = threading.Lock(), threading.Event()

    def __call__(self, *what: Any) -> None:
        """One more."""
        self.add(1)

    def add(self, count: int) -> None:
        """Several more."""
        self._done += count
        if self._first is None:
            self._first = self._clock(), self._done
        self._speak_when_due()

    def __enter__(self) -> Progress:
        if SECONDS_BETWEEN_LINES > 0:
            threading.Thread(target=self._keep_speaking, name="agentrl-progress", daemon=True).start()
        return self

    def __exit__(self, *problem: Any) -> None:
        self._over.set()

    def _keep_speaking(self) -> None:
        while not self._over.wait(SECONDS_BETWEEN_LINES / 2):
            self._speak_when_due()

    def _speak_when_due(self) -> None:
        with self._speaking:
            now, done = self._clock(), self._done
            if now - self._spoke < SECONDS_BETWEEN_LINES or done >= self._total or self._over.is_set():
                return
            self._spoke, spent = now, now - self._started
            self._report(f"{self._label}: {done} of {self._total}, {spent:.0f} s{self._rest(now, done)}")

    def _rest(self, now: float, done: int) -> str:
        """An estimate, in words. The first take as long as all that is loaded for them: they say nothing of others."""
        since, before = self._first or (now, done)
        left = (now - since) / (done - before) * (self._total - done) if done > before else None
        return "" if left is None else f", about {left:.0f} s left"
