"""The HTTP side of `serve-model`: who may ask, what a request looks like, answers and errors in OpenAI's shape."""

from __future__ import annotations

import asyncio
import hmac
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future
from typing import Any, Protocol

from agentrl.core.errors import EngineFault, MissingExtra
from agentrl.serve.batching import Overloaded
from agentrl.serve.model_answers import DONE, Writer, event
from agentrl.serve.model_requests import BadRequest
from agentrl.serve.site import is_loopback

try:
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import JSONResponse, Response, StreamingResponse
    from starlette.routing import Route
except ImportError as error:  # pragma: no cover (set-up installs it)
    raise MissingExtra("starlette", "serve") from error

log = logging.getLogger(__name__)

MAX_BODY = 32 << 20
ANSWER_SECONDS = 3600.0
Handler = Callable[[Request], Awaitable[Response]]


class Answerer(Protocol):
    """What the HTTP side needs to know of a model: `ModelServer`."""

    name: str

    def model(self) -> dict[str, Any]:
        """The model, as a JSON object."""
        ...

    def question(self, body: bytes) -> Writer:
        """A request, read and tokenised."""
        ...

    def submit(self, writer: Writer) -> Future:
        """Ask the model."""
        ...


class ModelApp:
    """`app` is what an ASGI server runs."""

    def __init__(self, model: Answerer, api_key: str | None) -> None:
        self._model, self._key = model, api_key
        routes = [
            Route("/v1/models", self._answering(self._list)),
            Route("/v1/models/{name:path}", self._answering(self._show)),
            Route("/v1/chat/completions", self._answering(self._complete), methods=["POST"]),
        ]
        wrong = {404: _unknown, 405: _unknown}
        self.app = Starlette(routes=routes, exception_handlers=wrong)  # pyright: ignore[reportArgumentType]

    def _answering(self, handler: Handler) -> Handler:
        """The handler for those who may ask, with its exceptions as answers: nothing a client sends ends the server."""

        async def answer(request: Request) -> Response:
            try:
                self._admit(request)
                return await handler(request)
            except ClientDisconnect:
                return Response(status_code=499)  # nobody reads it
            except BadRequest as error:
                return JSONResponse(_error(str(error), "invalid_request_error", error.code), error.status)
            except Exception as error:
                return JSONResponse(*_failure(error))

        return answer

    # ------------------------------------------------------------------ requests

    async def _list(self, request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [self._model.model()]})

    async def _show(self, request: Request) -> Response:
        if request.path_params["name"] != self._model.name:
            raise BadRequest(f"unknown model; served here: {self._model.name!a}", status=404, code="model_not_found")
        return JSONResponse(self._model.model())

    async def _complete(self, request: Request) -> Response:
        body = await _body(request)
        writer = await run_in_threadpool(self._model.question, body)
        if writer.request.stream:
            return self._stream(writer)
        answer = await _unless_left(self._model.submit(writer), request)
        return JSONResponse(await run_in_threadpool(writer.completion, answer))

    def _stream(self, writer: Writer) -> Response:
        """The tokens as server-sent events. What can be refused is refused before the first of them."""
        pieces: asyncio.Queue[Any] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        writer.deliver = lambda piece: loop.call_soon_threadsafe(pieces.put_nowait, piece)
        answer = asyncio.wrap_future(self._model.submit(writer))
        answer.add_done_callback(lambda _: pieces.put_nowait(None))  # after every piece: both come in order
        headers = {"Cache-Control": "no-cache"}
        return StreamingResponse(_events(writer, pieces, answer), headers=headers, media_type="text/event-stream")

    # ------------------------------------------------------------------ who may ask

    def _admit(self, request: Request) -> None:
        """Check the key, and that the request came through a loopback name (DNS rebinding)."""
        if not is_loopback(request.headers.get("host", "")):
            raise BadRequest("this server answers to loopback names only", status=403)
        given = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
        if self._key is not None and not hmac.compare_digest(given.encode("utf-8", "replace"), self._key.encode()):
            raise BadRequest("wrong or missing API key", status=401, code="invalid_api_key")


async def _events(writer: Writer, pieces: asyncio.Queue[Any], answer: asyncio.Future) -> AsyncIterator[bytes]:
    try:
        yield event(writer.opening())
        while (piece := await pieces.get()) is not None:
            yield event(writer.chunk(piece))
        try:
            answer.result()
        except Exception as error:  # the status is sent; what is left is to say it in the stream
            yield event(_failure(error)[0])
            return
        for chunk in writer.closing():
            yield event(chunk)
        yield DONE
    finally:
        writer.left = True  # ends a row that nobody reads
        answer.cancel()


async def _body(request: Request) -> bytes:
    # Browsers send this type only after a preflight request, which is not answered: no web page can use the server.
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise BadRequest("send Content-Type: application/json", status=415)
    too_large = BadRequest(f"a request must have at most {MAX_BODY} bytes", status=413)
    length = request.headers.get("content-length", "0")
    if len(length) > 12 or int(length) > MAX_BODY:  # digits only: the parser has seen to that
        raise too_large
    pieces, size = [], 0
    async for piece in request.stream():
        pieces.append(piece)
        size += len(piece)
        if size > MAX_BODY:
            raise too_large
    return b"".join(pieces)


async def _unless_left(waiting: Future, request: Request) -> Any:
    """The answer, unless the client leaves first.

    A request whose client has gone is cancelled: clients that time out ask again, and a busy server would fill up with
    requests that have no reader.
    """
    answer, gone = asyncio.wrap_future(waiting), asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({answer, gone}, timeout=ANSWER_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if answer.done():
            return answer.result()
        if gone.done():
            raise ClientDisconnect
        raise EngineFault(f"no answer within {ANSWER_SECONDS:g} s")
    finally:
        gone.cancel()
        answer.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


# ---------------------------------------------------------------------- errors


def _failure(error: Exception) -> tuple[dict[str, Any], int]:
    """What the server says of a fault of its own, and the status."""
    if isinstance(error, Overloaded):
        return _error(str(error), "rate_limit_error", "overloaded"), 429
    if isinstance(error, EngineFault):
        return _error(str(error), "server_error", None), 500
    log.warning("a request failed: %s", type(error).__name__, exc_info=error)
    return _error(f"unexpected: {type(error).__name__}", "server_error", None), 500


def _error(message: str, kind: str, code: str | None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


async def _unknown(request: Request, error: Any) -> Response:
    says = "unknown path or method; there are GET /v1/models and POST /v1/chat/completions"
    return JSONResponse(_error(says, "invalid_request_error", None), error.status_code)
