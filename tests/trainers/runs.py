"""Comparing run folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from agentrl.rollout.trajectory_file import TrajectoryReader

CLOCK = ("seconds", "seconds_total")


def lines(folder: Path, kind: str | None = None) -> list[dict[str, Any]]:
    """The metrics of a run, or those of one kind."""
    found = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [line for line in found if kind is None or line["kind"] == kind]


def timeless(folder: Path) -> list[dict[str, Any]]:
    """The metrics without what the clock said."""
    return [{key: value for key, value in line.items() if key not in CLOCK} for line in lines(folder)]


def training_state(folder: Path, number: int) -> dict[str, Any]:
    """Weights, critic and optimiser of a checkpoint, flat."""
    return dict(_flat("", torch.load(folder / f"checkpoints/step_{number}/training.pt", weights_only=True)))


def _flat(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _flat(f"{name}/{key}", item)
    elif isinstance(value, list):
        yield from _flat(name, dict(enumerate(value)))
    else:
        yield name, value


def assert_same_run(first: Path, second: Path, number: int) -> None:
    """Equal to the last bit, the clock aside."""
    assert timeless(first) == timeless(second)
    one, two = training_state(first, number), training_state(second, number)
    assert one.keys() == two.keys()
    for name, value in one.items():
        same = torch.equal(value, two[name]) if isinstance(value, torch.Tensor) else value == two[name]
        assert same, name
    names = [sorted(path.name for path in (folder / "trajectories").glob("*")) for folder in (first, second)]
    assert names[0] == names[1]
    for name in names[0]:
        assert list(TrajectoryReader(first / "trajectories" / name)) == list(
            TrajectoryReader(second / "trajectories" / name)
        )


def without_clock(folder: Path) -> list[dict[str, Any]]:
    """Metrics but for what depends on the clock, and on whether rollouts waited."""
    return [{k: v for k, v in line.items() if k not in (*CLOCK, "async")} for line in lines(folder)]


def assert_equal_runs(first: Path, second: Path, number: int) -> None:
    """Equal metrics, and weights and moments of the optimiser to the bit."""
    assert without_clock(first) == without_clock(second)
    one, two = training_state(first, number), training_state(second, number)
    assert one.keys() == two.keys()
    for name, value in one.items():
        assert bool((value == two[name]).all()) if hasattr(value, "all") else value == two[name], name
