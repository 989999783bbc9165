"""A word about what takes long, for people who wait for it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def notify_if_slow(text: str, seconds: float = 1.0) -> Iterator[None]:
    """Print a line on stderr if what is inside takes longer than `seconds`; nothing otherwise."""
    timer = threading.Timer(seconds, lambda: print(text, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
