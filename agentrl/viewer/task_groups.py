"""Success by what tasks are like: their group, the actions they take, how much they ask for; and why episodes fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from agentrl.rollout.error_types import ERROR_TYPES, EpisodeFacts, from_columns
from agentrl.rollout.statistics import Interval, wilson_interval
from agentrl.viewer.eval_report import short_name
from agentrl.viewer.run_data import RunData

MAX_BINS = 5
Episodes = Sequence[EpisodeFacts]


@dataclass(frozen=True)
class Share:
    """So many of so many."""

    part: int
    of: int

    @property
    def rate(self) -> float:
        """As a fraction; of nothing it is 0."""
        return self.part / self.of if self.of else 0.0

    @property
    def interval(self) -> Interval | None:
        """Wilson's 95 % interval."""
        return wilson_interval(self.part, self.of)


@dataclass(frozen=True)
class Bin:
    """Tasks whose number lies between two bounds."""

    low: int
    high: int

    def __contains__(self, value: int | None) -> bool:
        return value is not None and self.low <= value <= self.high

    @property
    def label(self) -> str:
        """ "3" or "4 to 6"."""
        return str(self.low) if self.low == self.high else f"{self.low} to {self.high}"


def bins(values: Iterable[int | None], most: int = MAX_BINS) -> list[Bin]:
    """A bin for each number where they are few; else at most `most` with about as many tasks in each."""
    known = sorted(value for value in values if value is not None)
    distinct = sorted(set(known))
    if len(distinct) <= most:
        return [Bin(value, value) for value in distinct]
    edges = sorted({known[place * len(known) // most] for place in range(most)} | {distinct[0]})
    return [Bin(low, above - 1) for low, above in zip(edges, [*edges[1:], distinct[-1] + 1], strict=True)]


def success(episodes: Episodes) -> Share:
    """Of all of them."""
    return Share(sum(one.success for one in episodes), len(episodes))


def success_by_group(episodes: Episodes) -> dict[str, Share]:
    """By the group that their environment tells, the largest first."""
    names: dict[str, list[EpisodeFacts]] = {}
    for one in episodes:
        if one.group is not None:
            names.setdefault(one.group, []).append(one)
    return {name: success(held) for name, held in sorted(names.items(), key=lambda pair: (-len(pair[1]), pair[0]))}


def success_in(episodes: Episodes, found: Bin, number: Callable[[EpisodeFacts], int | None]) -> Share:
    """Of those whose number lies in a bin."""
    return success([one for one in episodes if number(one) in found])


def error_shares(episodes: Episodes) -> dict[str, Share]:
    """How many of all episodes failed in which way, by the names people read."""
    kinds = [one.error for one in episodes]
    return {label: Share(kinds.count(name), len(kinds)) for name, label in ERROR_TYPES.items()}


# ---------------------------------------------------------------------- out of a run's evaluations


@dataclass(frozen=True)
class Measured:
    """One evaluation; None stands for an episode that a fault ended. The same place is the same task every time."""

    iteration: float
    places: tuple[EpisodeFacts | None, ...]

    @property
    def episodes(self) -> list[EpisodeFacts]:
        """Those that were scored."""
        return [one for one in self.places if one is not None]


def measured(run: RunData) -> tuple[str, list[Measured]]:
    """How answers were chosen ("greedy" where there is a choice), and the run's evaluations in that way that tell what
    their tasks are like. Several environments of one iteration count together."""
    known = [line for line in run.evals if from_columns(line.get("by_task"))]
    greedy = any(line.get("greedy") for line in known)
    chosen = [line for line in known if bool(line.get("greedy")) == greedy]
    several = len({line.get("env_id") for line in chosen}) > 1
    held: dict[float, list[EpisodeFacts | None]] = {}
    for line in chosen:
        found = from_columns(line["by_task"])
        if several:
            name = short_name(str(line.get("env_id")))
            found = [one and replace(one, group=f"{name} {one.group or ''}".strip()) for one in found]
        held.setdefault(line["iteration"], []).extend(found)
    return "greedy" if greedy else "sampled", [Measured(at, tuple(rows)) for at, rows in sorted(held.items())]


def with_steps(tables: Sequence[Sequence[EpisodeFacts | None]]) -> tuple[list[list[EpisodeFacts | None]], bool]:
    """The tables with the actions that each task takes, and whether these had to be estimated.

    Environments without an oracle do not tell them. Then it is the fewest turns in which the task was ever solved in
    any of the tables, which must be of the same tasks; tasks that were never solved have none, as in WebRL's paper.
    """
    rows = [list(table) for table in tables]
    if any(one is not None and one.steps is not None for table in rows for one in table):
        return rows, False
    if len({len(table) for table in rows}) != 1:
        return rows, False
    fewest = [
        min((one.turns for one in place if one and one.success), default=None) for place in zip(*rows, strict=True)
    ]
    filled = [[one and replace(one, steps=steps) for one, steps in zip(table, fewest, strict=True)] for table in rows]
    return filled, any(steps is not None for steps in fewest)
