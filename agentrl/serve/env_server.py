"""Environments over WebSocket: what `agentrl serve` runs.

    with EnvServer(Sessions(["agentrl/Sokoban-Text-v0"])) as server:
        env = gym.make("agentrl/Remote-v0", url=server.url, env_id="agentrl/Sokoban-Text-v0")

`/ws` is for episodes (`agentrl.serve.protocol`); `GET /health`, `/metrics` (Prometheus) and `/envs` are for people and
machines that look after the server.
"""

from __future__ import annotations

import asyncio
import hmac
from collections import deque
from typing import Any
from urllib.parse import urlsplit

from msgspec.structs import astuple

from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.core.redact import protect
from agentrl.registry import known
from agentrl.serve import protocol
from agentrl.serve.connections import BackgroundServer, LimitedSocket
from agentrl.serve.sessions import Call, Client, Sessions
from agentrl.serve.site import address, is_loopback, listen

try:
    from starlette.applications import Starlette
    from starlette.datastructures import Headers
    from starlette.requests import HTTPConnection, Request
    from starlette.responses import JSONResponse, PlainTextResponse, Response
    from starlette.routing import Route, WebSocketRoute
    from starlette.websockets import WebSocket, WebSocketDisconnect
except ImportError as error:  # pragma: no cover (set-up installs it)
    raise MissingExtra("starlette", "serve") from error

MAX_IN_FLIGHT = 64  # frames of one connection that are not answered yet; then no more are read
REFUSAL_SECONDS = 0.25  # before a wrong token is refused: guessing is slow
SHORTEST_TOKEN = 16
METRICS = ("opened", "calls", "faults")  # of `Sessions`: how many so far


class EnvServer:
    """Serves until `close()`. Anything but a loopback address needs a `token`, which clients send as a bearer token;
    `tls` are the files of a certificate and its key."""

    def __init__(
        self,
        sessions: Sessions,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        token: str | None = None,
        tls: tuple[str, str] | None = None,
    ) -> None:
        if token is not None:
            if len(token) < SHORTEST_TOKEN:
                raise ConfigError(f"the token must have at least {SHORTEST_TOKEN} characters; got {len(token)}")
            protect(token)
        if token is None and not is_loopback(f"[{host}]" if ":" in host else host):
            raise ConfigError(f"host must be a loopback address such as 127.0.0.1 without a token; got {host!r}")
        self.sessions = sessions
        listener = listen(host, port, anywhere=token is not None)
        options = {} if tls is None else {"ssl_certfile": tls[0], "ssl_keyfile": tls[1]}
        self.url = address(listener).replace("http", "ws" if tls is None else "wss", 1) + "ws"
        app = EnvApp(sessions, token).app
        self._server = BackgroundServer(app, listener, "agentrl-serve", sockets=True, **options)

    def drain(self, seconds: float) -> bool:
        """Open no more episodes, and wait for those that are open; False if some are left."""
        return self.sessions.drain(seconds)

    def close(self) -> None:
        """End all episodes and connections."""
        self._server.close()
        self.sessions.close()

    def __enter__(self) -> EnvServer:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class EnvApp:
    """The HTTP side: who may ask; `app` is what an ASGI server runs."""

    def __init__(self, sessions: Sessions, token: str | None) -> None:
        self._sessions, self._token, self._connections = sessions, token, 0
        self._outbox: Outbox | None = None
        routes = [
            Route("/health", self._health),
            Route("/metrics", self._metrics),
            Route("/envs", self._envs),
            WebSocketRoute("/ws", self._socket),
        ]
        self.app = Starlette(routes=routes)

    async def _refused(self, request: HTTPConnection, public: bool = False) -> Response | None:
        """Why a request may not be answered; None if it may."""
        headers: Headers = request.headers
        host, origin = headers.get("host", ""), headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:  # a page of another site in somebody's browser
            return PlainTextResponse("requests of other sites are not answered\n", 403)
        if self._token is None:
            named = is_loopback(host)  # another name may be DNS rebinding
            return None if named else PlainTextResponse("this server answers to loopback names only\n", 403)
        given = headers.get("authorization", "").removeprefix("Bearer ").strip().encode("utf-8", "replace")
        if public or hmac.compare_digest(given, self._token.encode()):
            return None
        await asyncio.sleep(REFUSAL_SECONDS)
        return PlainTextResponse("wrong or missing token\n", 401)

    # ------------------------------------------------------------------ about the server

    async def _health(self, request: Request) -> Response:
        closing = self._sessions.closing
        found = JSONResponse({"status": "closing" if closing else "ok"}, 503 if closing else 200)
        return await self._refused(request, public=True) or found

    async def _metrics(self, request: Request) -> Response:
        now = {"sessions": len(self._sessions), "connections": self._connections}
        counts = {name: getattr(self._sessions, name) for name in METRICS}
        lines = [f"# TYPE agentrl_{name} gauge\nagentrl_{name} {value}" for name, value in now.items()]
        lines += [
            f"# TYPE agentrl_{name}_total counter\nagentrl_{name}_total {value}" for name, value in counts.items()
        ]
        return await self._refused(request) or PlainTextResponse("\n".join(lines) + "\n")

    async def _envs(self, request: Request) -> Response:
        about = {entry.id: {"kind": entry.kind, "summary": entry.summary} for entry in known()}
        found = [{"id": each, **about.get(each, {}), **protocol.versions_of(each)} for each in self._sessions.ids]
        return await self._refused(request) or JSONResponse(found)

    # ------------------------------------------------------------------ episodes

    async def _socket(self, socket: WebSocket) -> None:
        if (refusal := await self._refused(socket)) is not None:
            await socket.send_denial_response(refusal)
            socket.scope["extensions"]["agentrl.connection"].handshake_complete = True  # or uvicorn logs an error
            return
        await socket.accept()
        self._outbox = self._outbox or Outbox(asyncio.get_running_loop())
        client = self._sessions.join(socket.client.host if socket.client else "")
        self._connections += 1
        try:
            await Connection(socket, client, self._outbox, self._sessions.limits.idle_seconds).run()
        except WebSocketDisconnect:
            pass
        finally:
            self._connections -= 1
            client.leave()


class Outbox:
    """Takes answers from the threads that play to the event loop; many of them wake it once."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop, self._waiting, self._woken = loop, deque[tuple[Connection, bytearray]](), False

    def put(self, connection: Connection, answer: bytearray) -> None:
        """From any thread."""
        self._waiting.append((connection, answer))
        if not self._woken:
            self._woken = True
            try:
                self._loop.call_soon_threadsafe(self._hand_out)
            except RuntimeError:  # the server has ended
                self._waiting.clear()

    def _hand_out(self) -> None:
        self._woken = False
        while self._waiting:
            connection, answer = self._waiting.popleft()
            connection.answer(answer)


class Connection:
    """One WebSocket: reads frames, has them played, sends the answers as they come."""

    def __init__(self, socket: WebSocket, client: Client, outbox: Outbox, idle_seconds: float) -> None:
        self._socket, self._client, self._outbox, self._idle = socket, client, outbox, idle_seconds
        self._wire: LimitedSocket = socket.scope["extensions"]["agentrl.connection"]
        self._answers: deque[bytearray] = deque()  # that wait for a client which reads slowly
        self._in_flight, self._used = 0, asyncio.get_running_loop().time()
        self._sender: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Until the client leaves, or does nothing and has no episodes for too long."""
        self._wire.taker = self._take
        watch = asyncio.get_running_loop().create_task(self._watch())
        try:
            while (message := await self._socket.receive())["type"] != "websocket.disconnect":
                self._take(message.get("bytes") or b"")  # sent before the server had accepted
        finally:
            self._wire.taker = None
            watch.cancel()

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        while loop.time() - self._used < self._idle or self._client.episodes or self._in_flight:
            await asyncio.sleep(self._idle / 2)
        await self._socket.close(1001, "nothing was played here for too long")

    def _take(self, data: bytes) -> None:
        """Have a frame played."""
        self._used = self._wire.loop.time()
        self._in_flight += 1
        if self._in_flight >= MAX_IN_FLIGHT:
            self._wire.read_on(False)
        try:
            frame = protocol.read_frame(data)
            if isinstance(frame, protocol.Open):
                protocol.check_versions(frame.id, frame.versions)
        except ConfigError as error:
            return self.answer(protocol.write_answer(protocol.number_of(data), "config", str(error)))
        number = frame.number
        if isinstance(frame, protocol.Open):
            self._client.submit_open(frame.id, frame.kwargs, lambda answer: self._tell(number, *answer))
        elif isinstance(frame, protocol.StepMany):
            calls: list[Call] = [(name, "step", (action,)) for name, action in frame.turns]
            self._client.submit(calls, lambda answers: self._tell(number, "ok", answers))
        else:
            call = frame.episode, str(frame.__struct_config__.tag), astuple(frame)[2:]
            self._client.submit([call], lambda answers: self._tell(number, *answers[0]))

    def _tell(self, number: int, status: str, value: Any) -> None:
        """Write an answer, in the thread that has it."""
        self._outbox.put(self, protocol.write_answer(number, status, value))

    def answer(self, answer: bytearray) -> None:
        """Send an answer; in the event loop."""
        self._in_flight -= 1
        if self._sender is None or self._sender.done():
            if self._wire.send_now(answer):
                return self._wire.read_on(self._in_flight < MAX_IN_FLIGHT)
            self._wire.read_on(False)  # or a client that asks and never reads would fill the memory
            self._sender = asyncio.get_running_loop().create_task(self._send())
        self._answers.append(answer)

    async def _send(self) -> None:
        """Send what waits, at the client's pace."""
        try:
            while self._answers:
                await self._socket.send({"type": "websocket.send", "bytes": self._answers.popleft()})
            self._wire.read_on(True)
        except (WebSocketDisconnect, RuntimeError):  # the client has gone
            self._answers.clear()
