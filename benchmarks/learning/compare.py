"""Comparisons in words and numbers: which label is above which, by how much, and whether that is more than chance."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agentrl.rollout.statistics import Interval, wilson_interval
from benchmarks.learning import paired as pairs

Results = dict[str, Any]
MODES = {"sampled": False, "greedy": True}


@dataclass(frozen=True)
class Pool:
    """Held-out success of one label: every seed as (wins, episodes)."""

    label: str
    seeds: tuple[tuple[int, int], ...]
    outcomes: tuple[tuple[int, str], ...] = ()  # the seed's number, and which of the levels were solved

    @property
    def wins(self) -> int:
        """Of all seeds."""
        return sum(wins for wins, _ in self.seeds)

    @property
    def episodes(self) -> int:
        """Of all seeds."""
        return sum(episodes for _, episodes in self.seeds)

    @property
    def rate(self) -> float:
        """Success over all episodes."""
        return self.wins / self.episodes

    @property
    def rates(self) -> list[float]:
        """Success of each seed."""
        return [wins / episodes for wins, episodes in self.seeds]

    @property
    def interval(self) -> Interval:
        """Wilson's, over all episodes."""
        return wilson_interval(self.wins, self.episodes) or (0.0, 1.0)


@dataclass(frozen=True)
class ScorePool:
    """The held-out score of one label: every seed as (mean, half the width of its interval)."""

    label: str
    seeds: tuple[tuple[float, float], ...]

    @property
    def rate(self) -> float:
        """The mean over seeds."""
        return pooled(self.seeds)[0]

    @property
    def rates(self) -> list[float]:
        """The mean of each seed."""
        return [mean for mean, _ in self.seeds]

    @property
    def interval(self) -> Interval:
        """Over the episodes of all seeds."""
        mean, margin = pooled(self.seeds)
        return mean - margin, mean + margin


AnyPool = Pool | ScorePool


def around(mean: float, interval: Interval) -> tuple[float, float]:
    """A mean, and half the width of the interval that it is the middle of."""
    return mean, (interval[1] - interval[0]) / 2


def pooled(seeds: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The mean over seeds, each of as many episodes as the others; independent errors add up by their squares."""
    count = len(seeds)
    return sum(mean for mean, _ in seeds) / count, math.sqrt(sum(margin**2 for _, margin in seeds)) / count


def pools(cells: Sequence[Results], mode: str, end: str = "end") -> dict[str, Pool]:
    """Success by label."""
    held = _by_label(cells, mode, end, lambda measured: (measured["wins"], measured["episodes"]))
    outcomes = {
        label: tuple(
            (cell["seed"], cell[end][mode].get("outcomes") or "") for cell in _measured(cells, mode, end, label)
        )
        for label in held
    }
    return {label: Pool(label, tuple(seeds), outcomes[label]) for label, seeds in held.items()}


def score_pools(cells: Sequence[Results], mode: str, end: str = "end") -> dict[str, ScorePool]:
    """The score (the environment's reward) by label."""

    def read(measured: Results) -> tuple[float, float] | None:
        return around(measured["reward_mean"], measured["reward_ci"]) if measured.get("reward_ci") else None

    held = _by_label(cells, mode, end, read)
    return {label: ScorePool(label, tuple(seeds)) for label, seeds in held.items()}


def _by_label(cells: Sequence[Results], mode: str, end: str, read: Callable[[Results], Any]) -> dict[str, list[Any]]:
    """Of cells that count. None is something that was not measured."""
    seeds: dict[str, list[Any]] = {}
    for cell in _measured(cells, mode, end):
        if (found := read(cell[end][mode])) is not None:
            seeds.setdefault(cell["label"], []).append(found)
    return seeds


def _measured(cells: Sequence[Results], mode: str, end: str, label: str | None = None) -> list[Results]:
    """Finished cells only: half-trained ones would be compared unfairly."""
    chosen = [cell for cell in cells if label in (None, cell["label"]) and not without_new_tasks(cell)]
    return [cell for cell in chosen if cell["finished"] and cell[end][mode] and cell[end][mode]["episodes"]]


def without_new_tasks(cell: Results) -> bool:
    """A curriculum was asked in every phase and never had a task: the run says nothing about what its label names."""
    asked = cell.get("new_tasks") or []
    return bool(asked) and not any(kept for _, kept, _ in asked)


def difference_interval(high: AnyPool, low: AnyPool) -> Interval:
    """Of the difference of two figures, from their intervals (Newcombe's square-and-add)."""
    first, second, gap = high.interval, low.interval, high.rate - low.rate
    below = math.hypot(high.rate - first[0], second[1] - low.rate)
    above = math.hypot(first[1] - high.rate, low.rate - second[0])
    return gap - below, gap + above


def compare(high: AnyPool, low: AnyPool) -> dict[str, Any]:
    """`high` is the one that is expected above.

    The verdict goes by the pairs where outcomes of the same levels are known, else by the two intervals.
    """
    gap, interval = high.rate - low.rate, difference_interval(high, low)
    disjoint = high.interval[0] > low.interval[1] or low.interval[0] > high.interval[1]
    found = pairs.paired(*(pairs.by_seed(getattr(pool, "outcomes", ())) for pool in (high, low)))
    return {
        "higher": high.label,
        "lower": low.label,
        "success": [high.rate, low.rate],
        "difference": gap,
        "interval": list(interval),
        "disjoint": disjoint,
        "paired": found,
        "seeds": seeds_say(high.rates, low.rates),
        "verdict": verdict(gap, disjoint) if found is None else pairs.verdict(found),
    }


def verdict(gap: float, disjoint: bool) -> str:
    """`holds` and `reversed` need intervals that do not touch."""
    if not disjoint:
        return "open"
    return "holds" if gap > 0 else "reversed"


def seeds_say(high: Sequence[float], low: Sequence[float]) -> str:
    """What the spread over seeds adds; the intervals know nothing of it."""
    if len(high) < 2 or len(low) < 2:
        return "one seed only"
    if min(high) > max(low):
        return "every seed of the one above every seed of the other"
    if max(high) < min(low):
        return "every seed of the one below every seed of the other"
    return "the seeds overlap"


CLAIMED = {  # by a paper
    "holds": "holds here",
    "reversed": "**did not reproduce**: the order is the other way round here",
    "open": "**cannot tell**: no difference beyond chance here",
}
HOPED = {  # of any training
    "holds": "yes",
    "reversed": "**no, below it**",
    "open": "no difference beyond chance",
}


def sentence(found: dict[str, Any]) -> str:
    """A paper's claim for a reader."""
    high, low = found["success"]
    low_end, high_end = found["interval"]
    touch = "disjoint" if found["disjoint"] else "not disjoint"
    unpaired = f"difference {found['difference']:+.3f} [{low_end:+.3f}, {high_end:+.3f}], intervals {touch}"
    pair = found.get("paired")
    alike = f"; advantages correlate {found['correlation']:.3f}" if "correlation" in found else ""
    if "clipped" in found:
        shares = ("none" if share is None else f"{share:.3f}" for share in found["clipped"])
        alike += f"; clipped {' and '.join(shares)} of the ratios"
    said = f"difference {pair['difference']:+.3f}, {pairs.summary(pair)}" if pair else unpaired
    return (
        f"{found['source']}: {found['higher']} above {found['lower']}: {CLAIMED[found['verdict']]}. "
        f"{high:.3f} against {low:.3f}, {said}; {found['seeds']}{alike}."
    )


def what(found: dict[str, Any]) -> str:
    """What was compared: `sampled`, or `sampled, score` where it is not success."""
    return ", ".join([found["mode"], *([found["measure"]] if "measure" in found else [])])


def gain_row(found: dict[str, Any]) -> tuple[str, ...]:
    """What RL added to a start, as a line of a table."""
    low_end, high_end = (found.get("paired") or found)["interval"]
    figures = f"{found['difference']:+.3f}", f"{low_end:+.3f} to {high_end:+.3f}"
    label = found["higher"].removesuffix(" after RL")
    return label, what(found), *figures, HOPED[found["verdict"]], found["seeds"]
