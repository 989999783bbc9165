"""Requests to `serve-model`, read strictly: a field that would be ignored is refused."""

from __future__ import annotations

import base64
import binascii
import io
from typing import Annotated, Any, Literal

import msgspec
import numpy as np

from agentrl.core.policy import Message
from agentrl.models.chat import MARK
from agentrl.models.loading import LoadedModel

MAX_PIXELS = 1 << 22
PREFIXES = ("data:image/png;base64,", "data:image/jpeg;base64,")
Bounded = Annotated[int, msgspec.Meta(ge=1, le=1 << 20)]


class BadRequest(Exception):
    """The client's mistake: the message says what to change."""

    def __init__(self, message: str, *, status: int = 400, code: str | None = None) -> None:
        super().__init__(message)
        self.status, self.code = status, code


class TextPart(msgspec.Struct, forbid_unknown_fields=True, tag="text", tag_field="type"):
    """A piece of text."""

    text: str


class ImageURL(msgspec.Struct, forbid_unknown_fields=True):
    """Where a picture is: only pictures inside the request are read, nothing is ever fetched."""

    url: str
    detail: str | None = None


class ImagePart(msgspec.Struct, forbid_unknown_fields=True, tag="image_url", tag_field="type"):
    """A picture."""

    image_url: ImageURL


class SentMessage(msgspec.Struct, forbid_unknown_fields=True):
    """One message; `token_ids` is ours: the model's own tokens of an earlier answer."""

    role: Literal["system", "user", "assistant"]
    content: str | list[TextPart | ImagePart]
    token_ids: list[Annotated[int, msgspec.Meta(ge=0)]] | None = None
    name: str | None = None


class ChatRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a chat completion request, as far as it is served."""

    model: str
    messages: Annotated[list[SentMessage], msgspec.Meta(min_length=1, max_length=10_000)]
    temperature: Annotated[float, msgspec.Meta(ge=0, le=10)] | None = None
    top_p: Annotated[float, msgspec.Meta(gt=0, le=1)] | None = None
    max_tokens: Bounded | None = None
    max_completion_tokens: Bounded | None = None
    seed: Annotated[int, msgspec.Meta(ge=-(1 << 62), le=1 << 62)] | None = None
    n: Literal[1] | None = None
    stream: Literal[False] | None = None
    logprobs: bool | None = None
    return_token_ids: bool | None = None
    user: str | None = None

    def sampling(self, most_tokens: int) -> Any:
        """How the answer's tokens are chosen; OpenAI's defaults."""
        from agentrl.models.sampling import Sampling

        wanted = self.max_completion_tokens or self.max_tokens or most_tokens
        heat = 1.0 if self.temperature is None else self.temperature
        # Dividing by a tiny temperature overflows; it means the likeliest token.
        greedy = heat < 1e-4
        return Sampling(
            temperature=1.0 if greedy else heat,
            top_p=1.0 if self.top_p is None else self.top_p,
            greedy=greedy,
            max_new_tokens=min(wanted, most_tokens),
        )


def read_request(body: bytes) -> ChatRequest:
    """The request in a body; `BadRequest` says which field is wrong."""
    try:
        return msgspec.json.decode(body, type=ChatRequest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"invalid request: {error}"[:500]) from None


def conversation_of(request: ChatRequest, loaded: LoadedModel) -> list[Message]:
    """The messages as policies know them."""
    return [_message(message, loaded) for message in request.messages]


def _message(sent: SentMessage, loaded: LoadedModel) -> Message:
    texts: list[str] = []
    pictures: list[np.ndarray] = []
    for part in [TextPart(sent.content)] if isinstance(sent.content, str) else sent.content:
        if isinstance(part, ImagePart):
            if MARK in "".join(texts).replace(MARK, "", len(pictures)):
                raise BadRequest(f"text in front of a picture must not contain {MARK}")
            pictures.append(read_picture(part.image_url.url))
        texts.append(MARK if isinstance(part, ImagePart) else part.text)
    message: Message = {"role": sent.role, "content": "".join(texts), "images": pictures}
    if sent.token_ids is not None:
        message["token_ids"] = _own_tokens(sent, loaded)
    return message


def _own_tokens(sent: SentMessage, loaded: LoadedModel) -> list[int]:
    """Tokens the model can have generated: only the last may end a turn."""
    ids = sent.token_ids or []
    if sent.role != "assistant":
        raise BadRequest("token_ids must be in messages of the assistant")
    if ids and max(ids) >= loaded.model.get_input_embeddings().num_embeddings:
        raise BadRequest("token_ids must be below the size of the model's vocabulary")
    if not loaded.stops.isdisjoint(ids[:-1]):
        raise BadRequest("token_ids must hold special tokens at the end only")
    return ids


def read_picture(url: str) -> np.ndarray:
    """The pixels of a picture in a data URL."""
    from PIL import Image

    prefix = next((prefix for prefix in PREFIXES if url.startswith(prefix)), None)
    if prefix is None:
        raise BadRequest("image_url must be data:image/png;base64,... (or jpeg); other URLs are not fetched")
    try:
        data = base64.b64decode(url[len(prefix) :], validate=True)
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as picture:
            if picture.width * picture.height > MAX_PIXELS:  # known before anything is unpacked
                raise BadRequest(f"a picture must have at most {MAX_PIXELS} pixels")
            return np.asarray(picture.convert("RGB"))
    except BadRequest:
        raise
    except (binascii.Error, Exception) as error:  # damaged pictures fail in as many ways as there are decoders
        raise BadRequest(f"the picture cannot be read: {type(error).__name__}: {error}"[:300]) from None
