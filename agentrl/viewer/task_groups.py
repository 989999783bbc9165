"""Success by what tasks are like: their group, the actions they take, how much they ask for; and why episodes fail.
Intervals take plays of one task together: they are alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from agentrl.rollout.error_types import ERROR_TYPES, EpisodeFacts, from_columns
from agentrl.rollout.statistics import Interval, share_interval
from agentrl.viewer.eval_report import short_name
from agentrl.viewer.run_data import RunData, when
from agentrl.viewer.setting import Setting, of_line

MAX_BINS = 5
MAX_ENDINGS = 4  # that environments name, each a type of error of its own; the others are "stopped at the wrong place"
Episodes = Sequence[EpisodeFacts]


@dataclass(frozen=True)
class Share:
    """So many of so many."""

    part: int
    of: int
    interval: Interval | None = None  # Wilson's, 95 %

    @property
    def rate(self) -> float:
        """As a fraction; of nothing it is 0."""
        return self.part / self.of if self.of else 0.0


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
    return share(episodes, lambda one: one.success)


def share(episodes: Episodes, holds: Callable[[EpisodeFacts], bool]) -> Share:
    """Of how many of them something holds."""
    flags = [holds(one) for one in episodes]
    return Share(sum(flags), len(flags), share_interval(flags, [one.task for one in episodes]))


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


def error_names(episodes: Episodes) -> list[str]:
    """The types of error in words, with those that the environments of these episodes name."""
    named = Counter(one.ending for one in episodes if one.ending and one.error == "wrong_end")
    known = [name for name, _ in named.most_common(MAX_ENDINGS)]
    others = sum(one.error == "wrong_end" and one.ending not in known for one in episodes)
    words = {name: [label] for name, label in ERROR_TYPES.items()}
    words["wrong_end"] = known + (words["wrong_end"] if others or not known else [])
    return list(dict.fromkeys(text for held in words.values() for text in held))


def error_shares(episodes: Episodes, names: Sequence[str]) -> dict[str, Share]:
    """How many of all episodes failed in which way, by these names of `error_names`."""

    def called(one: EpisodeFacts) -> str | None:
        return one.failure if one.failure in names else ERROR_TYPES.get(one.error or "")

    return {name: share(episodes, lambda one, name=name: called(one) == name) for name in names}


# ---------------------------------------------------------------------- out of a run's evaluations


@dataclass(frozen=True)
class Measured:
    """One evaluation; None stands for an episode that a fault ended. The same place is the same task every time."""

    iteration: float
    places: tuple[EpisodeFacts | None, ...]
    when: str = ""  # in words

    @property
    def episodes(self) -> list[EpisodeFacts]:
        """Those that were scored."""
        return [one for one in self.places if one is not None]

    @property
    def faults(self) -> int:
        """How many were not scored."""
        return self.places.count(None)

    @property
    def tasks(self) -> frozenset[str | None]:
        """Those that were played, as far as faults leave them known."""
        return frozenset(one.task for one in self.episodes)


def evaluations(run: RunData) -> dict[Setting, list[Measured]]:
    """The run's evaluations that tell what their tasks are like, by where and how they were made. Older lines do not
    name their tasks: there the same place is the same task."""
    found: dict[Setting, list[Measured]] = {}
    for line in run.evals:
        rows = enumerate(from_columns(line.get("by_task")))
        places = tuple(one and named_task(one, place) for place, one in rows)
        if places:
            found.setdefault(of_line(line, run.config), []).append(Measured(line["iteration"], places, when(line)))
    return found


def named_task(one: EpisodeFacts, place: int) -> EpisodeFacts:
    """An episode with a name for its task: its own, else its place and what is known of it."""
    return one if one.task else replace(one, task=f"{place} {one.group} {one.complexity}")


def measured(run: RunData) -> tuple[Setting | None, list[Measured]]:
    """The run's evaluations, greedy where there is a choice, and where and how they were made. Several environments of
    one iteration count together."""
    known = evaluations(run)
    greedy = any(setting.mode == "greedy" for setting in known)
    chosen = {setting: held for setting, held in known.items() if (setting.mode == "greedy") == greedy}
    together: dict[float, list[Measured]] = {}
    for setting, held in chosen.items():
        name = f"{short_name(setting.environment.partition(' ')[0])} " if len(chosen) > 1 else ""
        for one in held:
            rows = [row and replace(row, group=f"{name}{row.group or ''}".strip() or None) for row in one.places]
            together.setdefault(one.iteration, []).append(replace(one, places=tuple(rows)))
    found = [
        Measured(at, tuple(row for one in held for row in one.places), held[0].when)
        for at, held in sorted(together.items())
    ]
    return next(iter(chosen), None), found


def with_steps(tables: Sequence[Sequence[EpisodeFacts | None]]) -> tuple[list[list[EpisodeFacts | None]], bool]:
    """The tables with the actions that each task takes, and whether these had to be estimated.

    Environments without an oracle do not tell them. Then it is the fewest turns in which the task was ever solved in
    any of the tables; tasks that were never solved have none, as in WebRL's paper.
    """
    rows = [list(table) for table in tables]
    if any(one is not None and one.steps is not None for table in rows for one in table):
        return rows, False
    fewest: dict[str | None, int] = {}
    for one in (one for table in rows for one in table if one and one.success):
        fewest[one.task] = min(one.turns, fewest.get(one.task, one.turns))
    return [[one and replace(one, steps=fewest.get(one.task)) for one in table] for table in rows], bool(fewest)
