"""Corpora of the search tests, and a source that other processes can make again."""

from __future__ import annotations

import random

GOODS = "shoe sandal lamp chair mask serum cable charger jacket dress kettle bottle tea cookie"
TRAITS = "red blue green soft long lasting wireless cotton gluten free easy clean small large men women"
WORDS = [*GOODS.split(), *TRAITS.split()]


def document(number: int, seed: int = 0, longest: int = 60) -> tuple[str, str]:
    """Id and title of a made-up article: frequent words, rare ones, or nothing at all."""
    dice = random.Random(seed << 32 | number)
    length = dice.choice((0, 1, 5, longest // 2, longest))
    chosen = [f"rare{dice.randrange(500)}" if dice.random() < 0.2 else dice.choice(WORDS) for _ in range(length)]
    return f"{dice.randrange(1 << 40):010X}-{number}", " ".join(chosen)


def note(number: int) -> str:
    """What is kept beside an article: of any length, none among them, and not only letters."""
    return f"n\u00f6te\n{number} " * (number % 7)


def random_documents(count: int, seed: int = 0, longest: int = 60) -> list[tuple[str, str]]:
    """The first so many of them."""
    return [document(number, seed, longest) for number in range(count)]


QUERIES = ("red shoes", "a long lasting lamp for women", "rare7 rare8 tea tea tea", "gluten free cookies", "chair")


class SourceOfGoods:
    """Short documents as a source; the one with the number `fails_at` raises."""

    def __init__(self, count: int, seed: int = 0, fails_at: int = -1) -> None:
        self.recipe = f"{__name__}:SourceOfGoods", {"count": count, "seed": seed, "fails_at": fails_at}
        self._count, self._seed, self._fails_at = count, seed, fails_at

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: int) -> tuple[str, str]:
        if number == self._fails_at:
            raise LookupError(f"document {number} is lost")
        return document(number, self._seed, longest=12)


class SmallCatalogue:
    """Goods with the methods of a catalogue."""

    def __init__(self, size: int) -> None:
        self._size = size

    def __len__(self) -> int:
        return self._size

    def entry(self, number: int) -> tuple[str, str, str]:
        return (*document(number), note(number))
