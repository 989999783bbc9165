"""vLLM's own server: one that we start on loopback, guard with a key and end, or one that runs already.

`Client` is a small HTTP client for it: JSON with a key, several questions at a time, a deadline for each.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import secrets
import select
import signal
import socket
import subprocess
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from agentrl.core.arguments import whole_number
from agentrl.core.endpoint import plain_url, read_key
from agentrl.core.errors import ConfigError, EngineFault
from agentrl.core.interpreter import Interpreter
from agentrl.core.redact import protect, redact
from agentrl.policies.openai import data_url
from agentrl.policies.vllm.backend import INSIDE, EngineLost, Reply, Request, start_fault

MAX_AT_ONCE = 64  # requests
WRONG_KEY = (401, 403)
HOST = "127.0.0.1"
ROUTE = "/inference/v1/generate"
SHORT = 30.0  # seconds for questions that need no computing
NAME = "agentrl"  # of the model, to clients
PORTS_TRIED = 3
TAIL = 3000
HOW_TO_START = "start it with --enable-scale-out (vLLM 0.30 or newer)"
HOW_TO_UPDATE = (
    "weights can be replaced only in a server that was started with VLLM_SERVER_DEV_MODE=1 and "
    f"--worker-extension-cls agentrl_vllm_worker.Extension, with {INSIDE} on its PYTHONPATH"
)


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
        self._ending = weakref.finalize(self, _disconnect, self._opened, self._threads)

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
        seconds = self._deadline if deadline is None else deadline
        connection = getattr(self._mine, "connection", None)  # this thread's
        if connection is None:
            kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
            connection = self._mine.connection = kind(self._host, self._port)
            self._opened.append(connection)
        # It is opened anew where the server closed it or the deadline is another.
        if connection.sock is not None and (connection.timeout != seconds or _hung_up(connection.sock)):
            connection.close()
        connection.timeout = seconds
        try:
            connection.request(method, path, payload, headers)
            answer = connection.getresponse()
            status, content = answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            late = isinstance(error, (TimeoutError, socket.timeout))
            why = "gave no answer in time" if late else f"cannot be reached ({type(error).__name__}: {error})"
            raise EngineLost(f"vLLM's server at {self.address} {why}") from error
        if status == 200:
            try:
                return json.loads(content) if content.strip() else None
            except ValueError as error:
                raise EngineFault(f"vLLM's server at {self.address} gave an answer that is not JSON") from error
        said = redact(content[:500].decode("utf-8", "replace"))
        if status in WRONG_KEY:
            raise Refused(status, f"vLLM's server at {self.address} refuses the key: {said}")
        raise Refused(status, f"vLLM's server at {self.address} answered HTTP {status}: {said}")


def _disconnect(opened: list[http.client.HTTPConnection], threads: ThreadPoolExecutor) -> None:
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


class Wire:
    """Requests to a server, ours or another."""

    restartable = False
    client: Client

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        """One HTTP request for each, many at a time: the server batches them, and each has its own seed."""
        try:
            answers = self.client.post_all(ROUTE, [_body(request) for request in requests])
        except Refused as fault:
            if fault.status == 404:
                raise EngineFault(f"{self.client.address} has no {ROUTE}; {HOW_TO_START}") from fault
            raise
        return [_reply(answer) for answer in answers]

    def score(self, requests: Sequence[Request], temperature: float) -> list[list[float]]:
        """The log-probabilities of the prompts' own tokens and of the answers'."""
        if temperature != 1.0:
            self._rpc("agentrl_prompt_heat", str(temperature))
        try:
            answers = self.client.post_all(ROUTE, [_body(request) for request in requests])
            found = []
            for answer in answers:
                try:
                    pairs = list(zip(answer["prompt_token_ids"], answer["prompt_logprobs"], strict=True))
                    prompt = [float(row[str(token)]["logprob"]) for token, row in pairs[1:]]
                except (KeyError, TypeError, ValueError) as error:
                    raise EngineFault(f"vLLM's server gave no log-probabilities of the prompt: {error}") from error
                found.append(prompt + _reply(answer).logprobs)
            return found
        finally:
            if temperature != 1.0:
                self._rpc("agentrl_prompt_heat", "1.0")

    def load(self, ticket: str, version: str) -> None:
        """Take all weights from a file or from shared memory."""
        self.replace_weights(lambda: self._rpc("agentrl_load", ticket), version)

    def sleep(self) -> None:
        """Leave the GPU's memory to others, when what is being answered is done."""
        self.client.post("/sleep?level=1&mode=wait")

    def wake(self) -> None:
        """Take it back."""
        self.client.post("/wake_up")

    def replace_weights(self, work: Callable[[], Any], version: str) -> None:
        """Pause, replace, forget what the old weights computed, go on. After a failure the server stays paused."""
        try:
            self.client.post("/pause?mode=wait")
            work()
            for cache in ("/reset_prefix_cache", "/reset_mm_cache", "/reset_encoder_cache"):
                self.client.post(cache)
            self.client.post("/update_weight_version", {"new_version": version})
            self.client.post("/resume")
        except Refused as fault:
            raise EngineFault(f"{fault}; {HOW_TO_UPDATE}" if fault.status == 404 else str(fault)) from fault

    def _rpc(self, method: str, *args: str) -> Any:
        return self.client.post("/collective_rpc", {"method": method, "args": list(args)})

    def _context(self) -> int:
        listed = self.client.get("/v1/models", SHORT)
        try:
            return int(listed["data"][0]["max_model_len"])
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise EngineFault(f"{self.client.address} does not say what it serves: is it vLLM?") from error


class RemoteServer(Wire):
    """A server that runs already; it is never ended or restarted from here.

    Its log-probabilities are those at the temperature only if it was started with `--logprobs-mode
    processed_logprobs` (and nothing is cut by top_p or top_k), or at temperature 1, or with our extension.
    """

    def __init__(self, base_url: str, api_key_env: str, *, deadline: float) -> None:
        url = base_url.rstrip("/").removesuffix("/v1")
        self._given = (url, lambda: read_key(api_key_env, url), deadline)
        self.client = Client(*self._given)

    def start(self) -> int:
        """Nothing to start: is it there, and does it know the key?"""
        context = self._context()
        with contextlib.suppress(Refused):  # without our extension it plays all the same
            self._rpc("agentrl_prepare")
        return context

    def stop(self) -> None:
        """Nothing to end but our own connections."""
        self.client.close()
        self.client = Client(*self._given)


class ServerBackend(Wire):
    """A server of our own, on loopback, with a random key."""

    restartable = True

    def __init__(
        self,
        interpreter: Interpreter,
        model: Path,
        options: dict[str, Any],
        environment: dict[str, str],
        *,
        port: int,
        deadline: float,
        start_deadline: float,
    ) -> None:
        self.port = whole_number("port", port, at_least=0, at_most=65535)
        self._interpreter, self._model, self._options = interpreter, model, options
        self._environment, self._deadline, self._start_deadline = environment, deadline, start_deadline
        self._process: subprocess.Popen[bytes] | None = None
        self._output: IO[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The server's process, or None while there is none."""
        return None if self._process is None else self._process.pid

    def start(self) -> int:
        """Start it unless it runs, and wait until it answers."""
        if self._process is None:
            for attempt in range(PORTS_TRIED):
                try:
                    self._launch(free_port(self.port))
                    self._wait_until_up()
                    break
                except PortTaken:
                    self.stop()
                    if self.port or attempt + 1 == PORTS_TRIED:
                        raise
            self._rpc("agentrl_prepare")
        return self._context()

    def stop(self) -> None:
        """End the server and everything it started."""
        process, self._process = self._process, None
        if process is not None:
            self.client.close()
            self._ending()
        if self._output is not None:
            self._output.close()
            self._output = None

    def _launch(self, port: int) -> None:
        key = secrets.token_urlsafe(32)
        protect(key)
        self.client = Client(f"http://{HOST}:{port}", lambda: key, self._deadline)
        inherited = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
        variables = inherited | self._environment
        # The key in the environment, not on the command line: every user of the machine can read that.
        variables |= {"VLLM_API_KEY": key, "VLLM_SERVER_DEV_MODE": "1", "PYTHONPATH": str(INSIDE)}
        words = ["--model", str(self._model), "--served-model-name", NAME, "--host", HOST, "--port", str(port)]
        words += ["--enable-scale-out", "--middleware", "agentrl_vllm_serve.RequireKey"]
        words += ["--worker-extension-cls", "agentrl_vllm_worker.Extension"]
        for name, value in self._options.items():
            option = "--" + name.replace("_", "-")
            if isinstance(value, bool):
                words.append(option if value else "--no-" + option[2:])
            else:
                words += [option, json.dumps(value) if isinstance(value, (dict, list)) else str(value)]
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 (`stop` closes it)
        try:
            self._process = subprocess.Popen(
                [self._interpreter.python, str(INSIDE / "agentrl_vllm_serve.py"), *words],
                stdin=subprocess.PIPE,
                stdout=self._output,
                stderr=subprocess.STDOUT,
                env=variables,
                start_new_session=True,
            )
        except OSError as error:
            raise EngineFault(f"vLLM's server cannot be started by {self._interpreter.python}: {error}") from error
        self._ending = weakref.finalize(self, _kill, self._process)

    def _wait_until_up(self) -> None:
        until = time.monotonic() + self._start_deadline
        while time.monotonic() < until:
            assert self._process is not None
            if (status := self._process.poll()) is not None:
                said = self.output
                self.stop()
                if "address already in use" in said.lower():
                    raise PortTaken("a port that was free a moment ago is taken")
                raise start_fault(f"vLLM's server ended while it started (status {status}); its last output:\n{said}")
            with contextlib.suppress(EngineLost, Refused):
                self.client.get("/health", 2.0)
                return
            time.sleep(0.1)
        said = self.output
        self.stop()
        raise EngineFault(f"vLLM's server was not up within {self._start_deadline:g} s; its last output:\n{said}")

    @property
    def output(self) -> str:
        """The end of what the server printed."""
        if self._output is None:
            return ""
        size = os.fstat(self._output.fileno()).st_size
        data = os.pread(self._output.fileno(), TAIL, max(0, size - TAIL))
        return redact(data.decode("utf-8", "replace"))


class PortTaken(ConfigError):
    """Another process listens on the port."""


def free_port(wanted: int) -> int:
    """The port if it is free (any free one for 0); `PortTaken` otherwise."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, wanted))
        except OSError as error:
            raise PortTaken(f"port {wanted} of {HOST} is taken; choose another, or 0 for any") from error
        return probe.getsockname()[1]


def _kill(process: subprocess.Popen[bytes]) -> None:
    """The whole group: the server has an engine core and workers of its own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdin is not None:
        process.stdin.close()


# ---------------------------------------------------------------------- JSON


def _body(request: Request) -> dict[str, Any]:
    body: dict[str, Any] = {"token_ids": request.ids, "sampling_params": request.sampling, "return_token_ids": True}
    if request.images:
        body["content_parts"] = [{"type": "image_url", "url": data_url(picture)} for picture in request.images]
    return body


def _reply(answer: Any) -> Reply:
    try:
        choice = answer["choices"][0]
        ids = [int(token) for token in choice["token_ids"] or []]
        scores = [float(one["logprob"]) for one in (choice["logprobs"] or {}).get("content") or []]
        versions = sorted({str(span["version"]) for span in choice.get("weight_versions") or []})
        return Reply(ids, scores, choice["finish_reason"] == "stop", versions, answer.get("prompt_token_ids"))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise EngineFault(
            f"vLLM's server gave an answer that cannot be read: {type(error).__name__}: {error}"
        ) from error
