"""What an episode brought and took: score, turns and reply tokens of every label, all seeds together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agentrl.rollout.statistics import Interval

Measured = tuple[float, float]  # a mean, and half the width of its interval
HEAD = ("label", "actions", "score", "95 % interval", "turns", "95 % interval", "reply tokens", "95 % interval")


def effort_rows(cells: Sequence[Mapping[str, Any]], modes: Iterable[str]) -> list[tuple[str, ...]]:
    """A row for each label and mode, with the imitation that all began with first; none where nothing was counted."""
    finished = [cell for cell in cells if cell["finished"]]
    labels = list(dict.fromkeys(cell["label"] for cell in finished))
    shared = len({str(cell["stages"][:-1]) for cell in finished}) == 1
    rows = []
    for mode in modes:
        if shared:  # one model, measured again at the beginning of each run: one measurement, not several
            rows.append(_row("imitation", mode, [finished[0]["start"][mode]]))
        for label in labels:
            rows.append(_row(label, mode, [cell["end"][mode] for cell in finished if cell["label"] == label]))
    return [row for row in rows if row]


def _row(label: str, mode: str, ends: Sequence[Mapping[str, Any] | None]) -> tuple[str, ...]:
    """Nothing where reply tokens were not counted."""
    held = [end for end in ends if end and end.get("response_tokens") is not None]
    if not held or len(held) < len(ends):
        return ()
    score = pooled([around(end["reward_mean"], end["reward_ci"]) for end in held])
    turns = pooled([(end["turns_mean"], end["turns_margin"]) for end in held])
    tokens = pooled([(end["response_tokens"], end["response_tokens_margin"]) for end in held])
    return (label, mode, *_shown(score, 3), *_shown(turns, 2), *_shown(tokens, 1))


def around(mean: float, interval: Interval) -> Measured:
    """A mean in the middle of its interval."""
    return mean, (interval[1] - interval[0]) / 2


def pooled(seeds: Sequence[Measured]) -> Measured:
    """The mean over seeds, each of as many episodes as the others; independent errors add up by their squares."""
    count = len(seeds)
    return sum(mean for mean, _ in seeds) / count, math.sqrt(sum(margin**2 for _, margin in seeds)) / count


def _shown(measured: Measured, places: int) -> tuple[str, str]:
    mean, margin = measured
    return f"{mean:.{places}f}", f"{mean - margin:.{places}f} to {mean + margin:.{places}f}"
