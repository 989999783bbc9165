"""The policy behind an OpenAI-compatible endpoint: hosted models, vLLM, or `agentrl serve-model` on this machine."""

from __future__ import annotations

import asyncio
import base64
import io
import os
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium as gym

from agentrl.core.arguments import finite_number, number_from_zero, positive_number, whole_number
from agentrl.core.background import BackgroundLoop
from agentrl.core.completion import Choice, Completion, Malformed
from agentrl.core.endpoint import Endpoint, NoAnswer, Settings, Usage, plain_url, read_key, require_client
from agentrl.core.errors import ConfigError, EngineFault
from agentrl.core.policy import Conversation, Generation, Message
from agentrl.core.redact import protect, redact
from agentrl.core.secrecy import protect_secrets_in
from agentrl.core.seeding import mixed_seed
from agentrl.models.chat import checked_picture, parts_of

OFFICIAL = "https://api.openai.com/v1"
NO_ROOM = "context_length_exceeded"
ENDS = ("stop", "length", "content_filter")  # the finish reasons of a message that is an answer


class OpenAIPolicy:
    """Asks an endpoint, many conversations at a time. Pictures travel inside the request, as PNG.

    - `base_url`: where; else `OPENAI_BASE_URL`, else OpenAI itself. The key is `api_key`, or what the environment
      variable `api_key_env` holds; servers of one's own may need none.
    - `temperature`, `top_p`, `max_new_tokens` (as max_tokens) and `seed` are sent with every request; None leaves one
      out, for models that do not accept it. `greedy` asks for temperature 0. `extra_body` holds whatever else a server
      wants, and a None in it takes a field out again: `{"max_tokens": None, "max_completion_tokens": 4096}`.
    - `timeout` of one attempt and `deadline` of one answer, in seconds; `max_retries`, `backoff`, `max_backoff` after
      429, 5xx, time-outs and broken connections; `concurrency` and `requests_per_minute` for all callers together.
    - `token_ids`: ask for token ids (vLLM and `serve-model` know them) and send them along with later turns.
      `logprobs`: ask for log-probabilities, which servers report at temperature 1 whatever was sampled at.

    What a finish reason means here: "length" may come with an empty text (a model that thought until its tokens ran
    out, or a conversation that left no room), "content_filter" with what the filter let through, "refusal" with the
    refusal as text; these are the model's own answers. Whatever is no answer at all is asked for again and is an
    `EngineFault` in the end.
    """

    name = "openai"
    needs_text = True
    batched = True  # as many questions at once as `concurrency` allows

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        api_key_env: str = "OPENAI_API_KEY",
        temperature: float | None = 1.0,
        top_p: float | None = None,
        max_new_tokens: int | None = 512,
        greedy: bool = False,
        seed: int | None = 0,
        concurrency: int = 32,
        requests_per_minute: float | None = None,
        timeout: float = 120.0,
        deadline: float = 600.0,
        max_retries: int = 6,
        backoff: float = 0.5,
        max_backoff: float = 30.0,
        token_ids: bool = False,
        logprobs: bool = False,
        extra_body: dict[str, Any] | None = None,
    ) -> None:
        if not isinstance(model, str) or not model:
            raise ConfigError("model must be the name the endpoint knows the model by")
        self.model, self.seed, self.calls = model, seed, 0
        self.usage = Usage()
        self.sampling: dict[str, Any] = {}  # what is sent of it
        temperature = 0.0 if greedy else temperature
        if temperature is not None:
            self.sampling["temperature"] = number_from_zero("temperature", temperature)
        if top_p is not None:
            self.sampling["top_p"] = finite_number("top_p", top_p)
            if not 0 < top_p <= 1:
                raise ConfigError(f"top_p must be above 0 and at most 1; got {top_p}")
        if max_new_tokens is not None:
            self.sampling["max_tokens"] = whole_number("max_new_tokens", max_new_tokens, at_least=1)
        if logprobs and self.sampling.get("temperature", 1.0) != 1.0:
            raise ConfigError("logprobs needs temperature=1.0: servers report them at that temperature, not another")
        self.token_ids, self.logprobs = bool(token_ids), bool(logprobs)
        if extra_body is not None and not isinstance(extra_body, dict):
            raise ConfigError(f"extra_body must be a dict of fields of the request; got {type(extra_body).__name__}")
        if refused := {"model", "messages", "stream", "n"} & set(extra_body or {}):
            raise ConfigError(f"extra_body cannot set {', '.join(sorted(refused))}")
        protect_secrets_in(extra_body)
        self.extra_body = dict(extra_body or {})
        self._settings = Settings(
            base_url=plain_url(base_url or os.environ.get("OPENAI_BASE_URL") or None),
            timeout=positive_number("timeout", timeout),
            deadline=positive_number("deadline", deadline),
            max_concurrency=whole_number("concurrency", concurrency, at_least=1),
            requests_per_minute=None
            if requests_per_minute is None
            else positive_number("requests_per_minute", requests_per_minute),
            max_retries=whole_number("max_retries", max_retries, at_least=0),
            max_malformed=2,
            backoff=positive_number("backoff", backoff),
            max_backoff=positive_number("max_backoff", max_backoff),
            input_price=0.0,
            output_price=0.0,
        )
        require_client()
        self._key = _key_reader(api_key, api_key_env, self._settings.base_url)
        self._background = BackgroundLoop("agentrl-openai")
        self._endpoint: tuple[asyncio.AbstractEventLoop, Endpoint] | None = None

    # ------------------------------------------------------------------ the protocol

    def act(self, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None = None) -> list[Generation]:
        """One answer to each conversation; `EngineFault` when the endpoint leaves one without.

        Works inside a running event loop too, which then waits; `act_async` does not hold it up.
        """
        bodies = self._bodies(conversations)
        return self._background.wait(self._answers(bodies)) if bodies else []

    async def act_async(self, conversations: Sequence[Conversation]) -> list[Generation]:
        """The same without blocking the caller's event loop."""
        bodies = self._bodies(conversations)
        return await self._background.join(self._answers(bodies)) if bodies else []

    def close(self) -> None:
        """Give back the connections and the thread. The policy can be used again."""
        self._background.close()
        self._endpoint = None

    def metrics(self) -> dict[str, float]:
        """Requests, retries and tokens so far, by name."""
        return self.usage.to_json()

    def __repr__(self) -> str:
        return redact(f"OpenAIPolicy({self.model!r}, base_url={self.address!r})")

    @property
    def address(self) -> str:
        """Where the questions go."""
        return self._settings.base_url or OFFICIAL

    # ------------------------------------------------------------------ asking

    def _bodies(self, conversations: Sequence[Conversation]) -> list[dict[str, Any]]:
        self.calls += 1
        bodies = []
        for row, conversation in enumerate(conversations):
            if not conversation:
                raise ConfigError("a conversation needs at least one message")
            messages = [wire_message(message, self.token_ids) for message in conversation]
            body: dict[str, Any] = {"model": self.model, "messages": messages, **self.sampling}
            if self.seed is not None:  # another one for every question: copies of one task shall not get one answer
                body["seed"] = mixed_seed(self.seed, self.calls, row) >> 1
            if self.token_ids:
                body["return_token_ids"] = True
            if self.logprobs:
                body["logprobs"] = True
            bodies.append({name: value for name, value in (body | self.extra_body).items() if value is not None})
        return bodies

    async def _answers(self, bodies: list[dict[str, Any]]) -> list[Generation]:
        loop = asyncio.get_running_loop()
        if self._endpoint is None or self._endpoint[0] is not loop:  # a fork or `close` leaves an old one behind
            fresh = Endpoint(self._settings, self._key(), self.usage)
            self._background.at_end(fresh.close)
            self._endpoint = loop, fresh
        endpoint = self._endpoint[1]
        endpoint.hope()
        answers = await asyncio.gather(*(self._answer(endpoint, body) for body in bodies), return_exceptions=True)
        lost = [answer for answer in answers if isinstance(answer, BaseException)]
        if not lost:
            return [answer for answer in answers if isinstance(answer, Generation)]
        self.usage.faults += len(lost)
        why = str(lost[0]) if isinstance(lost[0], NoAnswer) else f"{type(lost[0]).__name__}: {lost[0]}"
        # Without the exception it came from, whose innards may hold the key.
        raise EngineFault(redact(f"{self.address} failed on {len(lost)} of {len(bodies)} requests: {why}. {ADVICE}"))

    async def _answer(self, endpoint: Endpoint, body: dict[str, Any]) -> Generation:
        try:
            answer, _ = await endpoint.ask(body, self._generation)
            return answer
        except NoAnswer as trouble:
            if trouble.code == NO_ROOM or "maximum context length" in str(trouble):
                return self._said("", "length")  # as a model in this process answers when there is no room left
            raise

    # ------------------------------------------------------------------ reading

    def _generation(self, completion: Completion) -> Generation:
        text, reason = said(completion.choice)
        if not self.token_ids and not self.logprobs:
            return self._said(text, reason)
        # As far as the server sent them and they fit together.
        ids, listed = completion.choice.token_ids, completion.choice.logprobs
        scores = None if listed is None or listed.content is None else [token.logprob for token in listed.content]
        if any(score > 1e-3 for score in scores or []):
            raise Malformed("a log-probability above zero")
        if ids is not None and scores is not None and len(scores) != len(ids):
            raise Malformed(f"{len(scores)} log-probabilities of {len(ids)} tokens")
        prompt = completion.prompt_token_ids if ids is not None else None
        return self._said(text, reason, ids, scores if self.logprobs else None, prompt)

    def _said(
        self,
        text: str,
        reason: str,
        ids: list[int] | None = None,
        scores: list[float] | None = None,
        prompt: list[int] | None = None,
    ) -> Generation:
        how = {"model": self.model, **self.sampling, "greedy": self.sampling.get("temperature") == 0.0}
        text = redact(text)  # an endpoint may echo the key
        return Generation(text, text, ids, scores, reason, prompt_ids=prompt, sampling=how)


ADVICE = "Check that the server runs and knows the model and the key; or ask it less (concurrency, requests_per_minute)"


def said(choice: Choice) -> tuple[str, str]:
    """(text, finish reason) of a choice; `Malformed` where the model said nothing and nothing explains it."""
    content, reason = choice.message.content, choice.finish_reason
    if not content and choice.message.refusal:
        return choice.message.refusal, "refusal"
    if content is None and reason in ("length", "content_filter"):
        return "", reason
    if content is None or (not content and reason not in ENDS):
        raise Malformed(f"no text (finish reason: {str(reason)[:40]})")
    return content, reason if reason in ENDS else "unknown"


# ---------------------------------------------------------------------- writing


def wire_message(message: Message, token_ids: bool = False) -> dict[str, Any]:
    """A message as the endpoint wants it: plain text, or parts where there are pictures."""
    parts = parts_of({**message, "token_ids": None})
    sent: dict[str, Any] = {"role": message["role"], "content": clean(message["content"])}
    if len(parts) > 1:
        sent["content"] = [
            {"type": "text", "text": clean(value)}
            if kind == "text"
            else {"type": "image_url", "image_url": {"url": data_url(value)}}
            for kind, value in parts
            if kind == "image" or value
        ]
    elif token_ids and message.get("token_ids") is not None:
        sent["token_ids"] = message["token_ids"]  # pyright: ignore[reportTypedDictNotRequiredAccess]
    return sent


def clean(text: str) -> str:
    """Text that can be sent: half a surrogate pair is no character."""
    return text.encode("utf-8", "replace").decode()


def data_url(picture: Any) -> str:
    """A picture as a PNG inside a URL."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(checked_picture(picture)).save(buffer, "png")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def _key_reader(api_key: str | None, variable: str, base_url: str | None) -> Callable[[], str]:
    """Gives the key when it is needed; a function, so that no attribute holds it where it could be printed."""
    if api_key is None:
        return lambda: read_key(variable, base_url)
    if not isinstance(api_key, str) or not api_key.strip() or not api_key.isascii() or not api_key.isprintable():
        raise ConfigError("api_key must be printable ASCII text")  # never shown: it may be a key all the same
    protect(api_key)
    return lambda: api_key
