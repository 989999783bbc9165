"""How many tokens a text has at most, without a tokenizer."""

from __future__ import annotations

import re

_PIECES = re.compile(r"[A-Za-z]+|[0-9]|\n|[^\sA-Za-z0-9]")


def token_bound(text: str) -> int:
    return sum(-(-len(piece) // 4) if piece.isascii() else len(piece.encode()) for piece in _PIECES.findall(text))
