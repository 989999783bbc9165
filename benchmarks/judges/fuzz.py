"""Hostile texts: what no agent should write and every judge must survive."""

from __future__ import annotations

import random
from collections.abc import Iterator

from agentrl.core.claims import Relations
from agentrl.judges.grammar.vocabulary import build

_UNICODE = "áßΩж中文العربية🙂🧊\u200b\u202e\u0000\ud7ff\uffff\u0301ﬁİ½²Ⅷ"
_MARKS = "{}[]()<>\"'`.,;:!?=->#*_|/\\\n\t 0123456789"
_NOTATION = [
    "{",
    "}",
    "[",
    "]",
    "(2, 3)",
    "[1,",
    "player_position:",
    '"box_positions"',
    "[[",
    "]]",
    "P",
    "X",
    "O",
    "G",
    "\n",
    "#",
    "_",
]


def random_texts(count: int, relations: Relations | None = None, seed: int = 0) -> Iterator[str]:
    """Random strings: Unicode, words of the grammar (with the declared nouns) in any order, nested brackets, broken
    notation, huge ones."""
    rng = random.Random(seed)
    words = [word.replace("_", " ") for word in build(relations)]
    makers = (_characters, _symbols, _nested, lambda r: _words(r, words), lambda r: _words(r, words + _NOTATION * 20))
    for index in range(count):
        yield _huge(rng, words) if index % 500 == 499 else makers[index % len(makers)](rng)


def _characters(rng: random.Random) -> str:
    return "".join(
        rng.choice(_UNICODE) if rng.random() < 0.3 else chr(rng.randrange(32, 0x2FFF))
        for _ in range(rng.randrange(200))
    )


def _symbols(rng: random.Random) -> str:
    return "".join(rng.choice(_MARKS + "POXG*S" * 3) for _ in range(rng.randrange(300)))


def _nested(rng: random.Random) -> str:
    depth = rng.randrange(1, 400)
    return rng.choice("{[(<") * depth + "player 1, 2" + rng.choice("}])>") * rng.randrange(depth + 1)


def _words(rng: random.Random, words: list[str]) -> str:
    return rng.choice((" ", " ", ", ", ". ")).join(rng.choice(words) for _ in range(rng.randrange(60)))


def _huge(rng: random.Random, words: list[str]) -> str:
    unit = rng.choice(
        (_words(rng, words), "{", "the ", "left and ", "one ", "(1, 2)", "#_P_#\n", "the player's ", "a box and ")
    )
    return (unit or "x") * (200_000 // max(1, len(unit)))
