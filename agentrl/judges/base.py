"""`EndpointJudge`: what judges with an endpoint share. A subclass says what to ask and how to read the answer."""

from __future__ import annotations

import asyncio
import os
import time
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar
from weakref import WeakValueDictionary

from agentrl.core.arguments import number_from_zero, positive_number, whole_number
from agentrl.core.background import BackgroundLoop
from agentrl.core.completion import Completion, Malformed
from agentrl.core.endpoint import Endpoint, NoAnswer, Settings, Usage, plain_url, read_key
from agentrl.core.errors import ConfigError, JudgeFault
from agentrl.core.judging import JudgeRequest, Verdict
from agentrl.core.redact import redact
from agentrl.core.secrecy import protect_secrets_in, scrub
from agentrl.judges.cache import ReplyCache, default_path
from agentrl.judges.prompting import Filled, Prompt, digest


@dataclass(frozen=True)
class Question:
    """One request, ready to be asked."""

    request: JudgeRequest
    key: str  # equal for equal questions, whatever their fence
    prompt: Prompt
    filled: Filled
    body: dict[str, Any]  # what is sent beside the messages
    seconds: float  # spent on putting it together, which counts towards its deadline


@dataclass(frozen=True)
class Finding:
    """What the endpoint found, as plain JSON, and what it cost."""

    value: Any
    cost: float = 0.0
    cached: bool = False


class EndpointJudge:
    """Batches, cache, limits and accounting around an OpenAI-compatible endpoint.

    The API key is read from the environment variable `api_key_env` when the first call is made and is kept nowhere
    else; servers that need none (a local vLLM) may leave it unset if `base_url` is given.

    - `temperature`, `max_tokens`: sent with every call unless None (some models accept neither), and so is what
      `extra_body` holds.
    - `timeout` of one attempt, `deadline` of one request (putting the question together, all attempts and pauses; not
      the wait for a turn), in seconds; `max_retries`, `backoff`, `max_backoff` after trouble on the way;
      `max_malformed` (at most 2) after replies that make no sense.
    - `max_concurrency`, `requests_per_minute`: for all callers of this object together.
    - `cache`: True (in the user's cache folder), a path, or False. `input_price`, `output_price`: per token.
    - `max_text`: longer texts are cut. `prompts`: a folder with prompts of one's own, looked into before ours.
    """

    kind: ClassVar[str]

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        *,
        api_key_env: str = "OPENAI_API_KEY",
        temperature: float | None = 0.0,
        max_tokens: int | None = 1024,
        timeout: float = 30.0,
        deadline: float = 120.0,
        max_concurrency: int = 16,
        requests_per_minute: float | None = None,
        max_retries: int = 8,
        max_malformed: int = 2,
        backoff: float = 0.5,
        max_backoff: float = 20.0,
        cache: bool | str | os.PathLike = True,
        input_price: float = 0.0,
        output_price: float = 0.0,
        max_text: int = 4000,
        prompts: str | os.PathLike | None = None,
        extra_body: dict[str, Any] | None = None,
    ) -> None:
        if not isinstance(model, str) or not model:
            raise ConfigError(f"model must be the name of a model at the endpoint; got {model!r}")
        self.model, self.api_key_env = model, api_key_env
        self.max_text = whole_number("max_text", max_text, at_least=16)
        self.prompts = None if prompts is None else Path(prompts)
        self.parameters = {
            "temperature": None if temperature is None else number_from_zero("temperature", temperature),
            "max_tokens": None if max_tokens is None else whole_number("max_tokens", max_tokens, at_least=1),
        }
        self.extra_body = extra_body
        protect_secrets_in(extra_body)
        self._settings = Settings(
            base_url=plain_url(base_url),
            timeout=positive_number("timeout", timeout),
            deadline=positive_number("deadline", deadline),
            max_concurrency=whole_number("max_concurrency", max_concurrency, at_least=1),
            requests_per_minute=None
            if requests_per_minute is None
            else positive_number("requests_per_minute", requests_per_minute),
            max_retries=whole_number("max_retries", max_retries, at_least=0),
            max_malformed=whole_number("max_malformed", max_malformed, at_least=0, at_most=2),
            backoff=positive_number("backoff", backoff),
            max_backoff=positive_number("max_backoff", max_backoff),
            input_price=number_from_zero("input_price", input_price),
            output_price=number_from_zero("output_price", output_price),
        )
        self._cache = None if cache is False else ReplyCache(default_path() if cache is True else Path(cache))
        self.usage = Usage()
        self._background = BackgroundLoop("agentrl-judge")
        self._endpoint: tuple[asyncio.AbstractEventLoop, Endpoint] | None = None
        self._asking: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    # ------------------------------------------------------------------ what a subclass says

    @abstractmethod
    def _compose(self, request: JudgeRequest) -> tuple[Prompt, Filled]:
        """The prompt of a request, filled in. May raise anything: it becomes this request's fault."""

    @abstractmethod
    def _read(self, completion: Completion, question: Question) -> Any:
        """The answer as plain JSON; `Malformed` for anything that is none."""

    @abstractmethod
    def _admit(self, value: Any) -> Any:
        """An answer out of the cache, checked as strictly as a fresh one; `Malformed` if it is none."""

    @abstractmethod
    def _decide(self, request: JudgeRequest, answer: Any) -> tuple[float, str, dict[str, Any]]:
        """(score, method, evidence) of an admitted answer."""

    def _body(self, request: JudgeRequest) -> dict[str, Any]:
        """What a call sends beside the messages; part of the cache's key."""
        sent = {name: value for name, value in self.parameters.items() if value is not None}
        return {"model": self.model, **sent, **(self.extra_body or {})}

    # ------------------------------------------------------------------ the protocol

    async def score(self, requests: Sequence[JudgeRequest]) -> list[Verdict | JudgeFault]:
        """Verdicts in the order of the requests, a `JudgeFault` where there is none."""
        if self._background.owns_this_thread():
            return await self._score(list(requests))
        return await self._background.join(self._score(list(requests)))

    def score_sync(self, requests: Sequence[JudgeRequest]) -> list[Verdict | JudgeFault]:
        """The same for callers without an event loop, and for those inside one (which then waits)."""
        return self._background.wait(self._score(list(requests)))

    def close(self) -> None:
        """Give back connections, the thread and the cache file. The judge can be used again."""
        self._background.close()
        self._endpoint = None
        if self._cache is not None:
            self._cache.close()

    def metrics(self) -> dict[str, float]:
        """The usage so far, by name."""
        return self.usage.to_json()

    def to_json(self) -> dict[str, Any]:
        """A spec that builds this judge again; names the key's variable, never the key, and holds no other secret."""
        settings = {name: value for name, value in vars(self._settings).items() if value is not None}
        spec = {"kind": self.kind, "model": self.model, "api_key_env": self.api_key_env, "max_text": self.max_text}
        spec |= {"cache": False if self._cache is None else str(self._cache.path), **self.parameters, **settings}
        spec |= {} if self.prompts is None else {"prompts": str(self.prompts)}
        spec |= {} if self.extra_body is None else {"extra_body": self.extra_body}
        return scrub(spec)

    def __repr__(self) -> str:
        return redact(f"{type(self).__name__}(model={self.model!r}, base_url={self._settings.base_url!r})")

    # ------------------------------------------------------------------ a batch

    async def _score(self, requests: list[JudgeRequest]) -> list[Verdict | JudgeFault]:
        questions: list[Question | JudgeFault] = []
        for request in requests:
            begin = time.monotonic()
            try:
                prompt, filled = self._compose(request)
                body = self._body(request)
                key = digest(filled.identity, body, prompt.name, prompt.version)
                questions.append(Question(request, key, prompt, filled, body, time.monotonic() - begin))
            except Exception as error:  # one bad request must not cost the others their verdicts
                questions.append(_unexpected("this request cannot be asked", error))
        distinct = {each.key: each for each in questions if isinstance(each, Question)}
        stored = self._recall(distinct)
        if len(stored) < len(distinct):
            self._connected().hope()  # a missing package or key is the caller's to mend: it raises here
        asked = await asyncio.gather(*(self._find(each, stored) for each in distinct.values()))
        findings = dict(zip(distinct, asked, strict=True))
        results: list[Verdict | JudgeFault] = []
        for request, question in zip(requests, questions, strict=True):
            if isinstance(question, JudgeFault):
                self.usage.faults += 1
                results.append(question)
                continue
            found = findings[question.key]
            if isinstance(found, JudgeFault):
                self.usage.faults += 1
                results.append(found)
                continue
            findings[question.key] = Finding(found.value, cached=True)  # once more in this batch it costs nothing
            self.usage.cached += found.cached
            try:
                score, method, evidence = self._decide(request, self._admit(found.value))
            except Exception as error:
                self.usage.faults += 1
                results.append(_unexpected("the answer cannot be scored", error))
                continue
            name = f"{question.prompt.name}@{question.prompt.version}"
            evidence = {**evidence, "model": self.model, "prompt": name, "cached": found.cached}
            results.append(Verdict(score, method, redact(evidence), found.cost))
        return results

    async def _find(self, question: Question, stored: dict[str, Any]) -> Finding | JudgeFault:
        if question.key in stored:
            return Finding(stored[question.key], cached=True)
        lock = self._asking.setdefault(question.key, asyncio.Lock())
        try:
            async with lock:  # the same question at the same time waits for the first answer
                if found := self._recall([question.key]):
                    return Finding(found[question.key], cached=True)
                read = partial(self._read, question=question)
                body = {**question.body, "messages": question.filled.messages}
                value, cost = await self._connected().ask(body, read, question.seconds)
                if self._cache is not None:
                    prompt = f"{question.prompt.name}@{question.prompt.version}"
                    value = self._cache.put(question.key, value, model=self.model, prompt=prompt)
                return Finding(value, cost)
        except NoAnswer as trouble:
            return JudgeFault(str(trouble))
        except JudgeFault as fault:
            return fault.with_traceback(None)
        except Exception as error:
            return _unexpected("the judge failed", error)

    def _recall(self, keys: Iterable[str]) -> dict[str, Any]:
        """What the cache knows of these questions; rows that make no sense are taken out and asked again."""
        if self._cache is None:
            return {}
        stored = self._cache.get_many(keys)
        for key in list(stored):
            try:
                self._admit(stored[key])
            except Malformed:
                self._cache.forget(key)
                del stored[key]
        return stored

    def _connected(self) -> Endpoint:
        """The endpoint's client on the running loop (a fork or `close` leaves an old one behind)."""
        loop = asyncio.get_running_loop()
        if self._endpoint is None or self._endpoint[0] is not loop:
            endpoint = Endpoint(self._settings, read_key(self.api_key_env, self._settings.base_url), self.usage)
            self._background.at_end(endpoint.close)
            self._endpoint = loop, endpoint
        return self._endpoint[1]


def _unexpected(what: str, error: Exception) -> JudgeFault:
    """A fault without the exception it came from, whose innards may hold the key."""
    return JudgeFault(redact(f"{what}: {type(error).__name__}: {error}")[:500])
