"""A small HTTP client for vLLM's server: JSON with a key, several questions at a time, a deadline for each."""

from __future__ import annotations

import contextlib
import http.client
import json
import select
import socket
import threading
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

from agentrl.core.endpoint import plain_url
from agentrl.core.errors import ConfigError, EngineFault
from agentrl.core.redact import redact
from agentrl.policies.vllm.backend import EngineLost

MAX_AT_ONCE = 64
WRONG_KEY = (401, 403)


class Refused(EngineFault):
    """The server answered, with an error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Client:
    """Connections to one server, one for each thread that asks. The key is asked for when it is needed."""

    def __init__(self, base_url: str, key: Callable[[], str], deadline: float) -> None:
        parts = urlsplit(plain_url(base_url) or "")
        if not parts.hostname or parts.query:
            raise ConfigError(f'base_url must look like "http://127.0.0.1:8000"; got {base_url!r}')
        self.address = f"{parts.scheme}://{parts.netloc}"
        self._secure, self._host, self._port = parts.scheme == "https", parts.hostname, parts.port
        self._key, self._deadline = key, deadline
        self._mine = threading.local()
        self._opened: list[http.client.HTTPConnection] = []
        self._threads = ThreadPoolExecutor(MAX_AT_ONCE, "agentrl-vllm")
        self._ending = weakref.finalize(self, _end, self._opened, self._threads)

    def post(self, path: str, body: Any = None, deadline: float | None = None) -> Any:
        """The JSON answer; `EngineLost` where there is none, `Refused` where it is an error."""
        return self._exchange("POST", path, {} if body is None else body, deadline)

    def get(self, path: str, deadline: float | None = None) -> Any:
        """Likewise."""
        return self._exchange("GET", path, None, deadline)

    def post_all(self, path: str, bodies: Sequence[Any]) -> list[Any]:
        """Many at a time; the first trouble is raised when all have ended."""
        asked = [self._threads.submit(self.post, path, body) for body in bodies]
        troubles = [one.exception() for one in asked]
        for trouble in troubles:
            if isinstance(trouble, EngineLost):  # says more than what it led to elsewhere
                raise trouble
        return [one.result() for one in asked]

    def close(self) -> None:
        """Close the connections and end the threads; also happens when the client is garbage-collected."""
        self._ending()

    def _exchange(self, method: str, path: str, body: Any, deadline: float | None) -> Any:
        headers = {"Authorization": f"Bearer {self._key()}", "Content-Type": "application/json"}
        payload = None if body is None else json.dumps(body).encode()
        connection = self._connection(self._deadline if deadline is None else deadline)
        try:
            connection.request(method, path, payload, headers)
            answer = connection.getresponse()
            status, content = answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            late = isinstance(error, (TimeoutError, socket.timeout))
            why = "gave no answer in time" if late else f"cannot be reached ({type(error).__name__}: {error})"
            raise EngineLost(f"vLLM's server at {self.address} {why}") from error
        return self._read(status, content)

    def _connection(self, deadline: float) -> http.client.HTTPConnection:
        """This thread's, opened anew where the server closed it or the deadline is another."""
        found = getattr(self._mine, "connection", None)
        if found is None:
            kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
            found = self._mine.connection = kind(self._host, self._port)
            self._opened.append(found)
        if found.sock is not None and (found.timeout != deadline or _hung_up(found.sock)):
            found.close()
        found.timeout = deadline
        return found

    def _read(self, status: int, content: bytes) -> Any:
        if status == 200:
            try:
                return json.loads(content) if content.strip() else None
            except ValueError as error:
                raise EngineFault(f"vLLM's server at {self.address} gave an answer that is not JSON") from error
        said = redact(content[:500].decode("utf-8", "replace"))
        if status in WRONG_KEY:
            raise Refused(status, f"vLLM's server at {self.address} refuses the key: {said}")
        raise Refused(status, f"vLLM's server at {self.address} answered HTTP {status}: {said}")


def _end(opened: list[http.client.HTTPConnection], threads: ThreadPoolExecutor) -> None:
    for connection in opened:
        if connection.sock is not None:
            with contextlib.suppress(OSError):  # wakes threads that wait for an answer
                connection.sock.shutdown(socket.SHUT_RDWR)
    threads.shutdown(wait=False, cancel_futures=True)
    for connection in opened:
        connection.close()
    opened.clear()


def _hung_up(connection: socket.socket) -> bool:
    """Has the server closed an idle connection? (It has nothing to say in between, so anything to read is the end.)"""
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(0))
