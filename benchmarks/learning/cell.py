"""One training run in a process: `python -m benchmarks.learning.cell RUN`, inside the folder of runs.

All paths are relative to that folder, so that half-finished runs can be resumed on another machine.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentrl.algorithms import arguments_class, train_function
from agentrl.core.cache import write_atomically
from agentrl.core.errors import AgentRLError, ConfigError
from agentrl.core.measure import machine
from benchmarks.learning.conditions import run_options
from benchmarks.learning.provenance import CODE

STAGE, DONE, LOCK = "stage.json", "done.json", "lock"
FINISHED, STOPPED = 0, 3  # exit statuses; everything else is a failure


def main(name: str) -> int:
    """Run (or resume) the stage that `name/stage.json` describes; the exit status says how far it came."""
    folder = Path(name)
    stage = json.loads((folder / STAGE).read_text())
    with alone_in(folder):
        if (folder / DONE).exists():
            return FINISHED
        stop_when_orphaned()
        arguments = run_arguments(stage, name)
        train_function(stage["algorithm"])(arguments, say)
        if not (folder / "checkpoints" / f"step_{arguments.iterations}").is_dir():
            return STOPPED
        write_atomically(folder / DONE, json.dumps({"machine": machine(), "code": CODE}).encode())
        for weights in (folder / "checkpoints").glob("*/training.pt"):
            weights.unlink()  # many runs stand side by side, and a finished one needs its policy only
    return FINISHED


def run_arguments(stage: dict[str, Any], name: str) -> Any:
    """The arguments of this run."""
    options = run_options(stage["algorithm"], stage["options"])
    options |= {"seed": stage["seed"], "output": name, "resume": True}
    if stage["start"]:
        options["model"] = final_policy(Path(stage["start"]))
    return arguments_class(stage["algorithm"]).from_json(options)


def final_policy(folder: Path) -> str:
    """Where a finished run left its model."""
    if not (folder / DONE).exists():
        raise ConfigError(f"the run {folder} is to be started from, and is not finished")
    steps = [int(path.name[5:]) for path in (folder / "checkpoints").glob("step_*") if path.name[5:].isdecimal()]
    if not steps:
        raise ConfigError(f"the run {folder} is to be started from, and has no checkpoint")
    return str(folder / "checkpoints" / f"step_{max(steps)}" / "policy")


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Two processes in one run folder would spoil it; the lock goes with the process, however that ends."""
    import fcntl

    with open(folder / LOCK, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ConfigError(f"another process is at work on {folder}; wait for it or end it") from error
        yield


def stop_when_orphaned(every: float = 1.0) -> None:
    """A runner that was killed cannot stop its runs: they notice themselves, and stop as if asked to."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(every)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def say(line: str) -> None:
    """Into the run's log, at once."""
    print(line, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1]))
    except AgentRLError as error:
        print(f"failed: {error}", flush=True)
        sys.exit(1)
