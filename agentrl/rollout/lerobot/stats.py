"""The statistics of a LeRobotDataset: what lerobot's policies normalise by, as lerobot defines it.

Each episode has its own; those of the whole are combined from them, weighted by their frames, quantiles too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

QUANTILES = {"q01": 0.01, "q10": 0.1, "q50": 0.5, "q90": 0.9, "q99": 0.99}
Stats = dict[str, np.ndarray]


def vector_stats(values: np.ndarray) -> Stats:
    """Of numbers [frames, n]: each statistic has n numbers, `count` one."""
    exact = values.astype(np.float64)
    found = {"min": exact.min(0), "max": exact.max(0), "mean": exact.mean(0), "std": exact.std(0)}
    quantiles = np.quantile(exact, list(QUANTILES.values()), axis=0, method="inverted_cdf")
    return {**found, "count": np.array([len(exact)]), **dict(zip(QUANTILES, quantiles, strict=True))}


def picture_stats(pictures: np.ndarray) -> Stats:
    """Of pictures [frames, height, width, 3]: by channel and from 0 to 1, each [3, 1, 1]. All pixels count."""
    counts = np.stack([np.bincount(pictures[..., channel].ravel(), minlength=256) for channel in range(3)])
    total, levels = counts.sum(1), np.arange(256) / 255
    mean = counts @ levels / total
    reached = np.cumsum(counts, axis=1)
    shown = [np.flatnonzero(row) for row in counts]
    found = {
        "min": np.array([levels[row[0]] for row in shown]),
        "max": np.array([levels[row[-1]] for row in shown]),
        "mean": mean,
        "std": np.sqrt((counts * (levels - mean[:, None]) ** 2).sum(1) / total),
    }
    found |= {name: levels[(reached >= share * total[:, None]).argmax(1)] for name, share in QUANTILES.items()}
    return {**{name: value.reshape(3, 1, 1) for name, value in found.items()}, "count": np.array([len(pictures)])}


def combined(episodes: Sequence[Stats]) -> Stats:
    """Of one feature over all episodes."""
    counts = np.array([one["count"][0] for one in episodes], np.float64)
    weights = counts / counts.sum()

    def weighted(values: np.ndarray) -> np.ndarray:
        return np.tensordot(weights, values, axes=1)

    stacked = {name: np.stack([one[name] for one in episodes]) for name in episodes[0]}
    mean = weighted(stacked["mean"])
    return {
        "min": stacked["min"].min(0),
        "max": stacked["max"].max(0),
        "mean": mean,
        "std": np.sqrt(weighted(stacked["std"] ** 2 + (stacked["mean"] - mean) ** 2)),
        "count": np.array([int(counts.sum())]),
        **{name: weighted(stacked[name]) for name in QUANTILES},
    }
