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
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.core.redact import protect
from agentrl.models.loading import LoadedModel, load_model
from agentrl.serve.api import BadRequest, answering, application, failure, read_body, unless_left
from agentrl.serve.batching import Batcher, Job
from agentrl.serve.connections import BackgroundServer
from agentrl.serve.model_answers import DONE, Writer, event
from agentrl.serve.model_requests import conversation_of, read_request
from agentrl.serve.site import address, check_address, listen

try:
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response, StreamingResponse
    from starlette.routing import Route
except ImportError as error:  # pragma: no cover (set-up installs it)
    raise MissingExtra("starlette", "serve") from error

MAX_TOKENS = 4096


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
        self._model = model
        routes = [
            Route("/v1/models", answering(self._models, api_key)),
            Route("/v1/models/{name:path}", answering(self._models, api_key)),
            Route("/v1/chat/completions", answering(self._complete, api_key), methods=["POST"]),
        ]
        self.app = application(routes, "there are GET /v1/models and POST /v1/chat/completions")

    # ------------------------------------------------------------------ requests

    async def _models(self, request: Request) -> Response:
        if "name" not in request.path_params:
            return JSONResponse({"object": "list", "data": [self._model.model()]})
        if request.path_params["name"] != self._model.name:
            raise BadRequest(f"unknown model; served here: {self._model.name!a}", status=404, code="model_not_found")
        return JSONResponse(self._model.model())

    async def _complete(self, request: Request) -> Response:
        body = await read_body(request)
        writer = await run_in_threadpool(self._model.question, body)
        if not writer.request.stream:
            answer = await unless_left(asyncio.wrap_future(self._model.submit(writer)), request)
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
            yield event(failure(error)[0])
            return
        for chunk in writer.closing():
            yield event(chunk)
        yield DONE
    finally:
        writer.left = True  # ends a row that nobody reads
        answer.cancel()
