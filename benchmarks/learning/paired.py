"""Two policies on the same levels: which of them solved what the other did not, and whether that is more than chance.

Outcomes are strings with a character for each level, as `Evaluation.outcomes`: 1 solved, 0 not, - for a fault. Levels
differ far more from each other than policies do, so pairs tell small differences that two proportions leave open.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from agentrl.rollout.statistics import Interval

RESAMPLES = 4000
LEVEL = 0.05  # of both tests together: a verdict needs McNemar's p below it and a 95 % interval without 0


def paired(high: Mapping[int, str], low: Mapping[int, str]) -> dict[str, Any] | None:
    """Outcomes by seed of training, compared seed by seed and level by level; None where no seed has pairs."""
    seeds = [seed for seed in high if seed in low and len(high[seed]) == len(low[seed]) > 0]
    length = len(high[seeds[0]]) if seeds else 0
    pairs = [(high[seed], low[seed]) for seed in seeds if len(high[seed]) == length]
    if not pairs:
        return None
    value = {"1": 1.0, "0": 0.0, "-": math.nan}  # a fault in either of the two is no pair
    solved = np.array([[[value[mark] for mark in outcomes] for outcomes in both] for both in pairs])
    differences = solved[:, 0] - solved[:, 1]
    if np.isnan(differences).all():
        return None
    first, second = int((differences == 1).sum()), int((differences == -1).sum())
    return {
        "seeds": len(pairs),
        "levels": length,
        "pairs": int((~np.isnan(differences)).sum()),
        "only_higher": first,
        "only_lower": second,
        "p": mcnemar(first, second),
        "difference": float(np.nanmean(differences)),
        "interval": list(bootstrap_interval(differences)),
    }


def mcnemar(first: int, second: int) -> float:
    """McNemar's exact test, two-sided: how likely a split of the discordant pairs at least this uneven is by chance."""
    count, least = first + second, min(first, second)
    tail = sum(math.comb(count, k) for k in range(least + 1))
    return min(1.0, tail / 2 ** (count - 1)) if count else 1.0


def bootstrap_interval(differences: np.ndarray, confidence: float = 0.95, resamples: int = RESAMPLES) -> Interval:
    """Percentiles of the mean of `[seeds, levels]` (nan: no pair) when seeds and levels are both drawn anew.

    A level is drawn for all seeds together, as it is the same level, and a seed with all of its levels. With few seeds
    this still says too little about other seeds; with one it says nothing about them.
    """
    rng = np.random.default_rng(0)
    known = ~np.isnan(differences)
    # How often each seed and each level is drawn in each resample.
    by_seed, by_level = (
        rng.multinomial(size, np.full(size, 1 / size), size=resamples).astype(float) for size in differences.shape
    )
    sums = ((by_seed @ np.where(known, differences, 0.0)) * by_level).sum(1)
    counts = ((by_seed @ known.astype(float)) * by_level).sum(1)
    means = sums[counts > 0] / counts[counts > 0]
    low, high = np.quantile(means, [0.5 - confidence / 2, 0.5 + confidence / 2])
    return float(low), float(high)


def verdict(found: Mapping[str, Any]) -> str:
    """`holds` and `reversed` need both tests."""
    low, high = found["interval"]
    if found["p"] >= LEVEL or low <= 0 <= high:
        return "open"
    return "holds" if low > 0 else "reversed"


def summary(found: Mapping[str, Any]) -> str:
    """For a reader."""
    low, high = found["interval"]
    p = f"{found['p']:.3f}" if found["p"] >= 0.001 else f"{found['p']:.0e}"
    return (
        f"paired on {found['levels']} levels and {found['seeds']} seed(s): {found['only_higher']} solved by the first "
        f"alone and {found['only_lower']} by the second alone, McNemar's p {p}, paired bootstrap "
        f"{low:+.3f} to {high:+.3f}"
    )


def by_seed(seeds: Sequence[tuple[int, str]]) -> dict[int, str]:
    """Those whose outcomes were recorded."""
    return {seed: outcomes for seed, outcomes in seeds if outcomes}
