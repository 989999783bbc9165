"""Does asynchronous training learn as much from each sample? Success against environment steps of both ways.

    python -m benchmarks.sample_efficiency --recipe frozenlake-grpo --output runs/efficiency --seeds 0 1 2

The first stages of the recipe are run once, the last one from there with every seed, synchronously and
asynchronously (two updates of staleness at most), on the same tasks. Both are measured on the same levels: what is
compared is paired by seed and level. `NAME=VALUE` after `--first` and `--last` change options of the stages.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentrl.algorithms import Stage, arguments_class, train_function
from agentrl.core.measure import machine
from agentrl.recipes import load_recipe
from benchmarks.learning.paired import paired

WAYS: dict[str, dict[str, Any]] = {"sync": {}, "async": {"asynchronous": True, "max_staleness": 2}}


def main(words: Sequence[str] | None = None) -> int:
    """Run what is missing in the folder, and write `result.json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recipe", required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--first", nargs="*", default=[])
    parser.add_argument("--last", nargs="*", default=[])
    given = parser.parse_args(words)
    *first, last = load_recipe(given.recipe).stages
    model = ""
    for stage in first:
        run = trained(stage, given.output / stage.name, changes(given.first) | ({"model": model} if model else {}))
        model = str(final_policy(run))
    runs = {
        way: {seed: played(last, given, way, seed, model, options) for seed in given.seeds}
        for way, options in WAYS.items()
    }
    found = {"recipe": given.recipe, "first": given.first, "last": given.last, "machine": machine()}
    (given.output / "result.json").write_text(json.dumps(found | compared(runs), indent=1) + "\n")
    return 0


def played(stage: Stage, given: Any, way: str, seed: int, model: str, options: dict[str, Any]) -> Path:
    """The last stage in one way."""
    named = {"model": model, "seed": seed, **options}
    return trained(stage, given.output / f"{way}-{seed}", changes(given.last) | named)


def changes(words: Sequence[str]) -> dict[str, Any]:
    """Options as typed: JSON, or text."""
    found = {}
    for name, _, value in (word.partition("=") for word in words):
        try:
            found[name] = json.loads(value)
        except json.JSONDecodeError:
            found[name] = value
    return found


def trained(stage: Stage, folder: Path, options: dict[str, Any]) -> Path:
    """The run of a stage, begun or resumed; a finished one is left alone."""
    resume = (folder / "metrics.jsonl").exists()
    given = dict(stage.options) | options | {"output": str(folder), "report": False, "resume": resume}
    arguments = arguments_class(stage.algorithm).from_json(given)
    if not (folder / "checkpoints" / f"step_{arguments.iterations}").is_dir():
        train_function(stage.algorithm)(arguments, print)
    return folder


def final_policy(run: Path) -> Path:
    """Of a finished run."""
    newest = max(run.glob("checkpoints/step_*"), key=lambda path: int(path.name[5:]))
    return newest / "policy"


# ---------------------------------------------------------------------- what came of it


def curve(run: Path) -> dict[str, Any]:
    """Environment steps (turns of all trained episodes) and success in training by iteration; the measurements."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    rows, steps, ages = [], 0, dict[str, int]()
    for line in lines:
        if line["kind"] == "train":
            steps += round(line["turns_mean"] * line["episodes"])
            rows.append([line["iteration"], steps, round(line["success"], 4)])
            for age, count in line.get("async", {}).get("staleness", {}).items():
                ages[age] = ages.get(age, 0) + count
    measured = [line for line in lines if line["kind"] == "eval"]
    outcomes = {f"{one['iteration']} {'greedy' if one['greedy'] else 'sampled'}": one["outcomes"] for one in measured}
    dropped = sum(line.get("async", {}).get("dropped_episodes", 0) for line in lines)
    return {"training": rows, "outcomes": outcomes, "staleness": ages, "dropped_episodes": dropped}


def compared(runs: dict[str, dict[int, Path]]) -> dict[str, Any]:
    """The curves, and asynchronous less synchronous success at every measurement, with 95 % intervals."""
    curves = {way: {seed: curve(run) for seed, run in by_seed.items()} for way, by_seed in runs.items()}
    differences = {}
    for name in next(iter(curves["sync"].values()))["outcomes"]:
        sync, late = ({seed: one["outcomes"][name] for seed, one in curves[way].items()} for way in WAYS)
        differences[name] = paired(late, sync)
    for one in [one for by_seed in curves.values() for one in by_seed.values()]:
        one["success"] = {name: success(marks) for name, marks in one.pop("outcomes").items()}
    return {"schema": 1, "name": "sample_efficiency", "curves": curves, "async less sync": differences}


def success(marks: str) -> float:
    """The share of levels that were solved."""
    return round(marks.count("1") / max(1, len(marks.replace("-", ""))), 4)


if __name__ == "__main__":
    raise SystemExit(main())
