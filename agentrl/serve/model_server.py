"""A small OpenAI-compatible endpoint over a transformers model, on this machine only.

    with ModelServer("tiny-text") as server:
        load_policy("openai:tiny-text", base_url=server.base_url)

It answers `GET /v1/models` and `POST /v1/chat/completions` (no streaming). Requests that arrive together share forward
passes. Beyond OpenAI's fields it knows vLLM's `return_token_ids`, and `token_ids` on earlier answers so that nothing is
tokenised twice. It is meant for tests, baselines and outside agents; to serve many users, use a server made for that.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
import logging
import secrets
import select
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError, EngineFault
from agentrl.core.redact import protect
from agentrl.models.chat import Prompt
from agentrl.models.loading import LoadedModel, load_model
from agentrl.serve.batching import Batcher, Job, Overloaded
from agentrl.serve.model_requests import BadRequest, ChatRequest, conversation_of, read_request

log = logging.getLogger(__name__)

LARGEST_BODY = 32 << 20
IDLE_SECONDS = 30.0  # a connection that says nothing for this long is closed
ANSWER_SECONDS = 3600.0
LOOK_SECONDS = 0.5  # between looks whether the client still waits
MOST_TOKENS = 4096
MOST_CONNECTIONS = 256


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
        checked_host(host)
        whole_number("port", port, at_least=0, at_most=65535)
        if api_key is not None:
            protect(api_key)
        self.loaded = model if isinstance(model, LoadedModel) else load_model(model, device, dtype)
        self.name = name or (self.loaded.folder.name if isinstance(model, LoadedModel) else Path(model).name)
        self._tokenizing = threading.Lock()  # tokenizers change their own settings while they work
        self._batcher = Batcher(self.loaded, max_batch=max_batch)
        try:
            self._http = _Listener((host, port), self, api_key)
        except OSError as error:
            self._batcher.close()
            raise ConfigError(f"port {port} of {host} cannot be used: {error.strerror}; choose another") from error
        self._thread = threading.Thread(target=self._http.serve_forever, name="agentrl-serve-model", daemon=True)
        self._thread.start()

    @property
    def base_url(self) -> str:
        """What a client is given."""
        host, port = self._http.server_address[:2]
        return f"http://[{host}]:{port}/v1" if ":" in str(host) else f"http://{host}:{port}/v1"

    @property
    def counts(self) -> dict[str, int]:
        """How many requests were answered, in how many batches."""
        return {"answered": self._batcher.answered, "batches": self._batcher.batches}

    def close(self) -> None:
        """Stop listening, fail open requests, end the threads."""
        self._http.shutdown()
        self._http.server_close()
        self._batcher.close()
        self._thread.join(5)

    def __enter__(self) -> ModelServer:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # ------------------------------------------------------------------ what can be asked

    def models(self) -> dict[str, Any]:
        """The answer to `GET /v1/models`."""
        entry = {"id": self.name, "object": "model", "created": 0, "owned_by": "agentrl"}
        return {"object": "list", "data": [entry | {"max_model_len": self.loaded.context}]}

    def complete(self, body: bytes, left: Callable[[], bool] = lambda: False) -> dict[str, Any]:
        """The answer to `POST /v1/chat/completions`; given up when the client has `left`."""
        request = read_request(body)
        if request.model != self.name:
            known = f"unknown model {request.model[:80]!a}. Served here: {self.name!a}"
            raise BadRequest(known, status=404, code="model_not_found")
        prompt = self._prompt(request)
        seed = None if request.seed is None else request.seed % (1 << 63)
        waiting = self._batcher.submit(Job(prompt, request.sampling(MOST_TOKENS), seed))
        return self._completion(request, prompt.ids, _wait_for(waiting, left))

    def _prompt(self, request: ChatRequest) -> Prompt:
        conversation, room = conversation_of(request, self.loaded), self.loaded.context
        try:
            with self._tokenizing:
                prompt = self.loaded.encoder.encode(conversation)
        except ConfigError as error:
            raise BadRequest(str(error)) from None
        if len(prompt.ids) >= room:
            text = f"This model's maximum context length is {room} tokens; the messages take {len(prompt.ids)}."
            raise BadRequest(text, code="context_length_exceeded")
        return prompt

    def _completion(self, request: ChatRequest, prompt: list[int], answer: Any) -> dict[str, Any]:
        said = answer.ids[:-1] if answer.stopped else answer.ids
        choice: dict[str, Any] = {
            "index": 0,
            "message": {"role": "assistant", "content": self._text(said)},
            "finish_reason": "stop" if answer.stopped else "length",
            "logprobs": self._logprobs(answer) if request.logprobs else None,
        }
        usage = {"prompt_tokens": len(prompt), "completion_tokens": len(answer.ids)}
        whole = {
            "id": f"chatcmpl-{secrets.token_hex(12)}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": self.name,
            "choices": [choice],
            "usage": usage | {"total_tokens": sum(usage.values())},
        }
        if request.return_token_ids:
            choice["token_ids"], whole["prompt_token_ids"] = answer.ids, prompt
        return whole

    def _logprobs(self, answer: Any) -> dict[str, Any]:
        """At the temperature that was sampled at, as everywhere in this package."""
        pairs = zip(answer.ids, answer.logprobs, strict=True)
        return {
            "content": [{"token": self._text([t]), "logprob": p, "bytes": None, "top_logprobs": []} for t, p in pairs]
        }

    def _text(self, ids: list[int]) -> str:
        with self._tokenizing:
            return self.loaded.tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)


def _wait_for(waiting: Future, left: Callable[[], bool]) -> Any:
    """The answer, unless the client leaves first.

    A request whose client has gone is cancelled: clients that time out ask again, and a busy server would fill up with
    requests that have no reader.
    """
    until = time.monotonic() + ANSWER_SECONDS
    while time.monotonic() < until:
        done, _ = wait([waiting], timeout=LOOK_SECONDS)
        if done:
            return waiting.result()
        if left():
            waiting.cancel()
            raise ConnectionError("the client left")
    waiting.cancel()
    raise EngineFault(f"no answer within {ANSWER_SECONDS:g} s")


def checked_host(host: str) -> str:
    """`host` if it is a loopback address: this server must not be reachable from a network."""
    try:
        if host == "localhost" or ipaddress.ip_address(host).is_loopback:
            return host
    except ValueError:
        pass
    raise ConfigError(f"host must be a loopback address such as 127.0.0.1; got {host!r}. To serve a network, use vLLM")


# ---------------------------------------------------------------------- HTTP


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], owner: ModelServer, api_key: str | None) -> None:
        self.owner, self.api_key = owner, api_key
        self._places = threading.BoundedSemaphore(MOST_CONNECTIONS)
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """One thread for each connection, up to a number."""
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)  # clients try again
            return
        try:
            super().process_request(request, client_address)
        except BaseException:  # no thread could be started
            self._places.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Give the place back whatever happened."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Broken connections are expected; log without the request's content."""
        log.debug("a connection ended in an error", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    server: _Listener  # pyright: ignore[reportIncompatibleVariableOverride]
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "agentrl", ""
    timeout = IDLE_SECONDS
    # Headers and body go out in two writes; without this the second waits for the first to be acknowledged.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._reply(lambda: self._get())

    def do_POST(self) -> None:
        self._reply(lambda: self._post())

    def _get(self) -> dict[str, Any]:
        self._admit()
        if self.path.rstrip("/") != "/v1/models":
            raise BadRequest("unknown path; see /v1/models", status=404)
        return self.server.owner.models()

    def _post(self) -> dict[str, Any]:
        self._admit()
        if self.path.rstrip("/") != "/v1/chat/completions":
            self.close_connection = True  # the body was not read
            raise BadRequest("unknown path; POST to /v1/chat/completions", status=404)
        return self.server.owner.complete(self._body(), self._left)

    def _admit(self) -> None:
        """Check the key, and that the request came through a loopback name (DNS rebinding)."""
        host = self.headers.get("Host", "").rsplit(":", 1)[0].strip("[]")
        try:
            checked_host(host)
        except ConfigError:
            self.close_connection = True
            raise BadRequest("this server answers to loopback names only", status=403) from None
        key = self.server.api_key
        given = self.headers.get("Authorization", "").removeprefix("Bearer ").strip()
        if key is not None and not hmac.compare_digest(given.encode("utf-8", "replace"), key.encode()):
            self.close_connection = True
            raise BadRequest("wrong or missing API key", status=401, code="invalid_api_key")

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()) or self.headers.get("Transfer-Encoding"):
            self.close_connection = True
            raise BadRequest("send a Content-Length", status=411)
        if len(length) > 12 or int(length) > LARGEST_BODY:
            self.close_connection = True
            raise BadRequest(f"a request must have at most {LARGEST_BODY} bytes", status=413)
        body = self.rfile.read(int(length))
        if len(body) != int(length):
            raise ConnectionError("the client left in the middle of its request")
        # Browsers send this type only after a preflight request, which is not answered: no web page can use the server.
        if self.headers.get_content_type() != "application/json":
            raise BadRequest("send Content-Type: application/json", status=415)
        return body

    def _left(self) -> bool:
        """Has the client hung up? (What it sends meanwhile, if anything, stays where it is.)"""
        try:
            ready, _, _ = select.select([self.connection], [], [], 0)
            return bool(ready) and not self.connection.recv(1, socket.MSG_PEEK)
        except (OSError, ValueError):
            return True

    def _reply(self, work: Any) -> None:
        try:
            self._send(200, work())
        except BadRequest as error:
            self._refuse(error.status, str(error), "invalid_request_error", error.code)
        except Overloaded as error:
            self._refuse(429, str(error), "rate_limit_error", "overloaded")
        except EngineFault as error:
            self._refuse(500, str(error), "server_error", None)
        except OSError:
            self.close_connection = True
        except Exception as error:  # nothing a client sends may end the server
            log.warning("a request failed: %s", type(error).__name__, exc_info=True)
            self._refuse(500, f"unexpected: {type(error).__name__}", "server_error", None)

    def _refuse(self, status: int, message: str, kind: str, code: str | None) -> None:
        self._send(status, {"error": {"message": message, "type": kind, "param": None, "code": code}})

    def _send(self, status: int, value: dict[str, Any]) -> None:
        data = json.dumps(value).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            if self.close_connection:
                self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(data)
        except OSError:  # the client has gone
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet: clients' data does not belong in a terminal."""
        log.debug("%s %s", self.command, self.path if len(self.path) < 100 else "...")
