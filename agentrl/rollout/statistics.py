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


def effective_size(values: Sequence[float], tasks: Sequence[str | None]) -> float:
    """How many values of different tasks these are worth: plays of one task are alike, and so tell less (Kish's design
    effect). A value without a task stands alone; where all are of one task, they speak of that task and all count."""
    centre, apart = mean(values) or 0.0, dict[str | int, list[float]]()
    for place, (value, task) in enumerate(zip(values, tasks, strict=True)):
        apart.setdefault(place if task is None else task, []).append(value - centre)
    if len(apart) in (1, len(values)):
        return float(len(values))
    alone = math.fsum(value * value for held in apart.values() for value in held)
    together = math.fsum(math.fsum(held) ** 2 for held in apart.values())
    if not alone:  # all are equal: plays of a task may well always be
        return float(len(apart))
    return len(values) * min(1.0, alone / together) if together else float(len(values))


def share_interval(values: Sequence[bool], tasks: Sequence[str | None]) -> Interval | None:
    """Wilson's interval for the share of values that are True, plays of one task taken together."""
    size, count = effective_size(values, tasks), sum(values)
    return wilson_interval(count if size == len(values) else count / len(values) * size, size)


def wilson_interval(successes: float, trials: float, confidence: float = 0.95) -> Interval | None:
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


def mean_interval(
    values: Sequence[float], confidence: float = 0.95, tasks: Sequence[str | None] | None = None
) -> Interval | None:
    """Student's t interval for a mean, plays of one task taken together; None for fewer than two values, which say
    nothing about their spread."""
    n = len(values)
    if n < 2:
        return None
    centre = math.fsum(values) / n
    deviation = math.sqrt(math.fsum((value - centre) ** 2 for value in values) / (n - 1))
    size = n if tasks is None else effective_size(values, tasks)
    half = student_quantile(0.5 + confidence / 2, max(1, round(size) - 1)) * deviation / math.sqrt(size)
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
