"""What is to be bought: the instruction an agent reads and the terms it is rewarded by."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np

from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.envs.common.catalogue.product import fraction_for

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = ("train", "dev", "test")
LIMITS = range(10, 1000, 10)
NO_LIMIT = 1_000_000.0
# The larger of two different picks among four limits is the second, third or fourth with these chances (in sixths).
_LARGER_OF_TWO = {4: (1, 2, 2, 3, 3, 3), 3: (1, 2, 2), 2: (1,)}


@dataclass(frozen=True, slots=True)
class Goal:
    """One goal. An option is a value ("navy"), or a (name, value) pair in the benchmark's synthetic goals."""

    id: str
    asin: str  # the product the goal was written for; others may satisfy it too
    instruction: str
    query: str
    title: str
    category: str
    category_path: str
    attributes: tuple[str, ...]
    options: tuple[str | tuple[str, str], ...]
    price_upper: float
    weight: float = 1.0
    difficulty: str = ""
    family: str = ""  # goals of one family never stand in two splits
    reference_query: str = ""  # a search that is known to show the product among its hits


def price_limit(price: float, seed: int, asin: str) -> float:
    """The larger of two of the next four multiples of ten above `price`; `NO_LIMIT` where fewer than two remain.

    The benchmark draws the two before it seeds its generator, so that its limits differ between processes. Here
    (seed, asin) decides: one limit per product, always the same, with the benchmark's chances.
    """
    first = max(0, int(price // 10))  # LIMITS[first] is the lowest limit strictly above the price
    while first < len(LIMITS) and LIMITS[first] <= price:
        first += 1
    above = LIMITS[first : first + 4]
    if len(above) < 2:
        return NO_LIMIT
    chances = _LARGER_OF_TWO[len(above)]
    return float(above[chances[int(len(chances) * fraction_for("limit", seed, asin))]])


def price_clause(limit: float) -> str:
    """The end of an instruction that states the limit; nothing where there is none."""
    return "" if limit >= NO_LIMIT else f", and price lower than {limit:.2f} dollars"


def known_split(split: str) -> Split:
    """`split` itself, or a `ConfigError` that names the three there are."""
    for known in SPLITS:
        if split == known:
            return known
    raise ConfigError(f"split must be one of {', '.join(SPLITS)}; got {split!r}.{did_you_mean(str(split), SPLITS)}")


def split_sizes(goals: int) -> dict[Split, int]:
    """How many of `goals` fall to each split: the benchmark's 500 and 1,000, or a sixth each where goals are few."""
    test = min(500, goals // 6)
    dev = min(1000, goals // 6)
    return {"train": goals - dev - test, "dev": dev, "test": test}


class Goals(Sequence[Goal]):
    """The goals of one split. A kind of goals says how many there are and makes one at a time."""

    split: Split

    @abstractmethod
    def goal(self, place: int) -> Goal:
        """The goal at a place that exists."""

    def varied(self, place: int, wish: str) -> Goal | None:
        """The product of a goal with another wish; None where these goals have none, or not this one."""
        return None

    @abstractmethod
    def weights(self) -> np.ndarray:
        """How likely each goal is when goals are drawn by weight, relative to the others."""

    @overload
    def __getitem__(self, index: int) -> Goal: ...
    @overload
    def __getitem__(self, index: slice) -> list[Goal]: ...
    def __getitem__(self, index: int | slice) -> Goal | list[Goal]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f"goal {index} of {len(self)} in {self.split}")
        return self.goal(place)


class GoalIds(Sequence[str]):
    """ "test-0", "test-1" ...: made when they are looked at."""

    def __init__(self, split: str, count: int) -> None:
        self._split, self._numbers = split, range(count)

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: Any) -> Any:
        found = self._numbers[index]
        return f"{self._split}-{found}" if isinstance(found, int) else [f"{self._split}-{number}" for number in found]

    def __repr__(self) -> str:
        return f"{self._split}-0 to {self._split}-{len(self) - 1}"
