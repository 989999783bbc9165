"""Many episodes at their own pace: none waits for the slowest environment."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from agentrl.core.arguments import finite_number, whole_number
from agentrl.core.errors import ConfigError
from agentrl.core.policy import Generation, Policy
from agentrl.rollout.batcher import Batcher
from agentrl.rollout.collect import OnTrajectory, collection
from agentrl.rollout.collector_base import Collection, CollectorBase, Job, Timings, timed
from agentrl.rollout.settler import Settler
from agentrl.rollout.starts import EnvSpec, Start, checked_starts
from agentrl.rollout.trajectory import Trajectory


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
        self._tasks = [asyncio.create_task(self._start(job)) for job in self._collector._jobs(self._starts)]
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

    async def _start(self, job: Job) -> None:
        async with self._free:
            while await self._attempt(job):
                self._tally.retries += 1
            self._unfinished -= 1
            self._batcher.look()  # there may be no other request to wait for
        await self._finish(job)

    async def _attempt(self, job: Job) -> bool:
        """One try to play the episode; is there another?"""
        collector = self._collector
        job.place = job.place or collector.pool.reserve(job.start.env)
        await self._in_thread(job, lambda: collector._begin(job))
        while not job.ended:
            answer = await self._asked(job)
            if answer is not None:
                await self._in_thread(job, lambda answer=answer: collector._step(job, answer))
        return collector._leave(job)

    async def _asked(self, job: Job) -> Generation | None:
        try:
            return await self._batcher.ask(job)
        except BaseException:
            self._abandon(job)
            raise

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

    # ------------------------------------------------------------------ policy, judge, records

    def _ask(self, jobs: Sequence[Job]) -> list[Generation | None]:
        with timed(self._tally, "generate"):
            return self._collector._ask(jobs)

    async def _finish(self, job: Job) -> None:
        trajectory = self._collector._record(job)
        if self._settler is not None and trajectory.pending and job.fault is None:
            self._settler.add(job.index, trajectory)
        else:
            await self._deliver([(job.index, trajectory)])
        if self._settler is not None:
            await self._deliver(self._settler.done())

    async def _deliver(self, done: Iterable[tuple[int, Trajectory]]) -> None:
        for index, trajectory in done:
            self._found[index] = trajectory
            if self._on_trajectory is not None:
                answer = self._on_trajectory(trajectory)
                if inspect.isawaitable(answer):
                    await answer
