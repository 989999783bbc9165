"""`agentrl bench serve`: what a step costs the server, beside OpenEnv's server with the same environment.

One client process plays 64 sessions, a WebSocket each, in a trivial environment that answers 110 characters. Counted is
the processor time of the server process, so that other programs on the machine matter little. Frames are ready-made
and answers are not read, only counted: the client is the same for all. With 16 steps a frame, each of 64 connections
has 16 episodes. OpenEnv lives in a virtual environment of its own (`scripts/setup.sh library:openenv`), or in that of
the interpreter which AGENTRL_OPENENV_PYTHON names.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from websockets.asyncio.client import connect

import agentrl
from agentrl.core.measure import CHECKOUT, machine, peers_python, result
from agentrl.serve.protocol import read_answer, versions_of
from benchmarks.serve_env import TRIVIAL, WORDS

SESSIONS, MANY = 64, 16
OURS, OURS_MANY, SYNC, ASYNC = "agentrl", f"agentrl, {MANY} steps a frame", "OpenEnv step", "OpenEnv step_async"
REQUIRED = ((OURS, SYNC, 3.0), (OURS, ASYNC, 2.0), (OURS_MANY, SYNC, 10.0), (OURS_MANY, ASYNC, 10.0))
encode = msgspec.msgpack.encode


def run(quick: bool = False) -> dict[str, Any]:
    """All servers in turn, several times."""
    steps, repeats = (50, 1) if quick else (200, 5)
    found: dict[str, list[float]] = {OURS: [], OURS_MANY: []}
    python = openenv_python()
    version = None
    if python is not None:
        found |= {SYNC: [], ASYNC: []}
        asked = "import importlib.metadata as m; print(m.version('openenv'))"
        version = subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True).stdout.strip()
    with ours() as port, peer(python, "sync") as sync, peer(python, "async") as step_async:
        for number in range(repeats + 1):  # the first warms up
            measured = {OURS: our_cost(*port, steps, 1), OURS_MANY: our_cost(*port, max(1, steps // 4), MANY)}
            if python is not None:
                measured |= {SYNC: their_cost(*sync, steps), ASYNC: their_cost(*step_async, steps)}
            for impl, cost in measured.items() if number else ():
                found[impl].append(cost)
    case = "processor time of the server a step"
    rows = [
        result(case, impl, agentrl.__version__ if impl.startswith("agentrl") else str(version), costs, "us",
               num_envs=SESSIONS * (MANY if impl == OURS_MANY else 1), obs="110 characters")
        for impl, costs in found.items()
    ]  # fmt: skip
    values = {row["impl"]: row["value"] for row in rows}
    ratios = [
        {"case": f"{us} beside {them}", "ours": values[us], "peer": values[them], "ratio": values[them] / values[us],
         "required": required, "pass": values[them] / values[us] >= required}
        for us, them, required in REQUIRED
        if them in values
    ]  # fmt: skip
    reason = None if python else "no virtual environment of OpenEnv; run: scripts/setup.sh library:openenv"
    return {
        "schema": 1,
        "name": "serve",
        "machine": machine(),
        "threads": 1,
        "results": rows,
        "peers": {"openenv": {"installed": python is not None, "version": version, "reason": reason}},
        "ratios": ratios,
        "pass": python is not None and all(ratio["pass"] for ratio in ratios),
    }


# ---------------------------------------------------------------------- servers


def openenv_python() -> str | None:
    """The interpreter that has OpenEnv."""
    named = os.environ.get("AGENTRL_OPENENV_PYTHON") or peers_python(".venv-openenv")
    return None if named is None else str(named)


@contextmanager
def ours() -> Iterator[tuple[int, int]]:
    """Our server: process and port."""
    command = [sys.executable, "-m", "agentrl.cli", "serve", TRIVIAL, "--quick", TRIVIAL, "--port", "0", "--json"]
    options = ["--sessions", "4096", "--per-address", "4096"]
    surroundings = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, env=surroundings, text=True) as process:
        try:
            assert process.stdout is not None
            url = json.loads(process.stdout.readline())["url"]
            yield process.pid, int(url.rsplit(":", 1)[1].split("/")[0])
        finally:
            process.terminate()


@contextmanager
def peer(python: str | None, kind: str) -> Iterator[tuple[int, int]]:
    """OpenEnv's server: process and port."""
    if python is None:
        yield 0, 0
        return
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [python, str(CHECKOUT / "benchmarks" / "peers" / "openenv_server.py"), str(port), kind]
    with subprocess.Popen(command, stdin=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdin is not None
            process.stdin.write(WORDS)
            process.stdin.close()
            for _ in range(1200):
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except OSError:
                    time.sleep(0.1)
            yield process.pid, port
        finally:
            process.kill()


def cpu_of(pid: int) -> float:
    """Seconds that a process has used, all its threads together."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# ---------------------------------------------------------------------- the client


def our_cost(pid: int, port: int, steps: int, many: int) -> float:
    """Microseconds of our server a step."""

    async def begin(socket: Any) -> bytes:
        names = []
        for number in range(many):
            await socket.send(encode(["open", number, TRIVIAL, {}, versions_of(TRIVIAL)]))
            _, status, facts = read_answer(await socket.recv())
            assert status == "ok", facts
            names.append(facts["episode"])
            await socket.send(encode(["reset", number, names[-1], number, None]))
            await socket.recv()
        if many == 1:
            return encode(["step", 7, names[0], "Down"])
        return encode(["step_many", 7, [[name, "Down"] for name in names]])

    return asyncio.run(cost(pid, f"ws://127.0.0.1:{port}/ws", begin, steps, b"Turn 1", many))


def their_cost(pid: int, port: int, steps: int) -> float:
    """Microseconds of OpenEnv's server a step."""

    async def begin(socket: Any) -> str:
        await socket.send(json.dumps({"type": "reset", "data": {}}))
        await socket.recv()
        return json.dumps({"type": "step", "data": {"text": "Down"}})

    return asyncio.run(cost(pid, f"ws://127.0.0.1:{port}/ws", begin, steps, "Turn 1", 1))


async def cost(pid: int, url: str, begin: Any, steps: int, expected: Any, many: int) -> float:
    """Play `steps` frames in each of the sessions at the same time."""
    sockets = [await connect(url, compression=None, max_size=None) for _ in range(SESSIONS)]
    frames = [await begin(socket) for socket in sockets]

    async def play(socket: Any, frame: Any) -> None:
        for _ in range(steps):
            await socket.send(frame)
            answer = await socket.recv()
            assert expected in answer, answer

    before = cpu_of(pid)
    await asyncio.gather(*(play(socket, frame) for socket, frame in zip(sockets, frames, strict=True)))
    spent = cpu_of(pid) - before
    await asyncio.gather(*(socket.close() for socket in sockets))
    return spent / (SESSIONS * steps * many) * 1e6
