"""Which signal asked a run to stop. The run itself handles it; the exit status must still tell."""

from __future__ import annotations

import contextlib
import signal
import socket
import threading
from collections.abc import Iterator
from typing import Any

STATUS = {"SIGINT": 130, "SIGTERM": 143}


class Noticed:
    """The first stopping signal that has arrived, whichever handler took it."""

    def __init__(self, source: socket.socket | None) -> None:
        self._source, self._name = source, ""

    @property
    def name(self) -> str:
        """SIGINT, SIGTERM, or nothing."""
        while self._source is not None and not self._name:
            try:
                number = self._source.recv(1)
            except BlockingIOError:
                break
            name = signal.Signals(number[0]).name
            self._name = name if name in STATUS else ""
        return self._name


@contextlib.contextmanager
def noticing() -> Iterator[Noticed]:
    """Watch for signals; outside of a run, which stops in its own time, they interrupt at once."""
    if threading.current_thread() is not threading.main_thread():  # where Python handles no signals
        yield Noticed(None)
        return
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        theirs.setblocking(False)
        # Python writes a signal's number here, also while a run has put its own handlers in place.
        before = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
        handlers = {number: signal.signal(number, _interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield Noticed(ours)
        finally:
            signal.set_wakeup_fd(before)
            for number, handler in handlers.items():
                signal.signal(number, handler)


def _interrupt(number: int, frame: Any) -> None:
    raise KeyboardInterrupt
