"""Many episodes at their own pace: none waits for the slowest environment."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Generic, TypeVar

from agentrl.core.arguments import finite_number, whole_number
from agentrl.core.errors import ConfigError
from agentrl.core.policy import Generation, Policy
from agentrl.rollout.collect import Collection, CollectorBase, Job, OnTrajectory, Timings, collection, timed
from agentrl.rollout.judging import Settler
from agentrl.rollout.starts import EnvSpec, Start, checked_starts
from agentrl.rollout.trajectory import Trajectory

Request = TypeVar("Request")
Answer = TypeVar("Answer")


class AsyncCollector(CollectorBase):
    """The `Collector` for slow or uneven environments, inside a running event loop.

    Every episode is a coroutine, at most `num_envs` of them at a time; environments step in threads. What they ask the
    policy is gathered into batches: one goes at `max_batch` requests, when the oldest has waited `max_wait_ms`, or when
    every episode waits. Records, faults and judging are those of `Collector`, and so is one episode's content under a
    policy whose answer depends on its own conversation and key alone. Which requests share a batch depends on the
    clock, so a policy that seeds sampling by the row of a call is not reproducible.

    Cancelling `collect` ends every episode and closes every environment; a generation that is running is waited for.
    `seconds["environment"]` adds up what happened at the same time. One collection at a time.
    """

    def __init__(
        self,
        envs: Sequence[EnvSpec],
        policy: Policy,
        *,
        max_batch: int | None = None,
        max_wait_ms: float = 5.0,
        **arguments: Any,
    ) -> None:
        super().__init__(envs, policy, **arguments)
        self.max_batch = self.num_envs if max_batch is None else whole_number("max_batch", max_batch, at_least=1)
        self.max_wait = finite_number("max_wait_ms", max_wait_ms) / 1000
        if self.max_wait < 0:
            raise ConfigError(f"max_wait_ms must be 0 or more; got {max_wait_ms!r}")

    async def collect(self, starts: Sequence[Start], on_trajectory: OnTrajectory | None = None) -> Collection:
        """Play every start once. `on_trajectory`, a function or a coroutine function, gets each complete record."""
        run = _Run(self, checked_starts(starts, self.envs), on_trajectory)
        try:
            return await run.play()
        except BaseException:
            await run.stop()
            self.pool.interrupt()
            self.close()
            raise
        finally:
            await run.close()


class _Run:
    """One collection."""

    def __init__(self, collector: AsyncCollector, starts: Sequence[Start], on_trajectory: OnTrajectory | None) -> None:
        self._collector, self._starts, self._on_trajectory = collector, starts, on_trajectory
        self._tally, self._found, self._unfinished = Timings(), dict[int, Trajectory](), len(starts)
        self._settler = None if collector.judge is None else Settler(collector.judge)
        self._free = asyncio.Semaphore(collector.num_envs)
        self._threads = ThreadPoolExecutor(collector.num_envs, "environments")
        self._batcher: Batcher[Job, Generation | None] = Batcher(
            self._ask, collector.max_batch, collector.max_wait, lambda: min(collector.num_envs, self._unfinished)
        )
        self._tasks: list[asyncio.Task[None]] = []

    async def play(self) -> Collection:
        """All episodes, then whatever the judge still owes."""
        self._tasks = [asyncio.create_task(self._episode(job)) for job in self._collector._jobs(self._starts)]
        await asyncio.gather(*self._tasks)
        if self._settler is not None:
            rest, self._tally.judge = await asyncio.to_thread(self._settler.wait)
            await self._deliver(rest)
        return collection(self._found, self._tally)

    async def stop(self) -> None:
        """Cancel all episodes and wait until each has let go of its environment."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def close(self) -> None:
        """Free the threads."""
        await self._batcher.close()
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._settler is not None:
            self._settler.close()

    # ------------------------------------------------------------------ one episode

    async def _episode(self, job: Job) -> None:
        collector = self._collector
        async with self._free:
            while True:
                job.place = job.place or collector.pool.reserve(job.start.env)
                await self._in_thread(job, lambda: collector._begin(job))
                while not job.ended:
                    try:
                        answer = await self._batcher.ask(job)
                    except BaseException:
                        self._abandon(job)
                        raise
                    if answer is not None:
                        await self._in_thread(job, lambda answer=answer: collector._step(job, answer))
                if not collector._leave(job):
                    break
                self._tally.retries += 1
            self._unfinished -= 1
            self._batcher.look()  # there may be no other request to wait for
        trajectory = collector._record(job)
        if self._settler is not None and trajectory.pending and job.fault is None:
            self._settler.add(job.index, trajectory)
        else:
            await self._deliver([(job.index, trajectory)])
        if self._settler is not None:
            await self._deliver(self._settler.done())

    async def _in_thread(self, job: Job, move: Callable[[], None]) -> None:
        """Make a move of an episode while other episodes go on."""

        def timed_move() -> float:
            tally = Timings()
            with timed(tally, "environment"):
                move()
            return tally.environment

        running = self._threads.submit(timed_move)
        try:
            self._tally.environment += await asyncio.wrap_future(running)
        except BaseException:
            self._abandon(job, running)
            raise

    def _abandon(self, job: Job, running: Future[Any] | None = None) -> None:
        """Close the environment of an episode that will not be finished, as soon as no call is running in it."""
        place, pool = job.place, self._collector.pool
        if place is None:
            return
        job.place = None
        if running is None or running.done() or (job.handle is not None and job.handle.interruptible):
            pool.discard(place)
            pool.give_back(place)
            return
        inside = pool.forget(place)  # so that it is neither closed too early nor reused

        def last_out(_: Future[Any]) -> None:
            for handle in (inside, pool.forget(place)):  # the second, if it was only just being made
                if handle is not None:
                    handle.close()
            pool.give_back(place)

        running.add_done_callback(last_out)

    def _ask(self, jobs: Sequence[Job]) -> list[Generation | None]:
        with timed(self._tally, "generate"):
            return self._collector._ask(jobs)

    async def _deliver(self, done: Iterable[tuple[int, Trajectory]]) -> None:
        for index, trajectory in done:
            self._found[index] = trajectory
            if self._on_trajectory is not None:
                answer = self._on_trajectory(trajectory)
                if inspect.isawaitable(answer):
                    await answer


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
        loop = asyncio.get_running_loop()
        while True:
            await self._gathered()
            batch, self._waiting = self._waiting[: self._max_batch], self._waiting[self._max_batch :]
            batch = [one for one in batch if not one[1].done()]  # who was cancelled meanwhile wants no answer
            if not batch:
                continue
            self._running = loop.run_in_executor(self._thread, self._answer_all, [request for request, _, _ in batch])
            try:
                answers = await asyncio.shield(self._running)
            except Exception as error:
                for _, future, _ in batch:
                    if not future.done():
                        future.set_exception(error)
                continue
            for (_, future, _), answer in zip(batch, answers, strict=True):
                if not future.done():
                    future.set_result(answer)

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
