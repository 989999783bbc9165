"""`agentrl gateway --upstream URL`: record what agents ask a model, as trajectories to train on."""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import dataclass

from agentrl.cli.arguments import Common
from agentrl.cli.output import log, print_json
from agentrl.serve.gateway import Gateway


@dataclass(kw_only=True)
class Arguments(Common):
    """Stand between agents and an OpenAI-compatible engine, and record every call, until interrupted.

    An agent is recorded by its base_url alone: http://127.0.0.1:8100/sessions/NAME/v1
    """

    upstream: str
    """The engine's base URL, such as http://127.0.0.1:8000/v1."""
    output: str = "runs/pool"
    """Folder of the records; an existing one is continued."""
    port: int = 8100
    """Port; 0 takes any free one."""
    host: str = "127.0.0.1"
    """A loopback address."""
    policy_version: int = 0
    """Version of the weights that the engine has now; POST /policy changes it."""
    api_key_env: str = "AGENTRL_SERVE_KEY"
    """Environment variable with the API key that clients must send; while it is unset, no key is required."""
    upstream_key_env: str = "AGENTRL_UPSTREAM_KEY"
    """Environment variable with the engine's API key; while it is unset, the engine gets the client's key."""


def run(arguments: Arguments) -> int:
    """Serve until a signal comes."""
    keys = [os.environ.get(name, "").strip() or None for name in (arguments.api_key_env, arguments.upstream_key_env)]
    gateway = Gateway(
        arguments.upstream,
        arguments.output,
        host=arguments.host,
        port=arguments.port,
        api_key=keys[0],
        upstream_key=keys[1],
        version=arguments.policy_version,
    )
    ended = threading.Event()
    with gateway:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: ended.set())
        if arguments.json:
            print_json({"schema": 1, "address": gateway.address, "pool": str(gateway.pool.folder)})
        log(f"agents ask at {gateway.url('NAME')}; calls go to {gateway.pool.path}; stop it with Ctrl-C")
        ended.wait()
    sessions = gateway.pool.sessions.values()
    log(f"{sum(len(session.calls) for session in sessions)} calls in {len(sessions)} sessions")
    return 0
