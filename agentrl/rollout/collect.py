"""Many episodes in lockstep: every round asks the policy once, about all that are still being played.

`CollectorBase` holds what `AsyncCollector` shares: the arguments, and one episode on its way from a start to a record.
"""

from __future__ import annotations

import logging
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from agentrl.core.arguments import finite_number, whole_number
from agentrl.core.errors import ConfigError, EngineFault, Fault, SnapshotError, SnapshotUnsupported
from agentrl.core.policy import Conversation, Generation, Policy
from agentrl.core.specs import resolve
from agentrl.rollout.env_pool import EnvHandle, EnvPool, MakeHost, Place
from agentrl.rollout.episode import LiveEpisode, TrajectoryBuilder, blank_record, check_policy
from agentrl.rollout.judging import Settler
from agentrl.rollout.prompts import HISTORY, prompt_style
from agentrl.rollout.saved_episode import SavedEpisode
from agentrl.rollout.starts import EnvSpec, Start, checked_starts, grouped, sampling_names
from agentrl.rollout.trajectory import Trajectory

log = logging.getLogger(__name__)

__all__ = ["Collection", "Collector", "EnvSpec", "Start", "grouped"]

MAX_AT_ONCE = 32  # environments of other processes that are begun side by side
Finished = Callable[[int, Trajectory, Fault | None], Any]  # index of the start, its record, what went wrong
OnTrajectory = Callable[[Trajectory], Any]


@dataclass
class Collection:
    """What a collector brought back.

    `trajectories` has one for each start, in the order of the starts; one that a fault cut short is among them, with
    `fault` set and no reward. `seconds` are "generate", "environment" and "judge": the last is only what the collector
    really waited for a judge. `retries` counts the episodes begun again after a fault.
    """

    trajectories: list[Trajectory] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    faults: int = 0
    retries: int = 0


@dataclass
class Timings:
    """Seconds spent, turns played and retries of one collection."""

    generate: float = 0.0
    environment: float = 0.0
    judge: float = 0.0
    retries: int = 0
    turns: int = 0

    def seconds(self) -> dict[str, float]:
        """As `Collection.seconds`."""
        return {"generate": self.generate, "environment": self.environment, "judge": self.judge}


class timed:
    """Adds the seconds of a block to a field of a tally."""

    def __init__(self, tally: Timings, name: str) -> None:
        self._tally, self._name, self.seconds = tally, name, 0.0

    def __enter__(self) -> timed:
        self._started = time.perf_counter()
        return self

    def __exit__(self, *exception: object) -> None:
        self.seconds = time.perf_counter() - self._started
        setattr(self._tally, self._name, getattr(self._tally, self._name) + self.seconds)


@dataclass(eq=False)
class Job:
    """One start on its way to a trajectory, perhaps by several attempts."""

    index: int
    start: Start
    builder: TrajectoryBuilder
    name: str  # seeds its sampling, together with the attempt and the turn
    place: Place | None = None
    handle: EnvHandle | None = None
    episode: LiveEpisode | None = None
    fault: Fault | None = None
    attempts: int = 0
    unwanted: bool = False  # nobody waits for its record any more
    saved: SavedEpisode | None = None  # from which it goes on where its host is lost

    @property
    def ended(self) -> bool:
        """Did this attempt end, one way or the other?"""
        return self.fault is not None or (self.episode is not None and self.episode.over)

    @property
    def key(self) -> str:
        """Seeds the sampling of the next answer; another attempt samples anew."""
        return f"{self.name}/{self.attempts}/{len(self.builder.trajectory.steps)}"

    @property
    def live(self) -> LiveEpisode:
        """The episode, once it has begun."""
        assert self.episode is not None
        return self.episode


class CollectorBase:
    """Arguments, environments and the moves of an episode; the collectors decide when each is made."""

    def __init__(
        self,
        envs: Sequence[EnvSpec],
        policy: Policy,
        *,
        split: str = "train",
        num_envs: int = 64,
        prompt_style: str = "conversation",
        history: int = HISTORY,
        timeout: float | None = None,
        retries: int = 1,
        hosts: int = 0,
        make_host: MakeHost | None = None,
        snapshot_every: float = math.inf,
        judge: Any = None,
    ) -> None:
        self.envs = tuple(envs) if isinstance(envs, Sequence) and not isinstance(envs, str) else ()
        if not self.envs or not all(isinstance(env, EnvSpec) for env in self.envs):
            raise ConfigError("envs must be a list of EnvSpec(id, ...) with at least one entry")
        self.policy, self.split = policy, split
        self.num_envs = whole_number("num_envs", num_envs, at_least=1)
        self.retries = whole_number("retries", retries, at_least=0)
        self.prompt_style, self.history = prompt_style, whole_number("history", history, at_least=0)
        self._new_prompt()  # refuses an unknown style at once
        if timeout == math.inf:
            timeout = None
        if timeout is not None and finite_number("timeout", timeout) <= 0:
            raise ConfigError(f"timeout must be a number of seconds above 0, or None; got {timeout!r}")
        self.timeout = None if timeout is None else float(timeout)
        self.hosts = whole_number("hosts", hosts, at_least=0)
        self.snapshot_every = snapshot_every  # turns; only environments in hosts are lost without being at fault
        # Here, so that a wrong spec is refused at once, not when the first episode ends.
        self.judge = None if judge is None else resolve("judge", judge)
        self.pool = EnvPool(self.envs, split, self.timeout, self.hosts, make_host)

    def state_dict(self) -> dict[str, Any]:
        """Whatever survives from one episode to the next, as JSON types.

        That is the memory of the wrappers (the counts of a `RepetitionPenalty`, for example): the environments
        themselves start anew with every seeded reset. The policy's own state is not in it. Between collections only;
        a wrapper whose state cannot be saved raises `SnapshotUnsupported`.
        """
        return self.pool.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Resume exactly where `state_dict` was taken; `ConfigError` if it belongs to another collector."""
        self.pool.load_state_dict(state)

    def close(self) -> None:
        """Close every environment; may be called twice, and the collector may be used again."""
        self.pool.close()

    def openings(self, starts: Sequence[Start]) -> list[Conversation | None]:
        """What the policy is shown first in each episode, without playing it; None where it cannot be begun."""
        conversations: list[Conversation | None] = []
        for job in self._jobs(checked_starts(starts, self.envs)):
            job.place = self.pool.reserve(job.start.env)
            try:
                self._begin(job)
                conversations.append(None if job.fault is not None else job.live.conversation())
            except ConfigError as error:  # a task that this environment does not know
                log.info("task %s cannot be reset: %s", job.start.task, error)
                conversations.append(None)
            finally:
                if job.episode is None:
                    self.pool.discard(job.place)
                self.pool.give_back(job.place)
        return conversations

    # ------------------------------------------------------------------ the moves of an episode

    def _new_prompt(self) -> Any:
        return prompt_style(self.prompt_style, self.history)

    def _jobs(self, starts: Sequence[Start]) -> list[Job]:
        pairs = zip(starts, sampling_names(starts), strict=True)
        return [Job(index, start, self._blank(start), name) for index, (start, name) in enumerate(pairs)]

    def _blank(self, start: Start) -> TrajectoryBuilder:
        facts = {"env_id": self.envs[start.env].id, "split": self.split, "seed": start.seed, "task": start.task}
        facts["prompt_style"] = self.prompt_style
        return TrajectoryBuilder(blank_record(self.policy, **facts, group_id=start.group_id))

    def _begin(self, job: Job) -> None:
        """Open an environment in the reserved place, reset it, play the opening; a fault is noted on the job."""
        assert job.place is not None
        job.attempts += 1
        job.builder, job.fault = self._blank(job.start), None
        try:
            job.handle = self.pool.open(job.place)
            job.builder.trajectory.env_id, job.builder.spec = job.handle.env_id, job.handle.spec
            check_policy(self.policy, job.handle.env, job.handle.env_id)
            if job.saved is not None:
                job.builder, job.episode = job.saved.restored(job.handle)
                return
            observation, info = job.handle.reset(job.start)
            job.episode = LiveEpisode(job.handle.env, self._new_prompt(), job.builder)
            job.episode.begin(observation, info)
        except Fault as fault:
            job.fault = fault
        for answer in job.start.opening:
            if not job.ended:
                self._step(job, answer)

    def _step(self, job: Job, answer: Generation) -> None:
        """Play a turn; a fault is noted on the job."""
        self._step_all([(job, answer)])

    def _step_all(self, turns: Sequence[tuple[Job, Generation]]) -> None:
        """Play a turn in each episode."""
        asked = [(job.handle, answer.action) for job, answer in turns if job.handle is not None]
        for (job, answer), result in zip(turns, self.pool.step(asked), strict=True):
            if isinstance(result, Fault):
                job.fault = result
            else:
                job.live.turn(answer, result)
                self._save(job)

    def _save(self, job: Job) -> None:
        """Keep a snapshot where one is due; environments that have none begin again."""
        turn = len(job.builder.trajectory.steps)
        if not self.hosts or turn % self.snapshot_every or job.ended:
            return
        assert job.handle is not None
        try:
            job.saved = SavedEpisode(job.handle, job.live, job.builder)
        except (SnapshotUnsupported, SnapshotError) as error:
            log.debug("no snapshot of %s: %s", job.start.id, error)
        except Fault as fault:
            job.fault = fault

    def _leave(self, job: Job) -> bool:
        """This attempt is over. Is there another, in the same place but a fresh environment?"""
        assert job.place is not None
        if job.fault is not None:
            self.pool.discard(job.place)
        again = job.fault is not None and job.attempts <= self.retries and not isinstance(job.fault, EngineFault)
        if job.handle is None or not job.handle.lost:
            job.saved = None  # what failed by itself begins again
        job.handle = None
        if again:
            log.warning("restarting episode after fault: %s", job.fault)
            job.episode = job.fault = None
        else:
            self.pool.give_back(job.place)
            job.place = None
        return again

    def _records(self, jobs: Sequence[Job]) -> list[Trajectory]:
        """The finished records of some jobs."""
        for job in jobs:
            if job.fault is not None:
                job.builder.fault(job.fault)
        whole = [job for job in jobs if job.fault is None]
        prompts = self._encode_all([job.live.conversation() for job in whole])
        for job, prompt in zip(whole, prompts, strict=False):
            job.builder.trajectory.final_prompt_ids = list(prompt.ids)
        return [job.builder.finish(job.start.id) for job in jobs]

    def _encode_all(self, conversations: Sequence[Conversation]) -> list[Any]:
        """Prompts of a policy that has some, together where it can, which is quicker; none of one that has not."""
        if (encode_all := getattr(self.policy, "encode_all", None)) is not None:
            return encode_all(conversations)
        encode = getattr(self.policy, "encode", None)
        return [] if encode is None else [encode(conversation) for conversation in conversations]

    # ------------------------------------------------------------------ the policy

    def _ask(self, jobs: Sequence[Job], tries: int = 2, policy: Policy | None = None) -> list[Generation | None]:
        """An answer for each job; None, and a fault on the job, where its environment broke meanwhile."""
        policy = policy or self.policy
        try:
            return list(self._act(policy, jobs))
        except EngineFault as fault:
            if tries < 2:
                raise
            log.warning("retrying generation after error: %s", fault)
            return list(self._act(policy, jobs))
        except Fault:
            # Policies that look at environments meet their faults; one at a time shows whose it is.
            answers: list[Generation | None] = []
            for job in jobs:
                try:
                    answers += self._act(policy, [job])
                except EngineFault:
                    raise
                except Fault as fault:
                    job.fault = fault
                    answers.append(None)
            return answers

    def _act(self, policy: Policy, jobs: Sequence[Job]) -> list[Generation]:
        named = {"keys": [job.key for job in jobs]} if getattr(policy, "keyed", False) else {}
        conversations, envs = [job.live.conversation() for job in jobs], [job.live.env for job in jobs]
        answers = policy.act(conversations, envs, **named)
        if len(answers) != len(jobs):
            raise EngineFault(f"the policy answered {len(jobs)} conversations with {len(answers)} answers")
        return answers


class Collector(CollectorBase):
    """Runs up to `num_envs` episodes side by side.

    Each round is one `policy.act` over the running episodes, in the order of their slots; a slot whose episode ended
    takes the next start before the next round. Nothing depends on the clock: the same starts, specs and a policy in the
    same state give the same trajectories, whatever `num_envs` (with another one, only a policy that seeds sampling by
    the row of a call gives others; one that is `keyed`, as `HFPolicy`, seeds it by start and turn).
    Environments of this process step one after the other in the order of the slots, so that even counters they share
    see the same order; those of other processes step at the same time.

    A `Fault` of an environment, any exception it raises and a call beyond `timeout` seconds cost its own episode only:
    it is begun again from the same start in a fresh environment, up to `retries` times, then recorded with its fault.
    With `hosts` the environments share that many processes, and one that dies, or is late and killed, costs the
    episodes of its process: with as many hosts as `num_envs` its own alone. Otherwise a late one is abandoned in its
    thread. An `EngineFault` of the policy comes through after a second try.

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
            while True:
                for number, job in enumerate(slots):
                    if job is None and queue:
                        slots[number] = queue.popleft()
                rows = [job for job in slots if job is not None]
                if not rows:
                    return
                # First every episode is begun (some end at once or fail), then all of them play a turn.
                waiting = [job for job in rows if job.episode is None]
                if waiting:
                    for job in waiting:
                        job.place = job.place or self.pool.reserve(job.start.env)
                    with timed(tally, "environment"):
                        self._each(self._begin, waiting)
                else:
                    self._round(rows, tally, record_engine_faults)
                self._clear(slots, finished, tally)
        finally:
            for job in slots:  # still there if something went wrong, and then in no known state
                if job is not None and job.place is not None:
                    self.pool.discard(job.place)
                    self.pool.give_back(job.place)

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
            self._step_all(pairs)
        tally.turns += len(pairs)

    def _clear(self, slots: list[Job | None], finished: Finished, tally: Timings) -> None:
        """Hand over what has ended; what failed and has another try stays in its slot."""
        over: list[Job] = []
        for number, job in enumerate(slots):
            if job is None or not job.ended:
                continue
            if self._leave(job):
                tally.retries += 1
                continue
            slots[number] = None
            over.append(job)
        with timed(tally, "generate"):
            records = self._records(over)
        for job, trajectory in zip(over, records, strict=True):
            finished(job.index, trajectory, job.fault)

    def _each(self, function: Callable[[Any], Any], items: Sequence[Any]) -> None:
        if not self.hosts or len(items) < 2:
            for item in items:
                function(item)
            return
        with ThreadPoolExecutor(min(len(items), MAX_AT_ONCE)) as threads:
            list(threads.map(function, items))


def collection(found: dict[int, Trajectory], tally: Timings) -> Collection:
    """The records in the order of their starts."""
    trajectories = [found[index] for index in sorted(found)]
    faults = sum(trajectory.fault is not None for trajectory in trajectories)
    return Collection(trajectories, tally.seconds(), faults, tally.retries)
