"""Runs in several processes; `main` takes a list of `Job` fields, in a warm process.

The processes of a job are forks of it, started as `--processes` or torchrun would start them (their rank and where to
meet stand in the environment). A job of size 0 is an ordinary run in one process. Trouble is a signal to one of the
processes, sent once the job's last run has written `lines` further lines of training.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import agentrl  # noqa: F401
from agentrl.algorithms import arguments_class, train_function
from agentrl.core.errors import AgentRLError, ConfigError, JudgeFault
from agentrl.trainers.parallel import ranks as distributed

TOO_LONG = 60.0  # seconds after trouble


@dataclass
class Job:
    """What some processes do."""

    name: str
    size: int
    runs: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    trouble: str = ""  # the name of a signal
    rank: int = 1  # who gets it
    lines: int = 1


@dataclass
class Outcome:
    """What became of it; `said` is what each process wrote, `after` the seconds from trouble to the last end."""

    codes: list[int]
    said: list[str]
    after: float = 0.0
    seconds: float = 0.0


def work(job: Job) -> int:
    """In a process of the team: all runs one after the other; the exit status."""
    for algorithm, arguments in job.runs:
        try:
            train_function(algorithm)(arguments_class(algorithm).from_json(arguments), report=print)
        except AgentRLError as error:
            print(f"{type(error).__name__}: {error}")
            return 1
    if not job.runs:
        talk()
    distributed.leave()
    return 0


def talk() -> None:
    """Say and hear things; what was heard is printed as JSON."""
    team = distributed.join("cpu", 30)
    heard: dict[str, Any] = {"size": team.size, "same": distributed.join("cpu", 30) is team}
    heard["lengths"] = [len(blob) for blob in team.gather_bytes(b"x" * (3 * team.rank))]
    heard["nothing"] = [len(blob) for blob in team.gather_bytes(b"")]
    heard["values"] = team.gather({"rank": team.rank, "odd": "\ud800", "big": 1 << 70})
    heard["lead"] = team.on_main(lambda: ["only", team.rank])
    for name, problem in (("config", ConfigError("bad")), ("fault", JudgeFault("late"))):
        try:
            team.everywhere(lambda problem=problem: _raised(problem) if team.rank == 1 else 0, lambda found: b"")
        except AgentRLError as error:
            heard[name] = f"{type(error).__name__}: {error}"
    print(json.dumps(heard))


def _raised(problem: Exception) -> Any:
    raise problem


# ---------------------------------------------------------------------- starting them


def started(job: Job, rank: int, folder: Path) -> int:
    """A process of the team; its id."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        out = os.open(folder / str(rank), os.O_WRONLY | os.O_CREAT)
        os.dup2(out, 1)
        os.dup2(out, 2)
        if job.size:
            place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": job.size, distributed.MEETING: folder / "meeting"}
            os.environ |= {name: str(value) for name, value in place.items()} | {"GLOO_SOCKET_IFNAME": "lo"}
        status = work(job)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)


def trained(job: Job) -> int:
    """How many lines of training its last run has written."""
    metrics = Path(job.runs[-1][1]["output"]) / "metrics.jsonl" if job.runs else Path()
    return metrics.read_text().count('"train"') if metrics.is_file() else 0


def make_trouble(job: Job, team: list[int], before: int) -> None:
    """Wait until there are so many more lines of training than before, then send the signal."""
    until = time.monotonic() + TOO_LONG
    while time.monotonic() < until and trained(job) < before + job.lines:
        time.sleep(0.002)
    os.kill(team[job.rank], getattr(signal, job.trouble))


def ended(team: list[int], until: float) -> list[int]:
    """The exit status of each process; one that does not end in time is killed."""
    codes: dict[int, int] = {}
    while len(codes) < len(team):
        for process in team:
            if process not in codes and (status := os.waitpid(process, os.WNOHANG))[0]:
                codes[process] = os.waitstatus_to_exitcode(status[1])
            elif process not in codes and time.monotonic() > until:
                os.kill(process, signal.SIGKILL)
        time.sleep(0.005)
    return [codes[process] for process in team]


def done(job: Job) -> Outcome:
    """Do a job."""
    with tempfile.TemporaryDirectory() as name:
        folder, started_at, before = Path(name), time.monotonic(), trained(job)
        team = [started(job, rank, folder) for rank in range(max(1, job.size))]
        if job.trouble:
            make_trouble(job, team, before)
        begin = time.monotonic()
        others = [process for process in team if process != team[job.rank]] if job.trouble == "SIGSTOP" else team
        codes = ended(others, begin + 4 * TOO_LONG)
        after = time.monotonic() - begin
        if others is not team:
            codes += ended([team[job.rank]], 0.0)
        said = [(folder / str(rank)).read_text() for rank in range(len(team))]
        return Outcome(codes, said, after, time.monotonic() - started_at)


def main(jobs: list[dict[str, Any]]) -> dict[str, Any]:
    """Do all of them; what became of each."""
    warnings.simplefilter("error", UserWarning)
    return {job.name: asdict(done(job)) for job in (Job(**data) for data in jobs)}
