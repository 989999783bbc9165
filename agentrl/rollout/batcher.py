"""Requests of many coroutines, answered in batches by one thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, TypeVar

Request = TypeVar("Request")
Answer = TypeVar("Answer")


class Batcher(Generic[Request, Answer]):
    """Gathers requests and has `answer_all` answer them, one batch at a time.

    A batch goes when it holds `max_batch` requests, when its oldest has waited `max_wait` seconds, or when `expected()`
    requests are there and no other can come. While one is being answered the next one gathers. What `answer_all`
    raises, every request of the batch raises.
    """

    def __init__(
        self,
        answer_all: Callable[[Sequence[Request]], Sequence[Answer]],
        max_batch: int,
        max_wait: float,
        expected: Callable[[], int],
    ) -> None:
        self._answer_all, self._max_batch, self._max_wait, self._expected = answer_all, max_batch, max_wait, expected
        self._waiting: list[tuple[Request, asyncio.Future[Answer], float]] = []
        self._news = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, "generate")  # one: a model answers one batch at a time
        self._running: asyncio.Future[Any] | None = None
        self._task = asyncio.ensure_future(self._serve())

    async def ask(self, request: Request) -> Answer:
        """The answer to this request, in its batch's time."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Answer] = loop.create_future()
        self._waiting.append((request, future, loop.time()))
        self.look()
        return await future

    def look(self) -> None:
        """Something changed: a new request, or fewer are expected."""
        self._news.set()

    async def close(self) -> None:
        """Stop. A batch that is being answered is waited for, as nothing can interrupt it."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        if self._running is not None:
            await asyncio.gather(self._running, return_exceptions=True)
        self._thread.shutdown(wait=False)

    async def _serve(self) -> None:
        while True:
            await self._gathered()
            batch, self._waiting = self._waiting[: self._max_batch], self._waiting[self._max_batch :]
            batch = [one for one in batch if not one[1].done()]  # who was cancelled meanwhile wants no answer
            if batch:
                await self._answer(batch)

    async def _gathered(self) -> None:
        """Return when a batch should go."""
        loop = asyncio.get_running_loop()
        while True:
            self._news.clear()
            count = len(self._waiting)
            if count and count >= min(self._max_batch, self._expected()):
                return
            left = self._waiting[0][2] + self._max_wait - loop.time() if count else None
            if left is not None and left <= 0:
                return
            try:
                await asyncio.wait_for(self._news.wait(), left)
            except TimeoutError:
                return

    async def _answer(self, batch: list[tuple[Request, asyncio.Future[Answer], float]]) -> None:
        loop = asyncio.get_running_loop()
        self._running = loop.run_in_executor(self._thread, self._answer_all, [request for request, _, _ in batch])
        try:
            answers = await asyncio.shield(self._running)
        except Exception as error:
            for _, future, _ in batch:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future, _), answer in zip(batch, answers, strict=True):
            if not future.done():
                future.set_result(answer)
