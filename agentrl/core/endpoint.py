"""One OpenAI-compatible endpoint, asked politely and persistently.

A question takes one of the concurrency slots and keeps it until it is answered or given up: an endpoint in trouble is
asked less, not more. What is retried, and for how long:

* trouble on the way (no connection, time-out, 408, 409, 425, 429, 5xx): up to `max_retries` times with growing,
  jittered pauses (or what Retry-After says) until the deadline;
* no server at the address (connection refused, unknown host) before it has ever answered: for three seconds, and then
  not at all for the rest of a batch. A server that has answered may be starting again, and is waited for as above;
* a malformed answer: at most `max_malformed` times;
* everything else (wrong key, unknown model, bad request): not at all.
"""

from __future__ import annotations

import asyncio
import email.utils
import math
import os
import random
import socket
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from agentrl.core.completion import Completion, Malformed, read_completion
from agentrl.core.errors import AgentRLError, ConfigError, MissingExtra
from agentrl.core.redact import guard_loggers, protect, redact

Answer = TypeVar("Answer")
RETRIED = frozenset({408, 409, 425, 429})
SECONDS_TO_CONNECT = 3.0  # to a server that has never answered
LIBRARY_LOGGERS = [
    name
    for generation in ("", "2")  # the SDK has moved from httpx to httpx2
    for name in (
        f"httpx{generation}",
        *(f"httpcore{generation}.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")),
    )
]


@dataclass(frozen=True)
class Settings:
    """How to reach the endpoint and how hard to try. Times in seconds, prices per token."""

    base_url: str | None
    timeout: float
    deadline: float
    max_concurrency: int
    requests_per_minute: float | None
    max_retries: int
    max_malformed: int
    backoff: float
    max_backoff: float
    input_price: float
    output_price: float


@dataclass
class Usage:
    """What a client has asked for and spent so far."""

    calls: int = 0  # HTTP requests sent
    cached: int = 0  # requests answered without a call
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    retries: int = 0
    malformed: int = 0  # replies that were no answer
    faults: int = 0  # requests that ended without an answer

    def to_json(self) -> dict[str, float]:
        """The counts by name."""
        return asdict(self)


class NoAnswer(AgentRLError):
    """The endpoint gave no usable answer; callers turn this into a fault of their own kind."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code  # the endpoint's own name for a refusal, where it has one


class Trouble(NamedTuple):
    """Why an attempt gave nothing."""

    detail: str
    kind: str  # "way" (retry with pauses), "malformed" (retry twice), "refused" (do not retry)
    wait: float | None = None  # what the endpoint asked for
    outage: bool = False  # the server of the endpoint does not respond
    absent: bool = False  # there is no server at the address
    code: str = ""  # the endpoint's own name for it


@dataclass
class Tries:
    """One question's history."""

    until: float  # loop time of its deadline
    way: int = 0
    malformed: int = 0
    cost: float = 0.0
    trouble: str = ""  # the last one


def require_client() -> None:
    """`MissingExtra` unless endpoints can be asked here; called before anything is played, not at the first request."""
    for module in ("openai", "aiolimiter"):
        if find_spec(module) is None:
            raise MissingExtra(module, "openai")


class Endpoint:
    """Lives on one event loop; every method runs there."""

    def __init__(self, settings: Settings, api_key: str, usage: Usage) -> None:
        require_client()
        import openai
        from aiolimiter import AsyncLimiter

        guard_loggers(["openai", "openai._base_client", *LIBRARY_LOGGERS])
        self._errors = openai
        self._settings, self._usage = settings, usage
        # Retries are ours: the SDK's own know neither the deadline nor the accounting.
        self._client = openai.AsyncOpenAI(
            api_key=api_key, base_url=settings.base_url, max_retries=0, timeout=settings.timeout
        )
        self._slots = asyncio.Semaphore(settings.max_concurrency)
        rate = settings.requests_per_minute
        self._rate = AsyncLimiter(1, 60 / rate) if rate else None  # evenly spaced: no burst at the start of a minute
        self._random = random.Random()
        self._down_since: float | None = None
        self._next_probe = 0.0
        self._patience: float | None = SECONDS_TO_CONNECT  # None: it has answered, and is expected back
        self._absent_since: float | None = None
        self._absent = ""  # said to the rest of a batch once nobody was found at the address

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    def hope(self) -> None:
        """A new batch begins: an outage seen by an earlier one is no longer held against the endpoint."""
        self._down_since, self._absent_since, self._absent = None, None, ""

    async def ask(
        self, body: dict[str, Any], read: Callable[[Completion], Answer], spent: float = 0.0
    ) -> tuple[Answer, float]:
        """(the answer as `read` understands it, its cost); `NoAnswer` when there is none to be had.

        `spent`: the seconds of the deadline that the caller has used already.
        """
        deadline = self._settings.deadline
        if spent >= deadline:
            raise NoAnswer(f"preparing the prompt took {spent:.3g} s; the deadline is {deadline:g} s")
        async with self._slots:
            self._refuse_while_absent()
            self._refuse_while_down()
            tries = Tries(_now() + deadline - spent)
            while True:
                got = await self._attempt(body, read, tries)
                if not isinstance(got, Trouble):
                    return got, tries.cost
                pause = self._pause(got, tries)
                self._usage.retries += 1
                await asyncio.sleep(pause)

    # ------------------------------------------------------------------ one attempt

    async def _attempt(
        self, body: dict[str, Any], read: Callable[[Completion], Answer], tries: Tries
    ) -> Answer | Trouble:
        if self._rate is not None:
            asked = _now()
            await self._rate.acquire()
            tries.until += _now() - asked  # standing in our own queue is not the endpoint's fault
        got = await self._send(body, tries)
        if not isinstance(got, Trouble) or not got.outage:
            self._patience = self._down_since = None
        else:
            if got.absent and self._absent_since is None:
                self._absent_since = _now()
            if self._down_since is None:
                self._down_since = _now()
        if isinstance(got, Trouble):
            return got
        try:
            completion = read_completion(got)
            if (count := completion.usage) is not None:
                self._usage.tokens_in += count.prompt_tokens
                self._usage.tokens_out += count.completion_tokens
                prices = self._settings.input_price, self._settings.output_price
                cost = count.prompt_tokens * prices[0] + count.completion_tokens * prices[1]
                self._usage.cost += cost
                tries.cost += cost
            return read(completion)
        except Malformed as error:
            return Trouble(redact(str(error))[:300], "malformed")

    async def _send(self, body: dict[str, Any], tries: Tries) -> bytes | Trouble:
        errors, left = self._errors, tries.until - _now()
        self._usage.calls += 1
        try:
            # The SDK's time-out starts anew with every byte that arrives; this one does not.
            async with asyncio.timeout(max(0.001, min(self._settings.timeout, left))):
                # Raw: its typed methods walk the whole body against every type there is (half of a call's time), and
                # build a completion out of anything.
                return await self._client.post("/chat/completions", cast_to=bytes, body=body)
        except (TimeoutError, errors.APITimeoutError):
            # Where the deadline cut it short, what went wrong before says more.
            known = tries.trouble if left < self._settings.timeout else ""
            return Trouble(known or "no answer in time", "way", outage=True)
        except errors.APIStatusError as error:
            status, detail = error.status_code, redact(f"HTTP {error.status_code}: {error.message}")[:300]
            if status in RETRIED or status >= 500:
                return Trouble(detail, "way", retry_after(error.response.headers), outage=status >= 500)
            return Trouble(detail, "refused", code=str(error.code or ""))
        except errors.APIConnectionError as error:
            reason = why_absent(error)
            detail = redact(f"no connection ({reason or type(error.__cause__).__name__})")
            return Trouble(detail, "way", outage=True, absent=bool(reason))
        except errors.OpenAIError as error:
            return Trouble(redact(f"{type(error).__name__}: {error}")[:300], "malformed")

    # ------------------------------------------------------------------ trying again

    def _pause(self, trouble: Trouble, tries: Tries) -> float:
        """How long to wait before the next attempt; raises when there shall be none."""
        limits = self._settings
        if trouble.kind == "refused":
            raise NoAnswer(f"the endpoint refuses: {trouble.detail}", trouble.code)
        if trouble.kind == "malformed":
            tries.malformed += 1
            self._usage.malformed += 1
            if tries.malformed > limits.max_malformed:
                raise NoAnswer(f"{tries.malformed} malformed replies; the last: {trouble.detail}")
            return 0.0
        tries.way, tries.trouble = tries.way + 1, trouble.detail
        if tries.way > limits.max_retries:
            raise NoAnswer(f"gave up after {tries.way} attempts; the last: {trouble.detail}")
        pause = trouble.wait
        if pause is None:
            pause = min(limits.max_backoff, limits.backoff * 2.0 ** min(tries.way - 1, 30))
            pause *= self._random.uniform(0.5, 1.0)  # so that waiting clients do not all return at once
        if trouble.absent:
            self._give_up_on_nobody(trouble, pause)
        if _now() + pause >= tries.until:
            asked = "" if trouble.wait is None else f" (it asks to wait {trouble.wait:g} s)"
            raise NoAnswer(f"no answer within {limits.deadline:g} s; the last trouble: {trouble.detail}{asked}")
        return pause

    # ------------------------------------------------------------------ no server, or a long outage

    def _give_up_on_nobody(self, trouble: Trouble, pause: float) -> None:
        """`NoAnswer` once there has been no server for too long, or will have been after the pause."""
        since = self._absent_since if self._absent_since is not None else _now()
        if self._patience is None or _now() + pause <= since + self._patience:
            return
        self._patience = 0.0  # the next batch asks once whether it is there now
        self._absent = f"{trouble.detail}; does the server run at {redact(str(self._client.base_url))}?"
        self._refuse_while_absent()

    def _refuse_while_absent(self) -> None:
        if self._absent:
            raise NoAnswer(self._absent)

    def _refuse_while_down(self) -> None:
        """After a whole deadline without a sign of life, a batch's questions fail at once but for a probe now and then.

        Otherwise ten thousand waiting questions would each sit out a deadline of their own.
        """
        if self._down_since is None or (down := _now() - self._down_since) < self._settings.deadline:
            return
        if _now() < self._next_probe:
            raise NoAnswer(f"the endpoint has not answered for {down:.3g} s")
        self._next_probe = _now() + self._settings.max_backoff


def _now() -> float:
    return asyncio.get_running_loop().time()


def why_absent(error: BaseException | None) -> str:
    """Why there is no server at the address, from an exception or its causes; empty for other trouble."""
    if error is None:
        return ""
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if isinstance(error, socket.gaierror):
        return "unknown host"
    inside = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    return next(filter(None, map(why_absent, (*inside, error.__cause__, error.__context__))), "")


def retry_after(headers: Any) -> float | None:
    """The pause an endpoint asks for, in seconds: `retry-after-ms`, or `Retry-After` as a number or a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    try:
        date = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
        return max(0.0, date.timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None


def plain_url(url: str | None) -> str | None:
    """A base URL without credentials in it, or a `ConfigError`."""
    if url is None:
        return None
    parts = urlsplit(url) if isinstance(url, str) else None
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError('base_url must look like "http://localhost:8000/v1"')
    if parts.username or parts.password or parts.query:
        raise ConfigError("base_url must hold no credentials; put the key into the environment variable of api_key_env")
    return url


def read_key(variable: str, base_url: str | None) -> str:
    """The key in an environment variable, protected; servers of one's own may need none."""
    key = os.environ.get(variable, "").strip()
    if not key and base_url is None:
        raise ConfigError(f"set the environment variable {variable}, or give a base_url that needs no key")
    protect(key)
    return key or "none"
