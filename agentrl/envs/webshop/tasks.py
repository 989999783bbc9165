"""The goals of a split as tasks: their ids, and an order in which all of them come up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


class GoalIds(Sequence[str]):
    """ "test-0", "test-1" ...: made when somebody looks."""

    def __init__(self, split: str, count: int) -> None:
        self._split, self._numbers = split, range(count)

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: Any) -> Any:
        found = self._numbers[index]
        return f"{self._split}-{found}" if isinstance(found, int) else [f"{self._split}-{number}" for number in found]

    def __repr__(self) -> str:
        return f"{self._split}-0 to {self._split}-{len(self) - 1}"


def stride(draw: int, count: int) -> int:
    """A step that visits every one of `count` goals before any comes back."""
    step = draw % count or 1
    while math.gcd(step, count) != 1:
        step += 1
    return step
