"""A small OpenAI-compatible endpoint over a transformers model, on this machine only.

    with ModelServer("tiny-text") as server:
        load_policy("openai:tiny-text", base_url=server.base_url)

It answers `GET /v1/models` and `POST /v1/chat/completions`, whole or as a stream. Requests that arrive together share
forward passes. Beyond OpenAI's fields it knows vLLM's `return_token_ids` and `top_k`, and `token_ids` on earlier
answers so that nothing is tokenised twice. A model whose chat template knows tools may call them. It is meant for
tests, baselines and outside agents; to serve many users, use a server made for that.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from agentrl.core.errors import ConfigError, EngineFault, MissingExtra
from agentrl.core.redact import protect
from agentrl.models.loading import LoadedModel, load_model
from agentrl.serve.batching import Batcher, Job, Overloaded
from agentrl.serve.connections import BackgroundServer
from agentrl.serve.model_answers import DONE, Writer, event
from agentrl.serve.model_requests import BadRequest, conversation_of, read_request
from agentrl.serve.site import address, check_address, is_loopback, listen

try:
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import JSONResponse, Response, StreamingResponse
    from starlette.routing import Route
except ImportError as error:  # pragma: no cover (set-up installs it)
    raise MissingExtra("starlette", "serve") from error

log = logging.getLogger(__name__)

MAX_TOKENS = 4096
MAX_BODY = 32 << 20
ANSWER_SECONDS = 3600.0
Handler = Callable[[Request], Awaitable[Response]]


class ModelServer:
    """Serves until `close()`. With an `api_key`, requests must carry it as a bearer token."""

    def __init__(
        self,
        model: str | Path | LoadedModel,
        *,
        name: str | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        api_key: str | None = None,
        max_batch: int = 64,
        device: str = "auto",
        dtype: str = "auto",
    ) -> None:
        check_address(host, port)  # before the model is loaded, which may take a while
        if api_key is not None:
            protect(api_key)
        self.loaded = model if isinstance(model, LoadedModel) else load_model(model, device, dtype)
        self.name = name or (self.loaded.folder.name if isinstance(model, LoadedModel) else Path(model).name)
        self._tokenizing = threading.Lock()  # tokenizers change their own settings while they work
        listener = listen(host, port)
        self.base_url = f"{address(listener)}v1"  # what a client is given
        self._batcher = Batcher(self.loaded, max_batch=max_batch)
        self._http = BackgroundServer(ModelApp(self, api_key).app, listener, "agentrl-serve-model")

    @property
    def counts(self) -> dict[str, int]:
        """How many requests were answered, in how many batches."""
        return {"answered": self._batcher.answered, "batches": self._batcher.batches}

    def close(self) -> None:
        """Fail open requests, stop listening, end the threads."""
        self._batcher.close()
        self._http.close()

    def __enter__(self) -> ModelServer:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # ------------------------------------------------------------------ what can be asked

    def model(self) -> dict[str, Any]:
        """The answer to `GET /v1/models/NAME`, and the one entry of the list."""
        entry = {"id": self.name, "object": "model", "created": 0, "owned_by": "agentrl"}
        return entry | {"max_model_len": self.loaded.context}

    def question(self, body: bytes) -> Writer:
        """A chat completion request, read and tokenised; `BadRequest` where that cannot be."""
        request = read_request(body)
        if request.model != self.name:
            known = f"unknown model {request.model[:80]!a}. Served here: {self.name!a}"
            raise BadRequest(known, status=404, code="model_not_found")
        conversation, room = conversation_of(request, self.loaded), self.loaded.context
        try:
            with self._tokenizing:
                prompt = self.loaded.encoder.encode(conversation, request.tools or [])
        except ConfigError as error:
            raise BadRequest(str(error)) from None
        if len(prompt.ids) >= room:
            text = f"This model's maximum context length is {room} tokens; the messages take {len(prompt.ids)}."
            raise BadRequest(text, code="context_length_exceeded")
        return Writer(request, prompt, self.loaded.stops, self._text)

    def submit(self, writer: Writer) -> Any:
        """Queue the request for the model: a future of an `agentrl.models.sampling.Answer`."""
        request = writer.request
        seed = None if request.seed is None else request.seed % (1 << 63)
        watch = writer.take if writer.needs_each_token else None
        return self._batcher.submit(
            Job(writer.prompt, request.sampling(MAX_TOKENS), seed, watch, request.top_logprobs or 0)
        )

    def _text(self, ids: list[int]) -> str:
        with self._tokenizing:
            return self.loaded.tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)


class ModelApp:
    """The HTTP side: who may ask, answers and errors in OpenAI's shape; `app` is what an ASGI server runs."""

    def __init__(self, model: ModelServer, api_key: str | None) -> None:
        self._model, self._key = model, api_key
        routes = [
            Route("/v1/models", self._answering(self._models)),
            Route("/v1/models/{name:path}", self._answering(self._models)),
            Route("/v1/chat/completions", self._answering(self._complete), methods=["POST"]),
        ]
        wrong = {404: _unknown, 405: _unknown}
        self.app = Starlette(routes=routes, exception_handlers=wrong)  # pyright: ignore[reportArgumentType]

    def _answering(self, handler: Handler) -> Handler:
        """The handler for those who may ask, with its exceptions as answers: nothing a client sends ends the server."""

        async def answer(request: Request) -> Response:
            try:
                if not is_loopback(request.headers.get("host", "")):  # another name may be DNS rebinding
                    raise BadRequest("this server answers to loopback names only", status=403)
                given = (
                    request.headers.get("authorization", "").removeprefix("Bearer ").strip().encode("utf-8", "replace")
                )
                if self._key is not None and not hmac.compare_digest(given, self._key.encode()):
                    raise BadRequest("wrong or missing API key", status=401, code="invalid_api_key")
                return await handler(request)
            except ClientDisconnect:
                return Response(status_code=499)  # nobody reads it
            except BadRequest as error:
                return JSONResponse(_error(str(error), "invalid_request_error", error.code), error.status)
            except Exception as error:
                return JSONResponse(*_failure(error))

        return answer

    # ------------------------------------------------------------------ requests

    async def _models(self, request: Request) -> Response:
        if "name" not in request.path_params:
            return JSONResponse({"object": "list", "data": [self._model.model()]})
        if request.path_params["name"] != self._model.name:
            raise BadRequest(f"unknown model; served here: {self._model.name!a}", status=404, code="model_not_found")
        return JSONResponse(self._model.model())

    async def _complete(self, request: Request) -> Response:
        body = await _body(request)
        writer = await run_in_threadpool(self._model.question, body)
        if not writer.request.stream:
            answer = await _unless_left(self._model.submit(writer), request)
            return JSONResponse(await run_in_threadpool(writer.completion, answer))
        # The tokens as server-sent events. What can be refused is refused before the first of them.
        pieces: asyncio.Queue[Any] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        writer.deliver = lambda piece: loop.call_soon_threadsafe(pieces.put_nowait, piece)
        streamed = asyncio.wrap_future(self._model.submit(writer))
        streamed.add_done_callback(lambda _: pieces.put_nowait(None))  # after every piece: both come in order
        headers = {"Cache-Control": "no-cache"}
        return StreamingResponse(_events(writer, pieces, streamed), headers=headers, media_type="text/event-stream")


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
    log.warning("request failed: %s", type(error).__name__, exc_info=error)
    return _error(f"unexpected: {type(error).__name__}", "server_error", None), 500


def _error(message: str, kind: str, code: str | None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


async def _unknown(request: Request, error: Any) -> Response:
    says = "unknown path or method; there are GET /v1/models and POST /v1/chat/completions"
    return JSONResponse(_error(says, "invalid_request_error", None), error.status_code)
