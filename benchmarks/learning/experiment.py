"""What an experiment is: cells that differ in one thing, each a chain of training runs, and what papers expect of them.

Runs are named after everything that decides them. So cells with the same imitation start share it, cells that stand in
two experiments run once, and a changed option is another run instead of a mixture of two.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentrl.algorithms import Stage
from agentrl.core.errors import ConfigError, did_you_mean


@dataclass(frozen=True)
class PlannedRun:
    """A stage with its seed and its start: the name follows from the content."""

    algorithm: str
    options: Mapping[str, Any]
    seed: int
    start: str | None = None  # the name of the run whose model it begins with

    @property
    def name(self) -> str:
        """Of the run's folder."""
        content = json.dumps(self.to_json(), sort_keys=True)
        digest = hashlib.sha256(content.encode()).hexdigest()[:10]
        env = str(next(iter(self.options.get("env", ())), "default")).rpartition("/")[2]
        return f"{self.algorithm}-{slug(env.removesuffix('-v0'))}-seed{self.seed}-{digest}"

    def to_json(self) -> dict[str, Any]:
        """For `stage.json`, and for the name."""
        content = {"algorithm": self.algorithm, "options": dict(self.options), "seed": self.seed, "start": self.start}
        return json.loads(json.dumps(content))


@dataclass(frozen=True)
class Cell:
    """One condition with one seed."""

    label: str
    seed: int
    stages: tuple[Stage, ...]

    def __post_init__(self) -> None:
        fixed = {name for stage in self.stages for name in stage.options} & {"seed", "output", "resume"}
        if fixed:
            raise ConfigError(f"{min(fixed)} must not be an option of a stage: the cell and the runner set it")

    def runs(self) -> list[PlannedRun]:
        """The chain of runs; the last one is what the experiment looks at.

        All seeds of a condition begin with the same imitation: they differ in what is measured, not in its start.
        """
        found: list[PlannedRun] = []
        for stage in self.stages:
            start, seed = (found[-1].name if found else None), (0 if stage.algorithm == "sft" else self.seed)
            found.append(PlannedRun(stage.algorithm, stage.options, seed, start))
        return found

    @property
    def title(self) -> str:
        """For patterns and reports, such as `masked/seed0`."""
        return f"{self.label}/seed{self.seed}"


@dataclass(frozen=True)
class Claim:
    """An ordering that a paper reports."""

    higher: str
    lower: str
    source: str


@dataclass(frozen=True)
class Plan:
    """The few comparisons that an experiment is made for, decided before it is run; they are of sampled success."""

    comparisons: tuple[Claim, ...]
    detects: float  # the difference that its seeds have a power of 0.8 for, by the variances of earlier results
    matters: float  # a difference that is surely smaller than this is a result, too


@dataclass(frozen=True)
class Experiment:
    """A question, the cells that answer it, and the answers of others."""

    name: str
    question: str
    cells: tuple[Cell, ...]
    claims: tuple[Claim, ...] = ()
    graded: bool = False  # rewards are degrees of success: scores are compared as well
    plan: Plan | None = None
    golden: bool = False  # an action a turn: success is set against the actions that a task takes at least

    def __post_init__(self) -> None:
        titles = [cell.title for cell in self.cells]
        if len(set(titles)) != len(titles):
            raise ConfigError(f"{self.name}: two cells have the same label and seed")
        claims = (*self.claims, *(self.plan.comparisons if self.plan else ()))
        unknown = {label for claim in claims for label in (claim.higher, claim.lower)} - set(self.labels)
        if unknown:
            raise ConfigError(f"{self.name}: a claim is about {min(unknown)!r}, which is no label")

    @property
    def labels(self) -> list[str]:
        """Without repetition, in order."""
        return list(dict.fromkeys(cell.label for cell in self.cells))


def over_seeds(conditions: Mapping[str, Sequence[Stage]], seeds: Iterable[int]) -> tuple[Cell, ...]:
    """Every condition with every seed; seed by seed, so that an experiment cut short is a smaller whole one."""
    return tuple(Cell(label, seed, tuple(stages)) for seed in seeds for label, stages in conditions.items())


def chosen_experiments(pattern: str, known: Mapping[str, Experiment]) -> list[Experiment]:
    """Those whose names fit a pattern such as `steppo*`."""
    found = [experiment for name, experiment in known.items() if fnmatch.fnmatchcase(name, pattern)]
    if not found:
        raise ConfigError(f"no learning experiment is called {pattern!a}.{did_you_mean(pattern, known)}")
    return found


def chosen_cells(experiments: Iterable[Experiment], pattern: str) -> list[Cell]:
    """Those whose `label/seedN` fits, or contains, the pattern."""
    cells = [cell for experiment in experiments for cell in experiment.cells]
    found = [cell for cell in cells if pattern in cell.title or fnmatch.fnmatchcase(cell.title, pattern)]
    if not found:
        raise ConfigError(f"cells: {pattern!a} fits none of {', '.join(cell.title for cell in cells)}")
    return found


def slug(text: str) -> str:
    """A piece of a file name."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
