"""`agentrl serve [ID ...]`: environments over WebSocket, for programs on this machine or elsewhere."""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated

import tyro

from agentrl.cli.arguments import Common, JsonText, json_object
from agentrl.cli.output import log, print_json
from agentrl.core.errors import ConfigError
from agentrl.registry import known
from agentrl.serve.env_server import EnvServer
from agentrl.serve.remote import TOKEN
from agentrl.serve.sessions import Limits, Sessions
from agentrl.serve.site import is_loopback


@dataclass(kw_only=True)
class Arguments(Common):
    """Serve environments to programs, until interrupted; SIGTERM lets open episodes end first.

    Then, in Python: gym.make("agentrl/Remote-v0", url="ws://127.0.0.1:8321/ws", env_id=ID)
    """

    ids: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="ID")] = ()
    """Environment ids, or patterns such as 'agentrl/*-Text-v0'; default: all."""
    env_kwargs: JsonText = "{}"
    """Arguments of every environment; clients may add those that are safe."""
    port: int = 8321
    """Port; 0 takes any free one."""
    host: str = "127.0.0.1"
    """Address to listen on; any but a loopback address needs a token."""
    token_env: str = TOKEN
    """Environment variable with the token that clients must send; while it is unset, none is required."""
    tls_cert: str = ""
    """File with a certificate (PEM), to serve wss:// with --tls-key."""
    tls_key: str = ""
    """File with its private key."""
    hide_truth: bool = False
    """Refuse state, snapshots and oracles, and leave the state out of info: for clients that are the players."""
    sessions: int = 1024
    """Maximum number of open episodes."""
    per_address: int = 512
    """Maximum number of open episodes of one address."""
    call_seconds: float = 60.0
    """Deadline of a reset or step; a longer one costs its episode."""
    idle_seconds: float = 600.0
    """Episodes that nobody plays for so long are closed."""
    threads: int = 1
    """Threads that play the quick environments; more than one helps those that wait for something."""
    hosts: int = 2
    """Processes that play the others."""
    quick: tuple[str, ...] = ()
    """Ids of other packages that may play in threads."""
    drain_seconds: float = 10.0
    """After SIGTERM, how long open episodes may go on."""


def run(arguments: Arguments) -> int:
    """Serve until a signal comes."""
    token = os.environ.get(arguments.token_env, "").strip() or None
    if bool(arguments.tls_cert) != bool(arguments.tls_key):
        raise ConfigError("--tls-cert and --tls-key must be given together")
    sessions = Sessions(
        chosen_ids(arguments.ids),
        kwargs=json_object("--env-kwargs", arguments.env_kwargs),
        limits=Limits(arguments.sessions, arguments.per_address, arguments.call_seconds, arguments.idle_seconds),
        truth=not arguments.hide_truth,
        threads=arguments.threads,
        hosts=arguments.hosts,
        quick=arguments.quick,
    )
    tls = (arguments.tls_cert, arguments.tls_key) if arguments.tls_cert else None
    ended = threading.Event()
    with EnvServer(sessions, host=arguments.host, port=arguments.port, token=token, tls=tls) as server:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: ended.set())
        if arguments.json:
            print_json({"schema": 1, "url": server.url, "ids": list(sessions.ids), "token": token is not None})
        log(f"{len(sessions.ids)} environments at {server.url}; stop with Ctrl-C")
        if tls is None and not is_loopback(arguments.host):
            log("warning: without --tls-cert the token and all episodes travel unencrypted")
        ended.wait()
        log(f"closing; {len(sessions)} episodes may go on for {arguments.drain_seconds:g} s")
        server.drain(arguments.drain_seconds)
    log(f"{sessions.opened} episodes were opened, {sessions.calls} calls made, {sessions.faults} faults met")
    return 0


def chosen_ids(words: tuple[str, ...]) -> list[str] | None:
    """The ids that words name, of which some may be patterns; None for all."""
    found: dict[str, None] = {}
    for word in words:
        fitting = [entry.id for entry in known() if fnmatchcase(entry.id, word)]
        if not fitting and any(sign in word for sign in "*?["):
            raise ConfigError(f"no environment fits the pattern {word!r}; see: agentrl list")
        found |= dict.fromkeys(fitting or [word])
    return list(found) or None
