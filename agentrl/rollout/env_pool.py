"""The environments of a collector: made when needed, used again, thrown away when they break.

Whatever an environment does wrong arrives here as a `Fault`: what it raises, what takes too long, and what is no step.
Only mistakes of the user (`ConfigError`, `MissingExtra`) come through as they are.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import heapq
import math
import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium as gym

from agentrl.core.errors import AgentRLError, ConfigError, EnvFault, Fault, SnapshotError
from agentrl.core.snapshot import restore_layers, snapshot_layers
from agentrl.rollout.episode import Seen, StepResult, env_id_of, spec_json
from agentrl.rollout.hosts import Host, make_stack
from agentrl.rollout.isolated import IsolatedEnv, ask_all
from agentrl.rollout.starts import EnvSpec, Start

MakeHost = Callable[[int], Host]
Place = tuple[int, int]  # index of the environment in the mix, and which one of its kind


class EnvHandle:
    """One environment, whose every call either works or is a fault."""

    def __init__(self, spec: EnvSpec, split: str, timeout: float | None, host: Host | None = None) -> None:
        self._label = spec.id
        self._thread: DeadlineThread | None = None
        stack = spec.stack(split)
        self.env: gym.Env = self._guarded(
            lambda: make_stack(stack) if host is None else IsolatedEnv(stack, host), "make()"
        )
        self.env_id = env_id_of(self.env)
        self.spec = spec_json(self.env)
        if timeout is not None and host is None:
            self._thread = DeadlineThread(timeout, self.env.close)

    @property
    def interruptible(self) -> bool:
        """May it be closed while a call runs in another thread?"""
        return self._thread is not None

    @property
    def lost(self) -> bool:
        """Has it gone together with its host, perhaps for the fault of another environment?"""
        return isinstance(self.env, IsolatedEnv) and self.env.lost

    def reset(self, start: Start) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        options = None if start.task is None else {"task": start.task}
        return self._call(lambda: _checked_reset(self.env.reset(seed=start.seed, options=options)), "reset()")

    def step(self, action: Any) -> StepResult:
        """Play a turn."""
        return self._call(lambda: _checked_step(self.env.step(action)), "step()")

    def take(self, answer: Any) -> StepResult:
        """The turn that was played in another process for a record, of its answer."""
        if isinstance(answer, AgentRLError):
            raise answer
        env = self.env
        assert isinstance(env, IsolatedEnv)
        *answer, seen = answer
        return self._guarded(lambda: _checked_step(env.read_step(answer))._replace(seen=Seen(*seen)), "step()")

    def save(self) -> list[bytes]:
        """What each of its wrappers remembers from one episode to the next."""
        env = self.env
        return env.save() if isinstance(env, IsolatedEnv) else snapshot_layers(env)

    def load(self, blobs: list[bytes]) -> None:
        """Inverse of `save`."""
        env = self.env
        env.load(blobs) if isinstance(env, IsolatedEnv) else restore_layers(env, blobs)

    def close(self) -> None:
        """It may be broken: what it says while closing changes nothing any more."""
        if self._thread is not None:
            self._thread.leave()
            return
        with contextlib.suppress(Exception):
            self.env.close()

    def _call(self, function: Callable[[], Any], what: str) -> Any:
        thread = self._thread
        if thread is None:
            return self._guarded(function, what)
        return self._guarded(lambda: thread.call(function, f"{self._label} {what}"), what)

    def _guarded(self, function: Callable[[], Any], what: str) -> Any:
        try:
            return function()
        except AgentRLError:
            raise
        except (Exception, SystemExit) as error:
            raise EnvFault(f"{self._label} {what}: {type(error).__name__}: {error}") from error


def _checked_reset(result: Any) -> tuple[Any, dict[str, Any]]:
    observation, info = result
    return observation, dict(info)


def _checked_step(result: Any) -> StepResult:
    observation, reward, terminated, truncated, info = result
    reward = float(reward)
    if not math.isfinite(reward):
        raise ValueError(f"the reward is {reward}")
    return StepResult(observation, reward, bool(terminated), bool(truncated), dict(info))


class EnvPool:
    """Hands out environments of a mix; of the free places always the first, so that runs repeat.

    With `hosts` the places share that many processes, which `make_host` makes of their numbers.
    """

    def __init__(
        self,
        specs: Sequence[EnvSpec],
        split: str,
        timeout: float | None,
        hosts: int = 0,
        make_host: MakeHost | None = None,
    ) -> None:
        self._specs, self._split, self._timeout, self._make_host = specs, split, timeout, make_host
        self._hosts = [Host(timeout) if make_host is None else make_host(number) for number in range(hosts)]
        self._free: list[list[int]] = [[] for _ in specs]  # numbers, lowest first
        self._counts = [0 for _ in specs]  # numbers given out so far
        self._made: list[dict[int, EnvHandle]] = [{} for _ in specs]

    def reserve(self, index: int) -> Place:
        """A place for an environment of the mix's `index`-th kind; there may be one in it already."""
        if self._free[index]:
            return index, heapq.heappop(self._free[index])
        self._counts[index] += 1
        return index, self._counts[index] - 1

    def open(self, place: Place) -> EnvHandle:
        """The environment of a reserved place, made if it is not there; several threads may do this at once."""
        index, number = place
        if number in self._made[index] and self._made[index][number].lost:
            self.discard(place)
        if number not in self._made[index]:
            host = self._hosts[(index + number) % len(self._hosts)] if self._hosts else None
            self._made[index][number] = EnvHandle(self._specs[index], self._split, self._timeout, host)
        return self._made[index][number]

    def step(self, turns: Sequence[tuple[EnvHandle, Any]]) -> list[StepResult | Fault]:
        """Play a turn in each of some environments: what it gave, or its fault. Those of other processes play at the
        same time, and all that share a process are told in one message."""

        def played(turn: Callable[[], StepResult]) -> StepResult | Fault:
            try:
                return turn()
            except Fault as fault:
                return fault

        if not self._hosts:
            return [played(lambda handle=handle, action=action: handle.step(action)) for handle, action in turns]
        envs = [(handle.env, action) for handle, action in turns]
        asked = [(env, env.asked("step", action, True)) for env, action in envs if isinstance(env, IsolatedEnv)]
        pairs = zip(turns, ask_all(asked), strict=True)
        return [played(lambda handle=handle, answer=answer: handle.take(answer)) for (handle, _), answer in pairs]

    def make_one_of_each(self) -> None:
        """Make an environment of each kind, for the first episodes: what it cannot do is known before they begin."""
        for place in [self.reserve(index) for index in range(len(self._specs))]:
            with contextlib.suppress(Fault):  # an episode will meet it again, and keep a record of it
                self.open(place)
            self.give_back(place)

    def give_back(self, place: Place) -> None:
        """Its episode is over: the next one may have it."""
        index, number = place
        heapq.heappush(self._free[index], number)

    def discard(self, place: Place) -> None:
        """What stands there may be broken: close it, and make a fresh one when the place is used again."""
        handle = self.forget(place)
        if handle is not None:
            handle.close()

    def forget(self, place: Place) -> EnvHandle | None:
        """What stands there now belongs to the caller, who closes it."""
        index, number = place
        return self._made[index].pop(number, None)

    def interrupt(self) -> None:
        """End the processes in which a call is running; it fails, and what else is in them is lost."""
        for host in self._hosts:
            if host.busy:
                host.kill()

    def close(self) -> None:
        """Close all; may be called twice."""
        for made in self._made:
            while made:
                _, handle = made.popitem()
                handle.close()
        for host in self._hosts:
            host.close()

    # ------------------------------------------------------------------ what survives from episode to episode

    def state_dict(self) -> dict[str, Any]:
        """The memory of every environment's wrappers; equal ones (a shared counter) are written once."""
        saved = {(index, n): handle.save() for index, made in enumerate(self._made) for n, handle in made.items()}
        distinct = list(dict.fromkeys(blob for place in sorted(saved) for blob in saved[place]))
        numbers = {blob: number for number, blob in enumerate(distinct)}
        return {
            "memories": [base64.b64encode(blob).decode("ascii") for blob in distinct],
            "environments": [[*place, [numbers[blob] for blob in saved[place]]] for place in sorted(saved)],
        }

    def load_state_dict(self, state: Any) -> None:
        """Inverse of `state_dict`, for equal specs; `ConfigError` on anything else, with nothing changed."""
        try:
            blobs = [base64.b64decode(text, validate=True) for text in state["memories"]]
            entries = [(int(index), int(number), list(layers)) for index, number, layers in state["environments"]]
            saved = {(index, number): [blobs[layer] for layer in layers] for index, number, layers in entries}
        except (KeyError, TypeError, ValueError, IndexError, binascii.Error) as error:
            raise ConfigError(f"this is not the state of a collector: {type(error).__name__}: {error}") from error
        if any(not 0 <= index < len(self._specs) or number < 0 for index, number in saved):
            raise ConfigError("the state belongs to a collector with more environments than this one has")
        fresh = EnvPool(self._specs, self._split, self._timeout, len(self._hosts), self._make_host)
        try:
            for place in sorted(saved):
                fresh.open(place).load(saved[place])
        except BaseException as error:
            fresh.close()
            if isinstance(error, SnapshotError):
                raise ConfigError(f"the state belongs to other environments: {error}") from error
            raise
        self.close()
        self._made, self._hosts = fresh._made, fresh._hosts
        self._counts = [max(made, default=-1) + 1 for made in fresh._made]
        self._free = [list(range(count)) for count in self._counts]


class DeadlineThread:
    """Runs one call at a time, each within `seconds`; after the first that takes longer it is of no use any more.

    Python cannot stop a thread. One that misses its deadline is abandoned together with what it works on; should it
    ever come back, it tidies up after itself. Where work must really be stopped, it belongs into a process of its own
    (`agentrl.rollout.isolated`).
    """

    def __init__(self, seconds: float, tidy: Callable[[], Any]) -> None:
        self.seconds, self._tidy = seconds, tidy
        self._calls: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        # A daemon: a thread that hangs must not keep the program from ending.
        self._thread = threading.Thread(target=self._serve, name="environment", daemon=True)
        self._thread.start()
        self._busy = False  # stays so after a call that was late

    def call(self, function: Callable[[], Any], what: str) -> Any:
        """The result of `function()`; `EnvFault` when it does not come in time."""
        self._busy = True
        self._calls.put(function)
        try:
            value, error = self._results.get(timeout=self.seconds)
        except queue.Empty:
            raise EnvFault(f"{what} gave no answer within {self.seconds:g} s") from None
        self._busy = False
        if error is not None:
            raise error
        return value

    def leave(self) -> None:
        """No more calls: the thread tidies up and ends as soon as it can. An idle one is waited for."""
        self._calls.put(None)
        if not self._busy:
            self._thread.join(self.seconds)  # files that are written on closing should be there afterwards

    def _serve(self) -> None:
        while (function := self._calls.get()) is not None:
            try:
                self._results.put((function(), None))
            except BaseException as error:  # sys.exit() in an environment ends its episode, not the thread
                self._results.put((None, error))
        with contextlib.suppress(BaseException):  # the caller has gone
            self._tidy()
