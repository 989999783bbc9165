"""Many episodes in lockstep: every round asks the policy once, about all that are still being played."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from agentrl.core.errors import EngineFault, Fault
from agentrl.core.policy import Generation
from agentrl.rollout.collector_base import Collection, CollectorBase, Finished, Job, Timings, timed
from agentrl.rollout.settler import Settler
from agentrl.rollout.starts import EnvSpec, Start, checked_starts, grouped
from agentrl.rollout.trajectory import Trajectory

__all__ = ["Collection", "Collector", "EnvSpec", "Start", "grouped"]

OnTrajectory = Callable[[Trajectory], Any]
MAX_AT_ONCE = 32  # environments of other processes that are waited for side by side


class Collector(CollectorBase):
    """Runs up to `num_envs` episodes side by side.

    Each round is one `policy.act` over the running episodes, in the order of their slots; a slot whose episode ended
    takes the next start before the next round. Nothing depends on the clock: the same starts, specs and a policy in the
    same state give the same trajectories, whatever `num_envs` (with another one, only a policy that seeds sampling by
    the row of a call gives others; one that is `keyed`, as `HFPolicy`, seeds it by start and turn).
    Environments of this process step one after the other in the order of the slots, so that even counters they share
    see the same order; isolated ones step at the same time.

    A `Fault` of an environment, any exception it raises and a call beyond `timeout` seconds cost its own episode only:
    it is begun again from the same start in a fresh environment, up to `retries` times, then recorded with its fault.
    With `isolate` every environment has a process of its own, which is killed when it is late; otherwise a late one is
    abandoned in its thread. An `EngineFault` of the policy comes through after a second try.

    With `judge`, trajectories that owe terms are settled in the background while others are still running. What the
    judge cannot answer stays pending.
    """

    def collect(self, starts: Sequence[Start], on_trajectory: OnTrajectory | None = None) -> Collection:
        """Play every start once. `on_trajectory` gets each record when it is complete: judged, if there is a judge."""
        starts = checked_starts(starts, self.envs)
        tally, found = Timings(), dict[int, Trajectory]()
        settler = None if self.judge is None else Settler(self.judge)

        def deliver(done: Iterable[tuple[int, Trajectory]]) -> None:
            for index, trajectory in done:
                found[index] = trajectory
                if on_trajectory is not None:
                    on_trajectory(trajectory)

        def finished(index: int, trajectory: Trajectory, fault: Fault | None) -> None:
            if settler is not None and trajectory.pending and fault is None:
                settler.add(index, trajectory)
            else:
                deliver([(index, trajectory)])
            deliver(settler.done() if settler else [])

        try:
            self.play(starts, finished, tally)
            if settler is not None:
                rest, tally.judge = settler.wait()
                deliver(rest)
        finally:
            if settler is not None:
                settler.close()
        return collection(found, tally)

    def play(
        self, starts: Sequence[Start], finished: Finished, tally: Timings, record_engine_faults: bool = False
    ) -> None:
        """Play every start and hand each record over as it ends, unjudged; nothing is kept here.

        With `record_engine_faults` a policy that fails twice costs the episodes it was asked about, not the run.
        """
        queue = deque(self._jobs(checked_starts(starts, self.envs)))
        slots: list[Job | None] = [None] * min(self.num_envs, len(queue))
        try:
            while rows := self._fill(slots, queue, finished, tally):
                self._round(rows, tally, record_engine_faults)
                self._clear(slots, finished, tally)
        finally:
            for job in slots:
                self._abandon(job)

    def _fill(self, slots: list[Job | None], queue: deque[Job], finished: Finished, tally: Timings) -> list[Job]:
        """Begin an episode in every free slot; all that are in play then."""
        while True:
            for number, job in enumerate(slots):
                if job is None and queue:
                    slots[number] = queue.popleft()
            waiting = [job for job in slots if job is not None and job.episode is None]
            if not waiting:
                return [job for job in slots if job is not None]
            for job in waiting:
                job.place = job.place or self.pool.reserve(job.start.env)
            with timed(tally, "environment"):
                self._each(self._begin, waiting)
            self._clear(slots, finished, tally)

    def _round(self, rows: Sequence[Job], tally: Timings, record_engine_faults: bool) -> None:
        answers: Sequence[Generation | None]
        with timed(tally, "generate"):
            try:
                # A person who left is not asked again.
                answers = self._ask(rows, tries=1 if record_engine_faults and len(rows) == 1 else 2)
            except EngineFault as fault:
                if not record_engine_faults:
                    raise
                answers = [None] * len(rows)
                for job in rows:
                    job.fault = fault
        with timed(tally, "environment"):
            pairs = [(job, answer) for job, answer in zip(rows, answers, strict=True) if answer is not None]
            self._each(lambda pair: self._step(*pair), pairs)

    def _clear(self, slots: list[Job | None], finished: Finished, tally: Timings) -> None:
        """Hand over what has ended; what failed and has another try stays in its slot."""
        for number, job in enumerate(slots):
            if job is None or not job.ended:
                continue
            if self._leave(job):
                tally.retries += 1
                continue
            slots[number] = None
            with timed(tally, "generate"):
                trajectory = self._record(job)
            finished(job.index, trajectory, job.fault)

    def _each(self, function: Callable[[Any], Any], items: Sequence[Any]) -> None:
        if not self.isolate or len(items) < 2:
            for item in items:
                function(item)
            return
        with ThreadPoolExecutor(min(len(items), MAX_AT_ONCE)) as threads:
            list(threads.map(function, items))

    def _abandon(self, job: Job | None) -> None:
        """Something else went wrong: what was being played is in no known state."""
        if job is not None and job.place is not None:
            self.pool.discard(job.place)
            self.pool.give_back(job.place)


def collection(found: dict[int, Trajectory], tally: Timings) -> Collection:
    """The records in the order of their starts."""
    trajectories = [found[index] for index in sorted(found)]
    faults = sum(trajectory.fault is not None for trajectory in trajectories)
    return Collection(trajectories, tally.seconds(), faults, tally.retries)
