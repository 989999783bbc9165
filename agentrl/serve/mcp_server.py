"""An environment as an MCP server: tools with which an assistant plays episodes.

`reset` begins an episode and tells its name, `step` plays a turn of the episode of that name: the protocol knows no
sessions, so every call says which episode it means. An answer holds the texts and pictures of the observation in their
order, then one line of JSON: the episode's name, the reward, whether it is over. Whatever goes wrong is an error of the
tool, with a sentence that says what to do; it is never a reward. How many episodes there may be, how long a call may
take and when an episode that nobody plays is closed is decided in `agentrl.serve.sessions`.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import secrets
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Annotated, Any, cast
from weakref import WeakValueDictionary

import gymnasium as gym

from agentrl import __version__
from agentrl.core.errors import AgentRLError, EnvFault, Fault, MissingExtra, SessionFault
from agentrl.core.redact import redact
from agentrl.core.space_codec import from_plain
from agentrl.core.spaces import require_text_env
from agentrl.models.chat import checked_picture, parts_of
from agentrl.policies.openai import clean
from agentrl.rollout.prompts import user_message
from agentrl.rollout.trajectory import plain
from agentrl.serve.connections import CLOSE_SECONDS, limited_server
from agentrl.serve.sessions import Sessions
from agentrl.serve.site import LoopbackOnly, Receive, Scope, Send
from agentrl.wrappers.record_episode import encode_png

try:
    import anyio
    from anyio.to_thread import run_sync
    from mcp.server.mcpserver import Image, MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.server.mcpserver.tools import Tool
    from mcp.server.transport_security import TransportSecuritySettings
    from pydantic import Field
    from starlette.responses import Response
except ImportError as error:  # pragma: no cover (set-up installs it)
    raise MissingExtra("mcp", "mcp") from error

MAX_ACTION = 1 << 18  # characters
HOW_TO_PLAY = (
    "Call the tool reset to begin an episode: the answer shows what you see and ends with its name. Then call "
    "the tool step with that name and your answer of one turn, again and again until over is true."
)
Name = Annotated[str, Field(description="The episode's name, as reset has told it.")]
Content = list[str | Image]


class EnvironmentTools:
    """The tools of one environment; `server` is the MCP server that offers them.

    `env_kwargs` are arguments of the environment, `options` those of `Sessions`: limits, threads and hosts. With
    `show_state` there is a tool `state`, which tells the truth about an episode.
    """

    def __init__(
        self, env_id: str, env_kwargs: Mapping[str, Any] | None = None, *, show_state: bool = False, **options: Any
    ) -> None:
        self.env_id = env_id
        self.sessions = Sessions([env_id], kwargs=env_kwargs, truth=show_state, **options)
        self._client = self.sessions.join("mcp")
        # Names that nobody guesses: over HTTP, assistants that know nothing of each other share this server.
        self._client.numbers = iter(partial(secrets.token_hex, 4), None)
        self._locks: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()
        self._threads = anyio.CapacityLimiter(self.sessions.limits.sessions)
        self.rules = self._look()
        tools = (self.reset, self.step, self.state) if show_state else (self.reset, self.step)
        self.server = MCPServer(
            f"agentrl {env_id}",
            instructions=f"{self.rules}\n\n{HOW_TO_PLAY}".strip(),
            version=__version__,
            tools=[strict_tool(tool) for tool in tools],
            subscriptions=False,  # nothing here changes by itself
            log_level="WARNING",
        )

    async def reset(
        self,
        episode: Annotated[str, Field(description="Name of an episode to begin anew; empty for another one.")] = "",
        seed: Annotated[int | None, Field(ge=0, lt=2**63, description="The same seed gives the same task.")] = None,
    ) -> Content:
        """Begin an episode. The answer shows what you see and ends with the episode's name, which step needs."""
        name = episode or await self._open()
        async with self._turn(name, ends_on=AgentRLError if not episode else Fault):
            observation, _, rules = await self._call(self._client.call, name, "reset", seed, None)
            seen = content(observation, {"episode": name, "over": False})
        return [rules, *seen] if rules != self.rules else seen  # a task may have rules of its own

    async def step(
        self,
        episode: Name,
        action: Annotated[
            str, Field(max_length=MAX_ACTION, description="Your whole answer of this turn, as the rules ask for it.")
        ],
    ) -> Content:
        """Play one turn. The answer shows what you see then, the reward of the turn, and whether it was the last."""
        async with self._turn(episode):
            answer = await self._call(self._client.call, episode, "step", action)
            observation, reward, terminated, truncated, info = answer
            if not math.isfinite(reward):
                raise EnvFault(f"the reward must be a finite number; got {reward}")
            over, success = bool(terminated or truncated), bool(info.get("success", False))
            facts = {"episode": episode, "reward": float(reward), "over": over, "success": success}
            seen = content(observation, facts)
            if over:
                self._client.close(episode)  # what it holds may be large
        return seen

    async def state(self, episode: Name) -> str:
        """The whole truth about an episode at this moment, as JSON."""
        async with self._turn(episode):
            return json.dumps(plain(await self._call(self._client.call, episode, "state")))

    def close(self) -> None:
        """End all episodes."""
        self.sessions.close()

    def _look(self) -> str:
        """The rules of an environment that is made, looked at and closed; `ConfigError` if it is none of text."""
        try:
            facts = self._client.open(self.env_id)
            if facts["spaces"] is not None:  # a package may have spaces of its own kind
                action, observation = map(from_plain, facts["spaces"])
                seen = SimpleNamespace(action_space=action, observation_space=observation)
                require_text_env(cast(gym.Env, seen), self.env_id)
        except AgentRLError:
            self.close()
            raise
        self._client.close(facts["episode"])
        return facts["rules"] or ""

    # ------------------------------------------------------------------ one call at a time

    async def _open(self) -> str:
        try:
            return (await self._call(self._client.open, self.env_id))["episode"]
        except SessionFault as error:
            count = len(self._client.episodes)
            advice = f"{count} are open; play some to their end, or begin one of them anew by its name"
            raise ToolError(f"no more episodes can be begun: {advice}") from error
        except AgentRLError as error:
            raise ToolError(redact(f"the environment could not be made: {error}")) from error

    @contextlib.asynccontextmanager
    async def _turn(self, name: str, ends_on: type[AgentRLError] = Fault) -> AsyncIterator[None]:
        """The calls of one episode come one after the other. Errors are told to the client; those of the type `ends_on`
        also end the episode: nobody knows in which state it is."""
        async with self._locks.setdefault(name, anyio.Lock()):
            if name not in self._client.episodes:
                raise ToolError(
                    f"there is no episode {name[:40]!a}: it is over, or nobody has played it for "
                    f"{self.sessions.limits.idle_seconds:g} s, or it never was. Call reset to begin one"
                )
            try:
                yield
            except AgentRLError as error:
                if isinstance(error, ends_on):
                    self._client.close(name)
                fault = "the environment failed, whatever the action was, and the episode has ended: "
                raise ToolError(redact(f"{fault if isinstance(error, Fault) else ''}{error}")) from error

    async def _call(self, function: Callable[..., Any], *args: Any) -> Any:
        """A call in a thread; waited for even if the client has given up, since it may have ended the episode."""
        return await run_sync(partial(function, *args), limiter=self._threads)


def strict_tool(function: Callable[..., Any]) -> Tool:
    """A tool that refuses arguments it does not know, and whose answer is not sent as JSON a second time."""
    tool = Tool.from_function(function, structured_output=False)
    arguments = tool.fn_metadata.arg_model
    arguments.model_config["extra"] = "forbid"
    arguments.model_rebuild(force=True)
    return tool.model_copy(update={"parameters": arguments.model_json_schema()})


def content(observation: Any, facts: dict[str, Any]) -> Content:
    """Texts and pictures of an observation in their order, and the facts as a line of JSON."""
    parts = [
        clean(value) if kind == "text" else Image(data=encode_png(checked_picture(value)), format="png")
        for kind, value in parts_of(user_message(observation))
        if kind == "image" or value
    ]
    return [*parts, json.dumps(facts)]


# ---------------------------------------------------------------------- on stdin and stdout


def take_stdout() -> int:
    """A copy of stdout for the protocol alone: from now on, whatever is printed goes to stderr."""
    sys.stdout.flush()
    wire = os.dup(1)
    os.dup2(2, 1)
    return wire


def serve_stdio(tools: EnvironmentTools, wire: int) -> None:
    """Serve the client at the other end of stdin and of `wire`, until it leaves."""

    def leave(number: int, frame: Any) -> None:
        # A thread waits for the next line of stdin, and nothing but that line would wake it.
        closing = threading.Thread(target=tools.close, daemon=True)
        closing.start()
        closing.join(CLOSE_SECONDS)
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave)
    sys.stdout.flush()
    os.dup2(wire, 1)  # mcp takes it from there, and leads whatever is printed to stderr until it gives it back
    try:
        tools.server.run("stdio")
    finally:
        os.dup2(2, 1)
        tools.close()


# ---------------------------------------------------------------------- over HTTP


class PostOnly:
    """An ASGI application without streams, which clients could leave open for ever: one request, one answer."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, with status 405 if it is no POST."""
        if scope["method"] != "POST":
            return await Response(status_code=405, headers={"allow": "POST"})(scope, receive, send)
        await self.app(scope, receive, send)


def serve_http(tools: EnvironmentTools, listener: socket.socket) -> int:
    """Serve clients of this machine at /mcp until a signal comes; the exit status that tells which."""
    # Whose requests are answered is for `LoopbackOnly` to say, which knows all loopback addresses.
    open_to_all = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = tools.server.streamable_http_app(json_response=True, stateless_http=True, transport_security=open_to_all)
    came: list[int] = []

    async def run() -> None:
        async with tools.server.session_manager.run():
            await limited_server(LoopbackOnly(PostOnly(app))).serve(sockets=[listener])

    for number in (signal.SIGINT, signal.SIGTERM):  # uvicorn ends its requests first, and then passes the signal on
        signal.signal(number, lambda number, frame: came.append(number))
    try:
        anyio.run(run)
    finally:
        tools.close()
    return 128 + came[0] if came else 0
