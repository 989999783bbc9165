"""Signs of life inside long parts of a run: how far it is, and how long the rest will take."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

SECONDS_BETWEEN_LINES = 10.0


class Progress:
    """Call it once for each thing done, or raise `done`; use as a context manager around all of them.

    It reports a line now and then, also while the first thing is being done, and nothing where all is done sooner.
    """

    def __init__(
        self, report: Callable[[str], Any], label: str, total: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._report, self._label, self._total, self._clock = report, label, total, clock
        self.done, self._started = 0, clock()
        self._spoke = self._started
        self._first: tuple[float, int] | None = None  # when the first were done, and how many these were
        self._speaking, self._over = threading.Lock(), threading.Event()

    def __call__(self, *what: Any) -> None:
        """One more."""
        self.done += 1
        self.speak_when_due()

    def __enter__(self) -> Progress:
        if SECONDS_BETWEEN_LINES > 0:
            threading.Thread(target=self._keep_speaking, name="agentrl-progress", daemon=True).start()
        return self

    def __exit__(self, *problem: Any) -> None:
        self._over.set()

    def _keep_speaking(self) -> None:
        while not self._over.wait(SECONDS_BETWEEN_LINES / 2):
            self.speak_when_due()

    def speak_when_due(self) -> None:
        """Report a line if the last one is long ago."""
        with self._speaking:
            now, done = self._clock(), self.done
            if self._first is None and done:
                self._first = now, done
            since, before = self._first or (now, done)
            if now - self._spoke < SECONDS_BETWEEN_LINES or done >= self._total or self._over.is_set():
                return
            self._spoke, spent, rest = now, now - self._started, ""
            # The first take as long as all that is loaded for them: they say nothing of the others.
            if done > before:
                rest = f", about {(now - since) / (done - before) * (self._total - done):.0f} s left"
            self._report(f"{self._label}: {done} of {self._total}, {spent:.0f} s{rest}")
