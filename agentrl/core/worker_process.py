"""The parent's end of one worker process: starting it, frames over its pipes with a deadline, ending it for good."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import math
import os
import queue
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path

from agentrl.core.worker_child import CHUNK, HEADER, frame_parts

CHILD_FILE = Path(__file__).with_name("worker_child.py")
TAIL_SIZE = 8192
SMALL = 4096  # most answers; reading room for a large one costs time even when it stays empty
MAX_POLL = 3600.0  # poll() counts milliseconds in a C int


class Late(Exception):
    """The deadline passed."""


class Gone(Exception):
    """The process ended, or closed its end of a pipe."""


class Garbled(Exception):
    """What came back is no frame."""


class WorkerProcess:
    """A process in a session of its own, with pipes for requests, answers and messages."""

    def __init__(
        self, python: str, environment: Mapping[str, str], max_frame: int, descriptors: Sequence[int] = ()
    ) -> None:
        command, pipe, variables = [python, str(CHILD_FILE)], subprocess.PIPE, dict(environment)
        self._process = _spawner.run(
            lambda: subprocess.Popen(
                command,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                bufsize=0,
                env=variables,
                start_new_session=True,
                pass_fds=descriptors,
            )
        )
        self.pid = self._process.pid
        self._owner = os.getpid()
        self._max_frame = max_frame
        self._ending = threading.Lock()
        self._tail = bytearray()
        opened = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._pipes = [pipe for pipe in opened if pipe]  # always the three of them
        self._requests, self._answers, self._messages = (pipe.fileno() for pipe in self._pipes)
        for descriptor in (self._requests, self._answers, self._messages):
            os.set_blocking(descriptor, False)
        for descriptor in (self._requests, self._answers):
            # Let a picture pass in one piece, not in many wake-ups of both sides (a small pipe works as well).
            with contextlib.suppress(AttributeError, OSError):
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, CHUNK)
        self._poll = select.poll()
        self._poll.register(self._answers, select.POLLIN)
        self._poll.register(self._messages, select.POLLIN)
        # Its death closes the pipes, unless a process it forked still holds them: only a pidfd tells then.
        self._death = -1
        if hasattr(os, "pidfd_open"):
            with contextlib.suppress(OSError):
                self._death = os.pidfd_open(self.pid)
                self._poll.register(self._death, select.POLLIN)

    # ------------------------------------------------------------------ frames

    def send(self, payload: bytearray, until: float) -> None:
        """Send one frame; `Late` or `Gone` if that cannot be."""
        for part in frame_parts(payload):
            rest = memoryview(part)
            while rest:
                try:
                    rest = rest[os.write(self._requests, rest) :]
                except BlockingIOError:
                    writable = select.poll()
                    writable.register(self._requests, select.POLLOUT)
                    if not writable.poll(_milliseconds(until)):
                        raise Late from None
                except OSError as error:
                    if error.errno == errno.EPIPE:
                        raise Gone from None
                    raise

    def receive(self, until: float) -> bytearray:
        """Wait for one frame; `Late`, `Gone` or `Garbled` if none comes."""
        data, end = bytearray(), HEADER.size
        while len(data) < end:
            self._wait_for_more(data, end, until)
            if len(data) >= HEADER.size:
                size = HEADER.unpack_from(data)[0]
                if size > self._max_frame or size == 0:
                    raise Garbled(f"a frame of {size} bytes was announced, max_frame allows {self._max_frame}")
                end = HEADER.size + size
        if len(data) > end:
            raise Garbled(f"{len(data) - end} bytes follow the answer")
        del data[: HEADER.size]
        return data

    def _wait_for_more(self, data: bytearray, end: int, until: float) -> None:
        """Append to `data` what the child has to say; keep its messages moving meanwhile."""
        ready = dict(self._poll.poll(_milliseconds(until)))
        if not ready:
            raise Late
        if self._messages in ready:
            self._keep_messages()
        if self._answers in ready:
            chunk = os.read(self._answers, min(max(end - len(data), SMALL), CHUNK))
            if not chunk:
                raise Gone
            data += chunk
        elif self._death in ready:
            raise Gone
        elif time.monotonic() >= until:
            raise Late  # a flood of messages must not hold the deadline up

    def _keep_messages(self) -> bool:
        """Read a piece of stderr into the tail; False when there is nothing to read now."""
        try:
            chunk = os.read(self._messages, CHUNK)
        except BlockingIOError:
            return False
        if not chunk:
            with contextlib.suppress(KeyError):
                self._poll.unregister(self._messages)
            return False
        self._tail += chunk
        del self._tail[:-TAIL_SIZE]
        return True

    def tail(self) -> str:
        """The last the process wrote to stdout and stderr."""
        return self._tail.decode("utf-8", "replace").strip()

    # ------------------------------------------------------------------ the end

    def running(self) -> bool:
        """Has the process not been ended, by itself or by us?"""
        with self._ending:
            return self._process.returncode is None and self._process.poll() is None

    def kill(self) -> None:
        """End the whole process group now; the pipes stay, so that a call in flight notices."""
        with self._ending:
            # Not reaped yet, so the number is still its own; and a fork of this program must leave it alone.
            if self._process.returncode is None and os.getpid() == self._owner:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self.pid, signal.SIGKILL)

    def end(self, grace: float = 0.0) -> int:
        """Close the pipes, wait `grace` seconds for a tidy exit, end the group; returns the exit status."""
        with contextlib.suppress(OSError):
            self._pipes[0].close()
        status = 0
        if os.getpid() == self._owner:
            self._await_exit(time.monotonic() + grace)
            self.kill()
            with self._ending:
                status = self._process.wait()
        last_piece = time.monotonic() + 0.1  # a process that escaped the group might write for ever
        _, answers, messages = self._pipes
        while not messages.closed and self._keep_messages() and time.monotonic() < last_piece:
            pass
        answers.close()
        messages.close()
        if self._death >= 0:
            os.close(self._death)
            self._death = -1
        return status

    def _await_exit(self, until: float) -> None:
        """Wait for it, without reaping where the system can tell: the group must keep its number until it is killed."""
        if self._death < 0:
            with contextlib.suppress(subprocess.TimeoutExpired), self._ending:
                self._process.wait(max(0.0, until - time.monotonic()))
            return
        exit_or_message = select.poll()
        exit_or_message.register(self._death, select.POLLIN)
        exit_or_message.register(self._messages, select.POLLIN)
        while time.monotonic() < until:
            ready = dict(exit_or_message.poll(_milliseconds(until)))
            if self._death in ready or not self._keep_messages():
                return


def _milliseconds(until: float) -> int:
    return math.ceil(max(0.0, min(until - time.monotonic(), MAX_POLL)) * 1000)


class _Spawner:
    """A thread that starts all processes.

    Linux sends a child its parent-death signal when the *thread* that started it ends. A worker first used in some
    short-lived thread would die with that thread; this one lives as long as the program.
    """

    def __init__(self) -> None:
        self._forget()
        os.register_at_fork(after_in_child=self._forget)  # threads do not survive a fork

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._jobs: queue.SimpleQueue[tuple[Future, Callable[[], subprocess.Popen[bytes]]]] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def run(self, job: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
        """The job's result, or its exception, here."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="agentrl-worker-spawner", daemon=True)
                self._thread.start()
        future: Future = Future()
        self._jobs.put((future, job))
        return future.result()

    def _work(self) -> None:
        while True:
            future, job = self._jobs.get()
            try:
                future.set_result(job())
            except BaseException as error:
                future.set_exception(error)
            del future, job  # or the last process would be kept alive by this frame


_spawner = _Spawner()
