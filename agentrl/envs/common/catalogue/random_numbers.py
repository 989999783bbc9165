"""Random numbers without state: every number of the catalogue comes from hashing (seed, kind, index)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from hashlib import blake2b
from statistics import NormalDist
from struct import Struct
from typing import TypeVar

T = TypeVar("T")
RandomNumbers = tuple[int, ...]
_SIXTEEN_BIT_NUMBERS = Struct(">32H")


def random_numbers(seed: int, kind: bytes, index: int) -> RandomNumbers:
    """Thirty-two numbers below 65,536: one hash serves a whole product, which is what makes products cheap."""
    return _SIXTEEN_BIT_NUMBERS.unpack(blake2b(b"%d|%b|%d" % (seed, kind, index)).digest())


def pick(choices: Sequence[T], number: int) -> T:
    """One of `choices`, all equally likely."""
    return choices[number * len(choices) >> 16]


@cache
def strides(length: int) -> tuple[int, ...]:
    """Steps that visit every place of a ring of this length: sampling without repetition costs one addition each."""
    return tuple(step for step in range(1, length) if math.gcd(step, length) == 1) or (1,)


def sample(choices: Sequence[T], count: int, start: int, stride: int) -> list[T]:
    """`count` different ones of `choices` (all, if there are fewer), chosen by two random numbers."""
    length = len(choices)
    first, step = start * length >> 16, pick(strides(length), stride)
    return [choices[(first + step * k) % length] for k in range(min(count, length))]


def log_normal_table(
    median: float, sigma: float, low: float, high: float, upper_sigma: float | None = None
) -> tuple[float, ...]:
    """The quantiles of a log-normal distribution cut to [low, high], with a spread of its own above the median."""
    bell = NormalDist()
    scores = (bell.inv_cdf((k + 0.5) / 256) for k in range(256))
    values = (median * math.exp(z * (upper_sigma or sigma if z > 0 else sigma)) for z in scores)
    return tuple(min(high, max(low, value)) for value in values)
