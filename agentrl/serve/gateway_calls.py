"""Requests and answers as the gateway sees them: what is asked of the engine beyond what the client asked, what is
hidden from the client again, and what is recorded."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from agentrl.core.errors import EngineFault
from agentrl.core.secrecy import scrub, secrets_in
from agentrl.rollout.call_pool import Call
from agentrl.rollout.call_trajectories import text_of
from agentrl.serve.api import BadRequest

CHAT, COMPLETION = "chat/completions", "completions"
# What is no part of how tokens are chosen, or recorded elsewhere.
NOT_SAMPLING = frozenset(
    "model messages prompt tools stream stream_options logprobs top_logprobs return_token_ids user metadata".split()  # noqa: SIM905
)


@dataclass(frozen=True)
class Asked:
    """A request of a client."""

    route: str
    body: dict[str, Any]
    key: str  # equal for equal requests

    @property
    def streams(self) -> bool:
        """Does the client want the answer as it comes?"""
        return bool(self.body.get("stream"))

    def with_tokens(self) -> dict[str, Any]:
        """The body that also asks for token ids and log-probabilities, in vLLM's words."""
        more = {"return_token_ids": True}
        if not self.body.get("logprobs"):
            more["logprobs"] = True if self.route == CHAT else 1  # pyright: ignore[reportArgumentType]
        return self.body | more

    def end(self, parts: Parts) -> str:
        """The name of the conversation with its answer."""
        if self.route == CHAT:
            return list(self._names([*self.body["messages"], parts.message]))[-1]
        prompt = self.body["prompt"]
        return self._prompt_name(prompt + (parts.text if isinstance(prompt, str) else parts.ids or []))

    def parent(self, ends: Mapping[str, int]) -> tuple[int | None, int]:
        """(the call that this one continues, how much of the conversation that call and its answer are)."""
        if self.route == CHAT:
            names = list(self._names(self.body["messages"]))
        else:
            prompt = self.body["prompt"]
            lengths = sorted({length for end in ends if (length := int(end.partition(":")[0])) <= len(prompt)})
            names = [self._prompt_name(prompt[:length]) for length in lengths]
        found = next((name for name in reversed(names) if name in ends), None)
        return (None, 0) if found is None else (ends[found], int(found.partition(":")[0]))

    def _names(self, messages: list[dict[str, Any]]) -> Iterator[str]:
        """The name of the conversation after each message: its length, and a hash."""
        digest = self._digest()
        for length, message in enumerate(messages, 1):
            digest.update(_canonical(message))
            yield f"{length}:{digest.hexdigest()}"

    def _digest(self) -> Any:
        head = [self.route, self.body["model"], self.body.get("tools")]
        return hashlib.blake2b(msgspec.json.encode(head, order="sorted"), digest_size=16)

    def _prompt_name(self, prompt: Any) -> str:
        digest = self._digest()
        digest.update(msgspec.json.encode(prompt))
        return f"{len(prompt)}:{digest.hexdigest()}"


@dataclass
class Parts:
    """What an answer holds."""

    text: str
    message: dict[str, Any]
    finish_reason: str
    ids: list[int] | None = None
    prompt_ids: list[int] | None = None
    logprobs: list[float] | None = None


def read_call(route: str, body: bytes) -> Asked:
    """A client's request; `BadRequest` for what could not be recorded."""
    try:
        data = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"invalid request: {error}"[:500]) from None
    if not isinstance(data, dict) or not isinstance(data.get("model"), str):
        raise BadRequest("invalid request: it must be a JSON object with a model's name")
    if data.get("n") not in (None, 1):
        raise BadRequest("n: the gateway records one answer a call; ask again with another seed")
    if route == CHAT:
        said = data.get("messages")
        if not isinstance(said, list) or not said or not all(isinstance(message, dict) for message in said):
            raise BadRequest("messages must be a list of objects, with at least one")
    else:
        prompt = data.get("prompt")
        tokens = isinstance(prompt, list) and bool(prompt) and all(type(token) is int for token in prompt)
        if not isinstance(prompt, str) and not tokens:
            raise BadRequest("prompt must be one text or one list of token ids")
    key = hashlib.blake2b(route.encode() + msgspec.json.encode(data, order="sorted"), digest_size=16)
    return Asked(route, data, key.hexdigest())


def take_apart(route: str, body: Any) -> Parts:
    """The parts of a whole answer; token fields only as far as they fit together."""
    try:
        (choice,) = body["choices"]
        message = choice["message"] if route == CHAT else {"role": "assistant", "content": choice["text"]}
        parts = Parts(text_of(message), message, str(choice.get("finish_reason") or "unknown"))
        parts.ids, parts.prompt_ids = choice.get("token_ids"), _first(body, choice, "prompt_token_ids")
        scores = _scores(choice.get("logprobs"))
        parts.logprobs = scores if parts.ids is None or len(scores or []) == len(parts.ids) else None
        return parts
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise EngineFault(f"the upstream's answer is no completion: {type(error).__name__}: {error}"[:300]) from None


def hidden(asked: Asked, body: dict[str, Any]) -> dict[str, Any]:
    """An answer or a chunk of one, without what only the gateway asked for."""
    ids, scores = bool(asked.body.get("return_token_ids")), asked.body.get("logprobs")
    choices = []
    for choice in body.get("choices") or []:
        shown = dict(choice)
        if not ids:
            shown.pop("token_ids", None)
            shown.pop("prompt_token_ids", None)
        if not scores and "logprobs" in shown:
            shown["logprobs"] = None
        choices.append(shown)
    found = body | {"choices": choices}
    if not ids:
        found.pop("prompt_token_ids", None)
    return found


def make_call(
    asked: Asked, session: str, body: dict[str, Any], parts: Parts, ends: Mapping[str, int], secrets: Sequence[str]
) -> Call:
    """The record of a call, without secrets. Of a call that continues another, only what is new."""
    parent, covered = asked.parent(ends)
    if asked.route == CHAT:
        messages = asked.body["messages"][covered:]
    else:
        rest = asked.body["prompt"][covered:]
        messages = [{"role": "user", "content": rest if isinstance(rest, str) else ""}]
    found = {"token_ids": parts.ids, "prompt_token_ids": parts.prompt_ids, "logprobs": parts.logprobs}
    sampling = {name: value for name, value in asked.body.items() if name not in NOT_SAMPLING and value is not None}
    told = {"messages": messages, "answer": body, "sampling": sampling}
    if parent is None:
        told["tools"] = asked.body.get("tools")
    return Call(
        session=session,
        parent=parent,
        key=asked.key,
        end=asked.end(parts),
        time=time.time(),
        route=asked.route,
        model=asked.body["model"],
        prompt_ids=parts.prompt_ids,
        response_ids=parts.ids,
        logprobs=parts.logprobs,
        missing=[name for name, value in found.items() if value is None],
        finish_reason=parts.finish_reason,
        **_without_secrets(told, [*secrets, *secrets_in(sampling)]),
    )


@dataclass
class Joined:
    """The whole answer of a stream's chunks."""

    route: str
    body: dict[str, Any] = field(default_factory=dict)
    choice: dict[str, Any] = field(default_factory=dict)
    said: dict[str, Any] = field(default_factory=lambda: {"role": "assistant", "content": ""})
    calls: dict[int, dict[str, Any]] = field(default_factory=dict)

    @property
    def ended(self) -> bool:
        """Has the engine said why the answer ends?"""
        return self.choice.get("finish_reason") is not None

    def feed(self, chunk: dict[str, Any]) -> None:
        """One chunk more."""
        self.body |= {name: value for name, value in chunk.items() if name != "choices" and value is not None}
        for choice in chunk.get("choices") or []:
            delta = choice.get("delta") or {"content": choice.get("text")}
            for name in ("content", "refusal", "reasoning_content", "reasoning"):
                if isinstance(delta.get(name), str):
                    self.said[name] = (self.said.get(name) or "") + delta[name]
            for call in delta.get("tool_calls") or []:
                self._add_call(call)
            for name in ("finish_reason", "prompt_token_ids"):
                if choice.get(name) is not None:
                    self.choice[name] = choice[name]
            if choice.get("token_ids") is not None:
                self.choice.setdefault("token_ids", []).extend(choice["token_ids"])
            for name, values in (choice.get("logprobs") or {}).items():
                if isinstance(values, list):
                    self.choice.setdefault("logprobs", {}).setdefault(name, []).extend(values)

    def _add_call(self, piece: dict[str, Any]) -> None:
        whole = self.calls.setdefault(piece.get("index", 0), {"function": {"name": "", "arguments": ""}})
        whole |= {name: piece[name] for name in ("id", "type") if piece.get(name)}
        for name, text in (piece.get("function") or {}).items():
            whole["function"][name] = whole["function"].get(name, "") + (text or "")

    def whole(self) -> dict[str, Any]:
        """The answer as it would have come without streaming."""
        choice = {"index": 0, "logprobs": None, **self.choice}
        if self.route == CHAT:
            message = dict(self.said)
            if self.calls:
                message["tool_calls"] = [self.calls[index] for index in sorted(self.calls)]
                message["content"] = message["content"] or None
            choice["message"], kind = message, "chat.completion"
        else:
            choice["text"], kind = self.said["content"], "text_completion"
        return self.body | {"object": kind, "choices": [choice]}


def chunks_of(asked: Asked, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A whole answer as chunks, for a client that asks again with a stream."""
    (choice,) = body["choices"]
    head = {name: value for name, value in body.items() if name not in ("choices", "usage")}
    rest = {name: value for name, value in choice.items() if name not in ("message", "finish_reason")}
    end = {"index": 0, "logprobs": None, "finish_reason": choice.get("finish_reason")}
    if asked.route == CHAT:
        delta = dict(choice["message"])
        if delta.get("tool_calls"):
            delta["tool_calls"] = [{"index": index, **call} for index, call in enumerate(delta["tool_calls"])]
        head["object"] = "chat.completion.chunk"
        yield head | {"choices": [{**rest, "delta": delta, "finish_reason": None}]}
        yield head | {"choices": [{**end, "delta": {}}]}
    else:
        yield head | {"choices": [{**rest, "finish_reason": None}]}
        yield head | {"choices": [{**end, "text": ""}]}
    if (asked.body.get("stream_options") or {}).get("include_usage") and body.get("usage"):
        yield head | {"choices": [], "usage": body["usage"]}


# ---------------------------------------------------------------------- small parts


def _without_secrets(told: dict[str, Any], secrets: Sequence[str]) -> dict[str, Any]:
    """What may be written. All texts are looked through at once, which is quick, and hardly ever is there a secret."""
    joined = "\n".join(_texts(told))
    return told if scrub(joined, secrets, names=False) == joined else scrub(told, secrets, names=False)


def _texts(value: Any) -> Iterator[str]:
    """Every text in a value, names of fields as well."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _canonical(message: dict[str, Any]) -> bytes:
    """What makes two messages the same, however a client sends an answer back."""
    content = message.get("content")
    pictures = (
        [part for part in content if isinstance(part, dict) and "image_url" in part]
        if isinstance(content, list)
        else []
    )
    calls = [call.get("function") for call in message.get("tool_calls") or [] if isinstance(call, dict)]
    parts = [message.get("role"), text_of(message), pictures, calls]
    return msgspec.json.encode(parts, order="sorted") + b"\n"


def _scores(listed: Any) -> list[float] | None:
    """The log-probabilities of the tokens, in either of OpenAI's shapes."""
    if not listed:
        return None
    if listed.get("content") is not None:
        return [float(token["logprob"]) for token in listed["content"]]
    found = listed.get("token_logprobs")
    return None if found is None or None in found else [float(score) for score in found]


def _first(body: dict[str, Any], choice: dict[str, Any], name: str) -> Any:
    return body.get(name) if body.get(name) is not None else choice.get(name)
