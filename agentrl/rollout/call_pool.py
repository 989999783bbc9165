"""A pool of recorded model calls: sessions as trees of calls, their rewards and marks, and trajectories made of them.

A pool is a folder with one append-only file, `calls.jsonl`; every line is a call, a reward, a mark or a note that a
session was handed to a trainer. A line is on disk (fsync) before `append` returns, and lines that come together share
one fsync. A session is a tree: a call whose messages begin with those of an earlier call and its answer continues that
call's branch, any other opens a branch. Of a call that continues, only what is new is written.

    pool = CallPool("runs/pool")
    for trajectory in pool.take(64): ...
"""

from __future__ import annotations

import logging
import os
import queue
import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from agentrl.core.errors import ConfigError
from agentrl.core.files import open_regular
from agentrl.core.lock import FolderLock
from agentrl.rollout.call_trajectories import Reading, text_of, trajectory_of
from agentrl.rollout.trajectory import Trajectory, common_prefix

log = logging.getLogger(__name__)

FILE = "calls.jsonl"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")  # of a session: nothing that a file system reads as a path
REMEMBERED = 4096  # calls whose tokens are kept, for the prompts that continue them


class Call(msgspec.Struct, kw_only=True, omit_defaults=True, tag_field="kind", tag="call"):
    """One request and its answer. Token fields are None where the engine did not say; `missing` names them."""

    session: str
    number: int = 0  # of the call in its session, from 0
    parent: int | None = None  # the call that this one continues
    key: str  # equal for equal requests
    end: str  # equal for messages and answers that are the same conversation
    time: float
    route: str  # "chat/completions" or "completions"
    model: str
    messages: list[dict[str, Any]]  # those that follow the parent's answer; of a completion the prompt
    tools: list[dict[str, Any]] | None = None  # of a call that opens a branch
    sampling: dict[str, Any] = {}
    answer: dict[str, Any]  # the body that the client got, or would have got without streaming
    shared: int = 0  # tokens of the parent's prompt and response with which this prompt begins; `prompt_ids` follow
    prompt_ids: list[int] | None = None
    response_ids: list[int] | None = None
    logprobs: list[float] | None = None
    missing: list[str] = []
    finish_reason: str = "stop"
    version: int = 0

    @property
    def text(self) -> str:
        """What the model said, without its tool calls."""
        choice = self.answer["choices"][0]
        return text_of(choice.get("message") or {"content": choice.get("text")})


class Reward(msgspec.Struct, kw_only=True, omit_defaults=True, tag_field="kind", tag="reward"):
    """A reward under a name; a later one of the same name replaces it. Without a call it is the whole session's, which
    then is complete as far as its first `calls` calls."""

    session: str
    name: str
    reward: float
    call: int | None = None
    calls: int = 0


class Mark(msgspec.Struct, kw_only=True, omit_defaults=True, tag_field="kind", tag="mark"):
    """A word about a session, for curation; `group` and `task` become those of its trajectory."""

    session: str
    name: str
    value: Any = True


class Taken(msgspec.Struct, kw_only=True, tag_field="kind", tag="taken"):
    """These sessions were handed to a trainer."""

    sessions: list[str]


Line = Call | Reward | Mark | Taken
_decoder, _encoder = msgspec.json.Decoder(Line), msgspec.json.Encoder()


@dataclass
class Place:
    """Where a call stands in the file, and what is needed to find it."""

    offset: int
    length: int
    parent: int | None
    version: int


@dataclass
class Session:
    """What is kept in memory of a session."""

    name: str
    calls: list[Place] = field(default_factory=list)
    keys: dict[str, int] = field(default_factory=dict)
    ends: dict[str, int] = field(default_factory=dict)
    rewards: dict[tuple[int | None, str], Reward] = field(default_factory=dict)
    marks: dict[str, Any] = field(default_factory=dict)
    taken: bool = False

    @property
    def complete(self) -> int:
        """How many of its calls the reward of the whole is for; 0 while there is none."""
        return max((reward.calls for reward in self.rewards.values() if reward.call is None), default=0)

    def to_json(self) -> dict[str, Any]:
        """In short, for people and tools."""
        rewards = [{"call": call, "name": name, "reward": one.reward} for (call, name), one in self.rewards.items()]
        parents = [place.parent for place in self.calls]
        continued = {parent for parent in parents if parent is not None}
        return {
            "session": self.name,
            "calls": len(parents),
            "parents": parents,
            "branches": len(parents) - len(continued),
            "rewards": rewards,
            "marks": self.marks,
            "complete": bool(self.complete),
            "taken": self.taken,
        }


class CallPool:
    """The calls of a folder. One process may write; others open it with `read_only` and see what is there by then."""

    def __init__(self, folder: str | os.PathLike[str], *, read_only: bool = False) -> None:
        self.folder, self.sessions = Path(folder), dict[str, Session]()
        self.path = self.folder / FILE
        self._ids: OrderedDict[tuple[str, int], list[int]] = OrderedDict()  # prompt and response of recent calls
        self._guard, self._size = threading.Lock(), 0
        self._waiting: queue.SimpleQueue[tuple[bytes, Future[None]] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        try:
            if not read_only:
                self.folder.mkdir(parents=True, exist_ok=True)
                self._lock = FolderLock(self.folder)
                self.path.touch()
            self._load(read_only)
            self._file = None if read_only else open(self.path, "ab")  # noqa: SIM115 (closed by close)
        except OSError as error:
            raise ConfigError(f"the pool {self.folder} cannot be opened: {error}; choose another folder") from error
        if self._file is not None:
            self._thread = threading.Thread(target=self._write, name="agentrl-pool", daemon=True)
            self._thread.start()

    def _load(self, read_only: bool) -> None:
        ended = True
        with open_regular(self.path) as file:
            for line in file:
                ended = line.endswith(b"\n")
                try:
                    self._add(_decoder.decode(line), len(line))
                except (msgspec.DecodeError, ConfigError) as error:  # the half line of a process that was killed
                    log.warning("%s: skipping a line at byte %d: %s", self.path, self._size, error)
                    self._size += len(line)
        if not ended and not read_only:
            with open(self.path, "ab") as file:
                file.write(b"\n")
            self._size += 1

    def close(self) -> None:
        """Write what waits and let other processes in; may be called twice."""
        if self._thread is not None and self._file is not None:
            self._waiting.put(None)
            self._thread.join(60)
            self._file.close()
            self._lock.release()
            self._thread = None

    def __enter__(self) -> CallPool:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # ------------------------------------------------------------------ writing

    def append(self, line: Line) -> Future[None]:
        """Add a line; the future is done once it is on disk. What is wrong with it is a `ConfigError` at once."""
        if self._thread is None:
            raise ConfigError(f"the pool {self.folder} is closed or open for reading only")
        with self._guard:
            self._fill_in(line)
            data, done = _encoder.encode(line) + b"\n", Future[None]()
            self._add(line, len(data))
            self._waiting.put((data, done))
        return done

    def _write(self) -> None:
        assert self._file is not None
        trouble: OSError | None = None
        ended = False
        while not ended and (first := self._waiting.get()) is not None:
            lines = [first]
            while not self._waiting.empty():  # one fsync for all that have come by now
                if (more := self._waiting.get()) is None:
                    ended = True
                    break
                lines.append(more)
            try:
                if trouble is None:
                    self._file.write(b"".join(data for data, _ in lines))
                    self._file.flush()
                    os.fsync(self._file.fileno())
            except OSError as error:  # what was written of it is not known: nothing may follow
                trouble = error
            for _, done in lines:
                if done.set_running_or_notify_cancel():  # not where nobody waits for it any more
                    done.set_result(None) if trouble is None else done.set_exception(trouble)

    def _fill_in(self, line: Line) -> None:
        """Complete a new line by what the session knows; `ConfigError` where the session cannot take it."""
        if isinstance(line, Call):
            line.number = len(self.session(line.session).calls)
            self._shorten(line)
        elif isinstance(line, Reward):
            calls = len(self.sessions[line.session].calls) if line.session in self.sessions else 0
            if not calls:
                raise ConfigError(f"session {line.session!r} must have a call before it gets a reward; got none")
            if line.call is not None and not 0 <= line.call < calls:
                raise ConfigError(f"call must be one of the session's {calls} calls, from 0; got {line.call}")
            line.calls = calls if line.call is None else 0

    def _add(self, line: Line, length: int) -> None:
        """Know a line that stands at the end of the file."""
        if isinstance(line, Taken):
            for name in line.sessions:
                self.session(name).taken = True
        else:
            session = self.session(line.session)
            if isinstance(line, Call):
                session.calls.append(Place(self._size, length, line.parent, line.version))
                session.keys[line.key], session.ends[line.end] = line.number, line.number
            elif isinstance(line, Reward):
                session.rewards[line.call, line.name] = line
            else:
                session.marks[line.name] = line.value
        self._size += length

    def _shorten(self, call: Call) -> None:
        """Leave out the tokens that the parent's prompt and response begin with, where those are still known."""
        whole = call.prompt_ids
        if whole is None:
            return
        before = None if call.parent is None else self._ids.pop((call.session, call.parent), None)
        if before is not None:
            call.shared = common_prefix(whole, before)
            call.prompt_ids = whole[call.shared :]
        if call.response_ids is not None:
            self._ids[call.session, call.number] = whole + call.response_ids
            if len(self._ids) > REMEMBERED:
                self._ids.popitem(last=False)

    # ------------------------------------------------------------------ reading

    def session(self, name: str) -> Session:
        """A session by its name; a new one where there is none."""
        if name not in self.sessions:
            if NAME.fullmatch(name) is None:
                raise ConfigError(f"a session's name must be 1 to 128 of A-Z a-z 0-9 . _ - ; got {name[:200]!a}")
            self.sessions[name] = Session(name)
        return self.sessions[name]

    def call(self, session: str, number: int) -> Call:
        """A call as it is on disk; its prompt may be a delta."""
        place = self.sessions[session].calls[number]
        with open_regular(self.path) as file:
            file.seek(place.offset)
            call = _decoder.decode(file.read(place.length))
        assert isinstance(call, Call)
        return call

    def trajectory(self, name: str, *, branch: int | None = None) -> Trajectory:
        """A session as one trajectory, its calls as steps in the order they were recorded; or the branch that ends with
        a call, with the reward of the whole on that call."""
        session = self.sessions[name]
        calls = [self.call(name, number) for number in range(session.complete or len(session.calls))]
        whole = {line.name: line.reward for (call, _), line in session.rewards.items() if call is None}
        parts = [dict[str, float]() for _ in calls]
        for (call, term), line in session.rewards.items():
            if call is not None and call < len(parts):
                parts[call][term] = line.reward
        return trajectory_of(Reading(name, calls, whole, parts, session.marks), branch)

    def take(
        self, most: int, *, at_least: int = 1, version: int = 0, only: Sequence[str] = (), without: Sequence[str] = ()
    ) -> list[Trajectory]:
        """Up to `most` complete sessions that nobody took before, the oldest first; none while there are fewer than
        `at_least`. `version`: only those all of whose calls have at least this one. `only` and `without` are marks."""
        found = []
        for session in list(self.sessions.values()):
            fits = session.marks.keys() >= set(only) and session.marks.keys().isdisjoint(without)
            fresh = all(place.version >= version for place in session.calls[: session.complete])
            if session.complete and not session.taken and fits and fresh:
                found.append(session.name)
        found = found[:most] if len(found) >= at_least else []
        if found:
            self.append(Taken(sessions=found)).result()
        return [self.trajectory(name) for name in found]
