"""A limit to the memory of pages: a script that eats all of it loses its page, and the machine goes on. Linux only.

Limits of the kernel would not do: Chromium reserves far more than it uses.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from contextlib import suppress
from pathlib import Path

log = logging.getLogger(__name__)
MAX_COUNT = 2 << 30  # bytes in use by the pages of one site in one window
_PAUSE = 0.5  # seconds between two looks
_PROCESSES = Path("/proc")


async def guard_memory(browser: int, most: int = MAX_COUNT) -> None:
    """End pages of the browser with this process id that use more memory. Runs until it is cancelled."""
    while _PROCESSES.exists():
        await asyncio.sleep(_PAUSE)
        await asyncio.to_thread(_end_large, browser, most)


def _end_large(browser: int, most: int) -> None:
    for forked_from in _children(browser):
        for pid in _children(forked_from):
            with suppress(OSError, ValueError):  # it ended meanwhile
                folder = _PROCESSES / str(pid)
                used = int((folder / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
                if used > most and "--type=renderer" in (folder / "cmdline").read_text():
                    log.warning("ended a page that used %d MB", used >> 20)
                    os.kill(pid, signal.SIGKILL)


def _children(pid: int) -> list[int]:
    with suppress(OSError, ValueError):
        return [int(child) for child in (_PROCESSES / f"{pid}/task/{pid}/children").read_text().split()]
    return []
