"""The word-level tokenizer of the tiny models; `decode(encode(text)) == text` for every text."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from agentrl.core.errors import MissingExtra
from agentrl.policies.models import shop_vocabulary
from agentrl.policies.models.vocabulary import LAKE_SIDE, lake_rows, phrases, words

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

PAD, END = "<|endoftext|>", "<|im_end|>"
ROLES = ("<|system|>", "<|user|>", "<|assistant|>")  # each begins a message: one token a message, and no more
VISION_START, VISION_END, IMAGE, VIDEO = "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"
TEXT_SPECIALS = (PAD, END, *ROLES)
VISION_SPECIALS = (*TEXT_SPECIALS, VISION_START, VISION_END, IMAGE, VIDEO)

# Behind the phrases: a word has a capital at most at its beginning, so that "OG" in a grid row stays two symbols.
LAKE_ROW = rf"(?<![^\n])[_OGPX*]{{{LAKE_SIDE}}}(?:\n|(?![^\n]))"
PIECES = r" ?[A-Z]?[a-z]+| ?[0-9]|[A-Z]|\n|[^\sA-Za-z0-9]|\s"

TEMPLATE = (
    "{% for message in messages %}<|{{ message.role }}|>"
    "{% if message.content is string %}{{ message.content }}{% else %}{% for part in message.content %}"
    "{% if part.type == 'image' %}<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ part.text }}{% endif %}"
    "{% endfor %}{% endif %}{% if message.role == 'assistant' %}<|im_end|>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def build_tokenizer(specials: tuple[str, ...]) -> PreTrainedTokenizerFast:
    """One token a phrase, word, digit or symbol; bytes for the rest."""
    known = phrases()
    pattern = "|".join([LAKE_ROW, *(_escaped(phrase) for phrase in sorted(known, key=len, reverse=True)), PIECES])
    return assembled(specials, [*known, *lake_rows(), *words()], pattern)


def build_shop_tokenizer() -> PreTrainedTokenizerFast:
    """The same kind of tokenizer for the words of a shop."""
    return assembled(TEXT_SPECIALS, shop_vocabulary.tokens(), f"{shop_vocabulary.pattern()}|{PIECES}")


def assembled(specials: tuple[str, ...], texts: list[str], pattern: str) -> PreTrainedTokenizerFast:
    """A tokenizer that takes whole what `pattern` finds and `texts` holds; bytes for the rest."""
    try:
        from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers
        from transformers import PreTrainedTokenizerFast
    except ImportError as error:
        raise MissingExtra("transformers", "train") from error
    # A piece that is in the vocabulary is taken whole; without merges, any other is spelled in bytes.
    tokenizer = Tokenizer(models.BPE(vocab=_vocabulary(specials, texts), merges=[], ignore_merges=True))
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
        clean_up_tokenization_spaces=False,
        padding_side="left",
    )


def _vocabulary(specials: tuple[str, ...], texts: list[str]) -> dict[str, int]:
    spelled = [spell(text) for text in texts]
    return {token: index for index, token in enumerate(dict.fromkeys([*specials, *byte_letters(), *spelled]))}


def _escaped(phrase: str) -> str:
    return re.sub(r"([^A-Za-z0-9 <>/_\"':,;=!])", r"\\\1", phrase)


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
