"""From a conversation to the token ids of a prompt.

Only the model's chat template may produce special tokens. What stands *in* a message is encoded apart from it, with
special tokens read as plain text: an environment (a web page!) that writes `<|im_end|>` ends no message. What the model
itself said earlier enters by its own token ids, so that nothing is ever tokenised a second time.

Tools are shown by the template, too. The texts among the arguments of earlier calls are contents; names and schemas are
a part of the template's text and must not contain special tokens.
"""

from __future__ import annotations

import ast
import itertools
import json
import re
import resource
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from agentrl.core.errors import ConfigError, EngineFault
from agentrl.core.policy import Conversation, Message

MARK = "<image>"
REMEMBERED = 8192  # texts whose tokens are kept
MAX_NUMBER = 10_000  # in a chat template
MAX_STEPS, MAX_GROWTH = 300_000, 512 << 20  # calls and lines, and bytes, for one prompt
ROLES = ("system", "user", "assistant", "tool")
# The role of each message, the kinds of its parts, and its tool calls as JSON with marks in place of texts.
Shape = tuple[tuple[str, tuple[str, ...], str], ...]
NO_TOOLS = (
    "the model's chat template cannot call tools: describe the actions in a message and read them from the text, or "
    'send tool_choice "none"'
)


@dataclass(frozen=True)
class Prompt:
    """Token ids, and the pictures in them as the model wants them (None where there are none)."""

    ids: list[int]
    pixels: Any = None  # patches of all pictures, one below the other
    grids: Any = None  # [pictures, 3]: their number in time, height and width


class PromptEncoder:
    """Encodes conversations for one model."""

    def __init__(self, tokenizer: Any, image_processor: Any = None, image_token: int | None = None) -> None:
        if not tokenizer.chat_template:
            raise ConfigError("the model has no chat template; put a chat_template.jinja into its folder")
        check_template(tokenizer.chat_template)
        self.tokenizer, self.image_processor, self.image_token = tokenizer, image_processor, image_token
        self.specials = frozenset(tokenizer.all_special_ids) | ({image_token} if image_token is not None else set())
        # System prompts and templates repeat all the time, observations often.
        self._texts: dict[str, tuple[int, ...]] = {}
        self._frame = lru_cache(256)(self._encode_frame)

    def __reduce__(self) -> tuple:
        return type(self), (self.tokenizer, self.image_processor, self.image_token)  # what is remembered stays here

    def encode(self, conversation: Conversation, tools: Sequence[dict[str, Any]] = ()) -> Prompt:
        """The prompt after which the model's next message begins; `tools` in OpenAI's form are those it may call."""
        if not conversation:
            raise ConfigError("a conversation needs at least one message")
        contents: list[tuple[str, Any]] = []
        shape = []
        for message in conversation:
            parts = parts_of(message)
            contents += parts
            calls = [] if message.get("token_ids") is not None else message.get("tool_calls") or []
            marked = [{"name": call["name"], "arguments": _marked(call["arguments"], contents)} for call in calls]
            shape.append((message["role"], tuple(kind for kind, _ in parts), _json(marked) if calls else ""))
        pictures = [value for kind, value in contents if kind == "image"]
        pixels, grids, lengths = self.pictures(pictures) if pictures else (None, None, [])
        ids, remaining = list[int](), iter(lengths)
        inner = iter([part for part in contents if part[0] != "image"])
        frame = self._frame(tuple(shape), _json(list(tools)) if tools else "")
        for position, piece in enumerate(frame):
            if position:
                kind, value = next(inner)
                said = list(self.text_ids(value) if kind == "text" else value)
                while kind == "ids" and said and said[-1] in self.specials:  # the template ends the message itself
                    said.pop()
                ids += said
            if grids is None:
                ids += piece
                continue
            for token in piece:
                ids += [token] * (next(remaining) if token == self.image_token else 1)
        return Prompt(ids, pixels, grids)

    def encode_all(self, conversations: Sequence[Conversation]) -> list[Prompt]:
        """The prompts of many conversations; their new texts are tokenised together, which is quicker."""
        messages = (message for conversation in conversations for message in conversation)
        said = (message.get("content") for message in messages if message.get("token_ids") is None)
        new = {text for text in said if isinstance(text, str) and text not in self._texts and MARK not in text}
        if len(new) > 1:
            self._remember(sorted(new))
        return [self.encode(conversation) for conversation in conversations]

    def text_ids(self, text: str) -> tuple[int, ...]:
        """The tokens of a text as it stands in a message; never a special one."""
        if text not in self._texts:
            self._remember([text])
        return self._texts[text]

    def _remember(self, texts: list[str]) -> None:
        """Tokenise texts; the oldest are forgotten first."""
        clean = [text.encode("utf-8", "replace").decode() for text in texts]  # half a surrogate pair is no character
        found = self.tokenizer(clean, add_special_tokens=False, split_special_tokens=True)["input_ids"]
        for text, ids in zip(texts, found, strict=True):
            if not self.specials.isdisjoint(ids):
                raise EngineFault("this tokenizer reads special tokens in plain text; it cannot be used safely")
            self._texts[text] = tuple(ids)
        for text in list(self._texts)[: max(0, len(self._texts) - max(REMEMBERED, len(texts)))]:
            self._texts.pop(text, None)

    def _encode_frame(self, shape: Shape, tools: str) -> list[list[int]]:
        """The template around the contents, as token ids: one piece more than there are contents."""
        # Contents are marked by letters for private use: no template looks for them, and real contents are not there
        # when they are searched.
        messages: list[dict[str, Any]] = []
        offered = json.loads(tools) if tools else []
        names, numbers = [tool["function"]["name"] for tool in offered], itertools.count()
        for role, kinds, calls in shape:
            content = [
                {"type": "image"} if kind == "image" else {"type": "text", "text": _mark(next(numbers))}
                for kind in kinds
            ]
            messages.append({"role": role, "content": content if "image" in kinds else content[0]["text"]})
            if calls:
                made = json.loads(re.sub(_mark("x"), lambda _: _mark(next(numbers)), calls))
                messages[-1]["tool_calls"] = [{"type": "function", "function": call} for call in made]
                names += [call["name"] for call in made]
        if names or any(role == "tool" for role, _, _ in shape):
            self._check_tools(tools + "".join(calls for _, _, calls in shape))
        given = {"tools": offered} if offered else {}
        try:
            with limited_steps():
                text = self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, **given)
        except Exception as error:  # templates are programs of other people; jinja's errors have no common base
            raise ConfigError(f"the model's chat template fails on this conversation: {error}") from error
        pieces = re.split(_mark("([0-9]+)"), text)
        if pieces[1::2] != [str(index) for index in range(next(numbers))]:
            raise ConfigError("the model's chat template drops, repeats or reorders messages; it cannot be used here")
        if not all(name in text for name in names):
            raise ConfigError(NO_TOOLS)
        return [self.tokenizer(piece, add_special_tokens=False)["input_ids"] for piece in pieces[::2]]

    def _check_tools(self, shown: str) -> None:
        """`ConfigError` where the template knows no tools, or where names and schemas would end a message."""
        if "tool" not in str(self.tokenizer.chat_template):
            raise ConfigError(NO_TOOLS)
        if found := next((token for token in self.tokenizer.all_special_tokens if token in shown), None):
            raise ConfigError(f"names and schemas of tools must not contain the model's special tokens; got {found!r}")

    # ------------------------------------------------------------------ pictures

    def pictures(self, pictures: Sequence[Any]) -> tuple[Any, Any, list[int]]:
        """Patches, grids, and how many tokens each picture takes."""
        if self.image_processor is None:
            raise ConfigError("this model reads no pictures; choose a vision-language model such as tiny-vlm")
        import torch

        encoded = self.image_processor(images=[checked_picture(picture) for picture in pictures])
        pixels = torch.as_tensor(np.asarray(encoded["pixel_values"]))
        grids = torch.as_tensor(np.asarray(encoded["image_grid_thw"]))
        merge = self.image_processor.merge_size**2
        return pixels, grids, [int(grid.prod()) // merge for grid in grids]


def _mark(number: Any) -> str:
    """Stands for a content while the template is at work."""
    return f"\ue000{number}\ue001"


def _marked(value: Any, contents: list[tuple[str, Any]]) -> Any:
    """The arguments of a call with a mark in place of each text, which becomes a content as it stands in JSON."""
    if isinstance(value, str):
        contents.append(("text", _json(value)[1:-1]))
        return _mark("x")
    if isinstance(value, dict):
        return {key: _marked(item, contents) for key, item in value.items()}
    return [_marked(item, contents) for item in value] if isinstance(value, list) else value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def check_template(template: Any) -> None:
    """`ConfigError` for a chat template with large numbers or powers in it: a single step of it could fill the memory.
    `limited_steps` sees to the others."""
    from jinja2 import Environment, TemplateSyntaxError

    try:
        for text in template.values() if isinstance(template, dict) else [template]:
            for _, kind, word in Environment().lex(text):
                if word == "**" or (kind in ("integer", "float") and ast.literal_eval(word) > MAX_NUMBER):
                    most = f"numbers in the model's chat template must be at most {MAX_NUMBER:,}"
                    raise ConfigError(f"{most}; got {word:.80}")
    except TemplateSyntaxError as error:
        raise ConfigError(f"the model's chat template cannot be read: {error}") from error


@contextmanager
def limited_steps() -> Iterator[None]:
    """Inside, Python stops after `MAX_STEPS` calls and lines of templates, or once the process has grown by
    `MAX_GROWTH` bytes. A real template takes some thousands for a long conversation, and as many to be compiled."""
    left, before, size = MAX_STEPS, sys.gettrace(), _resident()

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0 or (left % 16 == 0 and _resident() - size > MAX_GROWTH):
            raise ConfigError("it takes too many steps or too much memory")
        return trace if event != "call" or frame.f_code.co_filename.startswith("<") else None

    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def _resident() -> int:
    """Bytes of memory that this process holds; 0 where the system does not say."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except OSError:
        return 0


def checked_picture(picture: Any) -> np.ndarray:
    """An array of RGB bytes, or a `ConfigError`."""
    array = np.asarray(picture)
    if array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] != 3 or not array.size:
        raise ConfigError(f"a picture must be uint8[height, width, 3]; got {array.dtype}{list(array.shape)}")
    return array


def parts_of(message: Message) -> list[tuple[str, Any]]:
    """A message as ("text", str), ("ids", token ids) and ("image", pixels) in order; text comes first and last.

    Pictures take the places of the first marks, in order; a mark too many is text, a picture without one comes first.
    """
    role, content, pictures = message.get("role"), message.get("content"), list(message.get("images") or [])
    if role not in ROLES or not isinstance(content, str):
        raise ConfigError(
            f"a message must have a role ({', '.join(ROLES)}) and a text; got {role!r} and {type(content).__name__}"
        )
    if message.get("token_ids") is not None and not pictures:
        return [("ids", message["token_ids"])]  # pyright: ignore[reportTypedDictNotRequiredAccess]
    texts = content.split(MARK, len(pictures)) if pictures else [content]
    texts = [""] * (len(pictures) + 1 - len(texts)) + texts
    parts: list[tuple[str, Any]] = [("text", texts[0])]
    for picture, text in zip(pictures, texts[1:], strict=True):
        parts += [("image", picture), ("text", text)]
    return parts
