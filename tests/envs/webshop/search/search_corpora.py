"""Corpora of the search tests, and a source that other processes can make again."""

from __future__ import annotations

import random
import time
from typing import Any

NOUNS = "shoe sandal lamp chair mask serum cable charger jacket dress kettle bottle tea cookie".split()
WORDS = [*NOUNS, *"red blue green soft long lasting wireless cotton gluten free easy clean small large men women".split()]


def random_documents(count: int, seed: int = 0, longest: int = 60) -> list[tuple[str, str]]:
    """Titles of made-up goods; frequent words, rare ones, and some empty texts."""
    dice = random.Random(seed)
    documents = []
    for number in range(count):
        length = dice.choice((0, 1, 5, longest // 2, longest))
        chosen = [dice.choice(WORDS) if dice.random() < 0.8 else f"rare{dice.randrange(500)}" for _ in range(length)]
        documents.append((f"{dice.randrange(1 << 40):010X}-{number}", " ".join(chosen)))
    return documents


QUERIES = ("red shoes", "a long lasting lamp for women", "rare7 rare8 tea tea tea", "gluten free cookies", "chair")


class SourceOfGoods:
    """`random_documents` as a source; `delay` seconds of sleep for each document, `fails_at` a number that raises."""

    def __init__(self, count: int, seed: int = 0, delay: float = 0.0, fails_at: int = -1) -> None:
        self.recipe = (
            f"{__name__}:SourceOfGoods",
            {"count": count, "seed": seed, "delay": delay, "fails_at": fails_at},
        )
        self._documents, self._delay, self._fails_at = random_documents(count, seed), delay, fails_at

    def __len__(self) -> int:
        return len(self._documents)

    def __getitem__(self, number: int) -> Any:
        if number == self._fails_at:
            raise LookupError(f"document {number} is lost")
        time.sleep(self._delay)
        return self._documents[number]
