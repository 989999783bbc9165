"""An event loop on a thread of its own, so that one client serves callers with and without a loop alike.

Everything its owner shares (connections, concurrency slots, rate limit) lives on this loop; limits then hold however
many threads and loops ask at once.
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


Closer = Callable[[], Coroutine[Any, Any, None]]


class BackgroundLoop:
    """Starts its thread on first use; a forked child starts one of its own. Ends with its owner, or by `close`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closers: list[Closer] = []
        self._end: weakref.finalize | None = None
        self._pid = 0
        self._guard = threading.Lock()

    def submit(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Run a coroutine on the loop; cancelling the future cancels the coroutine."""
        with self._guard:
            if self._loop is None or self._pid != os.getpid():
                self._loop, self._pid, self._closers = asyncio.new_event_loop(), os.getpid(), []
                thread = threading.Thread(target=_serve, args=(self._loop, self._closers), name=self._name, daemon=True)
                thread.start()
                self._end = weakref.finalize(self, _stop, self._loop, thread, self._pid)  # also runs at exit
            loop = self._loop
        return asyncio.run_coroutine_threadsafe(work, loop)

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
        """Is the caller running on this loop already?"""
        try:
            return asyncio.get_running_loop() is self._loop
        except RuntimeError:
            return False

    def at_end(self, closer: Closer) -> None:
        """Run this on the loop before it ends. Called on the loop."""
        self._closers.append(closer)

    def close(self) -> None:
        """Cancel what is running, run the closers and end the thread. The next use starts a fresh one."""
        with self._guard:
            end, self._end, self._loop = self._end, None, None
        if end is not None:
            end()


def _serve(loop: asyncio.AbstractEventLoop, closers: list[Closer]) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.run_until_complete(asyncio.gather(*(closer() for closer in closers), return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        # A request that was cancelled at a bad moment leaves its connection behind, unknown to its client.
        for transport in list(getattr(loop, "_transports", {}).values()):  # of asyncio's own loops on Unix
            transport.abort()
        loop.run_until_complete(asyncio.sleep(0))
    finally:
        loop.close()


def _stop(loop: asyncio.AbstractEventLoop, thread: threading.Thread, pid: int) -> None:
    if pid != os.getpid() or loop.is_closed():  # a parent's loop is the parent's
        return
    loop.call_soon_threadsafe(loop.stop)
    if thread is not threading.current_thread():  # the garbage collector may run this anywhere
        thread.join(5)
