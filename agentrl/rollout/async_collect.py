"""Many episodes at their own pace: simulators and generators work side by side, and none waits for the slowest.

A simulator is a thread that plays the turns of its slots: one with a host tells that process of many slots in one
message. A generator is a thread with a policy of its own. What episodes ask waits in one queue (`request_queue`), and
an answer goes to the simulator of its episode. `AsyncCollector.collect` plays a list of starts; trainers keep one
`Rollout` going and take from it what is finished.
"""

from __future__ import annotations

import heapq
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError
from agentrl.core.policy import Generation, Policy
from agentrl.rollout.activity import GENERATORS, SIMULATORS, Activity
from agentrl.rollout.collect import Collection, CollectorBase, Job, OnTrajectory, Timings, collection, timed
from agentrl.rollout.judging import Settler
from agentrl.rollout.request_queue import Key, Request, RequestQueue, Route
from agentrl.rollout.starts import EnvSpec, Start, checked_starts
from agentrl.rollout.trajectory import Trajectory

THREADS = 16  # simulators without hosts, unless more are asked for
PATIENCE = 5.0  # seconds that closing waits for a call in an environment of this process
LOOK = 0.05  # seconds between looks at what a judge has settled


class AsyncCollector(CollectorBase):
    """The `Collector` for slow or uneven environments.

    At most `num_envs` episodes are played at a time, in the slots of `simulators` threads: one for each host, and
    without hosts as many as asked for (one for each slot, at most 16). A simulator plays up to `simulator_batch` turns
    in one call (half of its slots), so that the other slots' requests are answered meanwhile.

    Requests are gathered into batches: one goes at `max_batch` requests (half of `num_envs` for each policy), when the
    oldest has waited `max_wait_ms`, or when every episode waits. `queue_key` orders them: "arrival", "slot", "turn"
    (the furthest episode first) or a function of a `Request`. `routing` says who answers: "any" policy that is free, a
    policy for each "slot", or a function of the request and the number of policies. `policy` may be a list: each
    answers in a thread of its own, and must share nothing with the others that changes.

    Records, faults and judging are those of `Collector`, and so is one episode's content under a policy whose answer
    depends on its own conversation and key alone. Which requests share a batch depends on the clock, except in step:
    with `max_batch=num_envs` and `max_wait_ms=math.inf` batches are those of `Collector`.
    """

    def __init__(
        self,
        envs: Sequence[EnvSpec],
        policy: Policy | Sequence[Policy],
        *,
        max_batch: int | None = None,
        max_wait_ms: float = 5.0,
        queue_key: str | Key = "arrival",
        routing: str | Route = "any",
        simulators: int = 0,
        simulator_batch: int = 0,
        refresh: Callable[[int], Any] | None = None,
        **arguments: Any,
    ) -> None:
        self.policies: list[Policy] = list(policy) if isinstance(policy, (list, tuple)) else [policy]  # pyright: ignore
        super().__init__(envs, self.policies[0], **arguments)
        self.refresh = refresh  # called with a policy's number before each of its batches
        share = -(-self.num_envs // (2 * len(self.policies)))
        self.max_batch = share if max_batch is None else whole_number("max_batch", max_batch, at_least=1)
        self.max_wait_ms = max_wait_ms
        wanted = whole_number("simulators", simulators, at_least=0)
        if self.hosts and wanted not in (0, self.hosts):
            raise ConfigError(
                f"simulators must be the number of hosts ({self.hosts}) where there are hosts; got {wanted}"
            )
        self.simulators = self.hosts or wanted or min(self.num_envs, THREADS)
        half = -(-self.num_envs // (2 * self.simulators))
        self.simulator_batch = whole_number("simulator_batch", simulator_batch, at_least=0) or half
        self._queue_key, self._routing = queue_key, routing
        self.new_queue()  # refuses wrong arguments at once

    def new_queue(self) -> RequestQueue[Job]:
        """An empty queue with these options."""
        return RequestQueue(
            max_batch=self.max_batch,
            max_wait_ms=self.max_wait_ms,
            engines=len(self.policies),
            key=self._queue_key,
            route=self._routing,
        )

    def collect(self, starts: Sequence[Start], on_trajectory: OnTrajectory | None = None) -> Collection:
        """Play every start once. `on_trajectory` gets each record when it is complete: judged, if there is a judge.

        When it is interrupted, every episode ends and every environment is closed; a generation that is running is
        waited for.
        """
        checked = checked_starts(starts, self.envs)
        found: dict[int, Trajectory] = {}
        try:
            with Rollout(self, _Listed(deque(self.jobs(checked)))) as rollout:
                while len(found) < len(checked):
                    for job, trajectory in rollout.wait():
                        found[job.index] = trajectory
                        if on_trajectory is not None:
                            on_trajectory(trajectory)
        except BaseException:
            self.close()
            raise
        return collection(found, rollout.tally)

    def jobs(self, starts: Sequence[Start]) -> list[Job]:
        """The starts as a rollout plays them."""
        return self._jobs(starts)


class Source(Protocol):
    """Where a rollout's episodes come from; asked under the rollout's lock."""

    def next_job(self) -> Job | None:
        """The next episode to begin; None where there is none to begin now."""
        ...

    def wanted(self, job: Job) -> bool:
        """Is an episode worth another turn?"""
        ...


@dataclass
class _Listed:
    """A fixed list of episodes."""

    left: deque[Job]

    def next_job(self) -> Job | None:
        return self.left.popleft() if self.left else None

    def wanted(self, job: Job) -> bool:
        return True


Move = tuple[Job, Generation | None]  # what a simulator does next in an episode: begin it, play a turn, or end it


class Rollout:
    """Episodes under way, until it is closed; use as a context manager.

    All of its state is under one lock. `admit` begins what the source has; `wait` and `finished` hand over.
    """

    def __init__(self, collector: AsyncCollector, source: Source, activity: Activity | None = None) -> None:
        self._collector, self._source = collector, source
        self.activity, self.tally = activity or Activity(), Timings()
        self.activity.workers |= {SIMULATORS: collector.simulators, GENERATORS: len(collector.policies)}
        self.lock = threading.RLock()
        self._queue = collector.new_queue()
        self._free = list(range(collector.num_envs))
        self._slots: dict[Job, int] = {}
        self._answering = 0
        self._inboxes: list[deque[Move]] = [deque() for _ in range(collector.simulators)]
        self._for_simulator = [threading.Condition(self.lock) for _ in self._inboxes]
        self._for_generator = [threading.Condition(self.lock) for _ in collector.policies]
        self.news = threading.Condition(self.lock)  # of whoever waits for finished episodes
        self._finished: list[tuple[Job, Trajectory]] = []
        self._settler = None if collector.judge is None else Settler(collector.judge)
        self._owed: dict[int, Job] = {}  # whose record is with the judge
        self._held: list[set[Job]] = [set() for _ in self._inboxes]  # whose environments each simulator uses
        self._encoding = threading.Lock()  # tokenizers are not for several threads at once
        self._closed, self._error = False, None
        names = [(self._simulate, "simulator", number) for number in range(collector.simulators)]
        names += [(self._generate, "generator", number) for number in range(len(collector.policies))]
        self._threads = [
            threading.Thread(target=self._guarded, args=(work, number), name=f"{name} {number}", daemon=True)
            for work, name, number in names
        ]
        for thread in self._threads:
            thread.start()
        self.admit()

    def __enter__(self) -> Rollout:
        return self

    def __exit__(self, *problem: Any) -> None:
        self.close()

    # ------------------------------------------------------------------ what the caller does

    def admit(self) -> None:
        """Begin as many episodes as the source gives and slots are free."""
        with self.lock:
            while self._free and not self._closed and (job := self._source.next_job()) is not None:
                job.place = self._collector.pool.reserve(job.start.env)
                self._slots[job] = heapq.heappop(self._free)
                self._move(job, None)

    def finished(self) -> list[tuple[Job, Trajectory]]:
        """What has ended, and been judged, since the last look; raises what made the rollout fail."""
        with self.lock:
            if self._error is not None:
                raise self._error
            if self._settler is not None:
                self._finished += [(self._owed.pop(index), one) for index, one in self._settler.done()]
            found, self._finished = self._finished, []
            return found

    def wait(self, seconds: float = 1.0) -> list[tuple[Job, Trajectory]]:
        """The same, once there is something or so much time is over."""
        with self.lock:
            if found := self.finished():
                return found
            with timed(Timings(), "judge") as waited:
                self.news.wait(LOOK if self._owed else seconds)
            if self._owed and not self._slots:  # for nothing else
                self.tally.judge += waited.seconds
            return self.finished()

    @property
    def playing(self) -> int:
        """Episodes that are being played."""
        return len(self._slots)

    def close(self) -> None:
        """End every episode. A generation that runs is waited for, and so is a call in an environment of this process;
        one that does not come back closes its environment whenever it does."""
        with self.lock:
            self._closed = True
            for condition in (*self._for_simulator, *self._for_generator, self.news):
                condition.notify_all()
        self._collector.pool.interrupt()
        simulators, generators = self._threads[: len(self._inboxes)], self._threads[len(self._inboxes) :]
        for thread in generators:
            thread.join()
        until = time.monotonic() + PATIENCE
        for thread, held in zip(simulators, self._held, strict=True):
            thread.join(max(0.0, until - time.monotonic()))
            for job in list(held) if thread.is_alive() else ():
                if job.place is not None:
                    self._collector.pool.forget(job.place)  # so that nobody else closes or uses it
        if self._settler is not None:
            self._settler.close()

    # ------------------------------------------------------------------ threads

    def _guarded(self, work: Callable[[int], None], number: int) -> None:
        """What a thread raises, the caller meets; and nothing goes on without it."""
        try:
            work(number)
        except BaseException as error:
            with self.lock:
                self._error = self._error or error
                self._closed = True
                for condition in (*self._for_simulator, *self._for_generator, self.news):
                    condition.notify_all()

    def _simulate(self, number: int) -> None:
        collector, inbox, held = self._collector, self._inboxes[number], self._held[number]
        try:
            while True:
                with self.lock:
                    while not inbox and not self._closed:
                        self._for_simulator[number].wait()
                    if self._closed:
                        return
                    moves = [inbox.popleft() for _ in range(min(len(inbox), collector.simulator_batch))]
                held.update(job for job, _ in moves)
                with self.activity.busy(SIMULATORS, number, len(moves)), timed(Timings(), "environment") as took:
                    self._play(moves)
                with self.lock:
                    self.tally.environment += took.seconds
                    if self._closed:  # what ended calls is no fault of an environment
                        return
                for job, _ in moves:
                    self._after(job)
                held.difference_update([job for job in held if job.place is None])
        finally:
            for job in held:
                if (place := job.place) is not None:
                    handle = collector.pool.forget(place) or job.handle
                    if handle is not None:
                        handle.close()
                    collector.pool.give_back(place)
                    job.place = None

    def _play(self, moves: Sequence[Move]) -> None:
        """Begin episodes and play turns; those that are ended already have nothing to play."""
        collector = self._collector
        turns = [(job, answer) for job, answer in moves if answer is not None and not job.ended]
        if turns:
            collector._step_all(turns)
        for job, answer in moves:
            if answer is None and not job.ended and self._source_wants(job):
                collector._begin(job)

    def _source_wants(self, job: Job) -> bool:
        with self.lock:
            job.unwanted = job.unwanted or not self._source.wanted(job)
            return not job.unwanted

    def _after(self, job: Job) -> None:
        """Ask the next question of an episode, or end it."""
        if not job.ended and self._source_wants(job):
            with self.lock:
                slot, turn = self._slots[job], len(job.builder.trajectory.steps)
                self._queue.put(Request(job, slot, turn, self.activity.clock()))
                self.activity.queue(len(self._queue))
                self._tell_generators()
            return
        if self._collector._leave(job):
            with self.lock:
                self.tally.retries += 1
                self._move(job, None)
            return
        if job.unwanted:
            self._let_go(job)
            return
        with self._encoding:
            (trajectory,) = self._collector._records([job])
        with self.lock:
            if self._settler is not None and trajectory.pending and job.fault is None:
                self._owed[job.index] = job
                self._settler.add(job.index, trajectory)
            else:
                self._finished.append((job, trajectory))
            self._let_go(job)

    def _let_go(self, job: Job) -> None:
        """Its slot is free, for the next episode."""
        with self.lock:
            heapq.heappush(self._free, self._slots.pop(job))
            self.admit()
            self._tell_generators()  # there may be no other request to wait for
            self.news.notify_all()

    def _generate(self, number: int) -> None:
        collector, refresh = self._collector, self._collector.refresh
        while True:
            with self.lock:
                while not (batch := self._batch(number)):
                    if self._closed:
                        return
                    self._for_generator[number].wait(self._queue.seconds_left(number, self.activity.clock()))
                self._answering += len(batch)
                self.activity.queue(len(self._queue))
            if refresh is not None:
                refresh(number)
            jobs = [request.asked for request in batch]
            with self.activity.busy(GENERATORS, number, len(jobs)), timed(Timings(), "generate") as took:
                answers = collector._ask(jobs, policy=collector.policies[number])
            with self.lock:
                self.tally.generate += took.seconds
                self._answering -= len(batch)
                for job, answer in zip(jobs, answers, strict=True):
                    self._move(job, answer)

    def _batch(self, number: int) -> list[Request[Job]]:
        """What this generator should answer now."""
        if self._closed:
            return []
        more = len(self._slots) - self._answering > len(self._queue)
        return self._queue.take(number, self.activity.clock(), more=more)

    def _move(self, job: Job, answer: Generation | None) -> None:
        """Give a simulator its next move."""
        number = self._slots[job] % len(self._inboxes)
        if self._collector.hosts and job.place is not None:  # that of its environment
            number = sum(job.place) % len(self._inboxes)
        self._inboxes[number].append((job, answer))
        self._for_simulator[number].notify()

    def _tell_generators(self) -> None:
        for condition in self._for_generator:
            condition.notify()
