"""A gateway between agents and a model: every call is recorded, whatever library the agent is written with.

    with Gateway("http://127.0.0.1:8000/v1", "runs/pool") as gateway:
        openai.OpenAI(base_url=gateway.url("episode-1"), api_key="none")

An agent needs nothing but a `base_url` with the name of its session in it (or the header `x-session-id`). The gateway
asks the engine for token ids and log-probabilities as well and hides them from a client that did not. A call is on disk
before the last byte of its answer is sent.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from agentrl.core.errors import ConfigError, EngineFault, MissingExtra
from agentrl.core.redact import protect
from agentrl.rollout.call_pool import NAME, CallPool, Mark, Reward
from agentrl.rollout.json_lines import encode
from agentrl.serve.api import (
    BadRequest,
    answering,
    application,
    bearer,
    failure,
    read_body,
    unless_left,
)
from agentrl.serve.connections import BackgroundServer
from agentrl.serve.gateway_calls import (
    CHAT,
    COMPLETION,
    Asked,
    Joined,
    chunks_of,
    hidden,
    make_call,
    read_call,
    take_apart,
)
from agentrl.serve.model_answers import DONE, event
from agentrl.serve.site import address, check_address, listen
from agentrl.serve.upstream import Answer, Upstream

try:
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response, StreamingResponse
    from starlette.routing import Route
except ImportError as error:  # pragma: no cover (set-up installs it)
    raise MissingExtra(error.name or "starlette", "serve") from error

T = TypeVar("T")
MAX_BATCH = 4096
PASSED_ON = ("content-type", "retry-after", "x-request-id")  # headers of the upstream that clients see


class Gateway:
    """Serves until `close()`. With an `api_key`, requests must carry it as a bearer token; the upstream gets
    `upstream_key`, or without one the client's own key."""

    def __init__(
        self,
        upstream: str,
        folder: str | Path,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        api_key: str | None = None,
        upstream_key: str | None = None,
        version: int = 0,
    ) -> None:
        check_address(host, port)
        engine = Upstream(upstream)
        if api_key is not None and upstream_key is None:
            raise ConfigError("with an api_key of its own, the gateway must have an upstream_key; got none")
        for key in filter(None, (api_key, upstream_key)):
            protect(key)
        listener = listen(host, port)
        self.pool, self.version = CallPool(folder), version
        self.address = address(listener)
        app = GatewayApp(self, engine, api_key, upstream_key)
        self._app, self._http = app, BackgroundServer(app.app, listener, "agentrl-gateway")

    def url(self, session: str) -> str:
        """The `base_url` of a session, which need not exist yet."""
        return f"{self.address}sessions/{session}/v1"

    def close(self) -> None:
        """Stop listening and close the pool."""
        self._app.close()
        self._http.close()
        self.pool.close()

    def __enter__(self) -> Gateway:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class GatewayApp:
    """The HTTP side; `app` is what an ASGI server runs."""

    def __init__(self, gateway: Gateway, upstream: Upstream, api_key: str | None, upstream_key: str | None) -> None:
        self._gateway, self._upstream, self._key = gateway, upstream, upstream_key
        # (route, model): does the upstream give tokens? Once it has, a request that it refuses is refused for itself.
        self._gives_tokens: dict[tuple[str, str], bool] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        # Equal requests of a session wait for each other; the second finds the first's answer.
        self._asking: weakref.WeakValueDictionary[tuple[str, str], asyncio.Lock] = weakref.WeakValueDictionary()
        routes = []
        for path, handler, methods in (
            ("/v1/chat/completions", self._complete, ["POST"]),
            ("/v1/completions", self._complete, ["POST"]),
            ("/v1/models", self._models, ["GET"]),
        ):
            for prefix in ("", "/sessions/{session}"):
                routes.append(Route(prefix + path, answering(handler, api_key), methods=methods))
        for path, handler, methods in (
            ("/sessions/{session}", self._session, ["GET"]),
            ("/sessions/{session}/trajectory", self._trajectory, ["GET"]),
            ("/sessions/{session}/reward", self._reward, ["POST"]),
            ("/sessions/{session}/mark", self._mark, ["POST"]),
            ("/batch", self._batch, ["POST"]),
            ("/policy", self._policy, ["POST"]),
        ):
            routes.append(Route(path, answering(handler, api_key), methods=methods))
        self.app = application(
            routes, "calls go to /sessions/NAME/v1/chat/completions or /sessions/NAME/v1/completions"
        )

    def close(self) -> None:
        """Close the connections to the upstream."""
        if self._loop is not None and self._loop.is_running():
            closed = Future[None]()
            self._loop.call_soon_threadsafe(lambda: closed.set_result(self._upstream.close()))
            closed.result(5)

    # ------------------------------------------------------------------ calls

    async def _complete(self, request: Request) -> Response:
        self._loop = asyncio.get_running_loop()
        name = session_name(request)
        asked = read_call(CHAT if request.url.path.endswith(CHAT) else COMPLETION, await read_body(request))
        lock = self._asking.setdefault((name, asked.key), asyncio.Lock())
        exchange = Exchange(self, request, name, asked, lock)
        if asked.streams:
            return exchange
        return await unless_left(asyncio.ensure_future(exchange.answer()), request)

    async def ask(self, asked: Asked, key: str) -> Answer:
        """The upstream's answer. One that refuses to be asked for tokens is asked again without."""
        way = asked.route, asked.body["model"]
        if self._gives_tokens.get(way, True):
            answer = await self._upstream.ask("POST", asked.route, key, msgspec.json.encode(asked.with_tokens()))
            if answer.status not in (400, 422):
                if answer.status == 200:
                    self._gives_tokens[way] = True
                return answer
            await answer.read()
        answer = await self._upstream.ask("POST", asked.route, key, msgspec.json.encode(asked.body))
        if answer.status == 200:
            self._gives_tokens.setdefault(way, False)
        return answer

    def key(self, request: Request) -> str:
        """What the upstream is asked with."""
        return self._key or bearer(request)

    async def record(
        self, name: str, asked: Asked, body: dict[str, Any], secrets: Sequence[str], version: int
    ) -> dict[str, Any]:
        """Put a call on disk; what the client is shown of it."""
        pool, shown = self._gateway.pool, hidden(asked, body)
        call = make_call(asked, name, shown, take_apart(asked.route, body), pool.session(name).ends, secrets)
        call.version = version
        try:
            await asyncio.wrap_future(pool.append(call))
        except OSError as error:
            raise EngineFault(f"the call cannot be recorded: {error}") from None
        return shown

    @property
    def version(self) -> int:
        """Of the weights that the upstream has now."""
        return self._gateway.version

    @property
    def pool(self) -> CallPool:
        """Where calls are recorded."""
        return self._gateway.pool

    async def _models(self, request: Request) -> Response:
        return await passed_on(await self._upstream.ask("GET", "models", self.key(request)))

    # ------------------------------------------------------------------ sessions

    async def _session(self, request: Request) -> Response:
        return JSONResponse(self._known(request).to_json())

    async def _trajectory(self, request: Request) -> Response:
        found = await run_in_threadpool(self.pool.trajectory, self._known(request).name)
        return Response(encode(found), media_type="application/json")

    def _known(self, request: Request) -> Any:
        name = session_name(request)
        if name not in self.pool.sessions or not self.pool.sessions[name].calls:
            raise BadRequest(f"unknown session {name!a}", status=404)
        return self.pool.sessions[name]

    async def _reward(self, request: Request) -> Response:
        session, given = self._known(request), read_as(RewardBody, await read_body(request))
        await self._append(Reward(session=session.name, **msgspec.structs.asdict(given)))
        return JSONResponse(session.to_json())

    async def _mark(self, request: Request) -> Response:
        session, given = self._known(request), read_as(MarkBody, await read_body(request))
        await self._append(Mark(session=session.name, name=given.mark, value=given.value))
        return JSONResponse(session.to_json())

    async def _append(self, line: Any) -> None:
        try:
            await asyncio.wrap_future(self.pool.append(line))
        except ConfigError as error:
            raise BadRequest(str(error)) from None
        except OSError as error:
            raise EngineFault(f"this cannot be recorded: {error}") from None

    # ------------------------------------------------------------------ trainers

    async def _batch(self, request: Request) -> Response:
        wanted = msgspec.structs.asdict(read_as(BatchBody, await read_body(request)))
        found = await run_in_threadpool(lambda: [encode(one) for one in self.pool.take(**wanted)])
        return Response(b"".join(found), media_type="application/jsonl")

    async def _policy(self, request: Request) -> Response:
        self._gateway.version = read_as(PolicyBody, await read_body(request)).version
        return JSONResponse({"version": self.version})


class Exchange(Response):
    """One call on its way; as a response it streams. Equal requests of a session take turns."""

    def __init__(self, app: GatewayApp, request: Request, name: str, asked: Asked, lock: asyncio.Lock) -> None:
        super().__init__()
        self._app, self._name, self._asked, self._lock = app, name, asked, lock
        self._key, self._secrets = app.key(request), [app.key(request), bearer(request)]

    async def answer(self) -> Response:
        """The whole answer."""
        async with self._lock:
            if (known := await self._known()) is not None:
                return JSONResponse(known)
            version = self._app.version  # before the engine is asked: it may get new weights meanwhile
            answer = await self._app.ask(self._asked, self._key)
            try:
                if answer.status != 200:
                    return await passed_on(answer)
                body = _json(await answer.read())
            finally:
                answer.close()
            return JSONResponse(await self._app.record(self._name, self._asked, body, self._secrets, version))

    async def _known(self) -> dict[str, Any] | None:
        """The answer to this very request, where it was recorded before."""
        session = self._app.pool.sessions.get(self._name)
        if session is None or (number := session.keys.get(self._asked.key)) is None:
            return None
        return (await run_in_threadpool(self._app.pool.call, self._name, number)).answer

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Stream the answer."""
        async with self._lock:
            try:
                if (known := await self._known()) is not None:
                    events = [event(chunk) for chunk in chunks_of(self._asked, known)]
                    found: Response = Response(b"".join(events) + DONE, media_type="text/event-stream")
                else:
                    version = self._app.version
                    answer = await self._app.ask(self._asked, self._key)
                    if answer.status == 200:
                        headers = {"Cache-Control": "no-cache"}
                        events = self._events(answer, version)
                        found = StreamingResponse(events, headers=headers, media_type="text/event-stream")
                    else:
                        found = await passed_on(answer)
            except Exception as error:
                found = JSONResponse(*failure(error))
            await found(scope, receive, send)

    async def _events(self, answer: Answer, version: int) -> AsyncIterator[bytes]:
        """The upstream's events as they come; from the one that ends the answer on, only once the call is on disk."""
        joined, held = Joined(self._asked.route), list[bytes]()
        try:
            async for lines in answer.lines():
                ready = list[bytes]()  # what has come together is sent together
                for line in lines:
                    if not line.startswith(b"data:") or line[5:].strip() == b"[DONE]":
                        continue
                    chunk = _json(line[5:])
                    if chunk.get("error") is not None:
                        yield b"".join([*ready, event(chunk)])
                        return
                    joined.feed(chunk)
                    (held if joined.ended else ready).append(event(hidden(self._asked, chunk)))
                if ready:
                    yield b"".join(ready)
            if not joined.ended:
                raise EngineFault("no finish_reason came")
            await self._app.record(self._name, self._asked, joined.whole(), self._secrets, version)
            yield b"".join(held) + DONE
        except Exception as error:  # the status is sent; what is left is to say it in the stream
            yield event(failure(error)[0])
        finally:
            answer.close()


# ---------------------------------------------------------------------- requests


def session_name(request: Request) -> str:
    """The session of a request: in its path, or in the header `x-session-id`."""
    name = request.path_params.get("session") or request.headers.get("x-session-id", "")
    if not name:
        raise BadRequest("name a session: /sessions/NAME/v1 as base_url, or the header x-session-id")
    if NAME.fullmatch(name) is None:
        raise BadRequest(f"a session's name must be 1 to 128 of A-Z a-z 0-9 . _ - ; got {name[:200]!a}")
    return name


Word = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9_.-]{0,63}$")]
FromZero = Annotated[int, msgspec.Meta(ge=0)]
FromOne = Annotated[int, msgspec.Meta(ge=1)]


class RewardBody(msgspec.Struct, forbid_unknown_fields=True):
    """A reward of the whole session, or of one of its calls."""

    reward: float
    name: Word = "reward"
    call: FromZero | None = None


class MarkBody(msgspec.Struct, forbid_unknown_fields=True):
    """A mark for curation."""

    mark: Word
    value: Any = True


class BatchBody(msgspec.Struct, forbid_unknown_fields=True):
    """Which sessions a trainer wants: the arguments of `CallPool.take`."""

    most: Annotated[int, msgspec.Meta(ge=1, le=MAX_BATCH)] = 64
    at_least: FromOne = 1
    version: FromZero = 0
    only: list[str] = []
    without: list[str] = []


class PolicyBody(msgspec.Struct, forbid_unknown_fields=True):
    """The version of the weights that the upstream has from now on."""

    version: FromZero


def read_as(kind: type[T], body: bytes) -> T:
    """The fields in a body; `BadRequest` says which is wrong."""
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"invalid request: {error}"[:500]) from None


async def passed_on(answer: Answer) -> Response:
    """What the upstream said, as it said it."""
    headers = {name: answer.headers[name] for name in PASSED_ON if name in answer.headers}
    return Response(await answer.read(), answer.status, headers)


def _json(data: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise EngineFault(f"the upstream's answer is no JSON: {error}"[:300]) from None
    if not isinstance(found, dict):
        raise EngineFault("the upstream's answer is no JSON object")
    return found
