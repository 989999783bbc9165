"""Hosts: processes that hold many environments each, in numbered slots.

One message makes one call in each of many slots: `[[slot, method, *arguments], ...]`, and its answer holds for each of
them `["ok", value]` or whose mistake it was. Environments are named by id, arguments and wrappers; nothing is pickled.
The arrays of observations lie in memory that both sides share; a host lays out what its environments need.

A host that dies, hangs or runs out of memory loses all of its slots: each gets a fault, and the next environment that
is opened starts a fresh process. What one environment raises is that slot's alone.
"""

from __future__ import annotations

import faulthandler
import math
import mmap
import os
import signal
import threading
import traceback
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from agentrl.core.arguments import positive_number
from agentrl.core.errors import (
    AgentRLError,
    ConfigError,
    EnvFault,
    Fault,
    MissingExtra,
    SessionFault,
    SnapshotError,
    SnapshotUnsupported,
    WorkerFault,
)
from agentrl.core.measure import CHECKOUT, IN_CHECKOUT
from agentrl.core.shared_memory import shared_memory
from agentrl.core.snapshot import restore, restore_layers, snapshot, snapshot_layers
from agentrl.core.space_codec import to_plain
from agentrl.core.worker import Worker
from agentrl.core.worker_child import MAX_TEXT, encode
from agentrl.policies.random import legal_actions
from agentrl.rollout.episode import kept_info, make, seen_in, spec_json
from agentrl.rollout.prompts import read_observation, rules_of
from agentrl.rollout.starts import Stack
from agentrl.wrappers.build import wrap

START_SECONDS = 120.0  # importing a simulator takes long, and longer where many start at once
CALL_SECONDS = 600.0  # of a reset or step without a timeout of its own: nobody waits for ever
GRACE_SECONDS = 10.0  # for a host that ends a late call by itself and leaves a traceback
ASKED = ("oracle", "gold", "truthful", "hasty_action", "about_task")  # what policies and records ask for
TOLD = ("max_actions_per_turn", "action_separator")  # what they read
SHOWN = ("render_modes", "render_fps")  # of its metadata
ALIGNMENT = 64  # bytes
CAPACITY = 1 << 30  # bytes of a host's shared memory; what is not written to takes none
Layout = list[tuple[str, str, list[int], int]]  # name, type, shape and offset of each array
GONE = ("fault", {"kind": "EnvFault", "detail": "the process was replaced and its environment is gone"})
Call = tuple[Any, Any, str, tuple[Any, ...]]  # in which life of the host, its slot, method and arguments


def make_stack(stack: Stack) -> gym.Env:
    """The environment of a stack inside its wrappers."""
    return wrap(make(stack.id, **stack.kwargs), stack.wrappers)


class Region:
    """The arrays of one slot's observations, in memory that two processes share."""

    def __init__(self, memory: mmap.mmap | None = None, start: int = 0, layout: Sequence[Any] = ()) -> None:
        self.arrays = {name: np.ndarray(shape, dtype, memory, start + at) for name, dtype, shape, at in layout}

    def put(self, observation: Any) -> list[Any]:
        """Write what lies here; what goes with the message is the rest, and the names of what was written."""
        parts = observation if isinstance(observation, dict) else {"": observation}
        here = [name for name, array in self.arrays.items() if _fits(parts.get(name), array)]
        for name in here:
            self.arrays[name][...] = parts[name]
        return [{name: None if name in here else value for name, value in parts.items()}, here]

    def get(self, parts: dict[str, Any], here: Sequence[str]) -> Any:
        """The observation that `put` was given; its arrays are those of the region, until the next one is put."""
        parts |= {name: self.arrays[name] for name in here}
        return parts.get("", parts)


def layout_of(space: gym.Space) -> Layout:
    """Where the arrays of an observation lie; whatever is no `Box` goes with the message."""
    parts = space.spaces if isinstance(space, spaces.Dict) else {"": space}
    layout: Layout = []
    for name, part in parts.items():
        if isinstance(part, spaces.Box):
            layout.append((name, part.dtype.str, list(part.shape), _extent(layout)))
    return layout


def _extent(layout: Layout) -> int:
    """The bytes up to the end of the last array."""
    if not layout:
        return 0
    _, dtype, shape, offset = layout[-1]
    return offset + max(1, math.ceil(np.dtype(dtype).itemsize * math.prod(shape) / ALIGNMENT)) * ALIGNMENT


def _fits(value: Any, array: np.ndarray) -> bool:
    return isinstance(value, np.ndarray) and (value.dtype, value.shape) == (array.dtype, array.shape)


# ---------------------------------------------------------------------- in the process


class EnvSlot:
    """A stack in a host; its public methods are what may be asked of it."""

    region: Region

    def __init__(self, stack: Stack) -> None:
        self.env = make_stack(stack)

    def facts(self) -> dict[str, Any]:
        """What the other side must know to look like the stack."""
        env, base = self.env, self.env.unwrapped
        return {
            "spec": spec_json(env),
            "split": getattr(base, "split", None),
            "env_id": base.spec.id if base.spec else type(base).__name__,
            "rules": rules_of(env) if env.has_wrapper_attr("system_prompt") else None,
            "asked": [name for name in ASKED if env.has_wrapper_attr(name)],
            "told": {name: getattr(base, name) for name in TOLD if hasattr(base, name)},
            "render_mode": env.render_mode,
            "metadata": {name: env.metadata[name] for name in SHOWN if name in env.metadata},
            "spaces": _spaces(env),
        }

    def reset(self, seed: int | None, options: dict[str, Any] | None) -> list[Any]:
        """Begin an episode; the rules come along, since a task may change them."""
        observation, info = self.env.reset(seed=seed, options=options)
        return [self.region.put(observation), info, rules_of(self.env)]

    def step(self, action: Any, for_record: bool = False) -> list[Any]:
        """Play a turn; `for_record` has made here what a record keeps of it, since hosts do that at the same time."""
        observation, *rest = self.env.step(action)
        if for_record:
            (*rest, info), (_, pictures) = rest, read_observation(observation)
            rest += [kept_info(info) if isinstance(info, dict) else info, seen_in(observation, pictures)]
        return [self.region.put(observation), *rest]

    def ask(self, name: str, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        """The result of a public method, or a public attribute."""
        if name.startswith("_"):
            raise ConfigError(f"what is asked of an environment must be a public name; got {name!r}")
        found = self.env.get_wrapper_attr(name)
        value = found(*args, **(kwargs or {})) if callable(found) else found
        try:
            encode(value)
        except TypeError as error:
            raise ConfigError(f"{name} of {self.env} cannot be sent to another process: {error}") from error
        return value

    def set(self, name: str, value: Any) -> None:
        """Set an attribute."""
        self.env.set_wrapper_attr(name, value)

    def state(self) -> dict[str, Any]:
        """The truth, as JSON types."""
        base: Any = self.env.unwrapped
        if not hasattr(base, "state"):
            raise ConfigError(f"{type(base).__name__} has no state()")
        return base.state().to_json()

    def render(self) -> Any:
        """What it looks like."""
        return self.env.render()

    def legal(self) -> list[Any]:
        """Whole turns that make sense at this moment."""
        return list(legal_actions(self.env))

    def save(self) -> list[bytes]:
        """What the wrappers remember."""
        return snapshot_layers(self.env)

    def load(self, blobs: list[bytes]) -> None:
        """Inverse of `save`."""
        restore_layers(self.env, blobs)

    def snapshot(self) -> bytes:
        """Everything, as `agentrl.snapshot` gives it."""
        return snapshot(self.env)

    def restore(self, blob: bytes) -> None:
        """Inverse of `snapshot`."""
        restore(self.env, blob)


class EnvHost:
    """The side in the process. `memory` is the descriptor of the shared memory; without it observations go with the
    messages."""

    def __init__(self, memory: int | None) -> None:
        self._memory = None if memory is None else mmap.mmap(memory, CAPACITY)
        self._capacity, self._used = 0 if memory is None else CAPACITY, 0
        self._slots: dict[int, EnvSlot] = {}
        faulthandler.register(signal.SIGALRM, chain=True)  # a call that is late says where it was, and ends the process
        self._places: dict[int, tuple[int, int]] = {}  # slot -> start and size of its memory, for whatever it holds

    def play(self, calls: list[list[Any]], seconds: float) -> list[list[Any]]:
        """Make each call in its slot, one after the other, each within `seconds`."""
        answers = []
        for call in calls:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            answers.append(self._answer(*call))
            signal.setitimer(signal.ITIMER_REAL, 0)
        return answers

    def _open(self, _: None, stack: list[Any]) -> dict[str, Any]:
        """Put an environment into the first free slot."""
        made = EnvSlot(Stack(*stack))
        slot = next(number for number in range(len(self._slots) + 1) if number not in self._slots)
        self._slots[slot] = made
        layout = layout_of(made.env.observation_space)
        start, size = self._places.get(slot, (0, 0))
        if _extent(layout) > size:
            start, size = self._used, _extent(layout)
            if start + size > self._capacity:
                size, layout = 0, []  # its observations go with the messages
            self._used += size
            self._places[slot] = start, size
        made.region = Region(self._memory, start, layout)
        return {**made.facts(), "slot": slot, "start": start, "layout": layout}

    def _close(self, slot: int) -> None:
        self._slots.pop(slot).env.close()

    def _answer(self, slot: int, method: str, *args: Any) -> list[Any]:
        own: dict[str, Callable[..., Any]] = {"open": self._open, "close": self._close}
        if method in own:
            return answer_of(method, lambda: own[method](slot, *args))
        return answer_of(method, lambda: getattr(self._slots[slot], method)(*args))


def _spaces(env: gym.Env) -> list[Any] | None:
    """Of actions and observations; None where a package has spaces of its own kind."""
    try:
        return [to_plain(env.action_space), to_plain(env.observation_space)]
    except ConfigError:
        return None


def answer_of(method: str, call: Callable[[], Any]) -> list[Any]:
    """`["ok", value]`, or whose mistake it was; `value_of` reads it."""
    try:
        return ["ok", call()]
    except (Exception, SystemExit) as error:
        return failure_of(method, error)


def failure_of(method: str, error: BaseException) -> list[Any]:
    """Whose mistake an exception of a call was. Raised again is what puts the whole process in trouble."""
    if isinstance(error, MissingExtra):
        return ["missing", [error.package, error.extra]]
    if isinstance(error, Fault):
        return ["fault", error.to_json()]
    if isinstance(error, SnapshotError | SnapshotUnsupported):
        return [type(error).__name__, str(error)]
    if isinstance(error, AgentRLError):
        return ["config", str(error)]
    if isinstance(error, MemoryError) or not isinstance(error, Exception | SystemExit):
        raise error
    told = f"{method}(): {type(error).__name__}: {error}\n{''.join(traceback.format_exception(error))[-MAX_TEXT:]}"
    return ["raised", told.encode("utf-8", "backslashreplace").decode()]  # half surrogates have no UTF-8


# ---------------------------------------------------------------------- the side here


class Life(Protocol):
    """A process, from its start to its end."""

    @property
    def alive(self) -> bool:
        """Does it run?"""
        ...

    @property
    def busy(self) -> bool:
        """Is a call running?"""
        ...

    @property
    def pid(self) -> int | None:
        """Its number, on this machine."""
        ...

    def send(self, method: str, /, *args: Any, deadline: float) -> Callable[[], Any]:
        """Begin a call; what this returns waits for its result, or raises a `WorkerFault`."""
        ...

    def close(self) -> None:
        """End it."""
        ...


class Host:
    """One process with many slots, started when its first environment is opened.

    `timeout` is what a call in one slot may take, in seconds, ten minutes without; a process in which one takes longer
    is killed. `environment` adds variables to the process: `{"MUJOCO_EGL_DEVICE_ID": "1"}`
    lets it draw on another GPU. `python` is the interpreter of another virtual environment, for packages that cannot be
    installed beside agentrl's: it must have agentrl, or in a checkout what agentrl needs.
    """

    def __init__(
        self,
        timeout: float | None = None,
        environment: Mapping[str, str] | None = None,
        python: str | Path | None = None,
    ) -> None:
        self._timeout = CALL_SECONDS if timeout is None else positive_number("timeout", timeout)
        self._environment, self._python = dict(environment or {}), python
        self._lock = threading.Lock()
        self._life: Life | None = None
        self._memory: mmap.mmap | None = None
        self._release: Callable[[], Any] = lambda: None

    @property
    def life(self) -> Life:
        """The process; a fresh one after the last has ended. An environment belongs to the life it was opened in."""
        with self._lock:
            if self._life is not None and not self._life.alive:
                self._end()
            if self._life is None:
                self._begin()
            assert self._life is not None
            return self._life

    def _begin(self) -> None:
        """Start a process, with memory that both share."""
        memory = shared_memory("host", CAPACITY)
        self._release = weakref.finalize(self, os.close, memory)
        self._memory = mmap.mmap(memory, CAPACITY)
        self._life = worker = Worker(
            "agentrl.rollout.hosts:EnvHost",
            [memory],
            python=self._python,
            path=[CHECKOUT] if self._python is not None and IN_CHECKOUT else [],
            environment=self._environment,
            descriptors=[memory],
            start_deadline=START_SECONDS,
        )
        try:
            worker.start()
        except WorkerFault:
            self._end()
            raise

    def _end(self) -> None:
        if self._life is not None:
            self._life.close()  # or a call that waits for it would start it again
        self._life = self._memory = None
        self._release()

    def lives(self, life: Life) -> bool:
        """Is that still the process, and did nobody kill it?"""
        return self._life is life and life.alive

    def call(self, calls: Sequence[Call], seconds: float | None = None) -> list[Any]:
        """One message: in the place of each call its value, or the error that it met (nothing is raised for one).
        `seconds` replaces the host's own `timeout` for these calls."""
        return self.send(calls, seconds)()

    def send(self, calls: Sequence[Call], seconds: float | None = None) -> Callable[[], list[Any]]:
        """Begin a message, to send others to other hosts: what this returns must be called, and waits for it."""
        life, fault, seconds = self._life, None, seconds or self._timeout
        sent = [[slot, method, *args] for asked, slot, method, args in calls if asked is life]
        receive: Callable[[], Any] = list
        if life is not None and sent:
            try:
                receive = life.send("play", sent, seconds, deadline=seconds * len(sent) + GRACE_SECONDS)
            except WorkerFault as error:
                fault = error

        def result() -> list[Any]:
            try:
                if fault is not None:
                    raise fault
                answers = iter(receive())
            except WorkerFault as error:
                answers = iter([["worker", [str(error), error.reason]]] * len(sent))
                with self._lock:
                    if self._life is life and life is not None and not life.alive:
                        self._end()
            return [value_of(next(answers) if asked is life else GONE) for asked, *_ in calls]

        return result

    def region(self, life: Life, start: int, layout: Layout) -> Region:
        """The arrays of a slot that was opened in this life."""
        with self._lock:
            if self._life is not life:
                raise value_of(GONE)
            return Region(self._memory, start, layout)

    @property
    def busy(self) -> bool:
        """Is a message on its way, or its answer?"""
        return self._life is not None and self._life.busy

    def kill(self) -> None:
        """End the process at once; whoever waits for an answer gets a fault."""
        if self._life is not None and self._life.pid is not None:
            os.kill(self._life.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the process; a call in flight in another thread fails. May be called twice, and the host used again."""
        life = self._life
        if life is not None:
            life.close()
            with self._lock:
                if self._life is life:
                    self._end()


def value_of(answer: Sequence[Any]) -> Any:
    """What an answer says: the value, or the error to raise for it."""
    status, value = answer
    if status == "ok":
        return value
    if status == "missing":
        return MissingExtra(*value)
    if status == "worker":
        return WorkerFault(*value)
    if status == "raised":
        return WorkerFault(str(value), "raised")
    if status == "fault":
        kind, detail = value["kind"], value["detail"]
        if kind == "SessionFault":
            return SessionFault(detail, value["reason"])
        return EnvFault(detail if kind == "EnvFault" else f"{kind}: {detail}")
    refused = {"SnapshotError": SnapshotError, "SnapshotUnsupported": SnapshotUnsupported}
    return refused.get(status, ConfigError)(str(value))
