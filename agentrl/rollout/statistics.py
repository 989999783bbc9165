"""Confidence intervals as pure functions. No sample, no number: they answer None instead of inventing one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

Interval = tuple[float, float]


def mean(values: Sequence[float]) -> float | None:
    """The arithmetic mean."""
    return math.fsum(values) / len(values) if values else None


def normal_quantile(probability: float) -> float:
    """Where the standard normal distribution reaches this probability."""
    return NormalDist().inv_cdf(probability)


def wilson_interval(successes: int, trials: int, confidence: float = 0.95) -> Interval | None:
    """Wilson's score interval for a proportion: honest at 0 and 1 and for few trials, unlike the textbook one."""
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes in {trials} trials make no sense")
    if trials == 0:
        return None
    z = normal_quantile(0.5 + confidence / 2)
    rate, spread = successes / trials, z * z / trials
    centre = (rate + spread / 2) / (1 + spread)
    half = z * math.sqrt(rate * (1 - rate) / trials + spread / (4 * trials)) / (1 + spread)
    # At the ends the formula gives exactly 0 and 1; rounding must not push the rate out of its own interval.
    return (0.0 if successes == 0 else centre - half, 1.0 if successes == trials else centre + half)


def mean_interval(values: Sequence[float], confidence: float = 0.95) -> Interval | None:
    """Student's t interval for a mean; None for fewer than two values, which say nothing about their spread."""
    n = len(values)
    if n < 2:
        return None
    centre = math.fsum(values) / n
    deviation = math.sqrt(math.fsum((value - centre) ** 2 for value in values) / (n - 1))
    half = student_quantile(0.5 + confidence / 2, n - 1) * deviation / math.sqrt(n)
    return centre - half, centre + half


def student_quantile(probability: float, freedom: int) -> float:
    """Where Student's t distribution with `freedom` degrees of freedom reaches this probability."""
    if freedom < 1 or not 0 < probability < 1:
        raise ValueError(f"no quantile for probability {probability} and {freedom} degrees of freedom")
    if probability < 0.5:
        return -student_quantile(1 - probability, freedom)
    if freedom > 200:
        # Cornish and Fisher's series in 1 / freedom around the normal quantile; exact to 1e-9 beyond 200.
        z = normal_quantile(probability)
        first = (z**3 + z) / 4
        second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
        third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
        return z + first / freedom + second / freedom**2 + third / freedom**3
    low, high = 0.0, 1.0
    while student_cdf(high, freedom) < probability:
        low, high = high, 2 * high
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if student_cdf(middle, freedom) < probability else (low, middle)
    return (low + high) / 2


def student_cdf(t: float, freedom: int) -> float:
    """Probability below `t`, by the finite series that exists for whole degrees of freedom."""
    angle = math.atan2(t, math.sqrt(freedom))
    cosine = math.cos(angle)
    odd = freedom % 2
    term = total = (cosine if odd else 1.0) if freedom > 1 else 0.0
    for k in range(2 + odd, freedom - 1, 2):
        term *= (k - 1) / k * cosine * cosine
        total += term
    central = 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total
    return 0.5 + central / 2
