"""Runs cells in parallel processes of one thread each; stops when told to, resumes where it stopped."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import agentrl
from agentrl.core.arguments import finite_number, whole_number
from agentrl.core.cache import cache_dir, write_atomically
from agentrl.core.errors import ConfigError
from agentrl.core.measure import ONE_THREAD
from benchmarks.learning.cell import DONE, FINISHED, STAGE, STOPPED
from benchmarks.learning.experiment import Cell, PlannedRun

LOG = "log.txt"
GRACE = 90.0  # seconds for the iteration that is under way when time is up; what is killed then repeats a little
POLL = 0.1  # seconds between looks at the processes
Say = Callable[[str], Any]


@dataclass
class Outcome:
    """How far it came; names of cells, and of runs that failed with their last words."""

    finished: list[str] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)


class Runner:
    """Works through the runs of `cells` inside `folder`."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        cells: Sequence[Cell],
        *,
        jobs: int = 1,
        minutes: float = 0.0,
        say: Say = print,
    ) -> None:
        self.folder, self.cells, self.say = Path(folder).expanduser().absolute(), list(cells), say
        self.jobs = whole_number("jobs", jobs, at_least=1)
        if finite_number("minutes", minutes) < 0:
            raise ConfigError(f"minutes must not be negative (0: until all is done), not {minutes!r}")
        self.deadline = time.monotonic() + 60 * minutes if minutes else float("inf")
        self.runs = {run.name: run for cell in self.cells for run in cell.runs()}
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._failed: dict[str, str] = {}
        self._stopped: set[str] = set()
        self.asked_to_stop = False

    def run(self) -> Outcome:
        """Until all is done or time is up; then wait for the processes to put their state away."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"out: {error}; choose another folder") from error
        with self._listening():
            try:
                while not self._over() and (self._start_ready() or self._children):
                    self._reap()
                    time.sleep(POLL)
            finally:
                self._end_all()
        return self.outcome()

    def outcome(self) -> Outcome:
        """What is done by now."""
        done = {cell.title: all(self._done(run.name) for run in cell.runs()) for cell in self.cells}
        titles = lambda wanted: [title for title, finished in done.items() if finished is wanted]  # noqa: E731
        return Outcome(titles(True), titles(False), dict(self._failed))

    # ------------------------------------------------------------------ when to stop

    def _over(self) -> bool:
        return self.asked_to_stop or time.monotonic() >= self.deadline

    @contextlib.contextmanager
    def _listening(self) -> Iterator[None]:
        """Ctrl-C and SIGTERM mean: stop cleanly."""
        before = {}
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                before[number] = signal.signal(number, self._ask_to_stop)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _ask_to_stop(self, number: int, frame: Any) -> None:
        self.asked_to_stop = True

    def _end_all(self) -> None:
        for child in self._children.values():
            child.terminate()
        if self._children:
            self.say(f"time is up: {len(self._children)} run(s) finish their iteration and can be resumed")
        last = time.monotonic() + GRACE
        while self._children and time.monotonic() < last:
            self._reap()
            time.sleep(POLL)
        for name, child in self._children.items():
            child.kill()
            child.wait()
            self.say(f"{name}: killed; resumes from its last checkpoint")
        self._children.clear()

    # ------------------------------------------------------------------ processes

    def _start_ready(self) -> bool:
        """Fill the free places; is there anything left that could run?"""
        away = {*self._children, *self._failed, *self._stopped}
        ready = [
            run
            for run in self.runs.values()
            if run.name not in away and not self._done(run.name) and (run.start is None or self._done(run.start))
        ]
        for run in ready[: self.jobs - len(self._children)]:
            self._start(run)
        return bool(ready)

    def _done(self, name: str) -> bool:
        return (self.folder / name / DONE).exists()

    def _start(self, run: PlannedRun) -> None:
        folder = self.folder / run.name
        write_atomically(folder / STAGE, json.dumps(run.to_json(), indent=1).encode())
        command = [sys.executable, "-m", "benchmarks.learning.cell", run.name]
        with open(folder / LOG, "ab") as log:
            # A session of its own: Ctrl-C reaches the runner alone, which then stops its runs in order.
            self._children[run.name] = subprocess.Popen(
                command,
                cwd=self.folder,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.say(f"{run.name}: started")

    def _reap(self) -> None:
        for name, child in list(self._children.items()):
            status = child.poll()
            if status is None:
                continue
            del self._children[name]
            if status == FINISHED:
                self.say(f"{name}: finished")
            elif status == STOPPED or (status == -signal.SIGTERM and self._over()):
                self._stopped.add(name)
                self.say(f"{name}: stopped, can be resumed")
            else:
                self._failed[name] = f"exit status {status}: {last_words(self.folder / name / LOG)}"
                self.say(f"{name}: failed: {self._failed[name]}")


def environment() -> dict[str, str]:
    """Of the processes: one thread, this very package, and the same cache whatever folder they run in."""
    package = str(Path(agentrl.__file__).absolute().parent.parent)
    old = [str(Path(place).absolute()) for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place]
    paths = os.pathsep.join(dict.fromkeys([package, *old]))
    return {**os.environ, **ONE_THREAD, "PYTHONPATH": paths, "AGENTRL_CACHE": str(cache_dir().absolute())}


def last_words(path: Path, lines: int = 3) -> str:
    """The end of a log, on one line."""
    try:
        text = path.read_text(errors="replace")[-4000:]
    except OSError:
        return "it left no log"
    return " | ".join(text.strip().splitlines()[-lines:]) or "it said nothing"
