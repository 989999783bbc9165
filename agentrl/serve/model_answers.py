"""The model's tokens as OpenAI's answers: text as it comes, stop strings, log-probabilities, whole or in chunks."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from agentrl.models.chat import Prompt
from agentrl.serve.model_requests import ChatRequest
from agentrl.serve.stop_text import StopText
from agentrl.serve.tool_calls import ToolText

if TYPE_CHECKING:
    from agentrl.models.sampling import Answer

Decode = Callable[[list[int]], str]
Likely = Sequence[tuple[int, float]]  # token ids and their log-probabilities, the likeliest first
HALF = "\ufffd"  # what half a character decodes to
LEAST = -9999.0  # JSON has no infinity; OpenAI writes this
DONE = b"data: [DONE]\n\n"


class TextStream:
    """The text of tokens as they come, without the bytes at the end that are half a character."""

    def __init__(self, decode: Decode) -> None:
        self._decode = decode
        # Tokens are decoded together with those before them, because some tokenizers drop a space at the beginning.
        self._before: list[int] = []
        self._new: list[int] = []
        self._shown = 0  # characters of both that were handed out

    def take(self, token: int) -> str:
        """What is certain now and was not before."""
        self._new.append(token)
        text = self._decode(self._before + self._new)
        certain = len(text) - text.endswith(HALF)
        piece, self._shown = text[self._shown : certain], max(self._shown, certain)
        if certain == len(text):
            self._before, self._new = self._new, []
            self._shown = len(self._decode(self._before))
        return piece

    def rest(self) -> str:
        """What is left when no more tokens come."""
        return self._decode(self._before + self._new)[self._shown :] if self._new else ""


@dataclass
class Piece:
    """What one token adds to an answer; a special token at the end of a turn adds no text."""

    text: str
    token: int
    logprob: float
    likely: Likely = ()


@dataclass
class Writer:
    """Makes the answer to one request of the tokens that the model gives.

    `take` is called with each token, by the model's thread while it decodes (`needs_each_token`), or afterwards.
    """

    request: ChatRequest
    prompt: Prompt
    ends: Collection[int]  # tokens that end a turn
    decode: Decode
    deliver: Callable[[Piece], Any] | None = None  # gets each piece as it comes
    left: bool = False  # nobody reads the answer any more
    pieces: list[Piece] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._stream, self._stop = TextStream(self.decode), StopText(self.request.stops)
        self._ended = False
        self._tools = ToolText() if self.request.tools else None
        self._calls: list[dict[str, Any]] = []
        self._head = {"id": f"chatcmpl-{secrets.token_hex(12)}", "created": int(time.time())}

    @property
    def needs_each_token(self) -> bool:
        """Must tokens be seen while the model decodes?"""
        return bool(self.request.stream or self.request.stops or self.request.top_logprobs)

    def take(self, token: int, logprob: float, likely: Likely = ()) -> bool:
        """One token more; True where the answer ends with it."""
        ended = token in self.ends
        text = self._rest() if ended else self._stop.take(self._stream.take(token))
        if self._tools is not None:
            text = self._tools.take(text)
        self._ended = ended or self._stop.found
        piece = Piece(text, token, logprob, likely)
        self.pieces.append(piece)
        if self.deliver is not None and not self.left:
            self.deliver(piece)
        return self._ended or self.left

    def _rest(self) -> str:
        """Text that was held back and will not be continued."""
        if self._stop.found:
            return ""
        text = self._stop.take(self._stream.rest())
        return text if self._stop.found else text + self._stop.rest()

    def _end(self) -> str:
        """The text behind the last token's; afterwards the calls are known."""
        rest = "" if self._ended else self._rest()
        if self._tools is not None:
            rest = self._tools.take(rest)
            more, self._calls = self._tools.end()
            rest += more
        return rest

    # ------------------------------------------------------------------ a whole answer

    def completion(self, answer: Answer) -> dict[str, Any]:
        """The body of the answer."""
        if not self.pieces:
            for token, logprob in zip(answer.ids, answer.logprobs, strict=True):
                self.take(token, logprob)
        content = "".join(piece.text for piece in self.pieces) + self._end()
        message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": None}
        if self._calls:
            message |= {"content": content or None, "tool_calls": self._calls}
        choice = {"message": message, **self._choice(self.pieces), "finish_reason": self._finish_reason}
        whole = self._body("chat.completion", choice) | {"usage": self._usage()}
        if self.request.return_token_ids:
            whole["prompt_token_ids"] = self.prompt.ids
        return whole

    # ------------------------------------------------------------------ chunks

    def opening(self) -> dict[str, Any]:
        """The first chunk, before any token."""
        chunk = self._chunk({"role": "assistant", "content": "", "refusal": None}, [])
        return chunk | ({"prompt_token_ids": self.prompt.ids} if self.request.return_token_ids else {})

    def chunk(self, piece: Piece) -> dict[str, Any]:
        """The chunk of one token."""
        return self._chunk({"content": piece.text}, [piece])

    def closing(self) -> Iterator[dict[str, Any]]:
        """What follows the last token."""
        if rest := self._end():
            yield self._chunk({"content": rest}, [])
        for index, call in enumerate(self._calls):
            yield self._chunk({"tool_calls": [{"index": index, **call}]}, [])
        yield self._chunk({}, [], self._finish_reason)
        if self.request.stream_options is not None and self.request.stream_options.include_usage:
            yield self._body("chat.completion.chunk", None) | {"usage": self._usage()}

    def _chunk(self, delta: dict[str, Any], pieces: list[Piece], finish_reason: str | None = None) -> dict[str, Any]:
        choice = {"delta": delta, **self._choice(pieces), "finish_reason": finish_reason}
        return self._body("chat.completion.chunk", choice)

    # ------------------------------------------------------------------ parts of both

    @property
    def _finish_reason(self) -> str:
        if self._calls:
            return "tool_calls"
        return "stop" if self._ended or self._stop.found else "length"

    def _body(self, kind: str, choice: dict[str, Any] | None) -> dict[str, Any]:
        choices = [] if choice is None else [choice]
        return {**self._head, "object": kind, "model": self.request.model, "choices": choices}

    def _choice(self, pieces: Sequence[Piece]) -> dict[str, Any]:
        found: dict[str, Any] = {"index": 0, "logprobs": None}
        if self.request.logprobs and pieces:  # at the temperature that was sampled at, as everywhere in this package
            scored = []
            for piece in pieces:
                likely = [self._chance(token, logprob) for token, logprob in piece.likely]
                scored.append(self._chance(piece.token, piece.logprob) | {"top_logprobs": likely})
            found["logprobs"] = {"content": scored}
        if self.request.return_token_ids:
            found["token_ids"] = [piece.token for piece in pieces]
        return found

    def _chance(self, token: int, logprob: float) -> dict[str, Any]:
        return {"token": self.decode([token]), "logprob": max(logprob, LEAST), "bytes": None}

    def _usage(self) -> dict[str, int]:
        prompt, said = len(self.prompt.ids), len(self.pieces)
        return {"prompt_tokens": prompt, "completion_tokens": said, "total_tokens": prompt + said}


def event(value: dict[str, Any]) -> bytes:
    """A server-sent event."""
    return b"data: " + msgspec.json.encode(value) + b"\n\n"
