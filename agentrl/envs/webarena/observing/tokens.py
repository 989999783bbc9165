"""How many SmolLM2 tokens a text has at most, without its tokenizer: an estimate that may be low for a word but not for
a page, and a tenth too high for most pages. The tests compare it with the tokenizer."""

from __future__ import annotations

import math
import re
import tomllib
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise

# A number has a token for each digit, and one for the space before it; signs have at most as many as bytes in UTF-8.
_PIECES = re.compile(r" ?[A-Za-z]+|\.{3}| (?=[^ -~])| (?=[0-9])|[^ A-Za-z]")
# The hundred most frequent pairs of letters in English: words made of other pairs fall apart into more tokens.
_PAIRS = frozenset(
    re.findall(
        "..",
        "erteorstitinthedatesdereanonarhemaentarafondniadnengsecounleelomvealrorilaeaetchhahoceasiltometrntoo"
        "ouicloisaiaceeothilirdcktibeecwillmopawacapersshfisikebaryayweutprnoavdamitsurolvissusrtghgefaigieboam",
    )
)
_MAX_KEPT = 30


def token_bound(text: str) -> int:
    """The estimate for a text."""
    total = 0.0
    for piece in _PIECES.findall(text):
        if piece.isascii():
            total += _kept_cost(piece) if len(piece) <= _MAX_KEPT else _word_cost(piece)
        else:
            total += len(piece.encode("utf-8", "replace"))
    return math.ceil(total)


def _word_cost(piece: str) -> float:
    word = piece[1:] if piece[0] == " " else piece
    size = len(word)
    if size <= 1 or piece in _one_token_pieces():
        return 1
    if not word[1:].islower():  # capitals seldom stand together in a token
        return max(1, 0.8 * size)
    split = 0 if piece[0] == " " or word.islower() else 0.7  # "Paid" at the start of a line is "P" and "aid"
    rare = sum(pair not in _PAIRS for pair in map("".join, pairwise(word.lower())))
    if 2 * rare < size:
        return 1.15 + 0.2 * max(0, size - 4) + 0.3 * rare + split
    return 1.2 * (1 + 0.15 * max(0, size - 4) + 0.5 * rare) + split


_kept_cost = lru_cache(maxsize=16_384)(_word_cost)  # pages are made of the same words


@cache
def _one_token_pieces() -> frozenset[str]:
    text = files("agentrl.envs.webarena.observing").joinpath("one_token_words.toml").read_text("utf-8")
    lists = tomllib.loads(text)
    return frozenset([*(f" {word}" for word in lists["behind_space"].split()), *lists["elsewhere"].split()])
