"""The envelope of every OpenAI-compatible server, decoded strictly: what does not fit is no answer."""

from __future__ import annotations

from typing import Annotated

import msgspec


class Malformed(Exception):
    """A reply that is no answer to the question; asking again may help."""


class TokenChance(msgspec.Struct):
    """A token the model might have written, and the logarithm of its probability."""

    token: str
    logprob: float


class WrittenToken(TokenChance):
    """The token it did write, and the likeliest alternatives."""

    top_logprobs: list[TokenChance] = []


class Logprobs(msgspec.Struct):
    """Chances of the tokens of a message."""

    content: list[WrittenToken] | None = None


class Message(msgspec.Struct):
    """What the model wrote."""

    content: str | None = None
    refusal: str | None = None  # some servers put a refusal here instead of into the content


class Choice(msgspec.Struct):
    """One of the alternatives a server may send; we always ask for one."""

    message: Message
    finish_reason: str | None = None
    logprobs: Logprobs | None = None
    token_ids: list[int] | None = None  # an extension of vLLM, sent when it is asked for


class TokenCount(msgspec.Struct):
    """What the call will be charged for."""

    prompt_tokens: Annotated[int, msgspec.Meta(ge=0)] = 0
    completion_tokens: Annotated[int, msgspec.Meta(ge=0)] = 0


class Completion(msgspec.Struct):
    """The body of a chat completion, as far as it is read here."""

    choices: list[Choice]
    usage: TokenCount | None = None
    prompt_token_ids: list[int] | None = None  # beside `Choice.token_ids`

    @property
    def choice(self) -> Choice:
        """The one choice; `Malformed` when there is none or several."""
        if len(self.choices) != 1:
            raise Malformed(f"{len(self.choices)} choices instead of one")
        return self.choices[0]

    @property
    def text(self) -> str:
        """The one message; `Malformed` when there is none or it is empty."""
        if not (content := self.choice.message.content):
            raise Malformed(f"an empty message (finish reason: {str(self.choice.finish_reason)[:40]})")
        return content


def read_completion(body: bytes) -> Completion:
    """The body of an HTTP 200 as a completion."""
    try:
        return msgspec.json.decode(body, type=Completion)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:  # ValidationError is a DecodeError
        raise Malformed(f"no chat completion: {error}") from None
