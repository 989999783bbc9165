"""What servers with OpenAI's interface share: who may ask, the body of a request, clients that leave, errors."""

from __future__ import annotations

import asyncio
import hmac
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from agentrl.core.errors import EngineFault, MissingExtra
from agentrl.serve.site import is_loopback

try:
    from starlette.applications import Starlette
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import BaseRoute
except ImportError as error:  # pragma: no cover (set-up installs it)
    raise MissingExtra("starlette", "serve") from error

log = logging.getLogger(__name__)

MAX_BODY = 32 << 20
ANSWER_SECONDS = 3600.0
Handler = Callable[[Request], Awaitable[Response]]


class BadRequest(Exception):
    """The client's mistake: the message says what to change."""

    def __init__(self, message: str, *, status: int = 400, code: str | None = None) -> None:
        super().__init__(message)
        self.status, self.code = status, code


class Overloaded(EngineFault):
    """The queue of requests is full."""


def application(routes: Sequence[BaseRoute], known: str) -> Starlette:
    """An ASGI application; `known` tells whoever asks for something else what there is."""

    async def unknown(request: Request, error: Any) -> Response:
        says = f"unknown path or method; {known}"
        return JSONResponse(error_body(says, "invalid_request_error"), error.status_code)

    wrong = {404: unknown, 405: unknown}
    return Starlette(routes=list(routes), exception_handlers=wrong)  # pyright: ignore[reportArgumentType]


def answering(handler: Handler, key: str | None) -> Handler:
    """The handler for those who may ask, with its exceptions as answers: nothing a client sends ends the server."""

    async def answer(request: Request) -> Response:
        try:
            if not is_loopback(request.headers.get("host", "")):  # another name may be DNS rebinding
                raise BadRequest("this server answers to loopback names only", status=403)
            given = bearer(request).encode("utf-8", "replace")
            if key is not None and not hmac.compare_digest(given, key.encode()):
                raise BadRequest("wrong or missing API key", status=401, code="invalid_api_key")
            return await handler(request)
        except ClientDisconnect:
            return Response(status_code=499)  # nobody reads it
        except BadRequest as error:
            return JSONResponse(error_body(str(error), "invalid_request_error", error.code), error.status)
        except Exception as error:
            return JSONResponse(*failure(error))

    return answer


def bearer(request: Request) -> str:
    """The key that a client sent; nothing where it sent none."""
    return request.headers.get("authorization", "").removeprefix("Bearer ").strip()


async def read_body(request: Request) -> bytes:
    """The body of a request, within its limits."""
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


async def unless_left(answer: asyncio.Future, request: Request) -> Any:
    """The answer, unless the client leaves first.

    A request whose client has gone is cancelled: clients that time out ask again, and a busy server would fill up with
    requests that have no reader.
    """
    gone = asyncio.ensure_future(_gone(request))
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


def failure(error: Exception) -> tuple[dict[str, Any], int]:
    """What the server says of a fault of its own, and the status."""
    if isinstance(error, Overloaded):
        return error_body(str(error), "rate_limit_error", "overloaded"), 429
    if isinstance(error, EngineFault):
        return error_body(str(error), "server_error"), 500
    log.warning("request failed: %s", type(error).__name__, exc_info=error)
    return error_body(f"unexpected: {type(error).__name__}", "server_error"), 500


def error_body(message: str, kind: str, code: str | None = None) -> dict[str, Any]:
    """An error in OpenAI's shape."""
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}
