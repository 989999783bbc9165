"""The supervised worker: an object that lives in a process of its own and may hang, crash or eat memory there.

    with Worker("my_renderer:Renderer", kwargs={"size": 256}, deadline=5.0, memory_limit=2 << 30) as renderer:
        picture = renderer.call("draw", "<svg/>")

Every call has a deadline. When the process misses it, dies, or runs out of memory, the caller gets a `WorkerFault`
whose `reason` says which; the whole process group is killed, and the next call starts a fresh process with a fresh
target (so the state is gone: a target with state must be set up again). Nothing is pickled: arguments and results are
what msgpack knows, and numpy arrays. Tuples arrive as lists.

This isolates faults, not enemies: the target runs with the rights of this process.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agentrl.core.errors import ConfigError, WorkerFault, WorkerReason
from agentrl.core.worker_child import decode, encode
from agentrl.core.worker_process import Gone, Late, WorkerProcess

TARGET = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
MAX_FRAME = 2**32 - 1
TIDY_EXIT = 1.0  # seconds for the target's exit handlers when the worker is closed


class Worker:
    """One supervised process around `target`, "module:Class" or "module:function"; what it returns receives the calls.

    The process starts with the first call (or `start()`). `python` names another interpreter, which then finds modules
    in its own environment and in `path` only; without it the process sees this program's modules. `environment` adds
    variables, and the process inherits the open file `descriptors` under their numbers. `deadline` and
    `start_deadline` are seconds (`math.inf`: for ever), `memory_limit` is bytes of address space, which a process that
    has loaded much maps far more of than it uses.
    """

    def __init__(
        self,
        target: str,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        python: str | Path | None = None,
        path: Sequence[str | Path] = (),
        environment: Mapping[str, str] | None = None,
        descriptors: Sequence[int] = (),
        deadline: float = 60.0,
        start_deadline: float = 60.0,
        memory_limit: int | None = None,
        max_frame: int = 256 << 20,
    ) -> None:
        if os.name != "posix":
            raise ConfigError("supervised workers need Linux or macOS")
        if not isinstance(target, str) or not TARGET.fullmatch(target) or target.startswith("__main__:"):
            raise ConfigError(f'target must be "module:Class" in a module that can be imported; got {target!r}')
        self.target, self._python, self._path = target, python, [str(Path(folder).absolute()) for folder in path]
        self._environment, self._descriptors = dict(environment or {}), tuple(descriptors)
        self._deadline = _seconds("deadline", deadline)
        self._start_deadline = _seconds("start_deadline", start_deadline)
        self._max_frame = _bytes("max_frame", max_frame, MAX_FRAME)
        self._memory_limit = None if memory_limit is None else _bytes("memory_limit", memory_limit, 2**62)
        self._arguments = list(args), dict(kwargs or {})
        self._opening()  # complain about arguments that cannot be sent here, not at the first call
        self._lock = threading.Lock()
        self._process: WorkerProcess | None = None
        self._finalizer: weakref.finalize | None = None
        self._owner, self._starts, self._closed, self._last_words = os.getpid(), 0, False, ""

    # ------------------------------------------------------------------ calls

    def call(self, method: str, /, *args: Any, deadline: float | None = None, **kwargs: Any) -> Any:
        """Call a public method of the target, or read a public attribute of it.

        `deadline` (seconds, from when the worker is free) replaces the worker's own for this call. One call runs at a
        time; other threads wait.
        """
        return self.send(method, *args, deadline=deadline, **kwargs)()

    def send(self, method: str, /, *args: Any, deadline: float | None = None, **kwargs: Any) -> Callable[[], Any]:
        """Begin a call, to begin others in other workers: what this returns waits for the result. It must be called,
        and once; the worker is busy until then."""
        if not isinstance(method, str) or not method.isidentifier() or method.startswith("_"):
            raise ConfigError(f"method must be a public name of {self.target}; got {method!r}")
        seconds = self._deadline if deadline is None else _seconds("deadline", deadline)
        payload = self._encode([method, args, kwargs], f"the arguments of {method}")
        self._lock.acquire()
        try:
            receive = self._ask(self._running_process(), payload, seconds, f"{self.target} {method}()")
        except BaseException:
            self._lock.release()
            raise

        def result() -> Any:
            try:
                return receive()
            finally:
                self._lock.release()

        return result

    def start(self) -> None:
        """Start the process now, if it does not run; `WorkerFault` with reason "start" if it cannot."""
        with self._lock:
            self._running_process()

    def close(self) -> None:
        """End the process for good; a call in flight in another thread fails. May be called twice."""
        self._closed = True
        process = self._process
        if not self._lock.acquire(blocking=False):
            if process is not None:
                process.kill()
            self._lock.acquire()
        try:
            self._end_process(grace=TIDY_EXIT)
        finally:
            self._lock.release()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # ------------------------------------------------------------------ what can be seen from outside

    @property
    def restarts(self) -> int:
        """How often a process had to be replaced."""
        return max(0, self._starts - 1)

    @property
    def closed(self) -> bool:
        """Has `close` been called?"""
        return self._closed

    @property
    def pid(self) -> int | None:
        """The process, or None while there is none."""
        process = self._process
        return process.pid if process is not None else None

    @property
    def alive(self) -> bool:
        """Is there a process, and does it run?"""
        process = self._process
        return process is not None and process.running()

    @property
    def busy(self) -> bool:
        """Is a call running?"""
        return self._lock.locked()

    @property
    def output(self) -> str:
        """The last kilobytes that the process (or its predecessor) printed, as far as they have been read."""
        process = self._process
        return process.tail() if process is not None else self._last_words

    def __repr__(self) -> str:
        state = "closed" if self._closed else f"pid {self.pid}" if self._process else "not started"
        return f"Worker({self.target!r}, {state}, restarts={self.restarts})"

    # ------------------------------------------------------------------ inside

    def _running_process(self) -> WorkerProcess:
        if self._owner != os.getpid():  # after a fork the process belongs to the other program
            self._end_process()
            self._owner, self._starts = os.getpid(), 0
        if self._closed:
            raise WorkerFault(f"{self.target}: the worker is closed", "died")
        return self._process or self._start()

    def _start(self) -> WorkerProcess:
        python = str(self._python or sys.executable)
        # Modules meant for this interpreter would break another one.
        foreign = {"PYTHONPATH", "PYTHONHOME"} if self._python else set()
        inherited = {name: value for name, value in os.environ.items() if name not in foreign}
        what = f"{self.target} could not start in {python}"
        self._starts += 1
        try:
            process = WorkerProcess(python, {**inherited, **self._environment}, self._max_frame, self._descriptors)
        except OSError as error:
            raise WorkerFault(f"{what}: {error}", "start") from error
        self._process = process
        self._finalizer = weakref.finalize(self, process.end)
        try:
            self._ask(process, self._opening(), self._start_deadline, "the start")()
        except WorkerFault as fault:
            self._end_process()
            raise WorkerFault(f"{what}: {fault}", "start") from None
        return process

    def _opening(self) -> bytearray:
        args, kwargs = self._arguments
        opening = {
            "target": self.target,
            "args": args,
            "kwargs": kwargs,
            "path": self._path,
            "replace_path": None if self._python else self._path + [str(Path(p).absolute()) for p in sys.path],
            "memory_limit": self._memory_limit,
            "max_frame": self._max_frame,
        }
        return self._encode(opening, "the constructor's arguments")

    def _ask(self, process: WorkerProcess, payload: bytearray, seconds: float, what: str) -> Callable[[], Any]:
        """Send one request; what this returns reads its answer."""
        until = time.monotonic() + seconds
        self._supervised(lambda: process.send(payload, until), seconds, what)

        def answer() -> Any:
            status, *content = self._supervised(lambda: decode(process.receive(until)), seconds, what)
            if status == "ok":
                return content[0]
            summary, traceback = content
            if status == "memory":
                raise self._broken("memory", f"{what}: {summary}")
            raise WorkerFault(f"{what}: {summary}" + (f"\n{traceback}" if traceback else ""), status)

        return answer

    def _supervised(self, work: Callable[[], Any], seconds: float, what: str) -> Any:
        """A half of an exchange; on any trouble with the process itself, it is ended first."""
        try:
            return work()
        except Late:
            raise self._broken("deadline", f"{what} gave no answer within {seconds:g} s") from None
        except Gone:
            raise self._broken("died", f"{what}: the process ended") from None
        except Exception as error:
            raise self._broken("protocol", f"{what} gave an answer that cannot be read: {error}") from error
        except BaseException:  # interrupted: the answer would meet the next request
            self._end_process()
            raise

    def _broken(self, reason: WorkerReason, message: str) -> WorkerFault:
        """End the process and say how it ended and what it said last."""
        status = self._end_process()
        if status == -signal.SIGALRM:  # the target set itself a deadline
            reason, message = "deadline", f"{message}, since a call in it took too long"
        elif reason == "died":
            closed = ", closed by this program" if self._closed else ""
            message += f" (killed by signal {-status}{closed})" if status < 0 else f" (exit status {status}{closed})"
        if self._last_words:
            message += f"; its last output:\n{self._last_words[-2000:]}"
        return WorkerFault(message, reason)

    def _end_process(self, grace: float = 0.0) -> int:
        process, self._process = self._process, None
        if process is None:
            return 0
        status = process.end(grace)
        self._last_words = process.tail()
        if self._finalizer is not None:
            self._finalizer.detach()
        return status

    def _encode(self, value: Any, what: str) -> bytearray:
        try:
            payload = encode(value)
        except Exception as error:
            raise ConfigError(f"{what} cannot be sent to {self.target}: {error}") from error
        if len(payload) > self._max_frame:
            raise ConfigError(f"{what} take {len(payload)} bytes; max_frame allows {self._max_frame}")
        return payload


def _seconds(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise ConfigError(f"{name} must be a number of seconds above 0 (math.inf for no limit); got {value!r}")
    return float(value)


def _bytes(name: str, value: Any, largest: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= largest:
        raise ConfigError(f"{name} must be a number of bytes from 1 to {largest}; got {value!r}")
    return value
