"""An event loop on a thread of its own, so that one judge serves callers with and without a loop alike.

Everything a judge shares (connections, concurrency slots, rate limit) lives on this loop; limits then hold however many
threads and loops ask at once.
"""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

Result = TypeVar("Result")


class BackgroundLoop:
    """Starts its thread on first use; a forked child starts one of its own."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pid = 0
        self._guard = threading.Lock()

    def submit(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Run a coroutine on the loop; cancelling the future cancels the coroutine."""
        return asyncio.run_coroutine_threadsafe(work, self._running())

    def wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine and block until it is done; an interrupt cancels it."""
        if self.owns_this_thread():
            work.close()
            raise RuntimeError("waiting for a loop on its own thread would never end; await instead")
        future = self.submit(work)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    async def join(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine without blocking the caller's own loop; cancelling the caller cancels it."""
        return await asyncio.wrap_future(self.submit(work))

    def owns_this_thread(self) -> bool:
        """Is the caller running on this loop already (where waiting for it would never end)?"""
        try:
            return asyncio.get_running_loop() is self._loop
        except RuntimeError:
            return False

    def close(self, last: Callable[[], Coroutine[Any, Any, None]] | None = None) -> None:
        """Run `last` on the loop, cancel what is left and end the thread. The next use starts a fresh one."""
        with self._guard:
            loop, self._loop = self._loop, None
        if loop is None or self._pid != os.getpid():
            return
        if last is not None:
            asyncio.run_coroutine_threadsafe(last(), loop).result(10)
        _stop(loop, self._pid)

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._guard:
            if self._loop is None or self._pid != os.getpid():
                self._loop, self._pid = asyncio.new_event_loop(), os.getpid()
                threading.Thread(target=_serve, args=(self._loop,), name="agentrl-judge", daemon=True).start()
                weakref.finalize(self, _stop, self._loop, self._pid)  # also at exit, before daemon threads are frozen
            return self._loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


def _stop(loop: asyncio.AbstractEventLoop, pid: int) -> None:
    if pid != os.getpid():  # the loop of a forked child's parent is the parent's
        return
    try:
        loop.call_soon_threadsafe(loop.stop)
    except RuntimeError:  # closed already
        return
