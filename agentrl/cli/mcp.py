"""`agentrl mcp ID`: an environment as tools of an assistant, by the Model Context Protocol."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from agentrl.cli.arguments import Common, EnvId, JsonText, Split, json_object
from agentrl.cli.output import log, print_json
from agentrl.core.errors import ConfigError
from agentrl.rollout.evaluate import checked_kwargs
from agentrl.serve.sessions import Limits


@dataclass(kw_only=True)
class Arguments(Common):
    """Let an assistant play an environment: an MCP server with the tools reset and step.

    On stdin and stdout, for a client that starts this command; with --http, for clients of this machine.
    """

    id: EnvId
    """Environment id of a Text or Visual kind; `agentrl list` shows them."""
    split: Split = ""
    """Split of the tasks; default: the environment's own, train."""
    env_kwargs: JsonText = "{}"
    """Arguments of the environment, for example '{"size": 8}'."""
    show_state: bool = False
    """Also offer the tool state, which tells the true state, and with it the solution of many tasks."""
    sessions: int = 64
    """Maximum number of open episodes."""
    call_seconds: float = Limits.call_seconds
    """Deadline of a reset or step; a longer one costs its episode."""
    idle_seconds: float = Limits.idle_seconds
    """Episodes that nobody plays for so long are closed."""
    http: bool = False
    """Serve over HTTP instead of stdin and stdout."""
    port: int = 8000
    """With --http: port; 0 takes any free one."""
    host: str = "127.0.0.1"
    """With --http: a loopback address."""


def run(arguments: Arguments) -> int:
    """Serve until the client leaves, or until interrupted."""
    if arguments.json and not arguments.http:
        raise ConfigError("--json prints the address of --http; without it, stdout belongs to the protocol")
    kwargs = checked_kwargs(json_object("--env-kwargs", arguments.env_kwargs))
    kwargs |= {"split": arguments.split} if arguments.split else {}  # environments of other packages have none
    limits = Limits(arguments.sessions, arguments.sessions, arguments.call_seconds, arguments.idle_seconds)
    options = {"env_kwargs": kwargs, "show_state": arguments.show_state, "limits": limits}
    return over_http(arguments, options) if arguments.http else on_stdio(arguments.id, options)


def on_stdio(env_id: str, options: dict[str, Any]) -> int:
    """Serve the client that has started this process."""
    from agentrl.serve.mcp_server import EnvironmentTools, serve_stdio, take_stdout

    wire = take_stdout()  # before the environment is made, which may print
    tools = EnvironmentTools(env_id, **options)
    if sys.stdin.isatty():
        log("waiting for an MCP client on stdin; assistants start this command themselves. Ctrl-C ends it")
    serve_stdio(tools, wire)
    return 0


def over_http(arguments: Arguments, options: dict[str, Any]) -> int:
    """Serve clients of this machine."""
    from agentrl.serve.mcp_server import EnvironmentTools, serve_http
    from agentrl.serve.site import address, listen

    with listen(arguments.host, arguments.port) as listener:
        tools = EnvironmentTools(arguments.id, **options)
        url = f"{address(listener)}mcp"
        if arguments.json:
            print_json({"schema": 1, "id": arguments.id, "url": url})
        log(f"{arguments.id} for MCP clients at {url}; Ctrl-C ends it")
        return serve_http(tools, listener)
