"""`agentrl mcp` as assistants start it: a process with a real client at the other end."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from agentrl.registry import FAMILIES, TABLE
from agentrl.serve.mcp_server import EnvironmentTools
from tests.serve.mcp_player import play, solved_episode

LOUD = "tests.serve.loud_env:serve-tests/Loud-Text-v0"
ROOT = Path(__file__).parents[2]
# What makes an environment quick to load here; its other arguments have their defaults.
QUICKER = {"svg": {"scorers": [{"scorer": "classical", "weight": 5.0}]}, "webshop": {"catalogue_size": 1000}}
TEXT = {family.name: [entry.id for entry in family.envs if entry.kind == "Text"] for family in FAMILIES}
SEEN = {family.name: [entry.id for entry in family.envs if entry.kind == "Visual"] for family in FAMILIES}
ONE_EACH = {name: (TEXT[name] or SEEN[name])[-1] for name in TEXT if TEXT[name] or SEEN[name]}
STARTED = (
    "grid",
    "navigation",
    "svg",
)  # in threads, in a host, with pictures; the others without a process of their own


def play_on_stdio(env_id: str, kwargs: dict[str, Any], folder: Path) -> None:
    """The oracle's episode of a local twin, action by action."""
    environment = {name: os.environ[name] for name in ("AGENTRL_CACHE", "HOME") if name in os.environ}
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "agentrl.cli", "mcp", env_id, "--env-kwargs", json.dumps(kwargs)],
        env={**environment, "PYTHONPATH": str(ROOT)},
    )
    episode = solved_episode(env_id, **kwargs)

    async def session() -> None:
        with (folder / "log").open("w") as log:
            async with Client(stdio_client(server, errlog=log)) as client:
                await play(client, episode)

    asyncio.run(session())


@pytest.mark.parametrize("family", [name for name in ONE_EACH if name in STARTED])
def test_an_assistant_starts_and_solves_an_environment(family: str, tmp_path: Path) -> None:
    play_on_stdio(ONE_EACH[family], QUICKER.get(family, {}), tmp_path)


@pytest.mark.parametrize("family", [name for name in ONE_EACH if name not in STARTED])
def test_an_assistant_solves_an_environment_of_the_other_families(family: str) -> None:
    kwargs = QUICKER.get(family, {})
    episode = solved_episode(ONE_EACH[family], **kwargs)
    tools = EnvironmentTools(ONE_EACH[family], kwargs)

    async def session() -> None:
        async with Client(tools.server) as client:
            await play(client, episode)

    try:
        asyncio.run(session())
    finally:
        tools.close()


@pytest.mark.long
@pytest.mark.parametrize("env_id", [entry.id for entry in TABLE if entry.kind in ("Text", "Visual")])
def test_an_assistant_solves_every_text_and_visual_environment(env_id: str, tmp_path: Path) -> None:
    play_on_stdio(env_id, {}, tmp_path)


# ---------------------------------------------------------------------- stdout belongs to the protocol

IN_THREADS = f"""
from agentrl.serve.mcp_server import EnvironmentTools, serve_stdio, take_stdout
wire = take_stdout()
serve_stdio(EnvironmentTools({LOUD!r}, quick=[{LOUD!r}]), wire)
"""


def test_what_an_environment_prints_never_reaches_the_protocol() -> None:
    with subprocess.Popen([sys.executable, "-c", IN_THREADS], cwd=ROOT, text=True, **PIPES) as process:
        play_loudly(process)
        out, err = process.communicate(timeout=20)  # closes stdin: the client leaves
    assert out == "" and process.returncode == 0
    heard = [f"{when} by {how}" for when in ("import", "make", "reset", "step", "close") for how in WAYS]
    assert [each for each in heard if each not in err] == []


def test_a_signal_ends_a_server_that_waits_for_its_client_and_its_processes() -> None:
    command = [sys.executable, "-m", "agentrl.cli", "mcp", LOUD]
    with subprocess.Popen(command, cwd=ROOT, text=True, **PIPES) as process:
        play_loudly(process)  # in a process of its own, as environments that agentrl does not know
        (child,) = psutil.Process(process.pid).children()
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
        assert process.stdout is not None and process.stdout.read() == ""
    assert not psutil.wait_procs([child], 20)[1]


WAYS = ("print", "write", "puts", "echo")
PIPES: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


def play_loudly(process: subprocess.Popen[str]) -> None:
    """One turn of the loud environment, line by line."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    ask(process, 1, "initialize", hello)
    send(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    begun = ask(process, 2, "tools/call", {"name": "reset", "arguments": {"seed": 7}})
    assert begun["content"][0]["text"] == "seed 7; stdin says ''"  # nor does it eat what the client sends
    turn = {"episode": json.loads(begun["content"][-1]["text"])["episode"], "action": "good"}
    assert ask(process, 3, "tools/call", {"name": "step", "arguments": turn})["content"][0]["text"] == "turn 1"


def send(process: subprocess.Popen[str], message: dict[str, Any]) -> None:
    """One line to the server."""
    assert process.stdin is not None
    process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()


def ask(process: subprocess.Popen[str], number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The result in the very next line of stdout."""
    send(process, {"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    assert process.stdout is not None
    answer = json.loads(process.stdout.readline())
    assert answer["id"] == number
    return answer["result"]


# ---------------------------------------------------------------------- over HTTP


def test_assistants_play_over_http_and_pages_elsewhere_do_not() -> None:
    options = ["--http", "--host", "127.0.0.2", "--port", "0", "--json"]
    command = [sys.executable, "-m", "agentrl.cli", "mcp", "agentrl/FrozenLake-Visual-v0", *options]
    episode = solved_episode("agentrl/FrozenLake-Visual-v0")

    async def session(mode: str) -> None:
        async with Client(opened["url"], mode=mode) as client:
            await play(client, episode)

    with subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            opened = json.loads(process.stdout.readline())
            for mode in ("auto", "legacy"):  # with and without the handshake of older clients
                asyncio.run(session(mode))
            address = opened["url"].split("/")[2]
            assert status(address, "GET") == 405  # no stream that a client could leave open for ever
            assert status(address, "POST", {"origin": "http://example.com"}) == 403
            assert status(address, "POST", {"host": "example.com"}) == 403
            assert status(address, "POST", body=b" " * (5 << 20)) == 413
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 143
        finally:
            process.kill()


def status(address: str, method: str, headers: dict[str, str] | None = None, body: bytes = b"{}") -> int:
    """Of the answer to one request."""
    connection = http.client.HTTPConnection(address, timeout=20)
    connection.request(method, "/mcp", body, {"content-type": "application/json", **(headers or {})})
    with connection.getresponse() as answer:
        connection.close()
        return answer.status


# ---------------------------------------------------------------------- usage


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["agentrl/FrozenLake-Grid-v0", "--http", "--port", "0"], "use a Text or Visual kind"),
        (["agentrl/FrozenLake-Txt-v0", "--http", "--port", "0"], 'Did you mean "agentrl/FrozenLake-Text-v0"'),
        (["agentrl/FrozenLake-Text-v0", "--sessions", "0"], "sessions must be"),
        (["agentrl/FrozenLake-Text-v0", "--json"], "stdout belongs to the protocol"),
        (["agentrl/FrozenLake-Text-v0", "--http", "--host", "0.0.0.0"], "host must be a loopback address"),
        (["agentrl/FrozenLake-Text-v0", "--http", "--port", "0", "--env-kwargs", '{"sise": 8}'], "sise"),
    ],
)
def test_what_cannot_be_served_is_one_line(agentrl_cli, words: list[str], said: str) -> None:
    done = agentrl_cli("mcp", *words)
    assert done.status == 2 and said in done.err and done.err.count("\n") == 1


def test_a_missing_library_is_named_with_the_command_that_installs_it(agentrl_cli, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    monkeypatch.delitem(sys.modules, "agentrl.serve.mcp_server", raising=False)
    done = agentrl_cli("mcp", "agentrl/FrozenLake-Text-v0", "--http")
    assert done.status == 1 and "pip install 'agentrl-suite[mcp]'" in done.err
