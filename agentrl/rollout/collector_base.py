"""What the collectors share: their arguments, and one episode on its way from a start to a record."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentrl.core.arguments import finite_number, whole_number
from agentrl.core.errors import ConfigError, EngineFault, Fault
from agentrl.core.policy import Conversation, Generation, Policy
from agentrl.rollout.env_pool import EnvHandle, EnvPool, Place
from agentrl.rollout.episode import LiveEpisode, check_text
from agentrl.rollout.prompts import HISTORY, prompt_style
from agentrl.rollout.record import TrajectoryBuilder, blank_record
from agentrl.rollout.settler import resolved
from agentrl.rollout.starts import EnvSpec, Start, checked_starts, sampling_names
from agentrl.rollout.trajectory import Trajectory

log = logging.getLogger(__name__)

Finished = Callable[[int, Trajectory, Fault | None], Any]  # index of the start, its record, what went wrong


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
    """Seconds spent and retries of one collection."""

    generate: float = 0.0
    environment: float = 0.0
    judge: float = 0.0
    retries: int = 0

    def seconds(self) -> dict[str, float]:
        """As `Collection.seconds`."""
        return {"generate": self.generate, "environment": self.environment, "judge": self.judge}


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
        isolate: bool = False,
        judge: Any = None,
    ) -> None:
        self.envs, self.policy, self.split = _checked_envs(envs), policy, split
        self.num_envs = whole_number("num_envs", num_envs, at_least=1)
        self.retries = whole_number("retries", retries, at_least=0)
        self.prompt_style, self.history = prompt_style, whole_number("history", history, at_least=0)
        self._new_prompt()  # refuses an unknown style at once
        self.timeout = _checked_timeout(timeout)
        self.isolate = bool(isolate)
        self.judge = resolved(judge)
        self.pool = EnvPool(self.envs, split, self.timeout, self.isolate)

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
        return [self._opening(job) for job in self._jobs(checked_starts(starts, self.envs))]

    def _opening(self, job: Job) -> Conversation | None:
        job.place = self.pool.reserve(job.start.env)
        try:
            self._begin(job)
            return None if job.fault is not None else job.live.conversation()
        except ConfigError as error:  # a task that this environment does not know
            log.info("%s cannot be begun: %s", job.start.task, error)
            return None
        finally:
            if job.episode is None:
                self.pool.discard(job.place)
            self.pool.give_back(job.place)

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
            check_text(self.policy, job.handle.env, job.handle.env_id)
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
        assert job.handle is not None
        try:
            job.live.turn(answer, job.handle.step(answer.action))
        except Fault as fault:
            job.fault = fault

    def _leave(self, job: Job) -> bool:
        """This attempt is over. Is there another, in the same place but a fresh environment?"""
        assert job.place is not None
        if job.fault is not None:
            self.pool.discard(job.place)
        again = job.fault is not None and job.attempts <= self.retries and not isinstance(job.fault, EngineFault)
        job.handle = None
        if again:
            log.warning("an episode is begun again after a fault: %s", job.fault)
            job.episode = job.fault = None
        else:
            self.pool.give_back(job.place)
            job.place = None
        return again

    def _record(self, job: Job) -> Trajectory:
        """The finished record of a job."""
        encode = getattr(self.policy, "encode", None)
        if job.fault is not None:
            job.builder.fault(job.fault)
        elif encode is not None:
            job.builder.trajectory.final_prompt_ids = list(encode(job.live.conversation()).ids)
        return job.builder.finish(job.start.id)

    # ------------------------------------------------------------------ the policy

    def _ask(self, jobs: Sequence[Job], tries: int = 2) -> list[Generation | None]:
        """An answer for each job; None, and a fault on the job, where its environment broke meanwhile."""
        try:
            return list(self._act(jobs))
        except EngineFault as fault:
            if tries < 2:
                raise
            log.warning("retrying generation after error: %s", fault)
            return list(self._act(jobs))
        except Fault:
            # Policies that look at environments meet their faults; one at a time shows whose it is.
            return [self._ask_one(job) for job in jobs]

    def _ask_one(self, job: Job) -> Generation | None:
        try:
            return self._act([job])[0]
        except EngineFault:
            raise
        except Fault as fault:
            job.fault = fault
            return None

    def _act(self, jobs: Sequence[Job]) -> list[Generation]:
        named = {"keys": [job.key for job in jobs]} if getattr(self.policy, "keyed", False) else {}
        conversations, envs = [job.live.conversation() for job in jobs], [job.live.env for job in jobs]
        answers = self.policy.act(conversations, envs, **named)
        if len(answers) != len(jobs):
            raise EngineFault(f"the policy answered {len(jobs)} conversations with {len(answers)} answers")
        return answers


def _checked_envs(envs: Sequence[EnvSpec]) -> tuple[EnvSpec, ...]:
    found = tuple(envs) if isinstance(envs, Sequence) and not isinstance(envs, str) else ()
    if not found or not all(isinstance(env, EnvSpec) for env in found):
        raise ConfigError("envs is a list of EnvSpec(id, ...) with at least one in it")
    return found


def _checked_timeout(timeout: float | None) -> float | None:
    if timeout is None or timeout == math.inf:
        return None
    if finite_number("timeout", timeout) <= 0:
        raise ConfigError(f"timeout must be a number of seconds above 0, or None; got {timeout!r}")
    return float(timeout)


class timed:
    """Adds the seconds of a block to a field of a tally."""

    def __init__(self, tally: Timings, name: str) -> None:
        self._tally, self._name = tally, name

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, *exception: object) -> None:
        spent = time.perf_counter() - self._started
        setattr(self._tally, self._name, getattr(self._tally, self._name) + spent)
