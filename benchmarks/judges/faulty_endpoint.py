"""A little OpenAI-compatible server that misbehaves on request: for tests, and for `agentrl check judges`.

It plays an honest model by default: it answers YES to texts that contain the word "TRUTHFUL" and NO to all others.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

FAULTS = ("429", "429-after", "500", "hang", "close", "half", "schema", "empty", "drip", "outage")
MALFORMED_FAULTS = ("half", "schema", "empty")
REASONS = {200: "OK", 429: "Too Many Requests", 500: "Internal Server Error"}
WRONG_SCHEMAS: tuple[Any, ...] = (
    {"object": "error"},
    {"choices": "none"},
    {"choices": [{"message": {"content": "YES"}}]},
    {"choices": [{"message": {"content": '{"verdict": "YES"}'}}]},
    {"choices": [{"message": {"content": '{"code": "CODE", "reasoning": "", "verdict": "MAYBE"}'}}]},
    {"choices": [{"message": {"content": '{"code": "CODE", "reasoning": "", "verdict": 0, "score": 0}'}}]},
    {"choices": [{"message": {"content": "[0]"}}]},
)
EMPTY_CHOICES: tuple[Any, ...] = (
    {"choices": []},
    {"choices": [{"message": {"content": ""}}]},
    {"choices": [{"message": {"content": None}, "finish_reason": "content_filter"}]},
)


@dataclass(frozen=True)
class Call:
    """One HTTP request, as the endpoint saw it."""

    number: int
    attempt: int  # 1 for the first time this question is asked
    at: float
    question: str  # the user's message without the marks that differ between calls
    text: str  # what stood inside the fence
    code: str
    fence: str
    body: dict[str, Any] = field(repr=False)
    headers: dict[str, str] = field(repr=False)


def honest(call: Call) -> Any:
    """What a good model would reply: the content of its message, or a whole completion."""
    verdict = "YES" if "TRUTHFUL" in call.text else "NO"
    if call.body.get("logprobs"):
        return word_chances({verdict: -0.1, "NO" if verdict == "YES" else "YES": -2.5})
    if "relations" in call.question:
        claim = {"object": "target", "vertical": "above", "horizontal": "left"}
        return json.dumps({"code": call.code, "relations": [claim]})
    return json.dumps({"code": call.code, "reasoning": "compared with the facts", "verdict": verdict})


def word_chances(chances: dict[str, float]) -> dict[str, Any]:
    """A completion of one token with these log-probabilities, likeliest first."""
    top = [{"token": token, "logprob": chance, "bytes": None} for token, chance in chances.items()]
    return completion(next(iter(chances), ""), {"content": [{**top[0], "top_logprobs": top}] if top else []})


def completion(content: str | None, logprobs: Any = None) -> dict[str, Any]:
    """A whole completion around a message."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return {"id": "x", "object": "chat.completion", "choices": [{**choice, "logprobs": logprobs}], "usage": usage}


class FaultyEndpoint:
    """`with FaultyEndpoint() as endpoint: LLMJudge("any", endpoint.base_url)`.

    `behave(call)` names what to do with a call: "ok" or one of `FAULTS` (an outage is started with `outage`).
    `answer(call)` plays the model.
    """

    def __init__(
        self,
        behave: Callable[[Call], str] = lambda call: "ok",
        answer: Callable[[Call], Any] = honest,
        *,
        retry_after: str = "0.05",
        latency: float = 0.0,
        headers: dict[str, str] | None = None,
    ) -> None:
        self.behave, self.answer = behave, answer
        self.retry_after, self.latency, self.headers = retry_after, latency, headers or {}
        self.calls: list[Call] = []
        self.ways: list[tuple[Call, str]] = []  # what was done with each
        self.peak = 0  # most calls in work at once
        self._asked: Counter[str] = Counter()
        self._in_work = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self.port = 0

    # ------------------------------------------------------------------ life

    def __enter__(self) -> FaultyEndpoint:
        self._thread = threading.Thread(target=self._loop.run_forever, name="faulty-endpoint", daemon=True)
        self._thread.start()
        self._wait(self._listen())
        return self

    def __exit__(self, *_: object) -> None:
        self._wait(self._shut())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()

    @property
    def base_url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}/v1"

    def outage(self, seconds: float | None) -> None:
        """Refuse connections from now on, for a while or (None) until `recover`."""
        self._wait(self._go_down(seconds))

    def recover(self) -> None:
        """End an outage."""
        self._wait(self._listen())

    def _wait(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _listen(self) -> None:
        if self._server is None:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, backlog=256)
            self.port = self._server.sockets[0].getsockname()[1]

    async def _go_down(self, seconds: float | None) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in list(self._writers):
            writer.transport.abort()
        if seconds is not None:
            self._loop.call_later(seconds, lambda: self._loop.create_task(self._listen()))

    async def _shut(self) -> None:
        await self._go_down(None)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    # ------------------------------------------------------------------ connections

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while await self._answer_one(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the other side left, or we are closing
        finally:
            self._writers.discard(writer)
            writer.transport.abort()

    async def _answer_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)}
        body = json.loads(await reader.readexactly(int(headers.get("content-length", "0"))))
        call = self._note(body, headers)
        self._in_work += 1
        self.peak = max(self.peak, self._in_work)
        try:
            await asyncio.sleep(self.latency)
            way = self.behave(call)
            self.ways.append((call, way))
            return await self._act(way, call, reader, writer)
        finally:
            self._in_work -= 1

    def _note(self, body: dict[str, Any], headers: dict[str, str]) -> Call:
        user = body["messages"][-1]["content"]
        fence = re.search(r"\b[0-9a-f]{32}\b", user)
        code = re.search(r"Copy the code ([0-9a-f]{8}):", user)
        marks = [match[1] if match.lastindex else match[0] for match in (fence, code) if match]
        question = user
        for mark in marks:
            question = question.replace(mark, "MARK")
        inside = re.search(r"^----- begin text MARK -----\n(.*)\n----- end text MARK -----$", question, re.S | re.M)
        self._asked[question] += 1
        call = Call(
            len(self.calls),
            self._asked[question],
            time.monotonic(),
            question,
            inside[1] if inside else question,
            code[1] if code else "",
            fence[0] if fence else "",
            body,
            headers,
        )
        self.calls.append(call)
        return call

    # ------------------------------------------------------------------ behaviour

    async def _act(self, way: str, call: Call, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Do it; True when the connection can be used again."""
        if way == "hang":
            await reader.read()  # until the other side gives up
            return False
        if way == "close":
            if call.number % 2:  # sometimes in the middle of the headers
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Le")
                await writer.drain()
            return False
        if way == "drip":
            await self._drip(call, writer)
            return False
        await self._reply(writer, *self._content(way, call))
        return True

    def _content(self, way: str, call: Call) -> tuple[int, bytes, dict[str, str]]:
        if way in ("429", "429-after"):
            wait = {"Retry-After": self.retry_after} if way == "429-after" else {}
            return 429, b'{"error": {"message": "slow down"}}', wait
        if way == "500":
            return 500, b"<html>oops</html>", {}
        if way == "schema":
            wrong = json.dumps(WRONG_SCHEMAS[call.number % len(WRONG_SCHEMAS)]).replace("CODE", call.code)
            return 200, wrong.encode(), {}
        if way == "empty":
            return 200, json.dumps(EMPTY_CHOICES[call.number % len(EMPTY_CHOICES)]).encode(), {}
        whole = self._whole(call)
        return 200, whole[: len(whole) // 2] if way == "half" else whole, {}

    def _whole(self, call: Call) -> bytes:
        said = self.answer(call)
        return json.dumps(said if isinstance(said, dict) else completion(said)).encode()

    async def _reply(self, writer: asyncio.StreamWriter, status: int, body: bytes, more: dict[str, str]) -> None:
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **self.headers, **more}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"HTTP/1.1 {status} {REASONS[status]}\r\n{lines}\r\n".encode() + body)
        await writer.drain()

    async def _drip(self, call: Call, writer: asyncio.StreamWriter) -> None:
        """One byte at a time: every read succeeds, the whole never arrives in time."""
        body = self._whole(call)
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode())
        for byte in body:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.02)
