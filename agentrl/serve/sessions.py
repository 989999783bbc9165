"""Named episodes of many clients: who may open how many, which thread or process plays them, and when they end.

    sessions = Sessions(["agentrl/FrozenLake-Text-v0"])
    client = sessions.join("127.0.0.1")
    name = client.open("agentrl/FrozenLake-Text-v0")["episode"]
    observation, info, rules = client.call(name, "reset", 7, None)
    observation, reward, terminated, truncated, info = client.call(name, "step", "Down")
    client.leave()

There is no transport in here. `Client.call` waits for its answer; servers with an event loop use `Client.submit`.

Every episode belongs to one lane: a thread that makes the calls of its episodes one after the other, so that an episode
never plays two calls at once. Quick environments share a few lanes in this process; the others live in hosts
(`agentrl.rollout.hosts`), one lane each, where a call that takes too long is stopped by force. A call that takes too
long in a thread costs its episode; a fresh thread goes on with the others.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from queue import SimpleQueue
from typing import Any

from agentrl.core.arguments import positive_number, whole_number
from agentrl.core.errors import AgentRLError, ConfigError, EnvFault, SessionFault, did_you_mean
from agentrl.core.family import load
from agentrl.core.interpreter import find_interpreter
from agentrl.core.untrusted import check_environment
from agentrl.registry import check_id, family_of, find, is_available, known
from agentrl.rollout.hosts import ASKED, START_SECONDS, EnvSlot, Host, failure_of, value_of
from agentrl.rollout.isolated import IsolatedEnv, copied
from agentrl.rollout.starts import Stack

OPEN_TO_ALL = ("reset", "step", "render", "legal")
TRUTH = ("state", "snapshot", "restore", "ask")  # what tells the answer, or lets a client look ahead
TRUE_INFO = ("state", "anchor", "outcome_page")  # the same in `info`
WATCH_SECONDS = 0.5  # between two looks for late calls and idle episodes
Answer = Sequence[Any]  # ["ok", value], or whose mistake it was: see `agentrl.rollout.hosts.value_of`
Call = tuple[str, str, Sequence[Any]]  # episode, method, arguments


@dataclass(frozen=True)
class Limits:
    """How much clients may take. Seconds are those of one call, and those that an episode may lie unused."""

    sessions: int = 1024
    per_address: int = 512
    call_seconds: float = 60.0
    idle_seconds: float = 600.0

    def __post_init__(self) -> None:
        for name in ("sessions", "per_address"):
            whole_number(name, getattr(self, name), at_least=1)
        for name in ("call_seconds", "idle_seconds"):
            positive_number(name, getattr(self, name))


@dataclass(eq=False, slots=True)
class Episode:
    """One environment that a client plays."""

    name: str
    stack: Stack
    client: Client
    lane: Lane
    trusted: Mapping[str, Any]  # arguments that the operator gave
    env: Any = None  # an `EnvSlot` or an `IsolatedEnv`; made by its lane
    used: float = field(default_factory=time.monotonic)


class Inline:
    """Takes the place of shared memory where observations are in this process already."""

    @staticmethod
    def put(observation: Any) -> Any:
        """As it is."""
        return observation


# ---------------------------------------------------------------------- who plays


@dataclass(eq=False, slots=True)
class Job:
    """Calls of one lane's episodes, and who gets the answers; `done` are those so far."""

    calls: list[tuple[Episode, str, Sequence[Any]]]
    deliver: Callable[[list[Answer]], None]
    done: list[Answer] = field(default_factory=list)


class Lane:
    """A thread that plays the calls of its episodes, each within `seconds`."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.load = seconds, 0  # `load`: its episodes
        self.jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._job: Job | None = None
        self._until = 0.0
        self._begin()

    def _begin(self) -> None:
        self._thread = threading.Thread(target=self._serve, name="agentrl-lane", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while (job := self.jobs.get()) is not None:
            late = self._play(job)
            if late is not None:  # nobody waits for this thread any more
                with suppress(BaseException):
                    late.env.env.close()
                return
            job.deliver(job.done)

    def _play(self, job: Job) -> Episode | None:
        """Make the calls; gives the episode whose call was late, if any was."""
        mine, first = threading.current_thread(), job.calls[0][1]
        with self._lock:
            self._job, self._until = job, time.monotonic() + (START_SECONDS if first == "open" else self.seconds)
        for episode, method, args in job.calls:
            answer = self.answer(episode, method, args)
            with self._lock:
                if self._thread is not mine:
                    return episode
                job.done.append(answer)
                self._until = time.monotonic() + self.seconds
                if len(job.done) == len(job.calls):
                    self._job = None
        return None

    def answer(self, episode: Episode, method: str, args: Sequence[Any]) -> Answer:
        """Make one call; whatever happens is an answer, since an exception would end the thread."""
        if method == "open":
            return _answer_of(method, self.open, episode)
        if episode.env is None:  # it could not be made
            return _unknown(episode.name)
        if method == "close":
            return _answer_of(method, episode.env.env.close)
        return _answer_of(method, getattr(episode.env, method), *args)

    def open(self, episode: Episode) -> dict[str, Any]:
        """Make the environment: what a client must know to look like it."""
        kwargs = {name: value for name, value in episode.stack.kwargs.items() if episode.trusted.get(name) != value}
        if kwargs:  # the operator's own need no check
            check_environment(episode.stack.id.rpartition(":")[2], kwargs)
        return self._make(episode)

    def _make(self, episode: Episode) -> dict[str, Any]:
        episode.env = EnvSlot(episode.stack)
        episode.env.region = Inline()
        return episode.env.facts()

    def end_late_call(self) -> Episode | None:
        """Leave a thread behind whose call takes too long: a fresh one takes its place. Gives the call's episode."""
        with self._lock:
            job = self._job
            if job is None or time.monotonic() < self._until:
                return None
            episode, method, _ = job.calls[len(job.done)]
            self._job = None
            self._begin()
        fault = EnvFault(f"{episode.stack.id} {method}() gave no answer in time")
        rest = EnvFault("the call was not made, since one before it gave no answer in time")
        faults = [fault, *[rest] * (len(job.calls) - len(job.done) - 1)]
        job.deliver([*job.done, *(["fault", each.to_json()] for each in faults)])
        return episode

    def close(self) -> None:
        """End after the jobs that are there."""
        self.jobs.put(None)

    def join(self, seconds: float) -> None:
        """Wait for that."""
        self._thread.join(seconds)


class HostLane(Lane):
    """A lane whose episodes live in one host, which ends late calls by force; steps that come together are one message
    to it."""

    def __init__(self, seconds: float, python: str | None = None) -> None:
        self._host = Host(seconds, python=python)
        super().__init__(seconds)

    def _play(self, job: Job) -> Episode | None:
        envs = [episode.env for episode, method, _ in job.calls if method == "step" and episode.env]
        # Two turns of one episode would write their pictures to the same place: only different ones are one message.
        if len(set(envs)) == len(job.calls) > 1:
            calls = [env.asked("step", *args) for env, (_, _, args) in zip(envs, job.calls, strict=True)]
            try:
                values = self._host.call(calls)
            except AgentRLError as error:  # an action that cannot be sent
                values = [error] * len(calls)
            turns = zip(envs, values, strict=True)
            job.done = [_answer_of("step", _step_of, env, value) for env, value in turns]
        else:
            job.done = [self.answer(*call) for call in job.calls]
        return None

    def answer(self, episode: Episode, method: str, args: Sequence[Any]) -> Answer:
        """Make one call; whatever happens is an answer."""
        env = episode.env
        if method == "open":
            return _answer_of(method, self.open, episode)
        if env is None:
            return _unknown(episode.name)
        return (
            _answer_of(method, env.close) if method == "close" else _answer_of(method, self._played, env, method, args)
        )

    def _played(self, env: IsolatedEnv, method: str, args: Sequence[Any]) -> Any:
        (value,) = self._host.call([env.asked(method, *args)])
        if method == "reset":
            observation, info = env.read_reset(_or_raise(value))
            return [copied(observation), info, value[-1]]
        return _step_of(env, value) if method == "step" else _or_raise(value)

    def _make(self, episode: Episode) -> dict[str, Any]:
        episode.env = IsolatedEnv(episode.stack, self._host)
        return {name: fact for name, fact in episode.env.facts.items() if name not in ("slot", "start", "layout")}

    def end_late_call(self) -> Episode | None:
        """Nothing: the host does."""

    def close(self) -> None:
        """End the process, and the thread after it."""
        super().close()
        self._host.close()


def _answer_of(method: str, call: Callable[..., Any], *args: Any) -> Answer:
    try:
        return ["ok", call(*args)]
    except BaseException as error:
        return _failure_of(method, error)


def _failure_of(method: str, error: BaseException) -> Answer:
    try:
        return failure_of(method, error)
    except BaseException as other:  # no memory, or something that calls itself no `Exception`
        return ["fault", EnvFault(f"{method}() ended with {type(other).__name__}: {other}").to_json()]


def _unknown(name: Any) -> Answer:
    text = f"there is no episode {name!r:.40}, or it was closed because nobody played it"
    return ["fault", SessionFault(text, "unknown").to_json()]


def _or_raise(value: Any) -> Any:
    if isinstance(value, AgentRLError):
        raise value
    return value


def _step_of(env: IsolatedEnv, value: Any) -> list[Any]:
    return list(env.read_step(_or_raise(value)))


# ---------------------------------------------------------------------- who may play


class Sessions:
    """The episodes of all clients, of the `ids` that are offered (default: all registered ones).

    Clients may give the arguments that an environment's class calls safe; `kwargs` are for all episodes, and only the
    caller can give others there. `quick` names further ids that play in `threads` of this process; what agentrl does
    not know, and what is slow, plays in `hosts` processes. With `truth=False` nothing tells a client the true state:
    for clients that are the players themselves.
    """

    def __init__(
        self,
        ids: Iterable[str] | None = None,
        *,
        kwargs: Mapping[str, Any] | None = None,
        limits: Limits | None = None,
        truth: bool = True,
        threads: int = 1,
        hosts: int = 2,
        quick: Iterable[str] = (),
    ) -> None:
        self.ids = tuple(entry.id for entry in known()) if ids is None else tuple(ids)
        for env_id in self.ids:
            check_id(env_id)
            if ":" in env_id:  # the module registers it
                import_module(env_id.rpartition(":")[0])
        self.kwargs, self.limits, self.truth = dict(kwargs or {}), limits or Limits(), truth
        slow = {entry.id for entry in known() if (entry.vector_entry_point or "").startswith("agentrl.rollout.vector:")}
        self._quick = {entry.id for entry in known() if entry.id.startswith("agentrl/")} - slow | set(quick)
        self._threads, self._hosts = (
            whole_number(n, v, at_least=1) for n, v in (("threads", threads), ("hosts", hosts))
        )
        self._lanes: dict[str, list[Lane]] = {}
        self._lock = threading.Lock()
        self._clients: set[Client] = set()
        self.closing, self.opened, self.calls, self.faults = False, 0, 0, 0
        self._ended = threading.Event()
        threading.Thread(target=self._watch, name="agentrl-sessions", daemon=True).start()

    def join(self, address: str) -> Client:
        """A new client: a connection, an assistant. Its episodes are its own; limits count by `address`."""
        client = Client(self, address)
        with self._lock:
            self._clients.add(client)
        return client

    def __len__(self) -> int:
        return sum(len(client.episodes) for client in list(self._clients))

    def admit(self, client: Client, env_id: Any, kwargs: Any) -> Episode:
        """A new episode in the lane that has least to do; `SessionFault` or `ConfigError` where it may not be."""
        if env_id not in self.ids:
            hint = did_you_mean(env_id, self.ids) if isinstance(env_id, str) else ""
            raise ConfigError(f"the environment must be one that is offered here; got {env_id!r:.80}.{hint}")
        if not isinstance(kwargs, Mapping):
            raise ConfigError(f"kwargs must be a mapping of argument names to values; got {type(kwargs).__name__}")
        if kwargs.get("render_mode") == "human":
            raise ConfigError("render_mode must be rgb_array, ansi or None here; got 'human'")
        with self._lock:
            if self.closing or client not in self._clients:
                raise SessionFault("no new episodes are opened: the server is closing", "closing")
            here = sum(len(each.episodes) for each in self._clients if each.address == client.address)
            if here >= self.limits.per_address or len(self) >= self.limits.sessions:
                text = f"there are {len(self)} episodes, {here} of them yours; at most {self.limits.sessions} and "
                raise SessionFault(f"{text}{self.limits.per_address} may be open; close some", "limit")
            lane = min(self._lanes_of(env_id), key=lambda lane: lane.load)
            name = f"e{next(client.numbers)}"
            episode = Episode(name, Stack(env_id, {**self.kwargs, **kwargs}), client, lane, self.kwargs)
            client.episodes[name] = episode
            lane.load += 1
            self.opened += 1
        return episode

    def _lanes_of(self, env_id: str) -> list[Lane]:
        """The lanes that may play an id, started when they are first needed."""
        place = "thread" if env_id in self._quick else python_of(env_id) or "host"
        if place not in self._lanes:
            seconds = self.limits.call_seconds
            if place == "thread":
                self._lanes[place] = [Lane(seconds) for _ in range(self._threads)]
            else:
                python = None if place == "host" else place
                self._lanes[place] = [HostLane(seconds, python) for _ in range(self._hosts)]
        return self._lanes[place]

    def forget(self, episode: Episode) -> bool:
        """Take it from its client; False if it is gone already. Its lane closes it after the calls that wait."""
        with self._lock:
            if episode.client.episodes.pop(episode.name, None) is None:
                return False
            episode.lane.load -= 1
        return True

    # ------------------------------------------------------------------ time

    def _watch(self) -> None:
        while not self._ended.wait(WATCH_SECONDS):
            for lane in [lane for lanes in list(self._lanes.values()) for lane in lanes]:
                if (episode := lane.end_late_call()) is not None:
                    self.faults += 1
                    self.forget(episode)
            due = time.monotonic() - self.limits.idle_seconds
            for client in list(self._clients):
                for episode in [each for each in list(client.episodes.values()) if each.used < due]:
                    client.close(episode.name)

    def drain(self, seconds: float = 10.0) -> bool:
        """Open no more episodes and wait until those that are open have ended; False if some have not."""
        self.closing = True
        until = time.monotonic() + seconds
        while len(self) and time.monotonic() < until:
            time.sleep(0.02)
        return not len(self)

    def close(self) -> None:
        """Close all episodes and end threads and processes. May be called twice."""
        self.closing = True
        for client in list(self._clients):
            client.leave()
        self._ended.set()
        lanes = [lane for found in self._lanes.values() for lane in found]
        for lane in lanes:
            lane.close()
        for lane in lanes:
            lane.join(2.0)
        self._lanes.clear()


class Client:
    """Plays episodes by name; made by `Sessions.join`."""

    def __init__(self, sessions: Sessions, address: str) -> None:
        self._sessions, self.address = sessions, address
        self.episodes: dict[str, Episode] = {}
        self.numbers: Iterator[int | str] = itertools.count(1)  # what tells the names of its episodes apart

    def open(self, env_id: str, kwargs: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Make an environment: its facts (rules, spaces, what may be asked), with its name as "episode"."""
        return self._wait(lambda deliver: self.submit_open(env_id, {} if kwargs is None else kwargs, deliver))

    def call(self, name: str, method: str, *args: Any) -> Any:
        """Make one call in an episode and wait for what it gives; errors are raised."""
        return self._wait(lambda deliver: self.submit([(name, method, args)], lambda answers: deliver(answers[0])))

    def submit_open(self, env_id: Any, kwargs: Any, deliver: Callable[[Answer], None]) -> None:
        """`open` without waiting: `deliver` gets the answer, in another thread."""
        try:
            episode = self._sessions.admit(self, env_id, kwargs)
        except (AgentRLError, ImportError) as error:
            deliver(_failure_of("open", error))
            return

        def opened(answers: list[Answer]) -> None:
            status, value = answers[0]
            if status == "ok":
                deliver(["ok", {**value, "episode": episode.name}])
            else:
                self._sessions.forget(episode)
                deliver(_brief(answers[0]))

        episode.lane.jobs.put(Job([(episode, "open", ())], opened))

    def submit(self, calls: Sequence[Call], deliver: Callable[[list[Answer]], None]) -> None:
        """Begin calls; `deliver` gets their answers in order, once, in another thread (or at once where none is made).
        Calls of one episode are made in the order in which they were given; of several ones at the same time."""
        found: list[Answer] = [[]] * len(calls)
        lanes: dict[Lane, tuple[list[int], list[tuple[Episode, str, Sequence[Any]]]]] = {}
        now, sessions, mine = time.monotonic(), self._sessions, self.episodes
        sessions.calls += len(calls)
        for place, (name, method, args) in enumerate(calls):
            episode = mine.get(name) if isinstance(name, str) else None
            if episode is None or method not in OPEN_TO_ALL:
                refusal = self._refusal(episode, name, method, args)
                if refusal is not None or episode is None:
                    found[place] = refusal or []
                    continue
                if method == "close":
                    sessions.forget(episode)
            episode.used = now
            places, theirs = lanes.get(episode.lane) or lanes.setdefault(episode.lane, ([], []))
            places.append(place)
            theirs.append((episode, method, args))
        if not lanes:
            return deliver(found)
        left, lock = [len(lanes)], threading.Lock()

        def part(places: list[int], answers: list[Answer]) -> None:
            for place, answer in zip(places, answers, strict=True):
                found[place] = self._told(calls[place][1], answer)
            with lock:
                left[0] -= 1
                last = not left[0]
            if last:
                deliver(found)

        for lane, (places, theirs) in lanes.items():
            lane.jobs.put(Job(theirs, lambda answers, places=places: part(places, answers)))  # pyright: ignore[reportArgumentType]

    def close(self, name: str) -> None:
        """End an episode, after whatever it is doing; nothing happens where there is none."""
        self.submit([(name, "close", ())], lambda answers: None)

    def leave(self) -> None:
        """End all episodes: the client has gone."""
        for name in list(self.episodes):
            self.close(name)
        with self._sessions._lock:
            self._sessions._clients.discard(self)

    def _refusal(self, episode: Episode | None, name: Any, method: Any, args: Any) -> Answer | None:
        if episode is None:
            return _unknown(name)
        if method == "close":
            return None
        if method not in TRUTH or (method == "ask" and (not args or args[0] not in ASKED)):
            return ["config", f"the call must be one of {', '.join((*OPEN_TO_ALL, *TRUTH))}; got {method!r:.40}"]
        return None if self._sessions.truth else ["config", f"{method} is not allowed: the true state is hidden here"]

    def _told(self, method: str, answer: Answer) -> Answer:
        if answer[0] != "ok":
            self._sessions.faults += answer[0] in ("fault", "raised")
            return _brief(answer)
        if not self._sessions.truth and method in ("reset", "step"):
            info = answer[1][1 if method == "reset" else -1]
            for name in TRUE_INFO:
                info.pop(name, None)
        return answer

    def _wait(self, begin: Callable[[Callable[[Answer], None]], None]) -> Any:
        answers: SimpleQueue[Answer] = SimpleQueue()
        begin(answers.put)
        return _or_raise(value_of(answers.get()))


@cache
def python_of(env_id: str) -> str | None:
    """The interpreter that has the packages of an id's family, where this one has not; None: this one."""
    family = family_of(env_id)
    if family is None or family.interpreter is None or is_available(find(env_id)):
        return None
    return find_interpreter(load(family.interpreter)).python


def _brief(answer: Answer) -> Answer:
    """Without the traceback of what an environment raised: clients need not know where files lie here."""
    status, value = answer
    return [status, str(value).partition("\n")[0]] if status == "raised" else answer
