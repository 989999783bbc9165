"""Word-level tokenizers: `build_tokenizer` makes one from words, `tiny_tokenizer` is that of the tiny models.

`decode(encode(text)) == text` for every text: what is not in the vocabulary is spelled in bytes, so a text that changes
costs a few more tokens and nothing is lost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from agentrl.core.errors import ConfigError, MissingExtra

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

PAD, END = "<|endoftext|>", "<|im_end|>"
ROLES = ("<|system|>", "<|user|>", "<|assistant|>")  # each begins a message: one token a message, and no more
VISION_START, VISION_END, IMAGE, VIDEO = "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"
TEXT_SPECIALS = (PAD, END, *ROLES)
VISION_SPECIALS = (*TEXT_SPECIALS, VISION_START, VISION_END, IMAGE, VIDEO)

# After the phrases: a word has a capital at most at its beginning, so that "OG" in a row of symbols stays two symbols.
PIECES = r" ?[A-Z]?[a-z]+| ?[0-9]|[A-Z]|\n|[^\sA-Za-z0-9]|\s"

# What a function answers is shown as the environment's own words are; the functions themselves come first.
TEMPLATE = (
    "{% if tools %}<|system|>Functions:{% for tool in tools %}{{ '\\n' ~ tool | tojson }}{% endfor %}{{ '\\n' }}"
    'To call one, write <tool_call>{"name": "...", "arguments": {...}}</tool_call>{% endif %}'
    "{% for message in messages %}<|{{ 'user' if message.role == 'tool' else message.role }}|>"
    "{% if message.content is string %}{{ message.content }}{% else %}{% for part in message.content or [] %}"
    "{% if part.type == 'image' %}<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ part.text }}{% endif %}"
    "{% endfor %}{% endif %}"
    "{% for call in message.tool_calls or [] %}{% set asked = call.function or call %}"
    '<tool_call>{"name": {{ asked.name | tojson }}, "arguments": '
    "{{ asked.arguments if asked.arguments is string else asked.arguments | tojson }}}</tool_call>{% endfor %}"
    "{% if message.role == 'assistant' %}<|im_end|>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
# How transformers finds the calls in an answer again.
RESPONSE = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<|assistant|>",
    "fields": {
        "tool_calls": {
            "open": "<tool_call>",
            "close_pattern": r"</tool_call>\s*",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close_pattern": r"<\|im_end\|>|$", "content": "text"},
    },
}


def build_tokenizer(
    words: Iterable[str], phrases: Iterable[str] = (), specials: tuple[str, ...] = TEXT_SPECIALS
) -> PreTrainedTokenizerFast:
    """A tokenizer for the vocabulary of a new family: one token for each phrase and word, bytes for all other text.

    A *phrase* is one token wherever it occurs, except from the middle of a word on: a fixed sentence of a prompt, a
    tag, the name of an action with its bracket. Where several begin at the same place the longest is taken. A *word* is
    one token with or without a space before it, and only as a whole: "car" is no part of "card". Token ids follow the
    order of the arguments: specials, bytes, phrases, words.

        build_tokenizer(["kettle", "is", "on", "the"], phrases=["<answer>", "</answer>", "open[", "]"])
    """
    phrases, words = list(dict.fromkeys(phrases)), list(dict.fromkeys(words))
    if not all(phrases) or not all(words):
        raise ConfigError("phrases and words must not be empty strings")
    # What PIECES would split ("USB", "e-mail") needs an alternative of its own.
    unusual = [word for word in words if re.fullmatch(PIECES, word) is None]
    alternatives = [
        *(re.escape(phrase) for phrase in sorted(phrases, key=len, reverse=True)),
        *(rf" ?(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])" for word in sorted(unusual, key=len, reverse=True)),
        PIECES,
    ]
    spaced = [f"{space}{word}" for word in words for space in ("", " ")]
    return assemble_tokenizer([*phrases, *spaced], "|".join(alternatives), specials)


def tiny_tokenizer(
    specials: tuple[str, ...] = TEXT_SPECIALS, vocabulary_file: str = "tiny_vocabulary.json"
) -> PreTrainedTokenizerFast:
    """The tokenizer of the tiny models. Their vocabularies are frozen: other ids would be another model."""
    vocabulary = json.loads(files("agentrl.models").joinpath(vocabulary_file).read_text(encoding="utf-8"))
    return assemble_tokenizer(vocabulary["tokens"], vocabulary["pattern"], specials)


def assemble_tokenizer(texts: Iterable[str], pattern: str, specials: tuple[str, ...]) -> PreTrainedTokenizerFast:
    """A tokenizer that splits text by `pattern`; a piece is one token if it is in `texts`, else its bytes are."""
    try:
        from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers
        from transformers import PreTrainedTokenizerFast
    except ImportError as error:
        raise MissingExtra("transformers", "train") from error
    known = dict.fromkeys([*specials, *byte_letters(), *(spell(text) for text in texts)])
    vocabulary = {token: index for index, token in enumerate(known)}
    # A piece that is in the vocabulary is taken whole; without merges, any other is spelled in bytes.
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[], ignore_merges=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(  # pyright: ignore[reportAttributeAccessIssue]
        [
            pre_tokenizers.Split(Regex(pattern), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()  # pyright: ignore[reportAttributeAccessIssue]
    tokenizer.add_special_tokens([AddedToken(special, special=True, normalized=False) for special in specials])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=END,
        pad_token=PAD,
        additional_special_tokens=[special for special in specials if special not in (PAD, END)],
        chat_template=TEMPLATE,
        response_template=RESPONSE,
        clean_up_tokenization_spaces=False,
        padding_side="left",
    )


@cache
def byte_letters() -> tuple[str, ...]:
    """A printable letter for each of the 256 bytes, in the manner of byte-level tokenizers: most stand for themselves,
    the others follow from 256 on."""
    shown = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return tuple(chr(byte if byte in shown else next(others)) for byte in range(256))


def spell(text: str) -> str:
    """A text in byte letters."""
    letters = byte_letters()
    return "".join(letters[byte] for byte in text.encode())
