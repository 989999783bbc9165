"""What the demo promises, and how far several runs of it keep away from the limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

from agentrl.rollout.evaluate import Evaluation

LEAST_ROOM = 2.0  # between the mean of the runs and a limit, in standard deviations of the runs


@dataclass(frozen=True)
class Moment:
    """The policy at one time: held-out success, sampled and greedy."""

    name: str
    sampled: Evaluation
    greedy: Evaluation

    def success(self, mode: str) -> float:
        """Of sampled or greedy play; 0 where it is not known."""
        return getattr(self, mode).success or 0.0


@dataclass(frozen=True)
class Promise:
    """A figure of a run and its limit; `figure` gets the moments before and after reinforcement learning."""

    text: str
    limit: float
    figure: Callable[[Moment, Moment], float]
    below: bool = False  # else at least

    def room(self, value: float) -> float:
        """How far a value is from the limit, on the right side of it."""
        return self.limit - value if self.below else value - self.limit

    def kept(self, value: float) -> bool:
        """Is a value on the right side?"""
        return self.room(value) > 0 or (self.room(value) == 0 and not self.below)


def _promises(mode: str, weak: float, gain: float, good: float) -> tuple[Promise, ...]:
    return (
        Promise(f"{mode} success after imitation: below {weak}", weak, lambda before, _: before.success(mode), True),
        Promise(
            f"{mode} success gained by reinforcement learning: {gain} or more",
            gain,
            lambda before, after: after.success(mode) - before.success(mode),
        ),
        Promise(f"{mode} success at the end: {good} or more", good, lambda _, after: after.success(mode)),
    )


PROMISES = (
    *_promises("sampled", weak=0.6, gain=0.1, good=0.6),
    *_promises("greedy", weak=0.5, gain=0.25, good=0.65),
)


@dataclass(frozen=True)
class Check:
    """One thing that the demo promises, in one run."""

    text: str
    value: float
    passed: bool


def checked(found: Sequence[Moment]) -> list[Check]:
    """The promises with the figures of a run."""
    values = [promise.figure(*found[-2:]) for promise in PROMISES]
    return [Check(promise.text, value, promise.kept(value)) for promise, value in zip(PROMISES, values, strict=True)]


# ---------------------------------------------------------------------- several runs


@dataclass(frozen=True)
class Repeated:
    """A promise over several runs. `room` counts the standard deviations of the runs between their mean and the limit;
    None where all runs are equal."""

    text: str
    values: list[float]
    mean: float
    spread: float
    room: float | None
    passed: bool

    def cells(self) -> list[str]:
        """A row of a table, without the verdict."""
        room = "-" if self.room is None else f"{self.room:.1f}"
        return [self.text, *(f"{value:.3f}" for value in self.values), f"{self.mean:.3f}", f"{self.spread:.3f}", room]


def repeated(runs: Sequence[Sequence[Check]]) -> list[Repeated]:
    """Each promise over all runs: kept in every one, with a margin of twice their spread."""
    return [_over_runs(promise, [checks[n].value for checks in runs]) for n, promise in enumerate(PROMISES)]


def _over_runs(promise: Promise, values: list[float]) -> Repeated:
    middle, spread = mean(values), stdev(values)
    room = promise.room(middle) / spread if spread else None
    far = promise.room(middle) >= LEAST_ROOM * spread
    return Repeated(promise.text, values, middle, spread, room, far and all(map(promise.kept, values)))


def columns(seeds: Sequence[int]) -> list[str]:
    """The head of the table."""
    return ["what the demo promises", *(f"seed {seed}" for seed in seeds), "mean", "spread", "margin / spread"]


def markdown(found: Sequence[Repeated], seeds: Sequence[int], minutes: Sequence[float], about: dict[str, Any]) -> str:
    """The runs as a page."""
    head = columns(seeds)
    lines = [head, ["---"] * len(head), *(row.cells() for row in found)]
    lines.append(["minutes", *(f"{value:.1f}" for value in minutes), f"{mean(minutes):.1f}", "", ""])
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    facts = ", ".join(f"{name} {value}" for name, value in about.items())
    return (
        "# The demo, several times\n\n"
        f"`agentrl demo --runs {len(seeds)} --seed {seeds[0]}` ({facts}). Success is that on unseen levels; spread is "
        "the standard deviation of the runs, and the last column says how many spreads lie between their mean and the "
        f"limit of the promise (at least {LEAST_ROOM:g} are wanted).\n\n{table}\n"
    )
