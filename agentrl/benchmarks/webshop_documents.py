"""Made-up documents for the search benchmark, with the lengths of WebShop's and the word frequencies of language.

Only the standard library here: the peers' script, which runs in another virtual environment, uses this file too.
"""

from __future__ import annotations

import math
import random
from functools import cached_property
from typing import Any

MEDIAN_WORDS, SPREAD = 88, 0.79  # log-normal: mean 120, 95th percentile 322
LONGEST = 2000
VOCABULARY = 30_000
STOP_SHARE = 0.3
CONSONANTS, RESTS = "bcdfghjklmnprstvwz", "a e i o u an er il on ur"
ENDINGS = ("", "", "", "s", "ing", "ed", "er", "ness", "able", "ly", "ation")
STOPS = ("the", "and", "with", "for", "of", "to", "a", "in", "is", "this")
INSTRUCTIONS = (
    "i need a {}, and price lower than {}.00 dollars",
    "i am looking for {}, and price lower than {}.00 dollars",
    "find me {} with a price lower than {}.00 dollars",
)


class MadeUpDocuments:
    """Document i depends on the seed and i alone."""

    def __init__(self, count: int, seed: int = 0) -> None:
        self.count, self.seed = count, seed

    @property
    def recipe(self) -> tuple[str, dict[str, Any]]:
        """How another process makes these documents again."""
        return f"{__name__}:MadeUpDocuments", {"count": self.count, "seed": self.seed}

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> tuple[str, str]:
        """An id whose order is not that of the numbers, and words with commas and full stops among them."""
        if not 0 <= number < self.count:
            raise IndexError(number)
        dice = random.Random(self.seed << 40 | number)
        length = min(LONGEST, max(1, int(MEDIAN_WORDS * math.exp(dice.gauss(0, SPREAD)))))
        words = dice.choices(self._words, cum_weights=self._weights, k=length)
        sentences = [" ".join(words[at : at + 9]) for at in range(0, length, 9)]
        return f"B{number * 2654435761 % (1 << 32):010X}", ", ".join(sentences) + "."

    def queries(self, count: int) -> list[str]:
        """Instructions that name three to eight words of some document."""
        dice = random.Random(self.seed + 1)
        made = []
        for _ in range(count):
            words = self[dice.randrange(self.count)][1].replace(",", "").strip(".").split()
            wanted = " ".join(dice.sample(words, min(len(words), dice.randint(3, 8))))
            made.append(dice.choice(INSTRUCTIONS).format(wanted, dice.randrange(10, 200, 10)))
        return made

    @cached_property
    def _words(self) -> list[str]:
        dice = random.Random(self.seed)
        syllables = [consonant + rest for consonant in CONSONANTS for rest in RESTS.split()]
        stems = ["".join(dice.choices(syllables, k=dice.choice((1, 2, 2, 3)))) for _ in range(VOCABULARY)]
        return [*STOPS, *dict.fromkeys(stem + dice.choice(ENDINGS) for stem in stems)]

    @cached_property
    def _weights(self) -> list[float]:
        shares = [1 / (rank + 10) for rank in range(len(self._words) - len(STOPS))]
        scale = (1 - STOP_SHARE) / sum(shares)
        weights = [STOP_SHARE / len(STOPS)] * len(STOPS) + [share * scale for share in shares]
        total = 0.0
        return [total := total + weight for weight in weights]
