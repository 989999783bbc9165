"""Calls with a deadline inside this process: a thread that can be abandoned.

Python cannot stop a thread. One that misses its deadline is abandoned together with what it works on; should it ever
come back, it tidies up after itself. Where work must really be stopped, it belongs into a process of its own
(`agentrl.rollout.isolated`).
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from typing import Any

from agentrl.core.errors import EnvFault


class DeadlineThread:
    """Runs one call at a time, each within `seconds`; after the first that takes longer it is of no use any more."""

    def __init__(self, seconds: float, tidy: Callable[[], Any]) -> None:
        self.seconds, self._tidy = seconds, tidy
        self._calls: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        # A daemon: a thread that hangs must not keep the program from ending.
        self._thread = threading.Thread(target=self._serve, name="environment", daemon=True)
        self._thread.start()
        self._busy = False  # stays so after a call that was late

    def call(self, function: Callable[[], Any], what: str) -> Any:
        """The result of `function()`; `EnvFault` when it does not come in time."""
        self._busy = True
        self._calls.put(function)
        try:
            value, error = self._results.get(timeout=self.seconds)
        except queue.Empty:
            raise EnvFault(f"{what} gave no answer within {self.seconds:g} s") from None
        self._busy = False
        if error is not None:
            raise error
        return value

    def leave(self) -> None:
        """No more calls: the thread tidies up and ends as soon as it can. An idle one is waited for."""
        self._calls.put(None)
        if not self._busy:
            self._thread.join(self.seconds)  # files that are written on closing should be there afterwards

    def _serve(self) -> None:
        while (function := self._calls.get()) is not None:
            try:
                self._results.put((function(), None))
            except BaseException as error:  # sys.exit() in an environment ends its episode, not the thread
                self._results.put((None, error))
        with contextlib.suppress(BaseException):  # the caller has gone
            self._tidy()
