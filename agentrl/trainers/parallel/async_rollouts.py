"""Rollouts that go on while the trainer learns: what is begun, what is taken for an update, what is too old.

Episodes come in groups (of one, where an algorithm compares none), which are admitted, handed over and dropped as a
whole. Group number n is the same task under the same name in every run with this seed, whenever it is played.

Of several processes each plays a share of the groups at its own pace, and bounds the staleness of that share: updates
are everybody's, so all count the same. What one of them takes for an update, all get.
"""

from __future__ import annotations

import contextlib
import logging
import math
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agentrl.rollout.activity import TRAINER, Activity, Span, histogram
from agentrl.rollout.admission import AdmissionGate
from agentrl.rollout.async_collect import AsyncCollector, Rollout
from agentrl.rollout.collect import Collection, Job
from agentrl.rollout.starts import Start
from agentrl.rollout.trajectory import Trajectory
from agentrl.trainers.parallel.group_order import GroupOrder
from agentrl.trainers.parallel.ranks import ProcessGroup
from agentrl.trainers.parallel.rollout import shared

log = logging.getLogger(__name__)

StartsOf = Callable[[int], Sequence[Start]]  # those of an iteration, groups side by side


@dataclass(eq=False)
class Group:
    """Episodes that stay together."""

    number: int
    jobs: list[Job]
    found: dict[int, Trajectory] = field(default_factory=dict)  # by index of the job

    @property
    def size(self) -> int:
        """How many."""
        return len(self.jobs)

    @property
    def complete(self) -> bool:
        """Have all of them ended?"""
        return len(self.found) == self.size

    @property
    def oldest(self) -> int | None:
        """The version of the weights that wrote the oldest step so far; None where there is none."""
        firsts = (job.builder.trajectory.steps[:1] for job in self.jobs)
        return min((step.version for steps in firsts for step in steps), default=None)


class AsyncRollouts:
    """A `Rollout` for a trainer: `take` gives an update its episodes, `updated` says that it is done.

    `batch` are the episodes of an update of all processes. All of them call `take`, `updated` and `state_dict` at the
    same places.
    """

    def __init__(
        self,
        collector: AsyncCollector,
        starts_of: StartsOf,
        *,
        batch: int,
        group_size: int = 1,
        max_staleness: int = 2,
        refresh_every: int = 1,
        total_updates: float = math.inf,
        publish: Callable[[int], Any] = lambda version: None,
        activity: Activity | None = None,
        report: Callable[[str], Any] = log.info,
        processes: ProcessGroup | None = None,
    ) -> None:
        self.collector, self._starts_of, self._publish, self._report = collector, starts_of, publish, report
        self._processes = processes or ProcessGroup()
        self._order = GroupOrder(batch // group_size, self._processes.rank, self._processes.size)
        self.gate = AdmissionGate(group_size * self._order.share(batch // group_size), max_staleness, total_updates)
        self._group_size, self._refresh_every = group_size, refresh_every
        self.activity = activity or Activity()
        self._known: dict[int, list[Start]] = {}  # of the newest iterations
        self._begun: dict[int, Group] = {}  # admitted, and neither trained on nor dropped
        self._members: deque[Job] = deque()  # of the group that is being admitted
        self._group_of: dict[int, Group] = {}  # by index of a job
        self._jobs = 0
        self._rollout: Rollout | None = None
        self._learning: Span | None = None
        self._counts, self._ages = Counter[str](), Counter[int]()
        self._waited, self._retries = 0.0, 0

    # ------------------------------------------------------------------ begin, resume, end

    def resume(self, updates: int, state: dict[str, Any]) -> None:
        """Before the first `take`: what was under way begins again, under its old names."""
        self._order.load_state_dict(state)
        self.gate.begin_at(updates)
        again = len(self._order.again)
        self._counts["begun_again"] = self._order.share(again)
        if again:
            self._report(f"{again} groups of episodes that were under way begin again")

    def state_dict(self) -> dict[str, Any]:
        """Between two updates: which groups were begun and not trained on."""
        with contextlib.nullcontext() if self._rollout is None else self._rollout.lock:
            begun = self._order.begun(sorted(self._begun))
        return self._order.state_dict(self._processes.gather(begun))

    def close(self) -> None:
        """End all episodes."""
        if self._rollout is not None:
            self._rollout.close()

    # ------------------------------------------------------------------ what the trainer does

    def take(self, episodes: int, progress: Any = None) -> Collection:
        """The oldest finished groups, as soon as they have so many episodes; in the order in which they were begun. Of
        several processes each takes its share.

        A group that is too old by then is dropped, and others are begun. `progress.done` counts what is there.
        """
        began = self.activity.clock()
        own = self._group_size * self._order.share(episodes // self._group_size)
        found = shared(self._processes, lambda: self._taken(own, progress))
        waited = self.activity.clock() - began
        self._waited += waited
        self._learning = self._learning or self.activity.begin(TRAINER, 0, own)
        return replace(found, seconds={"wait": waited})

    def _taken(self, episodes: int, progress: Any) -> tuple[list[int], Collection]:
        """Those of this process, and the place of each among all of the run."""
        if not episodes:  # further rounds may be too small for all processes
            return [], Collection([], {}, 0, 0)
        if self._rollout is None:
            self._rollout = Rollout(self.collector, self, self.activity)
        rollout = self._rollout
        with rollout.lock:
            self.gate.asked = episodes
            rollout.admit()
            while not (chosen := self._choose(episodes)):
                self._enter(rollout.wait())
                if progress is not None:
                    progress.done = sum(group.size for group in self._begun.values() if group.complete)
            self.gate.asked = 0
            for group in chosen:
                self._leave(group)
                self.gate.train(group.size)
                self._ages.update(self.gate.updates - version for version in self._versions(group))
            rollout.admit()
            retries, self._retries = rollout.tally.retries - self._retries, rollout.tally.retries
        places = [group.number * group.size + index for group in chosen for index in range(group.size)]
        found = [group.found[job.index] for group in chosen for job in group.jobs]
        return places, Collection(found, {}, sum(one.fault is not None for one in found), retries)

    def updated(self) -> None:
        """The update is done: generators get its weights where that is due, and further episodes may begin."""
        done = self.gate.updates + 1
        version = done if done % self._refresh_every == 0 else self.gate.version
        if version != self.gate.version:
            self._publish(version)
        if self._learning is not None:
            self.activity.end(self._learning)
            self._learning = None
        self.activity.mark(done)
        if self._rollout is None:
            self.gate.updated(version)
            return
        with self._rollout.lock:
            self.gate.updated(version)
            self._rollout.admit()

    def metrics(self) -> dict[str, Any]:
        """Since the last call."""
        found = self.activity.window()
        found |= {"staleness": histogram(self._ages), "wait_seconds": self._waited}
        found |= {name: self._counts[name] for name in ("dropped_groups", "dropped_episodes", "begun_again")}
        complete = sum(group.size for group in self._begun.values() if group.complete)
        found |= {"under_way": sum(group.size for group in self._begun.values()) - complete, "ready": complete}
        self._ages, self._counts, self._waited = Counter(), Counter(), 0.0
        return found

    # ------------------------------------------------------------------ groups; all of it under the rollout's lock

    def next_job(self) -> Job | None:
        """The next episode to begin, if there may be one."""
        if not self._members and self.gate.admit(self._group_size):
            number = self._order.next_number()
            jobs = self.collector.jobs(self._starts(number))
            for job in jobs:
                job.index, self._jobs = self._jobs, self._jobs + 1
            group = self._begun[number] = Group(number, jobs)
            self._group_of |= {job.index: group for job in jobs}
            self._members.extend(jobs)
        return self._members.popleft() if self._members else None

    def wanted(self, job: Job) -> bool:
        """Is its group still to be trained on?"""
        group = self._group_of.get(job.index)
        if group is not None and self._too_old(group):
            self._drop(group)
            group = None
        return group is not None

    def _starts(self, number: int) -> Sequence[Start]:
        iteration, place = divmod(number, self._order.per_update)
        if iteration not in self._known:
            self._known = {i: s for i, s in self._known.items() if i > iteration - 8}
            self._known[iteration] = list(self._starts_of(iteration))
        return self._known[iteration][place * self._group_size :][: self._group_size]

    def _enter(self, finished: Sequence[tuple[Job, Trajectory]]) -> None:
        for job, trajectory in finished:
            group = self._group_of.pop(job.index, None)  # None: of a group that was dropped
            if group is not None:
                group.found[job.index] = trajectory

    def _choose(self, episodes: int) -> list[Group]:
        for group in [group for group in self._begun.values() if self._too_old(group)]:
            self._drop(group)
        chosen, count = [], 0
        for number in sorted(self._begun):
            if self._begun[number].complete:
                chosen.append(self._begun[number])
                count += chosen[-1].size
                if count >= episodes:
                    return chosen
        assert self._rollout is not None
        self._rollout.admit()  # in place of what was dropped
        return []

    def _too_old(self, group: Group) -> bool:
        return (oldest := group.oldest) is not None and self.gate.too_old(oldest)

    def _drop(self, group: Group) -> None:
        self._leave(group)
        self.gate.drop(group.size)
        self._counts.update(dropped_groups=1, dropped_episodes=group.size)

    def _leave(self, group: Group) -> None:
        del self._begun[group.number]
        for job in group.jobs:
            self._group_of.pop(job.index, None)

    @staticmethod
    def _versions(group: Group) -> list[int]:
        """Of the oldest step of each of its episodes."""
        versions = ([step.version for step in one.steps] for one in group.found.values())
        return [min(one) for one in versions if one]
