"""`agentrl train --processes N`: the same training in N processes of this machine, which find each other by a file.

Nothing listens beyond this machine. A signal is passed on to all; when one process fails, the others are given time to
notice it themselves and are ended after that. For several machines, use torchrun.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from agentrl.cli.output import log
from agentrl.cli.signals import STATUS

MEETING = "AGENTRL_MEETING"  # as in agentrl.trainers.parallel.ranks, which is not imported here: it needs torch
Process = subprocess.Popen[Any]
GRACE = 30.0  # seconds for the others to notice that one is gone, then to end when they are told
LOOK_EVERY = 0.05
SAID = 12  # last lines of a failed process that are shown


def is_main() -> bool:
    """Whether this process reports to the user: of several started together only the main one does."""
    return os.environ.get("RANK", "0") == "0" or "WORLD_SIZE" not in os.environ


def launch(words: Sequence[str], count: int) -> int:
    """Run `agentrl train WORDS` in `count` processes; the exit status of the whole."""
    with tempfile.TemporaryDirectory(prefix="agentrl-") as folder:
        processes = [_start(words, rank, count, Path(folder)) for rank in range(count)]
        try:
            with _passing_on(processes):
                first_to_fail = _watch(processes)
        finally:
            _end(processes)
        if first_to_fail:
            _explain(first_to_fail, processes[first_to_fail], Path(folder))
        return _status(processes)


def _start(words: Sequence[str], rank: int, count: int, folder: Path) -> Process:
    local = {"GLOO_SOCKET_IFNAME": "lo", "NCCL_SOCKET_IFNAME": "lo"}
    threads = str(max(1, (os.cpu_count() or 1) // count))
    environment = {"OMP_NUM_THREADS": threads, **local, **os.environ, MEETING: str(folder / "meeting")}
    environment |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(count)}
    # They import from the same places in the same order as this process; "-m" alone would put the working folder first.
    environment["PYTHONPATH"] = os.pathsep.join(place or os.getcwd() for place in sys.path)
    # A process group of their own: a Ctrl-C of the terminal must reach them once, through here. The pipe tells them
    # when this process is gone, however it went.
    command = [sys.executable, "-P", "-m", "agentrl.cli", "train", *words]
    options: dict[str, Any] = {"env": environment, "stdin": subprocess.PIPE, "process_group": 0}
    if rank == 0:
        return subprocess.Popen(command, **options)
    with open(folder / f"said_{rank}", "wb") as said:
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said, **options)


@contextlib.contextmanager
def _passing_on(processes: Sequence[Process]) -> Iterator[None]:
    def pass_on(number: int, frame: Any) -> None:
        for process in processes:
            process.send_signal(number)

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _watch(processes: Sequence[Process]) -> int | None:
    """Wait for all of them, or a while longer than the first that failed; the rank of that one."""
    failed, until = None, 0.0
    while any(process.poll() is None for process in processes) and (failed is None or time.monotonic() < until):
        if failed is None:
            failed = _failed(processes)
            until = time.monotonic() + GRACE
        time.sleep(LOOK_EVERY)
    return _failed(processes) if failed is None else failed


def _failed(processes: Sequence[Process]) -> int | None:
    fine = (None, 0, *STATUS.values())
    return next((rank for rank, process in enumerate(processes) if process.poll() not in fine), None)


def _end(processes: Sequence[Process]) -> None:
    """None of them outlives this process."""
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.wait()
        if process.stdin is not None:
            process.stdin.close()


def _explain(rank: int, process: Process, folder: Path) -> None:
    """The last lines of a process that were not shown yet."""
    code = process.returncode
    how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"
    log(f"process {rank} {how}")
    for line in (folder / f"said_{rank}").read_text(errors="replace").splitlines()[-SAID:]:
        log(f"[{rank}] {line}")


def _status(processes: Sequence[Process]) -> int:
    codes = [process.returncode for process in processes]
    bad = next((code for code in codes if code), 0)
    return bad if bad >= 0 else 1


def stop_when_abandoned() -> None:
    """In one of the processes: when the one that started them is gone, stop as if asked to."""
    if MEETING in os.environ:
        threading.Thread(target=_until_abandoned, name="agentrl-launcher", daemon=True).start()


def _until_abandoned() -> None:
    with contextlib.suppress(OSError):
        while os.read(0, 1):
            pass
    os.kill(os.getpid(), signal.SIGTERM)
