"""Reading a run folder: whatever is there, in whatever state a killed run left it."""

from __future__ import annotations

import json
import logging
import math
import os
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from agentrl.core.errors import ConfigError
from agentrl.core.files import read_regular
from agentrl.core.secrecy import scrub
from agentrl.rollout.statistics import Interval, wilson_interval
from agentrl.viewer.charts import Band, Point, Series

log = logging.getLogger(__name__)

Line = Mapping[str, Any]


@dataclass(frozen=True)
class RunData:
    """The lines of a run by kind, in order of iterations; a later line for the same thing replaces an earlier one."""

    folder: Path
    config: dict[str, Any] = field(default_factory=dict)
    train: list[Line] = field(default_factory=list)
    evals: list[Line] = field(default_factory=list)
    warnings: list[Line] = field(default_factory=list)
    damaged: int = 0  # lines that could not be read

    @property
    def alarms(self) -> list[float]:
        """The iterations that were warned about."""
        return [at for line in self.warnings if (at := figure(line, "iteration")) is not None]

    @cached_property
    def _totals(self) -> tuple[list[float], list[float]]:
        known = [line for line in self.train if figure(line, "episodes_total") is not None]
        return [line["iteration"] for line in known], [line["episodes_total"] for line in known]

    def episodes_at(self, iteration: float) -> float:
        """How many training episodes had been played when this iteration was over."""
        iterations, totals = self._totals
        place = bisect_right(iterations, iteration)
        return float(totals[place - 1]) if place else 0.0


def read_run(folder: str | os.PathLike[str]) -> RunData:
    """Everything `metrics.jsonl` and `config.json` hold; `ConfigError` if it is not a run folder."""
    place = Path(folder)
    if not place.is_dir():
        raise ConfigError(f"run folder {str(place)!r} does not exist")
    path = place / "metrics.jsonl"
    if not path.is_file():
        raise ConfigError(f"run folder {str(place)!r} has no metrics.jsonl")
    try:
        content = read_regular(path)
    except OSError as error:
        raise ConfigError(f"cannot read the metrics: {error}") from error
    lines, damaged = [], 0
    for raw in filter(bytes.strip, content.splitlines()):
        try:
            line = json.loads(raw)
        except (ValueError, RecursionError):
            line = None
        if isinstance(line, dict):
            lines.append(line)
        else:
            damaged += 1
    return RunData(
        place,
        read_config(place / "config.json"),
        _newest(lines, "train", ()),
        _newest(lines, "eval", ("split", "greedy", "env_id", "env_kwargs")),
        _newest(lines, "warning", ("warning",)),
        damaged,
    )


def _newest(lines: Iterable[Line], kind: str, keys: Sequence[str]) -> list[Line]:
    chosen: dict[Any, Line] = {}
    for line in lines:
        if line.get("kind") == kind and figure(line, "iteration") is not None:
            chosen[(line["iteration"], *(str(line.get(key)) for key in keys))] = line
    return sorted(chosen.values(), key=lambda line: line["iteration"])


def read_config(path: Path) -> dict[str, Any]:
    """The configuration of a run without its secrets; empty where it cannot be read."""
    try:
        config = json.loads(read_regular(path))
    except (OSError, ValueError, RecursionError) as error:
        log.warning("the run has no readable config.json: %s", error)
        return {}
    return scrub(config) if isinstance(config, dict) else {}


# ---------------------------------------------------------------------- figures out of lines


def figure(line: Line, *path: str) -> float | None:
    """The finite number at a path such as ("loss", "policy"); None where there is none."""
    value: Any = line
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:  # an integer of hundreds of digits
        return None
    return number if math.isfinite(number) else None


def interval(line: Line, name: str) -> Interval | None:
    """The interval under a name; that of a success is worked out from the episodes where it is missing."""
    bounds = line.get(name)
    if isinstance(bounds, list) and len(bounds) == 2:
        low, high = (figure({"bound": bound}, "bound") for bound in bounds)
        if low is not None and high is not None:
            return low, high
    share, episodes = figure(line, "success"), figure(line, "episodes")
    if name != "success_ci" or share is None or not episodes or not 0 <= share <= 1 or episodes < 1:
        return None
    return wilson_interval(round(share * int(episodes)), int(episodes))


def points(lines: Iterable[Line], *path: str) -> list[Point]:
    """(iteration, figure) of every line that has the figure."""
    return [(line["iteration"], value) for line in lines if (value := figure(line, *path)) is not None]


def band(lines: Iterable[Line], name: str, value: str) -> list[Band]:
    """(iteration, low, high) of every line that has both the value and an interval."""
    kept = [line for line in lines if figure(line, value) is not None]
    return [(line["iteration"], *bounds) for line in kept if (bounds := interval(line, name)) is not None]


def names(lines: Iterable[Line], group: str) -> list[str]:
    """Every name under a group such as "reward_terms", in order of appearance."""
    groups = (line.get(group) for line in lines)
    return list(dict.fromkeys(str(name) for held in groups if isinstance(held, Mapping) for name in held))


def when(line: Line) -> str:
    """At what time of a run something was measured; what another run measured before it says so."""
    source = line.get("from")
    if isinstance(source, Mapping) and figure(source, "iteration") is not None:
        return f"after iteration {source['iteration']:g} of {source.get('run')}"
    return "at the start" if line["iteration"] == 0 else f"after iteration {line['iteration']:g}"


def series(lines: Sequence[Line], label: str, path: Sequence[str], colour: int = 0, **changes: Any) -> Series:
    """A line of a chart."""
    return Series(label, points(lines, *path), colour=colour, **changes)


def eval_pairs(lines: Iterable[Line]) -> dict[str, tuple[list[Line], list[Line]]]:
    """Sampled and greedy evaluations of the same environment and split, by its name."""
    groups = eval_groups(lines)
    return {
        name.removesuffix("sampled").strip(): (held, groups[f"{name.removesuffix('sampled')}greedy"])
        for name, held in groups.items()
        if name.endswith("sampled") and f"{name.removesuffix('sampled')}greedy" in groups
    }


def eval_groups(lines: Iterable[Line]) -> dict[str, list[Line]]:
    """Evaluations that can be compared with each other (same environment, split and way of choosing), by a name."""
    found: dict[tuple[str, str, bool], list[Line]] = {}
    for line in lines:
        key = (str(line.get("env_id") or line.get("id") or ""), str(line.get("split") or ""), bool(line.get("greedy")))
        found.setdefault(key, []).append(line)
    several = len({env for env, *_ in found}) > 1, len({split for _, split, _ in found}) > 1
    return {
        " ".join(part for part in (env if several[0] else "", split if several[1] else "", how) if part): held
        for (env, split, greedy), held in found.items()
        for how in ["greedy" if greedy else "sampled"]
    }
