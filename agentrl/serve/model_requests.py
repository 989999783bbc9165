"""Requests to `serve-model`: what is harmless is accepted, what would silently be ignored is refused."""

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
from agentrl.serve.api import BadRequest

MAX_PIXELS = 1 << 22
PREFIXES = ("data:image/png;base64,", "data:image/jpeg;base64,")
Bounded = Annotated[int, msgspec.Meta(ge=1, le=1 << 20)]
ToolName = Annotated[str, msgspec.Meta(pattern=r"^[a-zA-Z0-9_.-]{1,64}$")]
StopString = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]


class TextPart(msgspec.Struct, forbid_unknown_fields=True, tag="text", tag_field="type"):
    """A piece of text."""

    text: str


class RefusalPart(msgspec.Struct, forbid_unknown_fields=True, tag="refusal", tag_field="type"):
    """A piece of an earlier answer in which a model refused."""

    refusal: str


class ImageURL(msgspec.Struct, forbid_unknown_fields=True):
    """Where a picture is: only pictures inside the request are read, nothing is ever fetched."""

    url: str
    detail: str | None = None


class ImagePart(msgspec.Struct, forbid_unknown_fields=True, tag="image_url", tag_field="type"):
    """A picture."""

    image_url: ImageURL


class CalledFunction(msgspec.Struct, forbid_unknown_fields=True):
    """What an earlier answer called; the arguments are JSON."""

    name: ToolName
    arguments: str = "{}"


class ToolCall(msgspec.Struct):
    """A call in an earlier answer."""

    function: CalledFunction
    id: str = ""
    type: Literal["function"] = "function"


class Function(msgspec.Struct):
    """What can be called, and its JSON schema."""

    name: ToolName
    description: str | None = None
    parameters: dict[str, Any] | None = None


class Tool(msgspec.Struct, forbid_unknown_fields=True):
    """One tool."""

    function: Function
    type: Literal["function"] = "function"


class Offered(msgspec.Struct):
    """The tools of a request."""

    tools: Annotated[list[Tool], msgspec.Meta(max_length=128)] = []


class SentMessage(msgspec.Struct, forbid_unknown_fields=True):
    """One message; `token_ids` is ours: the model's own tokens of an earlier answer."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[TextPart | RefusalPart | ImagePart] | None = None
    refusal: str | None = None
    token_ids: list[Annotated[int, msgspec.Meta(ge=0)]] | None = None
    tool_calls: Annotated[list[ToolCall], msgspec.Meta(max_length=128)] | None = None
    tool_call_id: str | None = None


class StreamOptions(msgspec.Struct):
    """How a stream ends."""

    include_usage: bool = False


class ChatRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a chat completion request, as far as it is served."""

    model: str
    messages: Annotated[list[SentMessage], msgspec.Meta(min_length=1, max_length=10_000)]
    temperature: Annotated[float, msgspec.Meta(ge=0, le=10)] | None = None
    top_p: Annotated[float, msgspec.Meta(gt=0, le=1)] | None = None
    top_k: Annotated[int, msgspec.Meta(ge=-1, le=1 << 20)] | None = None
    max_tokens: Bounded | None = None
    max_completion_tokens: Bounded | None = None
    seed: Annotated[int, msgspec.Meta(ge=-(1 << 62), le=1 << 62)] | None = None
    stop: StopString | Annotated[list[StopString], msgspec.Meta(max_length=16)] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, msgspec.Meta(ge=0, le=20)] | None = None
    return_token_ids: bool | None = None
    tools: list[dict[str, Any]] | None = (
        None  # as they were sent, once `Offered` can read them: the model is shown all of it
    )

    @property
    def stops(self) -> list[str]:
        """The strings that end an answer."""
        return [self.stop] if isinstance(self.stop, str) else self.stop or []

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
            top_k=max(0, self.top_k or 0),
            greedy=greedy,
            max_new_tokens=min(wanted, most_tokens),
        )


# ---------------------------------------------------------------------- reading

# Fields that change no answer of this server, whatever they say.
WITHOUT_EFFECT = frozenset(
    [
        "metadata",
        "parallel_tool_calls",
        "prompt_cache_key",
        "prompt_cache_retention",
        "reasoning_effort",
        "safety_identifier",
        "service_tier",
        "store",
        "user",
        "verbosity",
    ]
)
# Fields whose effect is not supported, and the values that ask for none of it.
NEUTRAL: dict[str, tuple[Any, ...]] = {
    "n": (1,),
    "best_of": (1,),
    "frequency_penalty": (0,),
    "presence_penalty": (0,),
    "repetition_penalty": (1,),
    "min_p": (0,),
    "logit_bias": ({},),
    "modalities": (["text"],),
    "response_format": ({"type": "text"},),
    "tool_choice": ("none", "auto"),
    "functions": ([],),
    "function_call": ("none", "auto"),
}
# What clients send back with earlier answers and no model is shown.
NOT_SHOWN = frozenset(
    [
        "name",
        "annotations",
        "audio",
        "thinking_blocks",
        "reasoning",
        "reasoning_content",
        "reasoning_details",
        "provider_specific_fields",
        "cache_control",
    ]
)
FUNCTIONS = "the older form of tools is not supported; send tools and tool_calls"
REASONS = {
    "tool_choice": 'must be "auto" or "none": the model itself decides whether it calls a tool',
    "functions": FUNCTIONS,
    "function_call": FUNCTIONS,
}


def read_request(body: bytes) -> ChatRequest:
    """The request in a body; `BadRequest` says which field is wrong.

    A field that is null is as good as absent. One that would change the answer and is not supported is refused: an
    answer that silently ignores what was asked for is worse than none.
    """
    try:
        data = msgspec.json.decode(body)
        if not isinstance(data, dict):
            raise BadRequest("invalid request: it must be a JSON object")
        found = {name: value for name, value in data.items() if value is not None and name not in WITHOUT_EFFECT}
        if found.get("tools") and found.get("tool_choice") == "none":
            del found["tools"]
        for name in NEUTRAL.keys() & found.keys():
            if found[name] not in NEUTRAL[name]:
                raise BadRequest(f"{name}: {REASONS.get(name, 'not supported')}")
            del found[name]
        if isinstance(found.get("messages"), list):
            found["messages"] = [_shown(message) for message in found["messages"]]
        msgspec.convert(found, Offered)
        request = msgspec.convert(found, ChatRequest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"invalid request: {error}"[:500]) from None
    if request.top_logprobs and not request.logprobs:
        raise BadRequest("top_logprobs needs logprobs: true")
    return request


def _shown(message: Any) -> Any:
    """The fields of a message that the model is shown."""
    if not isinstance(message, dict):
        return message
    if message.get("role") == "function" or message.get("function_call"):
        raise BadRequest(f"function_call: {FUNCTIONS}")
    hidden = NOT_SHOWN | {"function_call"}
    return {name: value for name, value in message.items() if value is not None and name not in hidden}


def conversation_of(request: ChatRequest, loaded: LoadedModel) -> list[Message]:
    """The messages as policies know them."""
    conversation: list[Message] = []
    for sent in request.messages:
        texts: list[str] = []
        pictures: list[np.ndarray] = []
        if sent.content is None and sent.role != "assistant":
            raise BadRequest(f"content must be a text or a list of parts in messages of the {sent.role}; got null")
        content = sent.refusal or "" if sent.content is None else sent.content  # an answer may be a refusal
        for part in [TextPart(content)] if isinstance(content, str) else content:
            if isinstance(part, ImagePart):
                if MARK in "".join(texts).replace(MARK, "", len(pictures)):
                    raise BadRequest(f"text in front of a picture must not contain {MARK}")
                pictures.append(read_picture(part.image_url.url))
                texts.append(MARK)
            else:
                texts.append(part.refusal if isinstance(part, RefusalPart) else part.text)
        role = "system" if sent.role == "developer" else sent.role  # OpenAI's newer name
        message: Message = {"role": role, "content": "".join(texts), "images": pictures}
        if sent.token_ids is not None:
            message["token_ids"] = ids = sent.token_ids
            if sent.role != "assistant":
                raise BadRequest("token_ids must be in messages of the assistant")
            if ids and max(ids) >= loaded.model.get_input_embeddings().num_embeddings:
                raise BadRequest("token_ids must be below the size of the model's vocabulary")
            if not loaded.stops.isdisjoint(ids[:-1]):
                raise BadRequest("token_ids must hold special tokens at the end only")
        if sent.tool_calls:
            if sent.role != "assistant":
                raise BadRequest("tool_calls must be in messages of the assistant")
            message["tool_calls"] = [_called(call.function) for call in sent.tool_calls]
        conversation.append(message)
    return conversation


def _called(function: CalledFunction) -> dict[str, Any]:
    """A call as chat templates take it."""
    try:
        arguments = msgspec.json.decode(function.arguments or "{}")
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadRequest(f"arguments of the call of {function.name} must be JSON; got {error}"[:500]) from None
    return {"name": function.name, "arguments": arguments}


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
